//! Tools for files: `read_file`, `write_file` and `edit_file`.

use atoll_client::{Client, FileBytes};
use atoll_protocol::{EditRequest, EditText};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::error::ToolError;
use crate::tool::{Effect, Tool, ToolOutput};
use crate::truncated_output::Encoding;

/// Default and maximum number of bytes of a file in a result.
const READ: usize = 64_000;
const READ_MAX: usize = 1024 * 1024;

pub(crate) struct ReadFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// Path of the file; relative paths are below /workspace.
    path: String,
    /// Line to start from, counted from 1 (default 1).
    from_line: Option<u64>,
    /// Byte offset to start from instead: next_offset of the previous result.
    offset: Option<u64>,
    /// Maximum number of lines.
    max_lines: Option<u64>,
    /// Maximum number of bytes (default 64000, at most 1048576).
    max_bytes: Option<usize>,
    /// text, or base64 for files that are not text (default text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a file";
    const ABOUT: &'static str = "Read a file, or a part of it by line or byte. Files that are not text require \
        encoding base64.";
    const EFFECT: Effect = Effect::ReadOnly;
    type Input = Read;
    type Output = Part;

    async fn run(input: Read, call: &mut Call) -> Result<Part, ToolError> {
        let most = input.max_bytes.unwrap_or(READ);
        if !(1..=READ_MAX).contains(&most) {
            return Err(ToolError::invalid(format!("max_bytes: must be 1 to {READ_MAX}")));
        }
        if input.from_line.is_some() && (input.offset.is_some() || input.encoding == Encoding::Base64) {
            return Err(ToolError::invalid("from_line cannot be combined with offset or encoding base64"));
        }
        let sandbox = call.sandbox().await?;
        let reading = read_slice(&sandbox, &input, most);
        let slice = call.wait(reading).await.ok_or_else(ToolError::cancelled)??;
        Part::new(input, slice)
    }
}

/// A slice of a file.
struct Slice {
    bytes: Vec<u8>,
    /// Offset of the first byte.
    offset: u64,
    /// Line number of the first byte, if known.
    line: Option<u64>,
    /// Whether the file continues after it.
    more: bool,
    size: Option<u64>,
    etag: Option<String>,
}

async fn read_slice(sandbox: &Client, input: &Read, most: usize) -> Result<Slice, ToolError> {
    let start = input.offset.unwrap_or(0);
    // The first byte of an empty file is already outside its range, so a read from 0 sends no range.
    let how = atoll_client::ReadFile { offset: Some(start).filter(|start| *start > 0), ..Default::default() };
    let mut file = sandbox.read_file(&input.path, &how).await?;
    let mut slice = Slice {
        bytes: Vec::new(),
        offset: start,
        line: (start == 0).then_some(1),
        more: false,
        size: file.whole_length().or(file.length()),
        etag: file.etag().map(str::to_owned),
    };
    let mut skip = input.from_line.unwrap_or(1).saturating_sub(1);
    slice.line = slice.line.map(|line| line + skip);
    while let Some(piece) = next(&mut file).await? {
        let rest = skip_lines(&piece, &mut skip);
        slice.offset += (piece.len() - rest.len()) as u64;
        let room = most - slice.bytes.len();
        slice.bytes.extend_from_slice(&rest[..rest.len().min(room)]);
        if rest.len() > room {
            slice.more = true;
            break;
        }
    }
    if skip > 0 {
        return Err(ToolError::invalid(format!("{} has no line {}", input.path, input.from_line.unwrap_or(1))));
    }
    Ok(slice)
}

async fn next(file: &mut FileBytes) -> Result<Option<bytes::Bytes>, ToolError> {
    Ok(file.next().await?)
}

/// Returns the rest of a piece after `skip` line ends, and counts them down.
fn skip_lines<'a>(piece: &'a [u8], skip: &mut u64) -> &'a [u8] {
    let mut rest = piece;
    while *skip > 0 {
        match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                rest = &rest[end + 1..];
                *skip -= 1;
            }
            None => return &[],
        }
    }
    rest
}

