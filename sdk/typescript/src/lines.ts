// Answers that come line by line, however many there are: one at a time is in memory.

import { toBase64, toBytes } from "./codec.js";
import { BrokenError, UnreachableError } from "./failure.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { refused } from "./refusal.js";
import { Retry, sleep } from "./retry.js";
import { type Asked, type CallOptions, decode, parse } from "./transport.js";

/** The lines of one answer, to its end. */
async function* lines(place: Place, method: string, path: string, asked: Asked): AsyncGenerator<Record<string, unknown>, void> {
  const headers = { accept: "application/x-ndjson" };
  // Looking through a large tree in which little is found may take its time.
  const answer = await place.stream(method, path, { ...asked, headers }, "long");
  const decoder = new TextDecoder();
  let begun = "";
  for await (const piece of answer.body()) {
    const whole = (begun + decoder.decode(piece, { stream: true })).split("\n");
    begun = whole.pop() ?? "";
    for (const line of whole) {
      const told = parse(line) as Record<string, unknown>;
      if ("error" in told) throw refused(told["error"], 500);
      yield told;
      if ("end" in told) return;
    }
  }
  throw new BrokenError("the connection broke: the server closed it");
}

/** What to list. */
export interface ListOptions extends CallOptions {
  /** How many levels, at most 256. 1 is the directory alone. */
  readonly depth?: number | undefined;
  /** Names that begin with a dot, too. */
  readonly hidden?: boolean | undefined;
  /** `false`: as the file system has them, which is sooner where there are very many. */
  readonly sorted?: boolean | undefined;
  readonly user?: string | undefined;
}

/** Entries one by one. In the order of names it goes on behind the last one after a dropped connection. */
export async function* list(place: Place, path: string | Uint8Array, options: ListOptions): AsyncGenerator<models.FileInfo, void> {
  const { depth = 1, hidden = false, sorted = true, user, signal } = options;
  const retry = new Retry(place.transport.patience);
  let after: string | undefined;
  let begun = false;
  for (;;) {
    try {
      for await (const line of lines(place, "GET", "/files/list", { query: { path, depth, hidden, sorted, user, after }, signal })) {
        begun = true;
        if (!("entry" in line)) return;
        const entry = decode("FileInfo", line["entry"]);
        after = entry.pathBase64 ?? toBase64(toBytes(entry.path));
        retry.succeeded();
        yield entry;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      // Without an order there is no place to go on from.
      if (!sorted || (error instanceof UnreachableError && !begun)) throw error;
      await sleep(retry.failed(error), signal);
    }
  }
}

/** What a search finds, as it finds it. Afterwards `summary` is there. Leaving early ends the search. */
export class SearchStream implements AsyncIterableIterator<models.SearchMatch | models.SearchFile> {
  /** How much was looked at and found, after the last. */
  summary: models.SearchSummary | undefined;
  #lines: AsyncGenerator<Record<string, unknown>, void>;

  constructor(place: Place, body: unknown, options: CallOptions) {
    this.#lines = lines(place, "POST", "/files/search", { body, signal: options.signal });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<models.SearchMatch | models.SearchFile, undefined>> {
    const { done, value } = await this.#lines.next();
    if (done) return { done: true, value: undefined };
    if ("match" in value) return { done: false, value: decode("SearchMatch", value["match"]) };
    if ("end" in value) {
      this.summary = decode("SearchSummary", value["end"]);
      return { done: true, value: undefined };
    }
    return { done: false, value: decode("SearchFile", value["file"] ?? value["binary"]) };
  }

  /** Hangs up. */
  async return(): Promise<IteratorResult<models.SearchMatch | models.SearchFile, undefined>> {
    await this.#lines.return();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
