"""A class for each code with which the server refuses.

Written by `sdk/generate` from the API's description; changes are lost."""

from __future__ import annotations

import builtins

from ._failure import RefusedError

__all__ = [
    "AgentUnavailableError",
    "ArgumentsTooLongError",
    "BY_CODE",
    "BodyTooLargeError",
    "CommandCancelledError",
    "CommandNotFoundError",
    "ContentMismatchError",
    "CrossDeviceError",
    "CursorTooOldError",
    "CwdNotFoundError",
    "DirectoryNotEmptyError",
    "DiskFullError",
    "DiskReadOnlyError",
    "EgressUnavailableError",
    "FileExistsError",
    "FileLimitError",
    "FileNotFoundError",
    "FileTooLargeError",
    "FilesystemErrorError",
    "FilesystemUnsupportedError",
    "ForbiddenError",
    "GitAuthenticationFailedError",
    "GitConfigRefusedError",
    "GitFailedError",
    "GitNotAvailableError",
    "GitTimeoutError",
    "IdempotencyConflictError",
    "InternalError",
    "IsDirectoryError",
    "IsolationUnavailableError",
    "LimitUnavailableError",
    "MethodNotAllowedError",
    "MisdirectedError",
    "NameTooLongError",
    "NoSpaceError",
    "NotDirectoryError",
    "NotExecutableError",
    "NotRegularFileError",
    "OperationInterruptedError",
    "PathEscapesError",
    "PauseUnavailableError",
    "PermissionDeniedError",
    "PortClosedError",
    "PreconditionFailedError",
    "PreviewAsleepError",
    "PreviewBrokenError",
    "PreviewBusyError",
    "PreviewLimitError",
    "PreviewNotFoundError",
    "ProcessAlreadyExistsError",
    "ProcessEndedError",
    "ProcessLimitError",
    "ProcessNotFoundError",
    "RangeNotSatisfiableError",
    "RateLimitedError",
    "ReadOnlyError",
    "ResourceBusyError",
    "RouteNotFoundError",
    "SandboxDiffersError",
    "SandboxGoneError",
    "SandboxLimitError",
    "SandboxNotFoundError",
    "SandboxPausedError",
    "SandboxStoppedError",
    "SecretNotFoundError",
    "ServerUnreachableError",
    "SessionAliveError",
    "SessionAlreadyExistsError",
    "SessionBusyError",
    "SessionLimitError",
    "SessionNotFoundError",
    "SessionTerminatedError",
    "SessionTooLargeError",
    "ShellNotSupportedError",
    "ShuttingDownError",
    "StdinGapError",
    "StdinNotOpenError",
    "StorageBusyError",
    "TerminalAlreadyExistsError",
    "TerminalEndedError",
    "TerminalNotFoundError",
    "TerminalReadOnlyError",
    "TokenLimitError",
    "TokenNotFoundError",
    "TooManyConnectionsError",
    "TooManyFilesError",
    "TooManyLinksError",
    "UnauthorizedError",
    "UnsupportedMediaTypeError",
    "UpgradeRequiredError",
    "UserNotFoundError",
    "ValidationFailedError",
    "WaitTimeoutError",
    "WatchAlreadyExistsError",
    "WatchLimitError",
    "WatchNotFoundError",
]


class UnauthorizedError(RefusedError):
    """The server refused with `UNAUTHORIZED`."""


class ForbiddenError(RefusedError, builtins.PermissionError):
    """The server refused with `FORBIDDEN`."""


class RouteNotFoundError(RefusedError):
    """The server refused with `ROUTE_NOT_FOUND`."""


class MethodNotAllowedError(RefusedError):
    """The server refused with `METHOD_NOT_ALLOWED`."""


class BodyTooLargeError(RefusedError):
    """The server refused with `BODY_TOO_LARGE`."""


class UpgradeRequiredError(RefusedError):
    """The server refused with `UPGRADE_REQUIRED`."""


