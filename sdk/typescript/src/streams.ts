// Output as it happens, over however many connections that takes: no byte twice, none missing.

import { EventParser, type ServerEvent } from "./events.js";
import { AtollError, BrokenError, OutputGoneError, RefusedError } from "./failure.js";
import type { EndRecord, Gap, ProcessInfo } from "./models.js";
import type { Place } from "./place.js";
import { refused } from "./refusal.js";
import { ExecResult, type Output, OutputReader } from "./results.js";
import { Retry, sleep } from "./retry.js";
import { type Query, decode, parse } from "./transport.js";

/** A stream of events that comes back after a dropped connection. Knows where it is, not what is told. */
export class Subscription {
  /** Where to go on; nothing as long as it is not known that anything was begun. */
  cursor: number | undefined;
  /** Whether there is something to come back to. */
  resumes = true;
  #place: Place;
  #method: string;
  #path: string;
  #query: Query | undefined;
  #body: unknown;
  #signal: AbortSignal | undefined;
  #retry: Retry;
  #pieces: AsyncIterator<Uint8Array> | undefined;
  #parser = new EventParser();
  #ready: ServerEvent[] = [];

  constructor(place: Place, method: string, path: string, asked: { query?: Query; body?: unknown; signal?: AbortSignal | undefined }) {
    this.#place = place;
    this.#method = method;
    this.#path = path;
    this.#query = asked.query;
    this.#body = asked.body;
    this.#signal = asked.signal;
    this.#retry = new Retry(place.transport.patience);
  }

  async next(): Promise<ServerEvent> {
    for (;;) {
      const event = this.#ready.shift();
      if (event) {
        this.#retry.succeeded();
        return event;
      }
      try {
        this.#pieces ??= await this.#connect();
        const { done, value } = await this.#pieces.next();
        if (done) throw new BrokenError("the connection broke: the server closed it");
        this.#ready = this.#parser.push(value);
      } catch (error) {
        await this.close();
        this.#signal?.throwIfAborted();
        if (!this.resumes) throw error;
        await sleep(this.#retry.failed(error), this.#signal);
      }
    }
  }

  async close(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = undefined;
    await pieces?.return?.().catch(() => {});
  }

  async #connect(): Promise<AsyncIterator<Uint8Array>> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.cursor !== undefined) headers["last-event-id"] = String(this.cursor);
    const asked = { headers, body: this.#body, signal: this.#signal, ...(this.#query ? { query: this.#query } : {}) };
    const answer = await this.#place.stream(this.#method, this.#path, asked);
    // An event that was cut in two is dropped with its connection: it comes again, whole.
    this.#parser = new EventParser();
    return answer.body()[Symbol.asyncIterator]();
  }
}

/** How to read a log. */
export interface LogOptions {
  /** From this cursor on. */
  readonly since?: number | undefined;
  /** Goes on until nothing is left that could print. */
  readonly followChildren?: boolean | undefined;
  /** Output that the log had to drop is only noted in `gaps`; else it is an `OutputGoneError`. */
  readonly skipGaps?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The output of a process or a terminal, piece by piece, to its end: `for await (const output of process.logs())`.
 *
 * A dropped connection is not noticed but for the time that it takes to come back. Leaving early changes nothing for the
 * process.
 */
export class Logs implements AsyncIterableIterator<Output> {
  /** Output that is gone, as far as it was come across. */
  readonly gaps: Gap[] = [];
  /** How it ended, once it has. */
  end: EndRecord | undefined;
  #subscription: Subscription;
  #reader: OutputReader;
  #skipGaps: boolean;
  #left = false;

  constructor(place: Place, path: string, options: LogOptions) {
    const query = { encoding: "base64", until: options.followChildren ? "closed" : "end" };
    this.#subscription = new Subscription(place, "GET", `${path}/output`, { query, signal: options.signal });
    this.#subscription.cursor = options.since ?? 0;
    this.#reader = new OutputReader(options.since ?? 0);
    this.#skipGaps = options.skipGaps ?? false;
  }

  /** Everything before this was told. */
  get cursor(): number {
    return this.#reader.cursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Output, undefined>> {
    while (this.end === undefined && !this.#left) {
      const event = await this.#subscription.next();
      if (event.name === "output") {
        const output = this.#reader.take(decode("OutputEvent", parse(event.data)));
        this.#subscription.cursor = this.#reader.cursor;
        if (output) return { done: false, value: output };
      } else if (event.name === "gap") {
        this.#gap(decode("Gap", parse(event.data)));
      } else if (event.name === "end") {
        this.end = decode("OutputEnd", parse(event.data)).end;
        await this.#subscription.close();
      } else if (event.name === "error") {
        await this.#subscription.close();
        throw refused(parse(event.data), 500);
      }
      // A later server may tell more.
    }
    return { done: true, value: undefined };
  }

