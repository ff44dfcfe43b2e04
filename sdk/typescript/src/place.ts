// A sandbox as a place that is asked: the way to its server, its path, and that it is there before it is first used.

import type { Types } from "./models.js";
import type { Asked, CallOptions, Query, Transport } from "./transport.js";
import type { Answer, Line, Pipe } from "./wire.js";

export class Place {
  readonly transport: Transport;
  readonly path: string;
  #make: (() => Promise<void>) | undefined;
  #made: Promise<void> | undefined;

  /** `make` sees to it that the sandbox is there; it is called once, by the first use. */
  constructor(transport: Transport, path: string, make?: () => Promise<void>) {
    this.transport = transport;
    this.path = path;
    this.#make = make;
  }

  /** That the sandbox is there. If that failed, the next use tries again. */
  ready(): Promise<void> {
    this.#made ??= this.#make?.().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made ?? Promise.resolve();
  }

  async call(method: string, path: string, asked?: Asked): Promise<Uint8Array> {
    await this.ready();
    return this.transport.call(method, this.path + path, asked);
  }

  async json<S extends keyof Types>(shape: S, method: string, path: string, asked?: Asked): Promise<Types[S]> {
    await this.ready();
    return this.transport.json(shape, method, this.path + path, asked);
  }

  async get<S extends keyof Types>(shape: S, path: string, query?: Query, options?: CallOptions): Promise<Types[S]> {
    await this.ready();
    return this.transport.get(shape, this.path + path, query, options);
  }

  async post<S extends keyof Types>(shape: S, path: string, body?: unknown, asked?: Asked): Promise<Types[S]> {
    await this.ready();
    return this.transport.post(shape, this.path + path, body, asked);
  }

  async stream(method: string, path: string, asked: Asked, silence?: "short" | "long"): Promise<Answer> {
    await this.ready();
    return this.transport.stream(method, this.path + path, asked, silence);
  }

  async upgrade(path: string, protocol: string): Promise<Pipe> {
    await this.ready();
    return this.transport.upgrade(this.path + path, protocol);
  }

  async dial(path: string, query: Readonly<Record<string, string>>): Promise<Line> {
    await this.ready();
    return this.transport.dial(this.path + path, query);
  }
}
