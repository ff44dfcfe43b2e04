// What is said to the server and what it tells.
//
// Written by `sdk/generate` from the API's description; changes are lost.

/** What to do where a member's name is taken. */
export type ArchiveExisting = "replace" | "keep" | "refuse";

/** The form of an archive. */
export type ArchiveFormat = "tar" | "tar.zst" | "tar.gz" | "zip";

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
  /** What it may reach at first; nothing if not given. */
  readonly network?: NetworkPolicy | undefined;
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

/** Something that a command was refused. */
export interface Denial {
  /** The address that was meant, if it says more than the name. */
  readonly address?: string | undefined;
  /** When it was first refused. */
  readonly at: Timestamp;
  /** How often the same was refused. */
  readonly count: number;
  /** The name that was meant, if one was. */
  readonly host?: string | undefined;
  /** The port. Of a question to a name server there is none. */
  readonly port?: number | undefined;
  /** Why. */
  readonly reason: DenialReason;
}

/** Why a connection or a question was refused. */
export type DenialReason = "no_rule" | "port_not_allowed" | "protocol_not_allowed" | "command_not_allowed" | "address_not_public" | "no_name" | "bad_name" | "name_mismatch" | "hidden_name" | "malformed" | "query_type" | "query_limit" | "no_address" | "unreachable" | "untrusted" | "udp_not_allowed" | "too_many" | "policy_changed";

/** A file was edited. */
export interface EditReceipt {
  /** As it is now. */
  readonly file: FileInfo;
  /** For each replacement the lines, as they were before it, where it was done. */
  readonly lines: ReadonlyArray<readonly number[]>;
}

/** Replace exact texts in a file: all of them, one after the other, or none. */
export interface EditRequest {
  /** The replacements. */
  readonly edits: readonly EditText[];
  /** How the texts are put into JSON. */
  readonly encoding?: Encoding | undefined;
  /** Only if the file is in the state with this tag. */
  readonly ifMatch?: string | undefined;
  /** The file. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** The user to edit as. */
  readonly user?: string | undefined;
}

/** One replacement. */
export interface EditText {
  /** It may be there any number of times, at least once. Each is replaced. */
  readonly all?: boolean | undefined;
  /** How often it must be there: once, if not given. Each is replaced. */
  readonly count?: number | undefined;
  /** What takes its place. */
  readonly new: string;
  /** The text that is there. */
  readonly old: string;
}

/** One thing that happened on the way out. What does not apply is left out. */
export interface EgressEvent {
  /** The address outside. */
  readonly address?: string | undefined;
  /** When. */
  readonly at: Timestamp;
  /** Bytes that came in. */
  readonly bytesIn?: number | undefined;
  /** Bytes that went out. */
  readonly bytesOut?: number | undefined;
  /** The command that did it, if that is known. */
  readonly command?: ProcessId | undefined;
  /** Its number; the next one has the next. */
  readonly cursor: number;
  /** How long it stood. */
  readonly duration?: number | undefined;
  /** Which connection: the same in `opened` and `closed`. */
  readonly flow?: number | undefined;
  /** The name that was meant. */
  readonly host?: string | undefined;
  /** What. */
  readonly kind: EgressEventKind;
  /** The port outside. */
  readonly port?: number | undefined;
  /** What is spoken. */
  readonly protocol?: EgressProtocol | undefined;
  /** Why not. */
  readonly reason?: DenialReason | undefined;
  /** The rule that allowed it, as text. */
  readonly rule?: string | undefined;
  /** In how many requests a secret was put in. */
  readonly secretsUsed?: number | undefined;
}

/** What happened on the way out. */
export type EgressEventKind = "opened" | "closed" | "denied" | "resolved" | "name_denied" | "policy_changed";

/** Some events, by cursor. */
export interface EgressEventPage {
  /** These. */
  readonly events: readonly EgressEvent[];
  /** So many that were asked for are forgotten. */
  readonly lost: number;
  /** Give this as `since` for those behind them. */
  readonly nextCursor: number;
}

/** What is spoken on a connection. */
export type EgressProtocol = "http" | "tls" | "tcp";

/** Something that may be reached. Exactly one of `set`, `domain` and `cidr` is given. */
export interface EgressRule {
  /** An address or a block of them. It is also what opens private addresses, for names too. */
  readonly cidr?: string | undefined;
  /** A name, or `*.` and a name for every name below it. Of names with other letters, the `xn--` form. */
  readonly domain?: string | undefined;
  /** TLS ends at Atoll, so that each request is seen to be for this name, and begins there anew. */
  readonly inspect?: boolean | undefined;
  /** Ports (`443`) and ranges of them (`8000-8999`). A domain without any means 80 and 443; a block must name them. */
  readonly ports?: readonly string[] | undefined;
  /** What may be spoken. A domain without any means `http` and `tls`, a block means `tcp`. */
  readonly protocols?: readonly EgressProtocol[] | undefined;
  /** A set of names that belong together. */
  readonly set?: RuleSet | undefined;
}

