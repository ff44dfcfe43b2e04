# Written by `sdk/generate` from atoll/aio/git.py; changes are lost.
"""Git in a sandbox: its own, run inside; credentials are passed along and never kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import models
from .._decode import decode, parse
from .._events import Parser
from .._failure import BrokenError, from_body
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..options import (
        GitBranchesOptions,
        GitCheckoutOptions,
        GitCloneOptions,
        GitCommitOptions,
        GitDiffOptions,
        GitLogOptions,
        GitPullOptions,
        GitPushOptions,
        GitStatusOptions,
    )

T = TypeVar("T")
Progress = Callable[[models.GitProgress], object]


class Git:
    """Repositories in a sandbox. A path is the repository, or a directory in it."""

    def __init__(self, transport: Transport, sandbox: str) -> None:
        self._transport = transport
        self._sandbox = sandbox

    def clone(
        self, url: str, *, progress: Progress | None = None, **options: Unpack[GitCloneOptions]
    ) -> models.GitCloned:
        """Fetches a repository: `https://…`, `http://…`, `file://…` or an absolute path inside.

        `progress` is called with how far it is. A call that is cancelled ends it.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     _ = sandbox.exec("git init -q -b main origin && git -C origin -c user.name=me -c user.email= commit -q --allow-empty -m 1")
        ...     phases: set[str] = set()
        ...     cloned = sandbox.git.clone("file:///workspace/origin", path="copy", progress=lambda told: phases.add(told.phase))
        ...     print(cloned.branch, "Receiving objects" in phases)
        main True
        """
        return self._long(models.GitCloned, "clone", {"url": url, **options}, progress)

    def status(self, path: str = ".", **options: Unpack[GitStatusOptions]) -> models.GitStatus:
        """How a repository is: its branch, and what is different."""
        return self._ask(models.GitStatus, "status", {"path": path, **options})

    def diff(self, path: str = ".", *, from_: str | None = None, **options: Unpack[GitDiffOptions]) -> models.GitDiff:
        """What is different, as a patch."""
        return self._ask(models.GitDiff, "diff", {"path": path, "from": from_, **options})

    def commit(self, path: str, message: str, **options: Unpack[GitCommitOptions]) -> models.GitCommitted:
        """Makes a commit.

        >>> from atoll import Sandbox
        >>> with Sandbox.temporary() as sandbox:
        ...     _ = (sandbox.exec("git init -q -b main repo && echo 1 > repo/file")).check()
        ...     author = {"name": "Me", "email": "me@example.org"}
        ...     made = sandbox.git.commit("repo", "first", all=True, author=author)
        ...     print(made.branch, [each.subject for each in (sandbox.git.log("repo")).commits])
        main ['first']
        """
        return self._ask(models.GitCommitted, "commit", {"path": path, "message": message, **options})

    def checkout(
        self, path: str, target: str, *, from_: str | None = None, **options: Unpack[GitCheckoutOptions]
    ) -> models.GitCheckedOut:
        """Checks out a branch, a tag or a commit; with `create`, a new branch."""
        return self._ask(models.GitCheckedOut, "checkout", {"path": path, "target": target, "from": from_, **options})

    def branches(self, path: str = ".", **options: Unpack[GitBranchesOptions]) -> models.GitBranches:
        """Branches, by name."""
        return self._ask(models.GitBranches, "branches", {"path": path, **options})

    def log(self, path: str = ".", *, from_: str | None = None, **options: Unpack[GitLogOptions]) -> models.GitLog:
        """Commits, newest first."""
        return self._ask(models.GitLog, "log", {"path": path, "from": from_, **options})

    def pull(
        self, path: str = ".", *, progress: Progress | None = None, **options: Unpack[GitPullOptions]
    ) -> models.GitPulled:
        """Fetches what is new, and goes on to it."""
        return self._long(models.GitPulled, "pull", {"path": path, **options}, progress)

    def push(
        self, path: str = ".", *, progress: Progress | None = None, **options: Unpack[GitPushOptions]
    ) -> models.GitPushed:
        """Sends commits."""
        return self._long(models.GitPushed, "push", {"path": path, **options}, progress)

    def _long(self, kind: type[T], what: str, body: dict[str, Any], progress: Progress | None) -> T:
        """What may take its time, told as it happens if somebody listens. It ends with its line, so it is asked for once."""
        if progress is None:
            return self._ask(kind, what, body)
        headers = {"accept": "text/event-stream"}
        with self._transport.stream("POST", f"{self._sandbox}/git/{what}", body=body, headers=headers) as answer:
            parser = Parser()
            for piece in answer.pieces:
                for event in parser.push(piece):
                    if event.name == "progress":
                        progress(decode(models.GitProgress, parse(event.data)))
                    elif event.name == "end":
                        return decode(kind, parse(event.data))
                    elif event.name == "error":
                        raise from_body(parse(event.data), 500)
        raise BrokenError("the connection broke: git was ended with it")

    def _ask(self, kind: type[T], what: str, body: dict[str, Any]) -> T:
        return self._transport.post(kind, f"{self._sandbox}/git/{what}", body)