class UnsupportedMediaTypeError(RefusedError):
    """The server refused with `UNSUPPORTED_MEDIA_TYPE`."""


class RateLimitedError(RefusedError):
    """The server refused with `RATE_LIMITED`."""


class IdempotencyConflictError(RefusedError):
    """The server refused with `IDEMPOTENCY_CONFLICT`."""


class TokenNotFoundError(RefusedError):
    """The server refused with `TOKEN_NOT_FOUND`."""


class TokenLimitError(RefusedError):
    """The server refused with `TOKEN_LIMIT`."""


class SandboxNotFoundError(RefusedError):
    """The server refused with `SANDBOX_NOT_FOUND`."""


class SandboxDiffersError(RefusedError):
    """The server refused with `SANDBOX_DIFFERS`."""


class SandboxPausedError(RefusedError):
    """The server refused with `SANDBOX_PAUSED`."""


class SandboxStoppedError(RefusedError):
    """The server refused with `SANDBOX_STOPPED`."""


class SandboxLimitError(RefusedError):
    """The server refused with `SANDBOX_LIMIT`."""


class AgentUnavailableError(RefusedError):
    """The server refused with `AGENT_UNAVAILABLE`."""


class ShuttingDownError(RefusedError):
    """The server refused with `SHUTTING_DOWN`."""


class ServerUnreachableError(RefusedError):
    """The server refused with `SERVER_UNREACHABLE`."""


class TooManyConnectionsError(RefusedError):
    """The server refused with `TOO_MANY_CONNECTIONS`."""


class ValidationFailedError(RefusedError):
    """The server refused with `VALIDATION_FAILED`."""


class CommandNotFoundError(RefusedError):
    """The server refused with `COMMAND_NOT_FOUND`."""


class NotExecutableError(RefusedError):
    """The server refused with `NOT_EXECUTABLE`."""


class CwdNotFoundError(RefusedError):
    """The server refused with `CWD_NOT_FOUND`."""


class UserNotFoundError(RefusedError):
    """The server refused with `USER_NOT_FOUND`."""


class ArgumentsTooLongError(RefusedError):
    """The server refused with `ARGUMENTS_TOO_LONG`."""


class ProcessNotFoundError(RefusedError):
    """The server refused with `PROCESS_NOT_FOUND`."""


class ProcessAlreadyExistsError(RefusedError):
    """The server refused with `PROCESS_ALREADY_EXISTS`."""


class ProcessEndedError(RefusedError):
    """The server refused with `PROCESS_ENDED`."""


class ProcessLimitError(RefusedError):
    """The server refused with `PROCESS_LIMIT`."""


class StdinNotOpenError(RefusedError):
    """The server refused with `STDIN_NOT_OPEN`."""


class StdinGapError(RefusedError):
    """The server refused with `STDIN_GAP`."""


class SessionNotFoundError(RefusedError):
    """The server refused with `SESSION_NOT_FOUND`."""


class SessionAlreadyExistsError(RefusedError):
    """The server refused with `SESSION_ALREADY_EXISTS`."""


class SessionTerminatedError(RefusedError):
    """The server refused with `SESSION_TERMINATED`."""


class SessionAliveError(RefusedError):
    """The server refused with `SESSION_ALIVE`."""


class SessionBusyError(RefusedError):
    """The server refused with `SESSION_BUSY`."""


class SessionLimitError(RefusedError):
    """The server refused with `SESSION_LIMIT`."""


class SessionTooLargeError(RefusedError):
    """The server refused with `SESSION_TOO_LARGE`."""


class CommandCancelledError(RefusedError):
    """The server refused with `COMMAND_CANCELLED`."""


class ShellNotSupportedError(RefusedError):
    """The server refused with `SHELL_NOT_SUPPORTED`."""


class TerminalNotFoundError(RefusedError):
    """The server refused with `TERMINAL_NOT_FOUND`."""


class TerminalAlreadyExistsError(RefusedError):
    """The server refused with `TERMINAL_ALREADY_EXISTS`."""


