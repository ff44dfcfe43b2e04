"""What a user of the installed package writes, to be checked by mypy --strict and run."""

import asyncio
import sys

import atoll
from atoll import aio
from atoll.models import EndRecord


def blocking(sandbox: atoll.Sandbox) -> int:
    result: atoll.CommandResult = sandbox.exec("echo typed", env={"A": None}, timeout_ms=10_000)
    end: EndRecord = sandbox.processes.start(["true"], stdin="closed", restart={"on_failure": {"max": 1}}).wait()
    with sandbox.exec_stream("echo streamed") as stream:
        pieces: list[str] = [output.text for output in stream]
    with sandbox.processes.start("cat", stdin="pipe") as process, process.attach() as line:
        line.write("over")
        first: atoll.Output = next(line)
        assert first.bytes == b"over" and line.cursor == 4
    sizes: list[int] = [each.size for each in sandbox.files.list("/etc")]
    assert sizes
    assert result.stdout == "typed\n" and pieces == ["streamed\n"] and end.code is not None
    return end.code


async def awaited() -> str:
    async with await aio.Sandbox.temporary(labels={"kind": "check"}, limits={"open_files": 512}) as sandbox:
        async with await sandbox.sessions.create(cwd="/tmp") as session:
            return (await session.exec("pwd")).stdout


with atoll.Sandbox.temporary() as sandbox:
    assert blocking(sandbox) == 0
    # What is wrong is seen before it runs.
    if len(sys.argv) > 5:
        sandbox.exec("true", timeout_ms="soon")  # type: ignore[arg-type]
        sandbox.exec("true", no_such_option=1)  # type: ignore[call-arg]
assert asyncio.run(awaited()) == "/tmp\n"
print("the wheel works")
