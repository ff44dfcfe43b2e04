//! The gateway's files on disk: each sandbox's options, from which a lost registry is rebuilt.
//!
//! ```text
//! <state>/sandboxes/<name>/sandbox.json   options            (here)
//!                          storage/       files              (the runtime)
//!                          agent.sock     its agent          (placement)
//!                          agent.log      its log
//! <state>/pool/                           storage of pre-warmed sandboxes
//! <state>/trash/                          directories that are being removed
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use atoll_protocol::{Isolation, NetworkPolicy, SandboxLimits, SandboxName, SandboxSpec, Timestamp};
use serde::{Deserialize, Serialize};

use crate::preview::Exposures;

/// The temporary name of `sandbox.json` while it is written.
const DRAFT: &str = "sandbox.json.new";

/// The version of `sandbox.json`.
const VERSION: u32 = 1;

/// The persisted options of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) version: u32,
    pub(crate) name: SandboxName,
    pub(crate) created_at: Timestamp,
    pub(crate) isolation: Isolation,
    pub(crate) limits: SandboxLimits,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) sleep_after_ms: Option<u64>,
    pub(crate) keep_alive: bool,
    /// The initial network rules. The agent persists later changes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) network: Option<NetworkPolicy>,
    #[serde(default)]
    pub(crate) ports: Exposures,
}

impl Stored {
    /// Returns the options of a new sandbox with default values.
    pub(crate) fn new(name: SandboxName, created_at: Timestamp) -> Self {
        Self {
            version: VERSION,
            name,
            created_at,
            isolation: Isolation::default(),
            limits: SandboxLimits::default(),
            env: BTreeMap::new(),
            labels: BTreeMap::new(),
            sleep_after_ms: None,
            keep_alive: false,
            network: None,
            ports: Exposures::new(),
        }
    }

    /// Returns the spec for the agent.
    pub(crate) fn spec(&self) -> SandboxSpec {
        SandboxSpec {
            name: Some(self.name.clone()),
            isolation: self.isolation,
            limits: self.limits,
            env: self.env.clone(),
            labels: self.labels.clone(),
            network: self.network.clone(),
        }
    }
}

/// The state directory.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    state: PathBuf,
}

impl Disk {
    /// Creates the directories, inaccessible to other users of the host.
    pub(crate) fn open(state: &Path) -> io::Result<Self> {
        let disk = Self { state: std::path::absolute(state)? };
        // The directory above also contains sandboxes without a server, and the runtime sets its mode.
        let above = disk.state.parent().unwrap_or(Path::new("/"));
        if !above.exists() {
            std::fs::DirBuilder::new().recursive(true).mode(0o755).create(above.parent().unwrap_or(above))?;
            make_private(above)?;
        }
        for dir in [disk.state.clone(), disk.sandboxes(), disk.pool(), disk.trash()] {
            make_private(&dir)?;
        }
        Ok(disk)
    }

    /// Opens or creates a file in the state directory that other users of the host cannot open.
    pub(crate) fn private_file(&self, name: &str) -> io::Result<File> {
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(self.state.join(name))?;
        if file.metadata()?.mode() & 0o077 != 0 {
            file.set_permissions(PermissionsExt::from_mode(0o600))?;
        }
        Ok(file)
    }

    fn sandboxes(&self) -> PathBuf {
        self.state.join("sandboxes")
    }

    /// The storage of pre-warmed sandboxes.
    pub(crate) fn pool(&self) -> PathBuf {
        self.state.join("pool")
    }

    /// Directories that are being removed.
    pub(crate) fn trash(&self) -> PathBuf {
        self.state.join("trash")
    }

    /// The directory of one sandbox.
    pub(crate) fn sandbox(&self, name: &SandboxName) -> PathBuf {
        self.sandboxes().join(name.as_str())
    }

    /// Replaces a sandbox's options atomically and durably.
    pub(crate) fn write(&self, stored: &Stored) -> io::Result<()> {
        self.put(stored, File::sync_all)?.sync()
    }

    /// Writes the options of a new sandbox. Other processes see them at once; they survive a power loss only after
    /// [`Unsynced::sync`].
    pub(crate) fn write_new(&self, stored: &Stored) -> io::Result<Unsynced> {
        self.put(stored, |_| Ok(()))
    }

    fn put(&self, stored: &Stored, first: fn(&File) -> io::Result<()>) -> io::Result<Unsynced> {
        let dir = self.sandbox(&stored.name);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let draft = dir.join(DRAFT);
        let written = write_into(&dir, &draft, stored, first).inspect_err(|_| {
            // Removes the directory if it is new. That of an existing sandbox is not empty and stays.
            drop(std::fs::remove_file(&draft));
            drop(std::fs::remove_dir(&dir));
        });
        Ok(Unsynced { file: written?, dir })
    }