class TerminalEndedError(RefusedError):
    """The server refused with `TERMINAL_ENDED`."""


class TerminalReadOnlyError(RefusedError):
    """The server refused with `TERMINAL_READ_ONLY`."""


class PortClosedError(RefusedError):
    """The server refused with `PORT_CLOSED`."""


class PreviewNotFoundError(RefusedError):
    """The server refused with `PREVIEW_NOT_FOUND`."""


class PreviewAsleepError(RefusedError):
    """The server refused with `PREVIEW_ASLEEP`."""


class PreviewBusyError(RefusedError):
    """The server refused with `PREVIEW_BUSY`."""


class PreviewBrokenError(RefusedError):
    """The server refused with `PREVIEW_BROKEN`."""


class PreviewLimitError(RefusedError):
    """The server refused with `PREVIEW_LIMIT`."""


class MisdirectedError(RefusedError):
    """The server refused with `MISDIRECTED`."""


class WaitTimeoutError(RefusedError, builtins.TimeoutError):
    """The server refused with `WAIT_TIMEOUT`."""


class LimitUnavailableError(RefusedError):
    """The server refused with `LIMIT_UNAVAILABLE`."""


class EgressUnavailableError(RefusedError):
    """The server refused with `EGRESS_UNAVAILABLE`."""


class SecretNotFoundError(RefusedError):
    """The server refused with `SECRET_NOT_FOUND`."""


class IsolationUnavailableError(RefusedError):
    """The server refused with `ISOLATION_UNAVAILABLE`."""


class PauseUnavailableError(RefusedError):
    """The server refused with `PAUSE_UNAVAILABLE`."""


class StorageBusyError(RefusedError):
    """The server refused with `STORAGE_BUSY`."""


class SandboxGoneError(RefusedError):
    """The server refused with `SANDBOX_GONE`."""


class FileNotFoundError(RefusedError, builtins.FileNotFoundError):
    """The server refused with `FILE_NOT_FOUND`."""


class FileExistsError(RefusedError, builtins.FileExistsError):
    """The server refused with `FILE_EXISTS`."""


class IsDirectoryError(RefusedError, builtins.IsADirectoryError):
    """The server refused with `IS_DIRECTORY`."""


class NotDirectoryError(RefusedError, builtins.NotADirectoryError):
    """The server refused with `NOT_DIRECTORY`."""


class NotRegularFileError(RefusedError):
    """The server refused with `NOT_REGULAR_FILE`."""


class DirectoryNotEmptyError(RefusedError):
    """The server refused with `DIRECTORY_NOT_EMPTY`."""


class PermissionDeniedError(RefusedError, builtins.PermissionError):
    """The server refused with `PERMISSION_DENIED`."""


class NoSpaceError(RefusedError):
    """The server refused with `NO_SPACE`."""


class FileTooLargeError(RefusedError):
    """The server refused with `FILE_TOO_LARGE`."""


class ReadOnlyError(RefusedError):
    """The server refused with `READ_ONLY`."""


class NameTooLongError(RefusedError):
    """The server refused with `NAME_TOO_LONG`."""


class TooManyLinksError(RefusedError):
    """The server refused with `TOO_MANY_LINKS`."""


class PathEscapesError(RefusedError):
    """The server refused with `PATH_ESCAPES`."""


class CrossDeviceError(RefusedError):
    """The server refused with `CROSS_DEVICE`."""


class ResourceBusyError(RefusedError):
    """The server refused with `RESOURCE_BUSY`."""


class TooManyFilesError(RefusedError):
    """The server refused with `TOO_MANY_FILES`."""


class PreconditionFailedError(RefusedError):
    """The server refused with `PRECONDITION_FAILED`."""


class RangeNotSatisfiableError(RefusedError):
    """The server refused with `RANGE_NOT_SATISFIABLE`."""


class ContentMismatchError(RefusedError):
    """The server refused with `CONTENT_MISMATCH`."""


