"""Python from the API's description: answers as frozen data classes, arguments as typed dictionaries, codes as errors."""

from __future__ import annotations

import keyword
import textwrap

from .schema import Alias, Choice, Definition, Document, Field, Flagged, Many, Named, Record, Scalar, Table, Type, Words, camel

HEAD = '"""{doc}\n\nWritten by `sdk/generate` from the API\'s description; changes are lost."""\n'

SCALARS = {"str": "str", "int": "int", "float": "float", "bool": "bool", "date": "datetime", "any": "Any"}

# A code that is also one of Python's own kinds of failure.
ALSO = {"WAIT_TIMEOUT": "TimeoutError", "FORBIDDEN": "PermissionError"}


def models(document: Document) -> str:
    """What the server tells."""
    lines = [
        HEAD.format(doc="What the server tells."),
        "from __future__ import annotations\n",
        "from dataclasses import dataclass",
        "from datetime import datetime",
        "from typing import Any, Literal, Union\n",
    ]
    chosen = [document.definitions[name] for name in sorted(document.told) if name not in ("ErrorAnswer",)]
    lines += _names(chosen)
    lines += [_alias(each) for each in chosen if isinstance(each, (Words, Alias))]
    for each in chosen:
        if isinstance(each, Record):
            lines.append(_data_class(each))
        if isinstance(each, Choice):
            lines += [_data_class(record) for record in _choice_records(each)]
    for each in chosen:
        if isinstance(each, Choice):
            lines.append(_union(each, [record.name for record in _choice_records(each)]))
        if isinstance(each, Flagged):
            lines.append(_union(each, [record for _, record in each.variants]))
    return "\n".join(lines)


def options(document: Document) -> str:
    """What callers may say."""
    lines = [
        HEAD.format(doc="What callers may say: the arguments of methods, and dictionaries within them."),
        "from __future__ import annotations\n",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, Literal, TypedDict, Union\n",
    ]
    chosen = [document.definitions[name] for name in sorted(document.sent)]
    lines += _names(chosen)
    lines += [_alias(each) for each in chosen if isinstance(each, (Words, Alias))]
    for each in chosen:
        if isinstance(each, Record):
            lines.append(_typed_dict(each))
        if isinstance(each, Choice):
            lines += [_typed_dict(record) for record in _choice_records(each)]
    for each in chosen:
        if isinstance(each, Choice):
            lines.append(_union(each, [record.name for record in _choice_records(each)]))
        if isinstance(each, Flagged):
            lines.append(_union(each, [record for _, record in each.variants]))
    return "\n".join(lines)


def errors(document: Document) -> str:
    """A class for each code."""
    lines = [
        HEAD.format(doc="A class for each code with which the server refuses."),
        "from __future__ import annotations\n",
        "from ._failure import RefusedError\n",
    ]
    names = [_error_name(code) for code in document.codes]
    listed = "".join(f'    "{name}",\n' for name in sorted([*names, "BY_CODE"]))
    lines.append(f"__all__ = [\n{listed}]\n")
    for code, name in zip(document.codes, names, strict=True):
        bases = ", ".join(["RefusedError", *([ALSO[code]] if code in ALSO else [])])
        lines.append(f'\nclass {name}({bases}):\n    """The server refused with `{code}`."""\n')
    lines.append("\nBY_CODE: dict[str, type[RefusedError]] = {")
    lines += [f'    "{code}": {name},' for code, name in zip(document.codes, names, strict=True)]
    lines.append("}\n")
    return "\n".join(lines)


def _error_name(code: str) -> str:
    return camel(code.lower()) + "Error"


def _names(chosen: list[Definition]) -> list[str]:
    names = sorted(
        [each.name for each in chosen]
        + [record.name for each in chosen if isinstance(each, Choice) for record in _choice_records(each)]
    )
    return ["__all__ = [", *[f'    "{name}",' for name in names], "]\n"]


def _choice_records(choice: Choice) -> list[Record]:
    """Each variant is an object with one field."""
    return [Record(choice.name + camel(each.name), each.doc, (each,)) for each in choice.tagged]