  /** Hangs up. */
  async return(): Promise<IteratorResult<Output, undefined>> {
    this.#left = true;
    await this.#subscription.close();
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** Everything that is still to come, to its end. */
  async collect(): Promise<{ stdout: Uint8Array; stderr: Uint8Array }> {
    const parts: Record<string, Uint8Array[]> = { stdout: [], stderr: [] };
    for await (const output of this) parts[output.stream]?.push(output.bytes);
    return { stdout: join(parts["stdout"]!), stderr: join(parts["stderr"]!) };
  }

  #gap(gap: Gap): void {
    // Going on behind it is possible: the next piece is asked for from there.
    this.#reader.cursor = gap.to;
    this.#subscription.cursor = gap.to;
    this.gaps.push(gap);
    if (!this.#skipGaps) throw gone(gap);
  }
}

export function gone(gap: Gap): OutputGoneError {
  return new OutputGoneError(`output from ${gap.from} to ${gap.to} is gone`, gap.from, gap.to);
}

function join(parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/**
 * A command and what it prints, piece by piece. Iterate over it; afterwards `result` is there.
 *
 * It is run once, however often the line breaks. Leaving before its end, or aborting, ends the command.
 */
export class ExecStream implements AsyncIterableIterator<Output> {
  /** The command's id, which is known before it begins. */
  readonly id: string;
  /** The process, once its program runs. */
  started: ProcessInfo | undefined;
  #place: Place;
  #command: string;
  #subscription: Subscription;
  #reader = new OutputReader(0);
  #result: ExecResult | undefined;
  #left = false;

  constructor(place: Place, path: string, command: string, body: { id: string; on_disconnect?: unknown }, signal?: AbortSignal) {
    this.id = body.id;
    this.#place = place;
    this.#command = command;
    this.#subscription = new Subscription(place, "POST", path, { body, signal });
    this.#subscription.resumes = body.on_disconnect !== "kill";
  }

  /** Everything before this was told. */
  get cursor(): number {
    return this.#reader.cursor;
  }

  /** How it ended. Only after the last piece. */
  get result(): ExecResult {
    if (!this.#result) throw new AtollError("the command has not ended yet", "iterate to the end first");
    return this.#result;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Output, undefined>> {
    try {
      while (!this.#result && !this.#left) {
        const output = await this.#take(await this.#subscription.next());
        if (output) return { done: false, value: output };
      }
    } catch (error) {
      // What was refused never ran, and a broken line says nothing about the command.
      if (!(error instanceof AtollError)) await this.return();
      throw error;
    }
    return { done: true, value: undefined };
  }

  /** Hangs up, and ends the command if it has not ended. */
  async return(): Promise<IteratorResult<Output, undefined>> {
    await this.#subscription.close();
    if (!this.#result && !this.#left) {
      this.#left = true;
      await endCommand(this.#place, this.id);
    }
    return { done: true, value: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  async #take(event: ServerEvent): Promise<Output | undefined> {
    if (event.name === "start" && !this.started) {
      this.started = decode("ProcessInfo", parse(event.data));
      this.#subscription.cursor = 0;
    } else if (event.name === "output") {
      const output = this.#reader.take(decode("OutputEvent", parse(event.data)));
      this.#subscription.cursor = this.#reader.cursor;
      return output;
    } else if (event.name === "gap") {
      const gap = decode("Gap", parse(event.data));
      this.#reader.cursor = gap.to;
      this.#subscription.cursor = gap.to;
      throw gone(gap);
    } else if (event.name === "end") {
      this.#result = new ExecResult(this.#command, decode("ExecResult", parse(event.data)));
      await this.#subscription.close();
    } else if (event.name === "error") {
      await this.#subscription.close();
      throw refused(parse(event.data), 500);
    }
    return undefined;
  }
}

/** A request that was on its way when it was called off may start a command a moment after it was to be ended. */
const LATE_STARTS = [0, 50, 200];

/** Ends a command that nobody waits for any more, if it is there. */
export async function endCommand(place: Place, id: string): Promise<void> {
  for (const pause of LATE_STARTS) {
    await sleep(pause);
    try {
      await place.call("POST", `/processes/${id}/kill`, { body: {} });
      return;
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== "PROCESS_NOT_FOUND") return;
    }
  }
}

/**
 * An id that no other command has: who knows it beforehand can ask again, and end the command before it answers. Pages that
 * did not come over TLS have no `randomUUID`.
 */
export function madeUp(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return `exec-${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
