"""Every tool over every transport, with its results checked against its output schema."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from conftest import Connect, Server
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio


class Calls:
    """A client that validates every result and records the tools called."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.called: set[str] = set()

    async def begin(self) -> Calls:
        self.tools = {tool.name: tool for tool in (await self.client.list_tools()).tools}
        for tool in self.tools.values():
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema)
            assert tool.title and tool.description and tool.annotations
        return self

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        Draft202012Validator(self.tools[name].input_schema).validate(arguments)
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        Draft202012Validator(self.tools[name].output_schema).validate(result.structured_content)
        assert result.content[0].text
        self.called.add(name)
        return result.structured_content


async def refused(client: Client, name: str, **arguments: Any) -> str:
    """Returns the text of an error result."""
    result = await client.call_tool(name, arguments)
    assert result.is_error and result.structured_content is None, result
    error = result.meta["atoll/error"]
    assert result.content[0].text.startswith(f"{error['code']}: {error['message']}")
    return result.content[0].text


WAYS = ["stdio", "stdio-legacy", "http", "http-named", "http-legacy-named"]


@pytest.mark.parametrize("way", WAYS)
async def test_every_tool(server: Server, way: str) -> None:
    connect = server.over_stdio if way.startswith("stdio") else server.over_http
    name = f"every-{way}" if way.endswith("named") else None
    async with connect(name, mode="legacy" if "legacy" in way else "auto") as client:
        version = "2026-07-28" if way in ("stdio", "http-named") else "2025-11-25"
        assert client.protocol_version == version
        call = await Calls(client).begin()

        ran = await call("run_command", command="echo $A; cat; echo no >&2; exit 3", env={"A": "b"}, stdin="in\n")
        assert (ran["exit_code"], ran["stdout"]["text"], ran["stderr"]["text"]) == (3, "b\nin\n", "no\n")
        await call("run_in_session", command="cd /tmp; x=1")
        ran = await call("run_in_session", command="echo $PWD $x")
        assert ran["stdout"]["text"] == "/tmp 1\n"
        ran = await call("run_in_session", command="echo $PWD", session="other")
        assert ran["stdout"]["text"] == "/workspace\n"
        await call("run_in_session", command="exit 7")
        ran = await call("run_in_session", command="echo $x")
        assert ran["stdout"]["text"] == "1\n" and "restarted" in ran["note"]

        started = await call("start_process", command="echo up; exec python3 -u -m http.server 8000", process="web")
        assert started["process"] == "web"
        found = await call("wait_for", process="web", text="up")
        assert found["happened"] and found["line"] == "up"
        assert (await call("wait_for", process="web", port=8000, http_path="/"))["happened"]
        waited = await call("wait_for", process="web", timeout_seconds=1)
        assert (waited["happened"], waited["why_not"]) == (False, "timeout")
        listed = await call("list_processes", process="web")
        assert listed["processes"][0]["state"] == "running"
        page = await call("read_output", process="web")
        assert page["pieces"][0] == {"stream": "stdout", "text": "up\n", "encoding": "text", "replaced": False} or (
            page["pieces"][0]["text"].startswith("up\n")
        )
        ports = await call("list_ports")
        assert [port["port"] for port in ports["ports"]] == [8000] and ports["ports"][0]["process"] == "web"
        shown = await call("preview_url", port=8000)
        assert shown["url"].startswith("http://8000-") and not shown["private"]
        assert (await call("preview_url", port=8000))["url"] == shown["url"]
        assert (await call("list_ports"))["ports"][0]["preview_url"] == shown["url"]
        assert (await call("kill_process", process="web"))["survivors"] == 0
        assert (await call("wait_for", process="web"))["reason"] == "killed"
        assert [each["process"] for each in (await call("list_processes"))["processes"]] == []

        written = await call("write_file", path="dir/a.txt", content="one\ntwo\nthree\n")
        assert written["created"] and written["size"] == 14
        part = await call("read_file", path="dir/a.txt", from_line=2, max_lines=1)
        assert (part["content"], part["first_line"], part["next_offset"]) == ("two\n", 2, 8)
        part = await call("read_file", path="dir/a.txt", offset=part["next_offset"])
        assert (part["content"], part.get("next_offset"), part["size"]) == ("three\n", None, 14)
        edited = await call("edit_file", path="dir/a.txt", edits=[{"old": "two", "new": "2"}])
        assert (edited["replaced"], edited["lines"]) == (1, [[2]])
        found = await call("search_files", pattern="^(2|three)$", context=1)
        assert [(line["line"], line["matches"]) for line in found["lines"]] == [(1, False), (2, True), (3, True)]
        listed = await call("list_directory", depth=2)
        assert {"dir", "dir/a.txt"} <= {entry["path"].removeprefix("/workspace/") for entry in listed["entries"]}
        found = await call("list_directory", pattern="**/*.txt")
        assert len(found["entries"]) == 1
        assert call.called == set(call.tools)