/// A part of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Part {
    /// The file.
    path: String,
    /// The content.
    content: String,
    /// Encoding of the content.
    encoding: Encoding,
    /// Offset of its first byte in the file.
    offset: u64,
    /// Line number of its first line, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<u64>,
    /// Pass this as offset to continue; absent at the end of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// Length of the whole file in bytes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Identifies this version of the file: write_file and edit_file can require it.
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
}

impl Part {
    fn new(input: Read, mut slice: Slice) -> Result<Self, ToolError> {
        if input.encoding == Encoding::Text {
            if let Some(lines) = input.max_lines {
                let mut left = lines;
                let excess = skip_lines(&slice.bytes, &mut left).len();
                if excess > 0 && left == 0 {
                    slice.bytes.truncate(slice.bytes.len() - excess);
                    slice.more = true;
                }
            }
            check_text(&input.path, &mut slice)?;
        }
        let (content, _) = input.encoding.encode(&slice.bytes);
        let next_offset = slice.more.then_some(slice.offset + slice.bytes.len() as u64);
        Ok(Self {
            path: input.path,
            content,
            encoding: input.encoding,
            offset: slice.offset,
            first_line: slice.line,
            next_offset,
            size: slice.size,
            etag: slice.etag,
        })
    }
}

/// Checks that the bytes are UTF-8, and cuts off an incomplete character at the end.
fn check_text(path: &str, slice: &mut Slice) -> Result<(), ToolError> {
    let no_text = || ToolError::invalid(format!("{path} is not text (UTF-8)")).hint("read it with encoding base64");
    if slice.bytes.contains(&0) {
        return Err(no_text());
    }
    match str::from_utf8(&slice.bytes) {
        Ok(_) => Ok(()),
        Err(error) if slice.more && error.error_len().is_none() && error.valid_up_to() > 0 => {
            slice.bytes.truncate(error.valid_up_to());
            Ok(())
        }
        Err(_) => Err(no_text()),
    }
}

impl ToolOutput for Part {
    fn text(&self) -> String {
        match self.next_offset {
            None => self.content.clone(),
            Some(next) => {
                format!("{}\n[more content: continue with offset {next}]", self.content.trim_end_matches('\n'))
            }
        }
    }
}

pub(crate) struct WriteFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// Path of the file; relative paths are below /workspace. Missing directories are created.
    path: String,
    /// The new content of the whole file.
    content: String,
    /// Encoding of content: text, or base64 for exact bytes (default text).
    #[serde(default)]
    encoding: Encoding,
    /// Append to the file instead of replacing it (default false).
    #[serde(default)]
    append: bool,
    /// Make the file executable (default false, which keeps its mode).
    #[serde(default)]
    executable: bool,
    /// Fail if the file already exists (default false).
    #[serde(default)]
    only_new: bool,
    /// Write only if the file still has this etag.
    etag: Option<String>,
}

/// Mode of executable files.
const EXECUTABLE: u32 = 0o755;

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write a file";
    const ABOUT: &'static str = "Write a whole file, replacing it atomically, or append to it. To change a part of a \
        file, use edit_file.";
    const EFFECT: Effect = Effect::Destructive;
    type Input = Write;
    type Output = Written;

    async fn run(input: Write, call: &mut Call) -> Result<Written, ToolError> {
        let bytes = match input.encoding {
            Encoding::Text => input.content.into_bytes(),
            Encoding::Base64 => STANDARD
                .decode(&input.content)
                .map_err(|error| ToolError::invalid(format!("content: not valid base64: {error}")))?,
        };
        let how = atoll_client::WriteFile {
            mode: input.executable.then_some(EXECUTABLE),
            parents: true,
            append: input.append,
            if_absent: input.only_new,
            if_match: input.etag,
            user: None,
        };
        let receipt = call.sandbox().await?.write_file(&input.path, bytes, &how).await?;
        Ok(Written { path: input.path, created: receipt.created, size: receipt.file.size, etag: receipt.file.etag })
    }
}

