// Git in a sandbox: its own, run inside; credentials are passed along and never kept.

import type * as models from "./models.js";
import type { Types } from "./models.js";
import { EventParser } from "./events.js";
import { BrokenError } from "./failure.js";
import type { Place } from "./place.js";
import { refused } from "./refusal.js";
import { type CallOptions, decode, encode, parse } from "./transport.js";

/** What takes long can be called off, and tells how far it is. */
export interface GitCallOptions extends CallOptions {
  /** Is called with how far it is. */
  readonly onProgress?: ((progress: models.GitProgress) => void) | undefined;
}

/** Repositories in a sandbox. A path is the repository, or a directory in it. */
export class Git {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Fetches a repository: `https://…`, `http://…`, `file://…` or an absolute path inside. */
  clone(url: string, options: models.GitCloneOptions & GitCallOptions = {}): Promise<models.GitCloned> {
    const { signal, onProgress, ...rest } = options;
    const body = encode("GitCloneRequest", { url, ...rest });
    return this.#long("GitCloned", "/git/clone", body, { signal, onProgress });
  }

  /** How a repository is: its branch, and what is different. */
  status(path = ".", options: models.GitStatusOptions = {}): Promise<models.GitStatus> {
    return this.#place.post("GitStatus", "/git/status", encode("GitStatusRequest", { path, ...options }));
  }

  /** What is different, as a patch. */
  diff(path = ".", options: Omit<models.GitDiffRequest, "path"> = {}): Promise<models.GitDiff> {
    return this.#place.post("GitDiff", "/git/diff", encode("GitDiffRequest", { path, ...options }));
  }

  /** Makes a commit. */
  commit(path: string, message: string, options: models.GitCommitOptions = {}): Promise<models.GitCommitted> {
    return this.#place.post("GitCommitted", "/git/commit", encode("GitCommitRequest", { path, message, ...options }));
  }

  /** Checks out a branch, a tag or a commit; with `create`, a new branch. */
  checkout(
    path: string,
    target: string,
    options: Omit<models.GitCheckoutRequest, "path" | "target"> = {},
  ): Promise<models.GitCheckedOut> {
    return this.#place.post("GitCheckedOut", "/git/checkout", encode("GitCheckoutRequest", { path, target, ...options }));
  }

  /** Branches, by name. */
  branches(path = ".", options: models.GitBranchesOptions = {}): Promise<models.GitBranches> {
    return this.#place.post("GitBranches", "/git/branches", encode("GitBranchesRequest", { path, ...options }));
  }

  /** Commits, newest first. */
  log(path = ".", options: Omit<models.GitLogRequest, "path"> = {}): Promise<models.GitLog> {
    return this.#place.post("GitLog", "/git/log", encode("GitLogRequest", { path, ...options }));
  }

  /** Fetches what is new, and goes on to it. */
  pull(path = ".", options: models.GitPullOptions & GitCallOptions = {}): Promise<models.GitPulled> {
    const { signal, onProgress, ...rest } = options;
    const body = encode("GitPullRequest", { path, ...rest });
    return this.#long("GitPulled", "/git/pull", body, { signal, onProgress });
  }

  /** Sends commits. */
  push(path = ".", options: models.GitPushOptions & GitCallOptions = {}): Promise<models.GitPushed> {
    const { signal, onProgress, ...rest } = options;
    const body = encode("GitPushRequest", { path, ...rest });
    return this.#long("GitPushed", "/git/push", body, { signal, onProgress });
  }

  /** What may take its time, told as it happens if somebody listens. It ends with its line, so it is asked for once. */
  async #long<S extends "GitCloned" | "GitPulled" | "GitPushed">(
    shape: S,
    path: string,
    body: unknown,
    { signal, onProgress }: GitCallOptions,
  ): Promise<Types[S]> {
    if (!onProgress) return this.#place.post(shape, path, body, { signal });
    const parser = new EventParser();
    const answer = await this.#place.stream("POST", path, { body, signal, headers: { accept: "text/event-stream" } });
    for await (const piece of answer.body()) {
      for (const event of parser.push(piece)) {
        const told = parse(event.data);
        if (event.name === "progress") onProgress(decode("GitProgress", told));
        else if (event.name === "end") return decode(shape, told);
        else if (event.name === "error") throw refused(told, 500);
      }
    }
    throw new BrokenError("the connection broke: git was ended with it");
  }
}
