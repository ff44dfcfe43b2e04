/// <reference lib="esnext.disposable" preserve="true" />
// Sandboxes of an Atoll server: commands, processes, sessions, terminals.

export { ProcessConnection } from "./attach.js";
export type { ProcessConnectOptions } from "./attach.js";
export { Client, Sandboxes, Tokens, getSandbox, temporarySandbox } from "./client.js";
export type { ClientOptions, SandboxOptions } from "./client.js";
export * from "./codes.js";
export type { Command, ExecOptions, SessionExecOptions } from "./exec.js";
export {
  AtollError,
  BrokenError,
  CommandFailedError,
  InvalidError,
  NonsenseError,
  OutputGoneError,
  RefusedError,
  UnreachableError,
} from "./failure.js";
export { FileStream, Files } from "./files.js";
export type { FileContent, Path, WriteOptions } from "./files.js";
export { Git } from "./git.js";
export type { GitCallOptions } from "./git.js";
export { SearchStream } from "./lines.js";
export type { ListOptions } from "./lines.js";
export type * as models from "./models.js";
export { EgressEvents, Network, Secrets } from "./network.js";
export { PortChanges, PortConnection, Ports } from "./ports.js";
export type { ExposeOptions, PortChange } from "./ports.js";
export { Process, Processes } from "./process.js";
export type { StartOptions, WaitOptions } from "./process.js";
export { ExecResult } from "./results.js";
export type { Output, TerminalOutput } from "./results.js";
export { Sandbox } from "./sandbox.js";
export { Session, Sessions } from "./session.js";
export type { SessionOptions } from "./session.js";
export { ExecStream, Logs } from "./streams.js";
export type { LogOptions } from "./streams.js";
export { Terminal, TerminalConnection, Terminals } from "./terminal.js";
export type { ConnectOptions, TerminalOptions } from "./terminal.js";
export type { CallOptions } from "./transport.js";
export { Watch } from "./watch.js";
