"""Every example in documentation strings is run and prints what it says, of both halves. Pages are run by scripts/docs."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import inspect
import io
import types
from collections.abc import Iterator
from typing import Any

import pytest

import atoll
import atoll.aio


def examples() -> Iterator[tuple[str, str]]:
    """Documentation strings of everything public."""
    for module in (atoll, atoll.aio):
        yield module.__name__, module.__doc__ or ""
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                yield f"{module.__name__}.{name}", thing.__doc__ or ""
                for method, value in vars(thing).items():
                    yield f"{module.__name__}.{name}.{method}", inspect.getdoc(value) or ""


SESSIONS = [(where, text) for where, text in examples() if ">>>" in text]


async def run(code: str, names: dict[str, Any]) -> None:
    """Top-level `await` is allowed, as at the prompt of `python -m asyncio`."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree = ast.parse(code)
    for node in tree.body:
        mode, body = ("eval", ast.Expression(node.value)) if isinstance(node, ast.Expr) else ("exec", ast.Module([node], []))
        compiled = compile(body, "<example>", mode, flags=flags)
        function = types.FunctionType(compiled, names)
        value = function()
        if inspect.isawaitable(value):
            value = await value
        if mode == "eval" and value is not None:
            print(repr(value))


def printed(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        asyncio.run(run(code, names))
    return out.getvalue()


@pytest.mark.parametrize(("where", "text"), SESSIONS, ids=[where for where, _ in SESSIONS])
def test_an_example_prints_what_it_says(where: str, text: str, server: Any) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    for example in doctest.DocTestParser().get_examples(text, where):
        assert printed(example.source, names) == example.want


def test_there_are_examples_of_both_halves() -> None:
    assert len([where for where, _ in SESSIONS if ".aio" in where]) >= 6 <= len(SESSIONS) // 2

