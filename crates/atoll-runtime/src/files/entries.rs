//! The entries of a directory, as they come.

use atoll_files::Facts;
use atoll_files::ask::Told;

use super::call::{Call, Frame, lost};
use crate::Error;

/// One of them.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Below the directory that was listed.
    pub path: Vec<u8>,
    /// What is known of it.
    pub facts: Facts,
}

/// A list under way.
#[derive(Debug)]
pub struct Entries {
    call: Call,
    /// The first is here already: a list that cannot be had fails before it begins.
    first: Option<Told>,
    end: Option<(bool, u64)>,
}

impl Entries {
    pub(super) async fn begin(mut call: Call) -> Result<Self, Error> {
        match call.next().await? {
            Frame::Told(told) => Ok(Self { call, first: Some(told), end: None }),
            Frame::Data(_) | Frame::End => Err(lost()),
        }
    }

    /// The next; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Entry>, Error> {
        if self.end.is_some() {
            return Ok(None);
        }
        let told = match self.first.take() {
            Some(told) => told,
            None => match self.call.next().await? {
                Frame::Told(told) => told,
                Frame::Data(_) | Frame::End => return Err(lost()),
            },
        };
        if let Told::Entry { path, facts } = told {
            return Ok(Some(Entry { path, facts }));
        }
        let Told::Listed { more, unreadable } = told else { return Err(lost()) };
        self.end = Some((more, unreadable));
        Ok(None)
    }

    /// After the last: whether there is more behind it.
    pub fn has_more(&self) -> bool {
        self.end.is_some_and(|(more, _)| more)
    }

    /// After the last: how many directories below could not be read.
    pub fn unreadable(&self) -> u64 {
        self.end.map_or(0, |(_, unreadable)| unreadable)
    }
}
