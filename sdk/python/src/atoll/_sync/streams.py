# Written by `sdk/generate` from atoll/aio/streams.py; changes are lost.
"""Output as it happens, over however many connections that takes: no byte twice, none missing."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._events import Event, Parser
from .._failure import AtollError, BrokenError, NonsenseError, OutputGoneError, from_body, refused
from .._retry import Retry
from ..results import CommandResult, Output, OutputReader, completed
from .transport import Transport


class Subscription:
    """A stream of events that comes back after a dropped connection. Knows where it is, not what is told."""

    def __init__(
        self, transport: Transport, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> None:
        self._transport = transport
        self._question = (method, path)
        self._query, self._body = query, body
        self._retry = Retry(transport.patience)
        self._link: Any = None
        self._pieces: Iterator[bytes] | None = None
        self._parser = Parser()
        self._ready: list[Event] = []
        self.cursor: int | None = None
        """Where to go on; `None` as long as it is not known that anything was begun."""
        self.resumes = True
        """Whether there is something to come back to."""

    def next(self) -> Event:
        """The next event."""
        while not self._ready:
            try:
                if self._pieces is None:
                    self._connect()
                    continue
                self._ready = self._parser.push(self._piece())[::-1]
            except AtollError as error:
                self._broke(error)
        self._retry.succeeded()
        return self._ready.pop()

    def close(self) -> None:
        self._pieces = None
        link, self._link = self._link, None
        if link is not None:
            link.__exit__(None, None, None)

    def _connect(self) -> None:
        headers = {"accept": "text/event-stream"}
        if self.cursor is not None:
            headers["last-event-id"] = str(self.cursor)
        method, path = self._question
        link = self._transport.stream(method, path, query=self._query, body=self._body, headers=headers)
        answer = link.__enter__()
        # An event that was cut in two is dropped with its connection: it comes again, whole.
        self._link, self._pieces, self._parser = link, answer.pieces, Parser()

    def _piece(self) -> bytes:
        assert self._pieces is not None
        try:
            return self._pieces.__next__()
        except StopIteration:
            raise BrokenError("the connection broke: the server closed it") from None

    def _broke(self, error: AtollError) -> None:
        self.close()
        if not self.resumes:
            raise error
        runtime.sleep(self._retry.failed(error))


class Logs:
    """The output of a process or a terminal, piece by piece, to its end. Iterate over it.

    A dropped connection is not noticed but for the time that it takes to come back. Leaving early changes nothing for
    the process.
    """

    def __init__(self, subscription: Subscription, since: int, skip_gaps: bool) -> None:
        self._subscription = subscription
        self._subscription.cursor = since
        self._reader = OutputReader(since)
        self._skip_gaps = skip_gaps
        self.gaps: list[models.Gap] = []
        """Output that is gone, as far as it was come across."""
        self.end: models.EndRecord | None = None
        """How it ended, once it has."""

    @property
    def cursor(self) -> int:
        """Everything before this was told."""
        return self._reader.cursor

    def __iter__(self) -> Logs:
        return self

    def __next__(self) -> Output:
        while self.end is None:
            event = self._subscription.next()
            if event.name == "output":
                output = self._reader.take(decode(models.OutputEvent, parse(event.data)))
                if output:
                    self._subscription.cursor = output.end
                    return output
            elif event.name == "gap":
                self._gap(decode(models.Gap, parse(event.data)))
            elif event.name == "end":
                self._ended(event)
                self.close()
            elif event.name == "error":
                self.close()
                raise _told(event)
            # A later server may tell more.
        raise StopIteration

    def collect(self) -> tuple[bytes, bytes]:
        """Everything that is still to come, to its end: standard output and standard error."""
        parts: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        for output in self:
            parts[output.stream] += output.bytes
        return bytes(parts["stdout"]), bytes(parts["stderr"])

    def close(self) -> None:
        """Hangs up."""
        self._subscription.close()

    def __enter__(self) -> Logs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ended(self, event: Event) -> None:
        self.end = decode(models.OutputEnd, parse(event.data)).end

    def _gap(self, gap: models.Gap) -> None:
        # Going on behind it is possible: the next piece is asked for from there.
        self._reader.cursor = self._subscription.cursor = gap.to
        self.gaps.append(gap)
        if not self._skip_gaps:
            raise OutputGoneError(f"output from {gap.from_} to {gap.to} is gone", since=gap.from_, until=gap.to)


class ExecStream:
    """A command and what it prints, piece by piece. Iterate over it; afterwards `result` is there.

    It is run once, however often the line breaks. Leaving the `with` block before its end ends the command.
    """

    def __init__(self, transport: Transport, sandbox: str, path: str, body: dict[str, Any]) -> None:
        self.id: str = body["id"]
        """The command's id, which is known before it begins."""
        self.started: models.ProcessInfo | None = None
        """The process, once its program runs."""
        self._transport = transport
        self._sandbox = sandbox
        self._subscription = Subscription(transport, "POST", path, body=body)
        self._subscription.resumes = body.get("on_disconnect") != "kill"
        self._reader = OutputReader(0)
        self._result: CommandResult | None = None

    @property
    def cursor(self) -> int:
        """Everything before this was told."""
        return self._reader.cursor

    @property
    def result(self) -> CommandResult:
        """How it ended. Only after the last piece."""
        if self._result is None:
            raise AtollError("the command has not ended yet", hint="iterate to the end first")
        return self._result

    def __iter__(self) -> ExecStream:
        return self

    def __next__(self) -> Output:
        while self._result is None:
            event = self._subscription.next()
            if event.name == "start" and self.started is None:
                self.started = decode(models.ProcessInfo, parse(event.data))
                self._subscription.cursor = 0
            elif event.name == "output":
                output = self._reader.take(decode(models.OutputEvent, parse(event.data)))
                if output:
                    self._subscription.cursor = output.end
                    return output
            elif event.name == "gap":
                gap = decode(models.Gap, parse(event.data))
                self._reader.cursor = self._subscription.cursor = gap.to
                raise OutputGoneError(f"output from {gap.from_} to {gap.to} is gone", since=gap.from_, until=gap.to)
            elif event.name == "end":
                self._result = completed(decode(models.ExecResult, parse(event.data)))
                self._subscription.close()
            elif event.name == "error":
                self._subscription.close()
                raise _told(event)
        raise StopIteration

    def close(self) -> None:
        """Hangs up, and ends the command if it has not ended."""
        self._subscription.close()
        if self._result is None:
            end_command(self._transport, self._sandbox, self.id)

    def __enter__(self) -> ExecStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            self.close()


# A request that was on its way when its line was cut may start a command a moment after it was to be ended.
LATE_STARTS = (0.0, 0.05, 0.2)


def end_command(transport: Transport, sandbox: str, id: str) -> None:
    """Ends a command that nobody waits for any more, if it is there."""
    for pause in LATE_STARTS:
        runtime.sleep(pause)
        try:
            transport.call("POST", f"{sandbox}/processes/{id}/kill", body={})
            return
        except AtollError as error:
            if getattr(error, "code", "") != "PROCESS_NOT_FOUND":
                return


def made_up() -> str:
    """An id that no other command has: who knows it beforehand can ask again, and end the command before it answers."""
    return f"exec-{secrets.token_hex(16)}"


def _told(event: Event) -> AtollError:
    """An error that came as an event."""
    body = parse(event.data)
    if isinstance(body, dict) and "code" in body:
        return from_body(body, 500)
    return refused(500, event.data) if body else NonsenseError("the server's answer makes no sense: an empty error")
