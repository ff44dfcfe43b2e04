//! Every tool there is.

use std::sync::OnceLock;

use rmcp::model::{CallToolResult, JsonObject};

use crate::call::Call;
use crate::tool::{Tool, answered, described};
use crate::tools::{command, directory, file, output, port, process, search};

macro_rules! catalog {
    ($($tool:ty,)*) => {
        /// As clients are told of them; made when the first one asks.
        pub(crate) fn tools() -> &'static [rmcp::model::Tool] {
            static TOOLS: OnceLock<Vec<rmcp::model::Tool>> = OnceLock::new();
            TOOLS.get_or_init(|| vec![$(described::<$tool>(),)*])
        }

        /// Calls the tool of this name; `None` if there is none.
        pub(crate) async fn call(
            name: &str,
            arguments: Option<JsonObject>,
            call: &mut Call,
        ) -> Option<CallToolResult> {
            match name {
                $(<$tool>::NAME => Some(Box::pin(answered::<$tool>(arguments, call)).await),)*
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

/// The tools as the documents show them: a table in Markdown.
pub fn table() -> String {
    let mut table = String::from("| tool | what it does | takes |\n|---|---|---|\n");
    for tool in tools() {
        let about = tool.description.as_deref().unwrap_or_default();
        let first = about.split_once(". ").map_or(about, |(first, _)| first).trim_end_matches('.');
        table.push_str(&format!("| `{}` | {first} | {} |\n", tool.name, taken(&tool.input_schema)));
    }
    table
}

/// What it takes; what must be given first.
fn taken(schema: &JsonObject) -> String {
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
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_takes_gives_and_does() {
        for tool in tools() {
            let text = serde_json::to_string(tool).unwrap();
            let described = |schema: &JsonObject| {
                assert_eq!(schema["type"], "object", "{text}");
                for (name, field) in schema.get("properties").and_then(|all| all.as_object()).into_iter().flatten() {
                    assert!(field.get("description").is_some(), "{}: {name} has no description", tool.name);
                }
            };
            described(&tool.input_schema);
            described(tool.output_schema.as_ref().unwrap());
            assert_eq!(tool.input_schema["additionalProperties"], false, "{text}");
            let hints = tool.annotations.as_ref().unwrap();
            assert!(hints.read_only_hint.is_some() && tool.title.is_some(), "{text}");
        }
    }

    /// Run with `ATOLL_ACCEPT=1` to write it anew.
    #[test]
    fn the_document_lists_the_tools_that_there_are() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = text.split_once("<!-- tools -->\n").unwrap();
        let (shown, after) = rest.split_once("<!-- end of tools -->").unwrap();
        if std::env::var_os("ATOLL_ACCEPT").is_some() {
            let anew = format!("{before}<!-- tools -->\n{}<!-- end of tools -->{after}", table());
            std::fs::write(&path, anew).unwrap();
        } else {
            assert_eq!(shown, table(), "the tools have changed: run this test with ATOLL_ACCEPT=1");
        }
    }
}
