//! Files: read, written, edited.

use atoll_client::{Client, FileBytes};
use atoll_protocol::{EditRequest, EditText};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::printed::Encoding;
use crate::tool::{Nature, Told, Tool};
use crate::trouble::Trouble;

/// Bytes of a file that an answer holds if nothing is said, and at most.
const READ: usize = 64_000;
const READ_MAX: usize = 1024 * 1024;

pub(crate) struct ReadFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// The file; relative paths are below /workspace.
    path: String,
    /// Begin with this line, counted from 1 (1).
    from_line: Option<u64>,
    /// Begin with this byte instead: the next_offset of the answer before.
    offset: Option<u64>,
    /// At most so many lines.
    max_lines: Option<u64>,
    /// At most so many bytes (64000, at most 1048576).
    max_bytes: Option<usize>,
    /// text, or base64 for files that are no text (text).
    #[serde(default)]
    encoding: Encoding,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a file";
    const ABOUT: &'static str = "Read a file, or a part of it by line or byte. Files that are not text are given as base64 \
        if that is asked for, and refused otherwise.";
    const NATURE: Nature = Nature::Looks;
    type Input = Read;
    type Output = Part;

    async fn run(input: Read, call: &mut Call) -> Result<Part, Trouble> {
        let most = input.max_bytes.unwrap_or(READ);
        if !(1..=READ_MAX).contains(&most) {
            return Err(Trouble::invalid(format!("max_bytes: give 1 to {READ_MAX}")));
        }
        if input.from_line.is_some() && (input.offset.is_some() || input.encoding == Encoding::Base64) {
            return Err(Trouble::invalid("from_line is for text, and goes without offset"));
        }
        let inside = call.inside().await?;
        let reading = taken(&inside, &input, most);
        let taken = call.until(reading).await.ok_or_else(Trouble::cancelled)??;
        Part::new(input, taken)
    }
}

/// What was read of a file.
struct Taken {
    bytes: Vec<u8>,
    /// Where they begin.
    offset: u64,
    /// The line in which they begin, if that is known.
    line: Option<u64>,
    /// There is more.
    more: bool,
    size: Option<u64>,
    etag: Option<String>,
}

async fn taken(inside: &Client, input: &Read, most: usize) -> Result<Taken, Trouble> {
    let start = input.offset.unwrap_or(0);
    // A range that begins behind the last byte cannot be had: of an empty file, that is the first one.
    let how = atoll_client::ReadFile { offset: Some(start).filter(|start| *start > 0), ..Default::default() };
    let mut file = inside.read_file(&input.path, &how).await?;
    let mut taken = Taken {
        bytes: Vec::new(),
        offset: start,
        line: (start == 0).then_some(1),
        more: false,
        size: file.whole_length().or(file.length()),
        etag: file.etag().map(str::to_owned),
    };
    let mut skip = input.from_line.unwrap_or(1).saturating_sub(1);
    taken.line = taken.line.map(|line| line + skip);
    while let Some(piece) = next(&mut file).await? {
        let rest = skipped(&piece, &mut skip);
        taken.offset += (piece.len() - rest.len()) as u64;
        let room = most - taken.bytes.len();
        taken.bytes.extend_from_slice(&rest[..rest.len().min(room)]);
        if rest.len() > room {
            taken.more = true;
            break;
        }
    }
    if skip > 0 {
        return Err(Trouble::invalid(format!("{} has no line {}", input.path, input.from_line.unwrap_or(1))));
    }
    Ok(taken)
}

async fn next(file: &mut FileBytes) -> Result<Option<bytes::Bytes>, Trouble> {
    Ok(file.next().await?)
}

/// What is behind so many ends of lines.
fn skipped<'a>(piece: &'a [u8], skip: &mut u64) -> &'a [u8] {
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
    /// What was read.
    content: String,
    /// How it is given.
    encoding: Encoding,
    /// Position of its first byte in the file.
    offset: u64,
    /// The line in which it begins, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<u64>,
    /// There is more: give this as offset to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// Length of the whole file in bytes, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Tells states of the file apart: write_file and edit_file can insist on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
}

