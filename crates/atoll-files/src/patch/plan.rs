//! A patch played over files in memory: what each file was, and what it is to be.

use std::collections::BTreeMap;
use std::io::Read;

use super::fit::{self, Fitted, Rules};
use super::hunk::{Action, FilePatch, Hunk, Op, Patch};
use crate::error::{At, Failure, Kind, Result};
use crate::facts::Facts;
use crate::path::components;
use crate::stage::{Original, Stage};
use crate::tree::Tree;
use crate::turn::Key;

/// How many bytes of files a patch may hold in memory, before and after.
const MAX_HELD: usize = 64 << 20;
/// The permission bits of a new file, less the umask.
const NEW_MODE: u32 = 0o666;

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Created,
    /// It has changed.
    Changed,
    /// It has gone.
    Deleted,
    /// It has another name.
    Renamed {
        /// Its old one.
        from: Vec<u8>,
    },
    /// It is a copy.
    Copied {
        /// Of this file.
        from: Vec<u8>,
    },
}

/// One file of an applied patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// Its path, after the patch if it is still there.
    pub path: Vec<u8>,
    /// What happened to it.
    pub outcome: Outcome,
    /// Where its hunks fit.
    pub hunks: Vec<Fitted>,
    /// Lines that are new.
    pub added: u64,
    /// Lines that went.
    pub removed: u64,
}

/// A file as it is, or as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    bytes: Vec<u8>,
    mode: Option<u32>,
    /// The file on the disk that it comes from: its owner and attributes are taken over.
    origin: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Held {
    original: Option<Original>,
    was: Option<Content>,
    is: Option<Content>,
}

/// What a patch comes to.
#[derive(Debug)]
pub(super) struct Plan {
    files: BTreeMap<Vec<u8>, Held>,
    held: usize,
    pub(super) told: Vec<Patched>,
}

impl Plan {
    pub(super) fn make(base: &Tree, root: &[u8], patch: &Patch, rules: Rules<'_>) -> Result<Self> {
        let mut plan = Self { files: BTreeMap::new(), held: 0, told: Vec::new() };
        for file in &patch.files {
            rules.stop.check()?;
            plan.file(base, root, file, rules)?;
        }
        Ok(plan)
    }

    /// The changes that are left when all is played: what a later part of the patch undid is none.
    pub(super) fn stage(&self, base: &Tree) -> Result<Stage> {
        let mut stage = Stage::default();
        for (path, held) in &self.files {
            match (&held.original, &held.is) {
                (None, None) => {}
                (None, Some(content)) => {
                    let origin = content.origin.as_ref().and_then(|path| self.files.get(path)?.original.as_ref());
                    stage.create(base, path, &content.bytes, content.mode, origin)?;
                }
                (Some(original), None) => stage.delete(base, path, original)?,
                (Some(original), Some(content)) => {
                    if held.was.as_ref().is_none_or(|was| (&was.bytes, was.mode) != (&content.bytes, content.mode)) {
                        stage.replace(base, path, &content.bytes, content.mode, original)?;
                    }
                }
            }
        }
        Ok(stage)
    }

    fn file(&mut self, base: &Tree, root: &[u8], file: &FilePatch, rules: Rules<'_>) -> Result<()> {
        let path = inside(root, &file.path)?;
        let (added, removed) = counts(&file.hunks);
        let (path, outcome, hunks) = match &file.action {
            Action::Create { mode } => {
                self.create(base, &path, file, *mode, rules)?;
                (path, Outcome::Created, Vec::new())
            }
            Action::Delete => {
                let hunks = self.delete(base, &path, file, rules)?;
                (path, Outcome::Deleted, hunks)
            }
            Action::Change { to, copy, mode } => {
                let to = to.as_ref().map(|to| inside(root, to)).transpose()?.filter(|to| *to != path);
                let hunks = self.change(base, &path, to.as_deref(), *copy, file, *mode, rules)?;
                match to {
                    None => (path, Outcome::Changed, hunks),
                    Some(to) if *copy => (to, Outcome::Copied { from: path }, hunks),
                    Some(to) => (to, Outcome::Renamed { from: path }, hunks),
                }
            }
        };
        self.told.push(Patched { path, outcome, hunks, added, removed });
        Ok(())
    }

    fn create(
        &mut self,
        base: &Tree,
        path: &[u8],
        file: &FilePatch,
        mode: Option<u32>,
        rules: Rules<'_>,
    ) -> Result<()> {
        let held = self.look(base, path)?;
        if held.is.is_some() {
            return Err(Failure::new(Kind::Exists, path, "the patch makes this file, but it is there already"));
        }
        let (bytes, _) = fit::apply(path, b"", &file.hunks, rules)?;
        // Git knows two modes; the umask decides the rest.
        let mode = mode.map(|mode| if mode & 0o111 == 0 { NEW_MODE } else { NEW_MODE | 0o111 });
        held.is = Some(Content { bytes, mode, origin: None });
        Ok(())
    }

