"""Sessions: making, finding, using and ending shells that remember."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._failure import AtollError
from ..results import CommandResult
from . import exec as commands
from .process import Process, start
from .streams import ExecStream
from .transport import Transport, segment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import QueueOptions, RestartFrom, SessionExecOptions, SessionOptions, StartOptions


class Session:
    """A shell that stays: directory, variables, functions and options last from command to command.

    Used in `with`, it is deleted at the end of the block.
    """

    def __init__(self, transport: Transport, sandbox: str, info: models.SessionInfo) -> None:
        self._transport = transport
        self._sandbox = sandbox
        self._path = f"{sandbox}/sessions/{segment(info.id)}"
        self.info = info
        """What was last told about it; `refresh` asks anew."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.info.id

    def __repr__(self) -> str:
        return f"<Session {self.id} {self.info.state}>"

    async def refresh(self) -> models.SessionInfo:
        """What it is like now."""
        self.info = await self._transport.get(models.SessionInfo, self._path)
        return self.info

    async def exec(
        self, command: commands.Command, *, stdin: str | bytes | None = None, **options: Unpack[SessionExecOptions]
    ) -> CommandResult:
        """Runs a command in it to its end, after those that came before."""
        body = commands.asked(command, stdin, dict(options))
        return await commands.run(self._transport, self._sandbox, f"{self._path}/exec", body)

    def exec_stream(
        self, command: commands.Command, *, stdin: str | bytes | None = None, **options: Unpack[SessionExecOptions]
    ) -> ExecStream:
        """The same, told as it happens."""
        body = commands.asked(command, stdin, dict(options))
        return commands.stream(self._transport, self._sandbox, f"{self._path}/exec", body)

    async def queue(self, command: commands.Command, **options: Unpack[QueueOptions]) -> Process:
        """Puts a command into its queue; it is a process from then on."""
        return await start(self._transport, self._sandbox, f"{self._path}/commands", command, dict(options))

    async def cancel(self, process: Process | str) -> bool:
        """Takes a command out of its queue. `False` if it has begun already."""
        id = process if isinstance(process, str) else process.id
        answer = await self._transport.call("DELETE", f"{self._path}/commands/{segment(id)}")
        return decode(models.CancelReceipt, parse(answer.content)).cancelled

    async def start(self, command: commands.Command, **options: Unpack[StartOptions]) -> Process:
        """Starts a process that begins with what the session holds, and writes nothing back."""
        return await start(self._transport, self._sandbox, f"{self._path}/processes", command, dict(options))

    async def interrupt(self) -> bool:
        """Does to the command that runs what Ctrl-C would. `False` if nothing ran."""
        return (await self._transport.post(models.InterruptReceipt, f"{self._path}/interrupt")).interrupted

    async def kill(self, *, grace_ms: int | None = None) -> models.KillReceipt:
        """Ends the command that runs, and all that it started. The session lives on."""
        return await self._transport.post(models.KillReceipt, f"{self._path}/kill", {"grace_ms": grace_ms})

    async def snapshot(self) -> models.SnapshotInfo:
        """What it holds: variables, functions, options, and what could not be carried."""
        return await self._transport.get(models.SnapshotInfo, f"{self._path}/snapshot")

    async def fork(self, id: str | None = None) -> Session:
        """A new session that holds the same."""
        info = await self._transport.post(models.SessionInfo, f"{self._path}/fork", {"id": id})
        return Session(self._transport, self._sandbox, info)

    async def restart(self, from_: RestartFrom = "snapshot") -> models.SessionInfo:
        """Brings it back after its shell has ended, from its last snapshot or from nothing."""
        self.info = await self._transport.post(models.SessionInfo, f"{self._path}/restart", {"from": from_})
        return self.info

    async def delete(self) -> None:
        """Ends it at once, with all that was started from it."""
        await self._transport.call("DELETE", self._path)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            try:
                await self.delete()
            except AtollError:
                if kind is None:
                    raise


class Sessions:
    """The sessions of a sandbox."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    async def create(self, **options: Unpack[SessionOptions]) -> Session:
        """Makes a session; answers when its shell is ready.

        >>> from atoll.aio import Sandbox
        >>> async with await Sandbox.temporary() as sandbox, await sandbox.sessions.create() as session:
        ...     _ = await session.exec("cd /tmp && NAME=atoll")
        ...     print((await session.exec("echo $NAME in $PWD")).stdout, end="")
        atoll in /tmp
        """
        info = await self._transport.post(models.SessionInfo, f"{self._sandbox}/sessions", dict(options))
        return Session(self._transport, self._sandbox, info)

    async def list(self) -> list[Session]:
        """Sessions, oldest first."""
        told = await self._transport.get(models.SessionList, f"{self._sandbox}/sessions")
        return [Session(self._transport, self._sandbox, info) for info in told.sessions]

    async def get(self, id: str) -> Session:
        """The session with this id. Makes none."""
        info = await self._transport.get(models.SessionInfo, f"{self._sandbox}/sessions/{segment(id)}")
        return Session(self._transport, self._sandbox, info)
