// What a command gives back, and the pieces of output that are told while it runs.

import { fromBase64, toBytes } from "./codec.js";
import { CommandFailedError, NonsenseError, OutputGoneError } from "./failure.js";
import type { Capture, Encoding, EndRecord, OutputEvent, Stream, Types } from "./models.js";

/** A piece of output, exactly as it was printed. */
export interface Output {
  readonly stream: Stream;
  /** Position of its first byte. */
  readonly cursor: number;
  readonly bytes: Uint8Array;
  /** The same as text. A character that is cut by the border of two pieces is in the later one. */
  readonly text: string;
  /** When it was read. */
  readonly time: Date;
}

/** A piece of what a terminal's program printed. */
export interface TerminalOutput {
  /** Position of its first byte. */
  readonly cursor: number;
  readonly bytes: Uint8Array;
  /** The same as text. A character that is cut by the border of two pieces is in the later one. */
  readonly text: string;
}

/** How a command ended and what it printed. A code other than 0 is a result, not an error. */
export class ExecResult {
  /** Its id, under which its log can be read and what it left behind be killed. */
  readonly id: string;
  /** What was asked for. */
  readonly command: string;
  /** How it ended. */
  readonly end: EndRecord;
  /**
   * Standard output as text. If the answer was too small for it: its head, a line that says how much is left out, and its
   * tail.
   */
  readonly stdout: string;
  /** Standard error, likewise. */
  readonly stderr: string;
  /** Position behind the last byte of its log. */
  readonly cursor: number;
  /** Whether the session's shell had to be replaced by one that holds its last snapshot. */
  readonly sessionReset: boolean;
  #stdout: Capture;
  #stderr: Capture;

  constructor(command: string, told: Types["ExecResult"]) {
    this.id = told.id;
    this.command = command;
    this.end = told.end;
    this.stdout = text(told.stdout);
    this.stderr = text(told.stderr);
    this.cursor = told.cursor;
    this.sessionReset = told.sessionReset ?? false;
    this.#stdout = told.stdout;
    this.#stderr = told.stderr;
  }

  /** The exit code, if it exited; a signal or a time limit gives none. */
  get exitCode(): number | undefined {
    return this.end.code;
  }

  /** Whether it ended with code 0. */
  get success(): boolean {
    return this.end.code === 0;
  }

  /** From start to end, in milliseconds. */
  get duration(): number {
    return this.end.duration;
  }

  /** When it ended. */
  get timestamp(): string {
    return this.end.endedAt.toISOString();
  }

  /** Whether the answer does not hold all of the output. The log does: `sandbox.getProcess(result.id)`. */
  get truncated(): boolean {
    return Boolean(this.#stdout.truncated ?? this.#stderr.truncated);
  }

  /** Standard output, exactly. An `OutputGoneError` if the answer does not hold all of it. */
  get stdoutBytes(): Uint8Array {
    return exact(this.#stdout);
  }

  /** Standard error, exactly. An `OutputGoneError` if the answer does not hold all of it. */
  get stderrBytes(): Uint8Array {
    return exact(this.#stderr);
  }

  /** This result, or a `CommandFailedError` if it did not end with code 0. */
  check(): this {
    if (!this.success) throw new CommandFailedError(this);
    return this;
  }
}

function unpack(data: string, encoding: Encoding): Uint8Array {
  return encoding === "utf8" ? toBytes(data) : fromBase64(data);
}

function text(capture: Capture): string {
  const show = (data: string) => new TextDecoder().decode(unpack(data, capture.encoding));
  const cut = capture.truncated;
  return cut ? `${show(capture.data)}\n[${cut.omittedBytes} bytes left out]\n${show(cut.tail)}` : show(capture.data);
}

function exact(capture: Capture): Uint8Array {
  const cut = capture.truncated;
  if (cut) {
    const hint = "ask for more with answerBytes, or read the log of the process that has the result's id";
    const message = `the answer leaves out ${cut.omittedBytes} bytes of output`;
    throw new OutputGoneError(message, cut.cursor, cut.cursor + cut.omittedBytes, hint);
  }
  return unpack(capture.data, capture.encoding);
}

/** Text from the pieces of several outputs, in which no character is broken. */
export class Texts {
  #decoders = new Map<string, InstanceType<typeof TextDecoder>>();

  add(stream: string, piece: Uint8Array): string {
    let decoder = this.#decoders.get(stream);
    if (!decoder) this.#decoders.set(stream, (decoder = new TextDecoder("utf-8", { ignoreBOM: true })));
    return decoder.decode(piece, { stream: true });
  }
}

/** Pieces of output from events, over however many connections: no byte twice, none missing. */
export class OutputReader {
  cursor: number;
  #texts = new Texts();

  constructor(cursor: number) {
    this.cursor = cursor;
  }

  /** Nothing if all of it was told before. */
  take(event: OutputEvent): Output | undefined {
    const bytes = unpack(event.data, event.encoding);
    const known = this.cursor - event.cursor;
    if (known < 0) throw new NonsenseError(`output from ${this.cursor} to ${event.cursor} is missing`);
    if (known >= bytes.length) return undefined;
    const piece = bytes.subarray(known);
    const { stream, time } = event;
    const output = { stream, cursor: this.cursor, bytes: piece, text: this.#texts.add(stream, piece), time };
    this.cursor += piece.length;
    return output;
  }
}
