//! Constraints on requests that the types do not express, so that the document rejects what the server rejects.
//!
//! A rule is merged into the schema that it names. Each has its check in the runtime or the gateway, and schemathesis
//! compares the two. Constraints on meaning (a pattern compiles, a directory is not copied into itself) are not rules;
//! `scripts/schemathesis` lists them.

mod files;
mod git;
mod network;

use serde_json::{Value, json};

/// Names and ids.
const SANDBOX: &str = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";
const ID: &str = "^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$";

/// Text for execve(2), which ends at the first NUL byte.
const NO_NUL: &str = "^[^\\u0000]*$";

/// Names of environment variables, and of shell variables.
const VARIABLE: &str = "^[^=\\u0000]+$";
const SHELL_VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";

/// Variables that are read-only in bash.
const BASH_READONLY: [&str; 6] = ["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"];

/// Base64 with padding.
const BASE64: &str = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

/// Linux's signals, by name or number.
const SIGNAL: &str = "^((SIG)?(HUP|INT|QUIT|ILL|TRAP|ABRT|BUS|FPE|KILL|USR1|SEGV|USR2|PIPE|ALRM|TERM|STKFLT|CHLD|CONT\
    |STOP|TSTP|TTIN|TTOU|URG|XCPU|XFSZ|VTALRM|PROF|WINCH|IO|PWR|SYS|RTMIN\\+([0-9]|[12][0-9]|30))|[1-9]|[1-5][0-9]|6[0-4])$";

/// Options of `set -o` that a session can start with.
const SHELL_OPTIONS: [&str; 23] = [
    "allexport",
    "braceexpand",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "histexpand",
    "history",
    "ignoreeof",
    "interactive-comments",
    "keyword",
    "monitor",
    "noclobber",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "physical",
    "pipefail",
    "posix",
    "vi",
    "xtrace",
];

/// Merges every rule into the document.
pub(super) fn add(document: &mut Value) {
    let all = [schemas(), previews(), files::schemas(), git::schemas(), network::schemas()].concat();
    for (name, rule) in all {
        let schema = document.pointer_mut(&format!("/components/schemas/{name}"));
        let schema = schema.unwrap_or_else(|| panic!("there is no schema {name}"));
        for property in rule["properties"].as_object().into_iter().flatten().map(|(property, _)| property) {
            assert!(schema["properties"].get(property).is_some(), "{name} has no {property}");
        }
        merge(schema, &rule);
    }
    for (operation, name, rule) in parameters() {
        let all = document.pointer_mut(&format!("{operation}/parameters")).and_then(Value::as_array_mut);
        let one = all.into_iter().flatten().find(|parameter| parameter["name"] == name);
        merge(&mut one.unwrap_or_else(|| panic!("{operation} has no {name}"))["schema"], &rule);
    }
    let shared = [numbers(), files::everywhere(), network::everywhere()].concat();
    apply_shared(&mut document["paths"], &shared);
    let schemas = document["components"]["schemas"].clone();
    inline_schemas(&mut document["paths"], &schemas);
    for (operation, body) in bodies() {
        let schema = document.pointer_mut(&format!("{operation}/requestBody{}", super::document::JSON_SCHEMA));
        *schema.unwrap_or_else(|| panic!("there is no operation {operation}")) = body;
    }
}

/// A parameter with the same rule in every operation: its location, its name, the rule.
type Everywhere = (&'static str, &'static str, Value);

/// The port in a path.
fn numbers() -> Vec<Everywhere> {
    vec![("path", "port", json!({ "type": "integer", "minimum": 1, "maximum": 65_535 }))]
}

