# Written by `sdk/generate` from atoll/aio/network.py; changes are lost.
"""What a sandbox may reach, what has gone out, and secrets that commands may use and not see."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from .. import models
from .._decode import decode, parse
from .._failure import OutputGoneError
from .streams import Subscription
from .transport import Repeat, Transport, segment

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import NetworkPolicy


class Network:
    """What a sandbox may reach: nothing, unless it is said."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def get(self) -> models.NetworkInfo:
        """What may be reached, and what has gone out."""
        return self._transport.get(models.NetworkInfo, f"{self._sandbox}/network")

    def set(self, **policy: Unpack[NetworkPolicy]) -> models.NetworkInfo:
        """Says what may be reached from now on. Connections that are no longer allowed are cut off.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     told = sandbox.network.set(allow=[{"set": "pypi"}, {"domain": "*.example.org"}])
        ...     print([rule.domain or rule.set for rule in told.policy.allow])
        ['pypi', '*.example.org']
        """
        answer = self._transport.call("PUT", f"{self._sandbox}/network", body=dict(policy), repeat=Repeat.YES)
        return decode(models.NetworkInfo, parse(answer.content))

    def page(
        self, *, since: int = 0, limit: int | None = None, wait_ms: int | None = None
    ) -> models.EgressEventPage:
        """A page of what happened on the way out, from a cursor on."""
        query = {"since": since, "limit": limit, "wait_ms": wait_ms}
        return self._transport.get(models.EgressEventPage, f"{self._sandbox}/egress/events", query)

    def events(self, *, since: int = 0, skip_gaps: bool = False) -> EgressEvents:
        """What happens on the way out, from a cursor on, as it comes. Iterate over it."""
        subscription = Subscription(self._transport, "GET", f"{self._sandbox}/egress/events")
        subscription.cursor = since
        return EgressEvents(subscription, skip_gaps)


class EgressEvents:
    """What happens on the way out. A dropped connection is not noticed but for the time that it takes to come back."""

    def __init__(self, subscription: Subscription, skip_gaps: bool) -> None:
        self._subscription = subscription
        self._skip_gaps = skip_gaps

    @property
    def cursor(self) -> int:
        """Everything before this was told."""
        return self._subscription.cursor or 0

    def __iter__(self) -> EgressEvents:
        return self

    def __next__(self) -> models.EgressEvent:
        while True:
            event = self._subscription.next()
            if event.name == "egress":
                told = decode(models.EgressEvent, parse(event.data))
                if told.cursor >= self.cursor:
                    self._subscription.cursor = told.cursor + 1
                    return told
            elif event.name == "gap":
                gap = decode(models.Gap, parse(event.data))
                self._subscription.cursor = gap.to
                if not self._skip_gaps:
                    raise OutputGoneError(f"events from {gap.from_} to {gap.to} are gone", since=gap.from_, until=gap.to)

    def close(self) -> None:
        """Hangs up."""
        self._subscription.close()

    def __enter__(self) -> EgressEvents:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Secrets:
    """Secrets that commands of a sandbox may use and not see."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def put(
        self, name: str, value: str, *, hosts: Sequence[str], headers: Sequence[str] | None = None
    ) -> models.SecretInfo:
        """Gives commands a secret as the variable `name`, which holds a stand-in for it. It is told to `hosts` alone."""
        body = {"value": value, "hosts": [*hosts], **({"headers": [*headers]} if headers is not None else {})}
        path = f"{self._sandbox}/secrets/{segment(name)}"
        answer = self._transport.call("PUT", path, body=body, repeat=Repeat.YES)
        return decode(models.SecretInfo, parse(answer.content))

    def delete(self, name: str) -> None:
        """Takes a secret away."""
        self._transport.call("DELETE", f"{self._sandbox}/secrets/{segment(name)}")

    def list(self) -> list[models.SecretInfo]:
        """Secrets, without their values."""
        return (self._transport.get(models.SecretList, f"{self._sandbox}/secrets")).secrets
