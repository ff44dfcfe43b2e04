# Written by `sdk/generate` from atoll/aio/files.py; changes are lost.
"""Files: reading, writing, listing, changing, finding; whole trees as archives."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Iterator, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from .. import _runtime_sync as runtime
from .. import models
from .._decode import decode, parse
from .._failure import AtollError, BrokenError
from .._paths import Path, raw, said
from .._retry import Retry
from .lines import Listing, SearchStream
from .transport import Repeat, Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import (
        CopyOptions,
        EditText,
        GlobOptions,
        MakeDirectoryOptions,
        ModeOptions,
        RenameOptions,
        SearchOptions,
        SymlinkOptions,
    )

Content = str | bytes | Iterable[bytes] | Iterable[bytes]


class Files:
    """The files of a sandbox. Relative paths are below its working directory."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def read(self, path: Path, *, user: str | None = None) -> bytes:
        """A whole file.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     _ = sandbox.files.write("notes/today.txt", "remember\\n", parents=True)
        ...     print(sandbox.files.read("notes/today.txt"))
        b'remember\\n'
        """
        with self.open(path, user=user) as pieces:
            return b"".join([piece for piece in pieces])

    def read_text(self, path: Path, *, encoding: str = "utf-8", errors: str = "strict", user: str | None = None) -> str:
        """A whole file as text."""
        return (self.read(path, user=user)).decode(encoding, errors)

    def open(self, path: Path, *, offset: int = 0, length: int | None = None, user: str | None = None) -> FileReader:
        """A file or a part of it, piece by piece, of any size. Iterate over it.

        After a dropped connection it goes on at the same byte; if the file has changed meanwhile, that is a
        `PreconditionFailedError`.
        """
        return FileReader(self._transport, f"{self._sandbox}/files/content", {"path": raw(path), "user": user}, offset, length)

    def write(
        self,
        path: Path,
        data: Content,
        *,
        mode: str | None = None,
        parents: bool = False,
        append: bool = False,
        if_match: str | None = None,
        if_absent: bool = False,
        user: str | None = None,
    ) -> models.WriteReceipt:
        """Writes a file, of any size, in one step: until all of it is there, nothing has changed.

        With `if_match`, only if it is in the state with this tag (`etag`); with `if_absent`, only if there is none.
        """
        query = {"path": raw(path), "mode": mode, "parents": parents, "append": append, "user": user}
        headers = {"if-match": if_match} if if_match else {}
        headers |= {"if-none-match": "*"} if if_absent else {}
        # What depends on the state before would not be found in it when asked for again.
        plain = isinstance(data, (str, bytes)) and not (append or if_match or if_absent)
        repeat = Repeat.YES if plain else Repeat.NO
        body = data.encode() if isinstance(data, str) else data
        answer = self._transport.call(
            "PUT", f"{self._sandbox}/files/content", query=query, content=body, headers=headers, repeat=repeat
        )
        return decode(models.WriteReceipt, parse(answer.content))

    def stat(self, path: Path, *, link: bool = False, user: str | None = None) -> models.FileInfo:
        """What is known of a file; with `link`, of a symbolic link itself."""
        query = {"path": raw(path), "link": link, "user": user}
        return self._transport.get(models.FileInfo, f"{self._sandbox}/files/stat", query)

    def exists(self, path: Path, *, link: bool = False, user: str | None = None) -> bool:
        """Whether something is there."""
        query = {"path": raw(path), "link": link, "user": user}
        return (self._transport.get(models.FileExists, f"{self._sandbox}/files/exists", query)).exists

    def mkdir(self, path: Path, **options: Unpack[MakeDirectoryOptions]) -> models.FileInfo:
        """Makes a directory; with `parents` also those above it, and one that is there is no error."""
        body = {**said("path", path), **options}
        return (self._transport.post(models.MakeDirectoryReceipt, f"{self._sandbox}/files/mkdir", body)).file

    def remove(
        self, path: Path, *, recursive: bool = False, missing_ok: bool = False, user: str | None = None
    ) -> int:
        """Removes a file or a directory; a link, never what it leads to. How many things were removed."""
        query = {"path": raw(path), "recursive": recursive, "missing_ok": missing_ok, "user": user}
        answer = self._transport.call("DELETE", f"{self._sandbox}/files", query=query)
        return decode(models.FileCount, parse(answer.content)).count

    def rename(self, path: Path, to: Path, **options: Unpack[RenameOptions]) -> models.FileInfo:
        """Another name, in one step. Never copies."""
        body = {**said("from", path), **said("to", to), **options}
        return self._transport.post(models.FileInfo, f"{self._sandbox}/files/rename", body)

    def move(self, path: Path, to: Path, **options: Unpack[RenameOptions]) -> models.FileInfo:
        """Another place: a rename where that can be had, else a copy."""
        body = {**said("from", path), **said("to", to), **options}
        return self._transport.post(models.FileInfo, f"{self._sandbox}/files/move", body)

    def copy(self, path: Path, to: Path, **options: Unpack[CopyOptions]) -> int:
        """Copies a file, or with `recursive` a directory. How many things were copied."""
        body = {**said("from", path), **said("to", to), **options}
        return (self._transport.post(models.FileCount, f"{self._sandbox}/files/copy", body)).count

    def chmod(self, path: Path, mode: str, **options: Unpack[ModeOptions]) -> int:
        """Sets permission bits, in octal: `"0755"`. How many things were changed."""
        body = {**said("path", path), "mode": mode, **options}
        return (self._transport.post(models.FileCount, f"{self._sandbox}/files/chmod", body)).count

    def symlink(self, path: Path, target: Path, **options: Unpack[SymlinkOptions]) -> models.FileInfo:
        """Makes `path` a symbolic link to `target`."""
        body = {**said("path", path), **said("target", target), **options}
        return self._transport.post(models.FileInfo, f"{self._sandbox}/files/symlink", body)

    def upload(
        self, path: Path, files: Mapping[str, str | bytes], *, user: str | None = None
    ) -> Sequence[models.WriteReceipt]:
        """Writes many files below a directory, by their paths in it; directories are made as needed."""
        border = secrets.token_hex(16)
        body = b"".join(_part(border, name, data) for name, data in files.items()) + f"--{border}--\r\n".encode()
        answer = self._transport.call(
            "POST",
            f"{self._sandbox}/files/upload",
            query={"path": raw(path), "user": user},
            content=body,
            headers={"content-type": f"multipart/form-data; boundary={border}"},
            repeat=Repeat.YES,
        )
        return decode(models.UploadReceipt, parse(answer.content)).files

    def search(self, pattern: str, path: Path = ".", **options: Unpack[SearchOptions]) -> models.SearchAnswer:
        """Lines that match, in the files below a directory. A regular expression (Rust's), unless `syntax` says otherwise.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     _ = sandbox.files.upload("src", {"a.py": "one\\ntwo\\n", "b/c.py": "two\\n"})
        ...     found = sandbox.files.search("^two", "src", sorted=True)
        ...     print([(match.path, match.line) for match in found.matches])
        [('a.py', 2), ('b/c.py', 1)]
        """
        body = {**said("path", path), "pattern": pattern, **options}
        return self._transport.post(models.SearchAnswer, f"{self._sandbox}/files/search", body, Repeat.YES)

    def search_stream(self, pattern: str, path: Path = ".", **options: Unpack[SearchOptions]) -> SearchStream:
        """The same, told as it is found. `max_matches` and `max_bytes` may be as many as you like.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     _ = sandbox.exec("seq 1 100000 > numbers")
        ...     with sandbox.files.search_stream("7", max_matches=100_000) as found:
        ...         count = len([match for match in found])
        ...     print(count, found.summary.matches)
        40951 40951
        """
        body = {**said("path", path), "pattern": pattern, **options}
        return SearchStream(self._transport, f"{self._sandbox}/files/search", body)

    def glob(self, patterns: str | Sequence[str], path: Path = ".", **options: Unpack[GlobOptions]) -> models.GlobAnswer:
        """Names below a directory that match: `*` and `?` stay within a name, `**` does not."""
        wanted = [patterns] if isinstance(patterns, str) else [*patterns]
        body = {**said("path", path), "patterns": wanted, **options}
        return self._transport.post(models.GlobAnswer, f"{self._sandbox}/files/glob", body, Repeat.YES)

    def edit(
        self, path: Path, edits: Sequence[EditText], *, if_match: str | None = None, user: str | None = None
    ) -> models.EditReceipt:
        """Replaces exact texts in a file: all of them, one after the other, or none.

        Each is `{"old": …, "new": …}`, and must be there once, or `count` times, or with `all` any number of times.
        """
        body = {**said("path", path), "edits": [*edits], "if_match": if_match, "user": user}
        return self._transport.post(models.EditReceipt, f"{self._sandbox}/files/edit", body)

    def patch(
        self,
        patch: str | bytes,
        path: Path = ".",
        *,
        fuzz: int = 0,
        strip: int | None = None,
        dry_run: bool = False,
        user: str | None = None,
    ) -> models.PatchReceipt:
        """Applies a unified diff to the files below a directory: all of it or nothing."""
        query = {"path": raw(path), "fuzz": fuzz, "strip": strip, "dry_run": dry_run, "user": user}
        body = patch.encode() if isinstance(patch, str) else patch
        headers = {"content-type": "text/x-patch"}
        answer = self._transport.call(
            "POST", f"{self._sandbox}/files/patch", query=query, content=body, headers=headers
        )
        return decode(models.PatchReceipt, parse(answer.content))

    def pack(
        self,
        path: Path = ".",
        *,
        format: models.ArchiveFormat = "tar",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        gitignore: bool = False,
        user: str | None = None,
    ) -> Iterator[bytes]:
        """A tree as an archive, piece by piece. Iterate over it."""
        query: dict[str, Any] = {"path": raw(path), "format": format, "include": [*include], "exclude": [*exclude]}
        query |= {"gitignore": gitignore, "user": user}
        # Looking through a tree of which little is packed may take its time.
        place = f"{self._sandbox}/files/archive"
        with self._transport.stream("GET", place, query=query, headers={}, silence_max=None) as answer:
            for piece in answer.pieces:
                yield piece

    def unpack(
        self,
        path: Path,
        archive: Content,
        *,
        format: models.ArchiveFormat | None = None,
        strip: int = 0,
        existing: Literal["replace", "keep", "refuse"] = "replace",
        max_entries: int | None = None,
        max_bytes: int | None = None,
        user: str | None = None,
    ) -> models.UnpackReceipt:
        """Unpacks an archive into a directory. Nothing in it leads out of there."""
        query: dict[str, Any] = {"path": raw(path), "format": format, "strip": strip, "existing": existing}
        query |= {"max_entries": max_entries, "max_bytes": max_bytes, "user": user}
        body = archive.encode() if isinstance(archive, str) else archive
        answer = self._transport.call("PUT", f"{self._sandbox}/files/archive", query=query, content=body)
        return decode(models.UnpackReceipt, parse(answer.content))

    # The last one: what comes behind it in this class cannot name the type.
    def list(
        self, path: Path = ".", *, depth: int = 1, hidden: bool = False, sorted: bool = True, user: str | None = None
    ) -> Listing:
        """What is in a directory, `depth` levels deep, in the order of names. Iterate over it: of however many entries, one
        is in memory. Without `sorted` they come as the file system has them, which is sooner where there are very many."""
        query = {"path": raw(path), "depth": depth, "hidden": hidden, "sorted": sorted, "user": user}
        return Listing(self._transport, f"{self._sandbox}/files/list", query)


