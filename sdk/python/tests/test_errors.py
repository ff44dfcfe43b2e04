"""Each code has its class; as many as can be are provoked from a real server, the others from one that only answers."""

from __future__ import annotations

import http.server
import json
import threading
from typing import Any

import pytest

import atoll
from atoll import errors
from atoll._codes import BY_CODE

# What to do for a code. Each takes a client and a sandbox.
PROVOKED: dict[str, Any] = {
    "VALIDATION_FAILED": lambda c, s: s.exec("true", no_such_option=1),
    "COMMAND_NOT_FOUND": lambda c, s: s.exec(["no-such-program"]),
    "NOT_EXECUTABLE": lambda c, s: s.exec(["/etc/hostname"]),
    "CWD_NOT_FOUND": lambda c, s: s.exec("true", cwd="/no/such/dir"),
    "USER_NOT_FOUND": lambda c, s: s.exec("true", user="nobody-of-this-name"),
    "ARGUMENTS_TOO_LONG": lambda c, s: s.exec(["echo", "x" * 200_000]),
    "PROCESS_NOT_FOUND": lambda c, s: s.processes.get("none"),
    "PROCESS_ALREADY_EXISTS": lambda c, s: [s.exec(f"echo {n}", id="one-id") for n in (1, 2)],
    "PROCESS_ENDED": lambda c, s: ended(s).signal("TERM"),
    "STDIN_NOT_OPEN": lambda c, s: s.processes.start("sleep 1").write("x"),
    "SESSION_NOT_FOUND": lambda c, s: s.sessions.get("none"),
    "SESSION_ALREADY_EXISTS": lambda c, s: [s.sessions.create(id="twice") for _ in (1, 2)],
    "SESSION_ALIVE": lambda c, s: s.sessions.create().restart(),
    "SESSION_TERMINATED": lambda c, s: dead(s).exec("true"),
    "TERMINAL_NOT_FOUND": lambda c, s: s.terminals.get("none"),
    "TERMINAL_ALREADY_EXISTS": lambda c, s: [s.terminals.open(f"sleep {n}", id="taken") for n in (10, 20)],
    "TERMINAL_ENDED": lambda c, s: over(s).write("x"),
    "TERMINAL_READ_ONLY": lambda c, s: read_only(s),
    "WAIT_TIMEOUT": lambda c, s: s.processes.start("sleep 5").wait(timeout_ms=10),
    "SANDBOX_NOT_FOUND": lambda c, s: c.sandbox("none").info(),
    "SANDBOX_DIFFERS": lambda c, s: c.sandboxes.get(s.name, env={"OTHER": "1"}),
    "TOKEN_NOT_FOUND": lambda c, s: c.tokens.revoke("none"),
    "ROUTE_NOT_FOUND": lambda c, s: c._transport.call("GET", "/v1/nothing"),
    "METHOD_NOT_ALLOWED": lambda c, s: c._transport.call("DELETE", "/v1/sandboxes"),
    "UPGRADE_REQUIRED": lambda c, s: c._transport.call("GET", f"/v1/sandboxes/{s.name}/terminals/none/attach"),
    "UNSUPPORTED_MEDIA_TYPE": lambda c, s: c._transport.call("POST", f"/v1/sandboxes/{s.name}/exec", content=b"x"),
    "IDEMPOTENCY_CONFLICT": lambda c, s: [
        c._transport.call("POST", "/v1/sandboxes", body={"labels": {"n": n}}, headers={"idempotency-key": "a key"})
        for n in "12"
    ],
    "SANDBOX_STOPPED": lambda c, s: stopped(c).pause(),
    "STDIN_GAP": lambda c, s: c._transport.call(
        "PUT",
        f"/v1/sandboxes/{s.name}/processes/{s.processes.start('cat', stdin='pipe').id}/stdin",
        query={"offset": 9},
        content=b"x",
    ),
    "FILE_NOT_FOUND": lambda c, s: s.files.read("none"),
    "FILE_EXISTS": lambda c, s: [s.files.write(each, "x") for each in "ab"] and s.files.rename("a", "b"),
    "IS_DIRECTORY": lambda c, s: s.files.read("/tmp"),
    "NOT_DIRECTORY": lambda c, s: [*s.files.list("/etc/hostname")],
    "NOT_REGULAR_FILE": lambda c, s: s.files.read("/dev/zero"),
    "DIRECTORY_NOT_EMPTY": lambda c, s: s.files.upload("full", {"a": "1"}) and s.files.remove("full"),
    "READ_ONLY": lambda c, s: s.files.write("/proc/acpi/x", "x"),
    "PERMISSION_DENIED": lambda c, s: s.files.write("/proc/cpuinfo", "x"),
    "NAME_TOO_LONG": lambda c, s: s.files.read("x" * 300),
    "TOO_MANY_LINKS": lambda c, s: s.exec("ln -sfn loop loop") and s.files.read("loop"),
    "PATH_ESCAPES": lambda c, s: s.files.patch("--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n"),
    "CROSS_DEVICE": lambda c, s: s.files.write("/tmp/here", "x") and s.files.rename("/tmp/here", "/workspace/there"),
    "PRECONDITION_FAILED": lambda c, s: s.files.write("state", "1") and s.files.write("state", "2", if_absent=True),
    "RANGE_NOT_SATISFIABLE": lambda c, s: s.files.write("short", "1") and [*s.files.open("short", offset=10)],
    "CONTENT_MISMATCH": lambda c, s: s.files.write("text", "1") and s.files.edit("text", [{"old": "2", "new": ""}]),
    "FILE_LIMIT": lambda c, s: limited(s),
    "WATCH_NOT_FOUND": lambda c, s: s.get_watch("none"),
    "WATCH_ALREADY_EXISTS": lambda c, s: [s.watch(each, id="one-watch") for each in ("/tmp", "/workspace")],
    "GIT_FAILED": lambda c, s: s.git.clone("/workspace/nowhere"),
    "SECRET_NOT_FOUND": lambda c, s: s.secrets.delete("none"),
}


