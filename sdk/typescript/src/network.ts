// What a sandbox may reach, what has gone out, and secrets that commands may use and not see.

import type * as models from "./models.js";
import type { Place } from "./place.js";
import { Subscription, gone } from "./streams.js";
import { type CallOptions, decode, encode, parse, segment } from "./transport.js";

/** What a sandbox may reach: nothing, unless it is said. */
export class Network {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** What may be reached, and what has gone out. */
  get(): Promise<models.NetworkInfo> {
    return this.#place.get("NetworkInfo", "/network");
  }

  /** Says what may be reached from now on. Connections that are no longer allowed are cut off. */
  set(policy: models.NetworkPolicy): Promise<models.NetworkInfo> {
    return this.#place.json("NetworkInfo", "PUT", "/network", { body: encode("NetworkPolicy", policy), repeat: "safe" });
  }

  /** A page of what happened on the way out, from a cursor on; waits up to `wait` milliseconds if there is nothing yet. */
  page(options: CallOptions & { since?: number; limit?: number; wait?: number } = {}): Promise<models.EgressEventPage> {
    const { since = 0, limit, wait, signal } = options;
    return this.#place.get("EgressEventPage", "/egress/events", { since, limit, wait_ms: wait }, { signal });
  }

  /** What happens on the way out, from a cursor on, as it comes. */
  events(options: CallOptions & { since?: number; skipGaps?: boolean } = {}): EgressEvents {
    return new EgressEvents(this.#place, options);
  }
}

/** What happens on the way out. A dropped connection is not noticed but for the time that it takes to come back. */
export class EgressEvents implements AsyncIterableIterator<models.EgressEvent> {
  #subscription: Subscription;
  #skipGaps: boolean;
  #left = false;

  constructor(place: Place, options: CallOptions & { since?: number; skipGaps?: boolean }) {
    this.#subscription = new Subscription(place, "GET", "/egress/events", { signal: options.signal });
    this.#subscription.cursor = options.since ?? 0;
    this.#skipGaps = options.skipGaps ?? false;
  }

  /** Everything before this was told. */
  get cursor(): number {
    return this.#subscription.cursor ?? 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<models.EgressEvent, undefined>> {
    while (!this.#left) {
      const event = await this.#subscription.next();
      if (event.name === "egress") {
        const value = decode("EgressEvent", parse(event.data));
        if (value.cursor < this.cursor) continue;
        this.#subscription.cursor = value.cursor + 1;
        return { done: false, value };
      }
      if (event.name === "gap") {
        const gap = decode("Gap", parse(event.data));
        this.#subscription.cursor = gap.to;
        if (!this.#skipGaps) throw gone(gap);
      }
    }
    return { done: true, value: undefined };
  }

  /** Hangs up. */
  async return(): Promise<IteratorResult<models.EgressEvent, undefined>> {
    this.#left = true;
    await this.#subscription.close();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

/** Secrets that commands of a sandbox may use and not see. */
export class Secrets {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Gives commands a secret as the variable `name`, which holds a stand-in for it. It is told to `hosts` alone. */
  put(name: string, secret: models.PutSecret): Promise<models.SecretInfo> {
    const body = encode("PutSecret", secret);
    return this.#place.json("SecretInfo", "PUT", `/secrets/${segment(name)}`, { body, repeat: "safe" });
  }

  /** Takes a secret away. */
  async delete(name: string): Promise<void> {
    await this.#place.call("DELETE", `/secrets/${segment(name)}`);
  }

  /** Secrets, without their values. */
  async list(): Promise<readonly models.SecretInfo[]> {
    return (await this.#place.get("SecretList", "/secrets")).secrets;
  }
}
