"""A real server for the tests, and the two halves of the package behind one face."""

from __future__ import annotations

import asyncio
import inspect
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import atoll
import atoll.aio

ROOT = Path(__file__).resolve().parents[3]
ATOLL = os.environ.get("ATOLL_BINARY") or str(ROOT / "target/debug/atoll")


class Server:
    """`atoll serve` in a directory of its own."""

    def __init__(self, *arguments: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="atoll-sdk-"))
        self.environment = {**os.environ, "ATOLL_HOME": str(self.home)}
        for name in ("ATOLL_SERVER", "ATOLL_TOKEN", "ATOLL_TOKEN_FILE"):
            self.environment.pop(name, None)
        self.arguments = arguments
        self.start()
        self.token = (self.home / "state/server/root-token").read_text().strip()

    def start(self, listen: str = "127.0.0.1:0") -> None:
        self.process = subprocess.Popen(
            [ATOLL, "serve", "--listen", listen, *self.arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=open(self.home / "server.log", "ab"),
            text=True,
        )
        assert self.process.stdout
        said = ""
        for line in self.process.stdout:
            said += line
            if "http://" in line:
                self.url = "http://" + line.split("http://")[1].split()[0].rstrip("/")
            if "token" in line:
                break
        assert "http://" in said, said + (self.home / "server.log").read_text()

    @property
    def socket(self) -> str:
        return f"unix:{self.home}/state/server/server.sock"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        with atoll.Client(self.url, self.token) as client:
            for each in client.sandboxes.list():
                client.sandboxes.delete(each.name)
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server("--rate", "100000")
    os.environ["ATOLL_SERVER"], os.environ["ATOLL_TOKEN"] = server.url, server.token
    yield server
    server.close()


class Awaited:
    """The asynchronous half as if it were the blocking one: so that one test is for both."""

    def __init__(self, loop: asyncio.AbstractEventLoop, inner: Any) -> None:
        self.__dict__.update(_loop=loop, _inner=inner)

    def _wrap(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            value = self._loop.run_until_complete(value)
        module = type(value).__module__
        if inspect.isasyncgen(value) or module.startswith("atoll.aio"):
            return Awaited(self._loop, value)
        if isinstance(value, list):
            return [self._wrap(each) for each in value]
        return value

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, "aclose" if name == "close" else name)
        if inspect.isclass(value) or not callable(value):
            return self._wrap(value)
        unwrap = lambda each: each._inner if isinstance(each, Awaited) else each  # noqa: E731

        def call(*positional: Any, **named: Any) -> Any:
            return self._wrap(value(*map(unwrap, positional), **named))

        return call

    def __repr__(self) -> str:
        return repr(self._inner)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._wrap(self._loop.run_until_complete(self._inner.__anext__()))
        except StopAsyncIteration:
            raise StopIteration from None

    def __enter__(self) -> Any:
        return self._wrap(self._inner.__aenter__())

    def __exit__(self, *arguments: Any) -> None:
        self._loop.run_until_complete(self._inner.__aexit__(*arguments))


@pytest.fixture(params=["sync", "async"])
def make_client(request: pytest.FixtureRequest, server: Server) -> Iterator[Any]:
    """Makes clients of one half or the other."""
    made: list[Any] = []
    loop = asyncio.new_event_loop() if request.param == "async" else None

    def make(url: str | None = None, token: str | None = None, **options: Any) -> Any:
        kind: Any = atoll.aio.Client if loop else atoll.Client
        inner = kind(url or server.url, token or server.token, **options)
        client = Awaited(loop, inner) if loop else inner
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
    if loop:
        loop.close()


@pytest.fixture
def say(request: pytest.FixtureRequest) -> Any:
    """Prints a line that is seen though the test passes."""
    return request.config.pluginmanager.get_plugin("terminalreporter").write_line


ASKED: set[tuple[str, str]] = set()
"""Every method and path that was asked for, by either half."""


@pytest.fixture(scope="session", autouse=True)
def noted() -> Iterator[None]:
    """Notes what is asked for."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in (atoll.aio.client.Transport, atoll._sync.client.Transport):
            note(patch, kind)
        yield


def note(patch: pytest.MonkeyPatch, kind: Any) -> None:
    request, dial = kind._request, kind.dial

    def noting_request(self: Any, method: str, path: str, *rest: Any) -> Any:
        ASKED.add((method, path))
        return request(self, method, path, *rest)

    def noting_dial(self: Any, path: str, query: Any) -> Any:
        ASKED.add(("GET", path))
        return dial(self, path, query)

    patch.setattr(kind, "_request", noting_request)
    patch.setattr(kind, "dial", noting_dial)


@pytest.fixture
def client(make_client: Any) -> Any:
    return make_client()


@pytest.fixture(scope="session")
def shared_sandbox(server: Server) -> Iterator[str]:
    """One sandbox for all tests that leave nothing in it."""
    with atoll.Client(server.url, server.token) as client:
        yield client.sandboxes.create("shared").name


@pytest.fixture
def sandbox(client: Any, shared_sandbox: str) -> Any:
    return client.sandbox(shared_sandbox)