/// Applies the rules of shared parameters to every operation.
fn apply_shared(value: &mut Value, rules: &[Everywhere]) {
    match value {
        Value::Object(object) => {
            let is = |key: &str, wanted: &str| object.get(key).and_then(Value::as_str) == Some(wanted);
            let rule = rules.iter().find(|(location, name, _)| is("in", location) && is("name", name));
            match rule {
                Some((.., rule)) => merge(&mut object["schema"], rule),
                None => object.values_mut().for_each(|value| apply_shared(value, rules)),
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|value| apply_shared(value, rules)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Inlines the schemas of path and query parameters. They are text, and with the schema in place a client does not read
/// a name such as `false` as a boolean.
fn inline_schemas(value: &mut Value, schemas: &Value) {
    match value {
        Value::Object(object) if matches!(object.get("in").and_then(Value::as_str), Some("query" | "path")) => {
            let named = object["schema"].get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            if let Some(schema) = named.map(|name| schemas[name].clone()) {
                object["schema"] = schema;
            }
        }
        Value::Object(object) => object.values_mut().for_each(|value| inline_schemas(value, schemas)),
        Value::Array(all) => all.iter_mut().for_each(|value| inline_schemas(value, schemas)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn merge(into: &mut Value, rule: &Value) {
    match (into, rule) {
        (Value::Object(into), Value::Object(rule)) => {
            for (key, value) in rule {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, rule) => *into = rule.clone(),
    }
}

/// Exactly one of the two properties.
fn either(one: &str, other: &str) -> Value {
    json!([
        { "required": [one], "properties": { one: { "not": { "type": "null" } }, other: { "type": "null" } } },
        { "required": [other], "properties": { other: { "not": { "type": "null" } }, one: { "type": "null" } } },
    ])
}

/// At most one of the two properties.
fn not_both(one: &str, other: &str) -> Value {
    json!([{ "properties": { one: { "type": "null" } } }, { "properties": { other: { "type": "null" } } }])
}

fn text() -> Value {
    json!({ "pattern": NO_NUL })
}

fn at_least_one() -> Value {
    json!({ "minimum": 1 })
}

/// Environment variables; `null` unsets one.
fn variables() -> Value {
    json!({ "propertyNames": { "pattern": VARIABLE }, "additionalProperties": { "pattern": NO_NUL } })
}

fn shell_variables() -> Value {
    json!({
        "propertyNames": { "pattern": SHELL_VARIABLE, "not": { "enum": BASH_READONLY } },
        "additionalProperties": { "pattern": NO_NUL },
    })
}

/// Properties that all commands share.
fn command() -> Value {
    json!({
        "oneOf": either("command", "argv"),
        "properties": {
            "command": text(), "argv": argv(), "cwd": text(), "env": variables(),
            "timeout_ms": at_least_one(), "idle_timeout_ms": at_least_one(), "memory_bytes": memory(),
        },
    })
}

/// Arguments, of which the first names the program.
fn argv() -> Value {
    json!({ "minItems": 1, "items": text(), "prefixItems": [{ "type": "string", "minLength": 1, "pattern": NO_NUL }] })
}

/// A memory limit: below the minimum no program runs, above the maximum the kernel rejects the number.
fn memory() -> Value {
    json!({ "minimum": 4 << 20, "maximum": u64::MAX >> 1 })
}

fn labels() -> Value {
    json!({
        "maxProperties": 64,
        "propertyNames": { "minLength": 1, "maxLength": 256 },
        "additionalProperties": { "maxLength": 256 },
    })
}

fn schemas() -> Vec<(&'static str, Value)> {
    let mut exec = command();
    merge(
        &mut exec,
        &json!({
            "anyOf": not_both("stdin", "stdin_base64"),
            "properties": { "stdin_base64": { "pattern": BASE64 }, "answer_bytes": { "maximum": 64 * 1024 * 1024 } },
        }),
    );
    let size = json!({ "properties": {
        "cols": { "minimum": 1, "maximum": 1000, "format": "uint16" },
        "rows": { "minimum": 1, "maximum": 500, "format": "uint16" },
    } });
    let mut terminal = size.clone();
    merge(
        &mut terminal,
        &json!({
            "anyOf": not_both("command", "argv"),
            "properties": {
                "command": text(), "argv": argv(), "cwd": text(), "env": variables(), "term": text(),
            },
        }),
    );
    vec![
        ("SandboxName", json!({ "pattern": SANDBOX })),
        ("ProcessId", json!({ "pattern": ID, "not": { "enum": ["kill"] } })),
        ("SessionId", json!({ "pattern": ID })),
        ("TerminalId", json!({ "pattern": ID })),
        ("WatchId", json!({ "pattern": ID })),
        ("Signal", json!({ "pattern": SIGNAL })),
        ("ExecRequest", exec),
        ("StartRequest", command()),
        ("TerminalRequest", terminal),
        ("WindowSize", size.clone()),
        ("ResizeRequest", size),
        (
            "SessionRequest",
            json!({ "properties": {
            "cwd": text(), "env": shell_variables(), "options": { "items": { "enum": SHELL_OPTIONS } },
        } }),
        ),
        (
            "LogCondition",
            json!({
                "oneOf": either("text", "regex"),
                "properties": { "text": { "minLength": 1 }, "regex": { "format": "regex" } },
            }),
        ),
        ("ReadyCondition", json!({ "oneOf": ready() })),
        ("PortCondition", json!({ "properties": { "port": { "minimum": 1, "maximum": 65_535, "format": "uint16" } } })),
        (
            "HttpCondition",
            json!({ "properties": {
            "path": { "pattern": "^/[!-~]*$" },
            "status": { "minimum": 100, "maximum": 599, "format": "uint16" },
        } }),
        ),
        (
            "SandboxLimits",
            json!({ "properties": {
            "memory_bytes": memory(),
            "pids": { "minimum": 1, "maximum": 4_194_304 },
            "cpu_millis": { "minimum": 1, "maximum": 8_192_000 },
        } }),
        ),
        ("CreateSandbox", json!({ "properties": { "env": variables(), "labels": labels() } })),
        ("PatchSandbox", json!({ "properties": { "labels": labels() } })),
        (
            "CreateToken",
            json!({ "properties": {
            "name": { "maxLength": 256 }, "scopes": { "minItems": 1, "maxItems": 32 },
            "expires_in_ms": { "maximum": 3_162_240_000_000_u64 },
        } }),
        ),
        (
            "Scope",
            json!({ "properties": {
            "sandboxes": { "pattern": "^[a-z0-9*-]{1,128}$" }, "verbs": { "minItems": 1 },
        } }),
        ),
    ]
}

fn previews() -> Vec<(&'static str, Value)> {
    vec![
        (
            "ExposePort",
            json!({ "properties": { "name": { "maxLength": 256 }, "token": { "pattern": "^[a-z0-9_]{1,32}$" } } }),
        ),
        ("LinkRequest", json!({ "properties": { "expires_in_ms": { "minimum": 1, "maximum": 2_592_000_000_u64 } } })),
    ]
}

/// Readiness conditions. `since` must be absent, because a process that has not started has no output.
fn ready() -> Value {
    let log = json!({ "allOf": [
        { "$ref": "#/components/schemas/LogCondition" }, { "properties": { "since": { "type": "null" } } },
    ] });
    let one = |name: &str, schema: Value| {
        json!({
            "type": "object", "required": [name], "properties": { name: schema }, "additionalProperties": false,
        })
    };
    json!([one("log", log), one("port", json!({ "$ref": "#/components/schemas/PortCondition" }))])
}

/// Rules for parameters of single operations.
fn parameters() -> Vec<(&'static str, &'static str, Value)> {
    const PROCESSES: &str = "/paths/~1v1~1sandboxes~1{name}~1processes/get";
    const PROCESS_OUTPUT: &str = "/paths/~1v1~1sandboxes~1{name}~1processes~1{id}~1output/get";
    const TERMINAL_OUTPUT: &str = "/paths/~1v1~1sandboxes~1{name}~1terminals~1{id}~1output/get";
    const TERMINAL_ATTACH: &str = "/paths/~1v1~1sandboxes~1{name}~1terminals~1{id}~1attach/get";
    const FILES: &str = "/paths/~1v1~1sandboxes~1{name}~1files~1list/get";
    let label = json!({ "items": { "pattern": "=" } });
    let page = json!({ "minimum": 1, "maximum": 16 * 1024 * 1024 });
    // White space around a header's value is not part of it (RFC 9110, 5.5).
    let key = json!({ "pattern": "^[ \\t]*[!-~]([ -~]{0,253}[!-~])?[ \\t]*$" });
    vec![
        ("/paths/~1v1~1sandboxes/get", "label", label.clone()),
        ("/paths/~1v1~1sandboxes/post", "idempotency-key", key),
        (PROCESSES, "label", label),
        (FILES, "after", json!({ "pattern": BASE64 })),
        (PROCESS_OUTPUT, "limit", page.clone()),
        (TERMINAL_OUTPUT, "limit", page),
        (TERMINAL_ATTACH, "cols", json!({ "minimum": 1, "maximum": 1000, "format": "uint16" })),
        (TERMINAL_ATTACH, "rows", json!({ "minimum": 1, "maximum": 500, "format": "uint16" })),
    ]
}

/// Rules for bodies of single operations.
fn bodies() -> Vec<(&'static str, Value)> {
    let absent = || json!({ "type": "null" });
    // The session decides the user, the memory limit and the egress rules.
    let command = json!({ "properties": {
        "env": shell_variables(), "user": absent(), "memory_bytes": absent(), "network": absent(),
    } });
    let mut queued = command.clone();
    merge(&mut queued, &json!({ "properties": { "restart": { "enum": ["never"] }, "ready": absent() } }));
    let background = json!({ "properties": { "env": { "propertyNames": { "pattern": SHELL_VARIABLE } } } });
    let at_terminal = json!({ "properties": { "for": { "not": { "type": "object", "required": ["port"] } } } });
    let named = json!({ "properties": { "name": { "description": "The path has it; none, or the same." } } });
    vec![
        ("/paths/~1v1~1sandboxes~1{name}/put", restricted("CreateSandbox", named)),
        ("/paths/~1v1~1sandboxes~1{name}~1terminals~1{id}~1wait/post", restricted("WaitRequest", at_terminal)),
        ("/paths/~1v1~1sandboxes~1{name}~1sessions~1{id}~1exec/post", restricted("ExecRequest", command)),
        ("/paths/~1v1~1sandboxes~1{name}~1sessions~1{id}~1commands/post", restricted("StartRequest", queued)),
        ("/paths/~1v1~1sandboxes~1{name}~1sessions~1{id}~1processes/post", restricted("StartRequest", background)),
    ]
}

fn restricted(schema: &str, rule: Value) -> Value {
    json!({ "allOf": [{ "$ref": format!("#/components/schemas/{schema}") }, rule] })
}