    /// Returns all sandboxes with readable options, and the directories of the others.
    pub(crate) fn scan(&self) -> io::Result<(Vec<Stored>, Vec<PathBuf>)> {
        let (mut found, mut unreadable) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(self.sandboxes())? {
            let path = entry?.path();
            match read(&path) {
                Some(stored) => found.push(stored),
                None => unreadable.push(path),
            }
        }
        Ok((found, unreadable))
    }

    /// Moves a sandbox's directory to the trash at once. Returns its path there, or `None` if there was none.
    pub(crate) fn discard(&self, name: &SandboxName) -> io::Result<Option<PathBuf>> {
        let trash = self.trash().join(format!("{name}-{}", crate::random::text(8)?));
        match std::fs::rename(self.sandbox(name), &trash) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            renamed => renamed.map(|()| Some(trash)),
        }
    }
}

/// Creates a directory with mode 0700, or removes the permissions of other users from an existing one.
fn make_private(dir: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = std::fs::metadata(dir)?;
    if found.mode() & 0o077 == 0 {
        return Ok(());
    }
    std::fs::set_permissions(dir, PermissionsExt::from_mode(0o700)).map_err(|error| {
        let (mode, owner) = (found.mode() & 0o7777, found.uid());
        let what = format!(
            "{} is accessible to other users (mode {mode:04o}), and its mode cannot be changed: {error} (its owner is user {owner}: run \
             `chmod 700` on it as that user)",
            dir.display()
        );
        io::Error::new(error.kind(), what)
    })
}

/// Options that are written but may not be on disk yet.
#[derive(Debug)]
pub(crate) struct Unsynced {
    file: File,
    dir: PathBuf,
}

impl Unsynced {
    /// Syncs the options to disk.
    pub(crate) fn sync(self) -> io::Result<()> {
        self.file.sync_all()?;
        File::open(self.dir)?.sync_all()
    }
}

/// Writes the options with mode 0600, since variables may be secrets.
fn write_into(dir: &Path, draft: &Path, stored: &Stored, first: fn(&File) -> io::Result<()>) -> io::Result<File> {
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(draft)?;
    file.write_all(&serde_json::to_vec_pretty(stored)?)?;
    first(&file)?;
    std::fs::rename(draft, dir.join("sandbox.json"))?;
    Ok(file)
}

/// Reads a sandbox's options. A directory whose name differs from the options' was created by hand, and is ignored.
fn read(dir: &Path) -> Option<Stored> {
    let text = std::fs::read(dir.join("sandbox.json")).ok()?;
    let stored: Stored = serde_json::from_slice(&text).ok()?;
    (stored.version <= VERSION && dir.file_name()? == stored.name.as_str()).then_some(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_of_other_users_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("above/server");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
        let disk = Disk::open(&state).unwrap();
        assert_eq!((mode(state.parent().unwrap()), mode(&state)), (0o700, 0o700));
        drop(disk.private_file("lock").unwrap());
        for (path, open) in [(&state, 0o755), (&disk.sandboxes(), 0o777), (&state.join("lock"), 0o644)] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(open)).unwrap();
        }
        let disk = Disk::open(&state).unwrap();
        drop(disk.private_file("lock").unwrap());
        assert_eq!((mode(&state), mode(&disk.sandboxes()), mode(&state.join("lock"))), (0o700, 0o700, 0o600));
    }

    #[test]
    fn options_round_trip_and_foreign_directories_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::open(dir.path()).unwrap();
        let mut stored = Stored::new(SandboxName::new("one").unwrap(), Timestamp::from_millis(7));
        stored.labels.insert("team".to_owned(), "a".to_owned());
        disk.write(&stored).unwrap();
        std::fs::create_dir(disk.sandboxes().join("empty")).unwrap();
        std::fs::create_dir(disk.sandboxes().join("other")).unwrap();
        std::fs::copy(disk.sandboxes().join("one/sandbox.json"), disk.sandboxes().join("other/sandbox.json")).unwrap();
        let (found, mut unreadable) = disk.scan().unwrap();
        unreadable.sort();
        assert_eq!(found, [stored.clone()]);
        assert_eq!(unreadable, [disk.sandboxes().join("empty"), disk.sandboxes().join("other")]);
        let gone = disk.discard(&stored.name).unwrap().unwrap();
        assert!(gone.join("sandbox.json").exists() && !disk.sandbox(&stored.name).exists());
        assert_eq!(disk.discard(&stored.name).unwrap(), None);
    }
}
