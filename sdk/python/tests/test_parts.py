"""Parts that need no server."""

from __future__ import annotations

import inspect

import pytest

import atoll
import atoll.aio
from atoll import errors, models
from atoll._decode import decode, encode
from atoll._events import Event, Parser
from atoll._failure import BrokenError
from atoll._retry import PAUSE, PAUSE_MAX, Retry
from atoll.results import OutputReader


def test_events_survive_every_cut() -> None:
    text = b': hello\n\nevent: output\nid: 5\ndata: {"a":1}\n\nevent:end\r\ndata:x\r\ndata: y\r\n\r\nevent: cut\ndata: z\n'
    for cut in range(len(text) + 1):
        parser = Parser()
        assert parser.push(text[:cut]) + parser.push(text[cut:]) == [Event("output", b'{"a":1}'), Event("end", b"x\ny")]


def test_pauses_grow_begin_anew_and_end() -> None:
    retry = Retry(60)
    pauses = [retry.failed(BrokenError("cut")) for _ in range(10)]
    assert pauses[0] == PAUSE and pauses[-1] == PAUSE_MAX and pauses == sorted(pauses)
    retry.succeeded()
    assert retry.failed(BrokenError("cut")) == PAUSE
    with pytest.raises(errors.NonsenseError):
        retry.failed(errors.NonsenseError("?"))
    with pytest.raises(errors.BrokenError):
        Retry(0).failed(BrokenError("cut"))


def event(cursor: int, data: str) -> models.OutputEvent:
    told = {"cursor": cursor, "next_cursor": 0, "stream": "stdout", "data": data, "encoding": "base64"}
    return decode(models.OutputEvent, {**told, "time": "2026-01-01T00:00:00.000Z", "later": 1})


def test_output_is_cut_to_what_is_new_and_characters_are_whole() -> None:
    reader = OutputReader(0)
    first, second = reader.take(event(0, "YcM=")), reader.take(event(1, "w7xi"))
    assert first and second and (first.text, first.bytes) == ("a", b"a\xc3")
    assert (second.cursor, second.bytes, second.text) == (2, b"\xbcb", "üb")
    assert reader.take(event(0, "YcM=")) is None
    with pytest.raises(errors.NonsenseError, match="missing"):
        reader.take(event(9, "YQ=="))
    with pytest.raises(errors.NonsenseError, match="base64"):
        reader.take(event(4, "*"))


def test_what_is_missing_in_an_answer_is_nonsense() -> None:
    with pytest.raises(errors.NonsenseError, match="Gap"):
        decode(models.Gap, {"from": 1})
    gap = decode(models.Gap, {"from": 1, "to": 2})
    assert (gap.from_, gap.to) == (1, 2) and encode(gap) == b'{"from": 1, "to": 2}'


def test_both_halves_have_the_same_names() -> None:
    for name in atoll.aio.__all__:
        blocking, awaited = getattr(atoll, name), getattr(atoll.aio, name)
        words = {"__aenter__": "__enter__", "__aexit__": "__exit__", "__aiter__": "__iter__", "__anext__": "__next__"}
        words["aclose"] = "close"
        expected = {words.get(each, each) for each in vars(awaited) if not each.startswith("_") or each in words}
        assert expected <= set(vars(blocking)), name
        for each in expected:
            assert not inspect.iscoroutinefunction(getattr(blocking, each)), (name, each)


def test_everything_public_is_described() -> None:
    for module in (atoll, atoll.aio):
        for name in module.__all__:
            thing = getattr(module, name)
            assert inspect.getdoc(thing), name
            for method, value in vars(thing).items() if inspect.isclass(thing) else ():
                if not method.startswith("_") and callable(value):
                    assert inspect.getdoc(value), f"{name}.{method}"
