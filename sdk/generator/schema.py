"""The API's description as plain data: what a type holds, without a word about any language.

Only what the document really uses is understood. Anything else stops the generator: a type that was guessed would be a
lie in two languages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

# Forms are written part by part, never from one value.
FORMS = {"UploadForm"}

# Schemas that are sent though no request body names them: they travel in WebSocket frames.
SENT_IN_FRAMES = ("TerminalCommand", "AttachCommand")

# Types of arguments that are a request without the fields for which a method has arguments of its own.
DERIVED: dict[str, tuple[str, tuple[str, ...]]] = {
    "ExecOptions": ("ExecRequest", ("command", "argv", "encoding", "stdin", "stdin_base64")),
    "SessionExecOptions": (
        "ExecRequest",
        ("command", "argv", "encoding", "stdin", "stdin_base64", "user", "memory_bytes"),
    ),
    "StartOptions": ("StartRequest", ("command", "argv")),
    "QueueOptions": ("StartRequest", ("command", "argv", "restart", "ready", "user", "memory_bytes")),
    "SessionOptions": ("SessionRequest", ()),
    "TerminalOptions": ("TerminalRequest", ("command", "argv")),
    "SandboxOptions": ("CreateSandbox", ("name",)),
    "SandboxChanges": ("PatchSandbox", ()),
    "ExposeOptions": ("ExposePort", ()),
    "MakeDirectoryOptions": ("MakeDirectoryRequest", ("path", "path_base64")),
    "RenameOptions": ("FromToRequest", ("from", "from_base64", "to", "to_base64", "recursive")),
    "CopyOptions": ("FromToRequest", ("from", "from_base64", "to", "to_base64")),
    "ModeOptions": ("ModeRequest", ("path", "path_base64", "mode")),
    "SymlinkOptions": ("SymlinkRequest", ("path", "path_base64", "target", "target_base64")),
    "SearchOptions": ("SearchRequest", ("path", "path_base64", "pattern")),
    "GlobOptions": ("GlobRequest", ("path", "path_base64", "patterns")),
    "WatchOptions": ("WatchRequest", ("path", "path_base64")),
    "GitCloneOptions": ("GitCloneRequest", ("url",)),
    "GitStatusOptions": ("GitStatusRequest", ("path",)),
    "GitDiffOptions": ("GitDiffRequest", ("path", "from")),
    "GitCommitOptions": ("GitCommitRequest", ("path", "message")),
    "GitCheckoutOptions": ("GitCheckoutRequest", ("path", "target", "from")),
    "GitBranchesOptions": ("GitBranchesRequest", ("path",)),
    "GitLogOptions": ("GitLogRequest", ("path", "from")),
    "GitPullOptions": ("GitPullRequest", ("path",)),
    "GitPushOptions": ("GitPushRequest", ("path",)),
}


@dataclass(frozen=True)
class Scalar:
    """`str`, `int`, `float`, `bool`, `date` or `any`."""

    kind: str


@dataclass(frozen=True)
class Named:
    """Another type of the document."""

    name: str


@dataclass(frozen=True)
class Many:
    """A list."""

    of: Type


@dataclass(frozen=True)
class Table:
    """An object whose keys are the caller's own."""

    of: Type
    nullable: bool


Type = Union[Scalar, Named, Many, Table]


@dataclass(frozen=True)
class Field:
    name: str
    type: Type
    required: bool
    nullable: bool
    doc: str


@dataclass(frozen=True)
class Record:
    name: str
    doc: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Words:
    """One of several texts."""

    name: str
    doc: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Alias:
    """Another name for a scalar."""

    name: str
    doc: str
    of: Scalar


@dataclass(frozen=True)
class Choice:
    """One of several: a bare word, or an object with one key that says which."""

    name: str
    doc: str
    words: tuple[str, ...]
    tagged: tuple[Field, ...]


@dataclass(frozen=True)
class Flagged:
    """One of several objects, told apart by a word in one of their fields."""

    name: str
    doc: str
    tag: str
    variants: tuple[tuple[str, str], ...]
    """The word and the record."""


Definition = Union[Record, Words, Alias, Choice, Flagged]


@dataclass
class Document:
    version: str
    definitions: dict[str, Definition]
    sent: set[str]
    told: set[str]
    codes: tuple[str, ...] = field(default=())


class Unknown(Exception):
    """The document has something that is not understood."""


def load(path: Path) -> Document:
    raw = json.loads(path.read_text())
    schemas = {name: schema for name, schema in raw["components"]["schemas"].items() if name not in FORMS}
    reader = _Reader(schemas)
    for name in schemas:
        reader.define(name)
    document = Document(raw["info"]["version"], dict(sorted(reader.definitions.items())), set(), set())
    for name, (base, omitted) in DERIVED.items():
        document.definitions[name] = _without(document.definitions[base], name, omitted)
    document.sent = reach(document.definitions, {*_bodies(raw), *SENT_IN_FRAMES, *DERIVED})
    document.told = reach(document.definitions, set(schemas) - reach(document.definitions, _bodies(raw)) | _answers(raw))
    codes = document.definitions["ErrorCode"]
    assert isinstance(codes, Words)
    document.codes = codes.words
    return document


def reach(definitions: dict[str, Definition], roots: set[str]) -> set[str]:
    """These types and all that they hold."""
    seen: set[str] = set()
    todo = sorted(roots)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += list(_names(definitions[name]))
    return seen


def _names(definition: Definition) -> Iterator[str]:
    fields = definition.fields if isinstance(definition, Record) else ()
    fields = definition.tagged if isinstance(definition, Choice) else fields
    for each in fields:
        inner = each.type
        while isinstance(inner, (Many, Table)):
            inner = inner.of
        if isinstance(inner, Named):
            yield inner.name
    if isinstance(definition, Flagged):
        yield from (record for _, record in definition.variants)