def _attribute(name: str) -> str:
    return name + "_" if keyword.iskeyword(name) else name


def _type(of: Type, sent: bool) -> str:
    if isinstance(of, Scalar):
        return SCALARS[of.kind]
    if isinstance(of, Named):
        return of.name
    if isinstance(of, Many):
        return f"{'Sequence' if sent else 'list'}[{_type(of.of, sent)}]"
    assert isinstance(of, Table)
    value = _type(of.of, sent) + (" | None" if of.nullable else "")
    return f"{'Mapping' if sent else 'dict'}[str, {value}]"


def _alias(definition: Words | Alias) -> str:
    if isinstance(definition, Words):
        words = ", ".join(f'"{word}"' for word in definition.words)
        text = f"{definition.name} = Literal[{words}]"
        if len(text) > 118:
            inner = "".join(f'    "{word}",\n' for word in definition.words)
            text = f"{definition.name} = Literal[\n{inner}]"
    else:
        text = f"{definition.name} = {SCALARS[definition.of.kind]}"
    return f"{text}\n{_string(definition.doc)}\n" if definition.doc else f"{text}\n"


def _union(definition: Definition, names: list[str]) -> str:
    words = definition.words if isinstance(definition, Choice) else ()
    literal = [f"Literal[{', '.join(chr(34) + word + chr(34) for word in words)}]"] if words else []
    return f"{definition.name} = Union[{', '.join([*literal, *names])}]\n{_string(definition.doc)}\n"


def _string(doc: str, indent: str = "") -> str:
    """A documentation string, wrapped."""
    doc = doc.replace("\\", "\\\\")
    wrapped = textwrap.wrap(doc, 114 - len(indent)) or [""]
    if len(wrapped) == 1:
        return f'{indent}"""{wrapped[0]}"""'
    return f'{indent}"""' + f"\n{indent}".join(wrapped) + '"""'


def _data_class(record: Record) -> str:
    lines = ["\n@dataclass(frozen=True, slots=True, kw_only=True)", f"class {record.name}:", _string(record.doc, "    ")]
    for each in record.fields:
        lines.append("")
        lines.append(f"    {_attribute(each.name)}: {_told(each)}")
        if each.doc:
            lines.append(_string(each.doc, "    "))
    return "\n".join(lines) + "\n"


def _told(each: Field) -> str:
    kind = _type(each.type, sent=False)
    if each.required and not each.nullable:
        return kind
    # What may be left out is false, empty or unknown.
    if each.type == Scalar("bool") and not each.nullable:
        return f"{kind} = False"
    return f"{kind} | None = None" if kind != "Any" else f"{kind} = None"


def _said(each: Field) -> str:
    kind = _type(each.type, sent=True)
    return f"{kind} | None" if each.nullable and kind != "Any" else kind


def _typed_dict(record: Record) -> str:
    if any(keyword.iskeyword(each.name) for each in record.fields):
        return _functional(record)
    needed = [each for each in record.fields if each.required]
    optional = [each for each in record.fields if not each.required]
    base = "TypedDict"
    text = ""
    if needed and optional:
        base = f"_{record.name}"
        text = _dict_class(base, "TypedDict", record.doc, needed)
    fields, total = (optional, ", total=False") if optional or not needed else (needed, "")
    return text + _dict_class(record.name, base + total, record.doc, fields)


def _dict_class(name: str, bases: str, doc: str, fields: list[Field]) -> str:
    lines = [f"\nclass {name}({bases}):", _string(doc, "    ")]
    for each in fields:
        lines += ["", f"    {each.name}: {_said(each)}"]
        if each.doc:
            lines.append(_string(each.doc, "    "))
    return "\n".join(lines) + "\n"


def _functional(record: Record) -> str:
    """For fields whose names are Python's own words."""
    fields = "".join(f'        "{each.name}": "{_said(each)}",\n' for each in record.fields)
    doc = _string(record.doc)
    return f'\n{record.name} = TypedDict(\n    "{record.name}",\n    {{\n{fields}    }},\n    total=False,\n)\n{doc}\n'
