"""Where the server and the token come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from atoll import Client, errors
from atoll._settings import Address, find


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ATOLL_SERVER", "ATOLL_TOKEN", "ATOLL_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATOLL_HOME", str(tmp_path))


def test_what_is_said_wins_over_variables_over_the_file_over_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "state/server"
    own.mkdir(parents=True)
    (own / "root-token").write_text("first\n")
    default = find(None, None)
    assert str(default.address) == f"unix:{own}/server.sock" and default.token == "first"
    assert "first" not in repr(default), "a token is never printed"
    (tmp_path / "named").write_text(" named \n")
    (tmp_path / "config").write_text(f'# mine\nserver = http://box:1\ntoken_file = "{tmp_path}/named"\n')
    assert (str(find(None, None).address), find(None, None).token) == ("http://box:1", "named")
    monkeypatch.setenv("ATOLL_SERVER", "https://other/")
    monkeypatch.setenv("ATOLL_TOKEN", "variable")
    assert (str(find(None, None).address), find(None, None).token) == ("https://other", "variable")
    assert (str(find("unix:/x", "said").address), find("unix:/x", "said").token) == ("unix:/x", "said")


def test_the_first_token_stays_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / "state/server").mkdir(parents=True)
    (tmp_path / "state/server/root-token").write_text("first")
    assert find("http://localhost:1", None).token == find("http://[::1]:1", None).token == "first"
    assert find("http://10.0.0.1:1", None).token is None
    assert find("http://localhost.example.org:1", None).token is None


def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for text in ("box:7070", "ftp://box", "unix:", "http://", "http://box/?x=1"):
        with pytest.raises(errors.InvalidError):
            Address.parse(text)
    with pytest.raises(errors.InvalidError, match="cannot be sent"):
        Client("http://localhost:1", "a\nb")
    monkeypatch.setenv("ATOLL_TOKEN_FILE", "/no/such/file")
    with pytest.raises(errors.InvalidError, match="cannot read the token"):
        Client("http://localhost:1")
    monkeypatch.delenv("ATOLL_TOKEN_FILE")
    (tmp_path / "config").write_text("port = 1")
    with pytest.raises(errors.InvalidError, match="neither"):
        Client()


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreachableError, match="server.sock.*atoll serve"), Client() as client:
        client.tokens.list()