async def test_long_output_is_truncated_and_can_be_read(connect: Connect) -> None:
    whole = "".join(f"{number}\n" for number in range(20000))
    async with connect() as client:
        call = await Calls(client).begin()
        ran = await call("run_command", command="seq 0 19999", max_output_bytes=1000)
        out = ran["stdout"]
        assert out["bytes"] == len(whole)
        assert len(out["text"]) + out["omitted_bytes"] + len(out["tail"]) == len(whole)
        assert whole.startswith(out["text"]) and whole.endswith(out["tail"])
        text, cursor = out["text"], out["omitted_cursor"]
        while len(text) < len(whole):
            page = await call("read_output", process=ran["process"], cursor=cursor)
            text += "".join(piece["text"] for piece in page["pieces"])
            cursor = page["next_cursor"]
        assert text == whole


async def test_binary_output_and_files(connect: Connect) -> None:
    async with connect() as client:
        call = await Calls(client).begin()
        ran = await call("run_command", command=r"printf 'a\xff\x00'")
        assert (ran["stdout"]["text"], ran["stdout"]["replaced"]) == ("a\ufffd\x00", True)
        ran = await call("run_command", command=r"printf 'a\xff\x00' | tee bin", encoding="base64")
        assert base64.b64decode(ran["stdout"]["text"]) == b"a\xff\x00"
        assert "encoding base64" in await refused(client, "read_file", path="bin")
        part = await call("read_file", path="bin", encoding="base64")
        assert base64.b64decode(part["content"]) == b"a\xff\x00"
        await call("write_file", path="bin2", content=part["content"], encoding="base64")
        assert (await call("run_command", command="cmp bin bin2"))["exit_code"] == 0


async def test_errors_are_results(connect: Connect) -> None:
    async with connect() as client:
        await client.list_tools()
        assert "missing field `command`" in await refused(client, "run_command")
        assert "unknown field `cmd`" in await refused(client, "run_command", command="true", cmd="x")
        assert "timeout_seconds" in await refused(client, "run_command", command="true", timeout_seconds=100000)
        assert "VALIDATION_FAILED" in await refused(client, "wait_for", process="p", text="x", port=1)
        assert "PROCESS_NOT_FOUND" in await refused(client, "read_output", process="missing")
        assert "FILE_NOT_FOUND" in await refused(client, "read_file", path="/nowhere")
        assert "CWD_NOT_FOUND" in await refused(client, "run_command", command="true", cwd="/nowhere")
        text = await refused(client, "edit_file", path="/etc/hostname", edits=[{"old": "not there", "new": ""}])
        assert "CONTENT_MISMATCH" in text
        with pytest.raises(MCPError, match="there is no tool"):
            await client.call_tool("rm_rf", {})


async def test_timeout_is_a_result(connect: Connect) -> None:
    async with connect() as client:
        call = await Calls(client).begin()
        ran = await call("run_command", command="echo begun; sleep 1000", timeout_seconds=1)
        assert (ran["reason"], ran["stdout"]["text"], ran.get("exit_code")) == ("timeout", "begun\n", None)
        ran = await call("run_command", command="sleep 1000 & echo $!")
        assert ran["left_running"] == 1
        assert (await call("kill_process", process=ran["process"]))["survivors"] == 0
