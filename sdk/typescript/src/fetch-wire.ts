// Requests by `fetch`: in browsers, or where the caller brings one.
//
// A browser's WebSocket cannot carry a token, so a terminal's line is made of what it is made of elsewhere: events by
// cursor from the server, requests to it.

import { fromBase64 } from "./codec.js";
import { EventParser } from "./events.js";
import { BrokenError, NonsenseError } from "./failure.js";
import { unreachable } from "./node-wire.js";
import { refusal } from "./refusal.js";
import type { Address } from "./settings.js";
import { type Answer, type Line, type Question, type Wire, collect, leavable, queryText } from "./wire.js";

/** How much of what was printed a viewer begins with. */
const TAIL = 64 * 1024;

export type Fetch = typeof fetch;
type Headers = Readonly<Record<string, string>>;

export class FetchWire implements Wire {
  #address: Address;
  #fetch: Fetch;

  constructor(address: Address, fetch: Fetch) {
    this.#address = address;
    // Some platforms want it to be called as their own.
    this.#fetch = fetch.bind(globalThis) as Fetch;
  }

  async ask(question: Question): Promise<Answer> {
    const hangUp = new AbortController();
    const quiet = new Quiet(question.silenceMax, hangUp);
    const stop = () => hangUp.abort(question.signal?.reason);
    question.signal?.addEventListener("abort", stop, { once: true });
    if (question.signal?.aborted) stop();
    // Browsers send no body piece by piece over HTTP/1.1, so there it is put together first.
    const body = question.body && (question.body instanceof Uint8Array ? question.body : await collect(question.body));
    let response: Response;
    try {
      response = await this.#fetch(this.#address.url + question.path, {
        method: question.method,
        headers: question.headers as Record<string, string>,
        signal: hangUp.signal,
        ...(body ? { body: body as Uint8Array<ArrayBuffer> } : {}),
      });
    } catch (error) {
      quiet.stop();
      if (question.signal?.aborted) throw question.signal.reason;
      const { message, cause } = error as Error & { cause?: { code?: string } };
      if (cause?.code === "ECONNREFUSED") throw unreachable(this.#address, message, error);
      // Browsers do not say whether anything was sent.
      throw new BrokenError(`the connection broke: ${message}`, undefined, error);
    }
    const close = () => {
      quiet.stop();
      question.signal?.removeEventListener("abort", stop);
      hangUp.abort();
    };
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      body: () => leavable(pieces(response, question.signal, quiet, close), close),
    };
  }

  async dial(path: string, query: Headers, headers: Headers): Promise<Line> {
    return EventLine.open(this, path.replace(/\/attach$/, ""), query, headers);
  }

  close(): void {}
}

/** Hangs up on a line that was silent for too long. */
class Quiet {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly limit: number | undefined,
    readonly hangUp: AbortController,
  ) {
    this.heard();
  }

  heard(): void {
    this.stop();
    if (this.limit) this.#timer = setTimeout(() => this.hangUp.abort(), this.limit);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

async function* pieces(
  response: Response,
  signal: AbortSignal | undefined,
  quiet: Quiet,
  close: () => void,
): AsyncIterable<Uint8Array> {
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return;
      quiet.heard();
      yield value as Uint8Array;
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw new BrokenError(`the connection broke: ${error instanceof Error ? error.message : String(error)}`, undefined, error);
  } finally {
    close();
  }
}

/** A terminal's line made of events and requests, with the frames that a WebSocket would have. */
class EventLine implements Line {
  #wire: FetchWire;
  #path: string;
  #headers: Headers;
  #readOnly: boolean;
  #events: AsyncIterator<Uint8Array>;
  #parser = new EventParser();
  #ready: (string | Uint8Array)[] = [];
  #closed = new AbortController();
  /** What is typed must arrive in its order. */
  #sending: Promise<void> = Promise.resolve();

  private constructor(wire: FetchWire, path: string, query: Headers, headers: Headers) {
    this.#wire = wire;
    this.#path = path;
    this.#headers = headers;
    this.#readOnly = query["read_only"] === "true";
    this.#events = (async function* () {})();
  }

  static async open(wire: FetchWire, path: string, query: Headers, headers: Headers): Promise<EventLine> {
    const line = new EventLine(wire, path, query, headers);
    const terminal = JSON.parse(new TextDecoder().decode(await line.#ask("GET", ""))) as { cursor: number };
    const newest = query["tail"] === "false" ? terminal.cursor : Math.max(0, terminal.cursor - TAIL);
    const cursor = query["since"] === undefined ? newest : Number(query["since"]);
    if (query["cols"] !== undefined && !line.#readOnly) {
      await line.#ask("POST", "/resize", { cols: Number(query["cols"]), rows: Number(query["rows"]) });
    }
    const answer = await wire.ask({
      method: "GET",
      path: `${path}/output${queryText({ since: cursor, encoding: "base64", until: "closed" })}`,
      headers: { ...headers, accept: "text/event-stream" },
      signal: line.#closed.signal,
      silenceMax: 45_000,
    });
    if (answer.status >= 400) throw refusal(answer.status, await collect(answer.body()));
    line.#events = answer.body()[Symbol.asyncIterator]();
    line.#ready.push(JSON.stringify({ ready: { terminal, cursor } }));
    return line;
  }

  async next(): Promise<string | Uint8Array | undefined> {
    for (;;) {
      const frame = this.#ready.shift();
      if (frame !== undefined) return frame;
      if (this.#closed.signal.aborted) return undefined;
      const { done, value } = await this.#events.next().catch((error: unknown) => {
        if (this.#closed.signal.aborted) return { done: true as const, value: undefined };
        throw error;
      });
      if (done) return undefined;
      for (const event of this.#parser.push(value)) {
        const data = JSON.parse(event.data) as { data: string };
        if (event.name === "output") this.#ready.push(fromBase64(data.data));
        else if (event.name === "gap") this.#ready.push(JSON.stringify({ truncated: data }));
        else if (event.name === "end") this.#ready.push(JSON.stringify({ exit: data }));
        else if (event.name === "error") this.#ready.push(JSON.stringify({ error: data }));
      }
    }
  }

  send(data: string | Uint8Array): Promise<void> {
    const sent = this.#sending.then(() => this.#send(data));
    this.#sending = sent.catch(() => {});
    return sent;
  }

  close(): void {
    this.#closed.abort();
    this.#events.return?.().catch(() => {});
  }

  async #send(data: string | Uint8Array): Promise<void> {
    if (this.#readOnly) {
      const told = { code: "TERMINAL_READ_ONLY", message: "this viewer may only look" };
      throw refusal(403, new TextEncoder().encode(JSON.stringify({ error: told })));
    }
    if (typeof data !== "string") {
      await this.#ask("PUT", "/input", data);
      return;
    }
    const [[what, value] = ["", {}]] = Object.entries(JSON.parse(data) as Record<string, object>);
    if (what !== "resize" && what !== "signal") throw new NonsenseError(`a frame ${what}`);
    await this.#ask("POST", `/${what}`, value);
  }

  async #ask(method: string, path: string, body?: object): Promise<Uint8Array> {
    const isRaw = body instanceof Uint8Array;
    const answer = await this.#wire.ask({
      method,
      path: this.#path + path,
      headers: { ...this.#headers, ...(body ? { "content-type": isRaw ? "application/octet-stream" : "application/json" } : {}) },
      body: body && (isRaw ? body : new TextEncoder().encode(JSON.stringify(body))),
    });
    const told = await collect(answer.body());
    if (answer.status >= 400) throw refusal(answer.status, told);
    return told;
  }
}
