"""A coding agent over a sandbox: tools, a loop, and a model that is scripted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from atoll import RefusedError, Sandbox, Session

PROJECT = {
    "stats.py": "def mean(values):\n    return sum(values) / len(values)\n\ndef median(values):\n"
    "    return values[len(values) // 2]\n",
    "test_stats.py": "import unittest\nfrom stats import mean, median\n\nclass Stats(unittest.TestCase):\n"
    "    def test_mean(self): self.assertEqual(mean([1, 2, 6]), 3)\n"
    "    def test_median(self): self.assertEqual(median([9, 1, 5]), 5)\n",
}


@dataclass
class Call:
    """A tool that the model asks for."""

    tool: str
    arguments: dict[str, Any]


@dataclass
class Done:
    """What the model says at the end."""

    text: str


class Tools:
    """What the model may do. Each gives back a text that fits into a context."""

    def __init__(self, sandbox: Sandbox, session: Session) -> None:
        self.sandbox = sandbox
        self.session = session

    def run(self, command: str) -> str:
        result = self.session.exec(command, timeout_ms=60_000, idle_timeout_ms=30_000, answer_bytes=8_000)
        how = "" if result.code == 0 else f"[{result.end.reason}: {result.code}]"
        return result.stdout + result.stderr + how

    def read(self, path: str) -> str:
        return self.sandbox.files.read_text(f"project/{path}")

    def search(self, pattern: str) -> str:
        found = self.sandbox.files.search(pattern, "project", include=["*.py"], max_matches=50, sorted=True)
        return "\n".join(f"{match.path}:{match.line}: {match.text.rstrip()}" for match in found.matches)

    def edit(self, path: str, old: str, new: str) -> str:
        receipt = self.sandbox.files.edit(f"project/{path}", [{"old": old, "new": new}])
        return f"changed line {receipt.lines[0][0]}"

    def call(self, call: Call) -> str:
        tools: dict[str, Callable[..., str]] = {"run": self.run, "read": self.read, "search": self.search, "edit": self.edit}
        try:
            return tools[call.tool](**call.arguments)
        except RefusedError as error:
            return f"{error.code}: nothing was changed"


class Scripted:
    """Stands for a model: what it asks for next depends on what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._script = self._play()

    def next(self, told: str | None) -> Call | Done:
        if told is not None:
            self.told.append(told)
        return next(self._script)

    def _play(self) -> Iterator[Call | Done]:
        test = Call("run", {"command": "python3 -m unittest -q 2>&1 | tail -4"})
        yield test
        assert "FAILED" in self.told[-1]
        yield Call("search", {"pattern": "def median"})
        yield Call("read", {"path": "stats.py"})
        # It remembers the file wrongly, is told, and reads again what it had read.
        yield Call("edit", {"path": "stats.py", "old": "return sorted(values)[len(values) // 2]", "new": "return ordered[half]"})
        assert "CONTENT_MISMATCH" in self.told[-1]
        wrong = re.search(r"return values\[.*", self.told[-2])
        assert wrong
        yield Call("edit", {"path": "stats.py", "old": wrong[0], "new": wrong[0].replace("values", "sorted(values)", 1)})
        yield test
        yield Done("the median of an unsorted list was wrong" if "OK" in self.told[-1] else "it still fails")


def shown(text: str) -> Iterator[str]:
    """A few lines of a result, for whoever looks on."""
    for line in [line for line in text.splitlines() if line.strip() and not line.startswith("-")][:2]:
        yield "  " + re.sub(r"in [0-9.]+s", "in", line).rstrip()


def main() -> None:
    with Sandbox.temporary(labels={"kind": "agent"}) as sandbox:
        sandbox.files.upload("project", PROJECT)
        sandbox.exec("git init -q -b main", cwd="project").check()
        author = {"name": "Agent", "email": "agent@example.org"}
        sandbox.git.commit("project", "as it was", all=True, author=author)
        with sandbox.sessions.create(cwd="project", env={"PYTHONDONTWRITEBYTECODE": "1"}) as session:
            tools, model = Tools(sandbox, session), Scripted()
            asked = model.next(None)
            while isinstance(asked, Call):
                print(">", asked.tool, asked.arguments)
                result = tools.call(asked)
                for line in shown(result) if asked.tool != "read" else ["  " + result.splitlines()[0]]:
                    print(line)
                asked = model.next(result)
        print("done:", asked.text)
        changed = [line for line in sandbox.git.diff("project").diff.splitlines() if re.match(r"[-+] ", line)]
        print("\n".join(changed))


if __name__ == "__main__":
    main()
