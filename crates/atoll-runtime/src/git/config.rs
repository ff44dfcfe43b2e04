//! The configuration of a repository, and the keys that a repository may set.
//!
//! Git has hundreds of keys, new versions add more, and many of them name a program, a proxy or another address. A list of
//! dangerous keys is never complete. So this is a list of harmless ones: what git itself writes when users clone, branch,
//! add remotes, submodules or worktrees, and what they commonly set. [`Config::check`] refuses every other key by name.
//!
//! Names are bytes: git accepts subsections that are not UTF-8, or that contain `=`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::Error;

/// Whether the key of a rule has a subsection between its section and its name, as `remote.origin.url` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `section.name`
    Plain,
    /// `section.any subsection.name`
    Sub,
}

use Kind::{Plain, Sub};

/// The keys that a repository may set. None of them names a program, a file to read, a proxy or a server, apart from the
/// addresses of remotes.
///
/// Some are here because users have them and [`FIXED`](super::invocation::FIXED) overrides them: `core.hooksPath`,
/// `commit.gpgSign`, `tag.gpgSign`, `gc.auto`, `maintenance.auto` and the `recurseSubmodules` family.
const ALLOWED: &[(&str, Kind, &[&str])] = &[
    (
        "core",
        Plain,
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commitgraph",
            "compression",
            "eol",
            "filemode",
            "hookspath",
            "ignorecase",
            "logallrefupdates",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
            // Git writes it for submodules. `Git::inspect` compares it with where the repository was found.
            "worktree",
        ],
    ),
    (
        "extensions",
        Plain,
        &["noop", "objectformat", "preciousobjects", "refstorage", "relativeworktrees", "worktreeconfig"],
    ),
    ("user", Plain, &["email", "name", "signingkey", "useconfigonly"]),
    ("author", Plain, &["email", "name"]),
    ("committer", Plain, &["email", "name"]),
    ("init", Plain, &["defaultbranch"]),
    ("color", Plain, &["ui"]),
    ("remote", Plain, &["pushdefault"]),
    (
        "remote",
        Sub,
        &[
            "fetch",
            // The GitHub command line keeps its default repository here.
            "gh-resolved",
            "mirror",
            "prune",
            "prunetags",
            "pushurl",
            "skipdefaultupdate",
            "skipfetchall",
            "tagopt",
            "url",
        ],
    ),
    ("branch", Plain, &["autosetupmerge", "autosetuprebase", "sort"]),
    // The last three are written by the GitHub command line and by VS Code.
    (
        "branch",
        Sub,
        &[
            "description",
            "merge",
            "pushremote",
            "rebase",
            "remote",
            "gh-merge-base",
            "github-pr-owner-number",
            "vscode-merge-base",
        ],
    ),
    ("submodule", Plain, &["active", "alternateerrorstrategy", "alternatelocation", "recurse"]),
    ("submodule", Sub, &["active", "branch", "fetchrecursesubmodules", "ignore", "shallow", "update", "url"]),
    ("pull", Plain, &["ff", "rebase"]),
    ("push", Plain, &["autosetupremote", "default", "recursesubmodules"]),
    ("fetch", Plain, &["prune", "prunetags", "recursesubmodules"]),
    ("merge", Plain, &["conflictstyle", "ff"]),
    ("rebase", Plain, &["autosquash", "autostash"]),
    ("rerere", Plain, &["autoupdate", "enabled"]),
    ("diff", Plain, &["algorithm", "renamelimit", "renames"]),
    ("commit", Plain, &["gpgsign"]),
    ("tag", Plain, &["gpgsign"]),
    ("gc", Plain, &["auto"]),
    ("maintenance", Plain, &["auto", "strategy"]),
    ("index", Plain, &["sparse", "version"]),
    ("receive", Plain, &["denycurrentbranch", "denynonfastforwards"]),
    ("http", Plain, &["postbuffer", "receivepack"]),
    // Git LFS writes both into clones. Git itself reads neither, and no filter runs.
    ("lfs", Plain, &["repositoryformatversion"]),
    ("lfs", Sub, &["access"]),
];

/// One line of a repository's configuration. Git lists sections and names in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) section: Vec<u8>,
    pub(super) subsection: Option<Vec<u8>>,
    pub(super) name: Vec<u8>,
    /// None for a key without `=`, which git reads as true.
    pub(super) value: Option<Vec<u8>>,
}

/// The whole configuration of a repository, with everything that it includes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Config(pub(super) Vec<Entry>);

