//! Which entries a walk looks at: globs, hidden names, and what `.gitignore` and `.ignore` files say.
//!
//! The rules are ripgrep's: a glob that is asked for beats ignore files and hidden names; `.ignore` beats `.gitignore`
//! beats `.git/info/exclude`; the file nearest to an entry beats those above; `.gitignore` counts only in a repository.
//! Files outside the tree (a user's own excludes) are not consulted: the same tree gives the same answer for everyone.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Failure, Kind, Result};

/// No honest file of rules is larger. One that is counts as if it were not there, and is told of.
const MAX_RULES_FILE: usize = 1 << 20;

/// Whether names that begin with a dot are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hidden {
    /// Only where a glob or an ignore file asks for them.
    #[default]
    Skipped,
    /// Like any other.
    Included,
}

/// Whether files of rules are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ignored {
    /// What `.gitignore` and `.ignore` name is not looked at.
    #[default]
    Skipped,
    /// These files mean nothing.
    Included,
}

/// Which entries are looked at.
#[derive(Debug)]
pub struct Choice {
    globs: Override,
    hidden: Hidden,
    pub(super) ignored: Ignored,
}

impl Choice {
    /// Files that match one of `include`, if there is any, and none of `exclude`; a directory that matches one of
    /// `exclude` is not entered. Globs are as in `.gitignore`: one without a slash is for names at any depth.
    pub fn new(include: &[String], exclude: &[String], hidden: Hidden, ignored: Ignored) -> Result<Self> {
        let mut builder = OverrideBuilder::new(".");
        let bad = |glob: &str, error: &dyn std::fmt::Display| {
            Failure::new(Kind::Invalid, b"", format!("the glob `{glob}` cannot be read: {error}"))
        };
        for glob in include {
            // A `!` means the opposite to the builder; here it is a character like any other.
            let text = if glob.starts_with('!') { format!("\\{glob}") } else { glob.clone() };
            builder.add(&text).map_err(|error| bad(glob, &error))?;
        }
        for glob in exclude {
            builder.add(&format!("!{glob}")).map_err(|error| bad(glob, &error))?;
        }
        let globs = builder.build().map_err(|error| bad("", &error))?;
        Ok(Self { globs, hidden, ignored })
    }

    /// Whether the entry is looked at, by globs alone.
    pub(crate) fn takes_by_globs(&self, path: &[u8], directory: bool) -> bool {
        !self.globs.matched(as_path(path), directory).is_ignore()
    }

    /// Whether the entry is looked at. `full` is its path from where the rules' own paths begin, `path` from the root.
    pub(super) fn takes(&self, rules: &Rules, full: &[u8], path: &[u8], directory: bool) -> bool {
        match self.globs.matched(as_path(path), directory) {
            Match::Ignore(_) => return false,
            Match::Whitelist(_) => return true,
            Match::None => {}
        }
        match rules.judge(full, directory) {
            Verdict::Ignored => false,
            Verdict::Wanted => true,
            Verdict::Silent => self.hidden == Hidden::Included || !last_name(path).starts_with(b"."),
        }
    }
}

/// What a chain of files says about one entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Silent,
    Ignored,
    Wanted,
}

impl Verdict {
    fn of<T>(found: &Match<T>) -> Self {
        match found {
            Match::None => Self::Silent,
            Match::Ignore(_) => Self::Ignored,
            Match::Whitelist(_) => Self::Wanted,
        }
    }

    fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::Silent { other() } else { self }
    }
}

/// The rules of one directory, and of those above it.
#[derive(Debug, Default)]
pub(super) struct Rules {
    above: Option<Arc<Self>>,
    /// How many bytes of a full path lie before what these rules look at.
    base: usize,
    ignore: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// There is a `.git` here: rules of git from above do not count.
    repository: bool,
    /// Here or above.
    in_repository: bool,
}

