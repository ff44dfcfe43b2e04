"""A class for each code with which the server refuses.

Written by `sdk/generate` from the API's description; changes are lost."""

from __future__ import annotations

from ._failure import RefusedError

__all__ = [
    "AgentUnavailableError",
    "ArgumentsTooLongError",
    "BY_CODE",
    "BodyTooLargeError",
    "CommandCancelledError",
    "CommandNotFoundError",
    "CwdNotFoundError",
    "DiskFullError",
    "DiskReadOnlyError",
    "ForbiddenError",
    "IdempotencyConflictError",
    "InternalError",
    "IsolationUnavailableError",
    "LimitUnavailableError",
    "MethodNotAllowedError",
    "MisdirectedError",
    "NotExecutableError",
    "PauseUnavailableError",
    "PortClosedError",
    "PreviewAsleepError",
    "PreviewBrokenError",
    "PreviewBusyError",
    "PreviewLimitError",
    "PreviewNotFoundError",
    "ProcessAlreadyExistsError",
    "ProcessEndedError",
    "ProcessLimitError",
    "ProcessNotFoundError",
    "RateLimitedError",
    "RouteNotFoundError",
    "SandboxDiffersError",
    "SandboxGoneError",
    "SandboxLimitError",
    "SandboxNotFoundError",
    "SandboxPausedError",
    "SandboxStoppedError",
    "ServerUnreachableError",
    "SessionAliveError",
    "SessionAlreadyExistsError",
    "SessionBusyError",
    "SessionLimitError",
    "SessionNotFoundError",
    "SessionTerminatedError",
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
    "UnauthorizedError",
    "UnsupportedMediaTypeError",
    "UpgradeRequiredError",
    "UserNotFoundError",
    "ValidationFailedError",
    "WaitTimeoutError",
]


class UnauthorizedError(RefusedError):
    """The server refused with `UNAUTHORIZED`."""


class ForbiddenError(RefusedError, PermissionError):
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


class WaitTimeoutError(RefusedError, TimeoutError):
    """The server refused with `WAIT_TIMEOUT`."""


class LimitUnavailableError(RefusedError):
    """The server refused with `LIMIT_UNAVAILABLE`."""


class IsolationUnavailableError(RefusedError):
    """The server refused with `ISOLATION_UNAVAILABLE`."""


class PauseUnavailableError(RefusedError):
    """The server refused with `PAUSE_UNAVAILABLE`."""


class StorageBusyError(RefusedError):
    """The server refused with `STORAGE_BUSY`."""


class SandboxGoneError(RefusedError):
    """The server refused with `SANDBOX_GONE`."""


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
    "ISOLATION_UNAVAILABLE": IsolationUnavailableError,
    "PAUSE_UNAVAILABLE": PauseUnavailableError,
    "STORAGE_BUSY": StorageBusyError,
    "SANDBOX_GONE": SandboxGoneError,
    "DISK_FULL": DiskFullError,
    "DISK_READ_ONLY": DiskReadOnlyError,
    "INTERNAL": InternalError,
}
