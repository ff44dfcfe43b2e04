"""Lines that break: nothing twice, nothing missing, nothing run again."""

from __future__ import annotations

import hashlib
import os
import resource
import threading
from typing import Any

import pytest
from proxy import CuttingProxy

from atoll import errors

# How much a stream carries: a little, or as much as `ATOLL_SDK_STREAM_BYTES` says.
STREAM_BYTES = int(os.environ.get("ATOLL_SDK_STREAM_BYTES", 48 * 1024 * 1024))
# What this process may use, however much a stream carries.
MEMORY_MAX = 512 * 1024 * 1024


def counted(count: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(1, count + 1))


def test_logs_go_on_at_the_same_byte(make_client: Any, server: Any, shared_sandbox: str) -> None:
    with CuttingProxy(server.url, least=500, most=200_000, seed=7) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        process = sandbox.processes.start("for i in 1 2 3 4 5; do seq 1 20000; seq 1 2000 >&2; sleep 0.02; done")
        cursor = 0
        parts = {"stdout": b"", "stderr": b""}
        for output in process.logs():
            assert output.cursor == cursor
            cursor = output.end
            parts[output.stream] += output.bytes
        assert parts == {"stdout": counted(20000) * 5, "stderr": counted(2000) * 5}
        assert proxy.cut > 3


def test_a_command_is_run_once_however_often_the_line_breaks(make_client: Any, server: Any, shared_sandbox: str) -> None:
    with CuttingProxy(server.url, least=0, most=100_000, seed=3) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        with sandbox.exec_stream("echo once >> /tmp/runs-$KEY; seq 1 100000", env={"KEY": "stream"}, answer_bytes=1000) as stream:
            assert b"".join(output.bytes for output in stream) == counted(100000)
        assert proxy.cut > 2
    with CuttingProxy(server.url, least=0, most=300, seed=5, cuts=3) as proxy:
        # The answer itself is cut, again and again: the command is found again by its id.
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        result = sandbox.exec("echo once >> /tmp/runs-$KEY; seq 1 10000", env={"KEY": "exec"})
        assert result.stdout_bytes == counted(10000) and proxy.cut == 3
    direct = make_client().sandbox(shared_sandbox)
    assert direct.exec("cat /tmp/runs-stream /tmp/runs-exec; rm /tmp/runs-*").stdout == "once\nonce\n"


def test_input_arrives_once(make_client: Any, server: Any, shared_sandbox: str) -> None:
    data = counted(400_000)
    with CuttingProxy(server.url, least=0, most=250, seed=11, cuts=4) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        process = sandbox.processes.start("sha256sum; wc -c < /dev/null", stdin="pipe")
        process.write(data)
        process.close_stdin()
        assert process.logs().collect()[0].split()[0].decode() == hashlib.sha256(data).hexdigest()
        assert proxy.cut == 4


def test_a_terminal_goes_on_at_the_same_byte(make_client: Any, server: Any, shared_sandbox: str) -> None:
    with CuttingProxy(server.url, least=400, most=60_000, seed=13) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        with sandbox.terminals.open("stty -opost; seq 1 100000; read -r line; exit 9") as terminal:
            seen = bytearray()
            with terminal.attach(since=0) as view:
                for output in view:
                    assert output.cursor == len(seen)
                    seen += output.bytes
                    if seen.endswith(b"\n100000\n"):
                        view.write("go\n")
            assert bytes(seen).startswith(counted(100000)) and view.end.code == 9
            assert proxy.cut > 3


def test_a_stream_outlives_its_server(make_client: Any, server: Any) -> None:
    """The server is killed and started again in the middle; the sandbox and its output are there as before."""
    from conftest import Server

    own = Server()
    try:
        client = make_client(own.url, own.token)
        sandbox = client.sandboxes.create("outlives")
        process = sandbox.processes.start("seq 1 50000; read -r line; seq 1 50000", stdin="pipe")
        seen = b""
        for output in process.logs():
            restart = not seen
            seen += output.bytes
            if restart:
                own.kill()
                own.start(own.url.removeprefix("http://"))
                process.write("go\n")
        assert seen == counted(50000) * 2
        assert client.sandboxes.get("outlives").exec("echo there").stdout == "there\n"
    finally:
        own.close()


def test_a_large_stream_arrives_whole(make_client: Any, shared_sandbox: str) -> None:
    sandbox = make_client().sandbox(shared_sandbox)
    command = f"head -c {STREAM_BYTES} /dev/urandom | tee >(sha256sum >&2); wait $!"
    digest, length = hashlib.sha256(), 0
    told = b""
    with sandbox.exec_stream(command) as stream:
        for output in stream:
            if output.stream == "stderr":
                told += output.bytes
                continue
            digest.update(output.bytes)
            length += len(output.bytes)
    assert length == STREAM_BYTES and told.split()[0].decode() == digest.hexdigest()
    sandbox.processes.get(stream.id).remove()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < MEMORY_MAX


