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
}


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
