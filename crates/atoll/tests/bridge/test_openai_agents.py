"""The sandbox client of `openai-agents` as it comes from PyPI, against a real server: `scripts/bridge` starts both.

Every test has a sandbox of its own and removes it. Nothing of the client is replaced or looked into but what it is
asked for: `_inner` is the session that its wrapper holds, for what the wrapper does not pass on.
"""

import asyncio
import io
import logging
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any

import aiohttp
from agents import Model, ModelResponse, RunConfig, Runner, Usage
from agents.extensions.sandbox.cloudflare import CloudflareSandboxClient, CloudflareSandboxClientOptions
from agents.run_config import SandboxRunConfig
from agents.sandbox import Manifest, SandboxAgent
from agents.sandbox.entries import File
from agents.sandbox.errors import (
    ConfigurationError,
    ExecTransportError,
    MountConfigError,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
    WorkspaceStartError,
)
from agents.sandbox.snapshot import LocalSnapshot
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

URL = os.environ["BRIDGE_URL"]
TOKEN = os.environ["CLOUDFLARE_SANDBOX_API_KEY"]
OPTIONS = CloudflareSandboxClientOptions(worker_url=URL, api_key=TOKEN)

# What no text is, and what an event stream would choke on.
AWKWARD = bytes(range(256)) + b"\r\n\r\ndata: x\n\nevent: exit\n\n" + "é世".encode()[:-1]


async def ask(method: str, path: str, **more: Any) -> tuple[int, Any]:
    """Atoll's own API, for what a client of the bridge cannot do or see."""
    headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
    async with aiohttp.ClientSession(headers=headers) as http, http.request(method, URL + path, **more) as answer:
        is_json = answer.content_type == "application/json"
        return answer.status, await (answer.json() if is_json else answer.read())


