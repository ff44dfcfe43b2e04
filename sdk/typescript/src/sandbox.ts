// One sandbox: commands, and everything that is in it.

import { toBase64 } from "./codec.js";
import * as commands from "./exec.js";
import type { Client } from "./client.js";
import type * as models from "./models.js";
import type { Place } from "./place.js";
import { type FileContent, type FileStream, Files, type Path, type WriteOptions, said } from "./files.js";
import { Git, type GitCallOptions } from "./git.js";
import { Network, Secrets } from "./network.js";
import { type ExposeOptions, Ports } from "./ports.js";
import { type Process, Processes, type StartOptions, orNull } from "./process.js";
import type { ExecResult } from "./results.js";
import { type Session, type SessionOptions, Sessions } from "./session.js";
import type { ExecStream, LogOptions, Logs } from "./streams.js";
import { type Terminal, type TerminalOptions, Terminals } from "./terminal.js";
import { type CallOptions, encode, segment } from "./transport.js";
import { Watch } from "./watch.js";

/**
 * A named, isolated computer. It stays until it is destroyed; a stopped one is started by the next use.
 *
 * With `await using`, a temporary one is destroyed at the end of the block; one that was got by its name stays.
 */
export class Sandbox {
  readonly name: string;
  /** Its processes. */
  readonly processes: Processes;
  /** Its sessions: shells that remember. */
  readonly sessions: Sessions;
  /** Its terminals. */
  readonly terminals: Terminals;
  /** Its files. */
  readonly files: Files;
  /** Repositories in it. */
  readonly git: Git;
  /** What listens in it, and how that is seen from outside. */
  readonly ports: Ports;
  /** What may be reached from it. */
  readonly network: Network;
  /** Secrets that its commands may use and not see. */
  readonly secrets: Secrets;
  #place: Place;
  #temporary: boolean;
  #owned: Client | undefined;

  /** Not for callers: `getSandbox`, `client.sandbox` and `client.sandboxes` make them. */
  constructor(place: Place, name: string, temporary = false, owned?: Client) {
    this.name = name;
    this.#place = place;
    this.#temporary = temporary;
    this.#owned = owned;
    this.processes = new Processes(place);
    this.sessions = new Sessions(place);
    this.terminals = new Terminals(place);
    this.files = new Files(place);
    this.git = new Git(place);
    this.ports = new Ports(place);
    this.network = new Network(place);
    this.secrets = new Secrets(place);
  }

