"""The Inspector's command line lists and calls every tool over both transports."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import ATOLL, Server

INSPECTOR = os.environ["MCP_INSPECTOR"]

# Every tool, with arguments that work independently: each call is a new client.
CALLS: dict[str, dict[str, Any]] = {
    "run_command": {"command": "echo hello"},
    "run_in_session": {"command": "echo hello"},
    "start_process": {"command": "sleep 1"},
    "list_processes": {},
    "kill_process": {"process": "standing"},
    "wait_for": {"process": "over"},
    "read_output": {"process": "over"},
    "read_file": {"path": "/etc/hostname"},
    "write_file": {"path": "a", "content": "b"},
    "edit_file": {"path": "edited", "edits": [{"old": "one", "new": "two"}]},
    "search_files": {"pattern": "root", "path": "/etc/passwd"},
    "list_directory": {"path": "/etc"},
    "list_ports": {},
    "preview_url": {"port": 8000},
}


def inspect(server: Server, way: str, *arguments: str, status: int = 0) -> Any:
    sandbox = f"inspected-{way}"
    if way == "stdio":
        # The Inspector would parse the options of `atoll mcp` as its own: both have --server.
        socket = f"unix:{server.home}/state/server/server.sock"
        target = ["-e", f"ATOLL_SERVER={socket}", "-e", f"ATOLL_TOKEN_FILE={server.token_file}"]
        target += [ATOLL, "mcp", "--sandbox", sandbox]
    else:
        headers = [f"Authorization: Bearer {server.token}", f"Atoll-Sandbox: {sandbox}"]
        target = [f"{server.url}/mcp", "--transport", "http"]
        target += [word for header in headers for word in ("--header", header)]
    command = ["node", INSPECTOR, "--cli", *target, *arguments]
    environment = {**server.environment, "MCP_CATALOG_PATH": str(server.home / "catalog.json")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_inspector_calls_every_tool(server: Server, way: str) -> None:
    path = f"/v1/sandboxes/inspected-{way}"
    server.json("PUT", path, {})
    server.json("POST", f"{path}/processes", {"command": "sleep 1000", "id": "standing"})
    server.json("POST", f"{path}/processes", {"command": "echo over", "id": "over"})
    server.json("POST", f"{path}/files/write", {"path": "edited", "data": "one"})
    listed = inspect(server, way, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == set(CALLS)

    def call(name: str) -> None:
        given = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in CALLS[name].items()]
        arguments = ["--method", "tools/call", "--tool-name", name]
        result = inspect(server, way, *arguments, *(["--tool-arg", *given] if given else []))
        assert not result.get("isError"), result
        assert result["structuredContent"] and result["content"][0]["text"], result

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, CALLS))
