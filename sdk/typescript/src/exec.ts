// One command: answered whole, or told as it happens. In a sandbox and in a session alike.

import { toBase64, toBytes } from "./codec.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { ExecResult } from "./results.js";
import { ExecStream, endCommand, madeUp } from "./streams.js";
import { type CallOptions, encode } from "./transport.js";

/** A string is for the shell; a list is a program and its arguments. */
export type Command = string | readonly string[];

/** What `exec` takes. */
export interface ExecOptions extends models.ExecOptions, CallOptions {
  /** Standard input; else it is closed. */
  readonly stdin?: string | Uint8Array | undefined;
}

/** What a session's `exec` takes: user and memory are the session's. */
export interface SessionExecOptions extends models.SessionExecOptions, CallOptions {
  /** Standard input; else it is closed. */
  readonly stdin?: string | Uint8Array | undefined;
}

export function worded(command: Command): { command?: string; argv?: readonly string[] } {
  return typeof command === "string" ? { command } : { argv: command };
}

export function shown(command: Command): string {
  return typeof command === "string" ? command : command.join(" ");
}

/** The body. It always has an id, so that it is run once however often it is asked for; output comes exactly. */
function asked(command: Command, options: ExecOptions): { id: string; on_disconnect?: unknown } {
  const { signal: _, stdin, ...rest } = options;
  const body = {
    ...worded(command),
    ...rest,
    id: rest.id ?? madeUp(),
    encoding: "base64" as const,
    ...(stdin === undefined ? {} : { stdinBase64: toBase64(toBytes(stdin)) }),
  };
  return encode("ExecRequest", body) as { id: string };
}

/** Runs it to its end. Who calls it off takes the command along. */
export async function run(place: Place, path: string, command: Command, options: ExecOptions): Promise<ExecResult> {
  const body = asked(command, options);
  const repeat = body.on_disconnect === "kill" ? "never" : "safe";
  try {
    const told = await place.post("ExecResult", path, body, { signal: options.signal, repeat });
    return new ExecResult(shown(command), told);
  } catch (error) {
    if (options.signal?.aborted) await endCommand(place, body.id);
    throw error;
  }
}

export function stream(place: Place, path: string, command: Command, options: ExecOptions): ExecStream {
  return new ExecStream(place, path, shown(command), asked(command, options), options.signal);
}