  /**
   * Runs one command to its end. A string is for the shell, a list is a program and its arguments.
   *
   * A code other than 0 is a result; `result.check()` makes it an error. The command is run once, also if the line
   * breaks; it is ended if `signal` is aborted.
   */
  exec(command: commands.Command, options: commands.ExecOptions = {}): Promise<ExecResult> {
    return commands.run(this.#place, "/exec", command, options);
  }

  /** The same, told as it happens: `for await (const output of sandbox.execStream("make"))`. */
  execStream(command: commands.Command, options: commands.ExecOptions = {}): ExecStream {
    return commands.stream(this.#place, "/exec", command, options);
  }

  /** Starts a process; answers when its program runs. */
  startProcess(command: commands.Command, options: StartOptions = {}): Promise<Process> {
    return this.processes.start(command, options);
  }

  /** Processes, oldest first. */
  listProcesses(options?: Parameters<Processes["list"]>[0]): Promise<Process[]> {
    return this.processes.list(options);
  }

  /** The process with this id, or `null`. */
  getProcess(id: string): Promise<Process | null> {
    return orNull(this.processes.get(id), "PROCESS_NOT_FOUND");
  }

  /** Ends a process and everything that it started. */
  async killProcess(id: string, options: { grace?: number } = {}): Promise<models.KillReceipt> {
    return (await this.processes.get(id)).kill(options);
  }

  /** Ends every process. How many were signalled. */
  async killAllProcesses(): Promise<number> {
    return (await this.processes.kill()).signalled;
  }

  /** Forgets every process that has ended, with its output. How many that were. */
  async cleanupCompletedProcesses(): Promise<number> {
    const ended = await this.processes.list({ state: "ended" });
    const removed = await Promise.all(ended.map((each) => orNull(each.remove().then(() => true), "PROCESS_NOT_FOUND")));
    return removed.filter((each) => each === true).length;
  }

  /** Everything that a process has printed until now. */
  async getProcessLogs(id: string): Promise<{ stdout: string; stderr: string }> {
    return (await this.processes.get(id)).getLogs();
  }

  /** The output of a process, piece by piece, to its end. */
  async streamProcessLogs(id: string, options: LogOptions = {}): Promise<Logs> {
    return (await this.processes.get(id)).logs(options);
  }

  /** Makes a session; answers when its shell is ready. */
  createSession(options: SessionOptions = {}): Promise<Session> {
    return this.sessions.create(options);
  }

  /** The session with this id. Makes none. */
  getSession(id: string): Promise<Session> {
    return this.sessions.get(id);
  }

  /** Sessions, oldest first. */
  listSessions(): Promise<Session[]> {
    return this.sessions.list();
  }

  /** Ends a session at once, with all that was started from it. */
  async deleteSession(id: string): Promise<void> {
    await (await this.sessions.get(id)).delete();
  }

  /** Opens a terminal, or finds the one that has the id. */
  terminal(options: TerminalOptions = {}): Promise<Terminal> {
    return this.terminals.open(options);
  }

  /** A file as text, or exactly in base64. */
  async readFile(
    path: string,
    options: { encoding?: models.Encoding; user?: string } = {},
  ): Promise<{ path: string; content: string; encoding: models.Encoding; size: number }> {
    const { encoding = "utf8", user } = options;
    const bytes = await this.files.read(path, { user });
    const content = encoding === "utf8" ? new TextDecoder().decode(bytes) : toBase64(bytes);
    return { path, content, encoding, size: bytes.length };
  }

  /** Writes a file in one step; directories above it are made. */
  writeFile(path: Path, content: FileContent, options: WriteOptions = {}): Promise<models.WriteReceipt> {
    return this.files.write(path, content, { parents: true, ...options });
  }

  /** Makes a directory; with `recursive` also those above it. */
  mkdir(path: Path, options: { recursive?: boolean } = {}): Promise<models.FileInfo> {
    return this.files.mkdir(path, { parents: options.recursive ?? false });
  }

  /** Removes a file. */
  async deleteFile(path: Path): Promise<void> {
    await this.files.remove(path);
  }

  /** Gives a file or a directory another name; what has that name is replaced. */
  renameFile(from: Path, to: Path): Promise<models.FileInfo> {
    return this.files.rename(from, to, { replace: true });
  }

  /** Moves a file or a directory; what is there is replaced. */
  moveFile(from: Path, to: Path): Promise<models.FileInfo> {
    return this.files.move(from, to, { replace: true });
  }

  /** What is in a directory. */
  async listFiles(path: Path, options: { recursive?: boolean; includeHidden?: boolean } = {}): Promise<models.FileInfo[]> {
    const { recursive = false, includeHidden: hidden = false } = options;
    const found: models.FileInfo[] = [];
    for await (const each of this.files.list(path, { depth: recursive ? 256 : 1, hidden })) found.push(each);
    return found;
  }

  /** Whether something is there. */
  exists(path: Path): Promise<boolean> {
    return this.files.exists(path);
  }

  /** A file of any size, piece by piece. */
  readFileStream(path: Path, options: CallOptions & { user?: string } = {}): FileStream {
    return this.files.open(path, options);
  }

  /** Fetches a repository. */
  gitCheckout(url: string, options: models.GitCloneOptions & GitCallOptions = {}): Promise<models.GitCloned> {
    return this.git.clone(url, options);
  }

  /** What happens in a directory and below it. `getWatch` comes back to it by its `id`. */
  async watch(path: Path = ".", options: models.WatchOptions & CallOptions & { since?: number } = {}): Promise<Watch> {
    const { signal, since = 0, ...rest } = options;
    const body = encode("WatchRequest", { ...said("path", path), ...rest });
    return new Watch(this.#place, await this.#place.post("WatchInfo", "/watches", body, { signal }), { since, signal });
  }

  /** A watch that is there, from a cursor on: what happened meanwhile is told first. */
  async getWatch(id: string, options: CallOptions & { since?: number } = {}): Promise<Watch> {
    return new Watch(this.#place, await this.#place.get("WatchInfo", `/watches/${segment(id)}`), options);
  }

  /** Watches that are there, oldest first. */
  async watches(): Promise<readonly models.WatchInfo[]> {
    return (await this.#place.get("WatchList", "/watches")).watches;
  }

  /** Lets a port be seen from outside; `url` says where. */
  exposePort(port: number, options: ExposeOptions = {}): Promise<models.Preview> {
    return this.ports.expose(port, options);
  }

  /** Ends that. One that is not exposed is no error. */
  unexposePort(port: number): Promise<void> {
    return this.ports.unexpose(port);
  }

  /** The ports that are exposed. */
  getExposedPorts(): Promise<readonly models.Preview[]> {
    return this.ports.previews();
  }

  async isPortExposed(port: number): Promise<boolean> {
    return (await this.ports.previews()).some((each) => each.port === port);
  }

  /** What it is like now. Starts nothing. */
  info(): Promise<models.SandboxRecord> {
    return this.#place.get("SandboxRecord", "");
  }

  /** Changes its labels (`null` removes one) and when it falls asleep. */
  update(changes: models.SandboxChanges): Promise<models.SandboxRecord> {
    return this.#place.json("SandboxRecord", "PATCH", "", { body: encode("SandboxChanges", changes) });
  }

  /** Stops everything in it where it stands. Needs cgroups. */
  pause(): Promise<models.SandboxRecord> {
    return this.#place.post("SandboxRecord", "/pause");
  }

  /** Lets it go on. */
  resume(): Promise<models.SandboxRecord> {
    return this.#place.post("SandboxRecord", "/resume");
  }

  /** Ends what runs in it; its files stay. */
  stop(): Promise<models.SandboxRecord> {
    return this.#place.post("SandboxRecord", "/stop");
  }

  /** Starts it again. Any use does so too. */
  start(): Promise<models.SandboxRecord> {
    return this.#place.post("SandboxRecord", "/start");
  }

  /** Ends it and removes everything of it. One that is not there is not made for that. */
  async destroy(): Promise<void> {
    await this.#place.transport.call("DELETE", this.#place.path);
  }

  /** Closes the connections that were made for it alone. The sandbox stays, unless it is a temporary one. */
  async close(): Promise<void> {
    try {
      if (this.#temporary) await orNull(this.destroy(), "SANDBOX_NOT_FOUND");
    } finally {
      this.#owned?.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
