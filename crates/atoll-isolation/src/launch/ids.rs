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

    /// The claim is a name in the kernel, not a file: it cannot be left behind.
    fn claim_block(block: u32) -> io::Result<Option<Self>> {
        let claim = socket::claim_name(format!("atoll/ids/{block}").as_bytes())?;
        let map = IdMap::Range { base: block * BLOCK, count: BLOCK };
        Ok(claim.map(|claim| Self { map, _claim: Some(claim) }))
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
