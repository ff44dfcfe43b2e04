"""JSON to data classes and back. Fields that are not known are left out: a later server may tell more."""

from __future__ import annotations

import dataclasses
import json
import keyword
import os
import types
import typing
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from . import models
from ._failure import NonsenseError

T = TypeVar("T")
Decoder = Callable[[Any], Any]


def decode(kind: type[T], data: Any) -> T:
    """An answer of this kind."""
    try:
        return typing.cast(T, _decoder(typing.cast(Any, kind))(data))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NonsenseError(f"the server's answer makes no sense: no {kind.__name__}: {error!r}") from error


def parse(body: bytes | str) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise NonsenseError(f"the server's answer makes no sense: {error}") from error


def encode(value: Any) -> bytes:
    return json.dumps(value, default=_plain, ensure_ascii=False).encode("utf-8", "surrogateescape")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((each.name.rstrip("_"), getattr(value, each.name)) for each in dataclasses.fields(value))
        return {name: inner for name, inner in fields if inner is not None}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


@lru_cache(maxsize=None)
def _decoder(kind: Any) -> Decoder:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is list:
        inner = _decoder(arguments[0])
        return lambda data: [inner(each) for each in data]
    if origin is dict:
        value = _decoder(arguments[1])
        return lambda data: {str(name): value(each) for name, each in data.items()}
    if kind is datetime:
        return lambda data: datetime.fromisoformat(data.replace("Z", "+00:00"))
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    return lambda data: data


def _record(kind: Any) -> Decoder:
    hints = typing.get_type_hints(kind, vars(models))
    fields = [(_wire(each.name), each.name, hints[each.name]) for each in dataclasses.fields(kind)]
    decoders: list[tuple[str, str, Decoder]] = []

    def read(data: Any) -> Any:
        # Made at the first use: a type may hold itself.
        if not decoders:
            decoders.extend((wire, name, _decoder(hint)) for wire, name, hint in fields)
        return kind(**{name: inner(data[wire]) for wire, name, inner in decoders if data.get(wire) is not None})

    return read


def _wire(name: str) -> str:
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


def _union(arguments: tuple[Any, ...]) -> Decoder:
    """`X | None`, or one of several objects with one key each."""
    chosen = [each for each in arguments if each is not type(None)]
    if len(chosen) == 1:
        inner = _decoder(chosen[0])
        return lambda data: None if data is None else inner(data)
    records = {_wire(dataclasses.fields(each)[0].name): each for each in chosen if dataclasses.is_dataclass(each)}

    def read(data: Any) -> Any:
        if isinstance(data, str) or data is None:
            return data
        (key,) = data
        return _decoder(typing.cast(Any, records[key]))(data)

    return read