impl Entry {
    /// Parses `key\nvalue`, as `git config --null --list` prints it.
    fn parse(record: &[u8]) -> Option<Self> {
        let (key, value) = match record.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&record[..end], Some(record[end + 1..].to_vec())),
            None => (record, None),
        };
        let first = key.iter().position(|&byte| byte == b'.')?;
        let last = key.iter().rposition(|&byte| byte == b'.')?;
        let subsection = (first < last).then(|| key[first + 1..last].to_vec());
        Some(Self { section: key[..first].to_vec(), subsection, name: key[last + 1..].to_vec(), value })
    }

    fn is_allowed(&self) -> bool {
        let kind = if self.subsection.is_some() { Sub } else { Plain };
        let rule = |(section, of, _): &&(&str, Kind, &[&str])| *of == kind && section.as_bytes() == self.section;
        let names = ALLOWED.iter().filter(rule).flat_map(|(_, _, names)| names.iter());
        names.into_iter().any(|name| name.as_bytes() == self.name)
    }

    /// The key in print: bytes that are not printable ASCII are escaped.
    fn key(&self) -> String {
        let mut key = self.section.clone();
        for part in self.subsection.iter().chain([&self.name]) {
            key.push(b'.');
            key.extend(part);
        }
        key.escape_ascii().to_string()
    }
}

impl Config {
    /// Parses the output of `git config --null --list`.
    pub(super) fn parse(listed: &[u8]) -> Option<Self> {
        let records = listed.split(|&byte| byte == 0).filter(|record| !record.is_empty());
        records.map(Entry::parse).collect::<Option<_>>().map(Self)
    }

    /// Refuses the first key that is not on the list.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.0.iter().find(|entry| !entry.is_allowed()) {
            Some(entry) => Err(Error::GitConfigRefused { key: entry.key() }),
            None => Ok(()),
        }
    }

    /// Whether a key without a subsection is set.
    pub(super) fn has(&self, section: &str, name: &str) -> bool {
        self.0.iter().any(|entry| {
            entry.section == section.as_bytes() && entry.subsection.is_none() && entry.name == name.as_bytes()
        })
    }

    /// The values of `section.subsection.name`, in order.
    pub(super) fn values(&self, section: &str, subsection: &[u8], name: &str) -> Vec<&OsStr> {
        let named = |entry: &&Entry| {
            entry.section == section.as_bytes()
                && entry.subsection.as_deref() == Some(subsection)
                && entry.name == name.as_bytes()
        };
        self.0.iter().filter(named).filter_map(|entry| entry.value.as_deref().map(OsStr::from_bytes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(listed: &[u8]) -> String {
        match Config::parse(listed).unwrap().check() {
            Err(Error::GitConfigRefused { key }) => key,
            other => panic!("{}: {other:?}", listed.escape_ascii()),
        }
    }

    #[test]
    fn keys_that_git_writes_are_allowed() {
        let ordinary =
            b"core.repositoryformatversion\n0\0core.filemode\ntrue\0core.bare\0remote.a.b=c\xff.url\nhttps://x/y\0\
            remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*\0branch.feature/a.b.merge\nrefs/heads/x\0\
            submodule.libs/one.url\n../one\0submodule.libs/one.active\ntrue\0extensions.worktreeconfig\ntrue\0\
            core.sparsecheckout\ntrue\0user.email\nme@x\0lfs.repositoryformatversion\n0\0";
        Config::parse(ordinary).unwrap().check().unwrap();
    }

    #[test]
    fn every_other_key_is_refused_by_name() {
        for key in [
            "core.sshcommand",
            "core.gitproxy",
            "core.fsmonitor",
            "core.attributesfile",
            "core.alternaterefscommand",
            "core.pager",
            "include.path",
            "includeif.gitdir:/.path",
            "url.http://127.0.0.1/.insteadof",
            "http.proxy",
            "http.sslverify",
            "http.https://git.example.org.proxy",
            "http.https://git.example.org.sslverify",
            "credential.https://git.example.org.helper",
            "remote.origin.uploadpack",
            "remote.origin.receivepack",
            "remote.origin.proxy",
            "remote.origin.vcs",
            "remote.origin.promisor",
            "extensions.partialclone",
            "filter.a=b.clean",
            "filter.x.process",
            "diff.x.textconv",
            "merge.x.driver",
            "branch.main.mergeoptions",
            "protocol.ext.allow",
            "hook.x.command",
            "alias.status",
            // The right section and name with, or without, a subsection is another key.
            "core.x.bare",
            "remote.url",
        ] {
            assert_eq!(refused(format!("core.bare\nfalse\0{key}\nx\0").as_bytes()), key);
        }
        assert_eq!(refused(b"filter.x\xff.clean\nx\0"), "filter.x\\xff.clean");
    }

    #[test]
    fn records_that_are_not_keys_are_refused() {
        assert_eq!(Config::parse(b"nonsense\0"), None);
        assert_eq!(Config::parse(b"").unwrap(), Config::default());
    }

    #[test]
    fn values_keep_their_order_and_their_bytes() {
        let config = Config::parse(b"remote.a.url\none\0remote.b.url\nx\0remote.a.url\ntwo\n\xff\0").unwrap();
        assert_eq!(config.values("remote", b"a", "url"), [OsStr::new("one"), OsStr::from_bytes(b"two\n\xff")]);
        assert!(!config.has("core", "worktree"));
    }
}
