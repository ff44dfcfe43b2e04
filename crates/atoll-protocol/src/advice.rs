//! Advice for each error code, from which the page of error codes is generated. The hint of a single error is more
//! specific, and comes from the code that raised it.

use crate::ErrorCode;

impl ErrorCode {
    /// Returns what to do about the error, in a sentence or two, or `None` if the table has no entry for the code.
    pub fn advice(self) -> Option<&'static str> {
        ADVICE.iter().find(|(code, _)| *code == self).map(|(_, advice)| *advice)
    }
}

const ADVICE: &[(ErrorCode, &str)] = &[
    (
        ErrorCode::Unauthorized,
        "Send `Authorization: Bearer TOKEN`. The first token is in the server's state directory; `atoll token \
         create` creates more. Revoked and expired tokens are refused, too.",
    ),
    (
        ErrorCode::Forbidden,
        "Create a token whose scopes include this sandbox and this verb: none of `read`, `exec` and `admin` \
         includes another.",
    ),
    (
        ErrorCode::RouteNotFound,
        "Look up the path in `/openapi.json` or in http-api.md. Routes inside a sandbox are below \
         `/v1/sandboxes/NAME/`.",
    ),
    (ErrorCode::MethodNotAllowed, "Look up the method of this path in http-api.md."),
    (
        ErrorCode::BodyTooLarge,
        "Upload large content as a file (`PUT …/files/content` has no limit) instead of in a JSON body.",
    ),
    (ErrorCode::UpgradeRequired, "Use a WebSocket client."),
    (
        ErrorCode::UnsupportedMediaType,
        "Send `Content-Type: application/json`, or the type that http-api.md names for this path.",
    ),
    (
        ErrorCode::RateLimited,
        "Wait for the time in `Retry-After`; the SDKs do this automatically. Raise the limit with `atoll serve \
         --rate`.",
    ),
    (ErrorCode::IdempotencyConflict, "Use a new key for a new request. A key stands for one request for 24 hours."),
    (
        ErrorCode::TokenNotFound,
        "List tokens to get their ids: the id is the middle part of a token, not the whole token.",
    ),
    (ErrorCode::TokenLimit, "Revoke unused tokens, or wait until some expire."),
    (
        ErrorCode::SandboxNotFound,
        "Create it with `PUT /v1/sandboxes/NAME`, which gets or creates. `atoll exec` does this automatically.",
    ),
    (ErrorCode::SandboxDiffers, "Leave out the options that `details.differences` lists, or delete the sandbox first."),
    (ErrorCode::SandboxPaused, "Resume the sandbox."),
    (
        ErrorCode::SandboxStopped,
        "Start the sandbox or run a command in it first: a stopped sandbox has nothing to pause.",
    ),
    (ErrorCode::SandboxLimit, "Delete unused sandboxes, or raise `atoll serve --max-sandboxes`."),
    (
        ErrorCode::AgentUnavailable,
        "Retry: the next request restarts the agent. The command may or may not have run; a retry is safe if you \
         choose the command's `id` yourself. The reason is in the sandbox's `agent.log`.",
    ),
    (ErrorCode::ShuttingDown, "Retry in a moment; the SDKs do this automatically."),
    (
        ErrorCode::ServerUnreachable,
        "Start a server with `atoll serve`, or set the right address with `ATOLL_SERVER` or `--server`.",
    ),
    (ErrorCode::TooManyConnections, "Close streams and WebSockets that you no longer read."),
    (ErrorCode::ValidationFailed, "Correct the field that the message names. Nothing was done."),
    (
        ErrorCode::CommandNotFound,
        "Install the program inside the sandbox. To use builtins and pipes, pass a shell string as `command`: \
         `argv` runs a program directly.",
    ),
    (
        ErrorCode::NotExecutable,
        "Set the file's mode (`chmod +x`), check its `#!` line, or name the interpreter in the command.",
    ),
    (
        ErrorCode::CwdNotFound,
        "Create the directory first; relative paths are below `/workspace`. The command's user must be able to \
         enter each parent directory.",
    ),
    (
        ErrorCode::UserNotFound,
        "Name a user from the sandbox's `/etc/passwd`, or a user id. Where Atoll runs as an ordinary user, only \
         root exists inside.",
    ),
    (ErrorCode::ArgumentsTooLong, "Pass large data on standard input or as a file."),
    (
        ErrorCode::ProcessNotFound,
        "List processes to get their ids. An ended process is forgotten when it is removed, or when too many \
         others ended after it.",
    ),
    (
        ErrorCode::ProcessAlreadyExists,
        "Repeat exactly the same command to get the existing process, or choose another id.",
    ),
    (
        ErrorCode::ProcessEnded,
        "Read its end record and its log. If you wanted to remove a process that has not ended, kill it first.",
    ),
    (ErrorCode::ProcessLimit, "Remove ended processes, or kill some."),
    (ErrorCode::StdinNotOpen, "Start the process with `stdin: \"pipe\"`, and write before you close it."),
    (ErrorCode::StdinGap, "Continue writing at `details.next_offset`."),
    (ErrorCode::SessionNotFound, "Create the session first: sessions are never created implicitly."),
    (ErrorCode::SessionAlreadyExists, "Use the existing session, choose another id, or delete it first."),
    (
        ErrorCode::SessionTerminated,
        "Restart the session, from its last snapshot or from scratch, or delete it. `details.end` says how its \
         shell ended.",
    ),
    (ErrorCode::SessionAlive, "Keep using the session. To start from scratch, delete it and create it again."),
    (
        ErrorCode::SessionBusy,
        "Wait for queued commands, cancel some, or use another session: sessions run in parallel.",
    ),
    (ErrorCode::SessionLimit, "Delete unused sessions."),
    (
        ErrorCode::SessionTooLarge,
        "Unset large variables, or keep their content in files. Until then a reset or restart begins with the last snapshot.",
    ),
    (
        ErrorCode::CommandCancelled,
        "Run the command again if you still need it: a client cancelled it while it was queued, so it did not run.",
    ),
    (ErrorCode::ShellNotSupported, "Install a bash that can load builtins. Commands outside sessions need only `sh`."),
    (
        ErrorCode::TerminalNotFound,
        "Open the terminal. Attaching with a WebSocket opens it automatically, unless you pass `open=false`.",
    ),
    (ErrorCode::TerminalAlreadyExists, "Open it with the same program, choose another id, or delete it first."),
    (ErrorCode::TerminalEnded, "Open the terminal again: a new program takes over the id."),
    (ErrorCode::TerminalReadOnly, "Attach without `read_only`."),
    (
        ErrorCode::PortClosed,
        "Start a server inside that listens on the port, on any address. Use a port wait to wait until it does.",
    ),
    (
        ErrorCode::PreviewNotFound,
        "Expose the port and use the returned URL. After a rotate or an unexpose the old URL no longer works.",
    ),
    (ErrorCode::PreviewAsleep, "Run a command in the sandbox to wake it, or expose the port with `wake`."),
    (ErrorCode::PreviewBusy, "Retry when some requests have finished."),
    (ErrorCode::PreviewBroken, "Check the program's log: it closed the connection before it responded."),
    (ErrorCode::PreviewLimit, "Unexpose ports that you no longer need."),
    (
        ErrorCode::Misdirected,
        "Send API requests to the server's own host name, and preview requests to the preview port.",
    ),
    (
        ErrorCode::WaitTimeout,
        "Wait again, with a longer timeout; the process keeps running. Its log shows what it is doing.",
    ),
    (
        ErrorCode::LimitUnavailable,
        "Run Atoll as root or in a delegated cgroup (operations.md). `atoll doctor` shows what this host supports.",
    ),
    (
        ErrorCode::EgressUnavailable,
        "Run `atoll doctor` to see what is missing. A sandbox with `isolation: none` uses the host's network and \
         accepts no rules.",
    ),
    (ErrorCode::SecretNotFound, "List secrets to get their names."),
    (
        ErrorCode::IsolationUnavailable,
        "Run `atoll doctor` to see what is missing and how to get it. To run without isolation, request \
         `isolation: none`.",
    ),
    (
        ErrorCode::PauseUnavailable,
        "Run Atoll as root or in a delegated cgroup (operations.md), or stop the sandbox instead.",
    ),
    (ErrorCode::StorageBusy, "Delete or stop the sandbox that uses the storage first."),
    (ErrorCode::SandboxGone, "Create a new sandbox."),
    (
        ErrorCode::FileNotFound,
        "Check the path; relative paths are below `/workspace`. When writing, `parents` creates missing directories.",
    ),
    (
        ErrorCode::FileExists,
        "Choose another name, remove the existing file, or pass `replace` where the request supports it.",
    ),
    (ErrorCode::IsDirectory, "Name a file, or pass `recursive` where the request supports it."),
    (ErrorCode::NotDirectory, "Check the path: one of its components is a file."),
    (ErrorCode::NotRegularFile, "Use a command inside to read and write fifos, sockets and devices."),
    (ErrorCode::DirectoryNotEmpty, "Remove it with `recursive`."),
    (ErrorCode::PermissionDenied, "Set `user` to a user with permission, or change the file's mode."),
    (ErrorCode::NoSpace, "Remove files inside, or free space on the disk that holds the sandbox."),
    (ErrorCode::FileTooLarge, "Split the file: the file system has a size limit."),
    (ErrorCode::ReadOnly, "Write below `/workspace`, `/tmp` or the home directory."),
    (ErrorCode::NameTooLong, "Shorten it."),
    (ErrorCode::TooManyLinks, "Check the symbolic links in the path: they form a loop."),
    (ErrorCode::PathEscapes, "Name a path below the directory; `..` and links must not lead outside it."),
    (ErrorCode::CrossDevice, "Use move instead of rename: move copies between file systems."),
    (ErrorCode::ResourceBusy, "Stop the process that uses the file."),
    (ErrorCode::TooManyFiles, "Close files inside, or raise the limit on open files."),
    (ErrorCode::PreconditionFailed, "Read the file again, check what changed, and write with its new etag."),
    (ErrorCode::RangeNotSatisfiable, "Get the file's size first (`stat`)."),
    (
        ErrorCode::ContentMismatch,
        "Read the file, and send the text or the patch for its current content. Nothing was changed.",
    ),
    (ErrorCode::FileLimit, "Request less, use the streaming form, or raise the limit in the request."),
    (
        ErrorCode::OperationInterrupted,
        "Check the current state and send the request again: the operation was cancelled.",
    ),
    (
        ErrorCode::FilesystemUnsupported,
        "Use another file system for the sandbox's storage, or do without the operation.",
    ),
    (ErrorCode::FilesystemError, "Check the host's kernel log for details."),
    (ErrorCode::WatchNotFound, "Create the watch again, and list the tree for changes in the meantime."),
    (ErrorCode::WatchAlreadyExists, "Continue with the existing watch, choose another id, or delete it first."),
    (ErrorCode::WatchLimit, "Delete watches that you no longer read."),
    (ErrorCode::CursorTooOld, "List the tree for its current state, and continue from the cursor in `details`."),
    (ErrorCode::GitNotAvailable, "Install git inside the sandbox."),
    (ErrorCode::GitFailed, "Read git's own output in the message."),
    (ErrorCode::GitAuthenticationFailed, "Pass `credentials` for this server: a user name, and a password or token."),
    (
        ErrorCode::GitConfigRefused,
        "Remove the key inside (`git config --unset-all KEY`), or run git as a command inside.",
    ),
    (ErrorCode::GitTimeout, "Set a longer `timeout_ms`, or fetch less with `depth`."),
    (ErrorCode::DiskFull, "Free space on the disk that holds Atoll's state. The refused request had no effect."),
    (ErrorCode::DiskReadOnly, "Remount the disk for writing; the kernel log says why it is read-only."),
    (
        ErrorCode::Internal,
        "Check whether the command ran: the message says so. Unless the machine is at fault, please report the \
         error with its `x-request-id`.",
    ),
];