class Scripted(Model):
    """A model that has made up its mind: what it does, one after the other."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs = list(outputs)
        self.seen: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.seen = list(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class Tests(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        # Both speak of the client's own ways: how it sends, and how long that takes under a debugging loop.
        warnings.simplefilter("ignore", ResourceWarning)
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        self.client = CloudflareSandboxClient()
        self.sessions: list[Any] = []

    async def asyncTearDown(self) -> None:
        for session in self.sessions:
            await self.client.delete(session)
            status, _ = await ask("GET", f"/v1/sandboxes/{session.state.sandbox_id}")
            self.assertEqual(status, 404, "nothing of it is left")
            await session._inner._close_http()

    async def resumed(self, state: Any) -> Any:
        """Another session of the same sandbox, from what would be kept on disk."""
        state = self.client.deserialize_session_state(self.client.serialize_session_state(state))
        session = await self.client.resume(state)
        self.sessions.append(session)
        return session

    async def new(self, *, start: bool = True, **more: Any) -> Any:
        session = await self.client.create(options=more.pop("options", OPTIONS), **more)
        self.sessions.append(session)
        if start:
            await session.start()
        return session

    async def text(self, session: Any, path: str) -> str:
        return (await session.read(Path(path))).read().decode()

    async def test_a_command_has_two_outputs_and_a_code(self) -> None:
        session = await self.new()
        self.assertRegex(session.state.sandbox_id, "^[a-z2-7]{26}$")
        result = await session.exec("echo out; echo err >&2; pwd; exit 7")
        self.assertEqual((result.stdout, result.stderr, result.exit_code), (b"out\n/workspace\n", b"err\n", 7))
        result = await session.exec("printf", "%s|", "two words", "it's", "$HOME", "", "a\nb", "*", "\\", shell=False)
        self.assertEqual(result.stdout, b"two words|it's|$HOME||a\nb|*|\\|")
        result = await session.exec("no-such-program", shell=False)
        self.assertEqual((result.stdout, result.exit_code), (b"", 127))
        self.assertIn(b"no-such-program", result.stderr)
        result = await session.exec("kill -9 $$")
        self.assertEqual(result.exit_code, 137)
        result = await session.exec("command", "-v", "sh", shell=False)
        self.assertTrue(result.ok() and result.stdout.endswith(b"/sh\n"))

    async def test_output_is_exact_and_may_be_large(self) -> None:
        session = await self.new()
        await session.write(Path("awkward"), io.BytesIO(AWKWARD))
        result = await session.exec("cat", "awkward", shell=False)
        self.assertEqual(result.stdout, AWKWARD)
        result = await session.exec("head -c 20000000 /dev/zero; echo behind >&2")
        self.assertEqual((len(result.stdout), result.stderr, result.exit_code), (20_000_000, b"behind\n", 0))
        longer = "x" * 100_000
        result = await session.exec("printf", "%s", longer, longer, shell=False)
        self.assertEqual(result.stdout.decode(), 2 * longer)

    async def test_variables_of_the_manifest_reach_a_command(self) -> None:
        manifest = Manifest(entries={"hello.txt": File(content=b"from the manifest")}, environment={"value": {"WORD": "two words"}})
        session = await self.new(manifest=manifest)
        self.assertEqual((await session.exec('echo "$WORD"')).stdout, b"two words\n")
        self.assertEqual(await self.text(session, "hello.txt"), "from the manifest")

    async def test_a_command_whose_time_is_up_is_ended_with_all_it_started(self) -> None:
        session = await self.new()
        result = await session.exec("echo begun; sleep 1000 & sleep 1000", timeout=1.0)
        self.assertEqual((result.stdout, result.exit_code), (b"begun\n", 124))
        self.assertEqual(result.stderr, b"Command timed out after 1000ms\n")
        left = await session.exec("! grep -lz '^sleep' /proc/[0-9]*/cmdline")
        self.assertTrue(left.ok(), left.stdout)

    async def test_who_gives_up_takes_the_command_along(self) -> None:
        session = await self.new()
        begun = asyncio.create_task(session.exec("touch begun; exec sleep 1000", timeout=60.0))
        while not (await session.exec("test -e begun")).ok():
            await asyncio.sleep(0.05)
        begun.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await begun
        result = await session.exec("while grep -qsz '^sleep' /proc/[0-9]*/cmdline; do read -t 0.1 < <(:); done", shell=["bash", "-c"])
        self.assertTrue(result.ok())

    async def test_twenty_megabytes_are_written_and_read(self) -> None:
        session = await self.new()
        content = os.urandom(20 * 1024 * 1024)
        await session.write(Path("deep/er/large.bin"), io.BytesIO(content))
        self.assertEqual((await session.read(Path("deep/er/large.bin"))).read(), content)
        self.assertEqual(await session.read_bounded(Path("deep/er/large.bin"), max_bytes=1000), content[:1000])
        for name in ["a b.txt", "100%.txt", "é+&=?#.txt", "/workspace/absolute.txt"]:
            await session.write(Path(name), io.BytesIO(name.encode()))
            self.assertEqual(await self.text(session, name), name)
        names = {Path(entry.path).name for entry in await session.ls(Path("."))}
        self.assertLessEqual({"a b.txt", "100%.txt", "é+&=?#.txt", "absolute.txt", "deep"}, names)
        await session.mv(Path("a b.txt"), Path("moved"))
        await session.rm(Path("deep"), recursive=True)
        self.assertEqual(await self.text(session, "moved"), "a b.txt")

    async def test_what_cannot_be_read_or_written_is_told(self) -> None:
        session = await self.new()
        with self.assertRaises(WorkspaceReadNotFoundError):
            await session.read(Path("nothing"))
        with self.assertRaises(WorkspaceArchiveReadError) as caught:
            await session.read(Path("/workspace"))
        self.assertEqual(caught.exception.context["http_status"], 400)
        await session.write(Path("file"), io.BytesIO(b""))
        with self.assertRaises(WorkspaceArchiveWriteError):
            await session.write(Path("file/below"), io.BytesIO(b""))
        # What the client itself would not ask for.
        inner, outside = session._inner, Path("/etc/passwd")

        async def as_it_is(path: Any, **_: Any) -> Path:
            return Path(path)

        inner._validate_path_access = as_it_is
        with self.assertRaises(WorkspaceArchiveReadError) as caught:
            await inner.read(outside)
        self.assertEqual(caught.exception.context["reason"], "path_escape")
        with self.assertRaises(WorkspaceArchiveWriteError) as refused:
            await inner.write(outside, io.BytesIO(b"x"))
        self.assertEqual(refused.exception.context["reason"], "path_escape")

    async def test_a_wrong_token_is_told(self) -> None:
        wrong = CloudflareSandboxClientOptions(worker_url=URL, api_key="atoll_wrong_token")
        with self.assertRaises(ConfigurationError) as caught:
            await self.client.create(options=wrong)
        self.assertEqual(caught.exception.context["http_status"], 401)
        self.assertRegex(str(caught.exception.context["provider_error"]), "^unauthorized: ")
        session = await self.new()
        await session._inner._close_http()
        session._inner._api_key = "atoll_wrong_token"
        with self.assertRaises(ExecTransportError) as refused:
            await session.exec("true")
        self.assertEqual(refused.exception.context["http_status"], 401)
        self.assertFalse(await session.running())
        await session._inner._close_http()
        session._inner._api_key = TOKEN
        self.assertTrue(await session.running())

    async def test_a_token_that_may_only_look_cannot_begin(self) -> None:
        status, made = await ask("POST", "/v1/tokens", json={"scopes": [{"sandboxes": "*", "verbs": ["read"]}]})
        self.assertEqual(status, 201, made)
        narrow = CloudflareSandboxClientOptions(worker_url=URL, api_key=made["token"])
        with self.assertRaises(ConfigurationError) as caught:
            await self.client.create(options=narrow)
        self.assertEqual(caught.exception.context["http_status"], 403)
        await ask("DELETE", f"/v1/tokens/{made['info']['id']}")

    async def test_a_bucket_cannot_be_mounted(self) -> None:
        session = await self.new()
        for asked in (
            session._inner.mount_bucket(bucket="b", mount_path="data", options={"endpoint": "https://s3.example"}),
            session._inner.unmount_bucket("data"),
        ):
            with self.assertRaises(MountConfigError) as caught:
                await asked
            self.assertEqual(caught.exception.context["http_status"], 501)
            self.assertIn("buckets cannot be mounted here", str(caught.exception.context["reason"]))

    async def test_a_terminal_is_typed_into(self) -> None:
        session = await self.new()
        began = await session.pty_exec_start("read -p 'name? ' name; echo hello $name", tty=True, yield_time_s=1.0)
        seen, process = began.output, began.process_id
        while b"name? " not in seen:
            seen += (await session.pty_write_stdin(session_id=process, chars="", yield_time_s=0.25)).output
        answered = await session.pty_write_stdin(session_id=process, chars="Ada\n", yield_time_s=1.0)
        while b"hello Ada" not in answered.output:
            answered = await session.pty_write_stdin(session_id=process, chars="", yield_time_s=0.25)
        ended = await session.pty_write_stdin(session_id=process, chars="exit 3\n", yield_time_s=5.0)
        self.assertEqual((ended.exit_code, ended.process_id), (3, None))

    async def test_a_terminal_that_is_left_is_ended(self) -> None:
        session = await self.new()
        began = await session.pty_exec_start("sleep 1000", tty=True, yield_time_s=0.25)
        self.assertIsNotNone(began.process_id)
        place = f"/v1/sandboxes/{session.state.sandbox_id}/terminals"
        self.assertEqual(len((await ask("GET", place))[1]["terminals"]), 1)
        await session.pty_terminate_all()
        while (await ask("GET", place))[1]["terminals"]:
            await asyncio.sleep(0.05)

    async def test_sessions_remember(self) -> None:
        session = await self.new()
        place = f"/v1/sandbox/{session.state.sandbox_id}"
        status, made = await ask("POST", f"{place}/session", json={"id": "s1", "cwd": "/tmp", "env": {"A": "1"}})
        self.assertEqual((status, made), (200, {"id": "s1"}))
        http = session._inner._session()

        async def run(name: str, command: str) -> Any:
            # The client has no word for sessions: a header on all that it sends.
            http.headers["Session-Id"] = name
            return await session.exec(command, shell=["eval"])

        self.assertEqual((await run("s1", "echo $A $PWD; B=2; cd /usr")).stdout, b"1 /tmp\n")
        self.assertEqual((await run("s1", "echo $B $PWD")).stdout, b"2 /usr\n")
        self.assertEqual((await run("s2", "echo [$B] $PWD")).stdout, b"[] /workspace\n", "made by its first use")
        http.headers.pop("Session-Id")
        status, ended = await ask("DELETE", f"{place}/session/s1")
        self.assertEqual((status, ended["success"], ended["sessionId"]), (200, True, "s1"))
        self.assertEqual((await ask("DELETE", f"{place}/session/s1"))[0], 404)
        self.assertEqual((await ask("POST", f"{place}/session", json={"id": "s2"}))[0], 409)

    async def test_a_workspace_is_packed_and_unpacked_elsewhere(self) -> None:
        one, other = await self.new(), await self.new()
        await one.exec(
            "mkdir -p src/sub .cache/x 'odd *[n]ame' && echo a > src/a && printf x > src/run && chmod 751 src/run"
            " && ln -s a src/link && echo c > .cache/x/c && echo o > 'odd *[n]ame/o' && echo kept > odds"
            " && mkfifo src/fifo"
        )
        for left_out in [".cache/x", "odd *[n]ame", "src/fifo"]:
            one._inner.register_persist_workspace_skip_path(Path(left_out))
        archive = (await one.persist_workspace()).read()
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            names = {member.name.removeprefix("./").rstrip("/") for member in tar} - {"", "."}
        self.assertEqual(names, {"src", "src/sub", "src/a", "src/run", "src/link", ".cache", "odds"})
        await other.exec("echo old > odds")
        await other.hydrate_workspace(io.BytesIO(archive))
        seen = await other.exec("cat src/link odds; stat -c %a src/run; readlink src/link; ls -A")
        self.assertEqual(seen.stdout, b"a\nkept\n751\na\n.cache\nodds\nsrc\n")

    async def test_an_archive_that_leads_out_is_refused(self) -> None:
        session = await self.new()
        for name, kind in [("../out", tarfile.REGTYPE), ("/abs/out", tarfile.REGTYPE), ("link/out", tarfile.SYMTYPE)]:
            made = io.BytesIO()
            with tarfile.open(fileobj=made, mode="w") as tar:
                if kind == tarfile.SYMTYPE:
                    link = tarfile.TarInfo("link")
                    link.type, link.linkname = kind, "/tmp"
                    tar.addfile(link)
                member = tarfile.TarInfo(name)
                member.size = 1
                tar.addfile(member, io.BytesIO(b"x"))
            # The client looks itself, so this goes past it.
            status, answer = await ask("POST", f"/v1/sandbox/{session.state.sandbox_id}/hydrate", data=made.getvalue())
            self.assertEqual((status, answer["code"]), (400, "workspace_archive_write_error"), name)
        self.assertEqual((await session.exec("ls -A /tmp/out /out /abs 2>/dev/null")).stdout, b"")
        with self.assertRaises(WorkspaceArchiveWriteError):
            await session.hydrate_workspace(io.BytesIO(b"no archive at all" * 100))

    async def test_a_session_is_stopped_and_resumed(self) -> None:
        with tempfile.TemporaryDirectory() as kept:
            session = await self.new(snapshot=LocalSnapshot(id="one", base_path=Path(kept)))
            await session.write(Path("note"), io.BytesIO(b"of the first life"))
            await session.stop()
            # It runs, with the same files: nothing is restored.
            again = await self.resumed(session.state)
            await again.start()
            self.assertEqual(await self.text(again, "note"), "of the first life")
            # Changed since: what was kept is put in its place.
            await again.exec("echo changed > note; touch unseen")
            third = await self.resumed(session.state)
            await third.start()
            self.assertEqual(await self.text(third, "note"), "of the first life")
            self.assertFalse((await third.exec("test -e unseen")).ok())
            # Everything of it is gone: its id means a new one, with what was kept.
            await self.client.delete(third)
            self.assertFalse(await third.running(), "it is not made to be looked at")
            last = await self.resumed(session.state)
            await last.start()
            self.assertEqual(await self.text(last, "note"), "of the first life")
            self.assertTrue(await last.running())

    async def test_what_atoll_put_to_sleep_wakes_with_its_files(self) -> None:
        session = await self.new()
        await session.write(Path("note"), io.BytesIO(b"still here"))
        place = f"/v1/sandboxes/{session.state.sandbox_id}"
        self.assertEqual((await ask("POST", f"{place}/stop"))[1]["state"], "stopped")
        again = await self.resumed(session.state)
        self.assertEqual((await ask("GET", place))[1]["state"], "running", "looking at it has woken it")
        await again.start()
        self.assertEqual(await self.text(again, "note"), "still here")
        self.assertIn((await ask("POST", f"{place}/pause"))[0], (200, 501))
        if (await ask("GET", place))[1]["state"] == "paused":
            self.assertFalse(await session.running())
            with self.assertRaises(ExecTransportError) as caught:
                await session.exec("true")
            self.assertEqual(caught.exception.context["http_status"], 409)
            await ask("POST", f"{place}/resume")

    async def test_deleting_twice_is_well(self) -> None:
        session = await self.new()
        self.assertTrue(await session.running())
        await self.client.delete(session)
        self.assertFalse(await session.running())
        await self.client.delete(session)

    async def test_a_manifest_with_a_mount_fails_to_start(self) -> None:
        from agents.extensions.sandbox.cloudflare import CloudflareBucketMountStrategy
        from agents.sandbox.entries import S3Mount

        mount = S3Mount(bucket="b", mount_strategy=CloudflareBucketMountStrategy())
        session = await self.new(start=False, manifest=Manifest(entries={"data": mount}))
        with self.assertRaises((MountConfigError, WorkspaceStartError)):
            await session.start()

    async def test_an_agent_works_in_it(self) -> None:
        call = ResponseFunctionToolCall(
            call_id="1",
            name="exec_command",
            type="function_call",
            arguments='{"cmd": "echo $((6 * 7)) > answer; cat answer", "yield_time_ms": 1500}',
        )
        words = ResponseOutputText(text="It is 42.", type="output_text", annotations=[])
        said = ResponseOutputMessage(id="2", content=[words], role="assistant", status="completed", type="message")
        model = Scripted(call, said)
        agent = SandboxAgent(name="worker", instructions="Find the answer.", model=model)
        config = RunConfig(sandbox=SandboxRunConfig(client=self.client, options=OPTIONS), tracing_disabled=True)
        result = await Runner.run(agent, "What is it?", run_config=config)
        self.assertEqual(result.final_output, "It is 42.")
        outputs = [item["output"] for item in model.seen if item.get("type") == "function_call_output"]
        self.assertEqual(len(outputs), 1)
        self.assertIn("\r42\r\n", outputs[0])

    async def test_many_at_once(self) -> None:
        session = await self.new()
        results = await asyncio.gather(*(session.exec(f"echo {number}; exit {number}") for number in range(32)))
        for number, result in enumerate(results):
            self.assertEqual((result.stdout, result.exit_code), (f"{number}\n".encode(), number))


class Examples(unittest.TestCase):
    def test_the_page_shows_what_happens(self) -> None:
        """Each `py` block of the page is a program, and prints the `text` block behind it."""
        page = Path(os.environ["BRIDGE_PAGE"]).read_text()
        examples = re.findall(r"^```py\n(.*?)^```\n+```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        self.assertTrue(examples)
        for program, printed in examples:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.stdout, done.returncode), (printed, 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
