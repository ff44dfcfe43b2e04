//! The list of all tools.

use std::sync::OnceLock;

use rmcp::model::{CallToolResult, JsonObject};

use crate::call::Call;
use crate::tool::{Tool, call_tool, describe};
use crate::tools::{command, directory, file, output, port, process, search};

macro_rules! catalog {
    ($($tool:ty,)*) => {
        /// Returns the descriptions of all tools, built on first use.
        pub(crate) fn tools() -> &'static [rmcp::model::Tool] {
            static TOOLS: OnceLock<Vec<rmcp::model::Tool>> = OnceLock::new();
            TOOLS.get_or_init(|| vec![$(describe::<$tool>(),)*])
        }

        /// Calls the tool with this name. Returns `None` if there is no such tool.
        pub(crate) async fn call(
            name: &str,
            arguments: Option<JsonObject>,
            call: &mut Call,
        ) -> Option<CallToolResult> {
            match name {
                $(<$tool>::NAME => Some(Box::pin(call_tool::<$tool>(arguments, call)).await),)*
                _ => None,
            }
        }
    };
}

catalog! {
    command::RunCommand,
    command::RunInSession,
    process::StartProcess,
    process::ListProcesses,
    process::KillProcess,
    output::WaitFor,
    output::ReadOutput,
    file::ReadFile,
    file::WriteFile,
    file::EditFile,
    search::SearchFiles,
    directory::ListDirectory,
    port::ListPorts,
    port::PreviewUrl,
}

/// Returns the tools as a Markdown table, for the documentation.
pub fn table() -> String {
    let mut table = String::from("| tool | what it does | arguments |\n|---|---|---|\n");
    for tool in tools() {
        let about = tool.description.as_deref().unwrap_or_default();
        let first = about.split_once(". ").map_or(about, |(first, _)| first).trim_end_matches('.');
        table.push_str(&format!("| `{}` | {first} | {} |\n", tool.name, arguments(&tool.input_schema)));
    }
    table
}

/// Returns the names of a tool's arguments, required ones first.
fn arguments(schema: &JsonObject) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(|all| all.as_array())
        .into_iter()
        .flatten()
        .filter_map(|one| one.as_str())
        .collect();
    let fields = schema.get("properties").and_then(|all| all.as_object());
    let optional = fields.into_iter().flatten().map(|(name, _)| name.as_str()).filter(|name| !required.contains(name));
    let mut all: Vec<String> = required.iter().map(|name| format!("**`{name}`**")).collect();
    all.extend(optional.map(|name| format!("`{name}`")));
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_descriptions_and_schemas() {
        for tool in tools() {
            let text = serde_json::to_string(tool).unwrap();
            let describe = |schema: &JsonObject| {
                assert_eq!(schema["type"], "object", "{text}");
                for (name, field) in schema.get("properties").and_then(|all| all.as_object()).into_iter().flatten() {
                    assert!(field.get("description").is_some(), "{}: {name} has no description", tool.name);
                }
            };
            describe(&tool.input_schema);
            describe(tool.output_schema.as_ref().unwrap());
            assert_eq!(tool.input_schema["additionalProperties"], false, "{text}");
            let hints = tool.annotations.as_ref().unwrap();
            assert!(hints.read_only_hint.is_some() && tool.title.is_some(), "{text}");
        }
    }

    /// Run with `ATOLL_ACCEPT=1` to rewrite the table.
    #[test]
    fn docs_table_lists_the_current_tools() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once("<!-- tools -->\n").unwrap();
        let (shown, after) = rest.split_once("<!-- end of tools -->").unwrap();
        if std::env::var_os("ATOLL_ACCEPT").is_some() {
            let updated = format!("{before}<!-- tools -->\n{}<!-- end of tools -->{after}", table());
            std::fs::write(&path, updated).unwrap();
        } else {
            assert_eq!(shown, table(), "the tools have changed: run this test with ATOLL_ACCEPT=1");
        }
    }
}
