// What is said to the server and what it tells.
//
// Written by `sdk/generate` from the API's description; changes are lost.

/** What to do when a member's path already exists. */
export type ArchiveExisting = "replace" | "keep" | "refuse";

/** Format of an archive. */
export type ArchiveFormat = "tar" | "tar.zst" | "tar.gz" | "zip";

/** A frame from the client to a process. */
export type AttachCommand = "close" | { stdin: StdinPiece } | { signal: SignalRequest };

/** A frame from a process to the client. */
export type AttachEvent = { output: OutputEvent } | { gap: Gap } | { end: OutputEnd } | { written: StdinReceipt } | { signalled: SignalReceipt } | { error: ErrorBody };

/** What happens to processes that a command leaves in the background. */
export type Background = "keep" | "kill";

/** Result of a cancellation. */
export interface CancelReceipt {
  /** Whether the command was removed from the queue. If not, it had already started. */
  readonly cancelled: boolean;
}

/** One output stream of a command, as a response contains it. */
export interface Capture {
  /** Number of bytes retained, including the omitted ones. */
  readonly bytes: number;
  /** The whole output, or its head if it was truncated. */
  readonly data: string;
  /** Encoding of `data` and of the tail. */
  readonly encoding: Encoding;
  /** Whether bytes that are not valid UTF-8 were replaced. */
  readonly replaced: boolean;
  /** Set if the response does not contain all bytes. */
  readonly truncated?: Truncation | undefined;
}

/**
 * Gets or creates a sandbox. Omitted options take their defaults in a new sandbox, and match any value of an
 * existing one.
 */
export interface CreateSandbox {
  /** Environment variables of every command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Isolation of the sandbox. */
  readonly isolation?: Isolation | undefined;
  /** Never stop the sandbox for lack of use, regardless of `sleep_after_ms`. */
  readonly keepAlive?: boolean | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Resource limits. */
  readonly limits?: SandboxLimits | undefined;
  /** Name of the sandbox; generated if not given. */
  readonly name?: SandboxName | undefined;
  /** Initial egress policy; no network access if not given. */
  readonly network?: NetworkPolicy | undefined;
  /** Stop the sandbox after this time without use. 0 means never. */
  readonly sleepAfterMs?: number | undefined;
}

/** Creates a token. */
export interface CreateToken {
  /** How long the token is valid; without it, it does not expire. */
  readonly expiresIn?: number | undefined;
  /** Display name. */
  readonly name?: string | undefined;
  /** Scopes of the token. */
  readonly scopes: readonly Scope[];
}

/** A connection or DNS query that a command was denied. */
export interface Denial {
  /** The requested address, if it adds to the name. */
  readonly address?: string | undefined;
  /** When it was first denied. */
  readonly at: Timestamp;
  /** How often it was denied. */
  readonly count: number;
  /** The requested name, if there was one. */
  readonly host?: string | undefined;
  /** The port; absent for DNS queries. */
  readonly port?: number | undefined;
  /** Why it was denied. */
  readonly reason: DenialReason;
}

/** Why a connection or a DNS query was denied. */
export type DenialReason = "no_rule" | "port_not_allowed" | "protocol_not_allowed" | "command_not_allowed" | "address_not_public" | "no_name" | "bad_name" | "name_mismatch" | "hidden_name" | "malformed" | "query_type" | "query_limit" | "no_address" | "unreachable" | "untrusted" | "udp_not_allowed" | "too_many" | "policy_changed";

/** Result of an edit. */
export interface EditReceipt {
  /** The file after the edit. */
  readonly file: FileInfo;
  /** For each replacement, the lines where it applied, numbered as before it. */
  readonly lines: ReadonlyArray<readonly number[]>;
}

/** Replaces exact texts in a file: all of them, in order, or none. */
export interface EditRequest {
  /** The replacements, applied in order. */
  readonly edits: readonly EditText[];
  /** Encoding of the texts. */
  readonly encoding?: Encoding | undefined;
  /** Edit only if the file has this etag. */
  readonly ifMatch?: string | undefined;
  /** Path of the file. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** User to edit as. */
  readonly user?: string | undefined;
}

/** One text replacement. */
export interface EditText {
  /** Replace every occurrence; at least one must be in the file. */
  readonly all?: boolean | undefined;
  /** Number of occurrences that must be in the file (default 1). All of them are replaced. */
  readonly count?: number | undefined;
  /** Replacement text. */
  readonly new: string;
  /** Text to replace, matched exactly. */
  readonly old: string;
}

/** One egress event. Fields that do not apply are absent. */
export interface EgressEvent {
  /** The destination's address. */
  readonly address?: string | undefined;
  /** When it happened. */
  readonly at: Timestamp;
  /** Bytes received. */
  readonly bytesIn?: number | undefined;
  /** Bytes sent. */
  readonly bytesOut?: number | undefined;
  /** The command that opened the connection, if known. */
  readonly command?: ProcessId | undefined;
  /** Number of the event; consecutive. */
  readonly cursor: number;
  /** How long the connection was open. */
  readonly duration?: number | undefined;
  /** Id of the connection: the same in `opened` and `closed`. */
  readonly flow?: number | undefined;
  /** The requested name. */
  readonly host?: string | undefined;
  /** Kind of the event. */
  readonly kind: EgressEventKind;
  /** The destination's port. */
  readonly port?: number | undefined;
  /** Protocol of the connection. */
  readonly protocol?: EgressProtocol | undefined;
  /** Why it was denied. */
  readonly reason?: DenialReason | undefined;
  /** The rule that allowed it, as text. */
  readonly rule?: string | undefined;
  /** Number of requests in which a secret was inserted. */
  readonly secretsUsed?: number | undefined;
}

/** Kind of an egress event. */
export type EgressEventKind = "opened" | "closed" | "denied" | "resolved" | "name_denied" | "policy_changed";

/** A page of egress events. */
export interface EgressEventPage {
  /** The events. */
  readonly events: readonly EgressEvent[];
  /** Number of requested events that are no longer retained. */
  readonly lost: number;
  /** Value of `since` for the next page. */
  readonly nextCursor: number;
}

/** Protocol of a connection. */
export type EgressProtocol = "http" | "tls" | "tcp";

/** A destination that the sandbox may reach. Exactly one of `set`, `domain` and `cidr` is required. */
export interface EgressRule {
  /** An address or a block of addresses. Only such a rule allows private addresses, also for names. */
  readonly cidr?: string | undefined;
  /** A name, or `*.` and a name for all its subdomains. Use the `xn--` form for internationalized names. */
  readonly domain?: string | undefined;
  /** Terminate TLS in Atoll, so that Atoll can check that each request is for this name. */
  readonly inspect?: boolean | undefined;
  /** Ports (`443`) and port ranges (`8000-8999`). The default for a domain is 80 and 443; a block requires them. */
  readonly ports?: readonly string[] | undefined;
  /** Protocols to allow. The default for a domain is `http` and `tls`, for a block `tcp`. */
  readonly protocols?: readonly EgressProtocol[] | undefined;
  /** A predefined set of names. */
  readonly set?: RuleSet | undefined;
}

/** Totals of a sandbox's egress. */
export interface EgressTotals {
  /** Bytes received. */
  readonly bytesIn: number;
  /** Bytes sent. */
  readonly bytesOut: number;
  /** Number of connections allowed. */
  readonly connections: number;
  /** Number of connections denied. */
  readonly denied: number;
  /** Number of DNS queries answered. */
  readonly names: number;
  /** Number of DNS queries denied. */
  readonly namesDenied: number;
  /** Number of connections that are open now. */
  readonly open: number;
}

/** Encoding of bytes in JSON. */
export type Encoding = "utf8" | "base64";

/** Why a command ended. */
export type EndReason = "exited" | "signaled" | "killed" | "timeout" | "idle_timeout" | "oom" | "output_limit" | "shell_exited" | "sandbox_stopped" | "host_lost";

/** How a command ended. Unknown values are `null`; an exit code is never guessed. */
export interface EndRecord {
  /** The exit code, if it exited. */
  readonly code?: number | undefined;
  /** System CPU time of the same processes. */
  readonly cpuSystem?: number | undefined;
  /** User CPU time of the main process and the children that it waited for. */
  readonly cpuUser?: number | undefined;
  /** Network access that its processes were denied: the first of each kind, up to 32. */
  readonly denials?: readonly Denial[] | undefined;
  /** How often its processes were denied network access, including those in `denials`. */
  readonly denialsCount?: number | undefined;
  /** Run time of the main process. */
  readonly duration: number;
  /** When the main process ended. */
  readonly endedAt: Timestamp;
  /** Largest resident set of any of the same processes. */
  readonly maxRssBytes?: number | undefined;
  /** Whether the kernel killed one of its processes because memory ran out. */
  readonly oomKilled: boolean;
  /** Why it ended. */
  readonly reason: EndReason;
  /** The signal that killed it, if one did. */
  readonly signal?: Signal | undefined;
  /** When the main process started. */
  readonly startedAt: Timestamp;
  /** Number of its processes that were still alive at that moment. */
  readonly survivors: number;
  /** Whether `reason` is a time limit. */
  readonly timedOut: boolean;
}

/** Body of every error response. */
export interface ErrorAnswer {
  /** The error. */
  readonly error: ErrorBody;
}

/** The JSON shape of every error. */
export interface ErrorBody {
  /** The stable code. */
  readonly code: ErrorCode;
  /** Machine-readable facts, where the code alone does not say enough. */
  readonly details?: unknown | undefined;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** What failed, with the value. */
  readonly message: string;
}

