# Written by `sdk/generate` from atoll/aio/process.py; changes are lost.
"""Processes: starting, finding, feeding, following, awaiting and ending them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._failure import AtollError, NonsenseError, RefusedError
from .attach import ProcessAttachment
from .exec import Command, worded
from .streams import Logs, Subscription, made_up
from .transport import Repeat, Transport, segment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import SignalScope, StartOptions

# Input is sent in pieces of so many bytes: what is sent again after a broken line is small.
PIECE = 1024 * 1024
# An offset that nobody reaches. The refusal tells the one that is reached.
NOWHERE = 2**62


class Watched:
    """What processes and terminals have in common: output by cursor, waiting, signals."""

    def __init__(self, transport: Transport, path: str) -> None:
        self._transport = transport
        self._path = path

    def logs(self, *, since: int = 0, follow_children: bool = False, skip_gaps: bool = False) -> Logs:
        """Its output from a cursor on, to its end. Iterate over it.

        With `follow_children` it goes on until nothing is left that could print. Output that the log had to drop raises
        an `OutputGoneError`, behind which iteration can go on; with `skip_gaps` it is only noted in `gaps`.
        """
        query = {"encoding": "base64", "until": "closed" if follow_children else "end"}
        return Logs(Subscription(self._transport, "GET", f"{self._path}/output", query=query), since, skip_gaps)

    def output(
        self,
        *,
        since: int = 0,
        limit: int | None = None,
        wait_ms: int | None = None,
        encoding: models.Encoding = "utf8",
    ) -> models.OutputPage:
        """One page of its output, at most `limit` bytes; waits up to `wait_ms` if there is nothing yet."""
        query = {"since": since, "limit": limit, "wait_ms": wait_ms, "encoding": encoding}
        return self._transport.get(models.OutputPage, f"{self._path}/output", query)

    def wait(self, *, timeout_ms: int | None = None) -> models.EndRecord:
        """Waits for its end. A `WaitTimeoutError`, which is a `TimeoutError`, if that takes longer; it goes on then."""
        end = (self._wait("exit", timeout_ms)).end
        if end is None:
            raise NonsenseError("the server's answer makes no sense: an end without a record")
        return end

    def wait_for_log(
        self, what: str | re.Pattern[str], *, since: int | None = None, timeout_ms: int | None = None
    ) -> models.LogMatch:
        """Waits for a line with this text, or that matches this regular expression; also in what was printed before.

        The expression is the server's to read (Rust's `regex`); flags of a compiled pattern are passed on.
        """
        condition = {"text": what} if isinstance(what, str) else {"regex": _expression(what)}
        found = (self._wait({"log": {**condition, "since": since}}, timeout_ms)).found
        if found is None:
            raise NonsenseError("the server's answer makes no sense: a match without a line")
        return found

    def wait_for_input(self, *, timeout_ms: int | None = None) -> None:
        """Waits until it blocks on reading its input."""
        self._wait("input", timeout_ms)

    def signal(self, signal: str, *, scope: SignalScope = "main") -> int:
        """Sends a signal, such as `"INT"`, to it or to its whole tree. How many processes got it."""
        body = {"signal": signal, "scope": scope}
        return (self._transport.post(models.SignalReceipt, f"{self._path}/signal", body)).signalled

    def _wait(self, what: Any, timeout_ms: int | None) -> models.WaitAnswer:
        body = {"for": what, "timeout_ms": timeout_ms}
        return self._transport.post(models.WaitAnswer, f"{self._path}/wait", body, Repeat.YES)


class Process(Watched):
    """A process. Used in `with`, it is killed at the end of the block."""

    def __init__(self, transport: Transport, sandbox: str, info: models.ProcessInfo, offset: int | None) -> None:
        super().__init__(transport, f"{sandbox}/processes/{segment(info.id)}")
        self.info = info
        """What was last told about it; `refresh` asks anew."""
        self._offset = offset

    @property
    def id(self) -> str:
        """Its id."""
        return self.info.id

    def __repr__(self) -> str:
        return f"<Process {self.id} {self.info.state}>"

    def refresh(self) -> models.ProcessInfo:
        """What it is like now."""
        self.info = self._transport.get(models.ProcessInfo, self._path)
        return self.info

    def wait_for_port(
        self, port: int, *, path: str | None = None, status: int | None = None, timeout_ms: int | None = None
    ) -> None:
        """Waits until a port answers; with `path`, until an HTTP request for it is answered with `status`, or any from
        200 to 399."""
        http = {"path": path or "/", "status": status} if path is not None or status is not None else None
        self._wait({"port": {"port": port, "http": http}}, timeout_ms)

    def write(self, data: str | bytes | Iterable[bytes] | Iterable[bytes]) -> None:
        """Writes to its standard input, as fast as it reads. Over a line that breaks, each byte arrives once."""
        if isinstance(data, (str, bytes)):
            self._write(data.encode() if isinstance(data, str) else data)
        else:
            for piece in data:
                self._write(piece)

    def attach(self, *, since: int = 0, skip_gaps: bool = False) -> ProcessAttachment:
        """Reads, writes and signals over one line, for who talks with it back and forth. Iterate for what it prints.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     process = sandbox.processes.start("while read -r line; do echo got $line; done", stdin="pipe")
        ...     with process.attach() as line:
        ...         line.write("one\\n")
        ...         for output in line:
        ...             print(output.text, end="")
        ...             line.close_stdin()
        got one
        """
        return ProcessAttachment(self._transport, f"{self._path}/attach", self, since, skip_gaps)

    def close_stdin(self) -> None:
        """Closes its standard input: it reads the end."""
        self._transport.call("DELETE", f"{self._path}/stdin", repeat=Repeat.YES)

    def kill(self, *, grace_ms: int | None = None) -> models.KillReceipt:
        """Ends it and everything that it started: asked at first, forced after the grace time."""
        return self._transport.post(models.KillReceipt, f"{self._path}/kill", {"grace_ms": grace_ms}, Repeat.YES)

    def remove(self) -> None:
        """Forgets it and its output. Only once it has ended."""
        self._transport.call("DELETE", self._path)

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            try:
                self.kill()
            except AtollError:
                # What went wrong in the block matters more than that it could not be tidied up.
                if kind is None:
                    raise

    def _next_offset(self, length: int) -> int:
        """Where so many bytes go that another way is about to write."""
        offset = self._reached() if self._offset is None else self._offset
        self._offset = offset + length
        return offset

    def _write(self, data: bytes) -> None:
        if self._offset is None:
            self._offset = self._reached()
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            query = {"offset": self._offset}
            answer = self._transport.call(
                "PUT", f"{self._path}/stdin", query=query, content=piece, repeat=Repeat.YES
            )
            self._offset = decode(models.StdinReceipt, parse(answer.content)).next_offset

    def _reached(self) -> int:
        """How much was written so far, by others too."""
        try:
            self._transport.call("PUT", f"{self._path}/stdin", query={"offset": NOWHERE}, content=b"?")
        except RefusedError as error:
            if error.code == "STDIN_GAP":
                return int(error.details["next_offset"])
            raise
        raise NonsenseError("the server's answer makes no sense: it took input at no place")


class Processes:
    """The processes of a sandbox."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def start(self, command: Command, **options: Unpack[StartOptions]) -> Process:
        """Starts a process; answers when its program runs. With `ready`, `info.ready` says whether it came to that.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     process = sandbox.processes.start("echo one; echo two")
        ...     for output in process.logs():
        ...         print(output.text, end="")
        one
        two
        """
        return start(self._transport, self._sandbox, f"{self._sandbox}/processes", command, dict(options))

    def list(
        self,
        *,
        state: models.ProcessState | None = None,
        session: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> list[Process]:
        """Processes, oldest first."""
        query = {"state": state, "session": session, "label": [f"{name}={value}" for name, value in (labels or {}).items()]}
        told = self._transport.get(models.ProcessList, f"{self._sandbox}/processes", query)
        return [Process(self._transport, self._sandbox, info, None) for info in told.processes]

    def get(self, id: str) -> Process:
        """The process with this id."""
        info = self._transport.get(models.ProcessInfo, f"{self._sandbox}/processes/{segment(id)}")
        return Process(self._transport, self._sandbox, info, None)

    def kill(self, *, labels: Mapping[str, str] | None = None, grace_ms: int | None = None) -> models.KillReceipt:
        """Ends every process, or all that have these labels."""
        body = {"labels": dict(labels or {}), "grace_ms": grace_ms}
        return self._transport.post(models.KillReceipt, f"{self._sandbox}/processes/kill", body, Repeat.YES)


def start(transport: Transport, sandbox: str, path: str, command: Command, options: dict[str, Any]) -> Process:
    """With an id of its own, so that it is started once however often it is asked for."""
    body = {**worded(command), **options}
    fresh = not body.get("id")
    body["id"] = body.get("id") or made_up()
    info = transport.post(models.ProcessInfo, path, body, Repeat.YES)
    # Under an id that the caller gave, the process may have been there before, and others may have written to it.
    return Process(transport, sandbox, info, 0 if fresh else None)


def _expression(pattern: re.Pattern[str]) -> str:
    flags = "".join(
        letter
        for flag, letter in ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.VERBOSE, "x"))
        if pattern.flags & flag
    )
    return f"(?{flags}){pattern.pattern}" if flags else pattern.pattern
