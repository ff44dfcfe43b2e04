// Git in a sandbox: its own, run inside; credentials are passed along and never kept.

import type * as models from "./models.js";
import type { Place } from "./place.js";
import { type CallOptions, encode } from "./transport.js";

/** Repositories in a sandbox. A path is the repository, or a directory in it. */
export class Git {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Fetches a repository: `https://…`, `http://…`, `file://…` or an absolute path inside. */
  clone(url: string, options: models.GitCloneOptions & CallOptions = {}): Promise<models.GitCloned> {
    const { signal, ...rest } = options;
    return this.#place.post("GitCloned", "/git/clone", encode("GitCloneRequest", { url, ...rest }), { signal });
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
  pull(path = ".", options: models.GitPullOptions & CallOptions = {}): Promise<models.GitPulled> {
    const { signal, ...rest } = options;
    return this.#place.post("GitPulled", "/git/pull", encode("GitPullRequest", { path, ...rest }), { signal });
  }

  /** Sends commits. */
  push(path = ".", options: models.GitPushOptions & CallOptions = {}): Promise<models.GitPushed> {
    const { signal, ...rest } = options;
    return this.#place.post("GitPushed", "/git/push", encode("GitPushRequest", { path, ...rest }), { signal });
  }
}
