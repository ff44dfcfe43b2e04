//! Rules for egress policies, static host names and secrets.

use serde_json::{Value, json};

use super::Everywhere;

/// The name of a secret, which is also its variable.
const SECRET: &str = "^[A-Z_][A-Z0-9_]{0,63}$";

/// The value and the name of a header.
const VALUE: &str = "^[!-~][ -~]{6,16382}[!-~]$";
const HEADER: &str = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";

/// Headers that frame a message or name its host.
const FRAMING: [&str; 8] =
    ["host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "keep-alive"];

fn nothing() -> Value {
    json!({ "type": "null" })
}

pub(super) fn everywhere() -> Vec<Everywhere> {
    vec![("path", "secret", json!({ "pattern": SECRET }))]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        (
            "NetworkPolicy",
            json!({ "properties": {
                "allow": { "maxItems": 256 },
                "hosts": {
                    "maxProperties": 256,
                    "propertyNames": { "format": "host-name" },
                    "additionalProperties": { "minItems": 1, "maxItems": 16, "items": { "format": "address" } },
                },
                "resolver": { "format": "address" },
                "trust": { "format": "pem", "maxLength": 64 * 1024 },
            } }),
        ),
        ("EgressRule", rule()),
        (
            "PutSecret",
            json!({ "properties": {
                "value": { "pattern": VALUE },
                "hosts": { "minItems": 1, "maxItems": 32, "items": { "format": "host-name" } },
                "headers": {
                    "minItems": 1, "maxItems": 32, "items": { "pattern": HEADER, "not": { "enum": FRAMING } },
                },
            } }),
        ),
    ]
}

/// Egress rules: a rule set has its own ports and protocols; an address block must name its ports and cannot be
/// inspected.
fn rule() -> Value {
    let given = |word: &str, more: &Value| {
        let mut properties = json!({ "set": nothing(), "domain": nothing(), "cidr": nothing() });
        properties[word] = json!({ "not": nothing() });
        super::merge(&mut properties, more);
        json!({ "required": [word], "properties": properties })
    };
    let mut block = given("cidr", &json!({ "inspect": { "const": false }, "ports": { "not": nothing() } }));
    block["required"] = json!(["cidr", "ports"]);
    json!({
        "oneOf": [
            given("set", &json!({ "ports": nothing(), "protocols": nothing() })),
            given("domain", &json!({})),
            block,
        ],
        "properties": {
            "domain": { "format": "domain" },
            "cidr": { "format": "cidr" },
            "ports": { "minItems": 1, "maxItems": 64, "items": { "format": "ports" } },
            "protocols": { "minItems": 1 },
        },
    })
}
