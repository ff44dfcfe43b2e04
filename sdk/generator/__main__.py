"""`sdk/generate`: writes the files. `sdk/generate --check`: says which of them would change."""

from __future__ import annotations

import sys
from pathlib import Path

from . import python, schema, typescript, unasync

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "sdk/python/src/atoll"
TYPESCRIPT = ROOT / "sdk/typescript/src"


def made() -> dict[Path, str]:
    """Every file that is written, and what is in it."""
    document = schema.load(ROOT / "crates/atoll/openapi.json")
    files = {
        PYTHON / "models.py": python.models(document),
        PYTHON / "options.py": python.options(document),
        PYTHON / "_codes.py": python.errors(document),
        TYPESCRIPT / "models.ts": typescript.models(document),
        TYPESCRIPT / "codes.ts": typescript.errors(document),
    }
    for source in sorted((PYTHON / "aio").glob("*.py")):
        files[PYTHON / "_sync" / source.name] = unasync.translate(source.name, source.read_text())
    return files


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: sdk/generate [--check]", file=sys.stderr)
        return 2
    files = made()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    known = {path for path in files if path.parent.name == "_sync"}
    stale += [path for path in sorted((PYTHON / "_sync").glob("*.py")) if path not in known]
    if arguments:
        for path in stale:
            print(f"stale: {path.relative_to(ROOT)} (run sdk/generate)", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        if path not in files:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


sys.exit(main(sys.argv[1:]))
