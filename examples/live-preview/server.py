"""The application: files of a directory, and at /events a line for each that changes."""

import functools
import os
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path != "/events":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-store")
        self.end_headers()
        known = self.states()
        self.tell("listening")
        while True:
            time.sleep(0.05)
            now = self.states()
            for name in sorted(now):
                if now[name] != known.get(name):
                    self.tell(f"changed {name}")
            known = now

    def states(self) -> dict[str, int]:
        entries = (entry for entry in os.scandir(self.directory) if not entry.name.startswith("."))
        return {entry.name: entry.stat().st_mtime_ns for entry in entries}

    def tell(self, what: str) -> None:
        self.wfile.write(f"data: {what}\n\n".encode())
        self.wfile.flush()


ThreadingHTTPServer(("127.0.0.1", 5173), functools.partial(Handler, directory="public")).serve_forever()
