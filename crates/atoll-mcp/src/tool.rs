//! The `Tool` trait: name, descriptions for people and models, input and output.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::Call;
use crate::error::ToolError;
use crate::schema;

/// What a tool can do to the sandbox, for clients that ask the user for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads, and changes nothing.
    ReadOnly,
    /// It adds, and does not change or remove anything.
    Additive,
    /// It may change and remove things in the sandbox.
    Destructive,
    /// It runs commands, which can also use the network as far as the sandbox's policy allows.
    Executes,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::ReadOnly => hints.read_only(true).open_world(false),
            Self::Additive => hints.read_only(false).destructive(false).open_world(false),
            Self::Destructive => hints.read_only(false).destructive(true).open_world(false),
            Self::Executes => hints.read_only(false).destructive(true).open_world(true),
        }
    }
}

/// Output of a tool: structured for programs, text for models.
pub(crate) trait ToolOutput: Serialize + JsonSchema {
    /// Returns the text for the model.
    fn text(&self) -> String;
}

/// One tool.
pub(crate) trait Tool {
    const NAME: &'static str;
    /// Title for people.
    const TITLE: &'static str;
    /// Description for models: what it does, and when to use it.
    const ABOUT: &'static str;
    const EFFECT: Effect;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: ToolOutput + Send;

    fn run(input: Self::Input, call: &mut Call) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// Returns the tool's MCP description.
pub(crate) fn describe<T: Tool>() -> rmcp::model::Tool {
    rmcp::model::Tool::new(T::NAME, T::ABOUT, schema::of::<T::Input>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::of::<T::Output>())
        .with_annotations(T::EFFECT.annotations())
}

/// Calls a tool. Every error becomes a tool result, so that the model can read it.
pub(crate) async fn call_tool<T: Tool>(arguments: Option<JsonObject>, call: &mut Call) -> CallToolResult {
    let outcome = match parse_arguments::<T>(arguments) {
        Ok(input) => T::run(input, call).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(output) => success(&output),
        Err(error) => error.into_result(),
    }
}

fn parse_arguments<T: Tool>(arguments: Option<JsonObject>) -> Result<T::Input, ToolError> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { String::new() } else { format!("{path}: ") };
        ToolError::invalid(format!("invalid arguments of {}: {field}{}", T::NAME, error.inner()))
    })
}

fn success<T: ToolOutput>(output: &T) -> CallToolResult {
    match serde_json::to_value(output) {
        Ok(structured) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(output.text())]);
            result.structured_content = Some(structured);
            result
        }
        Err(error) => ToolError::new(atoll_protocol::ErrorCode::Internal, error.to_string()).into_result(),
    }
}
