//! A patch as data: files, what happens to them, and hunks.

/// A line of a hunk, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its bytes; a carriage return is one of them.
    pub bytes: Vec<u8>,
    /// Whether a line end follows. Only the last line of a file may have none.
    pub newline: bool,
}

impl Text {
    /// Whether a line of a file, with its end, is this one.
    pub(super) fn is(&self, line: &[u8]) -> bool {
        if self.newline { line.strip_suffix(b"\n") == Some(&self.bytes) } else { line == self.bytes }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes);
        if self.newline {
            out.push(b'\n');
        }
    }
}

/// One line of a hunk, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// It is there and stays.
    Keep(Text),
    /// It is there and goes.
    Remove(Text),
    /// It is new.
    Add(Text),
}

/// Where a hunk belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At this line of the old file, counted from one; for a hunk without old lines, behind this line.
    Line(u64),
    /// Behind these lines, each looked for after the one before; at the end of the file, if so.
    Behind {
        /// Lines that stand somewhere before it: the head of a class, of a function.
        anchors: Vec<Vec<u8>>,
        /// Its last line is the file's last.
        end_of_file: bool,
    },
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Counted from one within its file.
    pub number: usize,
    /// Where it belongs.
    pub place: Place,
    /// What it does.
    pub ops: Vec<Op>,
}

impl Hunk {
    /// The lines that must be there.
    pub(super) fn old(&self) -> Vec<&Text> {
        self.ops
            .iter()
            .filter_map(|op| match op {
                Op::Keep(text) | Op::Remove(text) => Some(text),
                Op::Add(_) => None,
            })
            .collect()
    }
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// It is made; the hunks hold all its lines.
    Create {
        /// With these permission bits, if it says.
        mode: Option<u32>,
    },
    /// It goes.
    Delete,
    /// It changes.
    Change {
        /// It gets this name.
        to: Option<Vec<u8>>,
        /// The old name stays too.
        copy: bool,
        /// It gets these permission bits.
        mode: Option<u32>,
    },
}

/// One file of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Its path, before the patch if it was there.
    pub path: Vec<u8>,
    /// What happens to it.
    pub action: Action,
    /// What happens in it.
    pub hunks: Vec<Hunk>,
}

/// Which of the two forms a patch has; it decides how hunks are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A unified diff: hunks say where they belong, and their old lines are exactly there or nearby.
    Unified,
    /// `*** Begin Patch`: hunks have no line numbers, and are found by their lines, blanks not counted where need be.
    Envelope,
}

/// A patch over any number of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// Its form.
    pub form: Form,
    /// Its files, in order. One may come more than once.
    pub files: Vec<FilePatch>,
}
