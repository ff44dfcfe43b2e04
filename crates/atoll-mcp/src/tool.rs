//! What every tool has: a name, words for the model, what it takes and what it gives.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::Call;
use crate::schema;
use crate::trouble::Trouble;

/// What a tool does to the sandbox, for clients that ask before they let a model do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It looks, and changes nothing.
    Looks,
    /// It adds, and takes nothing away.
    Adds,
    /// It may change and remove things of the sandbox.
    Changes,
    /// It runs what it is told, which may also reach what the sandbox may reach.
    Runs,
}

impl Nature {
    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new();
        match self {
            Self::Looks => hints.read_only(true).open_world(false),
            Self::Adds => hints.read_only(false).destructive(false).open_world(false),
            Self::Changes => hints.read_only(false).destructive(true).open_world(false),
            Self::Runs => hints.read_only(false).destructive(true).open_world(true),
        }
    }
}

/// What a tool gives: for programs as it is, and for models as text.
pub(crate) trait Told: Serialize + JsonSchema {
    /// As a model reads it.
    fn text(&self) -> String;
}

/// One tool.
pub(crate) trait Tool {
    const NAME: &'static str;
    /// For people.
    const TITLE: &'static str;
    /// For models: what it does, and when to use it.
    const ABOUT: &'static str;
    const NATURE: Nature;
    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Told + Send;

    fn run(input: Self::Input, call: &mut Call) -> impl Future<Output = Result<Self::Output, Trouble>> + Send;
}

/// As clients are told of it.
pub(crate) fn described<T: Tool>() -> rmcp::model::Tool {
    rmcp::model::Tool::new(T::NAME, T::ABOUT, schema::of::<T::Input>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::of::<T::Output>())
        .with_annotations(T::NATURE.annotations())
}

/// Calls it. Whatever goes wrong is an answer: the model is to read it.
pub(crate) async fn answered<T: Tool>(arguments: Option<JsonObject>, call: &mut Call) -> CallToolResult {
    let outcome = match understood::<T>(arguments) {
        Ok(input) => T::run(input, call).await,
        Err(trouble) => Err(trouble),
    };
    match outcome {
        Ok(output) => told(&output),
        Err(trouble) => trouble.answer(),
    }
}

fn understood<T: Tool>(arguments: Option<JsonObject>) -> Result<T::Input, Trouble> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { String::new() } else { format!("{path}: ") };
        Trouble::invalid(format!("the arguments of {} are wrong: {place}{}", T::NAME, error.inner()))
    })
}

fn told<T: Told>(output: &T) -> CallToolResult {
    match serde_json::to_value(output) {
        Ok(structured) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(output.text())]);
            result.structured_content = Some(structured);
            result
        }
        Err(error) => Trouble::new(atoll_protocol::ErrorCode::Internal, error.to_string()).answer(),
    }
}
