//! Reads unified diffs: those of `diff -u`, and those of git with its extra headers.

use super::hunk::{Action, FilePatch, Form, Hunk, Op, Patch, Place, Text};
use crate::error::{Failure, Kind, Result};

/// How many leading names of a path are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strip {
    /// `a/` and `b/`, where the patch has them.
    #[default]
    Auto,
    /// So many.
    Names(usize),
}

/// Reads the whole patch. Text before and between files is skipped, as every tool does.
pub(super) fn parse(text: &[u8], strip: Strip) -> Result<Patch> {
    let mut reader = Reader { lines: text.split_inclusive(|&byte| byte == b'\n').collect(), at: 0, strip };
    let mut files = Vec::new();
    while let Some(file) = reader.file()? {
        files.push(file);
    }
    if files.is_empty() {
        return Err(bad(b"", "the patch names no file: it has neither `diff --git` nor `---` and `+++` lines".into()));
    }
    Ok(Patch { form: Form::Unified, files })
}

fn bad(path: &[u8], why: String) -> Failure {
    Failure::new(Kind::Content, path, why)
}

/// What the headers of one file say.
#[derive(Default)]
struct Head {
    git: Option<Vec<u8>>,
    old: Option<Side>,
    new: Option<Side>,
    renamed: Option<(Vec<u8>, Vec<u8>)>,
    copied: bool,
    created: bool,
    deleted: bool,
    mode: Option<u32>,
}

/// A file as `---` or `+++` names it.
#[derive(Clone, PartialEq, Eq)]
enum Side {
    Nothing,
    Path(Vec<u8>),
}