/// Result of write_file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Written {
    /// The file.
    path: String,
    /// Whether the file is new.
    created: bool,
    /// Length in bytes after the write.
    size: u64,
    /// Identifies this version of the file.
    etag: String,
}

impl ToolOutput for Written {
    fn text(&self) -> String {
        let what = if self.created { "created" } else { "written" };
        format!("{} was {what}: {} bytes", self.path, self.size)
    }
}

pub(crate) struct EditFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// Path of the file; relative paths are below /workspace.
    path: String,
    /// Replacements, applied in order: all of them or none.
    edits: Vec<Replacement>,
    /// Edit only if the file still has this etag.
    etag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replacement {
    /// Exact text to replace, including indentation, long enough to occur only once.
    old: String,
    /// Replacement text.
    new: String,
    /// Replace every occurrence (default false, which requires exactly one).
    #[serde(default)]
    all: bool,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const TITLE: &'static str = "Edit a file";
    const ABOUT: &'static str = "Replace exact texts in a file. If a text does not occur, or occurs more than once, \
        the file is not changed and the error shows what it contains instead.";
    const EFFECT: Effect = Effect::Destructive;
    type Input = Edit;
    type Output = Edited;

    async fn run(input: Edit, call: &mut Call) -> Result<Edited, ToolError> {
        let edit = |one: Replacement| EditText { old: one.old, new: one.new, count: None, all: one.all };
        let request = EditRequest {
            path: Some(input.path.clone()),
            edits: input.edits.into_iter().map(edit).collect(),
            if_match: input.etag,
            ..EditRequest::default()
        };
        let receipt = call.sandbox().await?.edit_file(&request).await?;
        let lines: Vec<Vec<u64>> = receipt.lines;
        Ok(Edited { path: input.path, replaced: lines.iter().flatten().count() as u64, lines, etag: receipt.file.etag })
    }
}

/// Result of edit_file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Edited {
    /// The file.
    path: String,
    /// Number of occurrences replaced.
    replaced: u64,
    /// For each replacement, the lines where it applied, numbered as before it.
    lines: Vec<Vec<u64>>,
    /// Identifies this version of the file.
    etag: String,
}

impl ToolOutput for Edited {
    fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().flatten().map(ToString::to_string).collect();
        format!("{}: {} replaced, in line {}", self.path, self.replaced, lines.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8], more: bool, input: serde_json::Value) -> Result<Part, ToolError> {
        let slice = Slice { bytes: bytes.to_vec(), offset: 0, line: Some(1), more, size: None, etag: None };
        Part::new(serde_json::from_value(input).unwrap(), slice)
    }

    #[test]
    fn skip_lines_works_across_pieces() {
        let mut skip = 2;
        assert_eq!(skip_lines(b"one\ntw", &mut skip), b"");
        assert_eq!((skip_lines(b"o\nthree\n", &mut skip), skip), (b"three\n".as_slice(), 0));
    }

    #[test]
    fn part_ends_at_a_line_or_character_and_has_the_next_offset() {
        let input = serde_json::json!({ "path": "f", "max_lines": 2 });
        let lines = part(b"1\n2\n3\n", false, input.clone()).unwrap();
        assert_eq!((lines.content.as_str(), lines.next_offset), ("1\n2\n", Some(4)));
        let all = part(b"1\n2\n", false, input).unwrap();
        assert_eq!((all.content.as_str(), all.next_offset), ("1\n2\n", None));
        let cut = part("aä".as_bytes()[..2].as_ref(), true, serde_json::json!({ "path": "f" })).unwrap();
        assert_eq!((cut.content.as_str(), cut.next_offset), ("a", Some(1)));
    }

    #[test]
    fn binary_file_is_refused_or_exact() {
        for bytes in [b"a\0b".as_slice(), b"a\xff"] {
            assert!(part(bytes, false, serde_json::json!({ "path": "f" })).is_err());
            let exact = part(bytes, false, serde_json::json!({ "path": "f", "encoding": "base64" })).unwrap();
            assert_eq!(STANDARD.decode(exact.content).unwrap(), bytes);
        }
    }
}
