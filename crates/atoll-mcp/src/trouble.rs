//! What can go wrong in a call, told to the model: a code, a sentence, and what to do about it.

use atoll_protocol::{ErrorBody, ErrorCode};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};

/// Where programs find the error in an answer: `_meta`, under this name.
const META: &str = "atoll/error";

/// Why a call did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble(ErrorBody);

impl Trouble {
    /// The caller can mend it.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationFailed, message)
    }

    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(ErrorBody { code, message: message.into(), hint: None, details: None })
    }

    /// The client took the call back, or is gone.
    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorCode::CommandCancelled, "the call was cancelled; what it ran was ended")
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The same as an answer. It has no structured content: that would have to look like a result.
    pub(crate) fn answer(self) -> CallToolResult {
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

impl From<atoll_client::Error> for Trouble {
    fn from(error: atoll_client::Error) -> Self {
        use atoll_client::Error;
        let message = error.to_string();
        match error {
            Error::Refused { code, hint, details, .. } => {
                Self(ErrorBody { code: code.unwrap_or(ErrorCode::Internal), message, hint, details })
            }
            Error::Invalid { .. } => Self::invalid(message),
            Error::Unreachable { .. } => Self::new(ErrorCode::ServerUnreachable, message)
                .hint("the Atoll server does not run, or cannot be reached from here: tell the user"),
            Error::Broken { .. } => Self::new(ErrorCode::Internal, message)
                .hint("it may or may not have been done: look before doing it again"),
            Error::InvalidResponse { .. } | _ => Self::new(ErrorCode::Internal, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_code_message_and_hint_and_a_program_finds_them() {
        let trouble = Trouble::new(ErrorCode::FileNotFound, "no such file: /x").hint("list the directory");
        let told = serde_json::to_value(trouble.answer()).unwrap();
        assert_eq!(told["isError"], true);
        assert_eq!(told["content"][0]["text"], "FILE_NOT_FOUND: no such file: /x\nhint: list the directory");
        assert_eq!(told["_meta"][META]["code"], "FILE_NOT_FOUND");
        assert!(told.get("structuredContent").is_none());
    }
}