class FileReader:
    """A file, piece by piece. A dropped connection is not noticed but for the time that it takes to come back."""

    def __init__(
        self, transport: Transport, path: str, query: dict[str, Any], offset: int, length: int | None
    ) -> None:
        self._transport = transport
        self._path = path
        self._query = query
        self._ends = None if length is None else offset + length
        self._retry = Retry(transport.patience)
        self._link: Any = None
        self._pieces: Iterator[bytes] | None = None
        self._over = length == 0
        self.offset = offset
        """Everything before this was told."""
        self.etag: str | None = None
        """Which state of the file it is, once it has begun."""

    def __iter__(self) -> FileReader:
        return self

    def __next__(self) -> bytes:
        while not self._over:
            try:
                if self._pieces is None:
                    self._connect()
                    continue
                piece = self._pieces.__next__()
                self.offset += len(piece)
                self._retry.succeeded()
                return piece
            except StopIteration:
                self._ended()
            except AtollError as error:
                self._broke(error)
        raise StopIteration

    def close(self) -> None:
        """Hangs up."""
        self._pieces = None
        link, self._link = self._link, None
        if link is not None:
            link.__exit__(None, None, None)

    def __enter__(self) -> FileReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _connect(self) -> None:
        headers: dict[str, str] = {}
        if self.offset > 0 or self._ends is not None:
            headers["range"] = f"bytes={self.offset}-{'' if self._ends is None else self._ends - 1}"
        if self.etag is not None:
            headers["if-match"] = self.etag
        link = self._transport.stream("GET", self._path, query=self._query, headers=headers)
        answer = link.__enter__()
        self._link, self._pieces = link, answer.pieces
        self.etag = self.etag or answer.headers.get("etag")

    def _ended(self) -> None:
        self._over = True
        self.close()

    def _broke(self, error: AtollError) -> None:
        self.close()
        # A server that never answered is most likely not there.
        if not isinstance(error, BrokenError) and self.etag is None:
            raise error
        if self._ends is not None and self.offset >= self._ends:
            self._over = True
            return
        runtime.sleep(self._retry.failed(error))


def _part(border: str, name: str, data: str | bytes) -> bytes:
    """One file of a form."""
    body = data.encode() if isinstance(data, str) else data
    plain = name.replace("\\", "\\\\").replace('"', '\\"')
    field = f'form-data; name="file"; filename="{plain}"'
    if not name.isprintable() or not name.isascii():
        exact = base64.b64encode(raw(name)).decode()
        field = f'form-data; name="file_base64"; filename="{exact}"'
    return f"--{border}\r\ncontent-disposition: {field}\r\n\r\n".encode() + body + b"\r\n"