class FileLimitError(RefusedError):
    """The server refused with `FILE_LIMIT`."""


class OperationInterruptedError(RefusedError):
    """The server refused with `OPERATION_INTERRUPTED`."""


class FilesystemUnsupportedError(RefusedError):
    """The server refused with `FILESYSTEM_UNSUPPORTED`."""


class FilesystemErrorError(RefusedError):
    """The server refused with `FILESYSTEM_ERROR`."""


class WatchNotFoundError(RefusedError):
    """The server refused with `WATCH_NOT_FOUND`."""


class WatchAlreadyExistsError(RefusedError):
    """The server refused with `WATCH_ALREADY_EXISTS`."""


class WatchLimitError(RefusedError):
    """The server refused with `WATCH_LIMIT`."""


class CursorTooOldError(RefusedError):
    """The server refused with `CURSOR_TOO_OLD`."""


class GitNotAvailableError(RefusedError):
    """The server refused with `GIT_NOT_AVAILABLE`."""


class GitFailedError(RefusedError):
    """The server refused with `GIT_FAILED`."""


class GitAuthenticationFailedError(RefusedError):
    """The server refused with `GIT_AUTHENTICATION_FAILED`."""


class GitConfigRefusedError(RefusedError):
    """The server refused with `GIT_CONFIG_REFUSED`."""


class GitTimeoutError(RefusedError):
    """The server refused with `GIT_TIMEOUT`."""


class DiskFullError(RefusedError):
    """The server refused with `DISK_FULL`."""


class DiskReadOnlyError(RefusedError):
    """The server refused with `DISK_READ_ONLY`."""


class InternalError(RefusedError):
    """The server refused with `INTERNAL`."""


