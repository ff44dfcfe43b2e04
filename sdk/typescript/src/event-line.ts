// Lines without a WebSocket: events by cursor from the server, requests to it, in the frames that a WebSocket would carry.

import { fromBase64 } from "./codec.js";
import { EventParser, type ServerEvent } from "./events.js";
import { NonsenseError } from "./failure.js";
import { refusal } from "./refusal.js";
import { type Line, type Wire, collect, queryText } from "./wire.js";

/** How much of what was printed a viewer begins with. */
const TAIL = 64 * 1024;
/** A silent stream says every 15 seconds that it is there; after three times that it is not. */
const SILENCE_MAX = 45_000;

type Headers = Readonly<Record<string, string>>;
type Frame = string | Uint8Array;

/** A line to the terminal or the process at this path. */
export async function openLine(wire: Wire, path: string, query: Headers, headers: Headers): Promise<Line> {
  const line = /\/processes\/[^/]+$/.test(path) ? new ProcessLine(wire, path, headers) : new TerminalLine(wire, path, headers);
  await line.open(query);
  return line;
}

abstract class EventLine implements Line {
  #ready: Frame[] = [];
  /** Called when there is a frame that did not come as an event. */
  #wake: (() => void) | undefined;
  /** The next piece of the events, as long as it is not there. */
  #coming: Promise<IteratorResult<Uint8Array, unknown>> | undefined;
  #wire: Wire;
  #path: string;
  #headers: Headers;
  #events: AsyncIterator<Uint8Array> | undefined;
  #parser = new EventParser();
  #closed = new AbortController();
  /** What is sent must arrive in its order. */
  #sending: Promise<void> = Promise.resolve();

  constructor(wire: Wire, path: string, headers: Headers) {
    this.#wire = wire;
    this.#path = path;
    this.#headers = headers;
  }

  abstract open(query: Headers): Promise<void>;
  /** The frame that a WebSocket would carry for an event. */
  protected abstract frame(name: string, data: unknown): Frame | undefined;
  /** What a frame asks for, as a request. */
  protected abstract carry(data: Frame): Promise<void>;

  protected async follow(query: Readonly<Record<string, unknown>>): Promise<void> {
    const answer = await this.#wire.ask({
      method: "GET",
      path: `${this.#path}/output${queryText({ encoding: "base64", ...query })}`,
      headers: { ...this.#headers, accept: "text/event-stream" },
      signal: this.#closed.signal,
      silenceMax: SILENCE_MAX,
    });
    if (answer.status >= 400) throw refusal(answer.status, await collect(answer.body()));
    this.#events = answer.body()[Symbol.asyncIterator]();
  }

  async next(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#ready.shift();
      if (frame !== undefined) return frame;
      if (this.#closed.signal.aborted || !this.#events) return undefined;
      this.#coming ??= this.#events.next().catch((error: unknown) => {
        if (this.#closed.signal.aborted) return { done: true as const, value: undefined };
        throw error;
      });
      const woken = new Promise<undefined>((wake) => (this.#wake = () => wake(undefined)));
      const come = await Promise.race([this.#coming, woken]);
      if (!come) continue;
      this.#coming = undefined;
      if (come.done) return undefined;
      for (const event of this.#parser.push(come.value)) this.#take(event);
    }
  }

  send(data: Frame): Promise<void> {
    const sent = this.#sending.then(() => this.carry(data));
    this.#sending = sent.catch(() => {});
    return sent;
  }

  close(): void {
    this.#closed.abort();
    this.#events?.return?.().catch(() => {});
  }

  /** Puts a frame in front of the events that are still to come. */
  protected tell(frame: Frame): void {
    this.#ready.push(frame);
    this.#wake?.();
  }

  protected async ask(method: string, path: string, body?: object): Promise<Uint8Array> {
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

  #take(event: ServerEvent): void {
    const frame = this.frame(event.name, JSON.parse(event.data));
    if (frame !== undefined) this.#ready.push(frame);
  }
}

class TerminalLine extends EventLine {
  #readOnly = false;

  async open(query: Headers): Promise<void> {
    this.#readOnly = query["read_only"] === "true";
    const terminal = JSON.parse(new TextDecoder().decode(await this.ask("GET", ""))) as { cursor: number };
    const newest = query["tail"] === "false" ? terminal.cursor : Math.max(0, terminal.cursor - TAIL);
    const cursor = query["since"] === undefined ? newest : Number(query["since"]);
    if (query["cols"] !== undefined && !this.#readOnly) {
      await this.ask("POST", "/resize", { cols: Number(query["cols"]), rows: Number(query["rows"]) });
    }
    await this.follow({ since: cursor, until: "closed" });
    this.tell(JSON.stringify({ ready: { terminal, cursor } }));
  }

  protected frame(name: string, data: unknown): Frame | undefined {
    if (name === "output") return fromBase64((data as { data: string }).data);
    if (name === "gap") return JSON.stringify({ truncated: data });
    if (name === "end") return JSON.stringify({ exit: data });
    return name === "error" ? JSON.stringify({ error: data }) : undefined;
  }

  protected async carry(data: Frame): Promise<void> {
    if (this.#readOnly) {
      const told = { code: "TERMINAL_READ_ONLY", message: "this viewer may only look" };
      throw refusal(403, new TextEncoder().encode(JSON.stringify({ error: told })));
    }
    if (typeof data !== "string") {
      await this.ask("PUT", "/input", data);
      return;
    }
    const [[what, value] = ["", {}]] = Object.entries(JSON.parse(data) as Record<string, object>);
    if (what !== "resize" && what !== "signal") throw new NonsenseError(`a frame ${what}`);
    await this.ask("POST", `/${what}`, value);
  }
}

class ProcessLine extends EventLine {
  async open(query: Headers): Promise<void> {
    await this.follow({ since: query["since"], until: "end" });
  }

  protected frame(name: string, data: unknown): Frame | undefined {
    return ["output", "gap", "end", "error"].includes(name) ? JSON.stringify({ [name]: data }) : undefined;
  }

  protected async carry(data: Frame): Promise<void> {
    const asked = JSON.parse(data as string) as "close" | { stdin?: { offset: number; data: string }; signal?: object };
    if (asked === "close") {
      await this.ask("DELETE", "/stdin");
    } else if (asked.stdin) {
      const told = await this.ask("PUT", `/stdin?offset=${asked.stdin.offset}`, fromBase64(asked.stdin.data));
      this.tell(`{"written":${new TextDecoder().decode(told)}}`);
    } else {
      await this.ask("POST", "/signal", asked.signal);
    }
  }
}