/** Stable name of an error. */
export type ErrorCode = "UNAUTHORIZED" | "FORBIDDEN" | "ROUTE_NOT_FOUND" | "METHOD_NOT_ALLOWED" | "BODY_TOO_LARGE" | "UPGRADE_REQUIRED" | "UNSUPPORTED_MEDIA_TYPE" | "RATE_LIMITED" | "IDEMPOTENCY_CONFLICT" | "TOKEN_NOT_FOUND" | "TOKEN_LIMIT" | "SANDBOX_NOT_FOUND" | "SANDBOX_DIFFERS" | "SANDBOX_PAUSED" | "SANDBOX_STOPPED" | "SANDBOX_LIMIT" | "AGENT_UNAVAILABLE" | "SHUTTING_DOWN" | "SERVER_UNREACHABLE" | "TOO_MANY_CONNECTIONS" | "VALIDATION_FAILED" | "COMMAND_NOT_FOUND" | "NOT_EXECUTABLE" | "CWD_NOT_FOUND" | "USER_NOT_FOUND" | "ARGUMENTS_TOO_LONG" | "PROCESS_NOT_FOUND" | "PROCESS_ALREADY_EXISTS" | "PROCESS_ENDED" | "PROCESS_LIMIT" | "STDIN_NOT_OPEN" | "STDIN_GAP" | "SESSION_NOT_FOUND" | "SESSION_ALREADY_EXISTS" | "SESSION_TERMINATED" | "SESSION_ALIVE" | "SESSION_BUSY" | "SESSION_LIMIT" | "SESSION_TOO_LARGE" | "COMMAND_CANCELLED" | "SHELL_NOT_SUPPORTED" | "TERMINAL_NOT_FOUND" | "TERMINAL_ALREADY_EXISTS" | "TERMINAL_ENDED" | "TERMINAL_READ_ONLY" | "PORT_CLOSED" | "PREVIEW_NOT_FOUND" | "PREVIEW_ASLEEP" | "PREVIEW_BUSY" | "PREVIEW_BROKEN" | "PREVIEW_LIMIT" | "MISDIRECTED" | "WAIT_TIMEOUT" | "LIMIT_UNAVAILABLE" | "EGRESS_UNAVAILABLE" | "SECRET_NOT_FOUND" | "ISOLATION_UNAVAILABLE" | "PAUSE_UNAVAILABLE" | "STORAGE_BUSY" | "SANDBOX_GONE" | "FILE_NOT_FOUND" | "FILE_EXISTS" | "IS_DIRECTORY" | "NOT_DIRECTORY" | "NOT_REGULAR_FILE" | "DIRECTORY_NOT_EMPTY" | "PERMISSION_DENIED" | "NO_SPACE" | "FILE_TOO_LARGE" | "READ_ONLY" | "NAME_TOO_LONG" | "TOO_MANY_LINKS" | "PATH_ESCAPES" | "CROSS_DEVICE" | "RESOURCE_BUSY" | "TOO_MANY_FILES" | "PRECONDITION_FAILED" | "RANGE_NOT_SATISFIABLE" | "CONTENT_MISMATCH" | "FILE_LIMIT" | "OPERATION_INTERRUPTED" | "FILESYSTEM_UNSUPPORTED" | "FILESYSTEM_ERROR" | "WATCH_NOT_FOUND" | "WATCH_ALREADY_EXISTS" | "WATCH_LIMIT" | "CURSOR_TOO_OLD" | "GIT_NOT_AVAILABLE" | "GIT_FAILED" | "GIT_AUTHENTICATION_FAILED" | "GIT_CONFIG_REFUSED" | "GIT_TIMEOUT" | "DISK_FULL" | "DISK_READ_ONLY" | "INTERNAL";

/** Bytes, as text if they are valid UTF-8. */
export interface ExactText {
  /** The text, or its bytes in base64. */
  readonly data: string;
  /** Encoding of `data`. */
  readonly encoding: Encoding;
}