def test_many_at_once(make_client: Any, shared_sandbox: str, request: Any) -> None:
    if "async" in request.node.name:
        from asyncio import gather

        client = make_client()
        sandbox = client.sandbox(shared_sandbox)._inner

        async def all_of_them() -> list[str]:
            results = await gather(*(sandbox.exec(f"echo {number}; sleep 0.1") for number in range(50)))
            return [result.stdout.strip() for result in results]

        assert client._loop.run_until_complete(all_of_them()) == [str(number) for number in range(50)]
        return
    sandbox = make_client().sandbox(shared_sandbox)
    results: dict[int, str] = {}
    run = lambda number: results.update({number: sandbox.exec(f"echo {number}; sleep 0.1").stdout.strip()})  # noqa: E731
    threads = [threading.Thread(target=run, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: str(number) for number in range(50)}


def test_a_cancelled_call_takes_its_command_along(server: Any, shared_sandbox: str) -> None:
    import asyncio

    import atoll.aio

    async def cancel() -> Any:
        async with atoll.aio.Client(server.url, server.token) as client:
            sandbox = client.sandbox(shared_sandbox)
            task = asyncio.create_task(sandbox.exec("echo begun; exec sleep 1000", id="cancelled-exec"))
            while not [each for each in await sandbox.processes.list(state="running") if each.id == "cancelled-exec"]:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            ended = await (await sandbox.processes.get("cancelled-exec")).wait(timeout_ms=10_000)
            # A stream that is cancelled while it waits loses nothing: it can be iterated further.
            process = await sandbox.processes.start("echo one; read -r line; echo two", stdin="pipe")
            logs = process.logs()
            first = await logs.__anext__()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(logs.__anext__(), 0.1)
            await process.write("go\n")
            rest = [output.text async for output in logs]
            return ended.reason, first.text, rest

    assert asyncio.run(cancel()) == ("killed", "one\n", ["two\n"])


def test_ctrl_c_takes_the_command_along(server: Any, shared_sandbox: str) -> None:
    import signal
    import subprocess
    import sys

    import atoll

    # Whoever runs the tests in the background has it ignored.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = heed + "; import atoll; atoll.Client().sandbox('shared').exec('exec sleep 1000', id='interrupted-exec')"
    child = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    with atoll.Client(server.url, server.token) as client:
        processes = client.sandbox(shared_sandbox).processes
        while not [each for each in processes.list(state="running") if each.id == "interrupted-exec"]:
            pass
        child.send_signal(signal.SIGINT)
        child.wait()
        assert processes.get("interrupted-exec").wait(timeout_ms=10_000).reason == "killed"


def test_patience_ends(make_client: Any, server: Any, shared_sandbox: str) -> None:
    with CuttingProxy(server.url, least=0, most=10) as proxy:
        sandbox = make_client(proxy.url, patience=0.3).sandbox(shared_sandbox)
        with pytest.raises(errors.BrokenError):
            sandbox.exec("true")
        with pytest.raises(ConnectionError):
            next(iter(sandbox.exec_stream("true")))
    with pytest.raises(errors.UnreachableError, match="cannot reach"):
        make_client(proxy.url).sandbox(shared_sandbox).exec("true")


def test_what_is_to_end_with_its_line_is_not_asked_for_again(make_client: Any, server: Any, shared_sandbox: str) -> None:
    with CuttingProxy(server.url, least=0, most=10) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        with pytest.raises(errors.BrokenError):
            sandbox.exec("sleep 0.2", on_disconnect="kill")
        with pytest.raises(errors.BrokenError):
            list(sandbox.exec_stream("sleep 0.2", on_disconnect="kill"))


def test_a_process_is_talked_with_over_a_line_that_breaks(make_client: Any, server: Any, shared_sandbox: str) -> None:
    data = counted(150_000)
    with CuttingProxy(server.url, least=400, most=150_000, seed=19) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        process = sandbox.processes.start(["cat"], stdin="pipe")
        with process.attach() as line:
            line.write(data)
            line.close_stdin()
            seen = b"".join(output.bytes for output in line)
        assert seen == data and line.end.code == 0 and line.cursor == len(data)
        assert proxy.cut > 3


def test_a_listing_goes_on_behind_the_last_entry(make_client: Any, server: Any, shared_sandbox: str) -> None:
    direct = make_client().sandbox(shared_sandbox)
    direct.exec("mkdir -p many/sub && cd many && seq -f 'file %04g' 3000 | xargs -d '\\n' touch && touch $'sub/\\xff'").check()
    with CuttingProxy(server.url, least=300, most=150_000, seed=23) as proxy:
        files = make_client(proxy.url).sandbox(shared_sandbox).files
        paths = [each.path for each in files.list("many", depth=2)]
        assert paths[:3000] == [f"file {number:04}" for number in range(1, 3001)] and len(paths) == 3002
        assert proxy.cut > 2
    direct.files.remove("many", recursive=True)


def test_a_watch_goes_on_with_the_same_event(make_client: Any, server: Any, shared_sandbox: str) -> None:
    direct = make_client().sandbox(shared_sandbox)
    with CuttingProxy(server.url, least=200, most=20_000, seed=29) as proxy:
        sandbox = make_client(proxy.url).sandbox(shared_sandbox)
        direct.exec("mkdir -p watched")
        with direct.watch("watched") as made:
            watch = sandbox.get_watch(made.id)
            direct.exec("cd watched && for n in $(seq 1 500); do mkdir d$n; done").check()
            seen: list[str] = []
            while len(seen) < 500:
                event = next(watch)
                assert event.change != "overflow"
                if event.change == "created":
                    seen.append(event.path)
            assert seen == [f"d{number}" for number in range(1, 501)] and proxy.cut > 2
            watch.close()
    direct.files.remove("watched", recursive=True)


def test_what_is_left_behind_is_tidied_up(make_client: Any, shared_sandbox: str) -> None:
    """What a `with` block made is gone after it, also if it ended badly."""
    sandbox = make_client().sandbox(shared_sandbox)
    with pytest.raises(RuntimeError, match="enough"):
        with (
            sandbox.processes.start("sleep 1000", id="tidied") as process,
            sandbox.sessions.create(id="tidied"),
            sandbox.terminals.open("sleep 1000", id="tidied"),
            sandbox.watch("/tmp", id="tidied"),
        ):
            raise RuntimeError("enough")
    assert process.wait(timeout_ms=10_000).reason == "killed"
    for listed in (sandbox.sessions.list(), sandbox.terminals.list(), sandbox.watches()):
        assert "tidied" not in [each.id for each in listed]
    process.remove()
