//! The document made from the types, and the proof that the file is it. `ATOLL_ACCEPT=1` writes the file anew.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::rules;

/// What an agent serves below this is a server's below the name of a sandbox.
const OF_AGENT: &str = "/v1/";

/// Of an agent, but not to be reached through a server: it decides over the sandbox as a whole itself.
const NOT_THROUGH: &str = "/v1/sandbox";

/// Routes that ask for no token.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// The type of a body that is taken as it is.
const BYTES: &str = "application/octet-stream";

/// Where the schema of a JSON body is.
pub(super) const JSON_SCHEMA: &str = "/content/application~1json/schema";

fn made() -> Value {
    let mut document = serde_json::to_value(atoll_gateway::openapi()).unwrap();
    let agent = serde_json::to_value(atoll_agent::openapi()).unwrap();
    let answer = agent["paths"]["/v1/exec"]["post"]["responses"]["default"].clone();
    add_default(&mut document, &answer);
    for (path, item) in agent["paths"].as_object().unwrap() {
        let Some(rest) = path.strip_prefix(OF_AGENT) else { continue };
        if path == NOT_THROUGH || path.starts_with(&format!("{NOT_THROUGH}/")) {
            continue;
        }
        document["paths"][format!("/v1/sandboxes/{{name}}/{rest}")] = inside(item);
    }
    merge(&mut document["components"]["schemas"], &agent["components"]["schemas"]);
    let tags = agent["tags"].as_array().unwrap().iter().filter(|tag| tag["name"] != "sandbox").cloned();
    document["tags"].as_array_mut().unwrap().extend(tags);
    document["components"]["securitySchemes"] = agent["components"]["securitySchemes"].clone();
    document["security"] = json!([{ "token": [] }]);
    for path in OPEN {
        document["paths"][path]["get"]["security"] = json!([]);
    }
    exact(&mut document);
    rules::add(&mut document);
    document
}

/// Says what the types alone do not: how large a number without a sign is, that a body that may be left out is not
/// `null`, and that a word with something to it has nothing beside it.
fn exact(value: &mut Value) {
    if let Value::Object(object) = value {
        if object.get("minimum") == Some(&json!(0)) {
            let (format, most) = match object.get("format").and_then(Value::as_str) {
                Some("int32") => ("uint32", u64::from(u32::MAX)),
                _ => ("uint64", u64::MAX),
            };
            object.insert("format".to_owned(), json!(format));
            object.entry("maximum").or_insert(json!(most));
        }
        if let Some(Value::Array(words)) = object.get_mut("oneOf") {
            words.iter_mut().for_each(alone);
        }
        // Events are no string: what is in them is said in words.
        if let Some(events) = object.get_mut("text/event-stream") {
            events["schema"] = json!({});
        }
        // Bytes may also be none.
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
        object.values_mut().for_each(exact);
    } else if let Value::Array(all) = value {
        all.iter_mut().for_each(exact);
    }
}

/// One word of several, with what belongs to it.
fn alone(word: &mut Value) {
    let Some(object) = word.as_object_mut() else { return };
    if object.get("type") == Some(&json!("object")) && object.contains_key("required") {
        object.insert("additionalProperties".to_owned(), json!(false));
        for held in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
            if held.get("type") == Some(&json!("object")) {
                held["additionalProperties"] = json!(false);
            }
        }
    }
}

/// Every operation can answer with an error, and all in one shape.
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

/// An agent's path as a server has it: with the sandbox's name.
fn inside(item: &Value) -> Value {
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
        assert!(there.is_none_or(|there| there == *schema), "two schemas are called {name}");
    }
}

#[test]
fn the_servers_document_is_the_one_that_is_checked_in() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let mut text = serde_json::to_string_pretty(&made()).unwrap();
    text.push('\n');
    if std::env::var_os("ATOLL_ACCEPT").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == kept, "the API has changed: look at it, and run this test with ATOLL_ACCEPT=1");
}

#[test]
fn every_reference_in_the_servers_document_leads_somewhere_and_every_operation_has_its_own_id() {
    let document = made();
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    let ids: Vec<&str> = text.split("\"operationId\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len());
}
