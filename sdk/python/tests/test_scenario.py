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

    def write(self, path: str, data: str) -> dict[str, Any]:
        self.sandbox.files.write(path, data, parents=True)
        return {}

    def read(self, path: str) -> dict[str, Any]:
        return {"data": self.sandbox.files.read_text(path)}

    def files(self, path: str, recursive: bool) -> dict[str, Any]:
        return {"paths": [each.path for each in self.sandbox.files.list(path, depth=256 if recursive else 1)]}

    def search(self, pattern: str, path: str) -> dict[str, Any]:
        found = self.sandbox.files.search(pattern, path, sorted=True)
        return {"found": sorted(f"{each.path}:{each.line}" for each in found.matches)}

    def edit(self, path: str, old: str, new: str) -> dict[str, Any]:
        return {"lines": self.sandbox.files.edit(path, [{"old": old, "new": new}]).lines}

    def watch(self, path: str, count: int) -> dict[str, Any]:
        with self.sandbox.watch(path, existing=True) as watch:
            told = [next(watch) for _ in range(count)]
        return {"events": in_order([f"{each.change} {each.path}" for each in told])}

    def git_clone(self, url: str, path: str) -> dict[str, Any]:
        cloned = self.sandbox.git.clone(url, path=path)
        return {"branch": cloned.branch, "path": cloned.path}

    def git_commit(self, path: str, message: str) -> dict[str, Any]:
        author = {"name": "Me", "email": "me@example.org"}
        return {"branch": self.sandbox.git.commit(path, message, all=True, author=author).branch}

    def git_checkout(self, path: str, target: str, create: bool) -> dict[str, Any]:
        return {"branch": self.sandbox.git.checkout(path, target, create=create).branch}

    def git_status(self, path: str) -> dict[str, Any]:
        return {"changed": [each.path for each in self.sandbox.git.status(path).entries]}

    def git_log(self, path: str) -> dict[str, Any]:
        return {"subjects": [each.subject for each in self.sandbox.git.log(path).commits]}

    def git_branches(self, path: str) -> dict[str, Any]:
        return {"names": [each.name for each in self.sandbox.git.branches(path).branches]}

    def network(self) -> dict[str, Any]:
        return {"domains": [rule.domain for rule in self.sandbox.network.get().policy.allow]}

    def network_set(self, domains: Any) -> dict[str, Any]:
        told = self.sandbox.network.set(allow=[{"domain": each} for each in domains])
        return {"domains": [rule.domain for rule in told.policy.allow]}

    def secret_put(self, name: str, value: str, host: str) -> dict[str, Any]:
        return {"hosts": self.sandbox.secrets.put(name, value, hosts=[host]).hosts}

    def secrets(self) -> dict[str, Any]:
        return {"names": [each.name for each in self.sandbox.secrets.list()]}

    def secret_delete(self, name: str) -> dict[str, Any]:
        self.sandbox.secrets.delete(name)
        return {}

    def expose(self, port: int, name: str) -> dict[str, Any]:
        preview = self.sandbox.ports.expose(port, name=name)
        return {"port": preview.port, "visibility": preview.visibility, "name": preview.name}

    def previews(self) -> dict[str, Any]:
        return {"ports": [each.port for each in self.sandbox.ports.previews()]}

    def unexpose(self, port: int) -> dict[str, Any]:
        self.sandbox.ports.unexpose(port)
        return {}


def in_order(events: list[str]) -> list[str]:
    """What is there already comes in the order of the file system; that it has been told comes last."""
    return sorted(events[:-1]) + events[-1:]


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
        try:
            said = json.loads(done.stdout) if done.stdout.strip() else {}
        except ValueError:
            # A line for each thing, or a file as it is.
            return done.stdout.decode()
        return {"error": said["error"]["code"]} if "error" in said and isinstance(said, dict) else said

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

    def write(self, path: str, data: str) -> dict[str, Any]:
        self.atoll("cp", "-", f"{NAME}:{path}", stdin=data)
        return {}

    def read(self, path: str) -> dict[str, Any]:
        said = self.atoll("cat", f"{NAME}:{path}")
        return dict(said) if "error" in said else {"data": said}

    def files(self, path: str, recursive: bool) -> dict[str, Any]:
        said = self.atoll("ls-files", f"{NAME}:{path}", *(["-r"] if recursive else []))
        return {"paths": [json.loads(line)["path"] for line in said.splitlines()]}

    def search(self, pattern: str, path: str) -> dict[str, Any]:
        lines = [json.loads(line) for line in self.atoll("grep", NAME, pattern, path).splitlines()]
        return {"found": sorted(f"{each['match']['path']}:{each['match']['line']}" for each in lines if "match" in each)}

    def edit(self, path: str, old: str, new: str) -> dict[str, Any]:
        return pick(self.atoll("edit", f"{NAME}:{path}", "--old", old, "--new", new), "lines")

    def watch(self, path: str, count: int) -> dict[str, Any]:
        lines = self.atoll("watch", NAME, path, "--existing", "--count", str(count)).splitlines()
        told = [json.loads(line) for line in lines]
        return {"events": in_order([f"{each['change']} {each['path']}" for each in told])}

    def git_clone(self, url: str, path: str) -> dict[str, Any]:
        return pick(self.atoll("git", "clone", NAME, url, path), "branch", "path")

    def git_commit(self, path: str, message: str) -> dict[str, Any]:
        author = "Me <me@example.org>"
        return pick(self.atoll("git", "commit", NAME, path, "--all", "-m", message, "--author", author), "branch")

    def git_checkout(self, path: str, target: str, create: bool) -> dict[str, Any]:
        return pick(self.atoll("git", "checkout", NAME, path, target, *(["-b"] if create else [])), "branch")

    def git_status(self, path: str) -> dict[str, Any]:
        return {"changed": [each["path"] for each in self.atoll("git", "status", NAME, path)["entries"]]}

    def git_log(self, path: str) -> dict[str, Any]:
        return {"subjects": [each["subject"] for each in self.atoll("git", "log", NAME, path)]}

    def git_branches(self, path: str) -> dict[str, Any]:
        return {"names": [each["name"] for each in self.atoll("git", "branches", NAME, path)]}

    def network(self) -> dict[str, Any]:
        return {"domains": [rule["domain"] for rule in self.atoll("egress", NAME)["policy"].get("allow", [])]}

    def network_set(self, domains: Any) -> dict[str, Any]:
        self.atoll("egress", NAME, *(["allow", *domains] if domains else ["deny"]))
        return self.network()

    def secret_put(self, name: str, value: str, host: str) -> dict[str, Any]:
        return pick(self.atoll("secret", NAME, "put", name, "--host", host, stdin=value), "hosts")

    def secrets(self) -> dict[str, Any]:
        return {"names": [each["name"] for each in self.atoll("secret", NAME, "list")]}

    def secret_delete(self, name: str) -> dict[str, Any]:
        return pick(self.atoll("secret", NAME, "rm", name))

    def expose(self, port: int, name: str) -> dict[str, Any]:
        return pick(self.atoll("expose", NAME, str(port), "--name", name), "port", "visibility", "name")

    def previews(self) -> dict[str, Any]:
        return {"ports": [each["port"] for each in self.atoll("ports", NAME)["previews"]]}

    def unexpose(self, port: int) -> dict[str, Any]:
        return pick(self.atoll("unexpose", NAME, str(port)))


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
