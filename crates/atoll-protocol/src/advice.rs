//! What to do about each error code, for people: the page of codes is made of it. What an error itself hints at is nearer
//! to the case at hand, and is said by whoever made the error.

use crate::ErrorCode;

impl ErrorCode {
    /// What to do about it, in a sentence or two. `None` is a code for which nobody has written any yet.
    pub fn advice(self) -> Option<&'static str> {
        ADVICE.iter().find(|(code, _)| *code == self).map(|(_, advice)| *advice)
    }
}

const ADVICE: &[(ErrorCode, &str)] = &[
    (
        ErrorCode::Unauthorized,
        "Send `Authorization: Bearer TOKEN`. The first token is in the server's state directory; `atoll token \
         create` makes others. A revoked or expired one is refused like a wrong one.",
    ),
    (
        ErrorCode::Forbidden,
        "Make a token whose scope names this sandbox and this verb: `read`, `exec` and `admin` do not include \
         each other.",
    ),
    (
        ErrorCode::RouteNotFound,
        "Look the path up in `/openapi.json` or in http-api.md. What is inside a sandbox is below \
         `/v1/sandboxes/NAME/`.",
    ),
    (ErrorCode::MethodNotAllowed, "The path is right; see http-api.md for the method."),
    (ErrorCode::BodyTooLarge, "Send large content as a file (`PUT …/files/content` has no limit), not within JSON."),
    (ErrorCode::UpgradeRequired, "Ask with a WebSocket client."),
    (
        ErrorCode::UnsupportedMediaType,
        "Send `Content-Type: application/json`, or what http-api.md names for this path.",
    ),
    (ErrorCode::RateLimited, "Wait for as long as `Retry-After` says; the SDKs do. `atoll serve --rate` allows more."),
    (
        ErrorCode::IdempotencyConflict,
        "Use a new key for a new request; the same key means the same request, for 24 hours.",
    ),
    (ErrorCode::TokenNotFound, "List tokens for their ids: the id is the middle part of a token, not the whole."),
    (ErrorCode::TokenLimit, "Revoke tokens that are not used, or let them expire."),
    (
        ErrorCode::SandboxNotFound,
        "Create it: `PUT /v1/sandboxes/NAME` gets or creates. `atoll exec` does so by itself.",
    ),
    (ErrorCode::SandboxDiffers, "Leave out the options that `details.differences` lists, or delete the sandbox first."),
    (ErrorCode::SandboxPaused, "Resume it."),
    (ErrorCode::SandboxStopped, "Use it or start it first: a stopped sandbox has nothing to pause."),
    (ErrorCode::SandboxLimit, "Delete sandboxes that are not used, or raise `atoll serve --max-sandboxes`."),
    (
        ErrorCode::AgentUnavailable,
        "Ask again: the next use starts the agent anew. A command may or may not have run; with an `id` of yours \
         asking again is safe. The reason is in `agent.log` of the sandbox.",
    ),
    (ErrorCode::ShuttingDown, "Ask again in a moment; the SDKs do."),
    (ErrorCode::ServerUnreachable, "Start one with `atoll serve`, or name the right one: `ATOLL_SERVER`, `--server`."),
    (ErrorCode::TooManyConnections, "Close streams and WebSockets that are not read any more."),
    (ErrorCode::ValidationFailed, "The message names the field and what is wrong with it. Nothing was done."),
    (
        ErrorCode::CommandNotFound,
        "`argv` runs a program directly: give a shell string for builtins and pipes. Is the program installed \
         inside?",
    ),
    (ErrorCode::NotExecutable, "Set its mode (`chmod +x`), check its `#!` line, or name the interpreter yourself."),
    (
        ErrorCode::CwdNotFound,
        "Make the directory first; relative ones are below `/workspace`. The command's user must be able to \
         enter each directory above it.",
    ),
    (
        ErrorCode::UserNotFound,
        "Name a user of the sandbox's own `/etc/passwd`, or a number. Where Atoll runs as an ordinary user, only \
         root exists inside.",
    ),
    (ErrorCode::ArgumentsTooLong, "Pass large data on standard input or as a file."),
    (
        ErrorCode::ProcessNotFound,
        "List processes for their ids. One that has ended is forgotten when it is removed or too many came after it.",
    ),
    (
        ErrorCode::ProcessAlreadyExists,
        "Repeat exactly the same command to get the process that is there, or choose another id.",
    ),
    (ErrorCode::ProcessEnded, "Read its end record and its log. To remove one that has not ended, kill it first."),
    (ErrorCode::ProcessLimit, "Remove ended processes, or kill some."),
    (ErrorCode::StdinNotOpen, "Start it with `stdin: \"pipe\"`, and write before closing."),
    (ErrorCode::StdinGap, "Go on at `details.next_offset`."),
    (ErrorCode::SessionNotFound, "Create it first: no session is made behind your back."),
    (ErrorCode::SessionAlreadyExists, "Use the one that is there, choose another id, or delete it first."),
    (
        ErrorCode::SessionTerminated,
        "Its shell has ended; `details.end` says how. Restart it, from its last snapshot or from nothing, or \
         delete it.",
    ),
    (ErrorCode::SessionAlive, "There is nothing to restart. To begin from nothing, delete it and create it again."),
    (
        ErrorCode::SessionBusy,
        "Wait for some of its commands, cancel them, or use another session: sessions run beside each other.",
    ),
    (ErrorCode::SessionLimit, "Delete sessions that are not used."),
    (
        ErrorCode::SessionTooLarge,
        "Unset large variables, or keep their content in files. Until then a reset or restart begins with the last snapshot.",
    ),
    (ErrorCode::CommandCancelled, "Somebody took it out of the queue. It was not run."),
    (
        ErrorCode::ShellNotSupported,
        "A session needs a bash that can load builtins. Commands without a session need only `sh`.",
    ),
    (ErrorCode::TerminalNotFound, "Open it; attaching by WebSocket opens one by itself, unless `open=false`."),
    (ErrorCode::TerminalAlreadyExists, "Open it with the same program, choose another id, or delete it first."),
    (ErrorCode::TerminalEnded, "Open it again: a new program takes the id."),
    (ErrorCode::TerminalReadOnly, "Attach without `read_only`."),
    (ErrorCode::PortClosed, "Start a server inside that listens on it, on any address; wait for it with a port wait."),
    (
        ErrorCode::PreviewNotFound,
        "Expose the port and use the URL that you are told. After a rotate or an unexpose the old one leads nowhere.",
    ),
    (ErrorCode::PreviewAsleep, "Use the sandbox, and it wakes; or expose the port with `wake`."),
    (ErrorCode::PreviewBusy, "Try again when some requests have ended."),
    (ErrorCode::PreviewBroken, "Look into the program's log: it closed the connection before it had answered."),
    (ErrorCode::PreviewLimit, "Unexpose ports that are not needed."),
    (ErrorCode::Misdirected, "Ask the API under the server's own name, and previews at the port for previews."),
    (ErrorCode::WaitTimeout, "Wait again, for longer; the process goes on. Its log says what it does meanwhile."),
    (
        ErrorCode::LimitUnavailable,
        "Run as root or in a delegated cgroup (operations.md). `atoll doctor` says what this host can do.",
    ),
    (
        ErrorCode::EgressUnavailable,
        "`atoll doctor` says what is missing. A sandbox with `isolation: none` has the host's network and takes \
         no rules.",
    ),
    (ErrorCode::SecretNotFound, "List secrets for their names."),
    (
        ErrorCode::IsolationUnavailable,
        "`atoll doctor` says what is missing and how to get it. `isolation: none` runs without a wall, if you \
         say so.",
    ),
    (ErrorCode::PauseUnavailable, "Run as root or in a delegated cgroup (operations.md), or stop the sandbox instead."),
    (ErrorCode::StorageBusy, "End the sandbox that uses the storage first."),
    (ErrorCode::SandboxGone, "Make a new sandbox."),
    (
        ErrorCode::FileNotFound,
        "Check the path; relative ones are below `/workspace`. `parents` makes missing directories of a write.",
    ),
    (
        ErrorCode::FileExists,
        "Choose another name, remove what is there, or say `replace` where there is such an option.",
    ),
    (ErrorCode::IsDirectory, "Name a file, or use `recursive` where there is such an option."),
    (ErrorCode::NotDirectory, "Some part of the path is a file."),
    (ErrorCode::NotRegularFile, "Read and write fifos, sockets and devices by a command inside."),
    (ErrorCode::DirectoryNotEmpty, "Remove it with `recursive`."),
    (ErrorCode::PermissionDenied, "Ask as a user who may (`user`), or change the mode."),
    (ErrorCode::NoSpace, "Remove files inside, or make room on the disk that holds the sandbox."),
    (ErrorCode::FileTooLarge, "Split it: the file system has a limit."),
    (ErrorCode::ReadOnly, "Write below `/workspace`, `/tmp` or the home directory."),
    (ErrorCode::NameTooLong, "Shorten it."),
    (ErrorCode::TooManyLinks, "Look at the links on the way: they lead in a circle."),
    (ErrorCode::PathEscapes, "Name a path below the directory; `..` and links may not lead out of it."),
    (ErrorCode::CrossDevice, "Use move instead of rename: it copies where it must."),
    (ErrorCode::ResourceBusy, "End what uses it."),
    (ErrorCode::TooManyFiles, "Close files inside, or raise the limit on open files."),
    (ErrorCode::PreconditionFailed, "Read the file again, look at what has changed, and write with its new tag."),
    (ErrorCode::RangeNotSatisfiable, "Ask for its size first (`stat`)."),
    (
        ErrorCode::ContentMismatch,
        "Nothing was changed. Read the file, and give the text or the patch for what is there now.",
    ),
    (ErrorCode::FileLimit, "Ask for less, or for a stream, or raise the limit in the request."),
    (ErrorCode::OperationInterrupted, "Somebody called it off. Look at what is there, and ask again."),
    (ErrorCode::FilesystemUnsupported, "Use another file system for the sandbox's storage, or do without."),
    (ErrorCode::FilesystemError, "The kernel's log on the host may say more."),
    (ErrorCode::WatchNotFound, "Make it again, and list the tree for what happened meanwhile."),
    (ErrorCode::WatchAlreadyExists, "Go on with the one that is there, choose another id, or delete it first."),
    (ErrorCode::WatchLimit, "Delete watches that are not read any more."),
    (ErrorCode::CursorTooOld, "List the tree for what is there, and go on from the cursor in `details`."),
    (ErrorCode::GitNotAvailable, "Install git inside."),
    (ErrorCode::GitFailed, "The message has git's own words."),
    (ErrorCode::GitAuthenticationFailed, "Give `credentials` for this server: a name, and a password or token."),
    (
        ErrorCode::GitConfigRefused,
        "Remove the key inside (`git config --unset-all KEY`), or run git as a command inside.",
    ),
    (ErrorCode::GitTimeout, "Give it more time (`timeout_ms`), or fetch less (`depth`)."),
    (ErrorCode::DiskFull, "Make room on the disk that holds Atoll's state. What was refused was not done."),
    (ErrorCode::DiskReadOnly, "Mount the disk for writing; the kernel's log says why it is not."),
    (
        ErrorCode::Internal,
        "The message says whether the command ran. If it is not the machine's fault, please report it with the \
         `x-request-id`.",
    ),
];
