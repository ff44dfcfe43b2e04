// Watches: what happens in a tree, numbered, so that readers come back.

import type * as models from "./models.js";
import type { Place } from "./place.js";
import { refused } from "./refusal.js";
import { Subscription } from "./streams.js";
import { type CallOptions, decode, parse, segment } from "./transport.js";

/**
 * What happens in a tree: `for await (const event of watch)`. With `await using` the watch is ended at the end of the block.
 *
 * A dropped connection is not noticed but for the time that it takes to come back. An event `overflow` says that more
 * happened than could be told; what is there follows as created.
 */
export class Watch implements AsyncIterableIterator<models.WatchEvent> {
  /** What was told about it when it was asked for. */
  readonly info: models.WatchInfo;
  /** Whether nothing follows: the directory is gone. */
  ended = false;
  #place: Place;
  #path: string;
  #subscription: Subscription;
  #left = false;

  constructor(place: Place, info: models.WatchInfo, options: CallOptions & { since?: number } = {}) {
    this.info = info;
    this.#place = place;
    this.#path = `/watches/${segment(info.id)}`;
    this.#subscription = new Subscription(place, "GET", `${this.#path}/events`, { signal: options.signal });
    this.#subscription.cursor = options.since ?? 0;
  }

  get id(): string {
    return this.info.id;
  }

  /** Everything before this was told. */
  get cursor(): number {
    return this.#subscription.cursor ?? 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<models.WatchEvent, undefined>> {
    while (!this.ended && !this.#left) {
      const event = await this.#subscription.next();
      if (event.name === "change") {
        const value = decode("WatchEvent", parse(event.data));
        if (value.cursor < this.cursor) continue;
        this.#subscription.cursor = value.cursor + 1;
        return { done: false, value };
      }
      if (event.name === "end") {
        this.ended = true;
        await this.#subscription.close();
      } else if (event.name === "error") {
        await this.#subscription.close();
        throw refused(parse(event.data), 500);
      }
    }
    return { done: true, value: undefined };
  }

  /** What happened since a cursor; waits up to `wait` milliseconds if there is nothing yet. */
  page(options: CallOptions & { since?: number; limit?: number; wait?: number } = {}): Promise<models.WatchPage> {
    const { since = 0, limit, wait, signal } = options;
    return this.#place.get("WatchPage", `${this.#path}/events`, { since, limit, wait_ms: wait }, { signal });
  }

  /** Hangs up. The watch goes on, and can be come back to by its id. */
  async return(): Promise<IteratorResult<models.WatchEvent, undefined>> {
    this.#left = true;
    await this.#subscription.close();
    return { done: true, value: undefined };
  }

  /** Ends the watch. */
  async delete(): Promise<void> {
    await this.return();
    await this.#place.call("DELETE", this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}
