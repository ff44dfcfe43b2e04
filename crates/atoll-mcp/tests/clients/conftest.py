"""A real server, and connections to it with the official MCP clients."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

ATOLL = os.environ["ATOLL_BINARY"]

Connect = Callable[..., AbstractAsyncContextManager[Client]]


def until(what: Callable[[], Any], seconds: float = 20) -> Any:
    """Waits until `what` returns a true value, and returns it."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"condition not met within {seconds} s"
        time.sleep(0.02)
    return found


class Server:
    """`atoll serve` in a temporary directory."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="atoll-mcp-"))
        self.environment = {**os.environ, "ATOLL_HOME": str(self.home)}
        for name in ("ATOLL_SERVER", "ATOLL_TOKEN", "ATOLL_TOKEN_FILE"):
            self.environment.pop(name, None)
        self.start()
        self.token_file = self.home / "state/server/root-token"
        self.token = self.token_file.read_text().strip()

    def start(self, listen: str = "127.0.0.1:0") -> None:
        self.process = subprocess.Popen(
            [ATOLL, "serve", "--listen", listen],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=open(self.home / "server.log", "ab"),
            text=True,
        )
        assert self.process.stdout
        for line in self.process.stdout:
            if "listening on http://" in line:
                self.url = line.split()[-1].rstrip("/")
            if line.startswith("previews"):
                return
        raise AssertionError((self.home / "server.log").read_text())

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        self.start(self.url.removeprefix("http://"))

    def ask(
        self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Sends a plain request. Returns status, headers and body."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json", **headers}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    def json(self, method: str, path: str, body: Any = None) -> Any:
        status, _, answer = self.ask(method, path, body)
        assert status < 300, answer
        return json.loads(answer) if answer else None

    def sandboxes(self) -> set[str]:
        return {each["name"] for each in self.json("GET", "/v1/sandboxes")["sandboxes"]}

    def token_for(self, sandboxes: str, *verbs: str) -> str:
        scopes = [{"sandboxes": sandboxes, "verbs": list(verbs)}]
        return self.json("POST", "/v1/tokens", {"scopes": scopes})["token"]

    def matching(self, sandbox: str, command: str) -> int:
        """Returns the number of processes in the sandbox with this command line."""
        body = {"argv": ["pgrep", "-c", "-f", "-x", command]}
        return int(self.json("POST", f"/v1/sandboxes/{sandbox}/exec", body)["stdout"]["data"])

    def close(self) -> None:
        for name in self.sandboxes():
            self.ask("DELETE", f"/v1/sandboxes/{name}")
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)

    def stdio(self, *arguments: str) -> StdioServerParameters:
        args = ["mcp", "--server", f"unix:{self.home}/state/server/server.sock"]
        args += ["--token-file", str(self.token_file), *arguments]
        return StdioServerParameters(command=ATOLL, args=args, env=self.environment)

    @asynccontextmanager
    async def over_stdio(self, sandbox: str | None = None, **options: Any) -> AsyncIterator[Client]:
        arguments = [] if sandbox is None else ["--sandbox", sandbox]
        async with Client(self.stdio(*arguments), **options) as client:
            yield client

    @asynccontextmanager
    async def over_http(
        self, sandbox: str | None = None, token: str | None = None, **options: Any
    ) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        if sandbox is not None:
            headers["Atoll-Sandbox"] = sandbox
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
            async with Client(transport, **options) as client:
                yield client


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(params=["stdio", "http"])
def connect(request: pytest.FixtureRequest, server: Server) -> Connect:
    return server.over_stdio if request.param == "stdio" else server.over_http
