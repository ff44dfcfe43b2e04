"""Progress, cancellation, disconnects, concurrent clients, and server restarts."""

from __future__ import annotations

import json
import signal
import subprocess

import anyio
import pytest
from conftest import Connect, Server, until
from mcp import Client
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio

# A process tree that survives SIGTERM: one process ignores it, another has left the process group.
TREE = "trap '' TERM; setsid sleep 4242 & sleep 4243 & echo begun; wait"


async def run_in_background(client: Client, command: str, begun: anyio.Event) -> anyio.CancelScope:
    """Runs a command; its first progress notification sets the event."""

    async def progress(*_: object) -> None:
        begun.set()

    with anyio.CancelScope() as scope:
        await client.call_tool("run_command", {"command": command}, progress_callback=progress)
    return scope


def sandbox_of(client: Client) -> str:
    return client.instructions.split("Your sandbox is called `")[1].split("`")[0]


@pytest.mark.parametrize("way", ["stdio", "http", "http-named"])
async def test_cancelled_call_kills_the_process_tree(server: Server, way: str) -> None:
    connect = server.over_stdio if way == "stdio" else server.over_http
    async with connect("cancelled" if way == "http-named" else None) as client:
        name, begun = sandbox_of(client), anyio.Event()
        with anyio.fail_after(40):
            async with anyio.create_task_group() as group:
                group.start_soon(run_in_background, client, TREE, begun)
                await begun.wait()
                assert server.matching(name, "sleep 4242") == server.matching(name, "sleep 4243") == 1
                group.cancel_scope.cancel()
            gone = lambda: server.matching(name, "sleep 424[23]") == 0  # noqa: E731
            await anyio.to_thread.run_sync(until, gone)
        result = await client.call_tool("run_command", {"command": "echo fine"})
        assert result.structured_content["stdout"]["text"] == "fine\n"


async def test_progress_has_the_last_line(connect: Connect) -> None:
    notified: list[tuple[float, float | None, str | None]] = []

    async def progress(now: float, total: float | None, message: str | None) -> None:
        notified.append((now, total, message))

    async with connect() as client:
        command = "for i in 1 2 3; do echo line $i; sleep 0.6; done"
        await client.call_tool("run_command", {"command": command}, progress_callback=progress)
    assert any("line 2" in (message or "") for _, _, message in notified), notified
    assert [now for now, _, _ in notified] == sorted({now for now, _, _ in notified})
    assert all(total == 120 for _, total, _ in notified)


async def test_clients_have_separate_sandboxes(connect: Connect, server: Server) -> None:
    async with connect() as one, connect() as two:
        assert sandbox_of(one) != sandbox_of(two)
        await one.call_tool("write_file", {"path": "secret", "content": "x"})
        result = await two.call_tool("read_file", {"path": "secret"})
        assert result.is_error and "FILE_NOT_FOUND" in result.content[0].text
        assert {sandbox_of(one), sandbox_of(two)} <= server.sandboxes()
        names = {sandbox_of(one), sandbox_of(two)}
    await anyio.to_thread.run_sync(until, lambda: not names & server.sandboxes())


async def test_named_sandbox_persists(connect: Connect, server: Server) -> None:
    async with connect("kept") as client:
        await client.call_tool("write_file", {"path": "kept.txt", "content": "x"})
        await client.call_tool("start_process", {"command": "sleep 4244", "process": "sleeper"})
    async with connect("kept") as client:
        result = await client.call_tool("read_file", {"path": "kept.txt"})
        assert result.structured_content["content"] == "x"
        await client.call_tool("kill_process", {"process": "sleeper"})
    assert "kept" in server.sandboxes()


def initialized(server: Server, *arguments: str) -> subprocess.Popen[str]:
    """Starts `atoll mcp` and sends `initialize`, without a client library."""
    given = server.stdio(*arguments)
    process = subprocess.Popen(
        [given.command, *given.args], env=given.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    send(process, {"id": 1, "method": "initialize", "params": params})
    assert process.stdout and json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "atoll"
    send(process, {"method": "notifications/initialized"})
    return process


def send(process: subprocess.Popen[str], message: dict[str, object]) -> None:
    assert process.stdin
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def run(command: str) -> dict[str, object]:
    return {"id": 2, "method": "tools/call", "params": {"name": "run_command", "arguments": {"command": command}}}


@pytest.mark.parametrize("way", ["eof", "signal"])
def test_disconnect_kills_foreground_commands(server: Server, way: str) -> None:
    process = initialized(server, "--sandbox", "left")
    send(process, run("sleep 4245"))
    until(lambda: "left" in server.sandboxes() and server.matching("left", "sleep 4245") == 1)
    if way == "eof":
        process.stdin.close()
    else:
        process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert server.matching("left", "sleep 4245") == 0


def test_pending_calls_are_answered_after_eof(server: Server) -> None:
    process = initialized(server)
    send(process, run("echo last"))
    process.stdin.close()
    answer = json.loads(process.stdout.readline())
    assert answer["result"]["structuredContent"]["stdout"]["text"] == "last\n"
    assert process.wait(20) == 0


@pytest.fixture
def restartable() -> Server:
    server = Server()
    yield server
    server.close()


async def test_call_survives_a_server_restart(restartable: Server) -> None:
    async with restartable.over_stdio() as client:
        result = None

        async def work() -> None:
            nonlocal result
            result = await client.call_tool("run_command", {"command": "echo begun; sleep 2; echo done"})

        with anyio.fail_after(40):
            async with anyio.create_task_group() as group:
                group.start_soon(work)
                name = sandbox_of(client)
                begun = lambda: name in restartable.sandboxes() and restartable.matching(name, "sleep 2")  # noqa: E731
                await anyio.to_thread.run_sync(until, begun)
                restartable.kill()
                restartable.restart()
        assert result and result.structured_content["stdout"]["text"] == "begun\ndone\n"
        assert result.structured_content["exit_code"] == 0


async def test_unreachable_server_is_an_error_result(restartable: Server) -> None:
    async with restartable.over_stdio() as client:
        restartable.kill()
        result = await client.call_tool("list_processes", {})
        assert result.is_error and "SERVER_UNREACHABLE" in result.content[0].text
        restartable.restart()
        assert not (await client.call_tool("list_processes", {})).is_error


async def test_sessions_end_with_the_server(restartable: Server) -> None:
    with pytest.raises((MCPError, BaseExceptionGroup)):
        async with restartable.over_http() as client:
            await client.call_tool("list_processes", {})
            assert len(restartable.sandboxes()) == 1
            restartable.process.terminate()
            assert restartable.process.wait(20) == 0
            restartable.restart()
            assert restartable.sandboxes() == set()
            result = await client.call_tool("list_processes", {})
            raise MCPError(0, f"a closed session responds: {result}")
    async with restartable.over_http() as client:
        assert not (await client.call_tool("list_processes", {})).is_error
