"""A line between a client and a server that is cut at random."""

from __future__ import annotations

import random
import socket
import threading
from urllib.parse import urlsplit


class CuttingProxy:
    """Passes bytes on, and cuts each connection after a random number of them from the server."""

    def __init__(self, target: str, *, least: int, most: int, seed: int = 1, cuts: int = 10**9) -> None:
        parts = urlsplit(target)
        self._target = (parts.hostname, parts.port)
        self._random = random.Random(seed)
        self._least, self._most = least, most
        self._cuts_left = cuts
        self.cut = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._open = True
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> CuttingProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        # A thread in `accept` would keep it open.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while self._open:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
            except OSError:
                return
            allowed = self._random.randint(self._least, self._most) if self.cut < self._cuts_left else 10**18
            threading.Thread(target=self._pass, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, allowed), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, allowed: int | None) -> None:
        try:
            while piece := source.recv(65536):
                if allowed is not None:
                    if len(piece) > allowed:
                        sink.sendall(piece[:allowed])
                        self.cut += 1
                        break
                    allowed -= len(piece)
                sink.sendall(piece)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
