//! Errors of tool calls, as models read them: a code, a message, and what to do about it.

use atoll_protocol::{ErrorBody, ErrorCode};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};

/// Key in `_meta` under which programs find the error.
const META: &str = "atoll/error";

/// Why a tool call failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolError(ErrorBody);

impl ToolError {
    /// Creates an error in the arguments, which the model can correct.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationFailed, message)
    }

    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(ErrorBody { code, message: message.into(), hint: None, details: None })
    }

    /// Creates the error of a call that was cancelled, or whose client has disconnected.
    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorCode::CommandCancelled, "the call was cancelled and its command killed")
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Converts it to a tool result. It has no structured content, which would have to match the output schema.
    pub(crate) fn into_result(self) -> CallToolResult {
        let code = serde_json::to_value(self.0.code).unwrap_or_default();
        let mut text = format!("{}: {}", code.as_str().unwrap_or("INTERNAL"), self.0.message);
        if let Some(hint) = &self.0.hint {
            text.push_str(&format!("\nhint: {hint}"));
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        let mut meta = MetaObject::new();
        meta.insert(META.to_owned(), serde_json::to_value(self.0).unwrap_or_default());
        result.meta = Some(meta);
        result
    }
}

impl From<atoll_client::Error> for ToolError {
    fn from(error: atoll_client::Error) -> Self {
        use atoll_client::Error;
        let message = error.to_string();
        match error {
            Error::Refused { code, hint, details, .. } => {
                Self(ErrorBody { code: code.unwrap_or(ErrorCode::Internal), message, hint, details })
            }
            Error::Invalid { .. } => Self::invalid(message),
            Error::Unreachable { .. } => Self::new(ErrorCode::ServerUnreachable, message)
                .hint("the Atoll server is not running, or cannot be reached from here: report this to the user"),
            Error::Broken { .. } => Self::new(ErrorCode::Internal, message)
                .hint("the operation may or may not have been done: check before you repeat it"),
            Error::InvalidResponse { .. } | _ => Self::new(ErrorCode::Internal, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_error_has_text_for_models_and_meta_for_programs() {
        let error = ToolError::new(ErrorCode::FileNotFound, "no such file: /x").hint("list the directory");
        let result = serde_json::to_value(error.into_result()).unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(result["content"][0]["text"], "FILE_NOT_FOUND: no such file: /x\nhint: list the directory");
        assert_eq!(result["_meta"][META]["code"], "FILE_NOT_FOUND");
        assert!(result.get("structuredContent").is_none());
    }
}