/** What has gone out so far. */
export interface EgressTotals {
  /** Bytes that came in. */
  readonly bytesIn: number;
  /** Bytes that went out. */
  readonly bytesOut: number;
  /** Connections that were allowed. */
  readonly connections: number;
  /** Connections that were refused. */
  readonly denied: number;
  /** Names that were told. */
  readonly names: number;
  /** Names that were not told. */
  readonly namesDenied: number;
  /** Of these, those that stand now. */
  readonly open: number;
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
  /** What its processes were refused on the way out: the first of each kind, up to 32. */
  readonly denials?: readonly Denial[] | undefined;
  /** How often they were refused something, those in `denials` included. */
  readonly denialsCount?: number | undefined;
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
export type ErrorCode = "UNAUTHORIZED" | "FORBIDDEN" | "ROUTE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "BODY_TOO_LARGE" | "UPGRADE_REQUIRED" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "IDEMPOTENCY_CONFLICT" | "TOKEN_NOT_FOUND" | "TOKEN_LIMIT" | "SANDBOX_NOT_FOUND" | "SANDBOX_DIFFERS" | "SANDBOX_PAUSED" | "SANDBOX_STOPPED" | "SANDBOX_LIMIT" | "AGENT_UNAVAILABLE" | "SHUTTING_DOWN" | "SERVER_UNREACHABLE" | "TOO_MANY_CONNECTIONS" | "VALIDATION_FAILED" | "COMMAND_NOT_FOUND" | "NOT_EXECUTABLE" | "CWD_NOT_FOUND" | "USER_NOT_FOUND" | "ARGUMENTS_TOO_LONG" | "PROCESS_NOT_FOUND" | "PROCESS_ALREADY_EXISTS" | "PROCESS_ENDED" | "PROCESS_LIMIT" | "STDIN_NOT_OPEN" | "STDIN_GAP" | "SESSION_NOT_FOUND" | "SESSION_ALREADY_EXISTS" | "SESSION_TERMINATED" | "SESSION_ALIVE" | "SESSION_BUSY" | "SESSION_LIMIT" | "SESSION_TOO_LARGE" | "COMMAND_CANCELLED" | "SHELL_NOT_SUPPORTED" | "TERMINAL_NOT_FOUND" | "TERMINAL_ALREADY_EXISTS" | "TERMINAL_ENDED" | "TERMINAL_READ_ONLY" | "PORT_CLOSED" | "PREVIEW_NOT_FOUND" | "PREVIEW_ASLEEP" | "PREVIEW_BUSY" | "PREVIEW_BROKEN" | "PREVIEW_LIMIT" | "MISDIRECTED" | "WAIT_TIMEOUT" | "LIMIT_UNAVAILABLE" | "EGRESS_UNAVAILABLE" | "SECRET_NOT_FOUND" | "ISOLATION_UNAVAILABLE" | "PAUSE_UNAVAILABLE" | "STORAGE_BUSY" | "SANDBOX_GONE" | "FILE_NOT_FOUND" | "FILE_EXISTS" | "IS_DIRECTORY" | "NOT_DIRECTORY" | "NOT_REGULAR_FILE" | "DIRECTORY_NOT_EMPTY" | "PERMISSION_DENIED" | "NO_SPACE" | "FILE_TOO_LARGE" | "READ_ONLY" | "NAME_TOO_LONG" | "TOO_MANY_LINKS" | "PATH_ESCAPES" | "CROSS_DEVICE" | "RESOURCE_BUSY" | "TOO_MANY_FILES" | "PRECONDITION_FAILED" | "RANGE_NOT_SATISFIABLE" | "CONTENT_MISMATCH" | "FILE_LIMIT" | "OPERATION_INTERRUPTED" | "FILESYSTEM_UNSUPPORTED" | "FILESYSTEM_ERROR" | "WATCH_NOT_FOUND" | "WATCH_ALREADY_EXISTS" | "WATCH_LIMIT" | "CURSOR_TOO_OLD" | "GIT_NOT_AVAILABLE" | "GIT_FAILED" | "GIT_AUTHENTICATION_FAILED" | "GIT_CONFIG_REFUSED" | "GIT_TIMEOUT" | "DISK_FULL" | "DISK_READ_ONLY" | "INTERNAL";

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
  /** What it may reach, within what the sandbox may; all of that if not given. */
  readonly network?: readonly EgressRule[] | undefined;
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

/** So many things were done. */
export interface FileCount {
  /** How many. */
  readonly count: number;
}

/** Whether something is there. */
export interface FileExists {
  /** Whether. */
  readonly exists: boolean;
  /** What it is, links followed. */
  readonly kind?: FileKind | undefined;
}

/** What is known of one file. */
export interface FileInfo {
  /** Bytes that it takes on the disk: fewer than its length if it has holes. */
  readonly allocated: number;
  /** Tells two states of it apart, for `If-Match` and `If-None-Match`. */
  readonly etag: string;
  /** Its group, as numbered inside. */
  readonly gid: number;
  /** What it is. */
  readonly kind: FileKind;
  /** How many names it has. */
  readonly links: number;
  /** Permission bits, in octal: `0644`. */
  readonly mode: string;
  /** When its content last changed. */
  readonly modified: Timestamp;
  /** Its path: in a list below the directory that was listed, else as it was asked for. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Its length in bytes. */
  readonly size: number;
  /** Where it leads, if it is a symbolic link. */
  readonly target?: string | undefined;
  /** The same exactly, if it is no UTF-8. */
  readonly targetBase64?: string | undefined;
  /** Its owner, as numbered inside. */
  readonly uid: number;
}

/** What a name stands for. */
export type FileKind = "file" | "directory" | "symlink" | "fifo" | "socket" | "character_device" | "block_device";

/** A page of a list. */
export interface FileList {
  /** The entries. */
  readonly entries: readonly FileInfo[];
  /** Give this as `after` for the next page; not there on the last. */
  readonly next?: string | undefined;
  /** So many directories below could not be read. */
  readonly unreadable: number;
}

/** How a list that is streamed ended. */
export interface FileListEnd {
  /** Give this as `after` to go on; not there if that was all. */
  readonly next?: string | undefined;
  /** So many directories below could not be read. */
  readonly unreadable: number;
}

/** One line of a list that is streamed. */
export type FileListLine = { entry: FileInfo } | { end: FileListEnd } | { error: ErrorBody };

/** A file's content as text. */
export interface FileText {
  /** What was read of it. */
  readonly data: string;
  /** How it is put into JSON. */
  readonly encoding: Encoding;
  /** The file. */
  readonly file: FileInfo;
  /** Bytes that are no UTF-8 were replaced. */
  readonly replaced: boolean;
}

/** Asks for a new session that holds what another one does. */
export interface ForkRequest {
  /** The id of the new one; made up if not given. */
  readonly id?: SessionId | undefined;
}

/** Rename, move or copy. */
export interface FromToRequest {
  /** What. */
  readonly from?: string | undefined;
  /** The same exactly. */
  readonly fromBase64?: string | undefined;
  /** Make the directories above the new name that are missing. */
  readonly parents?: boolean | undefined;
  /** Directories with all that is in them; for a copy only. */
  readonly recursive?: boolean | undefined;
  /** Replace what is there; a copy merges directories. */
  readonly replace?: boolean | undefined;
  /** Its new name. */
  readonly to?: string | undefined;
  /** The same exactly. */
  readonly toBase64?: string | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Output that can no longer be read: the log had to drop it. */
export interface Gap {
  /** First position that cannot be read. */
  readonly from: number;
  /** First position after it that can. */
  readonly to: number;
}

/** Who wrote a commit. */
export interface GitAuthor {
  /** An address. */
  readonly email: string;
  /** A name. */
  readonly name: string;
}

/** A branch. */
export interface GitBranch {
  /** Its last commit. */
  readonly commit: string;
  /** It is checked out. */
  readonly current: boolean;
  /** Its name. */
  readonly name: string;
  /** The branch that it follows. */
  readonly upstream?: string | undefined;
}

/** Branches. */
export interface GitBranches {
  /** By name. */
  readonly branches: readonly GitBranch[];
}

/** Whose branches. */
export interface GitBranchesRequest {
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Those of remotes, too. */
  readonly remotes?: boolean | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What is different about a path. */
export type GitChange = "unmodified" | "modified" | "type_changed" | "added" | "deleted" | "renamed" | "copied" | "unmerged" | "untracked" | "ignored";

/** What is checked out. */
export interface GitCheckedOut {
  /** The branch; none if it is a commit. */
  readonly branch?: string | undefined;
  /** The commit. */
  readonly commit?: string | undefined;
}

/** What to check out. */
export interface GitCheckoutRequest {
  /** Make the branch. */
  readonly create?: boolean | undefined;
  /** Where a new branch begins. */
  readonly from?: string | undefined;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** A branch, a tag or a commit. */
  readonly target: string;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** A repository to be fetched. */
export interface GitCloneRequest {
  /** The branch or tag to check out; else the remote's own. */
  readonly branch?: string | undefined;
  /** For the remote, if it asks. */
  readonly credentials?: GitCredentials | undefined;
  /** Only so many commits back. */
  readonly depth?: number | undefined;
  /** The directory that it becomes; else named like the repository, below `/workspace`. */
  readonly path?: string | undefined;
  /** Ends it after so long (ten minutes). */
  readonly timeout?: number | undefined;
  /** Where it is: `https://…`, `http://…`, `file://…` or an absolute path inside. */
  readonly url: string;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** A repository that was fetched. */
export interface GitCloned {
  /** The branch that is checked out. */
  readonly branch?: string | undefined;
  /** The commit that is checked out; none if the repository is empty. */
  readonly commit?: string | undefined;
  /** Where it is. */
  readonly path: string;
}

/** A commit. */
export interface GitCommitInfo {
  /** Who wrote it. */
  readonly author: GitAuthor;
  /** The rest. */
  readonly body: string;
  /** Its hash. */
  readonly commit: string;
  /** Those before it. */
  readonly parents: readonly string[];
  /** The first line of its message. */
  readonly subject: string;
  /** When. */
  readonly time: Timestamp;
}

/** A commit to be made. */
export interface GitCommitRequest {
  /** With every change, new files included. */
  readonly all?: boolean | undefined;
  /** Even if nothing is different. */
  readonly allowEmpty?: boolean | undefined;
  /** Who made it; else as the repository is configured. */
  readonly author?: GitAuthor | undefined;
  /** What it does. */
  readonly message: string;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** With the changes to these paths. */
  readonly paths?: readonly string[] | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** A commit that was made. */
export interface GitCommitted {
  /** The branch that it is on. */
  readonly branch?: string | undefined;
  /** Its hash. */
  readonly commit: string;
}

/** Who one is to a remote. Never printed, never kept. */
export interface GitCredentials {
  /** The password, or a token that stands for it. */
  readonly password: string;
  /** The only server that gets them: `https://host` or `https://host:port`. A clone's own if not given. */
  readonly server?: string | undefined;
  /** The name. */
  readonly username: string;
}

/** What is different, as a patch. */
export interface GitDiff {
  /** The text; bytes that are no UTF-8 are replaced. */
  readonly diff: string;
  /** There is more than is told: the middle is left out. */
  readonly truncated: boolean;
}

/** What to compare. */
export interface GitDiffRequest {
  /** So many lines around each change (3). */
  readonly context?: number | undefined;
  /** This commit with the files, or with `to`. */
  readonly from?: string | undefined;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Only these paths. */
  readonly paths?: readonly string[] | undefined;
  /** The next commit with the last; else the files with the next commit. */
  readonly staged?: boolean | undefined;
  /** The other commit. */
  readonly to?: string | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** Commits. */
export interface GitLog {
  /** Newest first. */
  readonly commits: readonly GitCommitInfo[];
}

/** Which commits. */
export interface GitLogRequest {
  /** From here back; else from what is checked out. */
  readonly from?: string | undefined;
  /** So many at most (50, at most 1000). */
  readonly limit?: number | undefined;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Only those that changed these paths. */
  readonly paths?: readonly string[] | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** How far git is. */
export interface GitProgress {
  /** In pieces. */
  readonly done: number;
  /** How much of it is done. */
  readonly percent: number;
  /** What it does: `Receiving objects`. */
  readonly phase: string;
  /** Of so many. */
  readonly total: number;
}

/** What to fetch into a repository. */
export interface GitPullRequest {
  /** Which branch; else the one that is followed. */
  readonly branch?: string | undefined;
  /** For the remote, if it asks. */
  readonly credentials?: GitCredentials | undefined;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** From where (`origin`). */
  readonly remote?: string | undefined;
  /** Ends it after so long (ten minutes). */
  readonly timeout?: number | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What was fetched. */
export interface GitPulled {
  /** The commit that is checked out now. */
  readonly commit?: string | undefined;
  /** It was another before. */
  readonly updated: boolean;
}

/** What to send. */
export interface GitPushRequest {
  /** Which branch; else the one that is checked out. */
  readonly branch?: string | undefined;
  /** For the remote, if it asks. */
  readonly credentials?: GitCredentials | undefined;
  /** Even if it replaces commits there, unless somebody else added some. */
  readonly force?: boolean | undefined;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** To where (`origin`). */
  readonly remote?: string | undefined;
  /** Follow it from now on. */
  readonly setUpstream?: boolean | undefined;
  /** Ends it after so long (ten minutes). */
  readonly timeout?: number | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What was sent. */
export interface GitPushed {
  /** One each. */
  readonly refs: readonly GitPushedRef[];
}

/** A branch that was sent. */
export interface GitPushedRef {
  /** Here. */
  readonly from: string;
  /** What happened. */
  readonly summary: string;
  /** There. */
  readonly to: string;
}

/** How a repository is. */
export interface GitStatus {
  /** Commits that the upstream lacks. */
  readonly ahead?: number | undefined;
  /** Commits that it lacks. */
  readonly behind?: number | undefined;
  /** The branch; none if a commit is checked out. */
  readonly branch?: string | undefined;
  /** The commit; none before the first. */
  readonly commit?: string | undefined;
  /** What is different. */
  readonly entries: readonly GitStatusEntry[];
  /** The branch that it follows. */
  readonly upstream?: string | undefined;
}

/** One path that is different. */
export interface GitStatusEntry {
  /** Its name before, if it was renamed or copied. */
  readonly from?: string | undefined;
  /** The same exactly, if it is no UTF-8. */
  readonly fromBase64?: string | undefined;
  /** The path, from the top of the repository. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
  /** How it will differ in the next commit. */
  readonly staged: GitChange;
  /** How the file differs from that. */
  readonly worktree: GitChange;
}

/** A repository to be looked at. */
export interface GitStatusRequest {
  /** What is ignored, too. */
  readonly ignored?: boolean | undefined;
  /** The repository, or a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** Names that were found, in order. */
export interface GlobAnswer {
  /** The names. */
  readonly entries: readonly GlobEntry[];
  /** Directories that could not be read. */
  readonly troubles: number;
  /** Why there may be more. */
  readonly truncated?: SearchTruncated | undefined;
}

/** A name that was found. */
export interface GlobEntry {
  /** What it is. */
  readonly kind: GlobKind;
  /** Its path. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** What a name that was found stands for. */
export type GlobKind = "file" | "directory" | "symlink" | "other";

/** Find names below a directory. */
export interface GlobRequest {
  /** How many levels; all if not given. */
  readonly depth?: number | undefined;
  /** Globs of what is left out. */
  readonly exclude?: readonly string[] | undefined;
  /** Names that begin with a dot, too. */
  readonly hidden?: boolean | undefined;
  /** What `.gitignore` and `.ignore` name, too. */
  readonly ignored?: boolean | undefined;
  /** Names in all (10000). */
  readonly maxMatches?: number | undefined;
  /** The directory. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** Patterns over the path below the directory: `*` and `?` stay within a name, `**` does not. */
  readonly patterns: readonly string[];
  /** How long it may take (60 s). */
  readonly timeout?: number | undefined;
  /** The user to look as. */
  readonly user?: string | undefined;
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

/** A directory was asked for. */
export interface MakeDirectoryReceipt {
  /** It was not there before. */
  readonly created: boolean;
  /** The directory. */
  readonly file: FileInfo;
}

/** Make a directory. */
export interface MakeDirectoryRequest {
  /** Its permission bits, in octal; else 0755. */
  readonly mode?: string | undefined;
  /** Those above it too; and it is no error that it is there. */
  readonly parents?: boolean | undefined;
  /** The directory. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Set permission bits. */
export interface ModeRequest {
  /** In octal: `0755`. */
  readonly mode: string;
  /** What. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** Of all that is in it, too. */
  readonly recursive?: boolean | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** The way out of a sandbox. */
export interface NetworkInfo {
  /** Whether there is a way out at all: there is none before the first rule. */
  readonly open: boolean;
  /** What may be reached. */
  readonly policy: NetworkPolicy;
  /** What has gone out so far. */
  readonly totals: EgressTotals;
}

/** What a sandbox may reach. Nothing else is reachable, and a list that is empty allows nothing. */
export interface NetworkPolicy {
  /** What is allowed. */
  readonly allow?: readonly EgressRule[] | undefined;
  /** Addresses of names that are not asked of anybody. They are subject to the rules like any other address. */
  readonly hosts?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The name server to ask, `ADDRESS:PORT`; that of the machine if not given. */
  readonly resolver?: string | undefined;
  /**
   * Certificates (PEM) that servers are believed by, beside those that the machine believes, where TLS ends at
   * Atoll.
   */
  readonly trust?: string | undefined;
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

/** Where a hunk went in. */
export interface PatchHunk {
  /** Its lines fit letter by letter; else blanks or typographic signs differ. */
  readonly exact: boolean;
  /** How many lines of context at each end were not looked at. */
  readonly fuzz: number;
  /** The line of the old file, counted from one. */
  readonly line: number;
  /** How many lines from where it should be. */
  readonly offset: number;
}

/** What a patch did to a file. */
export type PatchOutcome = "created" | "changed" | "deleted" | "renamed" | "copied";

/** A patch was applied. */
export interface PatchReceipt {
  /** Nothing was changed: it was only looked whether it fits. */
  readonly dryRun: boolean;
  /** Its files. */
  readonly files: readonly PatchedFile[];
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

/** One file of a patch. */
export interface PatchedFile {
  /** Lines that are new. */
  readonly added: number;
  /** The name that it had, or the file that it is a copy of. */
  readonly from?: string | undefined;
  /** Where its hunks went in. */
  readonly hunks: readonly PatchHunk[];
  /** What happened to it. */
  readonly outcome: PatchOutcome;
  /** Its path, after the patch if it is still there. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Lines that went. */
  readonly removed: number;
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

/** A secret that commands may use and not see. Its name is the name of a variable, which holds a stand-in for it. */
export interface PutSecret {
  /** Headers of requests in which the stand-in is replaced (`authorization`). */
  readonly headers?: readonly string[] | undefined;
  /** Names of the only servers that get it, by HTTPS: `NAME`, or `NAME:PORT` for another port than 443. */
  readonly hosts: readonly string[];
  /** The secret itself. It is never told again. */
  readonly value: string;
}

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

/** Names that belong together, to start from. */
export type RuleSet = "pypi" | "npm" | "crates" | "debian" | "github";

/** One sandbox. */
export interface SandboxInfo {
  /** When it was made. */
  readonly createdAt: Timestamp;
  /** What has gone out of it; `null` if there is no way out. */
  readonly egress?: EgressTotals | undefined;
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

/** A whole search. */
export interface SearchAnswer {
  /** Files, if only files or counts were asked for; and those that match and are not text. */
  readonly files: readonly SearchFile[];
  /** Lines of files. */
  readonly matches: readonly SearchMatch[];
  /** What it came to. */
  readonly summary: SearchSummary;
}

/** What to do with files that hold a NUL byte. */
export type SearchBinary = "skip" | "report" | "text";

/** Whether capital letters matter. */
export type SearchCase = "sensitive" | "insensitive" | "smart";

/** How much is told of a file. */
export type SearchDetail = "lines" | "files" | "counts";

/** A file in which something was found. */
export interface SearchFile {
  /** How many lines of it match; not known of a file that is not text. */
  readonly matches?: number | undefined;
  /** The file. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** One line of a search that is streamed. */
export type SearchLine = { match: SearchMatch } | { file: SearchFile } | { binary: SearchFile } | { end: SearchSummary } | { error: ErrorBody };

/** A line that was found. */
export interface SearchMatch {
  /** The same behind. */
  readonly cutAfter?: number | undefined;
  /** Bytes of a long line that are not told, before and behind. */
  readonly cutBefore?: number | undefined;
  /** Counted from one. */
  readonly line: number;
  /** Where in the file its first byte is. */
  readonly offset: number;
  /** The file. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Whether it matches. */
  readonly role: SearchRole;
  /** Where in its bytes the matches are. */
  readonly spans: readonly SearchSpan[];
  /** The line, with its end; for a match across lines all of them. */
  readonly text: string;
  /** The same exactly, if it is no UTF-8. */
  readonly textBase64?: string | undefined;
}

/** Search the files below a directory. */
export interface SearchRequest {
  /** Lines told after each match. */
  readonly after?: number | undefined;
  /** Lines told before each match. */
  readonly before?: number | undefined;
  /** Files that are not text. */
  readonly binary?: SearchBinary | undefined;
  /** Whether capital letters matter. */
  readonly case?: SearchCase | undefined;
  /** How many levels; all if not given. */
  readonly depth?: number | undefined;
  /** How much is told. */
  readonly detail?: SearchDetail | undefined;
  /** Globs of what is left out. */
  readonly exclude?: readonly string[] | undefined;
  /** Names that begin with a dot, too. */
  readonly hidden?: boolean | undefined;
  /** What `.gitignore` and `.ignore` name, too. */
  readonly ignored?: boolean | undefined;
  /** Globs that a file must match, if there is any. Without a slash: names at any depth. */
  readonly include?: readonly string[] | undefined;
  /** Bytes that are told (16 MiB). */
  readonly maxBytes?: number | undefined;
  /** Matches in all (10000). */
  readonly maxMatches?: number | undefined;
  /** Matches in one file. */
  readonly maxMatchesPerFile?: number | undefined;
  /** The directory, or a file. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** What to look for. */
  readonly pattern: string;
  /** In the order of names: the same each time, and slower. */
  readonly sorted?: boolean | undefined;
  /** How it is read. */
  readonly syntax?: SearchSyntax | undefined;
  /** How long it may take (60 s). */
  readonly timeout?: number | undefined;
  /** The user to search as. */
  readonly user?: string | undefined;
  /** Only whole words. */
  readonly words?: boolean | undefined;
}

/** What a told line is. */
export type SearchRole = "match" | "before" | "after";

/** A part of a line, in bytes. */
export interface SearchSpan {
  /** The byte behind it. */
  readonly end: number;
  /** Its first byte. */
  readonly start: number;
}

/** What a search came to. */
export interface SearchSummary {
  /** Bytes of files that were read. */
  readonly bytesRead: number;
  /** Files that were searched. */
  readonly files: number;
  /** Files in which something was found. */
  readonly filesMatched: number;
  /** The first of them, for people. */
  readonly firstTroubles: readonly string[];
  /** Matches that were told. */
  readonly matches: number;
  /** Files and directories that could not be searched. */
  readonly troubles: number;
  /** Why there may be more. */
  readonly truncated?: SearchTruncated | undefined;
}

/** How the text of a pattern is read. */
export type SearchSyntax = "regex" | "multiline" | "multiline_dot_all" | "fixed";

/** Why there may be more than was told. */
export type SearchTruncated = "matches" | "bytes" | "time" | "cancelled";

/** A secret, without its value. */
export interface SecretInfo {
  /** The headers in which it is put. */
  readonly headers: readonly string[];
  /** The servers that get it. */
  readonly hosts: readonly string[];
  /** The variable that holds its stand-in. */
  readonly name: string;
  /** What commands see instead. */
  readonly placeholder: string;
}

/** The secrets of a sandbox, by name. */
export interface SecretList {
  /** These. */
  readonly secrets: readonly SecretInfo[];
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

/** A member of an archive that was not made. */
export interface SkippedMember {
  /** Its path in the archive. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Why. */
  readonly why: string;
}

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
  /** What it may reach, within what the sandbox may; all of that if not given. */
  readonly network?: readonly EgressRule[] | undefined;
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

/** Make a symbolic link. */
export interface SymlinkRequest {
  /** Make the directories above it that are missing. */
  readonly parents?: boolean | undefined;
  /** Its name. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** Replace what is there, if it is no directory. */
  readonly replace?: boolean | undefined;
  /** Where it leads; taken as it is. */
  readonly target?: string | undefined;
  /** The same exactly. */
  readonly targetBase64?: string | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

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

/** An archive was unpacked. */
export interface UnpackReceipt {
  /** Bytes written to files. */
  readonly bytes: number;
  /** Directories that the archive names. */
  readonly directories: number;
  /** Files that were made. */
  readonly files: number;
  /** The first of them. */
  readonly firstSkipped: readonly SkippedMember[];
  /** Its form. */
  readonly format: ArchiveFormat;
  /** Links and named pipes. */
  readonly links: number;
  /** Members that were not made: devices and sockets, or names that are taken. */
  readonly skipped: number;
}

/** Files were written. */
export interface UploadReceipt {
  /** Each of them. */
  readonly files: readonly WriteReceipt[];
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

/** What happened. */
export type WatchChange = "created" | "modified" | "attributes" | "removed" | "renamed" | "overflow" | "settled" | "gone";

/** The last event of a stream. */
export interface WatchEnd {
  /** The cursor behind the last event. */
  readonly cursor: number;
}

/** One thing that happened. */
export interface WatchEvent {
  /** What. */
  readonly change: WatchChange;
  /** Its number. */
  readonly cursor: number;
  /** Whether it is a directory. */
  readonly directory: boolean;
  /** Its path before, if it was renamed. */
  readonly from?: string | undefined;
  /** The same exactly, if it is no UTF-8. */
  readonly fromBase64?: string | undefined;
  /** To what, below the directory; empty for the directory itself. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** What a watch's client is told over a WebSocket, a text frame each. */
export type WatchFrame = { change: WatchEvent } | { end: WatchEnd } | { error: ErrorBody };

/** Names a watch within its sandbox. */
export type WatchId = string;

/** A watch. */
export interface WatchInfo {
  /** When it began. */
  readonly createdAt: Timestamp;
  /** The cursor of the next event. */
  readonly cursor: number;
  /** Nothing follows: the directory is gone, or the watch failed. */
  readonly ended: boolean;
  /** Why it failed. */
  readonly error?: ErrorBody | undefined;
  /** Its id. */
  readonly id: WatchId;
  /** The directory. */
  readonly path: string;
  /** The same exactly, if it is no UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** Watches. */
export interface WatchList {
  /** Oldest first. */
  readonly watches: readonly WatchInfo[];
}

/** What happened since a cursor. */
export interface WatchPage {
  /** Nothing follows. */
  readonly ended: boolean;
  /** Why it failed. */
  readonly error?: ErrorBody | undefined;
  /** In order. */
  readonly events: readonly WatchEvent[];
  /** Where to go on. */
  readonly nextCursor: number;
}

/** A watch that is asked for. */
export interface WatchRequest {
  /** How many directories may be watched (65536). */
  readonly directories?: number | undefined;
  /** Globs of what is not told of; a directory that matches is not watched. */
  readonly exclude?: readonly string[] | undefined;
  /** Begin with what is there, as created. */
  readonly existing?: boolean | undefined;
  /** Its id; one is made if none is given. */
  readonly id?: WatchId | undefined;
  /** Globs that a file must match to be told of, if there is any. As in `.gitignore`. */
  readonly include?: readonly string[] | undefined;
  /** The directory; relative to `/workspace`. */
  readonly path?: string | undefined;
  /** The same in base64, for one that is no UTF-8. */
  readonly pathBase64?: string | undefined;
  /** All below the directory, too. */
  readonly recursive?: boolean | undefined;
  /** The user to look as. */
  readonly user?: string | undefined;
}

/** How large a window is, in characters. Neither side is 0 or beyond its cap. */
export interface WindowSize {
  readonly cols: number;
  readonly rows: number;
}

/** Write a file whose content is in the request. */
export interface WriteFileRequest {
  /** Add to its end. */
  readonly append?: boolean | undefined;
  /** The content. */
  readonly data: string;
  /** How it is put into JSON. */
  readonly encoding?: Encoding | undefined;
  /** Only if it is not there. */
  readonly ifAbsent?: boolean | undefined;
  /** Only if it is in the state with this tag. */
  readonly ifMatch?: string | undefined;
  /** Permission bits, in octal. Else those that it has, or 0644. */
  readonly mode?: string | undefined;
  /** Make the directories above it that are missing. */
  readonly parents?: boolean | undefined;
  /** The file. */
  readonly path?: string | undefined;
  /** The same exactly. */
  readonly pathBase64?: string | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** A file was written. */
export interface WriteReceipt {
  /**
   * It was replaced in one step. If not, it was changed where it is: its directory may not be written, its owner
   * not be given, or something was added to its end.
   */
  readonly atomic: boolean;
  /** It was not there before. */
  readonly created: boolean;
  /** As it is now. */
  readonly file: FileInfo;
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
  /** What it may reach, within what the sandbox may; all of that if not given. */
  readonly network?: readonly EgressRule[] | undefined;
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
  /** What it may reach, within what the sandbox may; all of that if not given. */
  readonly network?: readonly EgressRule[] | undefined;
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
  /** What it may reach, within what the sandbox may; all of that if not given. */
  readonly network?: readonly EgressRule[] | undefined;
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
  /** What it may reach, within what the sandbox may; all of that if not given. */
  readonly network?: readonly EgressRule[] | undefined;
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
  /** What it may reach at first; nothing if not given. */
  readonly network?: NetworkPolicy | undefined;
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

/** Make a directory. */
export interface MakeDirectoryOptions {
  /** Its permission bits, in octal; else 0755. */
  readonly mode?: string | undefined;
  /** Those above it too; and it is no error that it is there. */
  readonly parents?: boolean | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Rename, move or copy. */
export interface RenameOptions {
  /** Make the directories above the new name that are missing. */
  readonly parents?: boolean | undefined;
  /** Replace what is there; a copy merges directories. */
  readonly replace?: boolean | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Rename, move or copy. */
export interface CopyOptions {
  /** Make the directories above the new name that are missing. */
  readonly parents?: boolean | undefined;
  /** Directories with all that is in them; for a copy only. */
  readonly recursive?: boolean | undefined;
  /** Replace what is there; a copy merges directories. */
  readonly replace?: boolean | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Set permission bits. */
export interface ModeOptions {
  /** Of all that is in it, too. */
  readonly recursive?: boolean | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Make a symbolic link. */
export interface SymlinkOptions {
  /** Make the directories above it that are missing. */
  readonly parents?: boolean | undefined;
  /** Replace what is there, if it is no directory. */
  readonly replace?: boolean | undefined;
  /** The user to do it as. */
  readonly user?: string | undefined;
}

/** Search the files below a directory. */
export interface SearchOptions {
  /** Lines told after each match. */
  readonly after?: number | undefined;
  /** Lines told before each match. */
  readonly before?: number | undefined;
  /** Files that are not text. */
  readonly binary?: SearchBinary | undefined;
  /** Whether capital letters matter. */
  readonly case?: SearchCase | undefined;
  /** How many levels; all if not given. */
  readonly depth?: number | undefined;
  /** How much is told. */
  readonly detail?: SearchDetail | undefined;
  /** Globs of what is left out. */
  readonly exclude?: readonly string[] | undefined;
  /** Names that begin with a dot, too. */
  readonly hidden?: boolean | undefined;
  /** What `.gitignore` and `.ignore` name, too. */
  readonly ignored?: boolean | undefined;
  /** Globs that a file must match, if there is any. Without a slash: names at any depth. */
  readonly include?: readonly string[] | undefined;
  /** Bytes that are told (16 MiB). */
  readonly maxBytes?: number | undefined;
  /** Matches in all (10000). */
  readonly maxMatches?: number | undefined;
  /** Matches in one file. */
  readonly maxMatchesPerFile?: number | undefined;
  /** In the order of names: the same each time, and slower. */
  readonly sorted?: boolean | undefined;
  /** How it is read. */
  readonly syntax?: SearchSyntax | undefined;
  /** How long it may take (60 s). */
  readonly timeout?: number | undefined;
  /** The user to search as. */
  readonly user?: string | undefined;
  /** Only whole words. */
  readonly words?: boolean | undefined;
}

/** Find names below a directory. */
export interface GlobOptions {
  /** How many levels; all if not given. */
  readonly depth?: number | undefined;
  /** Globs of what is left out. */
  readonly exclude?: readonly string[] | undefined;
  /** Names that begin with a dot, too. */
  readonly hidden?: boolean | undefined;
  /** What `.gitignore` and `.ignore` name, too. */
  readonly ignored?: boolean | undefined;
  /** Names in all (10000). */
  readonly maxMatches?: number | undefined;
  /** How long it may take (60 s). */
  readonly timeout?: number | undefined;
  /** The user to look as. */
  readonly user?: string | undefined;
}

/** A watch that is asked for. */
export interface WatchOptions {
  /** How many directories may be watched (65536). */
  readonly directories?: number | undefined;
  /** Globs of what is not told of; a directory that matches is not watched. */
  readonly exclude?: readonly string[] | undefined;
  /** Begin with what is there, as created. */
  readonly existing?: boolean | undefined;
  /** Its id; one is made if none is given. */
  readonly id?: WatchId | undefined;
  /** Globs that a file must match to be told of, if there is any. As in `.gitignore`. */
  readonly include?: readonly string[] | undefined;
  /** All below the directory, too. */
  readonly recursive?: boolean | undefined;
  /** The user to look as. */
  readonly user?: string | undefined;
}

/** A repository to be fetched. */
export interface GitCloneOptions {
  /** The branch or tag to check out; else the remote's own. */
  readonly branch?: string | undefined;
  /** For the remote, if it asks. */
  readonly credentials?: GitCredentials | undefined;
  /** Only so many commits back. */
  readonly depth?: number | undefined;
  /** The directory that it becomes; else named like the repository, below `/workspace`. */
  readonly path?: string | undefined;
  /** Ends it after so long (ten minutes). */
  readonly timeout?: number | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** A repository to be looked at. */
export interface GitStatusOptions {
  /** What is ignored, too. */
  readonly ignored?: boolean | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What to compare. */
export interface GitDiffOptions {
  /** So many lines around each change (3). */
  readonly context?: number | undefined;
  /** Only these paths. */
  readonly paths?: readonly string[] | undefined;
  /** The next commit with the last; else the files with the next commit. */
  readonly staged?: boolean | undefined;
  /** The other commit. */
  readonly to?: string | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** A commit to be made. */
export interface GitCommitOptions {
  /** With every change, new files included. */
  readonly all?: boolean | undefined;
  /** Even if nothing is different. */
  readonly allowEmpty?: boolean | undefined;
  /** Who made it; else as the repository is configured. */
  readonly author?: GitAuthor | undefined;
  /** With the changes to these paths. */
  readonly paths?: readonly string[] | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What to check out. */
export interface GitCheckoutOptions {
  /** Make the branch. */
  readonly create?: boolean | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** Whose branches. */
export interface GitBranchesOptions {
  /** Those of remotes, too. */
  readonly remotes?: boolean | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** Which commits. */
export interface GitLogOptions {
  /** So many at most (50, at most 1000). */
  readonly limit?: number | undefined;
  /** Only those that changed these paths. */
  readonly paths?: readonly string[] | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What to fetch into a repository. */
export interface GitPullOptions {
  /** Which branch; else the one that is followed. */
  readonly branch?: string | undefined;
  /** For the remote, if it asks. */
  readonly credentials?: GitCredentials | undefined;
  /** From where (`origin`). */
  readonly remote?: string | undefined;
  /** Ends it after so long (ten minutes). */
  readonly timeout?: number | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** What to send. */
export interface GitPushOptions {
  /** Which branch; else the one that is checked out. */
  readonly branch?: string | undefined;
  /** For the remote, if it asks. */
  readonly credentials?: GitCredentials | undefined;
  /** Even if it replaces commits there, unless somebody else added some. */
  readonly force?: boolean | undefined;
  /** To where (`origin`). */
  readonly remote?: string | undefined;
  /** Follow it from now on. */
  readonly setUpstream?: boolean | undefined;
  /** Ends it after so long (ten minutes). */
  readonly timeout?: number | undefined;
  /** The user to be. */
  readonly user?: string | undefined;
}

/** The types by their names. */
export interface Types {
  AttachCommand: AttachCommand;
  AttachEvent: AttachEvent;
  CancelReceipt: CancelReceipt;
  Capture: Capture;
  CreateSandbox: CreateSandbox;
  CreateToken: CreateToken;
  Denial: Denial;
  EditReceipt: EditReceipt;
  EditRequest: EditRequest;
  EditText: EditText;
  EgressEvent: EgressEvent;
  EgressEventPage: EgressEventPage;
  EgressRule: EgressRule;
  EgressTotals: EgressTotals;
  EndRecord: EndRecord;
  ErrorAnswer: ErrorAnswer;
  ErrorBody: ErrorBody;
  ExactText: ExactText;
  ExecRequest: ExecRequest;
  ExecResult: ExecResult;
  ExposePort: ExposePort;
  FileCount: FileCount;
  FileExists: FileExists;
  FileInfo: FileInfo;
  FileList: FileList;
  FileListEnd: FileListEnd;
  FileListLine: FileListLine;
  FileText: FileText;
  ForkRequest: ForkRequest;
  FromToRequest: FromToRequest;
  Gap: Gap;
  GitAuthor: GitAuthor;
  GitBranch: GitBranch;
  GitBranches: GitBranches;
  GitBranchesRequest: GitBranchesRequest;
  GitCheckedOut: GitCheckedOut;
  GitCheckoutRequest: GitCheckoutRequest;
  GitCloneRequest: GitCloneRequest;
  GitCloned: GitCloned;
  GitCommitInfo: GitCommitInfo;
  GitCommitRequest: GitCommitRequest;
  GitCommitted: GitCommitted;
  GitCredentials: GitCredentials;
  GitDiff: GitDiff;
  GitDiffRequest: GitDiffRequest;
  GitLog: GitLog;
  GitLogRequest: GitLogRequest;
  GitProgress: GitProgress;
  GitPullRequest: GitPullRequest;
  GitPulled: GitPulled;
  GitPushRequest: GitPushRequest;
  GitPushed: GitPushed;
  GitPushedRef: GitPushedRef;
  GitStatus: GitStatus;
  GitStatusEntry: GitStatusEntry;
  GitStatusRequest: GitStatusRequest;
  GlobAnswer: GlobAnswer;
  GlobEntry: GlobEntry;
  GlobRequest: GlobRequest;
  HttpCondition: HttpCondition;
  InterruptReceipt: InterruptReceipt;
  KillAllRequest: KillAllRequest;
  KillReceipt: KillReceipt;
  KillRequest: KillRequest;
  LinkRequest: LinkRequest;
  LogCondition: LogCondition;
  LogMatch: LogMatch;
  MakeDirectoryReceipt: MakeDirectoryReceipt;
  MakeDirectoryRequest: MakeDirectoryRequest;
  ModeRequest: ModeRequest;
  NetworkInfo: NetworkInfo;
  NetworkPolicy: NetworkPolicy;
  NewToken: NewToken;
  NotCarriedInfo: NotCarriedInfo;
  OutputEnd: OutputEnd;
  OutputEvent: OutputEvent;
  OutputPage: OutputPage;
  PatchHunk: PatchHunk;
  PatchReceipt: PatchReceipt;
  PatchSandbox: PatchSandbox;
  PatchedFile: PatchedFile;
  PortCondition: PortCondition;
  PortInfo: PortInfo;
  PortList: PortList;
  Preview: Preview;
  PreviewLink: PreviewLink;
  PreviewList: PreviewList;
  ProcessInfo: ProcessInfo;
  ProcessList: ProcessList;
  PutSecret: PutSecret;
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
  SearchAnswer: SearchAnswer;
  SearchFile: SearchFile;
  SearchLine: SearchLine;
  SearchMatch: SearchMatch;
  SearchRequest: SearchRequest;
  SearchSpan: SearchSpan;
  SearchSummary: SearchSummary;
  SecretInfo: SecretInfo;
  SecretList: SecretList;
  SessionInfo: SessionInfo;
  SessionList: SessionList;
  SessionRequest: SessionRequest;
  ShellAlias: ShellAlias;
  ShellFunction: ShellFunction;
  ShellTrap: ShellTrap;
  ShellVariable: ShellVariable;
  SignalReceipt: SignalReceipt;
  SignalRequest: SignalRequest;
  SkippedMember: SkippedMember;
  SnapshotInfo: SnapshotInfo;
  StartRequest: StartRequest;
  StdinPiece: StdinPiece;
  StdinReceipt: StdinReceipt;
  SymlinkRequest: SymlinkRequest;
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
  UnpackReceipt: UnpackReceipt;
  UploadReceipt: UploadReceipt;
  WaitAnswer: WaitAnswer;
  WaitFor: WaitFor;
  WaitRequest: WaitRequest;
  WatchEnd: WatchEnd;
  WatchEvent: WatchEvent;
  WatchFrame: WatchFrame;
  WatchInfo: WatchInfo;
  WatchList: WatchList;
  WatchPage: WatchPage;
  WatchRequest: WatchRequest;
  WindowSize: WindowSize;
  WriteFileRequest: WriteFileRequest;
  WriteReceipt: WriteReceipt;
  ExecOptions: ExecOptions;
  SessionExecOptions: SessionExecOptions;
  StartOptions: StartOptions;
  QueueOptions: QueueOptions;
  SessionOptions: SessionOptions;
  TerminalOptions: TerminalOptions;
  SandboxOptions: SandboxOptions;
  SandboxChanges: SandboxChanges;
  ExposeOptions: ExposeOptions;
  MakeDirectoryOptions: MakeDirectoryOptions;
  RenameOptions: RenameOptions;
  CopyOptions: CopyOptions;
  ModeOptions: ModeOptions;
  SymlinkOptions: SymlinkOptions;
  SearchOptions: SearchOptions;
  GlobOptions: GlobOptions;
  WatchOptions: WatchOptions;
  GitCloneOptions: GitCloneOptions;
  GitStatusOptions: GitStatusOptions;
  GitDiffOptions: GitDiffOptions;
  GitCommitOptions: GitCommitOptions;
  GitCheckoutOptions: GitCheckoutOptions;
  GitBranchesOptions: GitBranchesOptions;
  GitLogOptions: GitLogOptions;
  GitPullOptions: GitPullOptions;
  GitPushOptions: GitPushOptions;
}

/** How each type is spelled on the wire: our name, its name, and what it holds if that must be looked at. */
export const shapes = {
  AttachCommand: { choice: [["stdin", "stdin", "StdinPiece"], ["signal", "signal", "SignalRequest"]] },
  AttachEvent: { choice: [["output", "output", "OutputEvent"], ["gap", "gap", "Gap"], ["end", "end", "OutputEnd"], ["written", "written", "StdinReceipt"], ["signalled", "signalled", "SignalReceipt"], ["error", "error", "ErrorBody"]] },
  CancelReceipt: { fields: [["cancelled", "cancelled"]] },
  Capture: { fields: [["bytes", "bytes"], ["data", "data"], ["encoding", "encoding"], ["replaced", "replaced"], ["truncated", "truncated", "Truncation"]] },
  CreateSandbox: { fields: [["env", "env"], ["isolation", "isolation"], ["keepAlive", "keep_alive"], ["labels", "labels"], ["limits", "limits", "SandboxLimits"], ["name", "name"], ["network", "network", "NetworkPolicy"], ["sleepAfterMs", "sleep_after_ms"]] },
  CreateToken: { fields: [["expiresIn", "expires_in_ms"], ["name", "name"], ["scopes", "scopes", "Scope[]"]] },
  Denial: { fields: [["address", "address"], ["at", "at", "date"], ["count", "count"], ["host", "host"], ["port", "port"], ["reason", "reason"]] },
  EditReceipt: { fields: [["file", "file", "FileInfo"], ["lines", "lines"]] },
  EditRequest: { fields: [["edits", "edits", "EditText[]"], ["encoding", "encoding"], ["ifMatch", "if_match"], ["path", "path"], ["pathBase64", "path_base64"], ["user", "user"]] },
  EditText: { fields: [["all", "all"], ["count", "count"], ["new", "new"], ["old", "old"]] },
  EgressEvent: { fields: [["address", "address"], ["at", "at", "date"], ["bytesIn", "bytes_in"], ["bytesOut", "bytes_out"], ["command", "command"], ["cursor", "cursor"], ["duration", "duration_ms"], ["flow", "flow"], ["host", "host"], ["kind", "kind"], ["port", "port"], ["protocol", "protocol"], ["reason", "reason"], ["rule", "rule"], ["secretsUsed", "secrets_used"]] },
  EgressEventPage: { fields: [["events", "events", "EgressEvent[]"], ["lost", "lost"], ["nextCursor", "next_cursor"]] },
  EgressRule: { fields: [["cidr", "cidr"], ["domain", "domain"], ["inspect", "inspect"], ["ports", "ports"], ["protocols", "protocols"], ["set", "set"]] },
  EgressTotals: { fields: [["bytesIn", "bytes_in"], ["bytesOut", "bytes_out"], ["connections", "connections"], ["denied", "denied"], ["names", "names"], ["namesDenied", "names_denied"], ["open", "open"]] },
  EndRecord: { fields: [["code", "code"], ["cpuSystem", "cpu_system_ms"], ["cpuUser", "cpu_user_ms"], ["denials", "denials", "Denial[]"], ["denialsCount", "denials_count"], ["duration", "duration_ms"], ["endedAt", "ended_at", "date"], ["maxRssBytes", "max_rss_bytes"], ["oomKilled", "oom_killed"], ["reason", "reason"], ["signal", "signal"], ["startedAt", "started_at", "date"], ["survivors", "survivors"], ["timedOut", "timed_out"]] },
  ErrorAnswer: { fields: [["error", "error", "ErrorBody"]] },
  ErrorBody: { fields: [["code", "code"], ["details", "details"], ["hint", "hint"], ["message", "message"]] },
  ExactText: { fields: [["data", "data"], ["encoding", "encoding"]] },
  ExecRequest: { fields: [["answerBytes", "answer_bytes"], ["argv", "argv"], ["background", "background"], ["command", "command"], ["cwd", "cwd"], ["encoding", "encoding"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["network", "network", "EgressRule[]"], ["onDisconnect", "on_disconnect"], ["stdin", "stdin"], ["stdinBase64", "stdin_base64"], ["timeout", "timeout_ms"], ["user", "user"]] },
  ExecResult: { fields: [["cursor", "cursor"], ["end", "end", "EndRecord"], ["id", "id"], ["sessionReset", "session_reset"], ["stderr", "stderr", "Capture"], ["stdout", "stdout", "Capture"]] },
  ExposePort: { fields: [["keepPrefix", "keep_prefix"], ["name", "name"], ["token", "token"], ["visibility", "visibility"], ["wake", "wake"]] },
  FileCount: { fields: [["count", "count"]] },
  FileExists: { fields: [["exists", "exists"], ["kind", "kind"]] },
  FileInfo: { fields: [["allocated", "allocated"], ["etag", "etag"], ["gid", "gid"], ["kind", "kind"], ["links", "links"], ["mode", "mode"], ["modified", "modified", "date"], ["path", "path"], ["pathBase64", "path_base64"], ["size", "size"], ["target", "target"], ["targetBase64", "target_base64"], ["uid", "uid"]] },
  FileList: { fields: [["entries", "entries", "FileInfo[]"], ["next", "next"], ["unreadable", "unreadable"]] },
  FileListEnd: { fields: [["next", "next"], ["unreadable", "unreadable"]] },
  FileListLine: { choice: [["entry", "entry", "FileInfo"], ["end", "end", "FileListEnd"], ["error", "error", "ErrorBody"]] },
  FileText: { fields: [["data", "data"], ["encoding", "encoding"], ["file", "file", "FileInfo"], ["replaced", "replaced"]] },
  ForkRequest: { fields: [["id", "id"]] },
  FromToRequest: { fields: [["from", "from"], ["fromBase64", "from_base64"], ["parents", "parents"], ["recursive", "recursive"], ["replace", "replace"], ["to", "to"], ["toBase64", "to_base64"], ["user", "user"]] },
  Gap: { fields: [["from", "from"], ["to", "to"]] },
  GitAuthor: { fields: [["email", "email"], ["name", "name"]] },
  GitBranch: { fields: [["commit", "commit"], ["current", "current"], ["name", "name"], ["upstream", "upstream"]] },
  GitBranches: { fields: [["branches", "branches", "GitBranch[]"]] },
  GitBranchesRequest: { fields: [["path", "path"], ["remotes", "remotes"], ["user", "user"]] },
  GitCheckedOut: { fields: [["branch", "branch"], ["commit", "commit"]] },
  GitCheckoutRequest: { fields: [["create", "create"], ["from", "from"], ["path", "path"], ["target", "target"], ["user", "user"]] },
  GitCloneRequest: { fields: [["branch", "branch"], ["credentials", "credentials", "GitCredentials"], ["depth", "depth"], ["path", "path"], ["timeout", "timeout_ms"], ["url", "url"], ["user", "user"]] },
  GitCloned: { fields: [["branch", "branch"], ["commit", "commit"], ["path", "path"]] },
  GitCommitInfo: { fields: [["author", "author", "GitAuthor"], ["body", "body"], ["commit", "commit"], ["parents", "parents"], ["subject", "subject"], ["time", "time", "date"]] },
  GitCommitRequest: { fields: [["all", "all"], ["allowEmpty", "allow_empty"], ["author", "author", "GitAuthor"], ["message", "message"], ["path", "path"], ["paths", "paths"], ["user", "user"]] },
  GitCommitted: { fields: [["branch", "branch"], ["commit", "commit"]] },
  GitCredentials: { fields: [["password", "password"], ["server", "server"], ["username", "username"]] },
  GitDiff: { fields: [["diff", "diff"], ["truncated", "truncated"]] },
  GitDiffRequest: { fields: [["context", "context"], ["from", "from"], ["path", "path"], ["paths", "paths"], ["staged", "staged"], ["to", "to"], ["user", "user"]] },
  GitLog: { fields: [["commits", "commits", "GitCommitInfo[]"]] },
  GitLogRequest: { fields: [["from", "from"], ["limit", "limit"], ["path", "path"], ["paths", "paths"], ["user", "user"]] },
  GitProgress: { fields: [["done", "done"], ["percent", "percent"], ["phase", "phase"], ["total", "total"]] },
  GitPullRequest: { fields: [["branch", "branch"], ["credentials", "credentials", "GitCredentials"], ["path", "path"], ["remote", "remote"], ["timeout", "timeout_ms"], ["user", "user"]] },
  GitPulled: { fields: [["commit", "commit"], ["updated", "updated"]] },
  GitPushRequest: { fields: [["branch", "branch"], ["credentials", "credentials", "GitCredentials"], ["force", "force"], ["path", "path"], ["remote", "remote"], ["setUpstream", "set_upstream"], ["timeout", "timeout_ms"], ["user", "user"]] },
  GitPushed: { fields: [["refs", "refs", "GitPushedRef[]"]] },
  GitPushedRef: { fields: [["from", "from"], ["summary", "summary"], ["to", "to"]] },
  GitStatus: { fields: [["ahead", "ahead"], ["behind", "behind"], ["branch", "branch"], ["commit", "commit"], ["entries", "entries", "GitStatusEntry[]"], ["upstream", "upstream"]] },
  GitStatusEntry: { fields: [["from", "from"], ["fromBase64", "from_base64"], ["path", "path"], ["pathBase64", "path_base64"], ["staged", "staged"], ["worktree", "worktree"]] },
  GitStatusRequest: { fields: [["ignored", "ignored"], ["path", "path"], ["user", "user"]] },
  GlobAnswer: { fields: [["entries", "entries", "GlobEntry[]"], ["troubles", "troubles"], ["truncated", "truncated"]] },
  GlobEntry: { fields: [["kind", "kind"], ["path", "path"], ["pathBase64", "path_base64"]] },
  GlobRequest: { fields: [["depth", "depth"], ["exclude", "exclude"], ["hidden", "hidden"], ["ignored", "ignored"], ["maxMatches", "max_matches"], ["path", "path"], ["pathBase64", "path_base64"], ["patterns", "patterns"], ["timeout", "timeout_ms"], ["user", "user"]] },
  HttpCondition: { fields: [["path", "path"], ["status", "status"]] },
  InterruptReceipt: { fields: [["interrupted", "interrupted"]] },
  KillAllRequest: { fields: [["grace", "grace_ms"], ["labels", "labels"]] },
  KillReceipt: { fields: [["signalled", "signalled"], ["survivors", "survivors"]] },
  KillRequest: { fields: [["grace", "grace_ms"]] },
  LinkRequest: { fields: [["expiresIn", "expires_in_ms"]] },
  LogCondition: { fields: [["regex", "regex"], ["since", "since"], ["text", "text"]] },
  LogMatch: { fields: [["cursor", "cursor"], ["line", "line"], ["stream", "stream"]] },
  MakeDirectoryReceipt: { fields: [["created", "created"], ["file", "file", "FileInfo"]] },
  MakeDirectoryRequest: { fields: [["mode", "mode"], ["parents", "parents"], ["path", "path"], ["pathBase64", "path_base64"], ["user", "user"]] },
  ModeRequest: { fields: [["mode", "mode"], ["path", "path"], ["pathBase64", "path_base64"], ["recursive", "recursive"], ["user", "user"]] },
  NetworkInfo: { fields: [["open", "open"], ["policy", "policy", "NetworkPolicy"], ["totals", "totals", "EgressTotals"]] },
  NetworkPolicy: { fields: [["allow", "allow", "EgressRule[]"], ["hosts", "hosts"], ["resolver", "resolver"], ["trust", "trust"]] },
  NewToken: { fields: [["info", "info", "TokenInfo"], ["token", "token"]] },
  NotCarriedInfo: { fields: [["descriptors", "descriptors"], ["jobs", "jobs"]] },
  OutputEnd: { fields: [["cursor", "cursor"], ["end", "end", "EndRecord"]] },
  OutputEvent: { fields: [["cursor", "cursor"], ["data", "data"], ["encoding", "encoding"], ["nextCursor", "next_cursor"], ["replaced", "replaced"], ["stream", "stream"], ["time", "time", "date"]] },
  OutputPage: { fields: [["closed", "closed"], ["events", "events", "OutputEvent[]"], ["gaps", "gaps", "Gap[]"], ["nextCursor", "next_cursor"]] },
  PatchHunk: { fields: [["exact", "exact"], ["fuzz", "fuzz"], ["line", "line"], ["offset", "offset"]] },
  PatchReceipt: { fields: [["dryRun", "dry_run"], ["files", "files", "PatchedFile[]"]] },
  PatchSandbox: { fields: [["keepAlive", "keep_alive"], ["labels", "labels"], ["sleepAfterMs", "sleep_after_ms"]] },
  PatchedFile: { fields: [["added", "added"], ["from", "from"], ["hunks", "hunks", "PatchHunk[]"], ["outcome", "outcome"], ["path", "path"], ["pathBase64", "path_base64"], ["removed", "removed"]] },
  PortCondition: { fields: [["http", "http", "HttpCondition"], ["port", "port"]] },
  PortInfo: { fields: [["addresses", "addresses"], ["command", "command"], ["pid", "pid"], ["port", "port"], ["process", "process"]] },
  PortList: { fields: [["ports", "ports", "PortInfo[]"]] },
  Preview: { fields: [["createdAt", "created_at", "date"], ["keepPrefix", "keep_prefix"], ["name", "name"], ["pathUrl", "path_url"], ["port", "port"], ["token", "token"], ["url", "url"], ["visibility", "visibility"], ["wake", "wake"]] },
  PreviewLink: { fields: [["expiresAt", "expires_at", "date"], ["pathUrl", "path_url"], ["url", "url"]] },
  PreviewList: { fields: [["previews", "previews", "Preview[]"]] },
  ProcessInfo: { fields: [["command", "command"], ["cursor", "cursor"], ["end", "end", "EndRecord"], ["id", "id"], ["labels", "labels"], ["pid", "pid"], ["ready", "ready"], ["restarts", "restarts"], ["session", "session"], ["startedAt", "started_at", "date"], ["state", "state"], ["stderrBytes", "stderr_bytes"], ["stdoutBytes", "stdout_bytes"]] },
  ProcessList: { fields: [["processes", "processes", "ProcessInfo[]"]] },
  PutSecret: { fields: [["headers", "headers"], ["hosts", "hosts"], ["value", "value"]] },
  ReadyCondition: { choice: [["log", "log"], ["port", "port", "PortCondition"]] },
  ResizeRequest: { fields: [["by", "by"], ["cols", "cols"], ["rows", "rows"]] },
  Resized: { fields: [["by", "by"], ["cursor", "cursor"], ["size", "size", "WindowSize"], ["time", "time", "date"]] },
  ResourceLimit: { fields: [["hard", "hard"], ["resource", "resource"], ["soft", "soft"]] },
  RestartPolicy: { choice: [["onFailure", "on_failure", "RestartPolicyOnFailureDetails"]] },
  RestartPolicyOnFailureDetails: { fields: [["backoffMax", "backoff_max_ms"], ["backoff", "backoff_ms"], ["max", "max"]] },
  RestartRequest: { fields: [["from", "from"]] },
  SandboxInfo: { fields: [["createdAt", "created_at", "date"], ["egress", "egress", "EgressTotals"], ["isolation", "isolation"], ["labels", "labels"], ["limits", "limits", "SandboxLimits"], ["name", "name"], ["notIsolated", "not_isolated"], ["processes", "processes"], ["sessions", "sessions"], ["state", "state"], ["terminals", "terminals"], ["usage", "usage", "SandboxUsage"], ["version", "version"]] },
  SandboxLimits: { fields: [["cpuMillis", "cpu_millis"], ["memoryBytes", "memory_bytes"], ["openFiles", "open_files"], ["pids", "pids"]] },
  SandboxList: { fields: [["next", "next"], ["sandboxes", "sandboxes", "SandboxRecord[]"]] },
  SandboxRecord: { fields: [["createdAt", "created_at", "date"], ["isolation", "isolation"], ["keepAlive", "keep_alive"], ["labels", "labels"], ["lastUsedAt", "last_used_at", "date"], ["limits", "limits", "SandboxLimits"], ["live", "live", "SandboxInfo"], ["name", "name"], ["sleepAfterMs", "sleep_after_ms"], ["state", "state"], ["stopReason", "stop_reason"]] },
  SandboxUsage: { fields: [["cpuUsec", "cpu_usec"], ["memoryBytes", "memory_bytes"], ["memoryPeakBytes", "memory_peak_bytes"], ["pids", "pids"]] },
  Scope: { fields: [["sandboxes", "sandboxes"], ["verbs", "verbs"]] },
  ScreenInfo: { fields: [["alternate", "alternate"], ["cursor", "cursor"], ["cursorCol", "cursor_col"], ["cursorHidden", "cursor_hidden"], ["cursorRow", "cursor_row"], ["formatted", "formatted"], ["reset", "reset"], ["size", "size", "WindowSize"], ["text", "text"], ["whole", "whole"]] },
  SearchAnswer: { fields: [["files", "files", "SearchFile[]"], ["matches", "matches", "SearchMatch[]"], ["summary", "summary", "SearchSummary"]] },
  SearchFile: { fields: [["matches", "matches"], ["path", "path"], ["pathBase64", "path_base64"]] },
  SearchLine: { choice: [["match", "match", "SearchMatch"], ["file", "file", "SearchFile"], ["binary", "binary", "SearchFile"], ["end", "end", "SearchSummary"], ["error", "error", "ErrorBody"]] },
  SearchMatch: { fields: [["cutAfter", "cut_after"], ["cutBefore", "cut_before"], ["line", "line"], ["offset", "offset"], ["path", "path"], ["pathBase64", "path_base64"], ["role", "role"], ["spans", "spans", "SearchSpan[]"], ["text", "text"], ["textBase64", "text_base64"]] },
  SearchRequest: { fields: [["after", "after"], ["before", "before"], ["binary", "binary"], ["case", "case"], ["depth", "depth"], ["detail", "detail"], ["exclude", "exclude"], ["hidden", "hidden"], ["ignored", "ignored"], ["include", "include"], ["maxBytes", "max_bytes"], ["maxMatches", "max_matches"], ["maxMatchesPerFile", "max_matches_per_file"], ["path", "path"], ["pathBase64", "path_base64"], ["pattern", "pattern"], ["sorted", "sorted"], ["syntax", "syntax"], ["timeout", "timeout_ms"], ["user", "user"], ["words", "words"]] },
  SearchSpan: { fields: [["end", "end"], ["start", "start"]] },
  SearchSummary: { fields: [["bytesRead", "bytes_read"], ["files", "files"], ["filesMatched", "files_matched"], ["firstTroubles", "first_troubles"], ["matches", "matches"], ["troubles", "troubles"], ["truncated", "truncated"]] },
  SecretInfo: { fields: [["headers", "headers"], ["hosts", "hosts"], ["name", "name"], ["placeholder", "placeholder"]] },
  SecretList: { fields: [["secrets", "secrets", "SecretInfo[]"]] },
  SessionInfo: { fields: [["createdAt", "created_at", "date"], ["cwd", "cwd"], ["end", "end", "EndRecord"], ["id", "id"], ["notRestored", "not_restored"], ["queued", "queued"], ["resets", "resets"], ["running", "running"], ["state", "state"], ["usedAt", "used_at", "date"]] },
  SessionList: { fields: [["sessions", "sessions", "SessionInfo[]"]] },
  SessionRequest: { fields: [["cwd", "cwd"], ["env", "env"], ["id", "id"], ["options", "options"], ["timeout", "timeout_ms"], ["user", "user"]] },
  ShellAlias: { fields: [["name", "name", "ExactText"], ["value", "value", "ExactText"]] },
  ShellFunction: { fields: [["attributes", "attributes"], ["name", "name", "ExactText"], ["text", "text", "ExactText"]] },
  ShellTrap: { fields: [["action", "action", "ExactText"], ["on", "on"]] },
  ShellVariable: { fields: [["assignment", "assignment", "ExactText"], ["attributes", "attributes"], ["name", "name"], ["value", "value", "ExactText"]] },
  SignalReceipt: { fields: [["signalled", "signalled"]] },
  SignalRequest: { fields: [["scope", "scope"], ["signal", "signal"]] },
  SkippedMember: { fields: [["path", "path"], ["pathBase64", "path_base64"], ["why", "why"]] },
  SnapshotInfo: { fields: [["aliases", "aliases", "ShellAlias[]"], ["cwd", "cwd", "ExactText"], ["env", "env", "ExactText{}"], ["functions", "functions", "ShellFunction[]"], ["limits", "limits", "ResourceLimit[]"], ["notCarried", "not_carried", "NotCarriedInfo"], ["options", "options"], ["positional", "positional", "ExactText[]"], ["shellOptions", "shell_options"], ["traps", "traps", "ShellTrap[]"], ["umask", "umask"], ["variables", "variables", "ShellVariable[]"]] },
  StartRequest: { fields: [["argv", "argv"], ["background", "background"], ["command", "command"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["network", "network", "EgressRule[]"], ["ready", "ready", "ReadyCondition"], ["restart", "restart", "RestartPolicy"], ["stdin", "stdin"], ["timeout", "timeout_ms"], ["user", "user"]] },
  StdinPiece: { fields: [["data", "data"], ["encoding", "encoding"], ["offset", "offset"]] },
  StdinReceipt: { fields: [["nextOffset", "next_offset"]] },
  SymlinkRequest: { fields: [["parents", "parents"], ["path", "path"], ["pathBase64", "path_base64"], ["replace", "replace"], ["target", "target"], ["targetBase64", "target_base64"], ["user", "user"]] },
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
  UnpackReceipt: { fields: [["bytes", "bytes"], ["directories", "directories"], ["files", "files"], ["firstSkipped", "first_skipped", "SkippedMember[]"], ["format", "format"], ["links", "links"], ["skipped", "skipped"]] },
  UploadReceipt: { fields: [["files", "files", "WriteReceipt[]"]] },
  WaitAnswer: { fields: [["end", "end", "EndRecord"], ["found", "found", "LogMatch"]] },
  WaitFor: { choice: [["log", "log", "LogCondition"], ["port", "port", "PortCondition"]] },
  WaitRequest: { fields: [["for", "for", "WaitFor"], ["timeout", "timeout_ms"]] },
  WatchEnd: { fields: [["cursor", "cursor"]] },
  WatchEvent: { fields: [["change", "change"], ["cursor", "cursor"], ["directory", "directory"], ["from", "from"], ["fromBase64", "from_base64"], ["path", "path"], ["pathBase64", "path_base64"]] },
  WatchFrame: { choice: [["change", "change", "WatchEvent"], ["end", "end", "WatchEnd"], ["error", "error", "ErrorBody"]] },
  WatchInfo: { fields: [["createdAt", "created_at", "date"], ["cursor", "cursor"], ["ended", "ended"], ["error", "error", "ErrorBody"], ["id", "id"], ["path", "path"], ["pathBase64", "path_base64"]] },
  WatchList: { fields: [["watches", "watches", "WatchInfo[]"]] },
  WatchPage: { fields: [["ended", "ended"], ["error", "error", "ErrorBody"], ["events", "events", "WatchEvent[]"], ["nextCursor", "next_cursor"]] },
  WatchRequest: { fields: [["directories", "directories"], ["exclude", "exclude"], ["existing", "existing"], ["id", "id"], ["include", "include"], ["path", "path"], ["pathBase64", "path_base64"], ["recursive", "recursive"], ["user", "user"]] },
  WindowSize: { fields: [["cols", "cols"], ["rows", "rows"]] },
  WriteFileRequest: { fields: [["append", "append"], ["data", "data"], ["encoding", "encoding"], ["ifAbsent", "if_absent"], ["ifMatch", "if_match"], ["mode", "mode"], ["parents", "parents"], ["path", "path"], ["pathBase64", "path_base64"], ["user", "user"]] },
  WriteReceipt: { fields: [["atomic", "atomic"], ["created", "created"], ["file", "file", "FileInfo"]] },
  ExecOptions: { fields: [["answerBytes", "answer_bytes"], ["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["network", "network", "EgressRule[]"], ["onDisconnect", "on_disconnect"], ["timeout", "timeout_ms"], ["user", "user"]] },
  SessionExecOptions: { fields: [["answerBytes", "answer_bytes"], ["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["network", "network", "EgressRule[]"], ["onDisconnect", "on_disconnect"], ["timeout", "timeout_ms"]] },
  StartOptions: { fields: [["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["memoryBytes", "memory_bytes"], ["network", "network", "EgressRule[]"], ["ready", "ready", "ReadyCondition"], ["restart", "restart", "RestartPolicy"], ["stdin", "stdin"], ["timeout", "timeout_ms"], ["user", "user"]] },
  QueueOptions: { fields: [["background", "background"], ["cwd", "cwd"], ["env", "env"], ["grace", "grace_ms"], ["id", "id"], ["idleTimeout", "idle_timeout_ms"], ["labels", "labels"], ["maxOutputBytes", "max_output_bytes"], ["network", "network", "EgressRule[]"], ["stdin", "stdin"], ["timeout", "timeout_ms"]] },
  SessionOptions: { fields: [["cwd", "cwd"], ["env", "env"], ["id", "id"], ["options", "options"], ["timeout", "timeout_ms"], ["user", "user"]] },
  TerminalOptions: { fields: [["cols", "cols"], ["cwd", "cwd"], ["env", "env"], ["id", "id"], ["rows", "rows"], ["term", "term"], ["user", "user"]] },
  SandboxOptions: { fields: [["env", "env"], ["isolation", "isolation"], ["keepAlive", "keep_alive"], ["labels", "labels"], ["limits", "limits", "SandboxLimits"], ["network", "network", "NetworkPolicy"], ["sleepAfterMs", "sleep_after_ms"]] },
  SandboxChanges: { fields: [["keepAlive", "keep_alive"], ["labels", "labels"], ["sleepAfterMs", "sleep_after_ms"]] },
  ExposeOptions: { fields: [["keepPrefix", "keep_prefix"], ["name", "name"], ["token", "token"], ["visibility", "visibility"], ["wake", "wake"]] },
  MakeDirectoryOptions: { fields: [["mode", "mode"], ["parents", "parents"], ["user", "user"]] },
  RenameOptions: { fields: [["parents", "parents"], ["replace", "replace"], ["user", "user"]] },
  CopyOptions: { fields: [["parents", "parents"], ["recursive", "recursive"], ["replace", "replace"], ["user", "user"]] },
  ModeOptions: { fields: [["recursive", "recursive"], ["user", "user"]] },
  SymlinkOptions: { fields: [["parents", "parents"], ["replace", "replace"], ["user", "user"]] },
  SearchOptions: { fields: [["after", "after"], ["before", "before"], ["binary", "binary"], ["case", "case"], ["depth", "depth"], ["detail", "detail"], ["exclude", "exclude"], ["hidden", "hidden"], ["ignored", "ignored"], ["include", "include"], ["maxBytes", "max_bytes"], ["maxMatches", "max_matches"], ["maxMatchesPerFile", "max_matches_per_file"], ["sorted", "sorted"], ["syntax", "syntax"], ["timeout", "timeout_ms"], ["user", "user"], ["words", "words"]] },
  GlobOptions: { fields: [["depth", "depth"], ["exclude", "exclude"], ["hidden", "hidden"], ["ignored", "ignored"], ["maxMatches", "max_matches"], ["timeout", "timeout_ms"], ["user", "user"]] },
  WatchOptions: { fields: [["directories", "directories"], ["exclude", "exclude"], ["existing", "existing"], ["id", "id"], ["include", "include"], ["recursive", "recursive"], ["user", "user"]] },
  GitCloneOptions: { fields: [["branch", "branch"], ["credentials", "credentials", "GitCredentials"], ["depth", "depth"], ["path", "path"], ["timeout", "timeout_ms"], ["user", "user"]] },
  GitStatusOptions: { fields: [["ignored", "ignored"], ["user", "user"]] },
  GitDiffOptions: { fields: [["context", "context"], ["paths", "paths"], ["staged", "staged"], ["to", "to"], ["user", "user"]] },
  GitCommitOptions: { fields: [["all", "all"], ["allowEmpty", "allow_empty"], ["author", "author", "GitAuthor"], ["paths", "paths"], ["user", "user"]] },
  GitCheckoutOptions: { fields: [["create", "create"], ["user", "user"]] },
  GitBranchesOptions: { fields: [["remotes", "remotes"], ["user", "user"]] },
  GitLogOptions: { fields: [["limit", "limit"], ["paths", "paths"], ["user", "user"]] },
  GitPullOptions: { fields: [["branch", "branch"], ["credentials", "credentials", "GitCredentials"], ["remote", "remote"], ["timeout", "timeout_ms"], ["user", "user"]] },
  GitPushOptions: { fields: [["branch", "branch"], ["credentials", "credentials", "GitCredentials"], ["force", "force"], ["remote", "remote"], ["setUpstream", "set_upstream"], ["timeout", "timeout_ms"], ["user", "user"]] },
} as const;
