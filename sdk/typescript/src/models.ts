// What is said to the server and what it tells.
//
// Written by `sdk/generate` from the API's description; changes are lost.

/** What a client sends to a process. */
export type AttachCommand = "close" | { stdin: StdinPiece } | { signal: SignalRequest };

/** What a process's client is told. */
export type AttachEvent = { output: OutputEvent } | { gap: Gap } | { end: OutputEnd } | { written: StdinReceipt } | { signalled: SignalReceipt } | { error: ErrorBody };

/** What happens to what a command leaves behind. */
export type Background = "keep" | "kill";

/** What a cancellation did. */
export interface CancelReceipt {
  /** Whether it was taken out of the queue; if not, it has begun already. */
  readonly cancelled: boolean;
}

/** One whole output of a command as an answer carries it. */
export interface Capture {
  /** How many bytes of the output are kept, the omitted ones included. */
  readonly bytes: number;
  /** Everything, or the head if something was left out. */
  readonly data: string;
  /** How `data` and the tail are encoded. */
  readonly encoding: Encoding;
  /** Whether bytes that are no UTF-8 were replaced. */
  readonly replaced: boolean;
  /** Set if the answer does not hold all bytes. */
  readonly truncated?: Truncation | undefined;
}

/**
 * Get or create a sandbox. What is left out takes its default if the sandbox is made, and may be anything if it
 * exists.
 */
export interface CreateSandbox {
  /** Variables of every command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How strongly it is walled off. */
  readonly isolation?: Isolation | undefined;
  /** Never stop it for want of use, whatever `sleep_after_ms` says. */
  readonly keepAlive?: boolean | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** What it may use. */
  readonly limits?: SandboxLimits | undefined;
  /** Its name; made up if not given. */
  readonly name?: SandboxName | undefined;
  /** Stop it when nobody used it for so long. 0: never. */
  readonly sleepAfterMs?: number | undefined;
}

/** Make a token. */
export interface CreateToken {
  /** For how long it is good, if not for ever. */
  readonly expiresIn?: number | undefined;
  /** What it is for, for people. */
  readonly name?: string | undefined;
  /** What it allows. */
  readonly scopes: readonly Scope[];
}

/** How bytes are put into JSON. */
export type Encoding = "utf8" | "base64";

/** Why a command is over. */
export type EndReason = "exited" | "signaled" | "killed" | "timeout" | "idle_timeout" | "oom" | "output_limit" | "shell_exited" | "sandbox_stopped" | "host_lost";

/** How a command ended. What is not known is `None`; a code is never invented. */
export interface EndRecord {
  /** The exit code, if it exited. */
  readonly code?: number | undefined;
  /** System time of the same. */
  readonly cpuSystem?: number | undefined;
  /** User time of the main process and the children it waited for. */
  readonly cpuUser?: number | undefined;
  /** From start to end of the main process. */
  readonly duration: number;
  /** When its main process was over. */
  readonly endedAt: Timestamp;
  /** Largest resident set of any of the same. */
  readonly maxRssBytes?: number | undefined;
  /** Whether the kernel killed one of its processes for want of memory. */
  readonly oomKilled: boolean;
  /** Why it is over. */
  readonly reason: EndReason;
  /** The signal that ended it, if one did. */
  readonly signal?: Signal | undefined;
  /** When it was started. */
  readonly startedAt: Timestamp;
  /** Processes it started that were still alive at that moment. */
  readonly survivors: number;
  /** Whether `reason` is a time limit. */
  readonly timedOut: boolean;
}

/** The body of every answer that is an error. */
export interface ErrorAnswer {
  /** What went wrong. */
  readonly error: ErrorBody;
}

/** The one error shape. */
export interface ErrorBody {
  /** The stable code. */
  readonly code: ErrorCode;
  /** Facts for programs, where the code alone does not say enough. */
  readonly details?: unknown | undefined;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** What happened, naming the thing. */
  readonly message: string;
}

/** What went wrong, as a stable name. */
export type ErrorCode = "UNAUTHORIZED" | "FORBIDDEN" | "ROUTE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "BODY_TOO_LARGE" | "UPGRADE_REQUIRED" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "IDEMPOTENCY_CONFLICT" | "TOKEN_NOT_FOUND" | "TOKEN_LIMIT" | "SANDBOX_NOT_FOUND" | "SANDBOX_DIFFERS" | "SANDBOX_PAUSED" | "SANDBOX_STOPPED" | "SANDBOX_LIMIT" | "AGENT_UNAVAILABLE" | "SHUTTING_DOWN" | "SERVER_UNREACHABLE" | "TOO_MANY_CONNECTIONS" | "VALIDATION_FAILED" | "COMMAND_NOT_FOUND" | "NOT_EXECUTABLE" | "CWD_NOT_FOUND" | "USER_NOT_FOUND" | "ARGUMENTS_TOO_LONG" | "PROCESS_NOT_FOUND" | "PROCESS_ALREADY_EXISTS" | "PROCESS_ENDED" | "PROCESS_LIMIT" | "STDIN_NOT_OPEN" | "STDIN_GAP" | "SESSION_NOT_FOUND" | "SESSION_ALREADY_EXISTS" | "SESSION_TERMINATED" | "SESSION_ALIVE" | "SESSION_BUSY" | "SESSION_LIMIT" | "COMMAND_CANCELLED" | "SHELL_NOT_SUPPORTED" | "TERMINAL_NOT_FOUND" | "TERMINAL_ALREADY_EXISTS" | "TERMINAL_ENDED" | "TERMINAL_READ_ONLY" | "PORT_CLOSED" | "PREVIEW_NOT_FOUND" | "PREVIEW_ASLEEP" | "PREVIEW_BUSY" | "PREVIEW_BROKEN" | "PREVIEW_LIMIT" | "MISDIRECTED" | "WAIT_TIMEOUT" | "LIMIT_UNAVAILABLE" | "ISOLATION_UNAVAILABLE" | "PAUSE_UNAVAILABLE" | "STORAGE_BUSY" | "SANDBOX_GONE" | "DISK_FULL" | "DISK_READ_ONLY" | "INTERNAL";

/** A text that may be no UTF-8. */
export interface ExactText {
  /** The text itself, or its bytes in base64. */
  readonly data: string;
  /** Which of them. */
  readonly encoding: Encoding;
}

