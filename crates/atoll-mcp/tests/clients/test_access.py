"""Access control: tokens and scopes, session ownership and limits, and web origins."""

from __future__ import annotations

import json

import pytest
from conftest import Server, until
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio

ACCEPT = "application/json, text/event-stream"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


async def test_invalid_token(server: Server) -> None:
    with pytest.raises((MCPError, BaseExceptionGroup)):
        async with server.over_http(token="atoll_unknown_token") as client:
            await client.list_tools()
    status, headers, body = server.ask("POST", "/mcp", HELLO, token="atoll_unknown_token", Accept=ACCEPT)
    assert status == 401 and json.loads(body)["error"]["code"] == "UNAUTHORIZED"
    assert any(name.lower() == "www-authenticate" for name in headers)


async def test_token_for_one_sandbox(server: Server) -> None:
    server.json("PUT", "/v1/sandboxes/mine", {})
    server.json("PUT", "/v1/sandboxes/theirs", {})
    token = server.token_for("mine", "read", "exec")
    async with server.over_http("mine", token) as client:
        result = await client.call_tool("run_command", {"command": "hostname"})
        assert result.structured_content["stdout"]["text"] == "mine\n"
        result = await client.call_tool("preview_url", {"port": 80})
        assert result.is_error and "FORBIDDEN" in result.content[0].text
    for name in ("theirs", "missing"):
        async with server.over_http(name, token) as client:
            for tool, arguments in [("run_command", {"command": "true"}), ("list_directory", {}), ("list_ports", {})]:
                result = await client.call_tool(tool, arguments)
                assert result.is_error and "FORBIDDEN" in result.content[0].text, (tool, result)
    async with server.over_http(None, token) as client:
        result = await client.call_tool("run_command", {"command": "true"})
        assert result.is_error and "Atoll-Sandbox" in result.content[0].text
    assert "missing" not in server.sandboxes()


async def test_read_only_token(server: Server) -> None:
    server.json("PUT", "/v1/sandboxes/seen", {})
    async with server.over_http("seen", server.token_for("seen", "read")) as client:
        assert not (await client.call_tool("list_directory", {})).is_error
        for tool, arguments in [("run_command", {"command": "true"}), ("write_file", {"path": "a", "content": ""})]:
            result = await client.call_tool(tool, arguments)
            assert result.is_error and "FORBIDDEN" in result.content[0].text, tool


def new_session(server: Server, token: str | None = None) -> str:
    status, headers, body = server.ask("POST", "/mcp", HELLO, token=token, Accept=ACCEPT)
    assert status == 200, body
    return next(value for name, value in headers.items() if name.lower() == "mcp-session-id")


def test_session_belongs_to_its_token(server: Server) -> None:
    session, other = new_session(server), server.token_for("*", "read", "exec", "admin")
    for method in ("POST", "GET", "DELETE"):
        body = PING if method == "POST" else None
        status, _, answer = server.ask(method, "/mcp", body, other, Accept=ACCEPT, Mcp_Session_Id=session)
        assert status == 404, (method, answer)
    assert server.ask("POST", "/mcp", PING, Accept=ACCEPT, Mcp_Session_Id=session)[0] == 200
    assert server.ask("DELETE", "/mcp", Mcp_Session_Id=session)[0] < 300
    gone = lambda: server.ask("POST", "/mcp", PING, Accept=ACCEPT, Mcp_Session_Id=session)[0] == 404  # noqa: E731
    until(gone)


def test_session_limit_of_a_token(server: Server) -> None:
    token = server.token_for("x", "read")
    sessions = [new_session(server, token) for _ in range(64)]
    status, _, body = server.ask("POST", "/mcp", HELLO, token=token, Accept=ACCEPT)
    assert status == 429 and json.loads(body)["error"]["code"] == "SESSION_LIMIT"
    assert new_session(server)
    for session in sessions:
        server.ask("DELETE", "/mcp", token=token, Mcp_Session_Id=session)
    assert until(lambda: server.ask("POST", "/mcp", HELLO, token=token, Accept=ACCEPT)[0] == 200)


def test_foreign_origin_is_refused(server: Server) -> None:
    for origin in ("https://evil.example", "http://localhost:3000", "null"):
        status, _, body = server.ask("POST", "/mcp", HELLO, Accept=ACCEPT, Origin=origin)
        assert status == 403 and json.loads(body)["error"]["code"] == "FORBIDDEN", origin
    own = server.url
    assert server.ask("POST", "/mcp", HELLO, Accept=ACCEPT, Origin=own)[0] == 200
    name = server.ask("POST", "/mcp", HELLO, Accept=ACCEPT, Origin="http://evil.example", Host="evil.example")
    assert name[0] == 403


def test_bad_requests(server: Server) -> None:
    ask = lambda **headers: server.ask("POST", "/mcp", HELLO, **headers)  # noqa: E731
    assert ask()[0] == 406
    assert ask(Accept=ACCEPT, Atoll_Sandbox="../x")[0] == 400
    assert ask(Accept=ACCEPT, Mcp_Session_Id="nothing")[0] == 404
    status, _, _ = server.ask("POST", "/mcp", {"jsonrpc": "2.0"}, Accept=ACCEPT)
    assert 400 <= status < 500