impl Rules {
    /// The rules in a directory whose entries' full paths begin with `base` bytes.
    ///
    /// A directory without any shares those of the one above.
    pub(super) fn enter(above: &Arc<Self>, directory: BorrowedFd<'_>, base: usize) -> (Arc<Self>, Option<Failure>) {
        let mut trouble = None;
        let mut load = |name: &str| {
            read_rules(directory, name).unwrap_or_else(|failure| {
                trouble = Some(failure);
                None
            })
        };
        let ignore = load(".ignore");
        let repository = rustix::fs::statat(directory, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        let in_repository = repository || above.in_repository;
        let git = if in_repository { load(".gitignore") } else { None };
        let exclude = if repository { load(".git/info/exclude") } else { None };
        if ignore.is_none() && git.is_none() && exclude.is_none() && !repository {
            return (Arc::clone(above), trouble);
        }
        let above = Some(Arc::clone(above));
        (Arc::new(Self { above, base, ignore, git, exclude, repository, in_repository }), trouble)
    }

    /// The rules of the directories above a root that lies inside a repository. `canonical` is the root's real path.
    pub(super) fn above(canonical: &[u8]) -> Arc<Self> {
        let mut found = Vec::new();
        let mut end = canonical.len();
        let mut repository = false;
        while !repository && let Some(slash) = canonical[..end].iter().rposition(|&byte| byte == b'/') {
            let path = if slash == 0 { &b"/"[..] } else { &canonical[..slash] };
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let Ok(directory) = rustix::fs::open(path, flags, Mode::empty()) else { break };
            repository = rustix::fs::statat(&directory, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
            found.push((directory, slash + 1));
            end = slash;
        }
        let mut rules = Arc::new(Self::default());
        if repository {
            for (directory, base) in found.into_iter().rev() {
                rules = Self::enter(&rules, directory.as_fd(), base).0;
            }
        }
        rules
    }

    fn judge(&self, full: &[u8], directory: bool) -> Verdict {
        let (mut ignore, mut git, mut exclude) = (Verdict::Silent, Verdict::Silent, Verdict::Silent);
        let mut below_repository = true;
        let mut next = Some(self);
        while let Some(rules) = next {
            let path = as_path(&full[rules.base.min(full.len())..]);
            let ask = |set: &Option<Gitignore>| {
                set.as_ref().map_or(Verdict::Silent, |set| Verdict::of(&set.matched(path, directory)))
            };
            ignore = ignore.or(|| ask(&rules.ignore));
            if below_repository {
                git = git.or(|| ask(&rules.git));
                exclude = exclude.or(|| ask(&rules.exclude));
            }
            below_repository &= !rules.repository;
            next = rules.above.as_deref();
        }
        ignore.or(|| git).or(|| exclude)
    }
}

/// Reads one file of rules: a plain file, not too large, and no link (git follows none either).
fn read_rules(directory: BorrowedFd<'_>, name: &str) -> Result<Option<Gitignore>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(Failure::from_errno(errno, name.as_bytes())),
    };
    let Ok(stat) = rustix::fs::fstat(&file) else { return Ok(None) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let mut text = Vec::new();
    let limit = u64::try_from(MAX_RULES_FILE).unwrap_or(u64::MAX) + 1;
    let mut reader = std::io::Read::take(std::fs::File::from(file), limit);
    std::io::Read::read_to_end(&mut reader, &mut text).map_err(|error| Failure::from_io(&error, name.as_bytes()))?;
    if text.len() > MAX_RULES_FILE {
        return Err(Failure::new(Kind::TooLarge, name.as_bytes(), "a file of rules larger than 1 MiB is not read"));
    }
    let mut builder = GitignoreBuilder::new(".");
    for line in String::from_utf8_lossy(&text).lines() {
        // As for git: a line that is no glob is no rule.
        drop(builder.add_line(None, line));
    }
    Ok(builder.build().ok().filter(|rules| !rules.is_empty()))
}

/// Where the directory really is, if the kernel tells.
pub(super) fn canonical(directory: BorrowedFd<'_>) -> Option<Vec<u8>> {
    use std::os::fd::AsRawFd;
    let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
    let path = rustix::fs::readlinkat(CWD, link, Vec::new()).ok()?.into_bytes();
    path.starts_with(b"/").then_some(path)
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn last_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}