BY_CODE: dict[str, type[RefusedError]] = {
    "UNAUTHORIZED": UnauthorizedError,
    "FORBIDDEN": ForbiddenError,
    "ROUTE_NOT_FOUND": RouteNotFoundError,
    "METHOD_NOT_ALLOWED": MethodNotAllowedError,
    "BODY_TOO_LARGE": BodyTooLargeError,
    "UPGRADE_REQUIRED": UpgradeRequiredError,
    "UNSUPPORTED_MEDIA_TYPE": UnsupportedMediaTypeError,
    "RATE_LIMITED": RateLimitedError,
    "IDEMPOTENCY_CONFLICT": IdempotencyConflictError,
    "TOKEN_NOT_FOUND": TokenNotFoundError,
    "TOKEN_LIMIT": TokenLimitError,
    "SANDBOX_NOT_FOUND": SandboxNotFoundError,
    "SANDBOX_DIFFERS": SandboxDiffersError,
    "SANDBOX_PAUSED": SandboxPausedError,
    "SANDBOX_STOPPED": SandboxStoppedError,
    "SANDBOX_LIMIT": SandboxLimitError,
    "AGENT_UNAVAILABLE": AgentUnavailableError,
    "SHUTTING_DOWN": ShuttingDownError,
    "SERVER_UNREACHABLE": ServerUnreachableError,
    "TOO_MANY_CONNECTIONS": TooManyConnectionsError,
    "VALIDATION_FAILED": ValidationFailedError,
    "COMMAND_NOT_FOUND": CommandNotFoundError,
    "NOT_EXECUTABLE": NotExecutableError,
    "CWD_NOT_FOUND": CwdNotFoundError,
    "USER_NOT_FOUND": UserNotFoundError,
    "ARGUMENTS_TOO_LONG": ArgumentsTooLongError,
    "PROCESS_NOT_FOUND": ProcessNotFoundError,
    "PROCESS_ALREADY_EXISTS": ProcessAlreadyExistsError,
    "PROCESS_ENDED": ProcessEndedError,
    "PROCESS_LIMIT": ProcessLimitError,
    "STDIN_NOT_OPEN": StdinNotOpenError,
    "STDIN_GAP": StdinGapError,
    "SESSION_NOT_FOUND": SessionNotFoundError,
    "SESSION_ALREADY_EXISTS": SessionAlreadyExistsError,
    "SESSION_TERMINATED": SessionTerminatedError,
    "SESSION_ALIVE": SessionAliveError,
    "SESSION_BUSY": SessionBusyError,
    "SESSION_LIMIT": SessionLimitError,
    "SESSION_TOO_LARGE": SessionTooLargeError,
    "COMMAND_CANCELLED": CommandCancelledError,
    "SHELL_NOT_SUPPORTED": ShellNotSupportedError,
    "TERMINAL_NOT_FOUND": TerminalNotFoundError,
    "TERMINAL_ALREADY_EXISTS": TerminalAlreadyExistsError,
    "TERMINAL_ENDED": TerminalEndedError,
    "TERMINAL_READ_ONLY": TerminalReadOnlyError,
    "PORT_CLOSED": PortClosedError,
    "PREVIEW_NOT_FOUND": PreviewNotFoundError,
    "PREVIEW_ASLEEP": PreviewAsleepError,
    "PREVIEW_BUSY": PreviewBusyError,
    "PREVIEW_BROKEN": PreviewBrokenError,
    "PREVIEW_LIMIT": PreviewLimitError,
    "MISDIRECTED": MisdirectedError,
    "WAIT_TIMEOUT": WaitTimeoutError,
    "LIMIT_UNAVAILABLE": LimitUnavailableError,
    "EGRESS_UNAVAILABLE": EgressUnavailableError,
    "SECRET_NOT_FOUND": SecretNotFoundError,
    "ISOLATION_UNAVAILABLE": IsolationUnavailableError,
    "PAUSE_UNAVAILABLE": PauseUnavailableError,
    "STORAGE_BUSY": StorageBusyError,
    "SANDBOX_GONE": SandboxGoneError,
    "FILE_NOT_FOUND": FileNotFoundError,
    "FILE_EXISTS": FileExistsError,
    "IS_DIRECTORY": IsDirectoryError,
    "NOT_DIRECTORY": NotDirectoryError,
    "NOT_REGULAR_FILE": NotRegularFileError,
    "DIRECTORY_NOT_EMPTY": DirectoryNotEmptyError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "NO_SPACE": NoSpaceError,
    "FILE_TOO_LARGE": FileTooLargeError,
    "READ_ONLY": ReadOnlyError,
    "NAME_TOO_LONG": NameTooLongError,
    "TOO_MANY_LINKS": TooManyLinksError,
    "PATH_ESCAPES": PathEscapesError,
    "CROSS_DEVICE": CrossDeviceError,
    "RESOURCE_BUSY": ResourceBusyError,
    "TOO_MANY_FILES": TooManyFilesError,
    "PRECONDITION_FAILED": PreconditionFailedError,
    "RANGE_NOT_SATISFIABLE": RangeNotSatisfiableError,
    "CONTENT_MISMATCH": ContentMismatchError,
    "FILE_LIMIT": FileLimitError,
    "OPERATION_INTERRUPTED": OperationInterruptedError,
    "FILESYSTEM_UNSUPPORTED": FilesystemUnsupportedError,
    "FILESYSTEM_ERROR": FilesystemErrorError,
    "WATCH_NOT_FOUND": WatchNotFoundError,
    "WATCH_ALREADY_EXISTS": WatchAlreadyExistsError,
    "WATCH_LIMIT": WatchLimitError,
    "CURSOR_TOO_OLD": CursorTooOldError,
    "GIT_NOT_AVAILABLE": GitNotAvailableError,
    "GIT_FAILED": GitFailedError,
    "GIT_AUTHENTICATION_FAILED": GitAuthenticationFailedError,
    "GIT_CONFIG_REFUSED": GitConfigRefusedError,
    "GIT_TIMEOUT": GitTimeoutError,
    "DISK_FULL": DiskFullError,
    "DISK_READ_ONLY": DiskReadOnlyError,
    "INTERNAL": InternalError,
}
