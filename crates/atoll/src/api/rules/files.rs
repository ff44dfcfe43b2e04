//! Rules for requests about files and watches.

use serde_json::{Value, json};

use super::{BASE64, Everywhere, either, merge, not_both};

/// A path that the kernel accepts.
const PATH: &str = "^[^\\u0000]+$";

/// Permission bits.
const MODE: &str = "^(0o)?0*[0-7]{1,4}$";

/// Entity tags, quoted or not.
const TAGS: &str = "^[\\t -~]*$";

fn path() -> Value {
    json!({ "pattern": PATH })
}

fn base64() -> Value {
    json!({ "pattern": BASE64, "minLength": 4 })
}

pub(super) fn globs() -> Value {
    json!({ "items": { "format": "glob" } })
}

/// A required path, as text or as base64.
fn at() -> Value {
    json!({
        "oneOf": either("path", "path_base64"),
        "properties": { "path": path(), "path_base64": base64() },
    })
}

/// A required path and further properties.
fn at_and(more: &Value) -> Value {
    let mut all = at();
    merge(&mut all, more);
    all
}

/// An optional directory; the default is `/workspace`.
fn below(more: &Value) -> Value {
    let mut all = json!({
        "anyOf": not_both("path", "path_base64"),
        "properties": { "path": path(), "path_base64": base64(), "exclude": globs() },
    });
    merge(&mut all, more);
    all
}

pub(super) fn everywhere() -> Vec<Everywhere> {
    vec![
        ("query", "path", path()),
        ("query", "mode", json!({ "pattern": MODE })),
        ("query", "depth", json!({ "minimum": 1, "maximum": 256 })),
        ("query", "include", globs()),
        ("query", "exclude", globs()),
        // A header cannot be `null`.
        ("header", "last-event-id", json!({ "type": "integer" })),
        ("header", "if-match", json!({ "pattern": TAGS })),
        ("header", "if-none-match", json!({ "pattern": TAGS })),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let from_to = json!({
        "allOf": [{ "oneOf": either("from", "from_base64") }, { "oneOf": either("to", "to_base64") }],
        "properties": { "from": path(), "from_base64": base64(), "to": path(), "to_base64": base64() },
    });
    let link = json!({
        "allOf": [{ "oneOf": either("path", "path_base64") }, { "oneOf": either("target", "target_base64") }],
        "properties": {
            "path": path(), "path_base64": base64(), "target": path(), "target_base64": base64(),
        },
    });
    let mode = json!({ "properties": { "mode": { "pattern": MODE } } });
    let written = json!({
        "anyOf": [
            { "properties": { "if_absent": { "const": false } } }, { "properties": { "if_match": { "type": "null" } } },
        ],
        "properties": { "mode": { "pattern": MODE } },
    });
    let parts = json!({ "type": "array", "minItems": 1, "items": { "type": "string", "format": "binary" } });
    let form = json!({
        "anyOf": [{ "required": ["file"] }, { "required": ["file_base64"] }],
        "properties": { "file": parts, "file_base64": parts },
        "additionalProperties": parts,
    });
    let edit = json!({ "properties": { "edits": { "minItems": 1, "maxItems": 1000 } } });
    vec![
        ("WriteFileRequest", at_and(&written)),
        ("MakeDirectoryRequest", at_and(&mode)),
        ("ModeRequest", at_and(&mode)),
        ("EditRequest", at_and(&edit)),
        ("EditText", replacement()),
        ("UploadForm", form),
        ("FromToRequest", from_to),
        ("SymlinkRequest", link),
        (
            "SearchRequest",
            below(&json!({ "properties": {
                "include": globs(),
                "pattern": { "format": "regex", "minLength": 1, "maxLength": 64 * 1024 },
            } })),
        ),
        (
            "GlobRequest",
            below(&json!({ "properties": {
                "patterns": { "minItems": 1, "items": { "format": "glob", "pattern": "^[^/]" } },
                "max_matches": { "maximum": 100_000 },
            } })),
        ),
        ("WatchRequest", at_and(&json!({ "properties": { "include": globs(), "exclude": globs() } }))),
    ]
}

fn replacement() -> Value {
    json!({
        "anyOf": [
            { "properties": { "all": { "const": false } } }, { "properties": { "count": { "type": "null" } } },
        ],
        "properties": { "old": { "minLength": 1 }, "count": { "minimum": 1 } },
    })
}
