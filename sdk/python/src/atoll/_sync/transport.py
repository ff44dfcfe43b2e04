# Written by `sdk/generate` from atoll/aio/transport.py; changes are lost.
"""Requests out, answers in. What can be asked is in the files of each thing."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import httpx

from .. import _runtime_sync as runtime
from .._decode import decode, encode, parse
from .._failure import AtollError, BrokenError, InvalidError, RefusedError, UnreachableError, is_passing, refused
from .._retry import Retry
from .._settings import Settings

T = TypeVar("T")
Query = Mapping[str, Any]
Content = bytes | Iterable[bytes] | Iterable[bytes]

# Shorter than the server waits for the next request (10 s): one must not meet a connection that is just being closed.
IDLE_MAX = 5.0
# A connection stands or fails within so many seconds.
CONNECT_WITHIN = 10.0
# A silent stream says every 15 seconds that it is there; after three times that it is not.
STREAM_SILENCE_MAX = 45.0

# An answer may take hours, so that no time limit tells a dead line from a long command. The kernel can.
KEEP_ALIVE: list[tuple[int, int, int]] = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]


class Repeat(Enum):
    """What to do if the line breaks before the answer."""

    NO = auto()
    """Tell it: asking again might do it twice."""
    YES = auto()
    """Ask again: it is done once, however often it is asked for."""


@dataclass(frozen=True)
class Streamed:
    """An answer whose body comes as it comes."""

    headers: Mapping[str, str]
    pieces: Iterator[bytes]


class Transport:
    """The way to one server. Shared by everything that was got from one client."""

    def __init__(self, settings: Settings, patience: float) -> None:
        self.address = settings.address
        self.patience = patience
        self._headers = {"authorization": f"Bearer {settings.token}"} if settings.token else {}
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=IDLE_MAX)
        self._http = runtime.http(settings.address, limits, KEEP_ALIVE)

    def close(self) -> None:
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        content: Content | None = None,
        headers: Mapping[str, str] | None = None,
        repeat: Repeat = Repeat.NO,
    ) -> httpx.Response:
        """The answer, if it is no error."""
        repeat = Repeat.YES if method == "GET" else repeat
        request = self._request(method, path, query, body, content, headers)
        retry = Retry(self.patience)
        begun = False
        while True:
            try:
                return self._once(request)
            except RefusedError as error:
                if error.status == 429 and error.code == "RATE_LIMITED":
                    # Nothing was done, and the server says when to ask again.
                    self._rate_limited(error, retry)
                elif repeat is Repeat.YES and is_passing(error):
                    runtime.sleep(retry.failed(error))
                else:
                    raise
            except UnreachableError as error:
                # A server that never answered is most likely not there; one that did may be coming back.
                if not begun or repeat is Repeat.NO:
                    raise
                runtime.sleep(retry.failed(error))
            except BrokenError as error:
                if repeat is Repeat.NO:
                    raise
                begun = True
                runtime.sleep(retry.failed(error))

    def get(self, kind: type[T], path: str, query: Query | None = None) -> T:
        answer = self.call("GET", path, query=query)
        return decode(kind, parse(answer.content))

    def post(self, kind: type[T], path: str, body: Any = None, repeat: Repeat = Repeat.NO) -> T:
        answer = self.call("POST", path, body={} if body is None else body, repeat=repeat)
        return decode(kind, parse(answer.content))

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        headers: Mapping[str, str],
        silence_max: float | None = STREAM_SILENCE_MAX,
    ) -> Iterator[Streamed]:
        """The bytes of an answer as they come. A dead line is noticed by its silence, where that cannot be long."""
        request = self._request(method, path, query, body, None, headers)
        request.extensions["timeout"]["read"] = silence_max
        response = self._send(request, stream=True)
        try:
            if response.status_code >= 400:
                raise self._refused(response)
            yield Streamed(response.headers, self._pieces(response))
        finally:
            response.close()

    def upgrade(self, path: str, protocol: str) -> tuple[httpx.Response, Any]:
        """A connection that is no longer HTTP: the answer, which holds it open, and its bytes."""
        headers = {"connection": "upgrade", "upgrade": protocol}
        response = self._send(self._request("GET", path, None, None, None, headers), stream=True)
        if response.status_code != 101:
            error = self._refused(response)
            response.close()
            raise error
        return response, response.extensions["network_stream"]

    def dial(self, path: str, query: Query) -> runtime.ClientConnection:
        """A WebSocket."""
        # Its exceptions are many, and it is needed by terminals alone.
        from websockets.exceptions import InvalidStatus, InvalidURI, WebSocketException

        uri = "ws" + self.address.url.removeprefix("http") + path + _query(query)
        try:
            return runtime.dial(self.address, uri, self._headers, CONNECT_WITHIN)
        except InvalidStatus as error:
            raise refused(error.response.status_code, bytes(error.response.body or b"")) from None
        except InvalidURI as error:
            raise InvalidError(str(error)) from error
        except (OSError, TimeoutError) as error:
            raise self._unreachable(error) from error
        except WebSocketException as error:
            raise BrokenError(f"the connection broke: {error}") from error

    def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: Any,
        content: Content | None,
        headers: Mapping[str, str] | None,
    ) -> httpx.Request:
        sent = dict(self._headers)
        if body is not None:
            sent["content-type"] = "application/json"
            content = encode(body)
        elif content is not None:
            sent["content-type"] = "application/octet-stream"
        sent |= headers or {}
        timeout = httpx.Timeout(None, connect=CONNECT_WITHIN)
        return self._http.build_request(method, path + _query(query), headers=sent, content=content, timeout=timeout)

    def _once(self, request: httpx.Request) -> httpx.Response:
        response = self._send(request, stream=False)
        if response.status_code >= 400:
            raise self._refused(response)
        return response

    def _send(self, request: httpx.Request, stream: bool) -> httpx.Response:
        try:
            return self._http.send(request, stream=stream)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except runtime.HTTP_ERRORS as error:
            raise BrokenError(f"the connection broke: {error or type(error).__name__}") from error
        except RuntimeError as error:
            if "closed" not in str(error):
                raise
            raise InvalidError("this client was closed") from error

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        try:
            for piece in response.iter_bytes():
                yield piece
        except runtime.HTTP_ERRORS as error:
            raise BrokenError(f"the connection broke: {error or type(error).__name__}") from error

    def _refused(self, response: httpx.Response) -> RefusedError:
        try:
            body = response.read()
        except runtime.HTTP_ERRORS:
            body = b""
        error = refused(response.status_code, body, response.headers.get("x-request-id"))
        error.retry_after = _seconds(response.headers.get("retry-after"))
        return error

    def _rate_limited(self, error: RefusedError, retry: Retry) -> None:
        pause = error.retry_after if error.retry_after is not None else 1.0
        if not retry.may_wait(pause):
            raise error
        runtime.sleep(pause)

    def _unreachable(self, error: BaseException) -> AtollError:
        why = str(error) or type(error).__name__
        hint = "start one with `atoll serve`, or name one in ATOLL_SERVER" if self.address.is_local() else None
        return UnreachableError(f"cannot reach {self.address}: {why}", hint=hint)


def _each(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece


def segment(name: str) -> str:
    """A name as a part of a path."""
    if not name or name in (".", ".."):
        raise InvalidError(f"`{name}` names nothing")
    return quote(name, safe="")


def _query(query: Query | None) -> str:
    if not query:
        return ""
    pairs: list[tuple[str, str | bytes]] = []
    for name, value in query.items():
        if isinstance(value, (list, tuple)):
            pairs += [(name, str(each)) for each in value]
        elif isinstance(value, bytes):
            pairs.append((name, value))
        elif value is not None:
            pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return "?" + urlencode(pairs) if pairs else ""


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isdigit() else None
