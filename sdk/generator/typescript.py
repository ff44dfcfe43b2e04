"""TypeScript from the API's description: interfaces in the language's own spelling, and the table that spells them back."""

from __future__ import annotations

import textwrap

from .schema import Alias, Choice, Document, Field, Flagged, Many, Named, Record, Scalar, Table, Type, Words, camel

HEAD = "// {doc}\n//\n// Written by `sdk/generate` from the API's description; changes are lost.\n"

SCALARS = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "date": "Date", "any": "unknown"}

# Times are milliseconds, as everywhere in JavaScript, so their unit is not said. Only here it is: others who have this
# option count in seconds.
UNIT_SAID = ("sleep_after_ms",)


def spell(name: str) -> str:
    """The name of a field."""
    if name.endswith("_ms") and name not in UNIT_SAID:
        name = name[: -len("_ms")]
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def models(document: Document) -> str:
    lines = [HEAD.format(doc="What is said to the server and what it tells.")]
    definitions = list(document.definitions.values())
    for each in definitions:
        if isinstance(each, Words):
            lines.append(_doc(each.doc) + f"export type {each.name} = {_words(each.words)};\n")
        elif isinstance(each, Alias):
            lines.append(_doc(each.doc) + f"export type {each.name} = {SCALARS[each.of.kind]};\n")
        elif isinstance(each, Record):
            lines.append(_interface(each))
        elif isinstance(each, Choice):
            tagged = [f"{{ {spell(field.name)}: {_type(field.type)} }}" for field in each.tagged]
            kinds = " | ".join([*([_words(each.words)] if each.words else []), *tagged])
            lines.append(_doc(each.doc) + f"export type {each.name} = {kinds};\n")
        else:
            lines.append(_doc(each.doc) + f"export type {each.name} = {' | '.join(n for _, n in each.variants)};\n")
    lines.append("/** The types by their names. */\nexport interface Types {")
    lines += [f"  {each.name}: {each.name};" for each in definitions if not isinstance(each, (Words, Alias))]
    lines.append("}\n")
    lines.append(_shapes(document))
    return "\n".join(lines)


def errors(document: Document) -> str:
    names = {code: camel(code.lower()) + "Error" for code in document.codes}
    lines = [HEAD.format(doc="A class for each code with which the server refuses."), 'import { RefusedError } from "./failure.js";\n']
    for code, name in names.items():
        lines.append(f"/** The server refused with `{code}`. */\nexport class {name} extends RefusedError {{}}\n")
    lines.append("export const byCode: Readonly<Record<string, typeof RefusedError>> = {")
    lines += [f"  {code}: {name}," for code, name in names.items()]
    lines.append("};\n")
    # A minifier would rename the classes, and with them what people read.
    lines.append("for (const [code, kind] of Object.entries(byCode)) {")
    lines.append('  const name = code.toLowerCase().replace(/(^|_)([a-z])/g, (_, _gap, letter: string) => letter.toUpperCase()) + "Error";')
    lines.append('  Object.defineProperty(kind.prototype, "name", { value: name, configurable: true, writable: true });')
    lines.append("}\n")
    return "\n".join(lines)


def _words(words: tuple[str, ...]) -> str:
    return " | ".join(f'"{word}"' for word in words)


def _type(of: Type) -> str:
    if isinstance(of, Scalar):
        return SCALARS[of.kind]
    if isinstance(of, Named):
        return of.name
    if isinstance(of, Many):
        inner = _type(of.of)
        return f"readonly {inner}[]" if inner.isalnum() else f"ReadonlyArray<{inner}>"
    assert isinstance(of, Table)
    return f"Readonly<Record<string, {_type(of.of)}{' | null' if of.nullable else ''}>>"


def _doc(doc: str, indent: str = "") -> str:
    wrapped = textwrap.wrap(doc.replace("*/", "* /"), 112 - len(indent))
    if not wrapped:
        return ""
    if len(wrapped) == 1:
        return f"{indent}/** {wrapped[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in wrapped) + f"{indent} */\n"


def _interface(record: Record) -> str:
    lines = [_doc(record.doc) + f"export interface {record.name} {{"]
    for each in record.fields:
        optional = "" if each.required and not each.nullable else "?"
        # What is not there is `undefined`, never `null`.
        kind = _type(each.type) + (" | undefined" if optional else "")
        lines.append(_doc(each.doc, "  ") + f"  readonly {spell(each.name)}{optional}: {kind};")
    return "\n".join([*lines, "}\n"])


def _shapes(document: Document) -> str:
    lines = [
        "/** How each type is spelled on the wire: our name, its name, and what it holds if that must be looked at. */",
        "export const shapes = {",
    ]
    for each in document.definitions.values():
        if isinstance(each, Record):
            fields = ", ".join(_shape_field(field, document) for field in each.fields)
            lines.append(f"  {each.name}: {{ fields: [{fields}] }},")
        elif isinstance(each, Choice):
            fields = ", ".join(_shape_field(field, document) for field in each.tagged)
            lines.append(f"  {each.name}: {{ choice: [{fields}] }},")
        elif isinstance(each, Flagged):
            variants = ", ".join(f'["{word}", "{name}"]' for word, name in each.variants)
            lines.append(f'  {each.name}: {{ tag: "{each.tag}", variants: [{variants}] }},')
    return "\n".join([*lines, "} as const;\n"])


def _shape_field(field: Field, document: Document) -> str:
    holds = _holds(field.type, document)
    parts = [f'"{spell(field.name)}"', f'"{field.name}"', *([f'"{holds}"'] if holds else [])]
    return f"[{', '.join(parts)}]"


def _holds(of: Type, document: Document) -> str:
    """`Name`, `Name[]` or `Name{}`; nothing for what is passed as it is."""
    if isinstance(of, Scalar):
        return "date" if of.kind == "date" else ""
    if isinstance(of, Named):
        named = document.definitions[of.name]
        if isinstance(named, Alias):
            return _holds(named.of, document)
        return "" if isinstance(named, Words) else of.name
    inner = _holds(of.of, document)
    if not inner:
        return ""
    return inner + ("[]" if isinstance(of, Many) else "{}")
