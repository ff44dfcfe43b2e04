// A class for each code with which the server refuses.
//
// Written by `sdk/generate` from the API's description; changes are lost.

import { RefusedError } from "./failure.js";

/** The server refused with `UNAUTHORIZED`. */
export class UnauthorizedError extends RefusedError {}

/** The server refused with `FORBIDDEN`. */
export class ForbiddenError extends RefusedError {}

/** The server refused with `ROUTE_NOT_FOUND`. */
export class RouteNotFoundError extends RefusedError {}

/** The server refused with `METHOD_NOT_ALLOWED`. */
export class MethodNotAllowedError extends RefusedError {}

/** The server refused with `BODY_TOO_LARGE`. */
export class BodyTooLargeError extends RefusedError {}

/** The server refused with `UPGRADE_REQUIRED`. */
export class UpgradeRequiredError extends RefusedError {}

/** The server refused with `UNSUPPORTED_MEDIA_TYPE`. */
export class UnsupportedMediaTypeError extends RefusedError {}

/** The server refused with `RATE_LIMITED`. */
export class RateLimitedError extends RefusedError {}

/** The server refused with `IDEMPOTENCY_CONFLICT`. */
export class IdempotencyConflictError extends RefusedError {}

/** The server refused with `TOKEN_NOT_FOUND`. */
export class TokenNotFoundError extends RefusedError {}

/** The server refused with `TOKEN_LIMIT`. */
export class TokenLimitError extends RefusedError {}

/** The server refused with `SANDBOX_NOT_FOUND`. */
export class SandboxNotFoundError extends RefusedError {}

/** The server refused with `SANDBOX_DIFFERS`. */
export class SandboxDiffersError extends RefusedError {}

/** The server refused with `SANDBOX_PAUSED`. */
export class SandboxPausedError extends RefusedError {}

/** The server refused with `SANDBOX_STOPPED`. */
export class SandboxStoppedError extends RefusedError {}

/** The server refused with `SANDBOX_LIMIT`. */
export class SandboxLimitError extends RefusedError {}

/** The server refused with `AGENT_UNAVAILABLE`. */
export class AgentUnavailableError extends RefusedError {}

/** The server refused with `SHUTTING_DOWN`. */
export class ShuttingDownError extends RefusedError {}

/** The server refused with `SERVER_UNREACHABLE`. */
export class ServerUnreachableError extends RefusedError {}

/** The server refused with `TOO_MANY_CONNECTIONS`. */
export class TooManyConnectionsError extends RefusedError {}

/** The server refused with `VALIDATION_FAILED`. */
export class ValidationFailedError extends RefusedError {}

/** The server refused with `COMMAND_NOT_FOUND`. */
export class CommandNotFoundError extends RefusedError {}

/** The server refused with `NOT_EXECUTABLE`. */
export class NotExecutableError extends RefusedError {}

/** The server refused with `CWD_NOT_FOUND`. */
export class CwdNotFoundError extends RefusedError {}

/** The server refused with `USER_NOT_FOUND`. */
export class UserNotFoundError extends RefusedError {}

/** The server refused with `ARGUMENTS_TOO_LONG`. */
export class ArgumentsTooLongError extends RefusedError {}

/** The server refused with `PROCESS_NOT_FOUND`. */
export class ProcessNotFoundError extends RefusedError {}

/** The server refused with `PROCESS_ALREADY_EXISTS`. */
export class ProcessAlreadyExistsError extends RefusedError {}

/** The server refused with `PROCESS_ENDED`. */
export class ProcessEndedError extends RefusedError {}

/** The server refused with `PROCESS_LIMIT`. */
export class ProcessLimitError extends RefusedError {}

/** The server refused with `STDIN_NOT_OPEN`. */
export class StdinNotOpenError extends RefusedError {}

/** The server refused with `STDIN_GAP`. */
export class StdinGapError extends RefusedError {}

/** The server refused with `SESSION_NOT_FOUND`. */
export class SessionNotFoundError extends RefusedError {}

/** The server refused with `SESSION_ALREADY_EXISTS`. */
export class SessionAlreadyExistsError extends RefusedError {}

/** The server refused with `SESSION_TERMINATED`. */
export class SessionTerminatedError extends RefusedError {}

/** The server refused with `SESSION_ALIVE`. */
export class SessionAliveError extends RefusedError {}