/** Runs one command to completion. Exactly one of `command` and `argv` is required. */
export interface ExecRequest {
  /** Maximum number of bytes of each output in the response (default 1 MiB). */
  readonly answerBytes?: number | undefined;
  /** Program and arguments, run without a shell. */
  readonly argv?: readonly string[] | undefined;
  /** What happens to processes that it leaves in the background. */
  readonly background?: Background | undefined;
  /** Shell command line, run by bash, or by sh if there is no bash. */
  readonly command?: string | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Encoding of the output in the response. */
  readonly encoding?: Encoding | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Time between SIGTERM and SIGKILL when the process tree is killed (default 2000). */
  readonly grace?: number | undefined;
  /** Id of the command, which makes retries safe; generated if not given. */
  readonly id?: ProcessId | undefined;
  /** Limit of time without output, after which the whole process tree is killed. */
  readonly idleTimeout?: number | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Output limit, above which the whole process tree is killed. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory limit of this command, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** Egress rules of this command, within those of the sandbox; the sandbox's rules if not given. */
  readonly network?: readonly EgressRule[] | undefined;
  /** What happens if the client disconnects. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Standard input as text. Closed if neither this nor `stdin_base64` is given. */
  readonly stdin?: string | undefined;
  /** Standard input in base64. */
  readonly stdinBase64?: string | undefined;
  /** Time limit, after which the whole process tree is killed. */
  readonly timeout?: number | undefined;
  /** User inside the sandbox: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/** Result of `exec`. */
export interface ExecResult {
  /** Position after the last byte of the log when the command ended. */
  readonly cursor: number;
  /** How it ended. */
  readonly end: EndRecord;
  /** Id of the command, to read its log and kill its background processes. */
  readonly id: ProcessId;
  /**
   * Whether the session's shell did not survive the end of the command and was replaced by one restored from the
   * session's last snapshot.
   */
  readonly sessionReset?: boolean | undefined;
  /** Standard error. */
  readonly stderr: Capture;
  /** Standard output. */
  readonly stdout: Capture;
}

/** Exposes a port. Omitted options stay as they are, or take their defaults if the port is not exposed yet. */
export interface ExposePort {
  /** Whether the program inside receives the full path of a path URL, including `/preview/…` (default false). */
  readonly keepPrefix?: boolean | undefined;
  /** Display name. */
  readonly name?: string | undefined;
  /**
   * Secret part of the URL: 1 to 32 characters of `a-z`, `0-9` and `_`. Generated if not given; short ones can be
   * guessed.
   */
  readonly token?: string | undefined;
  /** Who may open the preview (default `public`). */
  readonly visibility?: Visibility | undefined;
  /** Whether a request wakes a stopped sandbox (default false). */
  readonly wake?: boolean | undefined;
}

/** Number of files that an operation changed. */
export interface FileCount {
  /** Number of files. */
  readonly count: number;
}

/** Whether a file exists. */
export interface FileExists {
  /** Whether it exists. */
  readonly exists: boolean;
  /** Its type, with links followed. */
  readonly kind?: FileKind | undefined;
}

/** Metadata of one file. */
export interface FileInfo {
  /** Bytes allocated on disk: fewer than the length if the file has holes. */
  readonly allocated: number;
  /** Identifies this version of the file, for `If-Match` and `If-None-Match`. */
  readonly etag: string;
  /** Group id, inside the sandbox. */
  readonly gid: number;
  /** Type of the file. */
  readonly kind: FileKind;
  /** Number of hard links. */
  readonly links: number;
  /** Permission bits, in octal: `0644`. */
  readonly mode: string;
  /** When the content last changed. */
  readonly modified: Timestamp;
  /** Path of the file: relative to the directory in a list, otherwise as requested. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Length in bytes. */
  readonly size: number;
  /** Target, if the file is a symbolic link. */
  readonly target?: string | undefined;
  /** Exact target in base64, if it is not valid UTF-8. */
  readonly targetBase64?: string | undefined;
  /** User id of the owner, inside the sandbox. */
  readonly uid: number;
}

/** Type of a file. */
export type FileKind = "file" | "directory" | "symlink" | "fifo" | "socket" | "character_device" | "block_device";

/** A page of a directory list. */
export interface FileList {
  /** The entries. */
  readonly entries: readonly FileInfo[];
  /** Value of `after` for the next page; absent on the last page. */
  readonly next?: string | undefined;
  /** Number of directories that could not be read. */
  readonly unreadable: number;
}

/** End of a streamed list. */
export interface FileListEnd {
  /** Value of `after` to continue; absent if the list is complete. */
  readonly next?: string | undefined;
  /** Number of directories that could not be read. */
  readonly unreadable: number;
}

/** One line of a streamed list. */
export type FileListLine = { entry: FileInfo } | { end: FileListEnd } | { error: ErrorBody };

/** Content of a file as text. */
export interface FileText {
  /** The content. */
  readonly data: string;
  /** Encoding of `data`. */
  readonly encoding: Encoding;
  /** The file. */
  readonly file: FileInfo;
  /** Whether bytes that are not valid UTF-8 were replaced. */
  readonly replaced: boolean;
}

/** Creates a copy of a session, with the state of its shell. */
export interface ForkRequest {
  /** Id of the new session; generated if not given. */
  readonly id?: SessionId | undefined;
}

/** Renames, moves or copies a file or directory. */
export interface FromToRequest {
  /** Source path. */
  readonly from?: string | undefined;
  /** Exact source path in base64. */
  readonly fromBase64?: string | undefined;
  /** Create missing parent directories of the destination. */
  readonly parents?: boolean | undefined;
  /** Copy directories with their content; for copies only. */
  readonly recursive?: boolean | undefined;
  /** Replace the destination if it exists; a copy merges directories. */
  readonly replace?: boolean | undefined;
  /** Destination path. */
  readonly to?: string | undefined;
  /** Exact destination path in base64. */
  readonly toBase64?: string | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** Output that the log has dropped. */
export interface Gap {
  /** First position that cannot be read. */
  readonly from: number;
  /** First position after it that can be read. */
  readonly to: number;
}

/** Author of a commit. */
export interface GitAuthor {
  /** Email address. */
  readonly email: string;
  /** Name. */
  readonly name: string;
}

/** A branch. */
export interface GitBranch {
  /** Its last commit. */
  readonly commit: string;
  /** Whether it is checked out. */
  readonly current: boolean;
  /** Name of the branch. */
  readonly name: string;
  /** Its upstream branch. */
  readonly upstream?: string | undefined;
}

/** A list of branches. */
export interface GitBranches {
  /** Branches, sorted by name. */
  readonly branches: readonly GitBranch[];
}

/** Lists branches. */
export interface GitBranchesRequest {
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Include remote-tracking branches. */
  readonly remotes?: boolean | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** How a path differs. */
export type GitChange = "unmodified" | "modified" | "type_changed" | "added" | "deleted" | "renamed" | "copied" | "unmerged" | "untracked" | "ignored";

/** Result of a checkout. */
export interface GitCheckedOut {
  /** The current branch; absent if HEAD is detached. */
  readonly branch?: string | undefined;
  /** The current commit. */
  readonly commit?: string | undefined;
}

/** Checks out a branch, tag or commit. */
export interface GitCheckoutRequest {
  /** Create the branch. */
  readonly create?: boolean | undefined;
  /** Starting point of a new branch. */
  readonly from?: string | undefined;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Branch, tag or commit to check out. */
  readonly target: string;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Clones a repository. */
export interface GitCloneRequest {
  /** Branch or tag to check out; the remote's default branch if not given. */
  readonly branch?: string | undefined;
  /** Credentials for the remote, if it requires them. */
  readonly credentials?: GitCredentials | undefined;
  /** Number of commits of history to fetch; all if not given. */
  readonly depth?: number | undefined;
  /** Directory to clone into; by default named after the repository, below `/workspace`. */
  readonly path?: string | undefined;
  /** Time limit (default ten minutes). */
  readonly timeout?: number | undefined;
  /** URL of the repository: `https://…`, `http://…`, `file://…` or an absolute path inside the sandbox. */
  readonly url: string;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Result of a clone. */
export interface GitCloned {
  /** The branch checked out. */
  readonly branch?: string | undefined;
  /** The commit checked out; absent if the repository is empty. */
  readonly commit?: string | undefined;
  /** Directory of the repository. */
  readonly path: string;
}

/** A commit. */
export interface GitCommitInfo {
  /** Author of the commit. */
  readonly author: GitAuthor;
  /** The rest of its message. */
  readonly body: string;
  /** Hash of the commit. */
  readonly commit: string;
  /** Hashes of its parents. */
  readonly parents: readonly string[];
  /** The first line of its message. */
  readonly subject: string;
  /** When it was authored. */
  readonly time: Timestamp;
}

/** Creates a commit. */
export interface GitCommitRequest {
  /** Include every change, and new files. */
  readonly all?: boolean | undefined;
  /** Create the commit even if it changes nothing. */
  readonly allowEmpty?: boolean | undefined;
  /** Author and committer; from the repository's configuration if not given. */
  readonly author?: GitAuthor | undefined;
  /** Commit message. */
  readonly message: string;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Include the changes to these paths. */
  readonly paths?: readonly string[] | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Result of a commit. */
export interface GitCommitted {
  /** Branch of the commit. */
  readonly branch?: string | undefined;
  /** Hash of the commit. */
  readonly commit: string;
}

/** Credentials for a remote. Never logged, never stored. */
export interface GitCredentials {
  /** Password or access token. */
  readonly password: string;
  /**
   * The only server that receives them: `https://host` or `https://host:port`. For a clone, the server of its URL
   * by default.
   */
  readonly server?: string | undefined;
  /** User name. */
  readonly username: string;
}

/** A diff. */
export interface GitDiff {
  /** The patch; bytes that are not valid UTF-8 are replaced. */
  readonly diff: string;
  /** Whether the middle of the patch was left out because of its size. */
  readonly truncated: boolean;
}

/** Requests a diff. */
export interface GitDiffRequest {
  /** Number of context lines around each change (default 3). */
  readonly context?: number | undefined;
  /** Commit to compare with the working tree, or with `to`. */
  readonly from?: string | undefined;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Limit the diff to these paths. */
  readonly paths?: readonly string[] | undefined;
  /** Compare the index with the last commit, instead of the working tree with the index. */
  readonly staged?: boolean | undefined;
  /** The other commit. */
  readonly to?: string | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** A list of commits. */
export interface GitLog {
  /** Commits, newest first. */
  readonly commits: readonly GitCommitInfo[];
}

/** Lists commits. */
export interface GitLogRequest {
  /** Commit to start from, going back in history; the current commit if not given. */
  readonly from?: string | undefined;
  /** Maximum number of commits (default 50, at most 1000). */
  readonly limit?: number | undefined;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Only commits that changed these paths. */
  readonly paths?: readonly string[] | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Progress of a git operation. */
export interface GitProgress {
  /** Number of items done. */
  readonly done: number;
  /** Percentage done. */
  readonly percent: number;
  /** Current phase: `Receiving objects`. */
  readonly phase: string;
  /** Total number of items. */
  readonly total: number;
}

/** Pulls from a remote. */
export interface GitPullRequest {
  /** Branch to pull; the upstream branch if not given. */
  readonly branch?: string | undefined;
  /** Credentials for the remote, if it requires them. */
  readonly credentials?: GitCredentials | undefined;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Remote to pull from (default `origin`). */
  readonly remote?: string | undefined;
  /** Time limit (default ten minutes). */
  readonly timeout?: number | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Result of a pull. */
export interface GitPulled {
  /** The current commit, after the pull. */
  readonly commit?: string | undefined;
  /** Whether the pull changed it. */
  readonly updated: boolean;
}

/** Pushes to a remote. */
export interface GitPushRequest {
  /** Branch to push; the current branch if not given. */
  readonly branch?: string | undefined;
  /** Credentials for the remote, if it requires them. */
  readonly credentials?: GitCredentials | undefined;
  /** Replace commits on the remote, unless another client has pushed in the meantime. */
  readonly force?: boolean | undefined;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** Remote to push to (default `origin`). */
  readonly remote?: string | undefined;
  /** Set the remote branch as upstream. */
  readonly setUpstream?: boolean | undefined;
  /** Time limit (default ten minutes). */
  readonly timeout?: number | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Result of a push. */
export interface GitPushed {
  /** The pushed refs. */
  readonly refs: readonly GitPushedRef[];
}

/** One pushed ref. */
export interface GitPushedRef {
  /** Local ref. */
  readonly from: string;
  /** Summary of the update, as git prints it. */
  readonly summary: string;
  /** Remote ref. */
  readonly to: string;
}

/** Status of a repository. */
export interface GitStatus {
  /** Number of commits that the upstream lacks. */
  readonly ahead?: number | undefined;
  /** Number of upstream commits that the branch lacks. */
  readonly behind?: number | undefined;
  /** The current branch; absent if HEAD is detached. */
  readonly branch?: string | undefined;
  /** The current commit; absent before the first commit. */
  readonly commit?: string | undefined;
  /** Paths that differ. */
  readonly entries: readonly GitStatusEntry[];
  /** The upstream branch. */
  readonly upstream?: string | undefined;
}

/** One path that differs. */
export interface GitStatusEntry {
  /** Previous path, if it was renamed or copied. */
  readonly from?: string | undefined;
  /** Exact previous path in base64, if it is not valid UTF-8. */
  readonly fromBase64?: string | undefined;
  /** Path relative to the root of the repository. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Change in the index, compared with the last commit. */
  readonly staged: GitChange;
  /** Change in the working tree, compared with the index. */
  readonly worktree: GitChange;
}

/** Requests the status of a repository. */
export interface GitStatusRequest {
  /** Include ignored files. */
  readonly ignored?: boolean | undefined;
  /** Path of the repository, or of a directory in it; relative to `/workspace`. */
  readonly path: string;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** The files that were found, sorted by path. */
export interface GlobAnswer {
  /** The files. */
  readonly entries: readonly GlobEntry[];
  /** Number of directories that could not be read. */
  readonly troubles: number;
  /** Why the results may be incomplete. */
  readonly truncated?: SearchTruncated | undefined;
}

/** A file that was found. */
export interface GlobEntry {
  /** Type of the file. */
  readonly kind: GlobKind;
  /** Path of the file. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** Type of a file that was found. */
export type GlobKind = "file" | "directory" | "symlink" | "other";

/** Finds files below a directory by name. */
export interface GlobRequest {
  /** Maximum depth; unlimited if not given. */
  readonly depth?: number | undefined;
  /** Globs of files to leave out. */
  readonly exclude?: readonly string[] | undefined;
  /** Include hidden files: names that begin with a dot. */
  readonly hidden?: boolean | undefined;
  /** Include files that `.gitignore` and `.ignore` exclude. */
  readonly ignored?: boolean | undefined;
  /** Maximum number of results (default 10000). */
  readonly maxMatches?: number | undefined;
  /** Directory to search. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** Globs for the path below the directory: `*` and `?` match within a name, `**` across directories. */
  readonly patterns: readonly string[];
  /** Time limit (default 60 s). */
  readonly timeout?: number | undefined;
  /** User to search as. */
  readonly user?: string | undefined;
}

/** An HTTP request that must succeed. */
export interface HttpCondition {
  /** Path to request with GET. */
  readonly path: string;
  /** Required status; any from 200 to 399 if not given. */
  readonly status?: number | undefined;
}

/** Result of an interrupt. */
export interface InterruptReceipt {
  /** Whether a command was running and was interrupted. */
  readonly interrupted: boolean;
}

/** Isolation of a sandbox. */
export type Isolation = "namespaces" | "none";

/** Kills every process, or those with matching labels. */
export interface KillAllRequest {
  /** Time between SIGTERM and SIGKILL (default 2000). */
  readonly grace?: number | undefined;
  /** Kill only processes that have all of these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Result of a kill. */
export interface KillReceipt {
  /** Number of processes that received a signal. */
  readonly signalled: number;
  /** Number of processes of the tree that are still alive. */
  readonly survivors: number;
}

/** Kills a whole process tree: SIGTERM, then SIGKILL. */
export interface KillRequest {
  /** Time between SIGTERM and SIGKILL; the command's own `grace_ms` if not given. */
  readonly grace?: number | undefined;
}

/** Requests a signed link to a private preview. */
export interface LinkRequest {
  /** How long the link, and access through it, is valid (default one hour, at most 30 days). */
  readonly expiresIn?: number | undefined;
}

/** Text to look for in the output. Exactly one of `text` and `regex` is required. */
export interface LogCondition {
  /** Regular expression that a line must match. */
  readonly regex?: string | undefined;
  /** Position in the log to search from (default 0). Earlier output counts, too. */
  readonly since?: number | undefined;
  /** Text to find anywhere in the output. */
  readonly text?: string | undefined;
}

/** Output that matched. */
export interface LogMatch {
  /** Position after the match. */
  readonly cursor: number;
  /** The line of the match; bytes that are not valid UTF-8 are replaced. */
  readonly line: string;
  /** Output stream of the match. */
  readonly stream: Stream;
}

/** Result of creating a directory. */
export interface MakeDirectoryReceipt {
  /** Whether the directory is new. */
  readonly created: boolean;
  /** The directory. */
  readonly file: FileInfo;
}

/** Creates a directory. */
export interface MakeDirectoryRequest {
  /** Permission bits in octal (default 0755). */
  readonly mode?: string | undefined;
  /** Create missing parent directories, too, and do not fail if the directory exists. */
  readonly parents?: boolean | undefined;
  /** Path of the directory. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** User to create it as. */
  readonly user?: string | undefined;
}

/** Sets permission bits. */
export interface ModeRequest {
  /** Permission bits in octal: `0755`. */
  readonly mode: string;
  /** Path of the file. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** Apply to everything in the directory, too. */
  readonly recursive?: boolean | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** Network state of a sandbox. */
export interface NetworkInfo {
  /** Whether egress is open; it opens with the first rule. */
  readonly open: boolean;
  /** The current policy. */
  readonly policy: NetworkPolicy;
  /** Totals so far. */
  readonly totals: EgressTotals;
}

/** Egress policy: what a sandbox may reach. Everything else is denied, so an empty list denies everything. */
export interface NetworkPolicy {
  /** The rules that allow access. */
  readonly allow?: readonly EgressRule[] | undefined;
  /** Fixed addresses of names, which are not looked up. The rules apply to them as to any other address. */
  readonly hosts?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Name server to use, `ADDRESS:PORT`; the host's if not given. */
  readonly resolver?: string | undefined;
  /** CA certificates (PEM) to trust for inspected TLS, besides those that the host trusts. */
  readonly trust?: string | undefined;
}

/** A new token. The secret is returned only once. */
export interface NewToken {
  /** The token without its secret. */
  readonly info: TokenInfo;
  /** The secret, to send as `Authorization: Bearer …`. */
  readonly token: string;
}

/** State of the shell that a snapshot cannot restore. */
export interface NotCarriedInfo {
  /** Open file descriptors other than the standard three. */
  readonly descriptors: readonly number[];
  /** Whether the shell has background jobs. */
  readonly jobs: boolean;
}

/** What happens to a command whose client disconnects before it ends. */
export type OnDisconnect = "keep" | "kill";

/** The main process has ended, and all of its output was sent. */
export interface OutputEnd {
  /** Position after the last byte sent. */
  readonly cursor: number;
  /** How it ended. */
  readonly end: EndRecord;
}

/** A piece of the log, which orders both streams. */
export interface OutputEvent {
  /** Position of its first byte in the log. */
  readonly cursor: number;
  /** The bytes, encoded as `encoding` says. */
  readonly data: string;
  /** Encoding of `data`. */
  readonly encoding: Encoding;
  /** Position after its last byte, to continue from. */
  readonly nextCursor: number;
  /** Whether bytes that are not valid UTF-8 were replaced. */
  readonly replaced?: boolean | undefined;
  /** Output stream. */
  readonly stream: Stream;
  /** When the bytes were read. */
  readonly time: Timestamp;
}

/** A page of the log. */
export interface OutputPage {
  /** Whether the log is complete: no output follows this page. */
  readonly closed: boolean;
  /** Output on this page, in order. */
  readonly events: readonly OutputEvent[];
  /** Output missing from this page. */
  readonly gaps: readonly Gap[];
  /** Position of the next page. */
  readonly nextCursor: number;
}

/** Where a hunk was applied. */
export interface PatchHunk {
  /** Whether the lines match exactly. Otherwise they differ in white space or in typographic characters. */
  readonly exact: boolean;
  /** Number of context lines ignored at each end. */
  readonly fuzz: number;
  /** Line in the old file, starting at 1. */
  readonly line: number;
  /** Distance in lines from the position that the patch names. */
  readonly offset: number;
}

/** What a patch did to a file. */
export type PatchOutcome = "created" | "changed" | "deleted" | "renamed" | "copied";

/** Result of applying a patch. */
export interface PatchReceipt {
  /** Whether this was a dry run, which changes nothing. */
  readonly dryRun: boolean;
  /** The patched files. */
  readonly files: readonly PatchedFile[];
}

/** Changes options of an existing sandbox. Omitted options stay as they are. */
export interface PatchSandbox {
  /** Never stop the sandbox for lack of use. */
  readonly keepAlive?: boolean | undefined;
  /** Labels to set; `null` removes one. */
  readonly labels?: Readonly<Record<string, string | null>> | undefined;
  /** Stop the sandbox after this time without use. 0 means never. */
  readonly sleepAfterMs?: number | undefined;
}

/** One file of a patch. */
export interface PatchedFile {
  /** Number of lines added. */
  readonly added: number;
  /** Previous path of a renamed file, or the source of a copy. */
  readonly from?: string | undefined;
  /** Where its hunks were applied. */
  readonly hunks: readonly PatchHunk[];
  /** What happened to it. */
  readonly outcome: PatchOutcome;
  /** Path of the file, after the patch if it still exists. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Number of lines removed. */
  readonly removed: number;
}

/** A port that must accept connections. */
export interface PortCondition {
  /** Require an HTTP response, not just a connection. */
  readonly http?: HttpCondition | undefined;
  /** Port number. */
  readonly port: number;
}

/** A listening port inside a sandbox. */
export interface PortInfo {
  /** Addresses that it is bound to: `127.0.0.1`, `::`. */
  readonly addresses: readonly string[];
  /** Command line of that process. */
  readonly command?: string | undefined;
  /** Pid inside the sandbox of a listening process; absent if unknown. */
  readonly pid?: number | undefined;
  /** Port number. */
  readonly port: number;
  /** Id of the API process that it belongs to, if any. */
  readonly process?: ProcessId | undefined;
}

/** The listening ports of a sandbox, lowest first. */
export interface PortList {
  /** The ports. */
  readonly ports: readonly PortInfo[];
}

/** An exposed port. */
export interface Preview {
  /** When the port was exposed. */
  readonly createdAt: Timestamp;
  /** Whether the program inside receives the full path of a path URL. */
  readonly keepPrefix: boolean;
  /** Display name. */
  readonly name?: string | undefined;
  /** URL with a path on a shared host name, for clients that cannot resolve the host name of `url`. */
  readonly pathUrl?: string | undefined;
  /** Port inside the sandbox. */
  readonly port: number;
  /** Secret part of its URLs. */
  readonly token: string;
  /** URL with a host name of its own. Absent if the server has no preview listener. */
  readonly url?: string | undefined;
  /** Who may open the preview. */
  readonly visibility: Visibility;
  /** Whether a request wakes a stopped sandbox. */
  readonly wake: boolean;
}

/** A link that grants access to a private preview until it expires. */
export interface PreviewLink {
  /** When the link expires. */
  readonly expiresAt: Timestamp;
  /** URL with a path on a shared host name. */
  readonly pathUrl: string;
  /** URL with a host name of its own. */
  readonly url: string;
}

/** Exposed ports of a sandbox, lowest first. */
export interface PreviewList {
  /** The previews. */
  readonly previews: readonly Preview[];
}

/** Id of a command within its sandbox. */
export type ProcessId = string;

/** One process. */
export interface ProcessInfo {
  /** The command line, or the arguments joined for display. */
  readonly command: string;
  /** Position after the last byte of its log. */
  readonly cursor: number;
  /** How its main process ended, if it has. */
  readonly end?: EndRecord | undefined;
  /** Id of the process. */
  readonly id: ProcessId;
  /** Labels given at start. */
  readonly labels: Readonly<Record<string, string>>;
  /** Pid of its main process inside the sandbox, while it runs. */
  readonly pid?: number | undefined;
  /** Whether it is ready, if it has a readiness condition. */
  readonly ready?: boolean | undefined;
  /** Number of restarts by its restart policy. */
  readonly restarts: number;
  /** Session that it runs in or was started from. */
  readonly session?: SessionId | undefined;
  /** When it was last started. */
  readonly startedAt: Timestamp;
  /** Current state. */
  readonly state: ProcessState;
  /** Number of bytes on standard error so far. */
  readonly stderrBytes: number;
  /** Number of bytes on standard output so far. */
  readonly stdoutBytes: number;
}

/** A list of processes, oldest first. */
export interface ProcessList {
  /** The processes. */
  readonly processes: readonly ProcessInfo[];
}

/** State of a process. */
export type ProcessState = "starting" | "running" | "lingering" | "ended";

/** A secret that commands can use but not read. An environment variable of the same name holds a placeholder. */
export interface PutSecret {
  /** Request headers in which the placeholder is replaced (default `authorization`). */
  readonly headers?: readonly string[] | undefined;
  /** The only servers that receive it, over HTTPS: `NAME`, or `NAME:PORT` for a port other than 443. */
  readonly hosts: readonly string[];
  /** The secret itself. The API never returns it. */
  readonly value: string;
}

/** When a process is ready. */
export type ReadyCondition = { log: unknown } | { port: PortCondition };

/** Resizes a window. */
export interface ResizeRequest {
  /** Who resizes it, which is reported to other viewers. */
  readonly by?: string | undefined;
  /** Columns. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
}

/** A window was resized. */
export interface Resized {
  /** Who resized it; `null` for the initial size. */
  readonly by?: string | undefined;
  /** Position in the output. */
  readonly cursor: number;
  /** The new size. */
  readonly size: WindowSize;
  /** When it was resized. */
  readonly time: Timestamp;
}

/** A resource limit. */
export interface ResourceLimit {
  /** Hard limit; `null` is unlimited. */
  readonly hard?: number | undefined;
  /** Name as in `RLIMIT_NOFILE`: `nofile`. */
  readonly resource: string;
  /** Soft limit; `null` is unlimited. */
  readonly soft?: number | undefined;
}

/** What a dead session is restarted from. */
export type RestartFrom = "snapshot" | "nothing";

/** What happens when a process fails by itself. */
export type RestartPolicy = "never" | { onFailure: RestartPolicyOnFailureDetails };

/** It is restarted. */
export interface RestartPolicyOnFailureDetails {
  /** Maximum delay (default 10000). */
  readonly backoffMax?: number | undefined;
  /** Delay before the first restart; doubles with each restart (default 100). */
  readonly backoff?: number | undefined;
  /** Maximum number of restarts (default 10). */
  readonly max?: number | undefined;
}

/** Restarts a dead session. */
export interface RestartRequest {
  /** What to restart it from. */
  readonly from?: RestartFrom | undefined;
}

/** Predefined sets of names. */
export type RuleSet = "pypi" | "npm" | "crates" | "debian" | "github";

/** One sandbox. */
export interface SandboxInfo {
  /** When it was created. */
  readonly createdAt: Timestamp;
  /** Egress totals; `null` if the sandbox has no network access. */
  readonly egress?: EgressTotals | undefined;
  /** Isolation of the sandbox. */
  readonly isolation: Isolation;
  /** Labels to find it by. */
  readonly labels: Readonly<Record<string, string>>;
  /** Resource limits. */
  readonly limits: SandboxLimits;
  /** Name of the sandbox. */
  readonly name: SandboxName;
  /**
   * Why commands are not isolated from the agent, if isolation was requested but unavailable. Only an agent that
   * is the entrypoint of a container continues in this case, because the container isolates it.
   */
  readonly notIsolated?: string | undefined;
  /** Number of processes that have not ended. */
  readonly processes: number;
  /** Number of sessions whose shell is alive, including idle ones. */
  readonly sessions?: number | undefined;
  /** Current state. */
  readonly state: SandboxState;
  /** Number of terminals whose program has not ended. */
  readonly terminals: number;
  /** Current resource usage. */
  readonly usage: SandboxUsage;
  /** Version of the server. */
  readonly version: string;
}

/** Resource limits of a sandbox. Unset means unlimited. */
export interface SandboxLimits {
  /** CPU time, in thousandths of a core. */
  readonly cpuMillis?: number | undefined;
  /** Memory in bytes, including page cache. */
  readonly memoryBytes?: number | undefined;
  /** Number of open files of each process. */
  readonly openFiles?: number | undefined;
  /** Number of processes and threads. */
  readonly pids?: number | undefined;
}

/** A page of sandboxes, sorted by name. */
export interface SandboxList {
  /** Value of `after` for the next page; `null` on the last page. */
  readonly next?: SandboxName | undefined;
  /** The sandboxes. */
  readonly sandboxes: readonly SandboxRecord[];
}

/** Name of a sandbox. It is also the sandbox's host name and part of preview URLs, so it is a DNS label. */
export type SandboxName = string;

/** One sandbox of a server. */
export interface SandboxRecord {
  /** When it was created. */
  readonly createdAt: Timestamp;
  /** Isolation of the sandbox. */
  readonly isolation: Isolation;
  /** Whether the sandbox is never stopped for lack of use. */
  readonly keepAlive: boolean;
  /** Labels to find it by. */
  readonly labels: Readonly<Record<string, string>>;
  /** When it was last used. */
  readonly lastUsedAt: Timestamp;
  /** Resource limits. */
  readonly limits: SandboxLimits;
  /** State reported by its agent, if the request included it. */
  readonly live?: SandboxInfo | undefined;
  /** Name of the sandbox. */
  readonly name: SandboxName;
  /** The sandbox is stopped after this time without use. */
  readonly sleepAfterMs?: number | undefined;
  /** Current state. */
  readonly state: SandboxState;
  /** Why it is stopped, if it is stopped and the reason is known. */
  readonly stopReason?: StopReason | undefined;
}

/** State of a sandbox. */
export type SandboxState = "creating" | "running" | "paused" | "stopped" | "lost";

/** Current resource usage of a sandbox. Unavailable counters are `null`. */
export interface SandboxUsage {
  /** CPU time used so far, in microseconds. */
  readonly cpuUsec?: number | undefined;
  /** Memory in use in bytes, including page cache. */
  readonly memoryBytes?: number | undefined;
  /** Peak memory use in bytes. */
  readonly memoryPeakBytes?: number | undefined;
  /** Number of processes and threads. */
  readonly pids?: number | undefined;
}

/** Grants permissions on the sandboxes whose names match a pattern. */
export interface Scope {
  /** Name of a sandbox, in which `*` matches any characters. */
  readonly sandboxes: string;
  /** The permissions. */
  readonly verbs: readonly Verb[];
}

/** Content of a terminal's screen. */
export interface ScreenInfo {
  /** Whether this is the alternate screen, which programs such as editors use. */
  readonly alternate: boolean;
  /** Position in the output at which the screen had this content: attach there to continue. */
  readonly cursor: number;
  /** Column of the text cursor, from 0. */
  readonly cursorCol: number;
  /** Whether the text cursor is hidden. */
  readonly cursorHidden: boolean;
  /** Row of the text cursor, from 0. */
  readonly cursorRow: number;
  /**
   * Escape sequences that draw the screen on an empty terminal of the same size, with colours, cursor and input
   * modes.
   */
  readonly formatted: string;
  /** Escape sequences that reset a terminal after `formatted` was drawn on it. */
  readonly reset: string;
  /** Size of the screen. */
  readonly size: WindowSize;
  /** Text without colours: one line per row, without trailing spaces. */
  readonly text: string;
  /** Whether all output before that position was processed. Otherwise old content may be missing. */
  readonly whole: boolean;
}

/** Result of a search. */
export interface SearchAnswer {
  /** Matching files, if `detail` is `files` or `counts`, and binary files that match. */
  readonly files: readonly SearchFile[];
  /** Matching lines and their context. */
  readonly matches: readonly SearchMatch[];
  /** Summary of the search. */
  readonly summary: SearchSummary;
}

/** How to search files that contain NUL bytes. */
export type SearchBinary = "skip" | "report" | "text";

/** Whether case matters. */
export type SearchCase = "sensitive" | "insensitive" | "smart";

/** How much detail to return for each file. */
export type SearchDetail = "lines" | "files" | "counts";

/** A file that matches. */
export interface SearchFile {
  /** Number of matching lines; absent for a binary file. */
  readonly matches?: number | undefined;
  /** Path of the file. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** One line of a streamed search. */
export type SearchLine = { match: SearchMatch } | { file: SearchFile } | { binary: SearchFile } | { end: SearchSummary } | { error: ErrorBody };

/** A line that matches, or its context. */
export interface SearchMatch {
  /** Number of bytes cut from the end of a long line. */
  readonly cutAfter?: number | undefined;
  /** Number of bytes cut from the start of a long line. */
  readonly cutBefore?: number | undefined;
  /** Line number, from 1. */
  readonly line: number;
  /** Offset of the line's first byte in the file. */
  readonly offset: number;
  /** Path of the file. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Whether the line matches or is context. */
  readonly role: SearchRole;
  /** Byte ranges of the matches within the line. */
  readonly spans: readonly SearchSpan[];
  /** The line with its line end; for a match across lines, all of its lines. */
  readonly text: string;
  /** Exact text in base64, if it is not valid UTF-8. */
  readonly textBase64?: string | undefined;
}

/** Searches the files below a directory. */
export interface SearchRequest {
  /** Number of context lines after each match. */
  readonly after?: number | undefined;
  /** Number of context lines before each match. */
  readonly before?: number | undefined;
  /** How to search binary files. */
  readonly binary?: SearchBinary | undefined;
  /** Whether case matters. */
  readonly case?: SearchCase | undefined;
  /** Maximum depth; unlimited if not given. */
  readonly depth?: number | undefined;
  /** How much detail to return. */
  readonly detail?: SearchDetail | undefined;
  /** Globs of files to leave out. */
  readonly exclude?: readonly string[] | undefined;
  /** Search hidden files, too: names that begin with a dot. */
  readonly hidden?: boolean | undefined;
  /** Search files that `.gitignore` and `.ignore` exclude, too. */
  readonly ignored?: boolean | undefined;
  /** Globs of files to search; all files if empty. A glob without a slash matches names at any depth. */
  readonly include?: readonly string[] | undefined;
  /** Maximum number of bytes to return (default 16 MiB). */
  readonly maxBytes?: number | undefined;
  /** Maximum number of matches (default 10000). */
  readonly maxMatches?: number | undefined;
  /** Maximum number of matches per file. */
  readonly maxMatchesPerFile?: number | undefined;
  /** Directory or file to search. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** Pattern to search for. */
  readonly pattern: string;
  /** Sort results by path, which makes them reproducible and the search slower. */
  readonly sorted?: boolean | undefined;
  /** How the pattern is interpreted. */
  readonly syntax?: SearchSyntax | undefined;
  /** Time limit (default 60 s). */
  readonly timeout?: number | undefined;
  /** User to search as. */
  readonly user?: string | undefined;
  /** Match only whole words. */
  readonly words?: boolean | undefined;
}

/** Role of a returned line. */
export type SearchRole = "match" | "before" | "after";

/** A range of bytes within a line. */
export interface SearchSpan {
  /** Offset after the last byte. */
  readonly end: number;
  /** Offset of the first byte. */
  readonly start: number;
}

/** Summary of a search. */
export interface SearchSummary {
  /** Number of bytes read. */
  readonly bytesRead: number;
  /** Number of files searched. */
  readonly files: number;
  /** Number of files that match. */
  readonly filesMatched: number;
  /** The first errors, as messages for people. */
  readonly firstTroubles: readonly string[];
  /** Number of matches returned. */
  readonly matches: number;
  /** Number of files and directories that could not be searched. */
  readonly troubles: number;
  /** Why the results may be incomplete. */
  readonly truncated?: SearchTruncated | undefined;
}

/** How a pattern is interpreted. */
export type SearchSyntax = "regex" | "multiline" | "multiline_dot_all" | "fixed";

/** Why the results may be incomplete. */
export type SearchTruncated = "matches" | "bytes" | "time" | "cancelled";

/** A secret, without its value. */
export interface SecretInfo {
  /** The headers in which the placeholder is replaced. */
  readonly headers: readonly string[];
  /** The servers that receive the secret. */
  readonly hosts: readonly string[];
  /** Environment variable that holds the placeholder. */
  readonly name: string;
  /** The placeholder. */
  readonly placeholder: string;
}

/** The secrets of a sandbox, sorted by name. */
export interface SecretList {
  /** The secrets. */
  readonly secrets: readonly SecretInfo[];
}

/** Id of a session within its sandbox. */
export type SessionId = string;

/** One session. */
export interface SessionInfo {
  /** When it was created. */
  readonly createdAt: Timestamp;
  /** Working directory of the shell, as of its last command. */
  readonly cwd: string;
  /** How the shell ended, if it has. */
  readonly end?: EndRecord | undefined;
  /** Id of the session. */
  readonly id: SessionId;
  /**
   * State that the session has lost: errors of the shell while it was restored from a snapshot, or that it did not
   * return to its directory after a command with its own `cwd`.
   */
  readonly notRestored?: string | undefined;
  /** Number of queued commands. */
  readonly queued: number;
  /** How often the shell had to be replaced. */
  readonly resets: number;
  /** Id of the running command. */
  readonly running?: ProcessId | undefined;
  /** Current state. */
  readonly state: SessionState;
  /** When a command last started or ended. */
  readonly usedAt: Timestamp;
}

/** A list of sessions, oldest first. */
export interface SessionList {
  /** The sessions. */
  readonly sessions: readonly SessionInfo[];
}

/** Creates a session. */
export interface SessionRequest {
  /** Initial working directory of the shell; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Id of the session; generated if not given. */
  readonly id?: SessionId | undefined;
  /** `set -o` options to enable at the start, such as `pipefail`. */
  readonly options?: readonly SessionRequestOptionsItem[] | undefined;
  /** Default time limit of its commands. */
  readonly timeout?: number | undefined;
  /** User inside the sandbox, for the whole session: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

export type SessionRequestOptionsItem = "allexport" | "braceexpand" | "emacs" | "errexit" | "errtrace" | "functrace" | "hashall" | "histexpand" | "history" | "ignoreeof" | "interactive-comments" | "keyword" | "monitor" | "noclobber" | "noglob" | "nolog" | "notify" | "nounset" | "physical" | "pipefail" | "posix" | "vi" | "xtrace";

/** State of a session. */
export type SessionState = "ready" | "busy" | "dead";

/** A shell alias. */
export interface ShellAlias {
  /** Name of the alias. */
  readonly name: ExactText;
  /** Its expansion. */
  readonly value: ExactText;
}

/** A shell function. */
export interface ShellFunction {
  /** Letters of `declare -f`: `r`, `t`, `x`. */
  readonly attributes: string;
  /** Name of the function. */
  readonly name: ExactText;
  /** Its definition. */
  readonly text: ExactText;
}

/** A shell trap. */
export interface ShellTrap {
  /** Command to run; empty if the signal is ignored. */
  readonly action: ExactText;
  /** The signal, or `EXIT`, `DEBUG`, `ERR`, `RETURN`. */
  readonly on: string;
}

/** A shell variable. */
export interface ShellVariable {
  /**
   * The part after the `=` of its declaration, quoted for a shell; `null` if it is declared but not set. Arrays
   * have only this: `([0]="a" [1]="b")`.
   */
  readonly assignment?: ExactText | undefined;
  /** Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on. */
  readonly attributes: string;
  /** Name of the variable. */
  readonly name: string;
  /** Value of the variable, if it is set and not an array. */
  readonly value?: ExactText | undefined;
}

/** A signal, 1 to 64. */
export type Signal = string;

/** Result of sending a signal. */
export interface SignalReceipt {
  /** Number of processes that received it. */
  readonly signalled: number;
}

/** Sends a signal. */
export interface SignalRequest {
  /** Which processes receive it. */
  readonly scope?: SignalScope | undefined;
  /** Signal by name or number, as text: `TERM`, `SIGINT`, `9`. */
  readonly signal: Signal;
}

/** Which processes receive a signal. */
export type SignalScope = "main" | "tree";

/** A member of an archive that was skipped. */
export interface SkippedMember {
  /** Path in the archive. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
  /** Why it was skipped. */
  readonly why: string;
}

/** Everything that a session's snapshot contains. */
export interface SnapshotInfo {
  /** Aliases. */
  readonly aliases: readonly ShellAlias[];
  /** Working directory. */
  readonly cwd: ExactText;
  /** Exported variables, as programs receive them. */
  readonly env: Readonly<Record<string, ExactText>>;
  /** Functions. */
  readonly functions: readonly ShellFunction[];
  /** Resource limits. */
  readonly limits: readonly ResourceLimit[];
  /** State that the snapshot cannot restore. */
  readonly notCarried: NotCarriedInfo;
  /** Enabled `set -o` options. */
  readonly options: readonly string[];
  /** Positional parameters. */
  readonly positional: readonly ExactText[];
  /** Enabled `shopt` options. */
  readonly shellOptions: readonly string[];
  /** Traps. */
  readonly traps: readonly ShellTrap[];
  /** File creation mask, in octal: `0022`. */
  readonly umask: string;
  /** All variables, except those that bash computes or reserves. */
  readonly variables: readonly ShellVariable[];
}

/** Starts a process. Exactly one of `command` and `argv` is required. */
export interface StartRequest {
  /** Program and arguments, run without a shell. */
  readonly argv?: readonly string[] | undefined;
  /** What happens to processes that it leaves in the background. */
  readonly background?: Background | undefined;
  /** Shell command line, run by bash, or by sh if there is no bash. */
  readonly command?: string | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Time between SIGTERM and SIGKILL when the process tree is killed (default 2000). */
  readonly grace?: number | undefined;
  /** Id of the process, which makes retries safe; generated if not given. */
  readonly id?: ProcessId | undefined;
  /** Limit of time without output, after which the whole process tree is killed. */
  readonly idleTimeout?: number | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Output limit, above which the whole process tree is killed. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory limit of this command, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** Egress rules of this command, within those of the sandbox; the sandbox's rules if not given. */
  readonly network?: readonly EgressRule[] | undefined;
  /** When the process is ready. */
  readonly ready?: ReadyCondition | undefined;
  /** What happens when it fails. */
  readonly restart?: RestartPolicy | undefined;
  /** Source of its standard input. */
  readonly stdin?: StdinMode | undefined;
  /** Time limit, after which the whole process tree is killed. */
  readonly timeout?: number | undefined;
  /** User inside the sandbox: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/** Source of a process's standard input. */
export type StdinMode = "closed" | "pipe";

/** Bytes for a process's standard input. */
export interface StdinPiece {
  /** The bytes, encoded as `encoding` says. */
  readonly data: string;
  /** Encoding of `data`. */
  readonly encoding?: Encoding | undefined;
  /** Offset of the first byte in the whole input. Bytes already written are skipped; a gap is an error. */
  readonly offset: number;
}

/** Result of a write to standard input. */
export interface StdinReceipt {
  /** Offset for the next write. */
  readonly nextOffset: number;
}

/** Why a sandbox is stopped. */
export type StopReason = "asked" | "idle" | "host_lost";

/** One of a command's two output streams. */
export type Stream = "stdout" | "stderr";

/** Creates a symbolic link. */
export interface SymlinkRequest {
  /** Create missing parent directories. */
  readonly parents?: boolean | undefined;
  /** Path of the link. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** Replace an existing file, but not a directory. */
  readonly replace?: boolean | undefined;
  /** Target, stored unchanged. */
  readonly target?: string | undefined;
  /** Exact target in base64. */
  readonly targetBase64?: string | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** A text frame from the client to a terminal. */
export type TerminalCommand = { resize: WindowSize } | { signal: SignalRequest };

/** The terminal's program has ended. */
export interface TerminalExit {
  /** Position after the last byte sent. */
  readonly cursor: number;
  /** How it ended. */
  readonly end: EndRecord;
}

/** A text frame from a terminal to the client. */
export type TerminalFrame = { ready: TerminalReady } | { resize: Resized } | { truncated: Gap } | { exit: TerminalExit } | { error: ErrorBody };

/** Id of a terminal within its sandbox. */
export type TerminalId = string;

/** One terminal. */
export interface TerminalInfo {
  /** The command line, or the arguments joined for display. */
  readonly command: string;
  /** Position after the last byte of its output. */
  readonly cursor: number;
  /** How its program ended, if it has. */
  readonly end?: EndRecord | undefined;
  /** Id of the terminal. */
  readonly id: TerminalId;
  /** Pid of its program inside the sandbox, while it runs. */
  readonly pid?: number | undefined;
  /** Who resized it last; `null` for the initial size. */
  readonly resizedBy?: string | undefined;
  /** The current size. */
  readonly size: WindowSize;
  /** When its program was started. */
  readonly startedAt: Timestamp;
  /** State of its program. */
  readonly state: ProcessState;
  /** Number of attached viewers. */
  readonly viewers: number;
}

/** A list of terminals, oldest first. */
export interface TerminalList {
  /** The terminals, including ended ones that are still retained. */
  readonly terminals: readonly TerminalInfo[];
}

/** The first frame of a connection. */
export interface TerminalReady {
  /** Position of the first byte that follows. Count from here to know where to reattach. */
  readonly cursor: number;
  /** The terminal. */
  readonly terminal: TerminalInfo;
}

/** Opens a terminal: the one with this id, or a new one. */
export interface TerminalRequest {
  /** Program and arguments to run, without a shell. */
  readonly argv?: readonly string[] | undefined;
  /** Initial number of columns (default 80). */
  readonly cols?: number | undefined;
  /** Shell command line to run. The interactive shell if neither this nor `argv` is given. */
  readonly command?: string | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Id of the terminal; generated if not given. */
  readonly id?: TerminalId | undefined;
  /** Initial number of rows (default 24). */
  readonly rows?: number | undefined;
  /** Value of `TERM` (default `xterm-256color`). */
  readonly term?: string | undefined;
  /** User inside the sandbox: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/** A point in time, as RFC 3339 in UTC with milliseconds. For display and logs; no decision depends on it. */
export type Timestamp = Date;

/** A token without its secret. */
export interface TokenInfo {
  /** When it was created. */
  readonly createdAt: Timestamp;
  /** When it expires. */
  readonly expiresAt?: Timestamp | undefined;
  /** Id of the token, which is also the middle part of the token itself. */
  readonly id: string;
  /** When it was last used, to the minute. */
  readonly lastUsedAt?: Timestamp | undefined;
  /** Display name. */
  readonly name: string;
  /** Scopes of the token. */
  readonly scopes: readonly Scope[];
}

/** A list of tokens. */
export interface TokenList {
  /** Tokens, oldest first. */
  readonly tokens: readonly TokenInfo[];
}

/** The part of an output that a response omits. */
export interface Truncation {
  /** Position of the omitted bytes in the log. */
  readonly cursor: number;
  /** Number of bytes omitted between head and tail. */
  readonly omittedBytes: number;
  /** The tail of the output. */
  readonly tail: string;
}

/** Result of unpacking an archive. */
export interface UnpackReceipt {
  /** Number of bytes written to files. */
  readonly bytes: number;
  /** Number of directories in the archive. */
  readonly directories: number;
  /** Number of files created. */
  readonly files: number;
  /** The first skipped members. */
  readonly firstSkipped: readonly SkippedMember[];
  /** Format of the archive. */
  readonly format: ArchiveFormat;
  /** Number of links and named pipes created. */
  readonly links: number;
  /** Number of members skipped: devices, sockets, and paths that already exist. */
  readonly skipped: number;
}

/** Result of an upload of several files. */
export interface UploadReceipt {
  /** The written files. */
  readonly files: readonly WriteReceipt[];
}

/** A permission. */
export type Verb = "read" | "exec" | "admin";

/** Who may open a preview. */
export type Visibility = "public" | "private";

/** Result of a wait whose condition was met. */
export interface WaitAnswer {
  /** How the process ended, if the wait was for its end. */
  readonly end?: EndRecord | undefined;
  /** The match, if the wait was for output. */
  readonly found?: LogMatch | undefined;
}

/** What to wait for. */
export type WaitFor = "exit" | "input" | { log: LogCondition } | { port: PortCondition };

/** Waits for a process. */
export interface WaitRequest {
  /** What to wait for. */
  readonly for: WaitFor;
  /** How long to wait; without it, there is no limit. A timeout does not affect the process. */
  readonly timeout?: number | undefined;
}

/** Kind of a change. */
export type WatchChange = "created" | "modified" | "attributes" | "removed" | "renamed" | "overflow" | "settled" | "gone";

/** The last event of a stream. */
export interface WatchEnd {
  /** Cursor after the last event. */
  readonly cursor: number;
}

/** One change. */
export interface WatchEvent {
  /** Kind of the change. */
  readonly change: WatchChange;
  /** Number of the event. */
  readonly cursor: number;
  /** Whether it is a directory. */
  readonly directory: boolean;
  /** Previous path, if it was renamed. */
  readonly from?: string | undefined;
  /** Exact previous path in base64, if it is not valid UTF-8. */
  readonly fromBase64?: string | undefined;
  /** Path relative to the directory; empty for the directory itself. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** A WebSocket text frame from a watch. */
export type WatchFrame = { change: WatchEvent } | { end: WatchEnd } | { error: ErrorBody };

/** Id of a watch within its sandbox. */
export type WatchId = string;

/** A watch. */
export interface WatchInfo {
  /** When it was created. */
  readonly createdAt: Timestamp;
  /** Cursor of the next event. */
  readonly cursor: number;
  /** Whether the watch has ended: the directory was removed, or the watch failed. */
  readonly ended: boolean;
  /** Why it failed. */
  readonly error?: ErrorBody | undefined;
  /** Id of the watch. */
  readonly id: WatchId;
  /** Path of the directory. */
  readonly path: string;
  /** Exact path in base64, if it is not valid UTF-8. */
  readonly pathBase64?: string | undefined;
}

/** A list of watches. */
export interface WatchList {
  /** Watches, oldest first. */
  readonly watches: readonly WatchInfo[];
}

/** A page of events. */
export interface WatchPage {
  /** Whether the watch has ended: no events follow. */
  readonly ended: boolean;
  /** Why it failed. */
  readonly error?: ErrorBody | undefined;
  /** The events, in order. */
  readonly events: readonly WatchEvent[];
  /** Cursor of the next page. */
  readonly nextCursor: number;
}

/** Creates a watch. */
export interface WatchRequest {
  /** Maximum number of directories to watch (default 65536). */
  readonly directories?: number | undefined;
  /** Globs of files to leave out; matching directories are not watched. */
  readonly exclude?: readonly string[] | undefined;
  /** Start with `created` events for existing files. */
  readonly existing?: boolean | undefined;
  /** Id of the watch; generated if not given. */
  readonly id?: WatchId | undefined;
  /** Globs of files to report, in `.gitignore` syntax; all files if empty. */
  readonly include?: readonly string[] | undefined;
  /** Path of the directory; relative to `/workspace`. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** Watch subdirectories, too. */
  readonly recursive?: boolean | undefined;
  /** User to watch as. */
  readonly user?: string | undefined;
}

/** Size of a window, in characters. Both sides are at least 1 and within their maximum. */
export interface WindowSize {
  readonly cols: number;
  readonly rows: number;
}

/** Writes a file with the content in the request. */
export interface WriteFileRequest {
  /** Append to the file. */
  readonly append?: boolean | undefined;
  /** The content. */
  readonly data: string;
  /** Encoding of `data`. */
  readonly encoding?: Encoding | undefined;
  /** Write only if the file does not exist. */
  readonly ifAbsent?: boolean | undefined;
  /** Write only if the file has this etag. */
  readonly ifMatch?: string | undefined;
  /** Permission bits in octal; the file's current bits if not given, or 0644 for a new file. */
  readonly mode?: string | undefined;
  /** Create missing parent directories. */
  readonly parents?: boolean | undefined;
  /** Path of the file. */
  readonly path?: string | undefined;
  /** Exact path in base64. */
  readonly pathBase64?: string | undefined;
  /** User to write as. */
  readonly user?: string | undefined;
}

/** Result of a write. */
export interface WriteReceipt {
  /**
   * Whether the file was replaced atomically. Otherwise it was changed in place, because its directory is not
   * writable, its owner cannot be preserved, or the write appended to it.
   */
  readonly atomic: boolean;
  /** Whether the file is new. */
  readonly created: boolean;
  /** The file after the write. */
  readonly file: FileInfo;
}

/** Runs one command to completion. Exactly one of `command` and `argv` is required. */
export interface ExecOptions {
  /** Maximum number of bytes of each output in the response (default 1 MiB). */
  readonly answerBytes?: number | undefined;
  /** What happens to processes that it leaves in the background. */
  readonly background?: Background | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Time between SIGTERM and SIGKILL when the process tree is killed (default 2000). */
  readonly grace?: number | undefined;
  /** Id of the command, which makes retries safe; generated if not given. */
  readonly id?: ProcessId | undefined;
  /** Limit of time without output, after which the whole process tree is killed. */
  readonly idleTimeout?: number | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Output limit, above which the whole process tree is killed. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory limit of this command, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** Egress rules of this command, within those of the sandbox; the sandbox's rules if not given. */
  readonly network?: readonly EgressRule[] | undefined;
  /** What happens if the client disconnects. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Time limit, after which the whole process tree is killed. */
  readonly timeout?: number | undefined;
  /** User inside the sandbox: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/** Runs one command to completion. Exactly one of `command` and `argv` is required. */
export interface SessionExecOptions {
  /** Maximum number of bytes of each output in the response (default 1 MiB). */
  readonly answerBytes?: number | undefined;
  /** What happens to processes that it leaves in the background. */
  readonly background?: Background | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Time between SIGTERM and SIGKILL when the process tree is killed (default 2000). */
  readonly grace?: number | undefined;
  /** Id of the command, which makes retries safe; generated if not given. */
  readonly id?: ProcessId | undefined;
  /** Limit of time without output, after which the whole process tree is killed. */
  readonly idleTimeout?: number | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Output limit, above which the whole process tree is killed. */
  readonly maxOutputBytes?: number | undefined;
  /** Egress rules of this command, within those of the sandbox; the sandbox's rules if not given. */
  readonly network?: readonly EgressRule[] | undefined;
  /** What happens if the client disconnects. */
  readonly onDisconnect?: OnDisconnect | undefined;
  /** Time limit, after which the whole process tree is killed. */
  readonly timeout?: number | undefined;
}

/** Starts a process. Exactly one of `command` and `argv` is required. */
export interface StartOptions {
  /** What happens to processes that it leaves in the background. */
  readonly background?: Background | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Time between SIGTERM and SIGKILL when the process tree is killed (default 2000). */
  readonly grace?: number | undefined;
  /** Id of the process, which makes retries safe; generated if not given. */
  readonly id?: ProcessId | undefined;
  /** Limit of time without output, after which the whole process tree is killed. */
  readonly idleTimeout?: number | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Output limit, above which the whole process tree is killed. */
  readonly maxOutputBytes?: number | undefined;
  /** Memory limit of this command, within the sandbox's own limit. */
  readonly memoryBytes?: number | undefined;
  /** Egress rules of this command, within those of the sandbox; the sandbox's rules if not given. */
  readonly network?: readonly EgressRule[] | undefined;
  /** When the process is ready. */
  readonly ready?: ReadyCondition | undefined;
  /** What happens when it fails. */
  readonly restart?: RestartPolicy | undefined;
  /** Source of its standard input. */
  readonly stdin?: StdinMode | undefined;
  /** Time limit, after which the whole process tree is killed. */
  readonly timeout?: number | undefined;
  /** User inside the sandbox: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/** Starts a process. Exactly one of `command` and `argv` is required. */
export interface QueueOptions {
  /** What happens to processes that it leaves in the background. */
  readonly background?: Background | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Time between SIGTERM and SIGKILL when the process tree is killed (default 2000). */
  readonly grace?: number | undefined;
  /** Id of the process, which makes retries safe; generated if not given. */
  readonly id?: ProcessId | undefined;
  /** Limit of time without output, after which the whole process tree is killed. */
  readonly idleTimeout?: number | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Output limit, above which the whole process tree is killed. */
  readonly maxOutputBytes?: number | undefined;
  /** Egress rules of this command, within those of the sandbox; the sandbox's rules if not given. */
  readonly network?: readonly EgressRule[] | undefined;
  /** Source of its standard input. */
  readonly stdin?: StdinMode | undefined;
  /** Time limit, after which the whole process tree is killed. */
  readonly timeout?: number | undefined;
}

/** Creates a session. */
export interface SessionOptions {
  /** Initial working directory of the shell; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Id of the session; generated if not given. */
  readonly id?: SessionId | undefined;
  /** `set -o` options to enable at the start, such as `pipefail`. */
  readonly options?: readonly SessionRequestOptionsItem[] | undefined;
  /** Default time limit of its commands. */
  readonly timeout?: number | undefined;
  /** User inside the sandbox, for the whole session: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/** Opens a terminal: the one with this id, or a new one. */
export interface TerminalOptions {
  /** Initial number of columns (default 80). */
  readonly cols?: number | undefined;
  /** Working directory; relative paths are below the default. */
  readonly cwd?: string | undefined;
  /** Changes to the default environment; `null` unsets. */
  readonly env?: Readonly<Record<string, string | null>> | undefined;
  /** Id of the terminal; generated if not given. */
  readonly id?: TerminalId | undefined;
  /** Initial number of rows (default 24). */
  readonly rows?: number | undefined;
  /** Value of `TERM` (default `xterm-256color`). */
  readonly term?: string | undefined;
  /** User inside the sandbox: a name or an id, optionally with `:group`. */
  readonly user?: string | undefined;
}

/**
 * Gets or creates a sandbox. Omitted options take their defaults in a new sandbox, and match any value of an
 * existing one.
 */
export interface SandboxOptions {
  /** Environment variables of every command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Isolation of the sandbox. */
  readonly isolation?: Isolation | undefined;
  /** Never stop the sandbox for lack of use, regardless of `sleep_after_ms`. */
  readonly keepAlive?: boolean | undefined;
  /** Labels to find it by. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Resource limits. */
  readonly limits?: SandboxLimits | undefined;
  /** Initial egress policy; no network access if not given. */
  readonly network?: NetworkPolicy | undefined;
  /** Stop the sandbox after this time without use. 0 means never. */
  readonly sleepAfterMs?: number | undefined;
}

/** Changes options of an existing sandbox. Omitted options stay as they are. */
export interface SandboxChanges {
  /** Never stop the sandbox for lack of use. */
  readonly keepAlive?: boolean | undefined;
  /** Labels to set; `null` removes one. */
  readonly labels?: Readonly<Record<string, string | null>> | undefined;
  /** Stop the sandbox after this time without use. 0 means never. */
  readonly sleepAfterMs?: number | undefined;
}

/** Exposes a port. Omitted options stay as they are, or take their defaults if the port is not exposed yet. */
export interface ExposeOptions {
  /** Whether the program inside receives the full path of a path URL, including `/preview/…` (default false). */
  readonly keepPrefix?: boolean | undefined;
  /** Display name. */
  readonly name?: string | undefined;
  /**
   * Secret part of the URL: 1 to 32 characters of `a-z`, `0-9` and `_`. Generated if not given; short ones can be
   * guessed.
   */
  readonly token?: string | undefined;
  /** Who may open the preview (default `public`). */
  readonly visibility?: Visibility | undefined;
  /** Whether a request wakes a stopped sandbox (default false). */
  readonly wake?: boolean | undefined;
}

/** Creates a directory. */
export interface MakeDirectoryOptions {
  /** Permission bits in octal (default 0755). */
  readonly mode?: string | undefined;
  /** Create missing parent directories, too, and do not fail if the directory exists. */
  readonly parents?: boolean | undefined;
  /** User to create it as. */
  readonly user?: string | undefined;
}

/** Renames, moves or copies a file or directory. */
export interface RenameOptions {
  /** Create missing parent directories of the destination. */
  readonly parents?: boolean | undefined;
  /** Replace the destination if it exists; a copy merges directories. */
  readonly replace?: boolean | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** Renames, moves or copies a file or directory. */
export interface CopyOptions {
  /** Create missing parent directories of the destination. */
  readonly parents?: boolean | undefined;
  /** Copy directories with their content; for copies only. */
  readonly recursive?: boolean | undefined;
  /** Replace the destination if it exists; a copy merges directories. */
  readonly replace?: boolean | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** Sets permission bits. */
export interface ModeOptions {
  /** Apply to everything in the directory, too. */
  readonly recursive?: boolean | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** Creates a symbolic link. */
export interface SymlinkOptions {
  /** Create missing parent directories. */
  readonly parents?: boolean | undefined;
  /** Replace an existing file, but not a directory. */
  readonly replace?: boolean | undefined;
  /** User to do it as. */
  readonly user?: string | undefined;
}

/** Searches the files below a directory. */
export interface SearchOptions {
  /** Number of context lines after each match. */
  readonly after?: number | undefined;
  /** Number of context lines before each match. */
  readonly before?: number | undefined;
  /** How to search binary files. */
  readonly binary?: SearchBinary | undefined;
  /** Whether case matters. */
  readonly case?: SearchCase | undefined;
  /** Maximum depth; unlimited if not given. */
  readonly depth?: number | undefined;
  /** How much detail to return. */
  readonly detail?: SearchDetail | undefined;
  /** Globs of files to leave out. */
  readonly exclude?: readonly string[] | undefined;
  /** Search hidden files, too: names that begin with a dot. */
  readonly hidden?: boolean | undefined;
  /** Search files that `.gitignore` and `.ignore` exclude, too. */
  readonly ignored?: boolean | undefined;
  /** Globs of files to search; all files if empty. A glob without a slash matches names at any depth. */
  readonly include?: readonly string[] | undefined;
  /** Maximum number of bytes to return (default 16 MiB). */
  readonly maxBytes?: number | undefined;
  /** Maximum number of matches (default 10000). */
  readonly maxMatches?: number | undefined;
  /** Maximum number of matches per file. */
  readonly maxMatchesPerFile?: number | undefined;
  /** Sort results by path, which makes them reproducible and the search slower. */
  readonly sorted?: boolean | undefined;
  /** How the pattern is interpreted. */
  readonly syntax?: SearchSyntax | undefined;
  /** Time limit (default 60 s). */
  readonly timeout?: number | undefined;
  /** User to search as. */
  readonly user?: string | undefined;
  /** Match only whole words. */
  readonly words?: boolean | undefined;
}

/** Finds files below a directory by name. */
export interface GlobOptions {
  /** Maximum depth; unlimited if not given. */
  readonly depth?: number | undefined;
  /** Globs of files to leave out. */
  readonly exclude?: readonly string[] | undefined;
  /** Include hidden files: names that begin with a dot. */
  readonly hidden?: boolean | undefined;
  /** Include files that `.gitignore` and `.ignore` exclude. */
  readonly ignored?: boolean | undefined;
  /** Maximum number of results (default 10000). */
  readonly maxMatches?: number | undefined;
  /** Time limit (default 60 s). */
  readonly timeout?: number | undefined;
  /** User to search as. */
  readonly user?: string | undefined;
}

/** Creates a watch. */
export interface WatchOptions {
  /** Maximum number of directories to watch (default 65536). */
  readonly directories?: number | undefined;
  /** Globs of files to leave out; matching directories are not watched. */
  readonly exclude?: readonly string[] | undefined;
  /** Start with `created` events for existing files. */
  readonly existing?: boolean | undefined;
  /** Id of the watch; generated if not given. */
  readonly id?: WatchId | undefined;
  /** Globs of files to report, in `.gitignore` syntax; all files if empty. */
  readonly include?: readonly string[] | undefined;
  /** Watch subdirectories, too. */
  readonly recursive?: boolean | undefined;
  /** User to watch as. */
  readonly user?: string | undefined;
}

/** Clones a repository. */
export interface GitCloneOptions {
  /** Branch or tag to check out; the remote's default branch if not given. */
  readonly branch?: string | undefined;
  /** Credentials for the remote, if it requires them. */
  readonly credentials?: GitCredentials | undefined;
  /** Number of commits of history to fetch; all if not given. */
  readonly depth?: number | undefined;
  /** Directory to clone into; by default named after the repository, below `/workspace`. */
  readonly path?: string | undefined;
  /** Time limit (default ten minutes). */
  readonly timeout?: number | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Requests the status of a repository. */
export interface GitStatusOptions {
  /** Include ignored files. */
  readonly ignored?: boolean | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Requests a diff. */
export interface GitDiffOptions {
  /** Number of context lines around each change (default 3). */
  readonly context?: number | undefined;
  /** Limit the diff to these paths. */
  readonly paths?: readonly string[] | undefined;
  /** Compare the index with the last commit, instead of the working tree with the index. */
  readonly staged?: boolean | undefined;
  /** The other commit. */
  readonly to?: string | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Creates a commit. */
export interface GitCommitOptions {
  /** Include every change, and new files. */
  readonly all?: boolean | undefined;
  /** Create the commit even if it changes nothing. */
  readonly allowEmpty?: boolean | undefined;
  /** Author and committer; from the repository's configuration if not given. */
  readonly author?: GitAuthor | undefined;
  /** Include the changes to these paths. */
  readonly paths?: readonly string[] | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Checks out a branch, tag or commit. */
export interface GitCheckoutOptions {
  /** Create the branch. */
  readonly create?: boolean | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Lists branches. */
export interface GitBranchesOptions {
  /** Include remote-tracking branches. */
  readonly remotes?: boolean | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Lists commits. */
export interface GitLogOptions {
  /** Maximum number of commits (default 50, at most 1000). */
  readonly limit?: number | undefined;
  /** Only commits that changed these paths. */
  readonly paths?: readonly string[] | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Pulls from a remote. */
export interface GitPullOptions {
  /** Branch to pull; the upstream branch if not given. */
  readonly branch?: string | undefined;
  /** Credentials for the remote, if it requires them. */
  readonly credentials?: GitCredentials | undefined;
  /** Remote to pull from (default `origin`). */
  readonly remote?: string | undefined;
  /** Time limit (default ten minutes). */
  readonly timeout?: number | undefined;
  /** User to run git as. */
  readonly user?: string | undefined;
}

/** Pushes to a remote. */
export interface GitPushOptions {
  /** Branch to push; the current branch if not given. */
  readonly branch?: string | undefined;
  /** Credentials for the remote, if it requires them. */
  readonly credentials?: GitCredentials | undefined;
  /** Replace commits on the remote, unless another client has pushed in the meantime. */
  readonly force?: boolean | undefined;
  /** Remote to push to (default `origin`). */
  readonly remote?: string | undefined;
  /** Set the remote branch as upstream. */
  readonly setUpstream?: boolean | undefined;
  /** Time limit (default ten minutes). */
  readonly timeout?: number | undefined;
  /** User to run git as. */
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
