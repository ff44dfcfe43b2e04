"""Watches: what happens in a tree, numbered, so that readers come back."""

from __future__ import annotations

from types import TracebackType

from .. import _runtime_aio as runtime  # sync: from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._failure import AtollError, from_body
from .streams import Subscription
from .transport import Transport, segment


class Watch:
    """What happens in a tree. Iterate over it. Used in `with`, the watch is ended at the end of the block.

    A dropped connection is not noticed but for the time that it takes to come back. An event `overflow` says that more
    happened than could be told; what is there follows as created.
    """

    def __init__(self, transport: Transport, sandbox: str, info: models.WatchInfo, since: int) -> None:
        self._transport = transport
        self._path = f"{sandbox}/watches/{segment(info.id)}"
        self._subscription = Subscription(transport, "GET", f"{self._path}/events")
        self._subscription.cursor = since
        self.info = info
        """What was told about it when it was asked for."""
        self.ended = False
        """Whether nothing follows: the directory is gone."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.info.id

    @property
    def cursor(self) -> int:
        """Everything before this was told."""
        return self._subscription.cursor or 0

    def __aiter__(self) -> Watch:
        return self

    async def __anext__(self) -> models.WatchEvent:
        while not self.ended:
            event = await self._subscription.next()
            if event.name == "change":
                told = decode(models.WatchEvent, parse(event.data))
                if told.cursor >= self.cursor:
                    self._subscription.cursor = told.cursor + 1
                    return told
            elif event.name == "end":
                self.ended = True
                await self._subscription.aclose()
            elif event.name == "error":
                await self._subscription.aclose()
                raise from_body(parse(event.data), 500)
        raise StopAsyncIteration

    async def page(
        self, *, since: int = 0, limit: int | None = None, wait_ms: int | None = None
    ) -> models.WatchPage:
        """What happened since a cursor; waits up to `wait_ms` if there is nothing yet."""
        query = {"since": since, "limit": limit, "wait_ms": wait_ms}
        return await self._transport.get(models.WatchPage, f"{self._path}/events", query)

    async def delete(self) -> None:
        """Ends the watch."""
        await self._subscription.aclose()
        await self._transport.call("DELETE", self._path)

    async def aclose(self) -> None:
        """Hangs up. The watch goes on, and can be come back to by its id."""
        await self._subscription.aclose()

    async def __aenter__(self) -> Watch:
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
