//! JSON schemas of tool inputs and outputs, kept simple so that every client and every model understands them.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the schema of a type. Subschemas are inlined, because not every client resolves references.
pub(crate) fn of<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    let Value::Object(mut object) = schema else { return Arc::default() };
    object.remove("title");
    object.remove("description");
    Arc::new(object)
}

/// Simplifies a schema: optional fields are never `null`, and numbers have no format.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            // In `properties` these are field names, whose values are objects.
            for word in ["format", "default"] {
                if object.get(word).is_some_and(|value| !value.is_object()) {
                    object.remove(word);
                }
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(all) => all.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is used")]
    struct Inner {
        a: u8,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only the schema is used")]
    struct Outer {
        count: Option<u64>,
        inner: Option<Inner>,
    }

    #[test]
    fn schema_has_no_null_and_no_references() {
        let schema = Value::Object(of::<Outer>().as_ref().clone());
        assert_eq!(schema["properties"]["count"]["type"], "integer");
        assert_eq!(schema["properties"]["inner"]["type"], "object");
        let text = schema.to_string();
        assert!(!text.contains("null") && !text.contains("$ref") && !text.contains("uint"), "{text}");
    }
}
