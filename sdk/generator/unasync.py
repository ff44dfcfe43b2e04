"""The blocking half of the Python SDK, from the asynchronous one, word by word.

Each method is written and described once, in `atoll/aio`. Code, types and examples in documentation are changed alike.
"""

from __future__ import annotations

import re

HEAD = "# Written by `sdk/generate` from atoll/aio/{name}; changes are lost.\n"

# In this order; the first column is a regular expression.
WORDS: tuple[tuple[str, str], ...] = (
    (r"from atoll\.aio import", "from atoll import"),
    (r"\batoll\.aio\b", "atoll"),
    (r"websockets\.asyncio\.client", "websockets.sync.client"),
    (r"import anyio\b", "import time"),
    (r"await anyio\.sleep\(", "time.sleep("),
    (r"\bAsyncHTTPTransport\b", "HTTPTransport"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAsync(Iterator|Iterable|Generator)\b", r"\1"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\baread\b", "read"),
    (r"\baclose\b", "close"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bclient_asyncio\b", "client_sync"),
    (r"\bClientConnection\b", "ClientConnection"),
    (r"# (.*)\bfor coroutines\b", r"# \1for threads"),
)


def translate(name: str, source: str) -> str:
    # What only one half needs is marked in the source: `# async only` drops a line, `# sync: text` replaces one.
    lines = []
    for line in source.splitlines():
        if line.rstrip().endswith("# async only"):
            continue
        blocking = re.match(r"^(\s*).*?# sync: (.*)$", line)
        lines.append(blocking[1] + blocking[2] if blocking else line)
    text = "\n".join(lines) + "\n"
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return HEAD.format(name=name) + text
