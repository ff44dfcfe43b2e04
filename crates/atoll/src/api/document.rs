//! Generates the OpenAPI document from the types and compares it with the checked-in file. `ATOLL_ACCEPT=1` rewrites
//! the file.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::rules;

/// Prefix of an agent's routes; a server has them below `/v1/sandboxes/{name}/`.
const AGENT_PREFIX: &str = "/v1/";

/// Agent routes that a server does not proxy, because it manages the sandbox as a whole itself.
const NOT_PROXIED: &str = "/v1/sandbox";

/// Routes that require no token.
const PUBLIC: [&str; 2] = ["/healthz", "/readyz"];

/// The content type of raw bodies.
const BYTES: &str = "application/octet-stream";

/// JSON pointer from a request body to its schema.
pub(super) const JSON_SCHEMA: &str = "/content/application~1json/schema";

fn generate() -> Value {
    let mut document = serde_json::to_value(atoll_gateway::openapi()).unwrap();
    let agent = serde_json::to_value(atoll_agent::openapi()).unwrap();
    let answer = agent["paths"]["/v1/exec"]["post"]["responses"]["default"].clone();
    add_default(&mut document, &answer);
    for (path, item) in agent["paths"].as_object().unwrap() {
        let Some(rest) = path.strip_prefix(AGENT_PREFIX) else { continue };
        if path == NOT_PROXIED || path.starts_with(&format!("{NOT_PROXIED}/")) {
            continue;
        }
        document["paths"][format!("/v1/sandboxes/{{name}}/{rest}")] = with_sandbox_name(item);
    }
    merge(&mut document["components"]["schemas"], &agent["components"]["schemas"]);
    let tags = agent["tags"].as_array().unwrap().iter().filter(|tag| tag["name"] != "sandbox").cloned();
    document["tags"].as_array_mut().unwrap().extend(tags);
    document["components"]["securitySchemes"] = agent["components"]["securitySchemes"].clone();
    document["security"] = json!([{ "token": [] }]);
    for path in PUBLIC {
        document["paths"][path]["get"]["security"] = json!([]);
    }
    tighten(&mut document);
    rules::add(&mut document);
    document
}

/// Adds constraints that the types do not express: the maximum of unsigned numbers, that an optional body is absent and
/// not `null`, and that the object of an enum variant has no other properties.
fn tighten(value: &mut Value) {
    if let Value::Object(object) = value {
        if object.get("minimum") == Some(&json!(0)) {
            let (format, max) = match object.get("format").and_then(Value::as_str) {
                Some("int32") => ("uint32", u64::from(u32::MAX)),
                _ => ("uint64", u64::MAX),
            };
            object.insert("format".to_owned(), json!(format));
            object.entry("maximum").or_insert(json!(max));
        }
        if let Some(Value::Array(variants)) = object.get_mut("oneOf") {
            variants.iter_mut().for_each(close_variant);
        }
        // An event stream has no JSON schema; the description explains its events.
        if let Some(events) = object.get_mut("text/event-stream") {
            events["schema"] = json!({});
        }
        // A raw body may be empty.
        if let Some(body) = object.get_mut("requestBody").filter(|body| body["content"].get(BYTES).is_some()) {
            body["required"] = json!(false);
        }
        if let Some(schema) = object.get_mut("requestBody").and_then(|body| body.pointer_mut(JSON_SCHEMA)) {
            let given = schema
                .get("oneOf")
                .and_then(Value::as_array)
                .and_then(|all| all.iter().find(|one| one.get("$ref").is_some()));
            if let Some(given) = given.cloned() {
                *schema = given;
            }
        }
        object.values_mut().for_each(tighten);
    } else if let Value::Array(all) = value {
        all.iter_mut().for_each(tighten);
    }
}

/// Forbids additional properties in the object of an enum variant.
fn close_variant(variant: &mut Value) {
    let Some(object) = variant.as_object_mut() else { return };
    if object.get("type") == Some(&json!("object")) && object.contains_key("required") {
        object.insert("additionalProperties".to_owned(), json!(false));
        for property in
            object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
        {
            if property.get("type") == Some(&json!("object")) {
                property["additionalProperties"] = json!(false);
            }
        }
    }
}

/// Adds the error response, which is the same for every operation.
fn add_default(document: &mut Value, answer: &Value) {
    for item in document["paths"].as_object_mut().unwrap().values_mut() {
        for operation in item.as_object_mut().unwrap().values_mut() {
            operation["responses"]["default"] = answer.clone();
            for response in operation["responses"].as_object_mut().unwrap().values_mut() {
                if response["description"] == "" {
                    response["description"] = json!("Done.");
                }
            }
        }
    }
}

/// Returns an agent's path item with the sandbox name as a parameter.
fn with_sandbox_name(item: &Value) -> Value {
    let name = json!({
        "name": "name", "in": "path", "required": true, "description": "The sandbox.",
        "schema": { "$ref": "#/components/schemas/SandboxName" },
    });
    let mut item = item.clone();
    for operation in item.as_object_mut().unwrap().values_mut() {
        let own = operation.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
        operation["parameters"] = [vec![name.clone()], own].concat().into();
    }
    item
}

fn merge(into: &mut Value, from: &Value) {
    let into: &mut Map<String, Value> = into.as_object_mut().unwrap();
    for (name, schema) in from.as_object().unwrap() {
        let there = into.insert(name.clone(), schema.clone());
        assert!(there.is_none_or(|there| there == *schema), "two different schemas are named {name}");
    }
}

#[test]
fn document_matches_the_checked_in_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let mut text = serde_json::to_string_pretty(&generate()).unwrap();
    text.push('\n');
    if std::env::var_os("ATOLL_ACCEPT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let checked_in = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == checked_in, "the API has changed: review the difference, then run this test with ATOLL_ACCEPT=1");
}

#[test]
fn document_references_resolve_and_operation_ids_are_unique() {
    let document = generate();
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    let ids: Vec<&str> = text.split("\"operationId\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len());
}
