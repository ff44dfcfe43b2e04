// Processes: starting, finding, feeding, following, awaiting and ending them.

import { type ProcessConnectOptions, ProcessConnection } from "./attach.js";
import { toBytes } from "./codec.js";
import { type Command, worded } from "./exec.js";
import { AtollError, NonsenseError, RefusedError } from "./failure.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { type LogOptions, Logs, madeUp } from "./streams.js";
import { type CallOptions, decode, encode, parse, segment } from "./transport.js";

/** Input is sent in pieces of so many bytes: what is sent again after a broken line is small. */
const PIECE = 1024 * 1024;
/** An offset that nobody reaches. The refusal tells the one that is reached. */
const NOWHERE = Number.MAX_SAFE_INTEGER;

/** What starting a process takes. */
export interface StartOptions extends models.StartOptions, CallOptions {}

/** How long to wait, in milliseconds; the process is never touched by it. */
export interface WaitOptions extends CallOptions {
  readonly timeout?: number | undefined;
}

/** What processes and terminals have in common: output by cursor, waiting, signals. */
export abstract class Watched {
  protected readonly place: Place;
  protected readonly path: string;

  protected constructor(place: Place, path: string) {
    this.place = place;
    this.path = path;
  }

  /** Its output from a cursor on, to its end: `for await (const output of process.logs())`. */
  logs(options: LogOptions = {}): Logs {
    return new Logs(this.place, this.path, options);
  }

  /** One page of its output, at most `limit` bytes; waits up to `wait` milliseconds if there is nothing yet. */
  output(
    options: CallOptions & { since?: number; limit?: number; wait?: number; encoding?: models.Encoding } = {},
  ): Promise<models.OutputPage> {
    const { since = 0, limit, wait, encoding = "utf8", signal } = options;
    return this.place.get("OutputPage", `${this.path}/output`, { since, limit, wait_ms: wait, encoding }, { signal });
  }

  /** Everything that it has printed until now, or until its end if it has ended, as text. */
  async getLogs(): Promise<{ stdout: string; stderr: string }> {
    const printed = { stdout: "", stderr: "" };
    for (let since = 0; ; ) {
      const page = await this.output({ since });
      for (const event of page.events) printed[event.stream] += event.data;
      if (page.nextCursor === since) return printed;
      since = page.nextCursor;
    }
  }

  /** Waits for its end. A `WaitTimeoutError` if that takes longer; it goes on then. */
  async waitForExit(timeout?: number | WaitOptions): Promise<{ exitCode: number | undefined; end: models.EndRecord }> {
    const { end } = await this.wait("exit", timeout);
    if (!end) throw new NonsenseError("an end without a record");
    return { exitCode: end.code, end };
  }

  /**
   * Waits for a line with this text, or that matches this expression; also in what was printed before. The expression is
   * the server's to read (Rust's `regex`).
   */
  async waitForLog(
    pattern: string | RegExp,
    timeout?: number | (WaitOptions & { since?: number }),
  ): Promise<models.LogMatch> {
    const since = typeof timeout === "object" ? timeout.since : undefined;
    const condition = typeof pattern === "string" ? { text: pattern } : { regex: expression(pattern) };
    const { found } = await this.wait({ log: { ...condition, since } }, timeout);
    if (!found) throw new NonsenseError("a match without a line");
    return found;
  }

  /** Waits until it blocks on reading its input. */
  async waitForInput(timeout?: number | WaitOptions): Promise<void> {
    await this.wait("input", timeout);
  }

  /** Sends a signal, such as `"INT"`, to it or to its whole tree. How many processes got it. */
  async signal(signal: string, scope: models.SignalScope = "main"): Promise<number> {
    return (await this.place.post("SignalReceipt", `${this.path}/signal`, { signal, scope })).signalled;
  }

  protected wait(what: models.WaitFor, options: number | WaitOptions = {}): Promise<models.WaitAnswer> {
    const { timeout, signal } = typeof options === "number" ? { timeout: options } : options;
    const body = encode("WaitRequest", { for: what, timeout });
    return this.place.post("WaitAnswer", `${this.path}/wait`, body, { signal, repeat: "safe" });
  }
}

/** A process. With `await using` it is killed at the end of the block. */
export class Process extends Watched {
  /** What was last told about it; `refresh` asks anew. */
  info: models.ProcessInfo;
  #offset: number | undefined;
  /** What is written must arrive in its order. */
  #writing: Promise<void> = Promise.resolve();

  constructor(place: Place, info: models.ProcessInfo, offset?: number) {
    super(place, `/processes/${segment(info.id)}`);
    this.info = info;
    this.#offset = offset;
  }

  get id(): string {
    return this.info.id;
  }

  /** Its pid inside the sandbox, while it runs. */
  get pid(): number | undefined {
    return this.info.pid;
  }

  get command(): string {
    return this.info.command;
  }

  /** Its exit code, as far as it was told. */
  get exitCode(): number | undefined {
    return this.info.end?.code;
  }

  get startTime(): Date {
    return this.info.startedAt;
  }

