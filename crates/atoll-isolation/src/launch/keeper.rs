//! The agent's handle on its keeper.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::channel::Channel;
use crate::wire::{KeeperRequest, Kept};

/// Tells the keeper what must not outlive this process.
#[derive(Debug)]
pub struct Keeper {
    channel: Mutex<Channel>,
}

impl Keeper {
    pub(super) fn new(channel: Channel) -> Self {
        Self { channel: Mutex::new(channel) }
    }

    /// Call before the thing is made. Returns when the keeper knows it.
    pub fn keep(&self, kind: Kept, path: &Path) -> io::Result<()> {
        let channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        channel.send(&KeeperRequest::Keep { kind, path: path.as_os_str().as_bytes().to_vec() }, &[])?;
        match channel.receive::<bool>()? {
            Some((true, _)) => Ok(()),
            _ => Err(io::Error::other("the keeper is gone")),
        }
    }

    /// The thing was removed, or is to stay.
    pub fn forget(&self, path: &Path) -> io::Result<()> {
        let channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        channel.send(&KeeperRequest::Forget { path: path.as_os_str().as_bytes().to_vec() }, &[])
    }
}
