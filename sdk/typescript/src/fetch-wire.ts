// Requests by `fetch`: in browsers, or where the caller brings one.
//
// A browser's WebSocket cannot carry a token, so a line is made of what it is made of elsewhere: `event-line`.

import { openLine } from "./event-line.js";
import { BrokenError, InvalidError } from "./failure.js";
import { unreachable } from "./node-wire.js";
import type { Address } from "./settings.js";
import { type Answer, type Line, type Pipe, type Question, type Wire, collect, leavable } from "./wire.js";

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

  dial(path: string, query: Headers, headers: Headers): Promise<Line> {
    return openLine(this, path.replace(/\/attach$/, ""), query, headers);
  }

  upgrade(): Promise<Pipe> {
    return Promise.reject(new InvalidError("fetch carries no raw connections"));
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
