// A process over one line: what it prints, what it reads, signals. The line comes back after it broke.

import { toBase64, toBytes } from "./codec.js";
import { BrokenError, RefusedError, isPassing } from "./failure.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { refused } from "./refusal.js";
import { type Output, OutputReader } from "./results.js";
import { Retry, sleep } from "./retry.js";
import { gone } from "./streams.js";
import { decode, parse } from "./transport.js";
import type { Line } from "./wire.js";

/**
 * Input is sent in pieces of so many bytes, and so many of them may be on their way: the server keeps no more for a process
 * that does not read.
 */
const PIECE = 32 * 1024;
const UNREAD_MAX = 32;

/** How to talk with a process. */
export interface ProcessConnectOptions {
  /** Begins at this cursor. */
  readonly since?: number | undefined;
  /** Output that the log had to drop is only noted in `gaps`; else it is an `OutputGoneError`. */
  readonly skipGaps?: boolean | undefined;
  /** Hangs up. */
  readonly signal?: AbortSignal | undefined;
}

/** One after the other. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(turn: () => Promise<T>): Promise<T> {
    const taken = this.#last.then(turn);
    this.#last = taken.catch(() => {});
    return taken;
  }
}

/**
 * A process over one line: `for await (const output of process.connect())`.
 *
 * A dropped connection is not noticed but for the time that it takes to come back: each byte is told once, and each byte
 * that is written arrives once. Leaving changes nothing for the process.
 */
export class ProcessConnection implements AsyncIterableIterator<Output> {
  /** Output that is gone, as far as it was come across. */
  readonly gaps: models.Gap[] = [];
  /** How it ended, once it has. */
  end: models.EndRecord | undefined;
  #place: Place;
  #path: string;
  #offset: (length: number) => Promise<number>;
  #options: ProcessConnectOptions;
  #retry: Retry;
  #line: Line | undefined;
  #connecting = new Turns();
  #taking = new Turns();
  #writing = new Turns();
  #reader: OutputReader;
  #told: Output[] = [];
  #unread: { readonly offset: number; readonly piece: Uint8Array }[] = [];
  /** What was sent on this line; what was sent on another that broke is sent again. */
  #sent = { to: 0, close: false };
  #closesStdin = false;
  #left = false;

  /** Not for callers: `process.connect` makes them. `offset` says where the next bytes of the input go. */
  constructor(place: Place, path: string, offset: (length: number) => Promise<number>, options: ProcessConnectOptions) {
    this.#place = place;
    this.#path = path;
    this.#offset = offset;
    this.#options = options;
    this.#reader = new OutputReader(options.since ?? 0);
    this.#retry = new Retry(place.transport.patience);
    options.signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Everything before this was told, or is about to be. */
  get cursor(): number {
    return this.#reader.cursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Output, undefined>> {
    while (this.#told.length === 0 && !this.#isOver()) await this.#take(() => this.#told.length > 0);
    this.#options.signal?.throwIfAborted();
    const value = this.#told.shift();
    return value ? { done: false, value } : { done: true, value: undefined };
  }

  /** Writes to its standard input. Waits while it does not read; what it prints meanwhile is kept for who iterates. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#writing.take(async () => {
      const bytes = toBytes(data);
      for (let start = 0; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start, start + PIECE);
        this.#unread.push({ offset: await this.#offset(piece.length), piece });
        await this.#connected();
        const hasRoom = () => this.#unread.length < UNREAD_MAX;
        while (!hasRoom() && !this.#isOver()) await this.#take(hasRoom);
      }
    });
  }

  /** Closes its standard input: behind what was written, it reads the end. */
  closeStdin(): Promise<void> {
    return this.#writing.take(async () => {
      this.#closesStdin = true;
      await this.#connected();
    });
  }

  /** Sends a signal. If the line breaks meanwhile it is not known whether it arrived, and it is not sent again. */
  async signal(signal: string, scope: models.SignalScope = "main"): Promise<void> {
    const line = await this.#connected();
    if (!line) throw new BrokenError("the process has ended, or this connection was closed");
    await line.send(JSON.stringify({ signal: { signal, scope } }));
  }

  /** Hangs up. The process goes on. */
  close(): void {
    this.#left = true;
    this.#hangUp();
  }

  async return(): Promise<IteratorResult<Output, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #isOver(): boolean {
    return this.end !== undefined || this.#left;
  }

  /** The line, on which everything was sent that is to be read; nothing if there is none any more. */
  #connected(): Promise<Line | undefined> {
    return this.#connecting.take(async () => {
      while (!this.#isOver()) {
        try {
          this.#line ??= await this.#dial();
          await this.#flush(this.#line);
          return this.#line;
        } catch (error) {
          if (error instanceof RefusedError && !isPassing(error)) this.#refused(error);
          else await this.#broke(error);
        }
      }
      return undefined;
    });
  }

  async #dial(): Promise<Line> {
    this.#sent = { to: 0, close: false };
    return this.#place.dial(this.#path, { since: String(this.#reader.cursor), encoding: "base64" });
  }

  async #flush(line: Line): Promise<void> {
    for (const { offset, piece } of this.#unread.filter((each) => each.offset >= this.#sent.to)) {
      await line.send(JSON.stringify({ stdin: { offset, data: toBase64(piece), encoding: "base64" } }));
      this.#sent.to = offset + piece.length;
    }
    if (this.#closesStdin && !this.#sent.close) {
      await line.send('"close"');
      this.#sent.close = true;
    }
  }

  /** Takes one frame, unless another has taken what was waited for. */
  #take(enough: () => boolean): Promise<void> {
    return this.#taking.take(async () => {
      if (enough() || this.#isOver()) return;
      const line = await this.#connected();
      if (!line) return;
      let frame: string | Uint8Array | undefined;
      try {
        frame = await line.next();
        if (frame === undefined) throw new BrokenError("the connection broke: the server closed it");
      } catch (error) {
        if (!this.#isOver()) await this.#broke(error);
        return;
      }
      this.#retry.succeeded();
      this.#heard(parse(frame) as Record<string, unknown>);
    });
  }

  async #broke(error: unknown): Promise<void> {
    this.#hangUp();
    this.#options.signal?.throwIfAborted();
    if (!this.#left) await sleep(this.#retry.failed(error), this.#options.signal);
  }

  #hangUp(): void {
    this.#line?.close();
    this.#line = undefined;
  }

  #heard(frame: Record<string, unknown>): void {
    if ("output" in frame) {
      const output = this.#reader.take(decode("OutputEvent", frame["output"]));
      if (output) this.#told.push(output);
    } else if ("written" in frame) {
      const reached = decode("StdinReceipt", frame["written"]).nextOffset;
      this.#unread = this.#unread.filter(({ offset, piece }) => offset + piece.length > reached);
    } else if ("gap" in frame) {
      const gap = decode("Gap", frame["gap"]);
      this.#reader.cursor = gap.to;
      this.gaps.push(gap);
      if (!this.#options.skipGaps) throw gone(gap);
    } else if ("end" in frame) {
      this.end = decode("OutputEnd", frame["end"]).end;
    } else if ("error" in frame) {
      this.#refused(refused(frame["error"], 400));
    }
  }

  #refused(error: RefusedError): void {
    // What is sent again may find that it had arrived, and that nobody reads any more. The end says the rest.
    if (error.code !== "PROCESS_ENDED" && !(error.code === "STDIN_NOT_OPEN" && this.#closesStdin)) throw error;
    this.#unread = [];
    this.#sent.close = true;
  }
}
