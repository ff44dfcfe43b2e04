"""Files, against a real server, for threads and for coroutines."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import PurePosixPath
from typing import Any

import pytest
from proxy import CuttingProxy
from test_lines import STREAM_BYTES, counted

from atoll import errors


@pytest.fixture
def files(client: Any) -> Any:
    """The files of a sandbox that is gone afterwards."""
    sandbox = client.sandboxes.create()
    yield sandbox.files
    sandbox.delete()


def test_files_are_written_and_read(files: Any) -> None:
    every = bytes(range(256))
    receipt = files.write("a/b/every", every, parents=True, mode="0600")
    assert receipt.created and receipt.file.mode == "0600" and receipt.file.size == 256
    assert files.read(PurePosixPath("a/b/every")) == every
    assert files.write("text", "schön\n").file.kind == "file" and files.read_text("text") == "schön\n"
    files.write("text", "more\n", append=True)
    assert b"".join(files.open("text", offset=7)) == b"more\n" and b"".join(files.open("text", offset=7, length=2)) == b"mo"
    with pytest.raises(FileNotFoundError):
        files.read("missing")
    with pytest.raises(errors.IsDirectoryError):
        files.read("a")


def test_a_write_may_depend_on_the_state(files: Any) -> None:
    first = files.write("f", "1").file
    second = files.write("f", "2", if_match=first.etag).file
    with pytest.raises(errors.PreconditionFailedError):
        files.write("f", "3", if_match=first.etag)
    with pytest.raises(errors.PreconditionFailedError):
        files.write("f", "3", if_absent=True)
    assert files.stat("f").etag == second.etag and files.read("f") == b"2"


def test_pieces_are_written_as_they_come(files: Any) -> None:
    files.write("pieces", (b"%d\n" % number for number in range(1, 20001)))
    assert files.read("pieces") == counted(20000)


def test_names_may_be_no_text(files: Any) -> None:
    name = b"odd \xff name"
    files.write(name, b"x")
    (found,) = files.list()
    assert found.path_base64 and files.exists(name) and files.read(name) == b"x"
    files.rename(name, "plain")
    assert [each.path for each in files.list()] == ["plain"]


def test_trees_are_listed_changed_and_removed(files: Any) -> None:
    files.upload("tree", {"one": "1", "sub/two": b"2", "sub/ü": "3", 'sub/"quoted"': "4"})
    assert [each.path for each in files.list("tree")] == ["one", "sub"]
    listing = files.list("tree", depth=9)
    assert len([*listing]) == 5 and listing.unreadable == 0
    assert sorted(each.path for each in files.list("tree", depth=9, sorted=False)) == sorted(each.path for each in files.list("tree", depth=9))
    with pytest.raises(errors.FileNotFoundError):
        next(iter(files.list("nowhere")))
    assert files.mkdir("tree/new/deep", parents=True).kind == "directory"
    assert files.copy("tree/one", "tree/copy") == 1 and files.copy("tree", "twin", recursive=True) > 5
    assert files.move("tree/copy", "tree/moved").size == 1
    assert files.rename("tree/moved", "tree/named").size == 1
    assert files.chmod("tree/named", "0751") == 1 and files.stat("tree/named").mode == "0751"
    assert files.symlink("link", "tree/named").target == "tree/named"
    assert files.stat("link").kind == "file" and files.stat("link", link=True).kind == "symlink"
    with pytest.raises(FileExistsError):
        files.rename("tree/one", "tree/named")
    with pytest.raises(errors.DirectoryNotEmptyError):
        files.remove("tree")
    assert files.remove("tree", recursive=True) > 5 and not files.exists("tree")
    assert files.remove("tree", missing_ok=True) == 0


def test_text_is_found_edited_and_patched(files: Any) -> None:
    files.upload("src", {"a.py": "one\ntwo\n", "b/c.py": "two\n", "b/d.txt": "TWO\n"})
    found = files.search("two", "src", include=["*.py"], sorted=True, before=1)
    assert [(match.line, match.role) for match in found.matches] == [(1, "before"), (2, "match"), (1, "match")]
    assert found.summary.files_matched == 2
    with files.search_stream("two", "src", include=["*.py"]) as stream:
        assert sorted((match.path, match.line) for match in stream) == [("a.py", 2), ("b/c.py", 1)]
    assert stream.summary.files_matched == 2
    with files.search_stream("two", "src", detail="files") as stream:
        assert sorted(each.path for each in stream) == ["a.py", "b/c.py"]
    with pytest.raises(errors.ValidationFailedError):
        next(iter(files.search_stream("(")))
    assert len(files.search("two", "src", case="insensitive", detail="files").files) == 3
    assert sorted(entry.path.removeprefix("src/") for entry in files.glob("**/*.py", "src").entries) == ["a.py", "b/c.py"]
    assert files.edit("src/a.py", [{"old": "one", "new": "1"}, {"old": "two", "new": "2"}]).lines == [[1], [2]]
    with pytest.raises(errors.ContentMismatchError):
        files.edit("src/a.py", [{"old": "gone", "new": ""}])
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-1\n+uno\n 2\n"
    assert files.patch(patch, "src", dry_run=True).dry_run
    assert files.patch(patch, "src").files[0].outcome == "changed" and files.read("src/a.py") == b"uno\n2\n"


def test_trees_come_and_go_as_archives(files: Any) -> None:
    files.upload("src", {"a": "1", "b/c": "2", "b/d.o": "3"})
    packed = b"".join(files.pack("src", exclude=["*.o"]))
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert {member.name.strip("./") for member in archive if member.isfile()} >= {"a", "b/c"}
    receipt = files.unpack("out", packed)
    assert receipt.files == 2 and files.read("out/b/c") == b"2" and not files.exists("out/b/d.o")
    zipped = files.pack("src", format="zip")
    assert files.unpack("zip", b"".join(zipped), existing="refuse").format == "zip"


def test_a_file_is_read_on_at_the_same_byte(make_client: Any, server: Any, shared_sandbox: str) -> None:
    data = counted(300_000)
    make_client().sandbox(shared_sandbox).files.write("numbers", data)
    with CuttingProxy(server.url, least=1000, most=600_000, seed=17) as proxy:
        files = make_client(proxy.url).sandbox(shared_sandbox).files
        assert files.read("numbers") == data and proxy.cut > 2


def test_a_large_file_goes_in_and_out(make_client: Any, shared_sandbox: str) -> None:
    files = make_client().sandbox(shared_sandbox).files
    piece = bytes(range(256)) * 4096
    count = STREAM_BYTES // len(piece)
    files.write("large", (piece for _ in range(count)))
    digest = hashlib.sha256()
    for each in files.open("large"):
        digest.update(each)
    expected = hashlib.sha256()
    for _ in range(count):
        expected.update(piece)
    assert digest.digest() == expected.digest()
    files.remove("large")


def test_a_tree_is_watched(client: Any) -> None:
    sandbox = client.sandboxes.create()
    with sandbox.watch(exclude=["*.tmp"]) as watch:
        sandbox.files.write("a.txt", "1")
        sandbox.files.rename("a.txt", "b.txt")
        seen: list[tuple[str, str]] = []
        while ("renamed", "b.txt") not in seen:
            event = next(watch)
            seen.append((event.change, event.path))
        assert watch.page(since=0).next_cursor >= watch.cursor and [each.id for each in sandbox.watches()] == [watch.id]
    assert sandbox.watches() == []
    sandbox.delete()


def test_git_is_used(client: Any) -> None:
    sandbox = client.sandboxes.create()
    author = {"name": "Me", "email": "me@example.org"}
    sandbox.exec("git init -q -b main origin && echo 1 > origin/file").check()
    assert sandbox.git.commit("origin", "first", all=True, author=author).branch == "main"
    told: list[Any] = []
    cloned = sandbox.git.clone("file:///workspace/origin", path="copy", progress=told.append)
    assert {each.phase for each in told} >= {"Receiving objects"} and told[-1].percent == 100
    with pytest.raises(errors.GitFailedError):
        sandbox.git.clone("/workspace/nowhere", progress=told.append)
    assert cloned.branch == "main" and cloned.commit
    assert sandbox.git.checkout("copy", "work", create=True).branch == "work"
    sandbox.files.write("copy/file", "2\n")
    assert [entry.worktree for entry in sandbox.git.status("copy").entries] == ["modified"]
    assert "+2" in sandbox.git.diff("copy").diff
    sandbox.git.commit("copy", "second", all=True, author=author)
    assert [each.subject for each in sandbox.git.log("copy").commits] == ["second", "first"]
    assert "-1" in sandbox.git.diff("copy", from_="HEAD~1", to="HEAD").diff
    assert [each.name for each in sandbox.git.branches("copy").branches] == ["main", "work"]
    assert sandbox.git.push("copy", set_upstream=True, progress=told.append).refs
    sandbox.git.checkout("copy", "main")
    assert sandbox.git.pull("copy").updated is False and sandbox.git.pull("copy", progress=told.append).updated is False
    sandbox.delete()