    fn delete(&mut self, base: &Tree, path: &[u8], file: &FilePatch, rules: Rules<'_>) -> Result<Vec<Fitted>> {
        let held = self.look(base, path)?;
        let content = held.is.take().ok_or_else(|| missing(path))?;
        // An envelope names the file and no lines; a diff holds all of them, and what it does not know it does not delete.
        if rules.form == super::Form::Envelope {
            return Ok(Vec::new());
        }
        let (rest, hunks) = fit::apply(path, &content.bytes, &file.hunks, rules)?;
        if !rest.is_empty() {
            return Err(Failure::new(Kind::Content, path, "the patch deletes this file, but not all of its lines"));
        }
        Ok(hunks)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one action, taken apart by the only caller")]
    fn change(
        &mut self,
        base: &Tree,
        path: &[u8],
        to: Option<&[u8]>,
        copy: bool,
        file: &FilePatch,
        mode: Option<u32>,
        rules: Rules<'_>,
    ) -> Result<Vec<Fitted>> {
        let held = self.look(base, path)?;
        let content = held.is.clone().ok_or_else(|| missing(path))?;
        let (bytes, hunks) = fit::apply(path, &content.bytes, &file.hunks, rules)?;
        let mode = match mode {
            // Only whether it can be executed is git's to say; who may read it is not.
            Some(mode) => content.mode.map(|old| executable(old, mode & 0o111 != 0)),
            None => content.mode,
        };
        let changed = Content { bytes, mode, origin: content.origin };
        let Some(to) = to else {
            held.is = Some(changed);
            return Ok(hunks);
        };
        if !copy {
            held.is = None;
        }
        let target = self.look(base, to)?;
        if target.is.is_some() {
            let from = String::from_utf8_lossy(path).into_owned();
            return Err(Failure::new(Kind::Exists, to, format!("`{from}` cannot get this name: it is taken")));
        }
        target.is = Some(changed);
        Ok(hunks)
    }

    /// The file as it is at this point of the patch; read from the disk the first time.
    fn look(&mut self, base: &Tree, path: &[u8]) -> Result<&mut Held> {
        if !self.files.contains_key(path) {
            let held = self.read(base, path)?;
            self.files.insert(path.to_vec(), held);
        }
        Ok(self.files.get_mut(path).expect("it was put there"))
    }

    fn read(&mut self, base: &Tree, path: &[u8]) -> Result<Held> {
        let original = match Original::open(base, path) {
            Ok(original) => original,
            Err(failure) if failure.kind == Kind::NotFound => {
                return Ok(Held { original: None, was: None, is: None });
            }
            Err(failure) => return Err(failure),
        };
        let Facts { size, mode, .. } = *original.facts();
        let room = MAX_HELD - self.held;
        let limit = u64::try_from(room).unwrap_or(u64::MAX);
        if size > limit {
            let why = format!("a patch is applied in memory, to at most {MAX_HELD} bytes of files");
            return Err(Failure::new(Kind::TooLarge, path, why));
        }
        let mut bytes = Vec::new();
        original.file().take(limit).read_to_end(&mut bytes).at(path)?;
        self.held += bytes.len();
        let content = Content { bytes, mode: Some(mode), origin: Some(path.to_vec()) };
        Ok(Held { original: Some(original), was: Some(content.clone()), is: Some(content) })
    }
}

/// What is locked while a patch is applied: every file that it names.
pub(super) fn keys(base: &Tree, root: &[u8], patch: &Patch) -> Result<Vec<Key>> {
    let mut keys = Vec::new();
    for file in &patch.files {
        let to = if let Action::Change { to: Some(to), .. } = &file.action { Some(to) } else { None };
        for path in std::iter::once(&file.path).chain(to) {
            let path = inside(root, path)?;
            // One whose directory is not there, or may not be looked at, is refused by its own name later.
            let place = base.parent(&path).ok().and_then(|(directory, name)| Key::of(directory, name).ok());
            keys.push(place.unwrap_or_else(|| Key::of_path(&path)));
        }
    }
    Ok(keys)
}

fn missing(path: &[u8]) -> Failure {
    Failure::new(Kind::NotFound, path, "the patch changes this file, but it is not there")
}

fn executable(mode: u32, yes: bool) -> u32 {
    // Whoever may read it may run it, as `chmod +x` and git have it.
    if yes { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 }
}

/// The path below the root. One that is absolute must lie there; `..` is refused.
fn inside(root: &[u8], path: &[u8]) -> Result<Vec<u8>> {
    let outside = || Failure::new(Kind::Escapes, path, "the patch names a path outside of its directory");
    let mut rest = path;
    if path.starts_with(b"/") {
        let root = root.strip_suffix(b"/").unwrap_or(root);
        rest = path.strip_prefix(root).and_then(|rest| rest.strip_prefix(b"/")).ok_or_else(outside)?;
    }
    let names: Vec<&[u8]> = components(rest).collect();
    if names.contains(&&b".."[..]) {
        return Err(outside());
    }
    let inside = names.join(&b'/');
    crate::path::check(&inside)?;
    Ok(inside)
}

fn counts(hunks: &[Hunk]) -> (u64, u64) {
    let (mut added, mut removed) = (0, 0);
    for op in hunks.iter().flat_map(|hunk| &hunk.ops) {
        match op {
            Op::Add(_) => added += 1,
            Op::Remove(_) => removed += 1,
            Op::Keep(_) => {}
        }
    }
    (added, removed)
}