impl Part {
    fn new(input: Read, mut taken: Taken) -> Result<Self, Trouble> {
        if input.encoding == Encoding::Text {
            if let Some(lines) = input.max_lines {
                let mut left = lines;
                let behind = skipped(&taken.bytes, &mut left).len();
                if behind > 0 && left == 0 {
                    taken.bytes.truncate(taken.bytes.len() - behind);
                    taken.more = true;
                }
            }
            whole(&input.path, &mut taken)?;
        }
        let (content, _) = input.encoding.encode(&taken.bytes);
        let next_offset = taken.more.then_some(taken.offset + taken.bytes.len() as u64);
        Ok(Self {
            path: input.path,
            content,
            encoding: input.encoding,
            offset: taken.offset,
            first_line: taken.line,
            next_offset,
            size: taken.size,
            etag: taken.etag,
        })
    }
}

/// Text alone, and no letter that is cut in two.
fn whole(path: &str, taken: &mut Taken) -> Result<(), Trouble> {
    let no_text = || Trouble::invalid(format!("{path} is not text (UTF-8)")).hint("ask for it with encoding base64");
    if taken.bytes.contains(&0) {
        return Err(no_text());
    }
    match str::from_utf8(&taken.bytes) {
        Ok(_) => Ok(()),
        Err(error) if taken.more && error.error_len().is_none() && error.valid_up_to() > 0 => {
            taken.bytes.truncate(error.valid_up_to());
            Ok(())
        }
        Err(_) => Err(no_text()),
    }
}

impl Told for Part {
    fn text(&self) -> String {
        match self.next_offset {
            None => self.content.clone(),
            Some(next) => format!("{}\n[there is more: go on with offset {next}]", self.content.trim_end_matches('\n')),
        }
    }
}

pub(crate) struct WriteFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The file; relative paths are below /workspace. Directories that are missing are made.
    path: String,
    /// Its whole new content.
    content: String,
    /// How content is given: text, or base64 for exact bytes (text).
    #[serde(default)]
    encoding: Encoding,
    /// Add to its end instead of replacing it (false).
    #[serde(default)]
    append: bool,
    /// Make it executable (false: as it was).
    #[serde(default)]
    executable: bool,
    /// Only if there is no such file yet (false).
    #[serde(default)]
    only_new: bool,
    /// Only if the file is still in the state with this etag.
    etag: Option<String>,
}

/// What a file may be that is to be run.
const EXECUTABLE: u32 = 0o755;

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write a file";
    const ABOUT: &'static str = "Write a whole file: replaced in one step, or added to. To change a part of a file use \
        edit_file.";
    const NATURE: Nature = Nature::Changes;
    type Input = Write;
    type Output = Written;

    async fn run(input: Write, call: &mut Call) -> Result<Written, Trouble> {
        let bytes = match input.encoding {
            Encoding::Text => input.content.into_bytes(),
            Encoding::Base64 => STANDARD
                .decode(&input.content)
                .map_err(|error| Trouble::invalid(format!("content: no base64: {error}")))?,
        };
        let how = atoll_client::WriteFile {
            mode: input.executable.then_some(EXECUTABLE),
            parents: true,
            append: input.append,
            if_absent: input.only_new,
            if_match: input.etag,
            user: None,
        };
        let receipt = call.inside().await?.write_file(&input.path, bytes, &how).await?;
        Ok(Written { path: input.path, created: receipt.created, size: receipt.file.size, etag: receipt.file.etag })
    }
}

/// A file that was written.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Written {
    /// The file.
    path: String,
    /// It was not there before.
    created: bool,
    /// Its length in bytes now.
    size: u64,
    /// Tells this state of it from others.
    etag: String,
}