def _without(definition: Definition, name: str, omitted: tuple[str, ...]) -> Record:
    if not isinstance(definition, Record):
        raise Unknown(f"{name} is made from {definition.name}, which is no object")
    missing = set(omitted) - {each.name for each in definition.fields}
    if missing:
        raise Unknown(f"{definition.name} has no {sorted(missing)}")
    return Record(name, definition.doc, tuple(each for each in definition.fields if each.name not in omitted))


def _operations(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in raw["paths"].values():
        yield from (operation for operation in path.values() if isinstance(operation, dict))


def _bodies(raw: dict[str, Any]) -> set[str]:
    bodies = (operation.get("requestBody", {}).get("content", {}) for operation in _operations(raw))
    named = {_ref(body["schema"]) for content in bodies for body in content.values() if "$ref" in body.get("schema", {})}
    return named - FORMS


def _answers(raw: dict[str, Any]) -> set[str]:
    answers = (answer for operation in _operations(raw) for answer in operation["responses"].values())
    bodies = (body for answer in answers for body in answer.get("content", {}).values())
    return {_ref(body["schema"]) for body in bodies if "$ref" in body.get("schema", {})}


def _ref(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _doc(schema: dict[str, Any]) -> str:
    return " ".join(str(schema.get("description", "")).split())


SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


class _Reader:
    def __init__(self, schemas: dict[str, Any]) -> None:
        self.schemas = schemas
        self.definitions: dict[str, Definition] = {}

    def define(self, name: str) -> None:
        self.definitions[name] = self._definition(name, self.schemas[name])

    def _definition(self, name: str, schema: dict[str, Any]) -> Definition:
        doc = _doc(schema)
        # An object may also say which of its fields go together; that is the server's to check.
        if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
            return Record(name, doc, self._fields(name, schema))
        if "oneOf" in schema:
            return self._choice(name, doc, schema["oneOf"])
        if "enum" in schema:
            return Words(name, doc, tuple(schema["enum"]))
        if schema.get("type") == "object":
            return Record(name, doc, ())
        kind = self._type(name, schema)
        if isinstance(kind, Scalar):
            return Alias(name, doc, kind)
        raise Unknown(f"{name}: {schema}")

    def _fields(self, owner: str, schema: dict[str, Any]) -> tuple[Field, ...]:
        required = set(schema.get("required", ()))
        return tuple(
            self._field(owner, name, inner, name in required) for name, inner in sorted(schema["properties"].items())
        )

    def _field(self, owner: str, name: str, schema: dict[str, Any], required: bool, suffix: str = "") -> Field:
        doc, nullable = _doc(schema), False
        if "oneOf" in schema:
            chosen = [each for each in schema["oneOf"] if each.get("type") != "null"]
            if len(chosen) == 1:
                nullable, schema = len(schema["oneOf"]) > 1, chosen[0]
                doc = doc or _doc(schema)
        kinds = schema.get("type")
        nullable = nullable or (isinstance(kinds, list) and "null" in kinds)
        return Field(name, self._type(owner + camel(name) + suffix, schema), required, nullable, doc)

    def _type(self, name: str, schema: dict[str, Any]) -> Type:
        if "$ref" in schema:
            return Named(_ref(schema))
        if "allOf" in schema and len(schema["allOf"]) == 1:
            return self._type(name, schema["allOf"][0])
        if "oneOf" in schema or "enum" in schema or "properties" in schema:
            self.definitions[name] = self._definition(name, schema)
            return Named(name)
        kind = schema.get("type")
        if isinstance(kind, list):
            (kind,) = [each for each in kind if each != "null"]
        if kind == "array":
            return Many(self._type(name + "Item", schema["items"]))
        if kind == "object":
            inner = schema.get("additionalProperties")
            if not isinstance(inner, dict):
                return Scalar("any")
            inner_kind = inner.get("type")
            return Table(self._type(name + "Value", inner), isinstance(inner_kind, list) and "null" in inner_kind)
        if kind == "string" and schema.get("format") == "date-time":
            return Scalar("date")
        if kind is None:
            return Scalar("any")
        return Scalar(SCALARS[kind])

    def _choice(self, name: str, doc: str, variants: list[dict[str, Any]]) -> Definition:
        words: list[str] = []
        tagged: list[Field] = []
        for variant in variants:
            if "enum" in variant:
                words += variant["enum"]
                continue
            required = variant.get("required", [])
            properties = variant.get("properties", {})
            if len(properties) != 1 or list(properties) != required:
                return self._flagged(name, doc, variants)
            ((key, inner),) = properties.items()
            tagged.append(self._field(name, key, inner, True, suffix="Details"))
        return Choice(name, doc, tuple(words), tuple(tagged))

    def _flagged(self, name: str, doc: str, variants: list[dict[str, Any]]) -> Definition:
        """Every variant has one field of the same name with exactly one word."""
        tags = [
            {key for key, inner in variant.get("properties", {}).items() if len(inner.get("enum", ())) == 1}
            for variant in variants
        ]
        common = set.intersection(*tags) if tags else set()
        if len(common) != 1:
            raise Unknown(f"{name} is one of several, and nothing tells which: {variants}")
        (tag,) = common
        made = []
        for variant in variants:
            word = variant["properties"][tag]["enum"][0]
            record = name + camel(word)
            self.definitions[record] = Record(record, _doc(variant), self._fields(record, variant))
            made.append((word, record))
        return Flagged(name, doc, tag, tuple(made))
