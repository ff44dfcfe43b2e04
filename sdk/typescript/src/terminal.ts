// Terminals: opening, finding, typing, looking, ending them; and the viewer that comes back after a dropped line.

import { toBytes } from "./codec.js";
import { type Command, worded } from "./exec.js";
import { BrokenError, NonsenseError } from "./failure.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { Watched } from "./process.js";
import { refused } from "./refusal.js";
import { type TerminalOutput, Texts } from "./results.js";
import { Retry, sleep } from "./retry.js";
import { gone } from "./streams.js";
import { type CallOptions, decode, encode, parse, segment } from "./transport.js";
import type { Line } from "./wire.js";

/** What opening a terminal takes. */
export interface TerminalOptions extends models.TerminalOptions, CallOptions {
  /** What to run in it; else the interactive shell. */
  readonly command?: Command | undefined;
}

/** How to look at a terminal. */
export interface ConnectOptions {
  /** Begins at this cursor; else with the newest part of what was printed. */
  readonly since?: number | undefined;
  /** `false`: begins with what comes. */
  readonly tail?: boolean | undefined;
  /** Only looks. */
  readonly readOnly?: boolean | undefined;
  /** How large our window is. */
  readonly cols?: number | undefined;
  readonly rows?: number | undefined;
  /** Output that the log had to drop is only noted in `gaps`; else it is an `OutputGoneError`. */
  readonly skipGaps?: boolean | undefined;
  /** Hangs up. */
  readonly signal?: AbortSignal | undefined;
}

/** A program with a screen and a keyboard. With `await using` it is destroyed at the end of the block. */
export class Terminal extends Watched {
  /** What was last told about it; `refresh` asks anew. */
  info: models.TerminalInfo;

  constructor(place: Place, info: models.TerminalInfo) {
    super(place, `/terminals/${segment(info.id)}`);
    this.info = info;
  }

  get id(): string {
    return this.info.id;
  }

  /** What it is like now. */
  async refresh(): Promise<models.TerminalInfo> {
    this.info = await this.place.get("TerminalInfo", this.path);
    return this.info;
  }

  /** Types. If the line breaks meanwhile it is not known what arrived, and nothing is typed again. */
  async write(data: string | Uint8Array): Promise<void> {
    await this.place.call("PUT", `${this.path}/input`, { content: toBytes(data) });
  }

  /** What is on the screen now. */
  screen(): Promise<models.ScreenInfo> {
    return this.place.get("ScreenInfo", `${this.path}/screen`);
  }

  /** Gives the window a size. */
  async resize(cols: number, rows: number, by?: string): Promise<models.TerminalInfo> {
    this.info = await this.place.post("TerminalInfo", `${this.path}/resize`, { cols, rows, by });
    return this.info;
  }

  /** What was shown from a cursor until now, in the asciicast v2 format. */
  async recording(options: { since?: number } = {}): Promise<string> {
    const query = { since: options.since ?? 0 };
    return new TextDecoder().decode(await this.place.call("GET", `${this.path}/recording`, { query }));
  }

  /** Looks at it and types, over one line: `for await (const output of terminal.connect())`. Leaving changes nothing. */
  connect(options: ConnectOptions = {}): TerminalConnection {
    return new TerminalConnection(this.place, `${this.path}/attach`, options);
  }