impl Told for Written {
    fn text(&self) -> String {
        let what = if self.created { "created" } else { "written" };
        format!("{} was {what}: {} bytes", self.path, self.size)
    }
}

pub(crate) struct EditFile;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file; relative paths are below /workspace.
    path: String,
    /// Replacements, done one after the other: all of them or none.
    edits: Vec<Replacement>,
    /// Only if the file is still in the state with this etag.
    etag: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replacement {
    /// The exact text that is there, with its indentation; enough of it that it is there only once.
    old: String,
    /// What takes its place.
    new: String,
    /// Replace every occurrence (false: there must be exactly one).
    #[serde(default)]
    all: bool,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const TITLE: &'static str = "Edit a file";
    const ABOUT: &'static str = "Replace exact texts in a file. If one of them is not there, or more than once, nothing is \
        changed and the answer says what is there instead.";
    const NATURE: Nature = Nature::Changes;
    type Input = Edit;
    type Output = Edited;

    async fn run(input: Edit, call: &mut Call) -> Result<Edited, Trouble> {
        let edit = |one: Replacement| EditText { old: one.old, new: one.new, count: None, all: one.all };
        let request = EditRequest {
            path: Some(input.path.clone()),
            edits: input.edits.into_iter().map(edit).collect(),
            if_match: input.etag,
            ..EditRequest::default()
        };
        let receipt = call.inside().await?.edit_file(&request).await?;
        let lines: Vec<Vec<u64>> = receipt.lines;
        Ok(Edited { path: input.path, replaced: lines.iter().flatten().count() as u64, lines, etag: receipt.file.etag })
    }
}

/// A file that was edited.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Edited {
    /// The file.
    path: String,
    /// How many places were replaced.
    replaced: u64,
    /// For each replacement the lines where it was done, as they were counted before it.
    lines: Vec<Vec<u64>>,
    /// Tells this state of it from others.
    etag: String,
}

impl Told for Edited {
    fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().flatten().map(ToString::to_string).collect();
        format!("{}: {} replaced, in line {}", self.path, self.replaced, lines.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8], more: bool, input: serde_json::Value) -> Result<Part, Trouble> {
        let taken = Taken { bytes: bytes.to_vec(), offset: 0, line: Some(1), more, size: None, etag: None };
        Part::new(serde_json::from_value(input).unwrap(), taken)
    }

    #[test]
    fn lines_are_skipped_across_pieces() {
        let mut skip = 2;
        assert_eq!(skipped(b"one\ntw", &mut skip), b"");
        assert_eq!((skipped(b"o\nthree\n", &mut skip), skip), (b"three\n".as_slice(), 0));
    }

    #[test]
    fn a_part_ends_with_a_whole_line_or_letter_and_says_where_to_go_on() {
        let input = serde_json::json!({ "path": "f", "max_lines": 2 });
        let lines = part(b"1\n2\n3\n", false, input.clone()).unwrap();
        assert_eq!((lines.content.as_str(), lines.next_offset), ("1\n2\n", Some(4)));
        let all = part(b"1\n2\n", false, input).unwrap();
        assert_eq!((all.content.as_str(), all.next_offset), ("1\n2\n", None));
        let cut = part("aä".as_bytes()[..2].as_ref(), true, serde_json::json!({ "path": "f" })).unwrap();
        assert_eq!((cut.content.as_str(), cut.next_offset), ("a", Some(1)));
    }

    #[test]
    fn what_is_no_text_is_refused_or_given_exactly() {
        for bytes in [b"a\0b".as_slice(), b"a\xff"] {
            assert!(part(bytes, false, serde_json::json!({ "path": "f" })).is_err());
            let exact = part(bytes, false, serde_json::json!({ "path": "f", "encoding": "base64" })).unwrap();
            assert_eq!(STANDARD.decode(exact.content).unwrap(), bytes);
        }
    }
}
