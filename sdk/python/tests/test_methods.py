"""Each method, against a real server, for threads and for coroutines."""

from __future__ import annotations

import re
from typing import Any

import pytest

from atoll import errors


def test_a_command_gives_its_outputs_and_its_code(sandbox: Any) -> None:
    result = sandbox.exec("echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr, result.code, result.ok) == ("out\n", "err\n", 3, False)
    assert result.end.reason == "exited" and result.end.started_at <= result.end.ended_at
    with pytest.raises(errors.CommandFailedError, match="code 3: err") as caught:
        result.check()
    assert caught.value.result is result
    assert sandbox.exec("true").check().ok


def test_a_list_is_a_program_and_its_arguments(sandbox: Any) -> None:
    assert sandbox.exec(["echo", "$HOME", "a b"]).stdout == "$HOME a b\n"


def test_options_reach_the_command(sandbox: Any) -> None:
    result = sandbox.exec("echo $A ${HOME-unset} $PWD", env={"A": "1", "HOME": None}, cwd="/tmp", labels={"x": "y"})
    assert result.stdout == "1 unset /tmp\n"
    assert sandbox.exec("sleep 60", timeout_ms=100).end.timed_out
    killed = sandbox.exec("kill -9 $$")
    assert killed.code is None and killed.end.signal == "SIGKILL"


def test_bytes_go_in_and_out_as_they_are(sandbox: Any) -> None:
    every = bytes(range(256)) * 300
    result = sandbox.exec(["cat"], stdin=every)
    assert result.stdout_bytes == every
    assert sandbox.exec(["cat"], stdin="schön").stdout == "schön"


def test_an_answer_that_is_too_small_says_so(sandbox: Any) -> None:
    result = sandbox.exec("seq 100000", answer_bytes=1000)
    assert result.truncated and "bytes left out]\n" in result.stdout and result.stdout.endswith("100000\n")
    with pytest.raises(errors.OutputGoneError, match="leaves out"):
        _ = result.stdout_bytes
    stdout, _ = sandbox.processes.get(result.id).logs().collect()
    assert stdout.decode().split() == [str(n) for n in range(1, 100001)]


def test_a_command_is_told_as_it_happens(sandbox: Any) -> None:
    with sandbox.exec_stream("echo one; sleep 0.05; echo two >&2; exit 4", env={"A": "1"}) as stream:
        with pytest.raises(errors.AtollError, match="not ended"):
            _ = stream.result
        told = [(output.stream, output.text, output.cursor) for output in stream]
    assert told == [("stdout", "one\n", 0), ("stderr", "two\n", 4)]
    assert stream.result.code == 4 and stream.result.id == stream.id == stream.started.id and stream.cursor == 8


def test_leaving_a_stream_early_ends_the_command(sandbox: Any) -> None:
    with sandbox.exec_stream("echo begun; exec sleep 1000") as stream:
        assert next(stream).text == "begun\n"
    assert sandbox.processes.get(stream.id).wait(timeout_ms=10_000).reason == "killed"


def test_a_process_is_started_followed_and_awaited(sandbox: Any) -> None:
    process = sandbox.processes.start("echo one; sleep 0.05; echo two >&2; exit 5", labels={"test": "start"})
    logs = process.logs()
    assert [output.text for output in logs] == ["one\n", "two\n"]
    assert logs.end.code == 5 and logs.gaps == [] and process.wait().code == 5
    assert [output.text for output in process.logs(since=4)] == ["two\n"]
    page = process.output(since=0, limit=4)
    assert page.events[0].data == "one\n" and page.next_cursor == 4 and not page.gaps
    assert process.refresh().state == "ended" and process.info.labels == {"test": "start"}
    assert [each.id for each in sandbox.processes.list(labels={"test": "start"})] == [process.id]
    assert process.id in [each.id for each in sandbox.processes.list(state="ended")]
    assert repr(process) == f"<Process {process.id} ended>"
    process.remove()
    with pytest.raises(errors.ProcessNotFoundError):
        sandbox.processes.get(process.id)


def test_following_children_goes_on_behind_the_end(sandbox: Any) -> None:
    process = sandbox.processes.start("(sleep 0.2; echo late) & echo early")
    assert process.logs(follow_children=True).collect() == (b"early\nlate\n", b"")


def test_input_is_written_by_anyone_and_closed(sandbox: Any) -> None:
    process = sandbox.processes.start(["cat"], stdin="pipe")
    process.wait_for_input(timeout_ms=10_000)
    process.write("one ")
    process.write(b"two ")
    process.write([b"three ", b"four "])
    other = sandbox.processes.get(process.id)
    other.write("five")
    process.close_stdin()
    assert process.logs().collect()[0] == b"one two three four five"


def test_a_process_is_talked_with_over_one_line(sandbox: Any) -> None:
    process = sandbox.processes.start("while read -r line; do echo got $line; echo err >&2; done; exit 3", stdin="pipe")
    process.write("first\n")
    with process.attach() as line:
        line.write("second\n")
        seen = ""
        for output in line:
            seen += output.text if output.stream == "stdout" else ""
            if seen.endswith("second\n") and output.stream == "stdout":
                line.signal("CONT", scope="tree")
                line.write(b"third\n")
            if seen.endswith("third\n"):
                line.close_stdin()
    assert seen == "got first\ngot second\ngot third\n" and line.end.code == 3 and line.gaps == []
    closed = sandbox.processes.start("echo printed; sleep 1000")
    with closed.attach() as line, pytest.raises(errors.StdinNotOpenError):
        line.write("x")
        for _ in line:
            pass
    assert closed.refresh().state == "running", "leaving changes nothing"
    closed.kill()


def test_waits_are_for_lines_ports_and_ends(sandbox: Any) -> None:
    server = "import http.server as h; print('serving NOW', flush=True); h.HTTPServer(('', 8123), h.SimpleHTTPRequestHandler).serve_forever()"
    with sandbox.processes.start(["python3", "-c", server]) as process:
        assert process.wait_for_log("serving", timeout_ms=20_000).line == "serving NOW"
        assert process.wait_for_log(re.compile("serving now$", re.IGNORECASE), timeout_ms=20_000).stream == "stdout"
        process.wait_for_port(8123, timeout_ms=20_000)
        process.wait_for_port(8123, path="/", status=200, timeout_ms=20_000)
        with pytest.raises(TimeoutError):
            process.wait(timeout_ms=50)
        assert process.signal("CONT") == 1 and process.signal("CONT", scope="tree") >= 1
    assert process.wait().reason == "killed"


def test_a_ready_process_and_one_that_is_started_again(sandbox: Any) -> None:
    with sandbox.processes.start("sleep 0.1; echo up; sleep 1000", ready={"log": {"text": "up"}}) as process:
        assert process.info.ready is False
        process.wait_for_log("up", timeout_ms=20_000)
        while not process.refresh().ready:
            pass
    process = sandbox.processes.start("echo again; exit 1", restart={"on_failure": {"max": 2, "backoff_ms": 1}})
    assert process.wait(timeout_ms=10_000).code == 1
    assert process.logs().collect()[0] == b"again\n" * 3 and process.refresh().restarts == 2


def test_kills_are_by_one_and_by_label(sandbox: Any) -> None:
    one = sandbox.processes.start("sleep 1000 & sleep 1000")
    assert one.kill(grace_ms=500).survivors == 0
    two = sandbox.processes.start("sleep 1000", labels={"group": "mine"})
    assert sandbox.processes.kill(labels={"group": "mine"}).signalled >= 1
    assert two.wait().reason == "killed"


def test_the_same_id_means_the_same_process(sandbox: Any) -> None:
    one = sandbox.processes.start("sleep 1000", id="the-same")
    two = sandbox.processes.start("sleep 1000", id="the-same")
    assert one.info.pid == two.info.pid
    one.kill()
    one.remove()


def test_a_session_remembers(sandbox: Any) -> None:
    with sandbox.sessions.create(env={"NAME": "atoll"}, options=["pipefail"]) as session:
        session.exec("cd /tmp && greet() { echo hello from $NAME; }")
        assert session.exec("greet; pwd; false | true").code == 1
        assert session.exec(["echo", "$NAME"]).stdout == "$NAME\n"
        with session.exec_stream("greet; read -r line; echo $line", stdin="typed\n") as stream:
            assert "".join(output.text for output in stream) == "hello from atoll\ntyped\n"
        assert session.refresh().state == "ready" and session.info.cwd == "/tmp"
        assert session.id in [each.id for each in sandbox.sessions.list()]
        assert sandbox.sessions.get(session.id).info.cwd == "/tmp"
        snapshot = session.snapshot()
        assert snapshot.cwd.data == "/tmp" and [each.name.data for each in snapshot.functions] == ["greet"]
        assert session.start("greet").logs().collect()[0] == b"hello from atoll\n"
        with session.fork() as copy:
            assert copy.exec("greet").stdout == "hello from atoll\n"
    with pytest.raises(errors.SessionNotFoundError):
        sandbox.sessions.get(session.id)


def test_a_session_has_a_queue_that_can_be_left(sandbox: Any) -> None:
    with sandbox.sessions.create(id="queue") as session:
        first = session.queue("sleep 1000")
        second = session.queue("echo never")
        assert session.cancel(second) is True
        while session.refresh().running != first.id:
            pass
        assert session.cancel(first.id) is False
        assert session.interrupt() is True
        assert first.wait().signal == "SIGINT"
        assert session.interrupt() is False
        third = session.queue("sleep 1000")
        while session.refresh().running != third.id:
            pass
        assert session.kill(grace_ms=200).survivors == 0
        assert session.exec("echo alive").stdout == "alive\n"


def test_a_dead_session_comes_back(sandbox: Any) -> None:
    with sandbox.sessions.create() as session:
        session.exec("A=1")
        session.exec("exit 3")
        with pytest.raises(errors.SessionTerminatedError) as caught:
            session.exec("true")
        assert caught.value.details["end"]["code"] == 3
        assert session.restart().state == "ready"
        assert session.exec("echo $A").stdout == "1\n"
        session.exec("exit")
        session.restart("nothing")
        assert session.exec("echo ${A-gone}").stdout == "gone\n"


def test_a_terminal_is_typed_into_and_looked_at(sandbox: Any) -> None:
    with sandbox.terminals.open(id="typed", cols=100, rows=30, env={"PS1": "$ "}) as terminal:
        terminal.write("echo $((6 * 7))\n")
        assert terminal.wait_for_log("42", timeout_ms=20_000).line.endswith("42")
        assert "42" in terminal.screen().text
        assert terminal.resize(80, 24, by="me").size.cols == 80
        assert terminal.id in [each.id for each in sandbox.terminals.list()]
        assert sandbox.terminals.get("typed").info.resized_by == "me"
        assert terminal.recording().startswith('{"')
        assert terminal.signal("CONT", scope="tree") >= 1
        terminal.write("exit 3\n")
        assert terminal.wait(timeout_ms=20_000).code == 3
        assert "42" in terminal.logs().collect()[0].decode()
        assert terminal.output(since=0).next_cursor == terminal.refresh().cursor
    with pytest.raises(errors.TerminalNotFoundError):
        sandbox.terminals.get("typed")


def test_a_terminal_is_attached_to(sandbox: Any) -> None:
    program = "stty -echo; echo ready; while read -r line; do [ $line = end ] && exit 7; echo got $line; done"
    with sandbox.terminals.open(program) as terminal:
        seen = ""
        with terminal.attach(since=0, size=(90, 20)) as view:
            for output in view:
                seen += output.text
                if seen.endswith("ready\r\n"):
                    view.write("one\n")
                if "got one\r\n" in seen and view.size.cols == 90:
                    view.resize(70, 10)
                    view.signal("CONT")
                    view.write(b"end\n")
        assert view.end.code == 7 and seen.replace("\r", "") == "ready\ngot one\n"
        assert view.cursor == terminal.refresh().cursor and terminal.info.size.cols == 70
        with terminal.attach(tail=True, read_only=True) as late:
            assert "".join(output.text for output in late) == seen


def test_a_sandbox_lives_changes_and_goes(client: Any, say: Any) -> None:
    sandbox = client.sandboxes.create(labels={"test": "life"}, limits={"open_files": 512}, env={"A": "1"})
    again = client.sandboxes.get(sandbox.name, labels={"test": "life"})
    assert again.name == sandbox.name and again.exec("echo $A; ulimit -n").stdout == "1\n512\n"
    with pytest.raises(errors.SandboxDiffersError) as caught:
        client.sandboxes.get(sandbox.name, env={"A": "2"})
    assert caught.value.details["differences"]
    assert [each.name for each in client.sandboxes.list(labels={"test": "life"})] == [sandbox.name]
    assert sandbox.update(labels={"test": None, "new": "1"}, sleep_after_ms=60_000).labels == {"new": "1"}
    sandbox.exec("echo kept > /tmp/file; echo kept > ~/file")
    assert sandbox.stop().stop_reason == "asked"
    assert sandbox.start().state == "running"
    assert sandbox.exec("cat ~/file").stdout == "kept\n"
    assert sandbox.info().live.name == sandbox.name and repr(sandbox) == f"<Sandbox {sandbox.name}>"
    try:
        assert sandbox.pause().state == "paused"
        with pytest.raises(errors.SandboxPausedError):
            sandbox.exec("true")
        assert sandbox.resume().state == "running"
    except errors.PauseUnavailableError as error:
        say(f"SKIP a sandbox is paused: {error.message}")
    client.sandboxes.delete(sandbox.name)
    with pytest.raises(errors.SandboxNotFoundError):
        sandbox.info()


def test_tokens_are_made_used_and_revoked(client: Any, make_client: Any, sandbox: Any) -> None:
    made = client.tokens.create([{"sandboxes": "shared", "verbs": ["exec"]}], name="sdk", expires_in_ms=60_000)
    assert made.info.id in [each.id for each in client.tokens.list()]
    limited = make_client(token=made.token)
    # It may use the sandbox and not look at it.
    assert limited.sandboxes.get("shared").exec("echo in").stdout == "in\n"
    with pytest.raises(PermissionError):
        limited.sandbox("shared").info()
    client.tokens.revoke(made.info.id)
    with pytest.raises(errors.UnauthorizedError):
        limited.sandbox("shared").exec("true")


def test_a_server_tells_how_it_is(client: Any) -> None:
    assert client.is_ready() and "atoll_sandboxes" in client.metrics()
    assert repr(client) == f"<Client {client.address}>"


def test_the_socket_serves_everything(make_client: Any, server: Any, shared_sandbox: str) -> None:
    client = make_client(server.socket)
    sandbox = client.sandbox(shared_sandbox)
    assert sandbox.exec("echo over the socket").stdout == "over the socket\n"
    with sandbox.terminals.open("echo seen") as terminal, terminal.attach(since=0) as view:
        assert "".join(output.text for output in view) == "seen\r\n"


def test_ports_are_listed_followed_and_exposed(client: Any) -> None:
    import urllib.request

    sandbox = client.sandboxes.create()
    serve = "python3 -m http.server 8131 --bind 127.0.0.1"
    with sandbox.ports.watch() as changes:
        with sandbox.processes.start(f"echo hello > page; exec {serve}"):
            opened = next(changes)
            assert (opened.port, opened.is_open) == (8131, True) and set(changes.open) == {8131}
            assert [each.port for each in sandbox.ports.list()] == [8131]
            with sandbox.ports.connect(8131) as connection:
                connection.write("GET /page HTTP/1.0\r\n\r\n")
                answer = b""
                while piece := connection.read():
                    answer += piece
                assert answer.endswith(b"hello\n")
            with pytest.raises(errors.PortClosedError):
                sandbox.ports.connect(8132)
            preview = sandbox.ports.expose(8131, name="web")
            assert urllib.request.urlopen(f"{preview.path_url}page").read() == b"hello\n"
            assert sandbox.ports.rotate(8131).token != preview.token
            private = sandbox.ports.expose(8131, visibility="private")
            assert (private.name, private.visibility) == ("web", "private")
            link = sandbox.ports.link(8131, expires_in_ms=60_000)
            assert link.url and link.expires_at.tzinfo
            assert [each.port for each in sandbox.ports.previews()] == [8131]
            sandbox.ports.unexpose(8131)
            assert sandbox.ports.previews() == []
        closed = next(changes)
        assert (closed.port, closed.is_open) == (8131, False) and changes.open == {}
    sandbox.delete()


def test_what_may_be_reached_is_said_and_told(client: Any) -> None:
    sandbox = client.sandboxes.create()
    assert sandbox.network.get().policy.allow == []
    told = sandbox.network.set(allow=[{"domain": "example.invalid", "ports": ["443"]}])
    assert told.policy.allow[0].domain == "example.invalid"
    sandbox.exec("getent hosts denied.invalid; true")
    with sandbox.network.events() as events:
        seen = next(each for each in events if each.kind == "name_denied")
    assert seen.host and "denied.invalid" in seen.host and events.cursor > seen.cursor
    assert sandbox.network.page(since=seen.cursor, limit=1).events[0].cursor == seen.cursor
    made = sandbox.secrets.put("API_KEY", "a secret value", hosts=["example.invalid"])
    assert (made.name, made.hosts) == ("API_KEY", ["example.invalid"])
    assert sandbox.exec("echo $API_KEY").stdout.strip() == made.placeholder
    assert [each.name for each in sandbox.secrets.list()] == ["API_KEY"]
    sandbox.secrets.delete("API_KEY")
    assert sandbox.secrets.list() == []
    sandbox.delete()
