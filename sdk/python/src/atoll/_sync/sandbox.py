# Written by `sdk/generate` from atoll/aio/sandbox.py; changes are lost.
"""One sandbox: commands, and everything that is in it."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from .. import _runtime_sync as runtime
from .. import models
from .._failure import AtollError
from .._paths import Path, said
from ..results import CommandResult
from . import exec as commands
from .files import Files
from .git import Git
from .network import Network, Secrets
from .ports import Ports
from .process import Processes
from .session import Sessions
from .streams import ExecStream
from .terminal import Terminals
from .transport import Transport, segment
from .watch import Watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import ExecOptions, SandboxChanges, SandboxOptions, WatchOptions
    from .client import Client


class Sandbox:
    """A named, isolated computer. It stays until it is deleted; a stopped one is started by the next use.

    >>> from atoll import Sandbox
    >>> with Sandbox.get("docs", labels={"for": "docs"}) as sandbox:
    ...     result = sandbox.exec("echo hello from $(hostname)")
    ...     print(result.stdout, end="")
    ...     sandbox.delete()
    hello from docs
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self._transport = transport
        self._path = f"/v1/sandboxes/{segment(name)}"
        self._client: Client | None = None
        self._is_temporary = False
        self.name = name
        """Its name."""
        self.processes = Processes(transport, self._path)
        """Its processes."""
        self.sessions = Sessions(transport, self._path)
        """Its sessions: shells that remember."""
        self.terminals = Terminals(transport, self._path)
        """Its terminals."""
        self.files = Files(transport, self._path)
        """Its files."""
        self.git = Git(transport, self._path)
        """Repositories in it."""
        self.ports = Ports(transport, self._path)
        """What listens in it, and how that is seen from outside."""
        self.network = Network(transport, self._path)
        """What may be reached from it."""
        self.secrets = Secrets(transport, self._path)
        """Secrets that its commands may use and not see."""

    def __repr__(self) -> str:
        return f"<Sandbox {self.name}>"

    @classmethod
    def get(
        cls, name: str, *, server: str | None = None, token: str | None = None, **options: Unpack[SandboxOptions]
    ) -> Sandbox:
        """The sandbox of this name, made if there is none. Options that differ from those of one that is there are a
        `SandboxDiffersError`.

        Used in `with`, or with `close`, its connections are closed; the sandbox stays. For more than one sandbox make
        a `Client`.
        """
        return cls._owned(server, token, name, options, temporary=False)

    @classmethod
    def temporary(
        cls, *, server: str | None = None, token: str | None = None, **options: Unpack[SandboxOptions]
    ) -> Sandbox:
        """A new sandbox with a name that is made up, which is deleted at the end of the `with` block."""
        return cls._owned(server, token, None, options, temporary=True)

    @classmethod
    def _owned(
        cls, server: str | None, token: str | None, name: str | None, options: SandboxOptions, *, temporary: bool
    ) -> Sandbox:
        from .client import Client

        client = Client(server, token)
        try:
            if name is None:
                sandbox = client.sandboxes.create(**options)
            else:
                sandbox = client.sandboxes.get(name, **options)
        except BaseException:
            with runtime.shielded():
                client.close()
            raise
        sandbox._client = client
        sandbox._is_temporary = temporary
        return sandbox

    def exec(
        self, command: commands.Command, *, stdin: str | bytes | None = None, **options: Unpack[ExecOptions]
    ) -> CommandResult:
        """Runs one command to its end. A string is for the shell, a list is a program and its arguments.

        A code other than 0 is a result; `result.check()` makes it an error. The command is run once, also if the line
        breaks; it is ended if this call is cancelled.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     result = sandbox.exec(["wc", "-c"], stdin=b"\\x00\\xff")
        ...     print(result.stdout.strip(), result.code)
        2 0
        """
        body = commands.asked(command, stdin, dict(options))
        return commands.run(self._transport, self._path, f"{self._path}/exec", body)

    def exec_stream(
        self, command: commands.Command, *, stdin: str | bytes | None = None, **options: Unpack[ExecOptions]
    ) -> ExecStream:
        """The same, told as it happens.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     with sandbox.exec_stream("echo one; sleep 0.1; echo two >&2; exit 3") as stream:
        ...         for output in stream:
        ...             print(output.stream, output.text.strip())
        ...     print(stream.result.code)
        stdout one
        stderr two
        3
        """
        body = commands.asked(command, stdin, dict(options))
        return commands.stream(self._transport, self._path, f"{self._path}/exec", body)

    def watch(self, path: Path = ".", *, since: int = 0, **options: Unpack[WatchOptions]) -> Watch:
        """What happens in a directory and below it. Iterate over it. `get_watch` comes back to it by its `id`.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox, sandbox.watch("/tmp") as watch:
        ...     _ = sandbox.exec("mkdir /tmp/new")
        ...     for event in watch:
        ...         if event.change == "created":
        ...             print(event.path)
        ...             break
        new
        """
        body = {**said("path", path), **options}
        info = self._transport.post(models.WatchInfo, f"{self._path}/watches", body)
        return Watch(self._transport, self._path, info, since)

    def get_watch(self, id: str, *, since: int = 0) -> Watch:
        """A watch that is there, from a cursor on: what happened meanwhile is told first."""
        info = self._transport.get(models.WatchInfo, f"{self._path}/watches/{segment(id)}")
        return Watch(self._transport, self._path, info, since)

    def watches(self) -> list[models.WatchInfo]:
        """Watches that are there, oldest first."""
        return (self._transport.get(models.WatchList, f"{self._path}/watches")).watches

    def info(self) -> models.SandboxRecord:
        """What it is like now. Starts nothing."""
        return self._transport.get(models.SandboxRecord, self._path)

    def update(self, **changes: Unpack[SandboxChanges]) -> models.SandboxRecord:
        """Changes its labels (`None` removes one) and when it falls asleep."""
        from .._decode import decode, parse

        answer = self._transport.call("PATCH", self._path, body=dict(changes))
        return decode(models.SandboxRecord, parse(answer.content))

    def pause(self) -> models.SandboxRecord:
        """Stops everything in it where it stands. Needs cgroups."""
        return self._transport.post(models.SandboxRecord, f"{self._path}/pause")

    def resume(self) -> models.SandboxRecord:
        """Lets it go on."""
        return self._transport.post(models.SandboxRecord, f"{self._path}/resume")

    def stop(self) -> models.SandboxRecord:
        """Ends what runs in it; its files stay."""
        return self._transport.post(models.SandboxRecord, f"{self._path}/stop")

    def start(self) -> models.SandboxRecord:
        """Starts it again. Any use does so too."""
        return self._transport.post(models.SandboxRecord, f"{self._path}/start")

    def delete(self) -> None:
        """Ends it and removes everything of it."""
        self._transport.call("DELETE", self._path)

    def close(self) -> None:
        """Closes the connections that were made for it alone. The sandbox stays, unless it is a temporary one."""
        try:
            if self._is_temporary:
                self._delete_if_there()
        finally:
            if self._client is not None:
                self._client.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with runtime.shielded():
            try:
                self.close()
            except AtollError:
                if kind is None:
                    raise

    def _delete_if_there(self) -> None:
        try:
            self.delete()
        except AtollError as error:
            if getattr(error, "code", "") != "SANDBOX_NOT_FOUND":
                raise