  /** What it is like now. */
  async refresh(): Promise<models.ProcessInfo> {
    this.info = await this.place.get("ProcessInfo", this.path);
    return this.info;
  }

  /** Where in its life it is now. */
  async getStatus(): Promise<models.ProcessState> {
    return (await this.refresh()).state;
  }

  /**
   * Waits until a port answers; with `path` or `status`, until an HTTP request is answered with that status, or any from
   * 200 to 399.
   */
  async waitForPort(port: number, options: WaitOptions & { path?: string; status?: number } = {}): Promise<void> {
    const { path, status, ...rest } = options;
    const http = path !== undefined || status !== undefined ? { path: path ?? "/", status } : undefined;
    await this.wait({ port: { port, http } }, rest);
  }

  /** Writes to its standard input, as fast as it reads. Over a line that breaks, each byte arrives once. */
  write(data: string | Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const written = this.#writing.then(async () => {
      if (typeof data === "string" || data instanceof Uint8Array) await this.#write(toBytes(data));
      else for await (const piece of data) await this.#write(piece);
    });
    this.#writing = written.catch(() => {});
    return written;
  }

  /** Reads, writes and signals over one line, for who talks with it back and forth. Leaving changes nothing. */
  connect(options: ProcessConnectOptions = {}): ProcessConnection {
    const offset = async (length: number): Promise<number> => {
      const next = this.#offset ?? (await this.#reached());
      this.#offset = next + length;
      return next;
    };
    return new ProcessConnection(this.place, `${this.path}/attach`, offset, options);
  }

  /** Closes its standard input: it reads the end. */
  async closeStdin(): Promise<void> {
    await this.#writing;
    await this.place.call("DELETE", `${this.path}/stdin`, { repeat: "safe" });
  }

  /** Ends it and everything that it started: asked at first, forced after `grace` milliseconds. */
  kill(options: { grace?: number } = {}): Promise<models.KillReceipt> {
    return this.place.post("KillReceipt", `${this.path}/kill`, { grace_ms: options.grace }, { repeat: "safe" });
  }

  /** Forgets it and its output. Only once it has ended. */
  async remove(): Promise<void> {
    await this.place.call("DELETE", this.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  async #write(data: Uint8Array): Promise<void> {
    this.#offset ??= await this.#reached();
    for (let start = 0; start < data.length; start += PIECE) {
      const content = data.subarray(start, start + PIECE);
      const query = { offset: this.#offset };
      const answer = await this.place.call("PUT", `${this.path}/stdin`, { query, content, repeat: "safe" });
      this.#offset = decode("StdinReceipt", parse(answer)).nextOffset;
    }
  }

  /** How much was written so far, by others too. */
  async #reached(): Promise<number> {
    try {
      await this.place.call("PUT", `${this.path}/stdin`, { query: { offset: NOWHERE }, content: new Uint8Array(1) });
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== "STDIN_GAP") throw error;
      return (error.details as { next_offset: number }).next_offset;
    }
    throw new NonsenseError("it took input at no place");
  }
}

/** The processes of a sandbox. */
export class Processes {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Starts a process; answers when its program runs. With `ready`, `info.ready` says whether it came to that. */
  start(command: Command, options: StartOptions = {}): Promise<Process> {
    return start(this.#place, "/processes", command, options);
  }

  /** Processes, oldest first. */
  async list(
    options: { state?: models.ProcessState; session?: string; labels?: Readonly<Record<string, string>> } = {},
  ): Promise<Process[]> {
    const label = Object.entries(options.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    const told = await this.#place.get("ProcessList", "/processes", {
      state: options.state,
      session: options.session,
      label,
    });
    return told.processes.map((info) => new Process(this.#place, info));
  }

  /** The process with this id; a `ProcessNotFoundError` if there is none. */
  async get(id: string): Promise<Process> {
    return new Process(this.#place, await this.#place.get("ProcessInfo", `/processes/${segment(id)}`));
  }

  /** Ends every process, or all that have these labels. */
  kill(options: { labels?: Readonly<Record<string, string>>; grace?: number } = {}): Promise<models.KillReceipt> {
    const body = { labels: options.labels ?? {}, grace_ms: options.grace };
    return this.#place.post("KillReceipt", "/processes/kill", body, { repeat: "safe" });
  }
}

/** With an id of its own, so that it is started once however often it is asked for. */
export async function start(place: Place, path: string, command: Command, options: StartOptions): Promise<Process> {
  const { signal, ...rest } = options;
  const body = encode("StartRequest", { ...worded(command), ...rest, id: rest.id ?? madeUp() });
  const info = await place.post("ProcessInfo", path, body, { signal, repeat: "safe" });
  // Under an id that the caller gave, the process may have been there before, and others may have written to it.
  return new Process(place, info, rest.id === undefined ? 0 : undefined);
}

/** `null` instead of an error with this code. */
export async function orNull<T>(found: Promise<T>, code: string): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof AtollError && error instanceof RefusedError && error.code === code) return null;
    throw error;
  }
}

function expression(pattern: RegExp): string {
  const flags = [...pattern.flags].filter((flag) => "ims".includes(flag)).join("");
  return flags ? `(?${flags})${pattern.source}` : pattern.source;
}