def stopped(client: Any) -> Any:
    sandbox = client.sandboxes.create()
    sandbox.stop()
    return sandbox


def limited(sandbox: Any) -> None:
    sandbox.files.upload("many", {"a": "1", "b": "2", "c": "3"})
    sandbox.files.unpack("out", b"".join(sandbox.files.pack("many")), max_entries=1)


def ended(sandbox: Any) -> Any:
    process = sandbox.processes.start("true")
    process.wait()
    return process


def dead(sandbox: Any) -> Any:
    session = sandbox.sessions.create()
    session.exec("exit")
    return session


def over(sandbox: Any) -> Any:
    terminal = sandbox.terminals.open("true")
    terminal.wait()
    return terminal


def read_only(sandbox: Any) -> None:
    with sandbox.terminals.open("sleep 1000") as terminal, terminal.attach(read_only=True) as view:
        view.write("x")
        for _ in view:
            pass


@pytest.fixture(scope="module")
def own(server: Any) -> Any:
    """A sandbox in which tests leave things."""
    with atoll.Client(server.url, server.token) as client:
        name = client.sandboxes.create().name
        yield name
        client.sandboxes.delete(name)


@pytest.mark.parametrize("code", PROVOKED)
def test_a_refusal_has_the_class_of_its_code(code: str, make_client: Any, own: str) -> None:
    client = make_client()
    with pytest.raises(BY_CODE[code]) as caught:
        PROVOKED[code](client, client.sandbox(own))
    error: Any = caught.value
    assert error.code == code and error.status >= 400 and error.message
    assert isinstance(error, errors.RefusedError) and isinstance(error, errors.AtollError)


def test_who_may_not_is_refused(make_client: Any, client: Any, own: str) -> None:
    with pytest.raises(errors.UnauthorizedError):
        make_client(token="wrong").sandbox(own).info()
    limited = make_client(token=client.tokens.create([{"sandboxes": "x", "verbs": ["read"]}]).token)
    with pytest.raises(errors.ForbiddenError):
        limited.sandbox(own).exec("true")


@pytest.fixture(scope="module")
def answering() -> Any:
    """A server that answers every request with the code in its path."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            code = self.path.split("/")[3].upper().replace("-", "_")
            told = {"code": code, "message": f"told {code}", "hint": "do", "details": {"a": 1}}
            body = json.dumps({"error": told}).encode() if code != "GARBLED" else b"<html>"
            self.send_response(418)
            self.send_header("content-length", str(len(body)))
            self.send_header("x-request-id", "r1")
            self.send_header("retry-after", "7")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize("code", [*BY_CODE, "A_CODE_OF_LATER"])
def test_every_code_becomes_its_class(code: str, make_client: Any, answering: str) -> None:
    sandbox = make_client(answering, patience=0).sandbox(code.lower().replace("_", "-"))
    with pytest.raises(errors.RefusedError) as caught:
        sandbox.exec("true")
    error = caught.value
    assert type(error) is BY_CODE.get(code, errors.RefusedError)
    assert (error.code, error.status, error.message, error.hint) == (code, 418, f"told {code}", "do")
    assert (error.details, error.request_id, error.retry_after) == ({"a": 1}, "r1", 7.0)
    assert str(error) == f"told {code} (do)"


def test_an_answer_in_other_words_is_an_error_too(make_client: Any, answering: str) -> None:
    with pytest.raises(errors.RefusedError, match="answered 418"):
        make_client(answering).sandbox("garbled").exec("true")


def test_names_that_name_nothing_are_not_sent(client: Any) -> None:
    for name in ("", ".", ".."):
        with pytest.raises(errors.InvalidError):
            client.sandbox(name)
    with pytest.raises(errors.RefusedError):
        client.sandboxes.get("../../tokens")


def test_a_closed_client_says_so(make_client: Any) -> None:
    client = make_client()
    client.close()
    with pytest.raises(errors.InvalidError, match="closed"):
        client.sandbox("x").info()
