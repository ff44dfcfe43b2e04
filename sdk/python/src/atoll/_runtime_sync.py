"""What threads need of their runtime. `_runtime_aio` has the same names for coroutines."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from websockets.sync.client import ClientConnection, connect, unix_connect

from ._settings import Address

__all__ = ["HTTP_ERRORS", "ClientConnection", "Lock", "dial", "http", "shielded", "sleep"]

Lock = threading.Lock

HTTP_ERRORS = (httpx.TransportError, httpx.StreamError)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


@contextmanager
def shielded() -> Iterator[None]:
    """A thread is not cancelled."""
    yield


def http(address: Address, limits: httpx.Limits, options: list[tuple[int, int, int]]) -> httpx.Client:
    transport = httpx.HTTPTransport(uds=address.socket, limits=limits, socket_options=None if address.socket else options)
    return httpx.Client(base_url=address.url, transport=transport)


def dial(address: Address, uri: str, headers: dict[str, str], patience: float) -> ClientConnection:
    if address.socket:
        link = unix_connect(
            address.socket, uri, additional_headers=headers, open_timeout=patience, max_size=None, compression=None
        )
    else:
        link = connect(
            uri, additional_headers=headers, open_timeout=patience, max_size=None, compression=None, proxy=None
        )
    # It is to be entered, and is left by `close`.
    return link.__enter__()
