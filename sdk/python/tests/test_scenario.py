"""One scenario, driven by the command line, by threads and by coroutines: the same steps give the same results.

The TypeScript SDK is driven by the same file.
"""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ATOLL

from atoll import errors

STEPS = json.loads((Path(__file__).parents[2] / "scenario.json").read_text())
NAME = "scenario"


class BySdk:
    """Steps as calls of a client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.sandbox = client.sandbox(NAME)
        self.process: Any = None

    def run(self, step: dict[str, Any]) -> dict[str, Any]:
        try:
            return dict(getattr(self, step["op"])(**{key: step[key] for key in step if key not in ("op", "expect")}))
        except errors.RefusedError as error:
            return {"error": error.code}

    def create(self, **options: Any) -> dict[str, Any]:
        return {"state": self.client.sandboxes.create(NAME, **options).info().state}

    def list(self, labels: Any) -> dict[str, Any]:
        return {"count": len([*self.client.sandboxes.list(labels=labels)])}

    def inspect(self) -> dict[str, Any]:
        return {"state": self.sandbox.info().state}

    def stop(self) -> dict[str, Any]:
        return {"state": self.sandbox.stop().state}

    def delete(self) -> dict[str, Any]:
        self.sandbox.delete()
        return {}

    def exec(self, **options: Any) -> dict[str, Any]:
        return told(self.sandbox.exec(options.pop("command"), **options))

    def processes(self) -> dict[str, Any]:
        alive = [each for each in self.sandbox.processes.list() if each.info.state != "ended"]
        self.process = alive[0] if alive else self.process
        return {"count": len(alive), "state": alive[0].info.state if alive else None}

    def logs(self) -> dict[str, Any]:
        return {"stdout": self.process.logs().collect()[0].decode()}

    def wait_for_log(self, text: str) -> dict[str, Any]:
        return {"line": self.process.wait_for_log(text).line}

    def kill(self) -> dict[str, Any]:
        return {"survivors": self.process.kill().survivors}

    def kill_unknown(self) -> dict[str, Any]:
        return {"survivors": self.sandbox.processes.get("unknown").kill().survivors}

    def session_create(self, **options: Any) -> dict[str, Any]:
        return {"state": self.sandbox.sessions.create(**options).info.state}

    def session_exec(self, id: str, command: str, **options: Any) -> dict[str, Any]:
        return told(self.sandbox.sessions.get(id).exec(command, **options))

    def session_fork(self, id: str, new: str) -> dict[str, Any]:
        return {"state": self.sandbox.sessions.get(id).fork(new).info.state}

    def session_restart(self, id: str) -> dict[str, Any]:
        return {"state": self.sandbox.sessions.get(id).restart().state}

    def session_list(self) -> dict[str, Any]:
        return {"ids": sorted(each.id for each in self.sandbox.sessions.list())}

    def session_delete(self, id: str) -> dict[str, Any]:
        self.sandbox.sessions.get(id).delete()
        return {}


def told(result: Any) -> dict[str, Any]:
    end = result.end
    return {
        "code": end.code,
        "stdout": result.stdout,
        "stderr": result.stderr,
        "base64": base64.b64encode(result.stdout_bytes).decode(),
        "reason": end.reason,
        "signal": end.signal,
    }


class ByCommandLine:
    """Steps as commands, read back from their JSON."""

    def __init__(self, server: Any) -> None:
        self.environment = server.environment
        self.process = ""

    def run(self, step: dict[str, Any]) -> dict[str, Any]:
        return dict(getattr(self, step["op"])(**{key: step[key] for key in step if key not in ("op", "expect")}))

    def atoll(self, *words: str, stdin: str | None = None) -> Any:
        at = words.index("--") if "--" in words else len(words)
        command = (*words[:at], "--json", *words[at:])
        done = subprocess.run(
            [ATOLL, *command], env=self.environment, input=(stdin or "").encode(), capture_output=True, timeout=60
        )
        said = json.loads(done.stdout) if done.stdout.strip() else {}
        return {"error": said["error"]["code"]} if "error" in said else said

    def create(self, labels: Any = None, env: Any = None) -> dict[str, Any]:
        pairs = [("--label", labels or {}), ("--env", env or {})]
        words = [word for flag, given in pairs for name, value in given.items() for word in (flag, f"{name}={value}")]
        return pick(self.atoll("create", NAME, *words), "state")

    def list(self, labels: Any) -> dict[str, Any]:
        words = [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]
        return {"count": len(self.atoll("ls", *words)["sandboxes"])}

    def inspect(self) -> dict[str, Any]:
        return pick(self.atoll("inspect", NAME), "state")

    def stop(self) -> dict[str, Any]:
        return pick(self.atoll("stop", NAME), "state")

    def delete(self) -> dict[str, Any]:
        self.atoll("rm", NAME)
        return {}

    def exec(self, **options: Any) -> dict[str, Any]:
        return self._exec(["exec", NAME], **options)

    def session_exec(self, id: str, **options: Any) -> dict[str, Any]:
        return self._exec(["session", "exec", NAME, id], **options)

    def _exec(self, words: Any, command: Any, **options: Any) -> dict[str, Any]:
        for name, value in (options.get("env") or {}).items():
            words += ["--env", f"{name}-" if value is None else f"{name}={value}"]
        for flag, key in (("--cwd", "cwd"), ("--user", "user")):
            words += [flag, options[key]] if key in options else []
        words += ["--timeout", f"{options['timeout_ms']}ms"] if "timeout_ms" in options else []
        words += ["--stdin"] if "stdin" in options else []
        words += ["--encoding", "base64", "--", *([command] if isinstance(command, str) else command)]
        said = self.atoll(*words, stdin=options.get("stdin"))
        if "error" in said:
            return dict(said)
        exact = {name: base64.b64decode(said[name]["data"]) for name in ("stdout", "stderr")}
        return {
            "code": said["end"].get("code"),
            "stdout": exact["stdout"].decode("utf-8", "replace"),
            "stderr": exact["stderr"].decode(),
            "base64": said["stdout"]["data"],
            "reason": said["end"]["reason"],
            "signal": said["end"].get("signal"),
        }

    def processes(self) -> dict[str, Any]:
        alive = self.atoll("ps", NAME)["processes"]
        self.process = alive[0]["id"] if alive else self.process
        return {"count": len(alive), "state": alive[0]["state"] if alive else None}

    def logs(self) -> dict[str, Any]:
        done = subprocess.run([ATOLL, "logs", NAME, self.process], env=self.environment, capture_output=True, timeout=60)
        return {"stdout": done.stdout.decode()}

    def wait_for_log(self, text: str) -> dict[str, Any]:
        return {"line": self.atoll("wait", NAME, self.process, "--log", text)["found"]["line"]}

    def kill(self) -> dict[str, Any]:
        return pick(self.atoll("kill", NAME, self.process), "survivors")

    def kill_unknown(self) -> dict[str, Any]:
        return pick(self.atoll("kill", NAME, "unknown"), "survivors")

    def session_create(self, id: str, env: Any = None, cwd: str | None = None) -> dict[str, Any]:
        words = [word for name, value in (env or {}).items() for word in ("--env", f"{name}={value}")]
        words += ["--cwd", cwd] if cwd else []
        return pick(self.atoll("session", "create", NAME, id, *words), "state")

    def session_fork(self, id: str, new: str) -> dict[str, Any]:
        return pick(self.atoll("session", "fork", NAME, id, new), "state")

    def session_restart(self, id: str) -> dict[str, Any]:
        return pick(self.atoll("session", "restart", NAME, id), "state")

    def session_list(self) -> dict[str, Any]:
        return {"ids": sorted(each["id"] for each in self.atoll("session", "ls", NAME)["sessions"])}

    def session_delete(self, id: str) -> dict[str, Any]:
        self.atoll("session", "rm", NAME, id)
        return {}


def pick(said: Any, *names: str) -> dict[str, Any]:
    if "error" in said:
        return dict(said)
    said = said[0] if isinstance(said, list) else said
    return {name: said[name] for name in names}


def play(driver: Any) -> None:
    for number, step in enumerate(STEPS):
        got = driver.run(step)
        assert {key: got.get(key) for key in step["expect"]} == step["expect"], f"step {number}: {step} gave {got}"


def test_the_sdk_plays_the_scenario(client: Any) -> None:
    play(BySdk(client))


def test_the_command_line_plays_the_scenario(server: Any) -> None:
    play(ByCommandLine(server))


def test_every_step_says_what_it_expects() -> None:
    assert all("expect" in step and step["op"] in dir(BySdk) for step in STEPS) and len(STEPS) > 30