/** The server refused with `SESSION_BUSY`. */
export class SessionBusyError extends RefusedError {}

/** The server refused with `SESSION_LIMIT`. */
export class SessionLimitError extends RefusedError {}

/** The server refused with `SESSION_TOO_LARGE`. */
export class SessionTooLargeError extends RefusedError {}

/** The server refused with `COMMAND_CANCELLED`. */
export class CommandCancelledError extends RefusedError {}

/** The server refused with `SHELL_NOT_SUPPORTED`. */
export class ShellNotSupportedError extends RefusedError {}

/** The server refused with `TERMINAL_NOT_FOUND`. */
export class TerminalNotFoundError extends RefusedError {}

/** The server refused with `TERMINAL_ALREADY_EXISTS`. */
export class TerminalAlreadyExistsError extends RefusedError {}

/** The server refused with `TERMINAL_ENDED`. */
export class TerminalEndedError extends RefusedError {}

/** The server refused with `TERMINAL_READ_ONLY`. */
export class TerminalReadOnlyError extends RefusedError {}

/** The server refused with `PORT_CLOSED`. */
export class PortClosedError extends RefusedError {}

/** The server refused with `PREVIEW_NOT_FOUND`. */
export class PreviewNotFoundError extends RefusedError {}

/** The server refused with `PREVIEW_ASLEEP`. */
export class PreviewAsleepError extends RefusedError {}

/** The server refused with `PREVIEW_BUSY`. */
export class PreviewBusyError extends RefusedError {}

/** The server refused with `PREVIEW_BROKEN`. */
export class PreviewBrokenError extends RefusedError {}

/** The server refused with `PREVIEW_LIMIT`. */
export class PreviewLimitError extends RefusedError {}

/** The server refused with `MISDIRECTED`. */
export class MisdirectedError extends RefusedError {}

/** The server refused with `WAIT_TIMEOUT`. */
export class WaitTimeoutError extends RefusedError {}

/** The server refused with `LIMIT_UNAVAILABLE`. */
export class LimitUnavailableError extends RefusedError {}

/** The server refused with `EGRESS_UNAVAILABLE`. */
export class EgressUnavailableError extends RefusedError {}

/** The server refused with `SECRET_NOT_FOUND`. */
export class SecretNotFoundError extends RefusedError {}

/** The server refused with `ISOLATION_UNAVAILABLE`. */
export class IsolationUnavailableError extends RefusedError {}

/** The server refused with `PAUSE_UNAVAILABLE`. */
export class PauseUnavailableError extends RefusedError {}

/** The server refused with `STORAGE_BUSY`. */
export class StorageBusyError extends RefusedError {}

/** The server refused with `SANDBOX_GONE`. */
export class SandboxGoneError extends RefusedError {}

/** The server refused with `FILE_NOT_FOUND`. */
export class FileNotFoundError extends RefusedError {}

/** The server refused with `FILE_EXISTS`. */
export class FileExistsError extends RefusedError {}

/** The server refused with `IS_DIRECTORY`. */
export class IsDirectoryError extends RefusedError {}

/** The server refused with `NOT_DIRECTORY`. */
export class NotDirectoryError extends RefusedError {}

/** The server refused with `NOT_REGULAR_FILE`. */
export class NotRegularFileError extends RefusedError {}

/** The server refused with `DIRECTORY_NOT_EMPTY`. */
export class DirectoryNotEmptyError extends RefusedError {}

/** The server refused with `PERMISSION_DENIED`. */
export class PermissionDeniedError extends RefusedError {}

/** The server refused with `NO_SPACE`. */
export class NoSpaceError extends RefusedError {}

/** The server refused with `FILE_TOO_LARGE`. */
export class FileTooLargeError extends RefusedError {}

/** The server refused with `READ_ONLY`. */
export class ReadOnlyError extends RefusedError {}

/** The server refused with `NAME_TOO_LONG`. */
export class NameTooLongError extends RefusedError {}

/** The server refused with `TOO_MANY_LINKS`. */
export class TooManyLinksError extends RefusedError {}

/** The server refused with `PATH_ESCAPES`. */
export class PathEscapesError extends RefusedError {}

/** The server refused with `CROSS_DEVICE`. */
export class CrossDeviceError extends RefusedError {}