/** Asks for one command, run to its end. Exactly one of `command` and `argv` is given. */
export interface ExecRequest {
  /** Bytes of each output that the answer may hold (1 MiB). */
  readonly answerBytes?: number | undefined;
  /** A program and its arguments; no shell. */
  readonly argv?: readonly string[] | undefined;
  /** What happens to what it leaves behind. */
  readonly background?: Background | undefined;
  /** A shell string, run by bash, or by sh where there is no bash. */
  readonly command?: string | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** How output is put into the answer. */
  readonly encoding?: Encoding | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** How long a tree that was told to end may take before it is killed (2000). */
  readonly grace?: number | undefined;
  /** Its id, so that asking again finds it; made up if not given. */
  readonly id?: ProcessId | undefined;
  /** Ends the whole tree after so long without output. */
  readonly idleTimeout?: number | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Ends the whole tree when it has printed more than so much. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory that this command may use, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** What happens if the caller goes away. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Standard input as text. Without this and `stdin_base64` it is closed. */
  readonly stdin?: string | undefined;
  /** Standard input, exact. */
  readonly stdinBase64?: string | undefined;
  /** Ends the whole tree after so long. */
  readonly timeout?: number | undefined;
  /** User inside: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/** What `exec` answers. */
export interface ExecResult {
  /** Position behind the last byte of the log when it ended. */
  readonly cursor: number;
  /** How it ended. */
  readonly end: EndRecord;
  /** Its id, under which its log can be read and its survivors killed. */
  readonly id: ProcessId;
  /**
   * The session's shell could not be saved when the command was ended: it was replaced by one that holds the
   * session's last snapshot.
   */
  readonly sessionReset?: boolean | undefined;
  /** Standard error. */
  readonly stderr: Capture;
  /** Standard output. */
  readonly stdout: Capture;
}

/** Expose a port. What is left out stays as it is, or takes its default if the port is not exposed yet. */
export interface ExposePort {
  /** Whether the program inside gets paths of the path form whole, `/preview/…` included (no). */
  readonly keepPrefix?: boolean | undefined;
  /** What it is, for people. */
  readonly name?: string | undefined;
  /** The secret part of its URL: 1 to 32 of `a-z`, `0-9` and `_`. Made up if not given; short ones can be guessed. */
  readonly token?: string | undefined;
  /** Who may see it (`public`). */
  readonly visibility?: Visibility | undefined;
  /** Whether a request starts a sandbox that sleeps (no). */
  readonly wake?: boolean | undefined;
}

/** Asks for a new session that holds what another one does. */
export interface ForkRequest {
  /** The id of the new one; made up if not given. */
  readonly id?: SessionId | undefined;
}

/** Output that can no longer be read: the log had to drop it. */
export interface Gap {
  /** First position that cannot be read. */
  readonly from: number;
  /** First position after it that can. */
  readonly to: number;
}

/** An HTTP request that must be answered. */
export interface HttpCondition {
  /** Path to get. */
  readonly path: string;
  /** The status that it must have; without it any from 200 to 399. */
  readonly status?: number | undefined;
}

/** What an interrupt did. */
export interface InterruptReceipt {
  /** Whether something ran that could be interrupted. */
  readonly interrupted: boolean;
}

/** How strongly commands are walled off. */
export type Isolation = "namespaces" | "none";

/** Asks to end every process, or all that have these labels. */
export interface KillAllRequest {
  /** How long they may take before they are killed (2000). */
  readonly grace?: number | undefined;
  /** Only those that have all of these. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** What a kill did. */
export interface KillReceipt {
  /** Processes that were sent a signal. */
  readonly signalled: number;
  /** Processes of the tree that are still alive. */
  readonly survivors: number;
}

/** Asks to end a whole tree: TERM, then KILL. */
export interface KillRequest {
  /** How long it may take before it is killed; without it as the command was started with. */
  readonly grace?: number | undefined;
}

/** Sign a link to a private preview. */
export interface LinkRequest {
  /** For how long it is good, and what it lets in (an hour; at most 30 days). */
  readonly expiresIn?: number | undefined;
}

/** What to look for in the output. Exactly one of `text` and `regex` is given. */
export interface LogCondition {
  /** A line that this regular expression matches. */
  readonly regex?: string | undefined;
  /** From this position of the log on (0): what was printed before the wait counts too. */
  readonly since?: number | undefined;
  /** This text, anywhere. */
  readonly text?: string | undefined;
}

/** Where the output was found. */
export interface LogMatch {
  /** Position behind it. */
  readonly cursor: number;
  /** The line that it is in; what is no UTF-8 is replaced. */
  readonly line: string;
  /** On which output. */
  readonly stream: Stream;
}

/** A new token. The only time that its secret is told. */
export interface NewToken {
  /** What it is. */
  readonly info: TokenInfo;
  /** To be sent as `Authorization: Bearer …`. */
  readonly token: string;
}

/** What there is in the shell that cannot be carried into another one. */
export interface NotCarriedInfo {
  /** Open descriptors beyond the standard three. */
  readonly descriptors: readonly number[];
  /** Whether it has background jobs. */
  readonly jobs: boolean;
}

/** What happens to a command whose caller goes away before its end. */
export type OnDisconnect = "keep" | "kill";

/** The main process is over, and everything that it printed was told. */
export interface OutputEnd {
  /** Position behind the last byte that was told. */
  readonly cursor: number;
  /** How it ended. */
  readonly end: EndRecord;
}

/** A piece of the ordered log over both streams. */
export interface OutputEvent {
  /** Position of its first byte in the log. */
  readonly cursor: number;
  /** The bytes, encoded. */
  readonly data: string;
  /** How. */
  readonly encoding: Encoding;
  /** Position behind its last byte: where to go on. */
  readonly nextCursor: number;
  /** Whether bytes that are no UTF-8 were replaced. */
  readonly replaced?: boolean | undefined;
  /** Which output. */
  readonly stream: Stream;
  /** When they were read. */
  readonly time: Timestamp;
}

/** A range of the log. */
export interface OutputPage {
  /** Nothing will ever come after this page. */
  readonly closed: boolean;
  /** The output in the range, in order. */
  readonly events: readonly OutputEvent[];
  /** What is missing from it. */
  readonly gaps: readonly Gap[];
  /** Where the next page begins. */
  readonly nextCursor: number;
}

/** Change what can be changed while it lives. What is left out stays. */
export interface PatchSandbox {
  /** Never stop it for want of use. */
  readonly keepAlive?: boolean | undefined;
  /** Labels to set; `null` removes one. */
  readonly labels?: Readonly<Record<string, string | null>> | undefined;
  /** Stop it when nobody used it for so long. 0: never. */
  readonly sleepAfterMs?: number | undefined;
}

/** When a port counts as open. */
export interface PortCondition {
  /** Set to ask for a page instead of a mere connection. */
  readonly http?: HttpCondition | undefined;
  /** Its number. */
  readonly port: number;
}

/** A port inside on which something listens. */
export interface PortInfo {
  /** Addresses inside that it is bound to: `127.0.0.1`, `::`. */
  readonly addresses: readonly string[];
  /** How that process was started. */
  readonly command?: string | undefined;
  /** Pid, inside, of a process that listens; absent if that cannot be known. */
  readonly pid?: number | undefined;
  /** Its number. */
  readonly port: number;
  /** The process of this API that it belongs to, if it does. */
  readonly process?: ProcessId | undefined;
}

/** Every port inside on which something listens, lowest first. */
export interface PortList {
  /** These. */
  readonly ports: readonly PortInfo[];
}

/** An exposed port. */
export interface Preview {
  /** Since when. */
  readonly createdAt: Timestamp;
  /** Whether the program inside gets paths of the path form whole. */
  readonly keepPrefix: boolean;
  /** What it is, for people. */
  readonly name?: string | undefined;
  /** Where it is for clients that cannot resolve that name: below a path of a host that all previews share. */
  readonly pathUrl?: string | undefined;
  /** The port inside. */
  readonly port: number;
  /** The secret part of its URLs. */
  readonly token: string;
  /** Where it is, with a host name of its own. Absent if this server listens nowhere for previews. */
  readonly url?: string | undefined;
  /** Who may see it. */
  readonly visibility: Visibility;
  /** Whether a request starts a sandbox that sleeps. */
  readonly wake: boolean;
}

/** A link that lets in whoever has it, for a while. */
export interface PreviewLink {
  /** Until then. */
  readonly expiresAt: Timestamp;
  /** Below a path of a host that all previews share. */
  readonly pathUrl: string;
  /** With a host name of its own. */
  readonly url: string;
}

/** Exposed ports of a sandbox, lowest first. */
export interface PreviewList {
  /** These. */
  readonly previews: readonly Preview[];
}

/** Names a command within its sandbox. */
export type ProcessId = string;

/** One process. */
export interface ProcessInfo {
  /** What was asked for: the shell string, or the arguments joined for reading. */
  readonly command: string;
  /** Position behind the last byte of its log. */
  readonly cursor: number;
  /** How its main process ended, if it has. */
  readonly end?: EndRecord | undefined;
  /** Its id. */
  readonly id: ProcessId;
  /** Labels given at start. */
  readonly labels: Readonly<Record<string, string>>;
  /** Pid of its main process inside the sandbox, while there is one. */
  readonly pid?: number | undefined;
  /** Whether it is ready, if it has a readiness condition. */
  readonly ready?: boolean | undefined;
  /** How often it was started again by its restart policy. */
  readonly restarts: number;
  /** The session that it runs in or was started from. */
  readonly session?: SessionId | undefined;
  /** When it was (last) started. */
  readonly startedAt: Timestamp;
  /** Where in its life it is. */
  readonly state: ProcessState;
  /** Bytes on standard error so far. */
  readonly stderrBytes: number;
  /** Bytes on standard output so far. */
  readonly stdoutBytes: number;
}

/** Processes, oldest first. */
export interface ProcessList {
  /** All that were asked for. */
  readonly processes: readonly ProcessInfo[];
}

/** Where in its life a process is. */
export type ProcessState = "starting" | "running" | "lingering" | "ended";

/** When a process counts as ready. */
export type ReadyCondition = { log: unknown } | { port: PortCondition };

/** Asks for another window size. */
export interface ResizeRequest {
  /** Who asks; other viewers are told. */
  readonly by?: string | undefined;
  /** Columns. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
}

/** A window got this size. */
export interface Resized {
  /** Who asked for it; `None` for the size that it was made with. */
  readonly by?: string | undefined;
  /** Where in the output. */
  readonly cursor: number;
  /** The new size. */
  readonly size: WindowSize;
  /** When. */
  readonly time: Timestamp;
}

/** A resource limit. */
export interface ResourceLimit {
  /** How far it may be raised; `null` is unlimited. */
  readonly hard?: number | undefined;
  /** Its name, as in `RLIMIT_NOFILE`: `nofile`. */
  readonly resource: string;
  /** What holds now; `null` is unlimited. */
  readonly soft?: number | undefined;
}

/** What a dead session is started from. */
export type RestartFrom = "snapshot" | "nothing";

/** What happens when a process ends by itself with a failure. */
export type RestartPolicy = "never" | { onFailure: RestartPolicyOnFailureDetails };

/** It is started again. */
export interface RestartPolicyOnFailureDetails {
  /** Longest pause (10000). */
  readonly backoffMax?: number | undefined;
  /** Pause before the first restart; doubles with each (100). */
  readonly backoff?: number | undefined;
  /** At most so often (10). */
  readonly max?: number | undefined;
}

/** Asks for a dead session to be brought back. */
export interface RestartRequest {
  /** From what. */
  readonly from?: RestartFrom | undefined;
}

/** One sandbox. */
export interface SandboxInfo {
  /** When it was made. */
  readonly createdAt: Timestamp;
  /** How strongly it is walled off. */
  readonly isolation: Isolation;
  /** For finding it again. */
  readonly labels: Readonly<Record<string, string>>;
  /** What it may use. */
  readonly limits: SandboxLimits;
  /** Its name. */
  readonly name: SandboxName;
  /**
   * Why commands are not walled off from the agent, where that was wished for and could not be had. Only an agent
   * that is the entrypoint of a container goes on then: the container is the wall.
   */
  readonly notIsolated?: string | undefined;
  /** Processes that are not over. */
  readonly processes: number;
  /** Sessions whose shell is alive, idle ones too. */
  readonly sessions?: number | undefined;
  /** How it is. */
  readonly state: SandboxState;
  /** Terminals whose program is not over. */
  readonly terminals: number;
  /** What it uses now. */
  readonly usage: SandboxUsage;
  /** Of the server that answers. */
  readonly version: string;
}

/** What a sandbox may use. What is not set is not limited. */
export interface SandboxLimits {
  /** Thousandths of a core. */
  readonly cpuMillis?: number | undefined;
  /** Bytes of memory, page cache included. */
  readonly memoryBytes?: number | undefined;
  /** Open files of each process. */
  readonly openFiles?: number | undefined;
  /** Processes and threads. */
  readonly pids?: number | undefined;
}

/** Some sandboxes, by name. */
export interface SandboxList {
  /** Give this as `after` for those behind them; `null` if there are none. */
  readonly next?: SandboxName | undefined;
  /** These. */
  readonly sandboxes: readonly SandboxRecord[];
}

/** Names a sandbox; also its host name, and part of preview URLs, hence a DNS label. */
export type SandboxName = string;

/** One sandbox of a server. */
export interface SandboxRecord {
  /** When it was first made. */
  readonly createdAt: Timestamp;
  /** How strongly it is walled off. */
  readonly isolation: Isolation;
  /** It is never stopped for want of use. */
  readonly keepAlive: boolean;
  /** For finding it again. */
  readonly labels: Readonly<Record<string, string>>;
  /** When it was last used. */
  readonly lastUsedAt: Timestamp;
  /** What it may use. */
  readonly limits: SandboxLimits;
  /** What its agent says, if it was asked. */
  readonly live?: SandboxInfo | undefined;
  /** Its name. */
  readonly name: SandboxName;
  /** It is stopped when nobody used it for so long. */
  readonly sleepAfterMs?: number | undefined;
  /** Where in its life it is. */
  readonly state: SandboxState;
  /** Why it is stopped, if it is and that is known. */
  readonly stopReason?: StopReason | undefined;
}

/** How a sandbox is. */
export type SandboxState = "creating" | "running" | "paused" | "stopped" | "lost";

/** What a sandbox uses now. What is not counted here is `null`. */
export interface SandboxUsage {
  /** Processor time used so far, in microseconds. */
  readonly cpuUsec?: number | undefined;
  /** Bytes of memory in use, page cache included. */
  readonly memoryBytes?: number | undefined;
  /** The most there ever was. */
  readonly memoryPeakBytes?: number | undefined;
  /** Processes and threads. */
  readonly pids?: number | undefined;
}

/** These verbs, on the sandboxes that a pattern means. */
export interface Scope {
  /** A sandbox's name, in which `*` stands for any number of letters. */
  readonly sandboxes: string;
  /** What may be done with them. */
  readonly verbs: readonly Verb[];
}

/** What is on a terminal's screen. */
export interface ScreenInfo {
  /** Whether it is the second screen, on which programs such as editors draw. */
  readonly alternate: boolean;
  /** The position in the output at which this was on the screen: attach there to go on. */
  readonly cursor: number;
  /** Column of the text cursor, from 0. */
  readonly cursorCol: number;
  /** Whether the text cursor is hidden. */
  readonly cursorHidden: boolean;
  /** Row of the text cursor, from 0. */
  readonly cursorRow: number;
  /** What draws it on an empty terminal of the same size, with colours, cursor and input modes. */
  readonly formatted: string;
  /** What takes a terminal on which it was drawn back to normal. */
  readonly reset: string;
  /** How large it is. */
  readonly size: WindowSize;
  /** Its text without colours: a line per row, without the spaces at its end. */
  readonly text: string;
  /** Whether every byte before that was seen. Else something drawn long ago may be missing. */
  readonly whole: boolean;
}

/** Names a session within its sandbox. */
export type SessionId = string;

/** One session. */
export interface SessionInfo {
  /** When it was made. */
  readonly createdAt: Timestamp;
  /** Where its shell is, as of its last command. */
  readonly cwd: string;
  /** How its shell ended, if it has. */
  readonly end?: EndRecord | undefined;
  /** Its id. */
  readonly id: SessionId;
  /**
   * What the session has lost: what the shell said when it was brought to a snapshot, or that it is no longer
   * where it was before a command with a directory of its own.
   */
  readonly notRestored?: string | undefined;
  /** Commands that wait. */
  readonly queued: number;
  /** How often its shell had to be replaced. */
  readonly resets: number;
  /** The command that runs. */
  readonly running?: ProcessId | undefined;
  /** What it is doing. */
  readonly state: SessionState;
  /** When a command last began or ended. */
  readonly usedAt: Timestamp;
}

/** Sessions, oldest first. */
export interface SessionList {
  /** All that there are. */
  readonly sessions: readonly SessionInfo[];
}

/** Asks for a session. */
export interface SessionRequest {
  /** Where its shell starts; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Its id; made up if not given. */
  readonly id?: SessionId | undefined;
  /** `set -o` options that are on from the beginning, such as `pipefail`. */
  readonly options?: readonly SessionRequestOptionsItem[] | undefined;
  /** Ends each of its commands after so long, unless the command says otherwise. */
  readonly timeout?: number | undefined;
  /** User inside, for the whole session: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

export type SessionRequestOptionsItem = "allexport" | "braceexpand" | "emacs" | "errexit" | "errtrace" | "functrace" | "hashall" | "histexpand" | "history" | "ignoreeof" | "interactive-comments" | "keyword" | "monitor" | "noclobber" | "noglob" | "nolog" | "notify" | "nounset" | "physical" | "pipefail" | "posix" | "vi" | "xtrace";

/** What a session is doing. */
export type SessionState = "ready" | "busy" | "dead";

/** An alias. */
export interface ShellAlias {
  /** Its name. */
  readonly name: ExactText;
  /** What it stands for. */
  readonly value: ExactText;
}

/** A function. */
export interface ShellFunction {
  /** Letters of `declare -f`: `r`, `t`, `x`. */
  readonly attributes: string;
  /** Its name. */
  readonly name: ExactText;
  /** Its definition. */
  readonly text: ExactText;
}

/** A trap. */
export interface ShellTrap {
  /** What is run then; empty if it is ignored. */
  readonly action: ExactText;
  /** The signal, or `EXIT`, `DEBUG`, `ERR`, `RETURN`. */
  readonly on: string;
}

/** A variable. */
export interface ShellVariable {
  /**
   * What follows the `=` of its declaration, quoted for a shell; `null` if it is declared but not set. An array is
   * told by this alone: `([0]="a" [1]="b")`.
   */
  readonly assignment?: ExactText | undefined;
  /** Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on. */
  readonly attributes: string;
  /** Its name. */
  readonly name: string;
  /** Its value, if it is set and no array. */
  readonly value?: ExactText | undefined;
}

/** A signal, 1 to 64. */
export type Signal = string;

/** What a signal did. */
export interface SignalReceipt {
  /** Processes that it was sent to. */
  readonly signalled: number;
}

/** Asks to send a signal. */
export interface SignalRequest {
  /** To whom. */
  readonly scope?: SignalScope | undefined;
  /** By name or number, as text: `TERM`, `SIGINT`, `9`. */
  readonly signal: Signal;
}

/** Whom a signal is for. */
export type SignalScope = "main" | "tree";

/** Everything that a session remembers. */
export interface SnapshotInfo {
  /** Aliases. */
  readonly aliases: readonly ShellAlias[];
  /** Where it is. */
  readonly cwd: ExactText;
  /** The exported variables, as programs get them. */
  readonly env: Readonly<Record<string, ExactText>>;
  /** Functions. */
  readonly functions: readonly ShellFunction[];
  /** Resource limits. */
  readonly limits: readonly ResourceLimit[];
  /** What there was besides. */
  readonly notCarried: NotCarriedInfo;
  /** `set -o` options that are on. */
  readonly options: readonly string[];
  /** Positional parameters. */
  readonly positional: readonly ExactText[];
  /** `shopt` options that are on. */
  readonly shellOptions: readonly string[];
  /** Traps. */
  readonly traps: readonly ShellTrap[];
  /** File creation mask, in octal: `0022`. */
  readonly umask: string;
  /** All variables, but for those that bash computes or keeps for itself. */
  readonly variables: readonly ShellVariable[];
}

/** Asks for a process. Exactly one of `command` and `argv` is given. */
export interface StartRequest {
  /** A program and its arguments; no shell. */
  readonly argv?: readonly string[] | undefined;
  /** What happens to what it leaves behind. */
  readonly background?: Background | undefined;
  /** A shell string, run by bash, or by sh where there is no bash. */
  readonly command?: string | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** How long a tree that was told to end may take before it is killed (2000). */
  readonly grace?: number | undefined;
  /** Its id, so that asking again finds it; made up if not given. */
  readonly id?: ProcessId | undefined;
  /** Ends the whole tree after so long without output. */
  readonly idleTimeout?: number | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Ends the whole tree when it has printed more than so much. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory that this command may use, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** When it counts as ready. */
  readonly ready?: ReadyCondition | undefined;
  /** What happens when it fails. */
  readonly restart?: RestartPolicy | undefined;
  /** Where its standard input comes from. */
  readonly stdin?: StdinMode | undefined;
  /** Ends the whole tree after so long. */
  readonly timeout?: number | undefined;
  /** User inside: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/** Where a process's standard input comes from. */
export type StdinMode = "closed" | "pipe";

/** Bytes for a standard input. */
export interface StdinPiece {
  /** The bytes, encoded. */
  readonly data: string;
  /** How. */
  readonly encoding?: Encoding | undefined;
  /** Position of the first byte in all that was ever written: a repeated write is skipped, a gap refused. */
  readonly offset: number;
}

/** What a write to standard input did. */
export interface StdinReceipt {
  /** The offset to go on from. */
  readonly nextOffset: number;
}

/** Why a sandbox is stopped. */
export type StopReason = "asked" | "idle" | "host_lost";

/** Which of a command's two outputs. */
export type Stream = "stdout" | "stderr";

/** What a terminal's client sends in text frames. */
export type TerminalCommand = { resize: WindowSize } | { signal: SignalRequest };

/** The program is over. */
export interface TerminalExit {
  /** Position behind the last byte that was told. */
  readonly cursor: number;
  /** How it ended. */
  readonly end: EndRecord;
}

/** What a terminal's client is told in text frames. */
export type TerminalFrame = { ready: TerminalReady } | { resize: Resized } | { truncated: Gap } | { exit: TerminalExit } | { error: ErrorBody };

/** Names a terminal within its sandbox. */
export type TerminalId = string;

/** One terminal. */
export interface TerminalInfo {
  /** What was asked for: the shell string, or the arguments joined for reading. */
  readonly command: string;
  /** Position behind the last byte of its output. */
  readonly cursor: number;
  /** How its program ended, if it has. */
  readonly end?: EndRecord | undefined;
  /** Its id. */
  readonly id: TerminalId;
  /** Pid of its program inside the sandbox, while it runs. */
  readonly pid?: number | undefined;
  /** Who asked for it; `None` for the size that it was made with. */
  readonly resizedBy?: string | undefined;
  /** The size last asked for. */
  readonly size: WindowSize;
  /** When its program was started. */
  readonly startedAt: Timestamp;
  /** Where in its life its program is. */
  readonly state: ProcessState;
  /** How many are looking. */
  readonly viewers: number;
}

/** Terminals, oldest first. */
export interface TerminalList {
  /** All that are remembered. */
  readonly terminals: readonly TerminalInfo[];
}

/** The connection stands. */
export interface TerminalReady {
  /** Position of the first byte that follows. Count from here to know where to attach again. */
  readonly cursor: number;
  /** The terminal. */
  readonly terminal: TerminalInfo;
}

/** Asks for a terminal: the one that has this id, or a new one. */
export interface TerminalRequest {
  /** A program and its arguments to run in it. */
  readonly argv?: readonly string[] | undefined;
  /** Columns at first (80). */
  readonly cols?: number | undefined;
  /** A shell string to run in it. Without this and `argv`: the interactive shell. */
  readonly command?: string | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Its id; made up if not given. */
  readonly id?: TerminalId | undefined;
  /** Rows at first (24). */
  readonly rows?: number | undefined;
  /** The variable `TERM` (`xterm-256color`). */
  readonly term?: string | undefined;
  /** User inside: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/** Milliseconds since 1970. For people and logs; nothing is decided by it. */
export type Timestamp = Date;

/** A token as it is listed: everything but the secret. */
export interface TokenInfo {
  /** When it was made. */
  readonly createdAt: Timestamp;
  /** When it ceases to be good. */
  readonly expiresAt?: Timestamp | undefined;
  /** Names it; also the middle of the token itself. */
  readonly id: string;
  /** When it was last used, to the minute. */
  readonly lastUsedAt?: Timestamp | undefined;
  /** What it is for, for people. */
  readonly name: string;
  /** What it allows. */
  readonly scopes: readonly Scope[];
}

/** Every token. */
export interface TokenList {
  /** Oldest first. */
  readonly tokens: readonly TokenInfo[];
}

/** What an answer leaves out of an output. */
export interface Truncation {
  /** Where in the log the omitted bytes begin. */
  readonly cursor: number;
  /** Bytes between head and tail. */
  readonly omittedBytes: number;
  /** The last bytes. */
  readonly tail: string;
}

/** What may be done. */
export type Verb = "read" | "exec" | "admin";

/** Who may see a preview. */
export type Visibility = "public" | "private";

/** It has happened. */
export interface WaitAnswer {
  /** How it ended, if that was waited for. */
  readonly end?: EndRecord | undefined;
  /** What was found, if output was waited for. */
  readonly found?: LogMatch | undefined;
}

/** What to wait for. */
export type WaitFor = "exit" | "input" | { log: LogCondition } | { port: PortCondition };

/** Asks to be told when something has happened. */
export interface WaitRequest {
  /** What to wait for. */
  readonly for: WaitFor;
  /** How long to wait; the process is never touched by it. Without it as long as it takes. */
  readonly timeout?: number | undefined;
}

/** How large a window is, in characters. Neither side is 0 or beyond its cap. */
export interface WindowSize {
  readonly cols: number;
  readonly rows: number;
}

/** Asks for one command, run to its end. Exactly one of `command` and `argv` is given. */
export interface ExecOptions {
  /** Bytes of each output that the answer may hold (1 MiB). */
  readonly answerBytes?: number | undefined;
  /** What happens to what it leaves behind. */
  readonly background?: Background | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** How long a tree that was told to end may take before it is killed (2000). */
  readonly grace?: number | undefined;
  /** Its id, so that asking again finds it; made up if not given. */
  readonly id?: ProcessId | undefined;
  /** Ends the whole tree after so long without output. */
  readonly idleTimeout?: number | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Ends the whole tree when it has printed more than so much. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory that this command may use, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** What happens if the caller goes away. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Ends the whole tree after so long. */
  readonly timeout?: number | undefined;
  /** User inside: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/** Asks for one command, run to its end. Exactly one of `command` and `argv` is given. */
export interface SessionExecOptions {
  /** Bytes of each output that the answer may hold (1 MiB). */
  readonly answerBytes?: number | undefined;
  /** What happens to what it leaves behind. */
  readonly background?: Background | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** How long a tree that was told to end may take before it is killed (2000). */
  readonly grace?: number | undefined;
  /** Its id, so that asking again finds it; made up if not given. */
  readonly id?: ProcessId | undefined;
  /** Ends the whole tree after so long without output. */
  readonly idleTimeout?: number | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Ends the whole tree when it has printed more than so much. */
  readonly maxOutputBytes?: number | undefined;
  /** What happens if the caller goes away. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Ends the whole tree after so long. */
  readonly timeout?: number | undefined;
}

/** Asks for a process. Exactly one of `command` and `argv` is given. */
export interface StartOptions {
  /** What happens to what it leaves behind. */
  readonly background?: Background | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** How long a tree that was told to end may take before it is killed (2000). */
  readonly grace?: number | undefined;
  /** Its id, so that asking again finds it; made up if not given. */
  readonly id?: ProcessId | undefined;
  /** Ends the whole tree after so long without output. */
  readonly idleTimeout?: number | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Ends the whole tree when it has printed more than so much. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory that this command may use, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** When it counts as ready. */
  readonly ready?: ReadyCondition | undefined;
  /** What happens when it fails. */
  readonly restart?: RestartPolicy | undefined;
  /** Where its standard input comes from. */
  readonly stdin?: StdinMode | undefined;
  /** Ends the whole tree after so long. */
  readonly timeout?: number | undefined;
  /** User inside: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/** Asks for a process. Exactly one of `command` and `argv` is given. */
export interface QueueOptions {
  /** What happens to what it leaves behind. */
  readonly background?: Background | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** How long a tree that was told to end may take before it is killed (2000). */
  readonly grace?: number | undefined;
  /** Its id, so that asking again finds it; made up if not given. */
  readonly id?: ProcessId | undefined;
  /** Ends the whole tree after so long without output. */
  readonly idleTimeout?: number | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Ends the whole tree when it has printed more than so much. */
  readonly maxOutputBytes?: number | undefined;
  /** Where its standard input comes from. */
  readonly stdin?: StdinMode | undefined;
  /** Ends the whole tree after so long. */
  readonly timeout?: number | undefined;
}

/** Asks for a session. */
export interface SessionOptions {
  /** Where its shell starts; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Its id; made up if not given. */
  readonly id?: SessionId | undefined;
  /** `set -o` options that are on from the beginning, such as `pipefail`. */
  readonly options?: readonly SessionRequestOptionsItem[] | undefined;
  /** Ends each of its commands after so long, unless the command says otherwise. */
  readonly timeout?: number | undefined;
  /** User inside, for the whole session: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/** Asks for a terminal: the one that has this id, or a new one. */
export interface TerminalOptions {
  /** Columns at first (80). */
  readonly cols?: number | undefined;
  /** Working directory; relative ones are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Its id; made up if not given. */
  readonly id?: TerminalId | undefined;
  /** Rows at first (24). */
  readonly rows?: number | undefined;
  /** The variable `TERM` (`xterm-256color`). */
  readonly term?: string | undefined;
  /** User inside: a name, a number, or either with `:group`. */
  readonly user?: string | undefined;
}

/**
 * Get or create a sandbox. What is left out takes its default if the sandbox is made, and may be anything if it
 * exists.
 */
export interface SandboxOptions {
  /** Variables of every command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How strongly it is walled off. */
  readonly isolation?: Isolation | undefined;
  /** Never stop it for want of use, whatever `sleep_after_ms` says. */
  readonly keepAlive?: boolean | undefined;
  /** For finding it again. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** What it may use. */
  readonly limits?: SandboxLimits | undefined;
  /** Stop it when nobody used it for so long. 0: never. */
  readonly sleepAfterMs?: number | undefined;
}

/** Change what can be changed while it lives. What is left out stays. */
export interface SandboxChanges {
  /** Never stop it for want of use. */
  readonly keepAlive?: boolean | undefined;
  /** Labels to set; `null` removes one. */
  readonly labels?: Readonly<Record<string, string | null>> | undefined;
  /** Stop it when nobody used it for so long. 0: never. */
  readonly sleepAfterMs?: number | undefined;
}

/** Expose a port. What is left out stays as it is, or takes its default if the port is not exposed yet. */
export interface ExposeOptions {
  /** Whether the program inside gets paths of the path form whole, `/preview/…` included (no). */
  readonly keepPrefix?: boolean | undefined;
  /** What it is, for people. */
  readonly name?: string | undefined;
  /** The secret part of its URL: 1 to 32 of `a-z`, `0-9` and `_`. Made up if not given; short ones can be guessed. */
  readonly token?: string | undefined;
  /** Who may see it (`public`). */
  readonly visibility?: Visibility | undefined;
  /** Whether a request starts a sandbox that sleeps (no). */
  readonly wake?: boolean | undefined;
}

/** The types by their names. */
export interface Types {
  AttachCommand: AttachCommand;
  AttachEvent: AttachEvent;
  CancelReceipt: CancelReceipt;
  Capture: Capture;
  CreateSandbox: CreateSandbox;
  CreateToken: CreateToken;
  EndRecord: EndRecord;
  ErrorAnswer: ErrorAnswer;
  ErrorBody: ErrorBody;
  ExactText: ExactText;
  ExecRequest: ExecRequest;
  ExecResult: ExecResult;
  ExposePort: ExposePort;
  ForkRequest: ForkRequest;
  Gap: Gap;
  HttpCondition: HttpCondition;
  InterruptReceipt: InterruptReceipt;
  KillAllRequest: KillAllRequest;
  KillReceipt: KillReceipt;
  KillRequest: KillRequest;
  LinkRequest: LinkRequest;
  LogCondition: LogCondition;
  LogMatch: LogMatch;
  NewToken: NewToken;
  NotCarriedInfo: NotCarriedInfo;
  OutputEnd: OutputEnd;
  OutputEvent: OutputEvent;
  OutputPage: OutputPage;
  PatchSandbox: PatchSandbox;
  PortCondition: PortCondition;
  PortInfo: PortInfo;
  PortList: PortList;
  Preview: Preview;
  PreviewLink: PreviewLink;
  PreviewList: PreviewList;
  ProcessInfo: ProcessInfo;
  ProcessList: ProcessList;
  ReadyCondition: ReadyCondition;
  ResizeRequest: ResizeRequest;
  Resized: Resized;
  ResourceLimit: ResourceLimit;
  RestartPolicy: RestartPolicy;
  RestartPolicyOnFailureDetails: RestartPolicyOnFailureDetails;
  RestartRequest: RestartRequest;
  SandboxInfo: SandboxInfo;
  SandboxLimits: SandboxLimits;
  SandboxList: SandboxList;
  SandboxRecord: SandboxRecord;
  SandboxUsage: SandboxUsage;
  Scope: Scope;
  ScreenInfo: ScreenInfo;
  SessionInfo: SessionInfo;
  SessionList: SessionList;
  SessionRequest: SessionRequest;
  ShellAlias: ShellAlias;
  ShellFunction: ShellFunction;
  ShellTrap: ShellTrap;
  ShellVariable: ShellVariable;
  SignalReceipt: SignalReceipt;
  SignalRequest: SignalRequest;
  SnapshotInfo: SnapshotInfo;
  StartRequest: StartRequest;
  StdinPiece: StdinPiece;
  StdinReceipt: StdinReceipt;
  TerminalCommand: TerminalCommand;
  TerminalExit: TerminalExit;
  TerminalFrame: TerminalFrame;
  TerminalInfo: TerminalInfo;
  TerminalList: TerminalList;
  TerminalReady: TerminalReady;
  TerminalRequest: TerminalRequest;
  TokenInfo: TokenInfo;
  TokenList: TokenList;
  Truncation: Truncation;
  WaitAnswer: WaitAnswer;
  WaitFor: WaitFor;
  WaitRequest: WaitRequest;
  WindowSize: WindowSize;
  ExecOptions: ExecOptions;
  SessionExecOptions: SessionExecOptions;
  StartOptions: StartOptions;
  QueueOptions: QueueOptions;
  SessionOptions: SessionOptions;
  TerminalOptions: TerminalOptions;
  SandboxOptions: SandboxOptions;
  SandboxChanges: SandboxChanges;
  ExposeOptions: ExposeOptions;
}

/** How each type is spelled on the wire: our name, its name, and what it holds if that must be looked at. */
export const shapes = {
  AttachCommand: { choice: [["stdin", "stdin", "StdinPiece"], ["signal", "signal", "SignalRequest"]] },
  AttachEvent: { choice: [["output", "output", "OutputEvent"], ["gap", "gap", "Gap"], ["end", "end", "OutputEnd"], ["written", "written", "StdinReceipt"], ["signalled", "signalled", "SignalReceipt"], ["error", "error", "ErrorBody"]] },
  CancelReceipt: { fields: [["cancelled", "cancelled"]] },
  Capture: { fields: [["bytes", "bytes"], ["data", "data"], ["encoding", "encoding"], ["replaced", "replaced"], ["truncated", "truncated", "Truncation"]] },
  CreateSandbox: { fields: [["env", "env"], ["isolation", "isolation"], ["keepAlive", "keep_alive"], ["labels", "labels"], ["limits", "limits", "SandboxLimits"], ["name", "name"], ["sleepAfterMs", "sleep_after_ms"]] },
  CreateToken: { fields: [["expiresIn", "expires_in_ms"], ["name", "name"], ["scopes", "scopes", "Scope[]"]] },
  EndRecord: { fields: [["code", "code"], ["cpuSystem", "cpu_system_ms"], ["cpuUser", "cpu_user_ms"], ["duration", "duration_ms"], ["endedAt", "ended_at", "date"], ["maxRssBytes", "max_rss_bytes"], ["oomKilled", "oom_killed"], ["reason", "reason"], ["signal", "signal"], ["startedAt", "started_at", "date"], ["survivors", "survivors"], ["timedOut", "timed_out"]] },
  ErrorAnswer: { fields: [["error", "error", "ErrorBody"]] },
  ErrorBody: { fields: [["code", "code"], ["details", "details"], ["hint", "hint"], ["message", "message"]] },
  ExactText: { fields: [["data", "data"], ["encoding", "encoding"]] },
  ExecRequest: { fields: [["answerBytes", "answer_bytes"], ["argv", "argv"], ["background", "background"], ["command", "command"], ["cwd", "cwd"], ["encoding", "encoding"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["onDisconnect", "on_disconnect"], ["stdin", "stdin"], ["stdinBase64", "stdin_base64"], ["timeout", "timeout_ms"], ["user", "user"]] },
  ExecResult: { fields: [["cursor", "cursor"], ["end", "end", "EndRecord"], ["id", "id"], ["sessionReset", "session_reset"], ["stderr", "stderr", "Capture"], ["stdout", "stdout", "Capture"]] },
  ExposePort: { fields: [["keepPrefix", "keep_prefix"], ["name", "name"], ["token", "token"], ["visibility", "visibility"], ["wake", "wake"]] },
  ForkRequest: { fields: [["id", "id"]] },
  Gap: { fields: [["from", "from"], ["to", "to"]] },
  HttpCondition: { fields: [["path", "path"], ["status", "status"]] },
  InterruptReceipt: { fields: [["interrupted", "interrupted"]] },
  KillAllRequest: { fields: [["grace", "grace_ms"], ["labels", "labels"]] },
  KillReceipt: { fields: [["signalled", "signalled"], ["survivors", "survivors"]] },
  KillRequest: { fields: [["grace", "grace_ms"]] },
  LinkRequest: { fields: [["expiresIn", "expires_in_ms"]] },
  LogCondition: { fields: [["regex", "regex"], ["since", "since"], ["text", "text"]] },
  LogMatch: { fields: [["cursor", "cursor"], ["line", "line"], ["stream", "stream"]] },
  NewToken: { fields: [["info", "info", "TokenInfo"], ["token", "token"]] },
  NotCarriedInfo: { fields: [["descriptors", "descriptors"], ["jobs", "jobs"]] },
  OutputEnd: { fields: [["cursor", "cursor"], ["end", "end", "EndRecord"]] },
  OutputEvent: { fields: [["cursor", "cursor"], ["data", "data"], ["encoding", "encoding"], ["nextCursor", "next_cursor"], ["replaced", "replaced"], ["stream", "stream"], ["time", "time", "date"]] },
  OutputPage: { fields: [["closed", "closed"], ["events", "events", "OutputEvent[]"], ["gaps", "gaps", "Gap[]"], ["nextCursor", "next_cursor"]] },
  PatchSandbox: { fields: [["keepAlive", "keep_alive"], ["labels", "labels"], ["sleepAfterMs", "sleep_after_ms"]] },
  PortCondition: { fields: [["http", "http", "HttpCondition"], ["port", "port"]] },
  PortInfo: { fields: [["addresses", "addresses"], ["command", "command"], ["pid", "pid"], ["port", "port"], ["process", "process"]] },
  PortList: { fields: [["ports", "ports", "PortInfo[]"]] },
  Preview: { fields: [["createdAt", "created_at", "date"], ["keepPrefix", "keep_prefix"], ["name", "name"], ["pathUrl", "path_url"], ["port", "port"], ["token", "token"], ["url", "url"], ["visibility", "visibility"], ["wake", "wake"]] },
  PreviewLink: { fields: [["expiresAt", "expires_at", "date"], ["pathUrl", "path_url"], ["url", "url"]] },
  PreviewList: { fields: [["previews", "previews", "Preview[]"]] },
  ProcessInfo: { fields: [["command", "command"], ["cursor", "cursor"], ["end", "end", "EndRecord"], ["id", "id"], ["labels", "labels"], ["pid", "pid"], ["ready", "ready"], ["restarts", "restarts"], ["session", "session"], ["startedAt", "started_at", "date"], ["state", "state"], ["stderrBytes", "stderr_bytes"], ["stdoutBytes", "stdout_bytes"]] },
  ProcessList: { fields: [["processes", "processes", "ProcessInfo[]"]] },
  ReadyCondition: { choice: [["log", "log"], ["port", "port", "PortCondition"]] },
  ResizeRequest: { fields: [["by", "by"], ["cols", "cols"], ["rows", "rows"]] },
  Resized: { fields: [["by", "by"], ["cursor", "cursor"], ["size", "size", "WindowSize"], ["time", "time", "date"]] },
  ResourceLimit: { fields: [["hard", "hard"], ["resource", "resource"], ["soft", "soft"]] },
  RestartPolicy: { choice: [["onFailure", "on_failure", "RestartPolicyOnFailureDetails"]] },
  RestartPolicyOnFailureDetails: { fields: [["backoffMax", "backoff_max_ms"], ["backoff", "backoff_ms"], ["max", "max"]] },
  RestartRequest: { fields: [["from", "from"]] },
  SandboxInfo: { fields: [["createdAt", "created_at", "date"], ["isolation", "isolation"], ["labels", "labels"], ["limits", "limits", "SandboxLimits"], ["name", "name"], ["notIsolated", "not_isolated"], ["processes", "processes"], ["sessions", "sessions"], ["state", "state"], ["terminals", "terminals"], ["usage", "usage", "SandboxUsage"], ["version", "version"]] },
  SandboxLimits: { fields: [["cpuMillis", "cpu_millis"], ["memoryBytes", "memory_bytes"], ["openFiles", "open_files"], ["pids", "pids"]] },
  SandboxList: { fields: [["next", "next"], ["sandboxes", "sandboxes", "SandboxRecord[]"]] },
  SandboxRecord: { fields: [["createdAt", "created_at", "date"], ["isolation", "isolation"], ["keepAlive", "keep_alive"], ["labels", "labels"], ["lastUsedAt", "last_used_at", "date"], ["limits", "limits", "SandboxLimits"], ["live", "live", "SandboxInfo"], ["name", "name"], ["sleepAfterMs", "sleep_after_ms"], ["state", "state"], ["stopReason", "stop_reason"]] },
  SandboxUsage: { fields: [["cpuUsec", "cpu_usec"], ["memoryBytes", "memory_bytes"], ["memoryPeakBytes", "memory_peak_bytes"], ["pids", "pids"]] },
  Scope: { fields: [["sandboxes", "sandboxes"], ["verbs", "verbs"]] },
  ScreenInfo: { fields: [["alternate", "alternate"], ["cursor", "cursor"], ["cursorCol", "cursor_col"], ["cursorHidden", "cursor_hidden"], ["cursorRow", "cursor_row"], ["formatted", "formatted"], ["reset", "reset"], ["size", "size", "WindowSize"], ["text", "text"], ["whole", "whole"]] },
  SessionInfo: { fields: [["createdAt", "created_at", "date"], ["cwd", "cwd"], ["end", "end", "EndRecord"], ["id", "id"], ["notRestored", "not_restored"], ["queued", "queued"], ["resets", "resets"], ["running", "running"], ["state", "state"], ["usedAt", "used_at", "date"]] },
  SessionList: { fields: [["sessions", "sessions", "SessionInfo[]"]] },
  SessionRequest: { fields: [["cwd", "cwd"], ["env", "env"], ["id", "id"], ["options", "options"], ["timeout", "timeout_ms"], ["user", "user"]] },
  ShellAlias: { fields: [["name", "name", "ExactText"], ["value", "value", "ExactText"]] },
  ShellFunction: { fields: [["attributes", "attributes"], ["name", "name", "ExactText"], ["text", "text", "ExactText"]] },
  ShellTrap: { fields: [["action", "action", "ExactText"], ["on", "on"]] },
  ShellVariable: { fields: [["assignment", "assignment", "ExactText"], ["attributes", "attributes"], ["name", "name"], ["value", "value", "ExactText"]] },
  SignalReceipt: { fields: [["signalled", "signalled"]] },
  SignalRequest: { fields: [["scope", "scope"], ["signal", "signal"]] },
  SnapshotInfo: { fields: [["aliases", "aliases", "ShellAlias[]"], ["cwd", "cwd", "ExactText"], ["env", "env", "ExactText{}"], ["functions", "functions", "ShellFunction[]"], ["limits", "limits", "ResourceLimit[]"], ["notCarried", "not_carried", "NotCarriedInfo"], ["options", "options"], ["positional", "positional", "ExactText[]"], ["shellOptions", "shell_options"], ["traps", "traps", "ShellTrap[]"], ["umask", "umask"], ["variables", "variables", "ShellVariable[]"]] },
  StartRequest: { fields: [["argv", "argv"], ["background", "background"], ["command", "command"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["ready", "ready", "ReadyCondition"], ["restart", "restart", "RestartPolicy"], ["stdin", "stdin"], ["timeout", "timeout_ms"], ["user", "user"]] },
  StdinPiece: { fields: [["data", "data"], ["encoding", "encoding"], ["offset", "offset"]] },
  StdinReceipt: { fields: [["nextOffset", "next_offset"]] },
  TerminalCommand: { choice: [["resize", "resize", "WindowSize"], ["signal", "signal", "SignalRequest"]] },
  TerminalExit: { fields: [["cursor", "cursor"], ["end", "end", "EndRecord"]] },
  TerminalFrame: { choice: [["ready", "ready", "TerminalReady"], ["resize", "resize", "Resized"], ["truncated", "truncated", "Gap"], ["exit", "exit", "TerminalExit"], ["error", "error", "ErrorBody"]] },
  TerminalInfo: { fields: [["command", "command"], ["cursor", "cursor"], ["end", "end", "EndRecord"], ["id", "id"], ["pid", "pid"], ["resizedBy", "resized_by"], ["size", "size", "WindowSize"], ["startedAt", "started_at", "date"], ["state", "state"], ["viewers", "viewers"]] },
  TerminalList: { fields: [["terminals", "terminals", "TerminalInfo[]"]] },
  TerminalReady: { fields: [["cursor", "cursor"], ["terminal", "terminal", "TerminalInfo"]] },
  TerminalRequest: { fields: [["argv", "argv"], ["cols", "cols"], ["command", "command"], ["cwd", "cwd"], ["env", "env"], ["id", "id"], ["rows", "rows"], ["term", "term"], ["user", "user"]] },
  TokenInfo: { fields: [["createdAt", "created_at", "date"], ["expiresAt", "expires_at", "date"], ["id", "id"], ["lastUsedAt", "last_used_at", "date"], ["name", "name"], ["scopes", "scopes", "Scope[]"]] },
  TokenList: { fields: [["tokens", "tokens", "TokenInfo[]"]] },
  Truncation: { fields: [["cursor", "cursor"], ["omittedBytes", "omitted_bytes"], ["tail", "tail"]] },
  WaitAnswer: { fields: [["end", "end", "EndRecord"], ["found", "found", "LogMatch"]] },
  WaitFor: { choice: [["log", "log", "LogCondition"], ["port", "port", "PortCondition"]] },
  WaitRequest: { fields: [["for", "for", "WaitFor"], ["timeout", "timeout_ms"]] },
  WindowSize: { fields: [["cols", "cols"], ["rows", "rows"]] },
  ExecOptions: { fields: [["answerBytes", "answer_bytes"], ["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["onDisconnect", "on_disconnect"], ["timeout", "timeout_ms"], ["user", "user"]] },
  SessionExecOptions: { fields: [["answerBytes", "answer_bytes"], ["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["onDisconnect", "on_disconnect"], ["timeout", "timeout_ms"]] },
  StartOptions: { fields: [["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["ready", "ready", "ReadyCondition"], ["restart", "restart", "RestartPolicy"], ["stdin", "stdin"], ["timeout", "timeout_ms"], ["user", "user"]] },
  QueueOptions: { fields: [["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["stdin", "stdin"], ["timeout", "timeout_ms"]] },
  SessionOptions: { fields: [["cwd", "cwd"], ["env", "env"], ["id", "id"], ["options", "options"], ["timeout", "timeout_ms"], ["user", "user"]] },
  TerminalOptions: { fields: [["cols", "cols"], ["cwd", "cwd"], ["env", "env"], ["id", "id"], ["rows", "rows"], ["term", "term"], ["user", "user"]] },
  SandboxOptions: { fields: [["env", "env"], ["isolation", "isolation"], ["keepAlive", "keep_alive"], ["labels", "labels"], ["limits", "limits", "SandboxLimits"], ["sleepAfterMs", "sleep_after_ms"]] },
  SandboxChanges: { fields: [["keepAlive", "keep_alive"], ["labels", "labels"], ["sleepAfterMs", "sleep_after_ms"]] },
  ExposeOptions: { fields: [["keepPrefix", "keep_prefix"], ["name", "name"], ["token", "token"], ["visibility", "visibility"], ["wake", "wake"]] },
} as const;
