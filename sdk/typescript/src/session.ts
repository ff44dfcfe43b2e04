// Sessions: making, finding, using and ending shells that remember.

import * as commands from "./exec.js";
import { InvalidError } from "./failure.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { type Process, type StartOptions, start } from "./process.js";
import type { ExecResult } from "./results.js";
import type { ExecStream } from "./streams.js";
import { type CallOptions, encode, segment } from "./transport.js";

/** What making a session takes. */
export interface SessionOptions extends models.SessionOptions, CallOptions {}

/**
 * A shell that stays: directory, variables, functions and options last from command to command. With `await using` it is
 * deleted at the end of the block.
 */
export class Session {
  /** What was last told about it; `refresh` asks anew. */
  info: models.SessionInfo;
  #place: Place;
  #path: string;

  constructor(place: Place, info: models.SessionInfo) {
    this.#place = place;
    this.#path = `/sessions/${segment(info.id)}`;
    this.info = info;
  }

  get id(): string {
    return this.info.id;
  }

  /** What it is like now. */
  async refresh(): Promise<models.SessionInfo> {
    this.info = await this.#place.get("SessionInfo", this.#path);
    return this.info;
  }

  /** Runs a command in it to its end, after those that came before. */
  exec(command: commands.Command, options: commands.SessionExecOptions = {}): Promise<ExecResult> {
    return commands.run(this.#place, `${this.#path}/exec`, command, options);
  }

  /** The same, told as it happens. */
  execStream(command: commands.Command, options: commands.SessionExecOptions = {}): ExecStream {
    return commands.stream(this.#place, `${this.#path}/exec`, command, options);
  }

  /** Sets variables of the shell for all commands to come, in one step; `null` unsets one. */
  async setEnvVars(variables: Readonly<Record<string, string | null | undefined>>): Promise<void> {
    const words = Object.entries(variables).map(([name, value]) => {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new InvalidError(`\`${name}\` is no name of a variable`);
      return value === null || value === undefined ? `unset -v ${name}` : `export ${name}='${value.replaceAll("'", "'\\''")}'`;
    });
    (await this.exec(words.join(" && ") || ":")).check();
  }

  /** Starts a process that begins with what the session holds, and writes nothing back. */
  startProcess(command: commands.Command, options: StartOptions = {}): Promise<Process> {
    return start(this.#place, `${this.#path}/processes`, command, options);
  }

  /** Puts a command into its queue; it is a process from then on. */
  queue(command: commands.Command, options: models.QueueOptions & CallOptions = {}): Promise<Process> {
    return start(this.#place, `${this.#path}/commands`, command, options);
  }

  /** Takes a command out of its queue. `false` if it has begun already. */
  async cancel(process: Process | string): Promise<boolean> {
    const id = typeof process === "string" ? process : process.id;
    return (await this.#place.json("CancelReceipt", "DELETE", `${this.#path}/commands/${segment(id)}`)).cancelled;
  }

  /** Does to the command that runs what Ctrl-C would. `false` if nothing ran. */
  async interrupt(): Promise<boolean> {
    return (await this.#place.post("InterruptReceipt", `${this.#path}/interrupt`)).interrupted;
  }

  /** Ends the command that runs, and all that it started. The session lives on. */
  kill(options: { grace?: number } = {}): Promise<models.KillReceipt> {
    return this.#place.post("KillReceipt", `${this.#path}/kill`, { grace_ms: options.grace });
  }

  /** What it holds: variables, functions, options, and what could not be carried. */
  snapshot(): Promise<models.SnapshotInfo> {
    return this.#place.get("SnapshotInfo", `${this.#path}/snapshot`);
  }

  /** A new session that holds the same. */
  async fork(options: { id?: string } = {}): Promise<Session> {
    return new Session(this.#place, await this.#place.post("SessionInfo", `${this.#path}/fork`, { id: options.id }));
  }

  /** Brings it back after its shell has ended, from its last snapshot or from nothing. */
  async restart(from: models.RestartFrom = "snapshot"): Promise<models.SessionInfo> {
    this.info = await this.#place.post("SessionInfo", `${this.#path}/restart`, { from });
    return this.info;
  }

  /** Ends it at once, with all that was started from it. */
  async delete(): Promise<void> {
    await this.#place.call("DELETE", this.#path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.delete();
  }
}

/** The sessions of a sandbox. */
export class Sessions {
  #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Makes a session; answers when its shell is ready. */
  async create(options: SessionOptions = {}): Promise<Session> {
    const { signal, ...rest } = options;
    const info = await this.#place.post("SessionInfo", "/sessions", encode("SessionRequest", rest), { signal });
    return new Session(this.#place, info);
  }

  /** Sessions, oldest first. */
  async list(): Promise<Session[]> {
    const told = await this.#place.get("SessionList", "/sessions");
    return told.sessions.map((info) => new Session(this.#place, info));
  }

  /** The session with this id; a `SessionNotFoundError` if there is none. Makes none. */
  async get(id: string): Promise<Session> {
    return new Session(this.#place, await this.#place.get("SessionInfo", `/sessions/${segment(id)}`));
  }
}
