// Ports: what listens inside, and previews by which it is seen from outside.

import { toBytes } from "./codec.js";
import type { ServerEvent } from "./events.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { Subscription } from "./streams.js";
import { type CallOptions, decode, encode, parse } from "./transport.js";
import type { Pipe } from "./wire.js";

/** How a port is to be seen. */
export interface ExposeOptions extends models.ExposeOptions {}

/** A port that opened or closed inside. */
export interface PortChange {
  readonly port: number;
  /** What listens; nothing if it closed. */
  readonly info: models.PortInfo | undefined;
}

/** The ports of a sandbox. */
export class Ports {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The ports on which something listens inside, on whatever address. */
  async list(): Promise<readonly models.PortInfo[]> {
    return (await this.#place.get("PortList", "/ports")).ports;
  }

  /** Ports as they open and close; those that are open already come first. */
  watch(options: CallOptions = {}): PortChanges {
    return new PortChanges(new Subscription(this.#place, "GET", "/ports/events", { signal: options.signal }));
  }

  /** Lets a port be seen from outside, or changes how; its `url` says where. Nothing needs to listen yet. */
  expose(port: number, options: ExposeOptions = {}): Promise<models.Preview> {
    const body = encode("ExposeOptions", options);
    return this.#place.json("Preview", "PUT", `/previews/${port}`, { body, repeat: "safe" });
  }

  /** Ends that: its URLs lead nowhere from now on. One that is not exposed is no error. */
  async unexpose(port: number): Promise<void> {
    await this.#place.call("DELETE", `/previews/${port}`, { repeat: "safe" });
  }

  /** The ports that are exposed. */
  async previews(): Promise<readonly models.Preview[]> {
    return (await this.#place.get("PreviewList", "/previews")).previews;
  }

  /**
   * A raw connection to a port inside, whatever is spoken there. What does not listen is a `PortClosedError`. Not in
   * browsers, which have none.
   */
  async connect(port: number): Promise<PortConnection> {
    return new PortConnection(await this.#place.upgrade(`/ports/${port}/connect`, "tcp"));
  }

  /** Another secret: the URLs so far lead nowhere. */
  rotate(port: number): Promise<models.Preview> {
    return this.#place.post("Preview", `/previews/${port}/rotate`);
  }

  /** A link that lets in whoever has it, for a while, without a token. `expiresIn` is in milliseconds. */
  link(port: number, options: models.LinkRequest = {}): Promise<models.PreviewLink> {
    return this.#place.post("PreviewLink", `/previews/${port}/link`, encode("LinkRequest", options));
  }
}

/** Bytes to and from a port inside: `for await (const piece of connection)`. With `using` it is closed at the end of the block. */
export class PortConnection implements AsyncIterable<Uint8Array> {
  #pipe: Pipe;

  /** Not for callers: `ports.connect` makes them. */
  constructor(pipe: Pipe) {
    this.#pipe = pipe;
  }

  /** What comes, to its end. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#pipe.bytes[Symbol.asyncIterator]();
  }

  /** Sends all of it. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#pipe.write(toBytes(data));
  }

  /** Ends our half; what still comes can be read. */
  end(): Promise<void> {
    return this.#pipe.end();
  }

  /** Closes it. */
  close(): void {
    this.#pipe.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Ports as they open and close. After a dropped connection, what has changed meanwhile is told. */
export class PortChanges implements AsyncIterableIterator<PortChange> {
  /** What is open, as far as it was told. */
  readonly open = new Map<number, models.PortInfo>();
  #subscription: Subscription;
  #told: PortChange[] = [];
  #left = false;

  constructor(subscription: Subscription) {
    this.#subscription = subscription;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<PortChange, undefined>> {
    while (!this.#left) {
      const change = this.#told.shift();
      if (!change) {
        this.#take(await this.#subscription.next());
        continue;
      }
      if (change.info) this.open.set(change.port, change.info);
      else this.open.delete(change.port);
      return { done: false, value: change };
    }
    return { done: true, value: undefined };
  }

  /** Hangs up. */
  async return(): Promise<IteratorResult<PortChange, undefined>> {
    this.#left = true;
    await this.#subscription.close();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #take(event: ServerEvent): void {
    if (event.name === "ports") {
      // The first event of each connection: everything that is open then.
      const now = new Map(decode("PortList", parse(event.data)).ports.map((info) => [info.port, info]));
      for (const port of this.open.keys()) if (!now.has(port)) this.#told.push({ port, info: undefined });
      for (const [port, info] of now) if (!this.open.has(port)) this.#told.push({ port, info });
    } else if (event.name === "opened") {
      const info = decode("PortInfo", parse(event.data));
      this.#told.push({ port: info.port, info });
    } else if (event.name === "closed") {
      this.#told.push({ port: (parse(event.data) as { port: number }).port, info: undefined });
    }
  }
}