/** The server refused with `RESOURCE_BUSY`. */
export class ResourceBusyError extends RefusedError {}

/** The server refused with `TOO_MANY_FILES`. */
export class TooManyFilesError extends RefusedError {}

/** The server refused with `PRECONDITION_FAILED`. */
export class PreconditionFailedError extends RefusedError {}

/** The server refused with `RANGE_NOT_SATISFIABLE`. */
export class RangeNotSatisfiableError extends RefusedError {}

/** The server refused with `CONTENT_MISMATCH`. */
export class ContentMismatchError extends RefusedError {}

/** The server refused with `FILE_LIMIT`. */
export class FileLimitError extends RefusedError {}

/** The server refused with `OPERATION_INTERRUPTED`. */
export class OperationInterruptedError extends RefusedError {}

/** The server refused with `FILESYSTEM_UNSUPPORTED`. */
export class FilesystemUnsupportedError extends RefusedError {}

/** The server refused with `FILESYSTEM_ERROR`. */
export class FilesystemErrorError extends RefusedError {}

/** The server refused with `WATCH_NOT_FOUND`. */
export class WatchNotFoundError extends RefusedError {}

/** The server refused with `WATCH_ALREADY_EXISTS`. */
export class WatchAlreadyExistsError extends RefusedError {}

/** The server refused with `WATCH_LIMIT`. */
export class WatchLimitError extends RefusedError {}

/** The server refused with `CURSOR_TOO_OLD`. */
export class CursorTooOldError extends RefusedError {}

/** The server refused with `GIT_NOT_AVAILABLE`. */
export class GitNotAvailableError extends RefusedError {}

/** The server refused with `GIT_FAILED`. */
export class GitFailedError extends RefusedError {}

/** The server refused with `GIT_AUTHENTICATION_FAILED`. */
export class GitAuthenticationFailedError extends RefusedError {}

/** The server refused with `GIT_CONFIG_REFUSED`. */
export class GitConfigRefusedError extends RefusedError {}

/** The server refused with `GIT_TIMEOUT`. */
export class GitTimeoutError extends RefusedError {}

/** The server refused with `DISK_FULL`. */
export class DiskFullError extends RefusedError {}

/** The server refused with `DISK_READ_ONLY`. */
export class DiskReadOnlyError extends RefusedError {}

/** The server refused with `INTERNAL`. */
export class InternalError extends RefusedError {}