struct Reader<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
    strip: Strip,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a [u8]> {
        self.lines.get(self.at).map(|line| trim_end(line))
    }

    fn starts(&self, offset: usize, prefix: &[u8]) -> bool {
        self.lines.get(self.at + offset).is_some_and(|line| line.starts_with(prefix))
    }

    fn file(&mut self) -> Result<Option<FilePatch>> {
        while self.at < self.lines.len() && !self.starts(0, b"diff --git ") && !self.names_files() {
            if self.starts(0, b"@@ -") {
                return Err(bad(b"", format!("line {} of the patch is a hunk of no file", self.at + 1)));
            }
            self.at += 1;
        }
        if self.at >= self.lines.len() {
            return Ok(None);
        }
        let head = self.head()?;
        let (path, action) = self.action(&head)?;
        let mut hunks = Vec::new();
        while self.starts(0, b"@@ ") {
            hunks.push(self.hunk(&path, hunks.len() + 1)?);
        }
        if hunks.is_empty() && action == (Action::Change { to: None, copy: false, mode: None }) {
            return Err(bad(&path, "the patch says nothing about this file".into()));
        }
        Ok(Some(FilePatch { path, action, hunks }))
    }

    /// `---` and `+++` one after the other; a removed line that begins with `-- ` is no header.
    fn names_files(&self) -> bool {
        self.starts(0, b"--- ") && self.starts(1, b"+++ ")
    }

    fn head(&mut self) -> Result<Head> {
        let mut head = Head::default();
        if let Some(rest) = self.peek().and_then(|line| line.strip_prefix(b"diff --git ")) {
            head.git = Some(rest.to_vec());
            self.at += 1;
            while let Some(line) = self.peek() {
                if line.starts_with(b"diff --git ") || line.starts_with(b"@@ ") || self.names_files() {
                    break;
                }
                self.extended(line, &mut head)?;
                self.at += 1;
            }
        }
        if self.names_files() {
            head.old = Some(side(&self.lines[self.at][4..])?);
            head.new = Some(side(&self.lines[self.at + 1][4..])?);
            self.at += 2;
        }
        Ok(head)
    }

    fn extended(&self, line: &[u8], head: &mut Head) -> Result<()> {
        let named = |prefix: &str| line.strip_prefix(prefix.as_bytes());
        if let Some(mode) = named("new file mode ") {
            head.created = true;
            head.mode = Some(file_mode(mode)?);
        } else if let Some(mode) = named("deleted file mode ") {
            file_mode(mode)?;
            head.deleted = true;
        } else if let Some(mode) = named("new mode ") {
            head.mode = Some(file_mode(mode)?);
        } else if let Some(mode) = named("old mode ") {
            file_mode(mode)?;
        } else if let Some(from) = named("rename from ").or_else(|| named("copy from ")) {
            head.copied = line.starts_with(b"copy");
            head.renamed = Some((unquote(from)?, Vec::new()));
        } else if let Some(to) = named("rename to ").or_else(|| named("copy to "))
            && let Some(renamed) = &mut head.renamed
        {
            renamed.1 = unquote(to)?;
        } else if line.starts_with(b"GIT binary patch") || line.starts_with(b"Binary files ") {
            let name = head.git.clone().unwrap_or_default();
            return Err(bad(&name, "the patch holds a binary file, which cannot be applied".into()));
        } else if let Some(hash) = named("index ")
            && let Some(mode) = hash.rsplit(|&byte| byte == b' ').next().filter(|word| word.len() == 6)
        {
            file_mode(mode)?;
        }
        Ok(())
    }

    fn action(&self, head: &Head) -> Result<(Vec<u8>, Action)> {
        // Names in `rename` and `copy` lines have no prefix.
        if let Some((from, to)) = &head.renamed {
            let action = Action::Change { to: Some(to.clone()), copy: head.copied, mode: head.mode };
            return Ok((from.clone(), action));
        }
        let (old, new) = match (&head.old, &head.new) {
            (Some(old), Some(new)) => (old.clone(), new.clone()),
            _ => {
                let both = same_names(head.git.as_deref().unwrap_or_default())?;
                (Side::Path(both.0), Side::Path(both.1))
            }
        };
        let prefixed = head.git.is_some() || has_prefixes(&old, &new);
        let path = |side: &Side| match side {
            Side::Nothing => Ok(None),
            Side::Path(path) => self.stripped(path, prefixed).map(Some),
        };
        let (old, new) = (path(&old)?, path(&new)?);
        match (old, new) {
            (None, None) => Err(bad(b"", "the patch names /dev/null twice".into())),
            (None, Some(new)) => Ok((new, Action::Create { mode: head.mode })),
            (Some(old), None) => Ok((old, Action::Delete)),
            (Some(_), Some(new)) if head.created => Ok((new, Action::Create { mode: head.mode })),
            (Some(old), Some(_)) if head.deleted => Ok((old, Action::Delete)),
            (Some(old), Some(new)) if old == new => {
                Ok((new, Action::Change { to: None, copy: false, mode: head.mode }))
            }
            // `diff -u f.orig f` is about `f`; two unrelated names are not guessed at.
            (Some(old), Some(new)) if old.starts_with(&new) => {
                Ok((new, Action::Change { to: None, copy: false, mode: head.mode }))
            }
            (Some(old), Some(new)) => Err(bad(
                &new,
                format!("the patch names two files, `{}` and this one, and no rename", String::from_utf8_lossy(&old)),
            )),
        }
    }

    fn stripped(&self, path: &[u8], prefixed: bool) -> Result<Vec<u8>> {
        let names = match self.strip {
            Strip::Auto => usize::from(prefixed),
            Strip::Names(names) => names,
        };
        let mut rest = path;
        for _ in 0..names {
            let slash = rest.iter().position(|&byte| byte == b'/');
            let slash = slash.ok_or_else(|| bad(path, format!("the path has fewer than {} names", names + 1)))?;
            rest = &rest[slash + 1..];
        }
        Ok(rest.to_vec())
    }

    fn hunk(&mut self, path: &[u8], number: usize) -> Result<Hunk> {
        let header = self.lines[self.at];
        let refuse = |why: &str| bad(path, format!("hunk {number}: {why}"));
        let ((old_start, mut old_left), (_, mut new_left)) =
            ranges(header).ok_or_else(|| refuse("its `@@` line cannot be read"))?;
        self.at += 1;
        let mut ops: Vec<Op> = Vec::new();
        while old_left > 0 || new_left > 0 || self.starts(0, b"\\") {
            let line = *self.lines.get(self.at).ok_or_else(|| refuse("the patch ends before the hunk does"))?;
            self.at += 1;
            let newline = line.ends_with(b"\n");
            let bytes = line.strip_suffix(b"\n").unwrap_or(line);
            let short =
                |left: u64| left.checked_sub(1).ok_or_else(|| refuse("it has more lines than its `@@` line says"));
            let text = |bytes: &[u8]| Text { bytes: bytes.to_vec(), newline: true };
            match bytes.first() {
                Some(b'-') => {
                    old_left = short(old_left)?;
                    ops.push(Op::Remove(text(&bytes[1..])));
                }
                Some(b'+') => {
                    new_left = short(new_left)?;
                    ops.push(Op::Add(text(&bytes[1..])));
                }
                // An empty line is an empty line of context whose blank was lost on the way.
                Some(b' ') | None if newline || !bytes.is_empty() => {
                    (old_left, new_left) = (short(old_left)?, short(new_left)?);
                    ops.push(Op::Keep(text(bytes.get(1..).unwrap_or_default())));
                }
                Some(b'\\') => match ops.last_mut() {
                    Some(Op::Keep(text) | Op::Remove(text) | Op::Add(text)) => text.newline = false,
                    None => return Err(refuse("it begins with `\\`")),
                },
                _ if bytes == b"\r" => {
                    (old_left, new_left) = (short(old_left)?, short(new_left)?);
                    ops.push(Op::Keep(text(bytes)));
                }
                _ => return Err(refuse(&format!("line {} of the patch is no line of a hunk", self.at))),
            }
        }
        Ok(Hunk { number, place: Place::Line(old_start), ops })
    }
}

