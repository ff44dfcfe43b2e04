"""What coroutines need of their runtime. `_runtime_sync` has the same names for threads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import httpx
from websockets.asyncio.client import ClientConnection, connect, unix_connect

from ._settings import Address

__all__ = ["HTTP_ERRORS", "ClientConnection", "Lock", "dial", "http", "shielded", "sleep"]

Lock = asyncio.Lock

HTTP_ERRORS = (httpx.TransportError, httpx.StreamError)

# How long tidying up may take when the caller is being cancelled, in seconds.
TIDY_WITHIN = 5.0


async def sleep(seconds: float) -> None:
    await anyio.sleep(seconds)


@contextmanager
def shielded() -> Iterator[None]:
    """What is within is done though the caller is being cancelled."""
    with anyio.move_on_after(TIDY_WITHIN, shield=True):
        yield


def http(address: Address, limits: httpx.Limits, options: list[tuple[int, int, int]]) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(uds=address.socket, limits=limits, socket_options=None if address.socket else options)
    return httpx.AsyncClient(base_url=address.url, transport=transport)


async def dial(address: Address, uri: str, headers: dict[str, str], patience: float) -> ClientConnection:
    if address.socket:
        return await unix_connect(
            address.socket, uri, additional_headers=headers, open_timeout=patience, max_size=None, compression=None
        )
    return await connect(
        uri, additional_headers=headers, open_timeout=patience, max_size=None, compression=None, proxy=None
    )