export const byCode: Readonly<Record<string, typeof RefusedError>> = {
  UNAUTHORIZED: UnauthorizedError,
  FORBIDDEN: ForbiddenError,
  ROUTE_NOT_FOUND: RouteNotFoundError,
  METHOD_NOT_ALLOWED: MethodNotAllowedError,
  BODY_TOO_LARGE: BodyTooLargeError,
  UPGRADE_REQUIRED: UpgradeRequiredError,
  UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaTypeError,
  RATE_LIMITED: RateLimitedError,
  IDEMPOTENCY_CONFLICT: IdempotencyConflictError,
  TOKEN_NOT_FOUND: TokenNotFoundError,
  TOKEN_LIMIT: TokenLimitError,
  SANDBOX_NOT_FOUND: SandboxNotFoundError,
  SANDBOX_DIFFERS: SandboxDiffersError,
  SANDBOX_PAUSED: SandboxPausedError,
  SANDBOX_STOPPED: SandboxStoppedError,
  SANDBOX_LIMIT: SandboxLimitError,
  AGENT_UNAVAILABLE: AgentUnavailableError,
  SHUTTING_DOWN: ShuttingDownError,
  SERVER_UNREACHABLE: ServerUnreachableError,
  TOO_MANY_CONNECTIONS: TooManyConnectionsError,
  VALIDATION_FAILED: ValidationFailedError,
  COMMAND_NOT_FOUND: CommandNotFoundError,
  NOT_EXECUTABLE: NotExecutableError,
  CWD_NOT_FOUND: CwdNotFoundError,
  USER_NOT_FOUND: UserNotFoundError,
  ARGUMENTS_TOO_LONG: ArgumentsTooLongError,
  PROCESS_NOT_FOUND: ProcessNotFoundError,
  PROCESS_ALREADY_EXISTS: ProcessAlreadyExistsError,
  PROCESS_ENDED: ProcessEndedError,
  PROCESS_LIMIT: ProcessLimitError,
  STDIN_NOT_OPEN: StdinNotOpenError,
  STDIN_GAP: StdinGapError,
  SESSION_NOT_FOUND: SessionNotFoundError,
  SESSION_ALREADY_EXISTS: SessionAlreadyExistsError,
  SESSION_TERMINATED: SessionTerminatedError,
  SESSION_ALIVE: SessionAliveError,
  SESSION_BUSY: SessionBusyError,
  SESSION_LIMIT: SessionLimitError,
  SESSION_TOO_LARGE: SessionTooLargeError,
  COMMAND_CANCELLED: CommandCancelledError,
  SHELL_NOT_SUPPORTED: ShellNotSupportedError,
  TERMINAL_NOT_FOUND: TerminalNotFoundError,
  TERMINAL_ALREADY_EXISTS: TerminalAlreadyExistsError,
  TERMINAL_ENDED: TerminalEndedError,
  TERMINAL_READ_ONLY: TerminalReadOnlyError,
  PORT_CLOSED: PortClosedError,
  PREVIEW_NOT_FOUND: PreviewNotFoundError,
  PREVIEW_ASLEEP: PreviewAsleepError,
  PREVIEW_BUSY: PreviewBusyError,
  PREVIEW_BROKEN: PreviewBrokenError,
  PREVIEW_LIMIT: PreviewLimitError,
  MISDIRECTED: MisdirectedError,
  WAIT_TIMEOUT: WaitTimeoutError,
  LIMIT_UNAVAILABLE: LimitUnavailableError,
  EGRESS_UNAVAILABLE: EgressUnavailableError,
  SECRET_NOT_FOUND: SecretNotFoundError,
  ISOLATION_UNAVAILABLE: IsolationUnavailableError,
  PAUSE_UNAVAILABLE: PauseUnavailableError,
  STORAGE_BUSY: StorageBusyError,
  SANDBOX_GONE: SandboxGoneError,
  FILE_NOT_FOUND: FileNotFoundError,
  FILE_EXISTS: FileExistsError,
  IS_DIRECTORY: IsDirectoryError,
  NOT_DIRECTORY: NotDirectoryError,
  NOT_REGULAR_FILE: NotRegularFileError,
  DIRECTORY_NOT_EMPTY: DirectoryNotEmptyError,
  PERMISSION_DENIED: PermissionDeniedError,
  NO_SPACE: NoSpaceError,
  FILE_TOO_LARGE: FileTooLargeError,
  READ_ONLY: ReadOnlyError,
  NAME_TOO_LONG: NameTooLongError,
  TOO_MANY_LINKS: TooManyLinksError,
  PATH_ESCAPES: PathEscapesError,
  CROSS_DEVICE: CrossDeviceError,
  RESOURCE_BUSY: ResourceBusyError,
  TOO_MANY_FILES: TooManyFilesError,
  PRECONDITION_FAILED: PreconditionFailedError,
  RANGE_NOT_SATISFIABLE: RangeNotSatisfiableError,
  CONTENT_MISMATCH: ContentMismatchError,
  FILE_LIMIT: FileLimitError,
  OPERATION_INTERRUPTED: OperationInterruptedError,
  FILESYSTEM_UNSUPPORTED: FilesystemUnsupportedError,
  FILESYSTEM_ERROR: FilesystemErrorError,
  WATCH_NOT_FOUND: WatchNotFoundError,
  WATCH_ALREADY_EXISTS: WatchAlreadyExistsError,
  WATCH_LIMIT: WatchLimitError,
  CURSOR_TOO_OLD: CursorTooOldError,
  GIT_NOT_AVAILABLE: GitNotAvailableError,
  GIT_FAILED: GitFailedError,
  GIT_AUTHENTICATION_FAILED: GitAuthenticationFailedError,
  GIT_CONFIG_REFUSED: GitConfigRefusedError,
  GIT_TIMEOUT: GitTimeoutError,
  DISK_FULL: DiskFullError,
  DISK_READ_ONLY: DiskReadOnlyError,
  INTERNAL: InternalError,
};

for (const [code, kind] of Object.entries(byCode)) {
  const name = code.toLowerCase().replace(/(^|_)([a-z])/g, (_, _gap, letter: string) => letter.toUpperCase()) + "Error";
  Object.defineProperty(kind.prototype, "name", { value: name, configurable: true, writable: true });
}
