"""Runs each test file of a directory in a sandbox of its own, several at once."""

from __future__ import annotations

import argparse
import asyncio
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from atoll.aio import Client

# How long one test file may take, in milliseconds.
LIMIT = 3_000


@dataclass
class Outcome:
    path: str
    verdict: str
    why: str = ""

    @property
    def order(self) -> tuple[int, str]:
        return ["passed", "failed", "timeout"].index(self.verdict), self.path


def packed(folder: Path) -> bytes:
    """The project as an archive, once for all."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.add(folder, arcname=folder.name)
    return archive.getvalue()


async def run(client: Client, project: bytes, path: str, gate: asyncio.Semaphore) -> Outcome:
    async with gate, await client.sandboxes.create(labels={"kind": "test"}) as sandbox:
        try:
            await sandbox.files.unpack(".", project, format="tar.gz")
            command = ["python3", "-m", "unittest", "-q", path]
            result = await sandbox.exec(command, timeout_ms=LIMIT, background="kill", answer_bytes=100_000)
        finally:
            await sandbox.delete()
    if result.end.reason == "timeout":
        return Outcome(path, "timeout")
    if result.ok:
        return Outcome(path, "passed")
    why = [line for line in result.stderr.splitlines() if "Error" in line]
    return Outcome(path, "failed", why[-1] if why else result.end.reason)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--at-once", type=int, default=8)
    arguments = parser.parse_args()
    tests = sorted(str(path) for path in arguments.folder.rglob("test_*.py"))
    gate = asyncio.Semaphore(arguments.at_once)
    async with Client() as client:
        project = packed(arguments.folder)
        outcomes = await asyncio.gather(*(run(client, project, path, gate) for path in tests))
        left = len([each async for each in client.sandboxes.list(labels={"kind": "test"})])
    for each in sorted(outcomes, key=lambda outcome: outcome.order):
        print(f"{each.verdict:8} {each.path}{': ' + each.why if each.why else ''}")
    passed = sum(each.verdict == "passed" for each in outcomes)
    print(f"{passed} of {len(outcomes)} passed; {left} sandboxes left")


if __name__ == "__main__":
    asyncio.run(main())