/// `@@ -start,count +start,count @@`; a count that is not there is one.
fn ranges(header: &[u8]) -> Option<((u64, u64), (u64, u64))> {
    let rest = header.strip_prefix(b"@@ -")?;
    let end = memchr::memmem::find(rest, b" @@")?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    let (old, new) = text.split_once(" +")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    Some((range(old)?, range(new)?))
}

/// The name in a `---` or `+++` line: up to a tab, behind which there is a time.
fn side(rest: &[u8]) -> Result<Side> {
    let rest = trim_end(rest);
    // Git puts a tab behind a name with blanks, quoted or not.
    let quote = rest.iter().rposition(|&byte| byte == b'"').filter(|_| rest.starts_with(b"\""));
    let name = match quote {
        Some(quote) => &rest[..=quote],
        None => rest.split(|&byte| byte == b'\t').next().unwrap_or(rest),
    };
    let path = unquote(name)?;
    Ok(if path == b"/dev/null" { Side::Nothing } else { Side::Path(path) })
}

fn has_prefixes(old: &Side, new: &Side) -> bool {
    let begins = |side: &Side, prefix: &[u8]| match side {
        Side::Nothing => true,
        Side::Path(path) => path.starts_with(prefix),
    };
    begins(old, b"a/") && begins(new, b"b/")
}

/// The two names of `diff --git a/x b/x` where no other line has them: then they are the same, or quoted.
fn same_names(rest: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let unclear = || bad(rest, "the names in the `diff --git` line cannot be told apart".into());
    if rest.starts_with(b"\"") {
        let end = memchr::memmem::find(rest, b"\" ").ok_or_else(unclear)?;
        return Ok((unquote(&rest[..=end])?, unquote(&rest[end + 2..])?));
    }
    let middle = rest.len() / 2;
    let (old, new) = (rest.get(..middle).unwrap_or_default(), rest.get(middle + 1..).unwrap_or_default());
    let name = |path: &[u8]| path.iter().position(|&byte| byte == b'/').map(|slash| path[slash..].to_vec());
    if rest.get(middle) != Some(&b' ') || name(old).is_none() || name(old) != name(new) {
        return Err(unclear());
    }
    Ok((old.to_vec(), new.to_vec()))
}

/// Permission bits of a file that git knows; its links and submodules are no files that can be patched.
fn file_mode(text: &[u8]) -> Result<u32> {
    let text = String::from_utf8_lossy(trim_end(text)).into_owned();
    match u32::from_str_radix(&text, 8) {
        Ok(mode) if mode & 0o170_000 == 0o100_000 => Ok(mode & 0o777),
        Ok(0o120_000) => Err(bad(b"", "the patch is about a symbolic link, which is not supported".into())),
        Ok(0o160_000) => Err(bad(b"", "the patch is about a submodule, which is not supported".into())),
        _ => Err(bad(b"", format!("`{text}` is no mode of a file"))),
    }
}

/// A name as git quotes it where it has odd bytes.
fn unquote(name: &[u8]) -> Result<Vec<u8>> {
    let Some(inner) = name.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return Ok(name.to_vec());
    };
    let refuse = || bad(name, "the quoted name cannot be read".into());
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next().ok_or_else(refuse)? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            plain @ (b'"' | b'\\') => plain,
            first @ b'0'..=b'3' => {
                let mut digit = || bytes.next().filter(|byte| (b'0'..=b'7').contains(byte)).ok_or_else(refuse);
                (first - b'0') << 6 | (digit()? - b'0') << 3 | (digit()? - b'0')
            }
            _ => return Err(refuse()),
        });
    }
    Ok(out)
}

fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
