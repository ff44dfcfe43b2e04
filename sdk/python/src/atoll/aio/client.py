"""A server: its sandboxes, and the tokens by which others may use them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import models
from .._decode import decode, parse
from .._failure import RefusedError
from .._settings import find
from .sandbox import Sandbox
from .transport import Repeat, Transport, segment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import SandboxOptions, Scope

# How many sandboxes are asked for at once.
PAGE = 200


class Client:
    """A server. `server` is `http://HOST:PORT`, `https://HOST` or `unix:PATH`.

    What is not said is taken from where the command line takes it: `ATOLL_SERVER`, `ATOLL_TOKEN`, `ATOLL_TOKEN_FILE`, the
    configuration file, this user's own server on this machine. `patience` is how many seconds streams look for a server
    that is gone before they give up.

    >>> from atoll.aio import Client
    >>> async with Client() as client:
    ...     sandbox = await client.sandboxes.create(labels={"kind": "example"})
    ...     print([each.name == sandbox.name async for each in client.sandboxes.list(labels={"kind": "example"})])
    ...     await sandbox.delete()
    [True]
    """

    def __init__(self, server: str | None = None, token: str | None = None, *, patience: float = 60.0) -> None:
        settings = find(server, token)
        self.address = str(settings.address)
        """Where the server is."""
        self._transport = Transport(settings, patience)
        self.sandboxes = Sandboxes(self._transport)
        """Its sandboxes."""
        self.tokens = Tokens(self._transport)
        """Its tokens."""

    def __repr__(self) -> str:
        return f"<Client {self.address}>"

    def sandbox(self, name: str) -> Sandbox:
        """The sandbox of this name, without asking whether it is there."""
        return Sandbox(self._transport, name)

    async def is_ready(self) -> bool:
        """Whether the server can serve."""
        try:
            await self._transport.call("GET", "/readyz")
        except RefusedError:
            return False
        return True

    async def metrics(self) -> str:
        """Its metrics, in the text format of Prometheus."""
        return (await self._transport.call("GET", "/metrics")).text

    async def aclose(self) -> None:
        """Closes its connections."""
        await self._transport.aclose()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Sandboxes:
    """The sandboxes of a server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self, name: str, **options: Unpack[SandboxOptions]) -> Sandbox:
        """The sandbox of this name, made if there is none."""
        sandbox = Sandbox(self._transport, name)
        if not options and await self._is_there(sandbox):
            return sandbox
        await self._transport.call("PUT", f"/v1/sandboxes/{segment(name)}", body=dict(options), repeat=Repeat.YES)
        return sandbox

    async def create(self, name: str | None = None, **options: Unpack[SandboxOptions]) -> Sandbox:
        """A new sandbox with a name that is made up; with a name, the one that has it."""
        if name is not None:
            return await self.get(name, **options)
        # Asked for again after a broken line, the same key means the same sandbox.
        headers = {"idempotency-key": secrets.token_hex(16)}
        answer = await self._transport.call(
            "POST", "/v1/sandboxes", body=dict(options), headers=headers, repeat=Repeat.YES
        )
        return Sandbox(self._transport, decode(models.SandboxRecord, parse(answer.content)).name)

    async def list(self, *, labels: Mapping[str, str] | None = None) -> AsyncIterator[models.SandboxRecord]:
        """Every sandbox that has these labels, by name. Iterate over it."""
        after: str | None = None
        while True:
            query: dict[str, Any] = {"label": [f"{key}={value}" for key, value in (labels or {}).items()]}
            query |= {"after": after, "limit": PAGE}
            page = await self._transport.get(models.SandboxList, "/v1/sandboxes", query)
            for each in page.sandboxes:
                yield each
            after = page.next
            if after is None:
                return

    async def delete(self, name: str) -> None:
        """Ends a sandbox and removes everything of it."""
        await Sandbox(self._transport, name).delete()

    async def _is_there(self, sandbox: Sandbox) -> bool:
        try:
            await sandbox.info()
        except RefusedError as error:
            if error.code == "SANDBOX_NOT_FOUND":
                return False
            # A token may be good for using a sandbox and not for looking at it.
            if error.code != "FORBIDDEN":
                raise
        return True


class Tokens:
    """The tokens of a server. Asking needs one that may do everything."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(
        self, scopes: Sequence[Scope], *, name: str = "", expires_in_ms: int | None = None
    ) -> models.NewToken:
        """Makes a token. It is shown this once."""
        body = {"scopes": list(scopes), "name": name, "expires_in_ms": expires_in_ms}
        return await self._transport.post(models.NewToken, "/v1/tokens", body)

    async def list(self) -> list[models.TokenInfo]:
        """Every token, without its secret; oldest first."""
        return (await self._transport.get(models.TokenList, "/v1/tokens")).tokens

    async def revoke(self, id: str) -> None:
        """Ends a token."""
        await self._transport.call("DELETE", f"/v1/tokens/{segment(id)}")
