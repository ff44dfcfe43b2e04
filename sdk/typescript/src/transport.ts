// Requests out, answers in. What can be asked is in the files of each thing.

import { decode, encode } from "./codec.js";
import { BrokenError, InvalidError, NonsenseError, RefusedError, UnreachableError, isPassing } from "./failure.js";
import { type Fetch, FetchWire } from "./fetch-wire.js";
import type { Types } from "./models.js";
import { NodeWire } from "./node-wire.js";
import { builtin } from "./platform.js";
import { refusal } from "./refusal.js";
import { Retry, sleep } from "./retry.js";
import { type Address, type Settings, showAddress } from "./settings.js";
import { type Answer, type Line, type Pipe, type Wire, collect, queryText } from "./wire.js";

/** A silent stream says every 15 seconds that it is there; after three times that it is not. */
const STREAM_SILENCE_MAX = 45_000;

/** What to do if the line breaks before the answer. */
export type Repeat =
  /** Tell it: asking again might do it twice. */
  | "never"
  /** Ask again: it is done once, however often it is asked for. */
  | "safe";

export type Query = Readonly<Record<string, unknown>>;

/** What every call takes. */
export interface CallOptions {
  /** Calls it off. */
  readonly signal?: AbortSignal | undefined;
}

export interface Asked extends CallOptions {
  readonly query?: Query;
  /** JSON. */
  readonly body?: unknown;
  /** Bytes as they are. */
  readonly content?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly repeat?: Repeat;
}

/** The way to one server. Shared by everything that was got from one client. */
export class Transport {
  readonly patience: number;
  readonly address: Address;
  #wire: Wire;
  #headers: Readonly<Record<string, string>>;
  #closed = false;

  constructor(settings: Settings, patience: number, fetch: Fetch | undefined) {
    this.patience = patience;
    this.address = settings.address;
    this.#headers = settings.token ? { authorization: `Bearer ${settings.token}` } : {};
    const http = fetch ? undefined : builtin("node:http");
    if (!http && settings.address.socket) throw new InvalidError(`${showAddress(settings.address)} cannot be reached by fetch`);
    this.#wire = http ? new NodeWire(settings.address, http) : new FetchWire(settings.address, fetch ?? globalThis.fetch);
  }

  close(): void {
    this.#closed = true;
    this.#wire.close();
  }

  /** The body of the answer, if it is no error. */
  async call(method: string, path: string, asked: Asked = {}): Promise<Uint8Array> {
    const repeat = method === "GET" ? "safe" : (asked.repeat ?? "never");
    const retry = new Retry(this.patience);
    let begun = false;
    for (;;) {
      try {
        const answer = await this.#ask(method, path, asked);
        return await collect(answer.body());
      } catch (error) {
        asked.signal?.throwIfAborted();
        if (error instanceof RefusedError && error.code === "RATE_LIMITED") {
          // Nothing was done, and the server says when to ask again.
          const pause = error.retryAfter ?? 1000;
          if (!retry.mayWait(pause)) throw error;
          await sleep(pause, asked.signal);
          continue;
        }
        // A server that never answered is most likely not there; one that did may be coming back.
        if (repeat === "never" || !isPassing(error) || (error instanceof UnreachableError && !begun)) throw error;
        begun = true;
        await sleep(retry.failed(error), asked.signal);
      }
    }
  }

  /** The same for an answer of this kind. */
  async json<S extends keyof Types>(shape: S, method: string, path: string, asked: Asked = {}): Promise<Types[S]> {
    return decode(shape, parse(await this.call(method, path, asked)));
  }

  get<S extends keyof Types>(shape: S, path: string, query: Query = {}, options: CallOptions = {}): Promise<Types[S]> {
    return this.json(shape, "GET", path, { query, signal: options.signal });
  }

  post<S extends keyof Types>(shape: S, path: string, body: unknown = {}, asked: Asked = {}): Promise<Types[S]> {
    return this.json(shape, "POST", path, { ...asked, body });
  }

  /** An answer whose bytes come as they come. A dead line is noticed by its silence, where that cannot be long. */
  async stream(method: string, path: string, asked: Asked, silence: "short" | "long" = "short"): Promise<Answer> {
    return this.#ask(method, path, asked, silence === "short" ? STREAM_SILENCE_MAX : undefined);
  }

  /** A connection that is no longer HTTP. */
  upgrade(path: string, protocol: string): Promise<Pipe> {
    this.#open();
    return this.#wire.upgrade(path, protocol, this.#headers);
  }

  /** A line to a terminal. */
  dial(path: string, query: Readonly<Record<string, string>>): Promise<Line> {
    this.#open();
    return this.#wire.dial(path, query, this.#headers);
  }

  async #ask(method: string, path: string, asked: Asked, silenceMax?: number): Promise<Answer> {
    this.#open();
    asked.signal?.throwIfAborted();
    const body = asked.body === undefined ? asked.content : new TextEncoder().encode(JSON.stringify(asked.body));
    const kind = asked.body === undefined ? "application/octet-stream" : "application/json";
    const answer = await this.#wire.ask({
      method,
      path: path + queryText(asked.query),
      headers: { ...this.#headers, ...(body ? { "content-type": kind } : {}), ...asked.headers },
      body,
      signal: asked.signal,
      silenceMax,
    });
    if (answer.status < 400) return answer;
    const told = await collect(answer.body()).catch((error: unknown) => {
      if (error instanceof BrokenError) return new Uint8Array(0);
      throw error;
    });
    const after = Number(answer.header("retry-after"));
    const retryAfter = Number.isFinite(after) && after > 0 ? after * 1000 : undefined;
    throw refusal(answer.status, told, answer.header("x-request-id"), retryAfter);
  }

  #open(): void {
    if (this.#closed) throw new InvalidError("this client was closed");
  }
}

/** A name as a part of a path. */
export function segment(name: string): string {
  if (name === "" || name === "." || name === "..") throw new InvalidError(`\`${name}\` names nothing`);
  return encodeURIComponent(name);
}

export function parse(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch (error) {
    throw new NonsenseError(String(error));
  }
}

export { decode, encode };
