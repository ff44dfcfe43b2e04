//! The larger things: searching, finding by name, editing, patching, archives. A worker does them; what it says is read
//! into words of ours before anybody is told, and bounded.

use std::marker::PhantomData;

use atoll_files::ask::{Ask, Task, Told};
use atoll_files::{Facts, PatchOptions};
use atoll_protocol::{
    EditRequest, GlobAnswer, GlobEntry, GlobRequest, Omitted, PackOptions, PatchReceipt, SearchLine, SearchRequest,
    UnpackOptions, UnpackReceipt,
};
use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Files;
use super::call::{Call, Frame, lost};
use crate::Error;

/// Names in one answer, and the bytes that they may take: they are held in memory.
const NAMES_MAX: u64 = 100_000;
const NAMES_BYTES: usize = 32 * 1024 * 1024;

impl Files {
    async fn task(&self, task: Task, path: &[u8], options: &impl Serialize) -> Result<Call, Error> {
        let options = serde_json::to_vec(options).map_err(|error| Error::invalid(error.to_string()))?;
        self.call(&Ask::Task { task, path: self.path(path)?, options }).await
    }

    /// Searches files. Dropped, the search ends.
    pub async fn search(&self, path: &[u8], request: &SearchRequest) -> Result<Searching, Error> {
        let mut call = self.task(Task::Search, path, request).await?;
        let first = said(&mut call).await?;
        Ok(Searching { call, first: Some(first), over: false })
    }

    /// Finds names.
    pub async fn glob(&self, path: &[u8], request: &GlobRequest) -> Result<GlobAnswer, Error> {
        if request.max_matches.is_some_and(|max| max > NAMES_MAX) {
            return Err(Error::invalid(format!("max_matches: at most {NAMES_MAX} names are told")));
        }
        let mut call = self.task(Task::Glob, path, request).await?;
        let mut entries = Vec::new();
        let mut bytes = 0;
        loop {
            let json: serde_json::Value = said(&mut call).await?;
            if json.get("entries").is_some() {
                let end: GlobAnswer = serde_json::from_value(json).map_err(|_| lost())?;
                return Ok(GlobAnswer { entries, ..end });
            }
            if entries.len() as u64 >= NAMES_MAX {
                return Err(lost());
            }
            let entry: GlobEntry = serde_json::from_value(json).map_err(|_| lost())?;
            bytes += size_of::<GlobEntry>() + entry.path.len();
            if bytes > NAMES_BYTES {
                let most = NAMES_BYTES / (1024 * 1024);
                return Err(Error::invalid(format!(
                    "the names that match take more than {most} MiB: narrow the pattern, or set max_matches"
                )));
            }
            entries.push(entry);
        }
    }

    /// Replaces exact texts: all of them or none. Returns the file as it is then, and where each was.
    pub async fn edit(&self, path: &[u8], request: &EditRequest) -> Result<(Facts, Vec<Vec<u64>>), Error> {
        let body = serde_json::to_vec(request).map_err(|error| Error::invalid(error.to_string()))?;
        let mut call = self.task(Task::Edit, path, &()).await?;
        call.send(&body).await?;
        call.finish().await?;
        let Frame::Told(Told::Found { facts }) = call.next().await? else { return Err(lost()) };
        let lines = said(&mut call).await?;
        ended(&mut call).await?;
        Ok((facts, lines))
    }

    /// Begins to send a patch; it is applied as a whole when it is finished.
    pub async fn patch(&self, path: &[u8], options: PatchOptions) -> Result<Sending<PatchReceipt>, Error> {
        Ok(Sending { call: self.task(Task::Patch, path, &options).await?, receipt: PhantomData })
    }

    /// Packs a file or a tree.
    pub async fn pack(&self, path: &[u8], options: &PackOptions) -> Result<Packing, Error> {
        let mut call = self.task(Task::Pack, path, options).await?;
        // What cannot be packed at all is refused before anything is sent.
        let omitted = said(&mut call).await?;
        Ok(Packing { omitted, call, over: false })
    }

    /// Begins to send an archive, which is unpacked as it comes.
    pub async fn unpack(&self, path: &[u8], options: &UnpackOptions) -> Result<Sending<UnpackReceipt>, Error> {
        Ok(Sending { call: self.task(Task::Unpack, path, options).await?, receipt: PhantomData })
    }
}

async fn said<T: DeserializeOwned>(call: &mut Call) -> Result<T, Error> {
    let Frame::Told(Told::Said { json }) = call.next().await? else { return Err(lost()) };
    serde_json::from_slice(&json).map_err(|_| lost())
}

async fn ended(call: &mut Call) -> Result<(), Error> {
    if matches!(call.next().await?, Frame::End) { Ok(()) } else { Err(lost()) }
}

/// A search under way.
#[derive(Debug)]
pub struct Searching {
    call: Call,
    first: Option<SearchLine>,
    over: bool,
}

impl Searching {
    /// What was found next, and at last the summary; then `None`.
    pub async fn next(&mut self) -> Result<Option<SearchLine>, Error> {
        if self.over {
            return Ok(None);
        }
        let line = match self.first.take() {
            Some(line) => line,
            None => said(&mut self.call).await?,
        };
        self.over = matches!(line, SearchLine::End(_) | SearchLine::Error(_));
        Ok(Some(line))
    }
}

/// An archive on its way out.
#[derive(Debug)]
pub struct Packing {
    /// What is not in it. Should more turn out to be missing on the way, the archive does not end well.
    pub omitted: Omitted,
    call: Call,
    over: bool,
}

impl Packing {
    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if self.over {
            return Ok(None);
        }
        match self.call.next().await? {
            Frame::Data(bytes) => Ok(Some(bytes)),
            Frame::End => {
                self.over = true;
                Ok(None)
            }
            Frame::Told(_) => Err(lost()),
        }
    }
}

/// Something on its way in, of which nothing or something is done when all of it is there.
#[derive(Debug)]
pub struct Sending<T> {
    call: Call,
    receipt: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Sending<T> {
    /// Adds bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.call.send(bytes).await
    }

    /// Waits for the refusal of what was begun; ready only if there is one. Nothing is lost if the wait is given up.
    pub async fn refused(&mut self) -> Error {
        match self.call.next().await {
            Err(error) => error,
            Ok(_) => lost(),
        }
    }

    /// That was all. What came of it.
    pub async fn finish(mut self) -> Result<T, Error> {
        // An archive may be complete before its stream is.
        let sent = self.call.finish().await;
        let receipt = match sent {
            Ok(()) => said(&mut self.call).await?,
            Err(error) => return Err(error),
        };
        ended(&mut self.call).await?;
        Ok(receipt)
    }
}
