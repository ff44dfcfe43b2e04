//! Files of a sandbox. Nothing is opened or changed from here: a worker inside does it, as the user of the call, and
//! bytes and facts come out. What comes out is the word of somebody inside.

mod call;
mod entries;
mod program;
mod task;
mod transfer;
mod watch;
mod worker;

use std::sync::Arc;

use atoll_files::ask::{Ask, Told};

pub use atoll_files::ask::{Condition, ListOptions, Range, WriteOptions};
pub use atoll_files::{Facts, FileKind, Moment, PatchOptions, join};

pub use entries::{Entries, Entry};
pub(crate) use program::WORKER;
pub use task::{Packing, Searching, Sending};
pub use transfer::{Content, Pass, Piece, Reading, Upload, Written};
pub(crate) use watch::Watches;
pub use watch::{Watch, WatchChange, WatchEvent, WatchOptions, WatchRead};
pub(crate) use worker::Workers;

use crate::Error;
use crate::shared::Shared;
use crate::user::{self, User};
use call::{Call, lost};

/// What goes with its question in one piece: both fit into what a connection holds.
pub const WHOLE_MAX: usize = 32 * 1024;

/// The files of a sandbox, as one of its users sees them. Cheap to make.
#[derive(Debug, Clone)]
pub struct Files {
    shared: Arc<Shared>,
    user: Option<String>,
}

/// What to read, and when.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Which part; all if not given.
    pub range: Option<Range>,
    /// The state that the file must be in.
    pub condition: Condition,
    /// The state that it must be in to be worth sending.
    pub unless: Condition,
    /// Facts alone.
    pub head: bool,
}

/// How a name is given to something: by renaming, moving or copying it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Naming {
    /// Replace what is there.
    pub replace: bool,
    /// Make the directories above the new name that are missing.
    pub parents: bool,
}

impl Files {
    pub(crate) fn new(shared: &Arc<Shared>, user: Option<String>) -> Self {
        Self { shared: Arc::clone(shared), user }
    }

    /// A path as it was given, from the root: what is relative is so to the directory in which commands start.
    pub fn absolute(&self, path: &[u8]) -> Vec<u8> {
        use std::os::unix::ffi::OsStrExt;
        if path.starts_with(b"/") {
            return path.to_vec();
        }
        join(self.shared.cwd.as_os_str().as_bytes(), path)
    }

    /// Refuses what no path can be before anything is started.
    fn path(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        let absolute = self.absolute(path);
        let checked = if path.is_empty() { atoll_files::check(path) } else { atoll_files::check(&absolute) };
        checked.map(|()| absolute).map_err(|failure| Error::File { failure: Box::new(failure) })
    }

    async fn call(&self, ask: &Ask) -> Result<Call, Error> {
        let user: User = user::resolve(&self.shared, self.user.as_deref()).await?;
        Call::new(&self.shared, &user, ask).await
    }

    async fn told(&self, ask: &Ask) -> Result<Told, Error> {
        self.call(ask).await?.told().await
    }

    /// Opens a file for reading.
    pub async fn read(&self, path: &[u8], options: ReadOptions) -> Result<Reading, Error> {
        let ReadOptions { range, condition, unless, head } = options;
        let ask = Ask::Read { path: self.path(path)?, range, condition, unless, head };
        Reading::begin(self.call(&ask).await?).await
    }

    /// Begins to write a file; it changes when the upload is finished, at once and as a whole.
    pub async fn write(&self, path: &[u8], options: WriteOptions) -> Result<Upload, Error> {
        let ask = Ask::Write { path: self.path(path)?, options };
        Ok(Upload::new(self.call(&ask).await?))
    }

    /// Writes a file whose bytes are all here.
    pub async fn write_whole(&self, path: &[u8], options: WriteOptions, bytes: &[u8]) -> Result<Written, Error> {
        if bytes.len() > WHOLE_MAX {
            let mut upload = self.write(path, options).await?;
            upload.send(bytes).await?;
            return upload.finish().await;
        }
        let ask = Ask::Write { path: self.path(path)?, options };
        let user: User = user::resolve(&self.shared, self.user.as_deref()).await?;
        transfer::written(Call::with(&self.shared, &user, &ask, bytes).await?).await
    }

    /// What is there.
    pub async fn stat(&self, path: &[u8], follow: bool) -> Result<Facts, Error> {
        found(self.told(&Ask::Stat { path: self.path(path)?, follow }).await?)
    }

    /// What is in a directory.
    pub async fn list(&self, path: &[u8], options: ListOptions) -> Result<Entries, Error> {
        let ask = Ask::List { path: self.path(path)?, options };
        Entries::begin(self.call(&ask).await?).await
    }

    /// Makes a directory. `true` if it was not there.
    pub async fn make_directory(&self, path: &[u8], parents: bool, mode: Option<u32>) -> Result<(Facts, bool), Error> {
        let told = self.told(&Ask::MakeDirectory { path: self.path(path)?, parents, mode }).await?;
        let Told::Made { facts, created } = told else { return Err(lost()) };
        Ok((facts, created))
    }

    /// Removes a file, or a directory. Returns how many things were removed.
    pub async fn remove(
        &self,
        path: &[u8],
        recursive: bool,
        missing_ok: bool,
        condition: Condition,
    ) -> Result<u64, Error> {
        counted(self.told(&Ask::Remove { path: self.path(path)?, recursive, missing_ok, condition }).await?)
    }

    /// Gives a thing another name, in one step.
    pub async fn rename(&self, from: &[u8], to: &[u8], naming: Naming) -> Result<Facts, Error> {
        self.renamed(from, to, naming, false).await
    }

    /// The same; where the two names are on different file systems it is copied and then removed.
    pub async fn move_to(&self, from: &[u8], to: &[u8], naming: Naming) -> Result<Facts, Error> {
        self.renamed(from, to, naming, true).await
    }

    async fn renamed(&self, from: &[u8], to: &[u8], naming: Naming, across: bool) -> Result<Facts, Error> {
        let Naming { replace, parents } = naming;
        let ask = Ask::Rename { from: self.path(from)?, to: self.path(to)?, replace, parents, across };
        found(self.told(&ask).await?)
    }

    /// Copies a file, or a directory with all that is in it. Returns how many things were copied.
    pub async fn copy(&self, from: &[u8], to: &[u8], recursive: bool, naming: Naming) -> Result<u64, Error> {
        let Naming { replace, parents } = naming;
        counted(
            self.told(&Ask::Copy { from: self.path(from)?, to: self.path(to)?, recursive, replace, parents }).await?,
        )
    }

    /// Sets permission bits. Returns of how many things.
    pub async fn set_mode(&self, path: &[u8], mode: u32, recursive: bool) -> Result<u64, Error> {
        counted(self.told(&Ask::SetMode { path: self.path(path)?, mode, recursive }).await?)
    }

    /// Makes a symbolic link.
    pub async fn make_link(&self, path: &[u8], target: &[u8], naming: Naming) -> Result<Facts, Error> {
        let Naming { replace, parents } = naming;
        let ask = Ask::MakeLink { path: self.path(path)?, target: target.to_vec(), replace, parents };
        found(self.told(&ask).await?)
    }
}

fn found(told: Told) -> Result<Facts, Error> {
    if let Told::Found { facts } = told { Ok(facts) } else { Err(lost()) }
}

fn counted(told: Told) -> Result<u64, Error> {
    if let Told::Counted { count } = told { Ok(count) } else { Err(lost()) }
}
