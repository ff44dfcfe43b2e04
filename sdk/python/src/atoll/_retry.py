"""When to try again: soon at first, then less often, and not for ever. Times only; what is tried is others' matter."""

from __future__ import annotations

import time

from ._failure import AtollError, is_passing

# The first pause, and the longest, in seconds.
PAUSE = 0.05
PAUSE_MAX = 2.0


class Retry:
    """The state of one effort."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._pause = PAUSE
        self._since: float | None = None

    def succeeded(self) -> None:
        self._pause, self._since = PAUSE, None

    def failed(self, error: AtollError) -> float:
        """How long to wait before the next try. The error again, if there is to be none."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if not is_passing(error) or now + self._pause > self._since + self._patience:
            raise error
        pause = self._pause
        self._pause = min(self._pause * 2, PAUSE_MAX)
        return pause

    def may_wait(self, pause: float) -> bool:
        """Whether so long a wait, which the server asked for, is within what the caller puts up with."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        return now + pause <= self._since + self._patience
