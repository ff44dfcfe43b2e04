//! Blocks of 65,536 host ids, one per sandbox, so that no two sandboxes share an owner outside.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::spec::IdMap;
use crate::sys::{identity, socket};

/// Ids in one block: what programs inside expect to exist.
const BLOCK: u32 = 65_536;

/// The range that systemd reserves for containers (systemd.io/UIDS-GIDS): nothing else is handed out there.
const FIRST: u32 = 524_288 / BLOCK;
const LAST: u32 = 1_879_048_191 / BLOCK;

/// Directories of claims: a locked file each, which only root can open. Abstract socket names are open to every user of the
/// host, who could take them all and block root's sandboxes.
const CLAIMS: [&str; 2] = ["/run/atoll", "/run/atoll/ids"];

/// A claimed id map. The claim ends when this is dropped or the process ends.
#[derive(Debug)]
pub struct Ids {
    map: IdMap,
    _claim: Option<Claim>,
}

#[derive(Debug)]
enum Claim {
    File {
        _locked: File,
        path: PathBuf,
    },
    /// The fallback where `/run` is not writable.
    Name {
        _socket: OwnedFd,
    },
}

impl Drop for Claim {
    /// Removes the file while it is locked: another process that has opened it sees a link count of 0.
    fn drop(&mut self) {
        match self {
            Self::File { path, .. } => drop(std::fs::remove_file(path)),
            Self::Name { .. } => {}
        }
    }
}

impl Ids {
    /// As root a block that no other living sandbox of this machine has; else the caller's own id.
    pub fn claim() -> io::Result<Self> {
        Self::claim_unless(|_| false)
    }

    /// The same, but no block whose first id is `reserved`: files of a sandbox that does not live now belong to it.
    pub fn claim_unless(reserved: impl Fn(u32) -> bool) -> io::Result<Self> {
        if let Some(own) = Self::own() {
            return Ok(own);
        }
        let count = LAST - FIRST;
        let start = random()? % count;
        for offset in 0..count {
            let block = FIRST + (start + offset) % count;
            if !reserved(block * BLOCK)
                && let Some(ids) = Self::claim_block(block)?
            {
                return Ok(ids);
            }
        }
        Err(io::Error::other("all id blocks are taken"))
    }

    /// The block that begins with `base`, which owns files of an earlier life; `None` if another living sandbox has it.
    pub fn claim_again(base: u32) -> io::Result<Option<Self>> {
        if let Some(own) = Self::own() {
            return Ok(Some(own));
        }
        if !base.is_multiple_of(BLOCK) || !(FIRST..LAST).contains(&(base / BLOCK)) {
            return Err(io::Error::other(format!("no block of ids begins with {base}")));
        }
        Self::claim_block(base / BLOCK)
    }

    fn own() -> Option<Self> {
        let (uid, gid) = (identity::user(), identity::group());
        (uid != 0).then_some(Self { map: IdMap::Own { uid, gid }, _claim: None })
    }

    fn claim_block(block: u32) -> io::Result<Option<Self>> {
        let claim = if is_usable()? {
            claim_file(&Path::new(CLAIMS[1]).join(block.to_string()))?
        } else {
            let name = format!("atoll/ids/{block}");
            socket::claim_name(name.as_bytes())?.map(|socket| Claim::Name { _socket: socket })
        };
        let map = IdMap::Range { base: block * BLOCK, count: BLOCK };
        Ok(claim.map(|claim| Self { map, _claim: Some(claim) }))
    }

    /// The map.
    pub fn map(&self) -> IdMap {
        self.map
    }
}

/// Whether claims can be files here. A directory that other users can enter is an error, not a reason for the fallback.
fn is_usable() -> io::Result<bool> {
    for dir in CLAIMS {
        match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = Path::new(dir).symlink_metadata()?;
                if !found.is_dir() || found.uid() != 0 || found.mode() & 0o077 != 0 {
                    let what = format!("{dir} must be a directory of root with mode 0700: remove it");
                    return Err(io::Error::other(what));
                }
            }
            // A read-only or missing `/run`, as in some containers.
            Err(_) => return Ok(false),
            Ok(()) => {}
        }
    }
    Ok(true)
}

fn claim_file(path: &Path) -> io::Result<Option<Claim>> {
    loop {
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
            // Removed by its last owner since it was opened: retry.
            Ok(()) if file.metadata()?.nlink() == 0 => {}
            Ok(()) => return Ok(Some(Claim::File { _locked: file, path: path.to_owned() })),
        }
    }
}

/// From the kernel, by file: this crate has no other use for randomness.
fn random() -> io::Result<u32> {
    use std::io::Read;
    let mut bytes = [0; 4];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_claimed_once_and_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("8");
        let claim = claim_file(&path).unwrap();
        assert!(claim.is_some());
        assert!(claim_file(&path).unwrap().is_none());
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        drop(claim);
        assert!(!path.exists());
        // A file of a killed process is free.
        std::fs::write(&path, "").unwrap();
        assert!(claim_file(&path).unwrap().is_some());
    }
}
