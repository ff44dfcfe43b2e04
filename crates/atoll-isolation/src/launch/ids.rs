//! Blocks of 65,536 host ids, one per sandbox, so that no two sandboxes share an owner outside.

use std::io;
use std::os::fd::OwnedFd;

use crate::spec::IdMap;
use crate::sys::{identity, socket};

/// Ids in one block: what programs inside expect to exist.
const BLOCK: u32 = 65_536;

/// The range that systemd reserves for containers (systemd.io/UIDS-GIDS): nothing else is handed out there.
const FIRST: u32 = 524_288 / BLOCK;
const LAST: u32 = 1_879_048_191 / BLOCK;

/// A claimed id map. The claim ends when this is dropped or the process ends.
#[derive(Debug)]
pub struct Ids {
    map: IdMap,
    _claim: Option<OwnedFd>,
}

impl Ids {
    /// As root a block that no other living sandbox has (of this network namespace: that is where the names of claims
    /// live); else the caller's own id.
    pub fn claim() -> io::Result<Self> {
        let (uid, gid) = (identity::user(), identity::group());
        if uid != 0 {
            return Ok(Self { map: IdMap::Own { uid, gid }, _claim: None });
        }
        let count = LAST - FIRST;
        let start = random()? % count;
        for offset in 0..count {
            let block = FIRST + (start + offset) % count;
            // The claim is a name in the kernel, not a file: it cannot be left behind.
            if let Some(claim) = socket::claim_name(format!("atoll/ids/{block}").as_bytes())? {
                return Ok(Self { map: IdMap::Range { base: block * BLOCK, count: BLOCK }, _claim: Some(claim) });
            }
        }
        Err(io::Error::other("all id blocks are taken"))
    }

    /// The map.
    pub fn map(&self) -> IdMap {
        self.map
    }
}

/// From the kernel, by file: this crate has no other use for randomness.
fn random() -> io::Result<u32> {
    use std::io::Read;
    let mut bytes = [0; 4];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u32::from_ne_bytes(bytes))
}
