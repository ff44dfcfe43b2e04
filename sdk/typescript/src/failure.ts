// What can go wrong between a caller and the server. The classes for the server's own codes are in `codes.ts`.

import type { ExecResult } from "./results.js";

/** Anything that this package throws by itself. */
export class AtollError extends Error {
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}

/** What an answer that is an error tells. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly hint?: string | undefined;
  readonly details?: unknown;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
}

/** The server refused, and says why. Each code has a class of its own; a code of a later server has this one. */
export class RefusedError extends AtollError {
  /** The stable name of what went wrong. */
  readonly code: string;
  /** The HTTP status. */
  readonly status: number;
  /** Facts for programs. */
  readonly details: unknown;
  /** By which the server's log knows the request. */
  readonly requestId: string | undefined;
  /** In how many milliseconds to ask again, if the server said so. */
  readonly retryAfter: number | undefined;

  constructor(refusal: Refusal) {
    super(refusal.message, refusal.hint);
    this.code = refusal.code;
    this.status = refusal.status;
    this.details = refusal.details;
    this.requestId = refusal.requestId;
    this.retryAfter = refusal.retryAfter;
  }
}

/** There is no server at this address, or none that answers. Nothing was done. */
export class UnreachableError extends AtollError {}

/** The connection broke. What was asked for may or may not have been done. */
export class BrokenError extends AtollError {}

/** The server said something that this package does not understand. */
export class NonsenseError extends AtollError {
  constructor(why: string) {
    super(`the server's answer makes no sense: ${why}`);
  }
}

/** The request cannot be sent. */
export class InvalidError extends AtollError {}

/** Output that was to be read is not there: the log had to drop it, or the answer was too small for it. */
export class OutputGoneError extends AtollError {
  /** Position of the first byte that is missing. */
  readonly from: number;
  /** Position of the first byte after it that can be read. */
  readonly to: number;

  constructor(message: string, from: number, to: number, hint?: string) {
    super(message, hint);
    this.from = from;
    this.to = to;
  }
}

/** A command ended in another way than with code 0, and `check` was called. */
export class CommandFailedError extends AtollError {
  readonly result: ExecResult;

  constructor(result: ExecResult) {
    const { code, reason, signal } = result.end;
    const how = code !== undefined ? `code ${code}` : signal ? `${reason} by ${signal}` : reason;
    const tail = result.stderr.trim().slice(-2000);
    super(`the command ended with ${how}${tail ? `: ${tail}` : ""}`);
    this.result = result;
  }
}

// A minifier would rename the classes, and with them what people read.
for (const [name, kind] of Object.entries({
  AtollError,
  RefusedError,
  UnreachableError,
  BrokenError,
  NonsenseError,
  InvalidError,
  OutputGoneError,
  CommandFailedError,
})) {
  Object.defineProperty(kind.prototype, "name", { value: name, configurable: true, writable: true });
}

/** Whether it may go away by itself: a gateway that is just being restarted, a line that was cut. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RefusedError) return error.status >= 502 && error.status <= 504;
  return error instanceof UnreachableError || error instanceof BrokenError;
}