  /** Ends everything in it, and forgets it. */
  destroy(options: { grace?: number } = {}): Promise<models.KillReceipt> {
    return this.place.json("KillReceipt", "DELETE", this.path, { query: { grace_ms: options.grace } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }
}

/** The terminals of a sandbox. */
export class Terminals {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Opens a terminal with a command, or with the interactive shell; one that has the id and lives is found. */
  async open(options: TerminalOptions = {}): Promise<Terminal> {
    const { signal, command, ...rest } = options;
    const body = encode("TerminalRequest", { ...(command === undefined ? {} : worded(command)), ...rest });
    return new Terminal(this.#place, await this.#place.post("TerminalInfo", "/terminals", body, { signal }));
  }

  /** Terminals, oldest first. */
  async list(): Promise<Terminal[]> {
    const told = await this.#place.get("TerminalList", "/terminals");
    return told.terminals.map((info) => new Terminal(this.#place, info));
  }

  /** The terminal with this id; a `TerminalNotFoundError` if there is none. */
  async get(id: string): Promise<Terminal> {
    return new Terminal(this.#place, await this.#place.get("TerminalInfo", `/terminals/${segment(id)}`));
  }
}

/** A viewer of a terminal. A dropped connection is not noticed but for the time that it takes to come back. */
export class TerminalConnection implements AsyncIterableIterator<TerminalOutput> {
  /** The terminal, once the line stands. */
  terminal: models.TerminalInfo | undefined;
  /** Everything before this was told. */
  cursor: number | undefined;
  /** How large its window is now. */
  size: models.WindowSize | undefined;
  /** Output that is gone, as far as it was come across. */
  readonly gaps: models.Gap[] = [];
  /** How its program ended, once it has. */
  end: models.EndRecord | undefined;
  #place: Place;
  #path: string;
  #options: ConnectOptions;
  #window: { cols: number; rows: number } | undefined;
  #retry: Retry;
  /** The line, or the making of it: one may type while another looks, and only one connection is made. */
  #line: Promise<Line> | undefined;
  #texts = new Texts();
  #closed = false;

  constructor(place: Place, path: string, options: ConnectOptions) {
    this.#place = place;
    this.#path = path;
    this.#options = options;
    const { cols, rows } = options;
    this.#window = cols !== undefined && rows !== undefined ? { cols, rows } : undefined;
    this.#retry = new Retry(place.transport.patience);
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<TerminalOutput, undefined>> {
    while (!this.#closed) {
      this.#options.signal?.throwIfAborted();
      if (!this.#line && this.end) break;
      const making = this.#connected();
      try {
        const frame = await (await making).next();
        if (frame === undefined) throw new BrokenError("the connection broke: the server closed it");
        const output = this.#take(frame);
        if (output) return { done: false, value: output };
      } catch (error) {
        if (!(error instanceof BrokenError)) throw error;
        if (this.#line === making) this.#line = undefined;
        if (this.end === undefined && !this.#closed) await sleep(this.#retry.failed(error), this.#options.signal);
      }
    }
    this.#options.signal?.throwIfAborted();
    return { done: true, value: undefined };
  }

  /** Types. If the line breaks meanwhile it is not known what arrived, and nothing is typed again. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#send(toBytes(data));
  }

  /** Gives the window a size. */
  resize(cols: number, rows: number): Promise<void> {
    this.#window = { cols, rows };
    return this.#send(JSON.stringify({ resize: { cols, rows } }));
  }

  /** Sends a signal. */
  signal(signal: string, scope: models.SignalScope = "main"): Promise<void> {
    return this.#send(JSON.stringify({ signal: { signal, scope } }));
  }

  /** Hangs up. The program goes on. */
  close(): void {
    this.#closed = true;
    this.#line?.then((line) => line.close()).catch(() => {});
    this.#line = undefined;
  }

  async return(): Promise<IteratorResult<TerminalOutput, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #connected(): Promise<Line> {
    if (!this.#line) {
      const making = this.#dial();
      making.catch(() => {
        if (this.#line === making) this.#line = undefined;
      });
      this.#line = making;
    }
    return this.#line;
  }

  async #dial(): Promise<Line> {
    for (;;) {
      if (this.#closed) throw new BrokenError("this viewer was closed");
      try {
        return await this.#place.dial(this.#path, this.#query());
      } catch (error) {
        await sleep(this.#retry.failed(error), this.#options.signal);
      }
    }
  }

  #query(): Record<string, string> {
    const { since, tail = true, readOnly } = this.#options;
    const query: Record<string, string> = since === undefined ? { tail: String(tail) } : { since: String(since) };
    // Who comes back wants the terminal that was there, not a new one in its place.
    if (this.cursor !== undefined) {
      delete query["tail"];
      Object.assign(query, { since: String(this.cursor), open: "false" });
    }
    if (readOnly) query["read_only"] = "true";
    if (this.#window) Object.assign(query, { cols: String(this.#window.cols), rows: String(this.#window.rows) });
    return query;
  }

  async #send(data: string | Uint8Array): Promise<void> {
    if (this.#closed) throw new BrokenError("this viewer was closed");
    if (this.end) throw new BrokenError("the terminal's program has ended");
    await (await this.#connected()).send(data);
  }

  #take(frame: string | Uint8Array): TerminalOutput | undefined {
    if (typeof frame === "string") {
      this.#control(parse(frame) as Record<string, unknown>);
      return undefined;
    }
    if (this.cursor === undefined) throw new NonsenseError("a terminal that was never ready");
    const output = { cursor: this.cursor, bytes: frame, text: this.#texts.add("", frame) };
    this.cursor += frame.length;
    return frame.length > 0 ? output : undefined;
  }

  #control(frame: Record<string, unknown>): void {
    if ("ready" in frame) this.#ready(decode("TerminalReady", frame["ready"]));
    else if ("resize" in frame) this.size = decode("Resized", frame["resize"]).size;
    else if ("truncated" in frame) {
      const gap = decode("Gap", frame["truncated"]);
      this.cursor = gap.to;
      this.gaps.push(gap);
      if (!this.#options.skipGaps) throw gone(gap);
    } else if ("exit" in frame) this.end = decode("TerminalExit", frame["exit"]).end;
    else if ("error" in frame) throw refused(frame["error"], 400);
  }

  #ready(ready: models.TerminalReady): void {
    this.#retry.succeeded();
    if (!this.terminal) {
      this.terminal = ready.terminal;
      this.cursor = ready.cursor;
      return;
    }
    const same = this.terminal.startedAt.getTime() === ready.terminal.startedAt.getTime();
    if (!same || ready.cursor !== this.cursor) throw new NonsenseError("another terminal has this id now");
  }
}
