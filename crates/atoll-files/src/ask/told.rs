//! What a worker tells.

use atoll_isolation::wire;
use atoll_isolation::wire::Wire;

use crate::error::{Failure, Kind};
use crate::facts::Facts;
use crate::watch::{Change, Event, Watch};

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// The file is open; data follows unless only the facts were asked for.
    Opened {
        /// Of the file.
        facts: Facts,
        /// Where the data begins.
        offset: u64,
        /// How much there is; unknown for files that the kernel makes while they are read.
        length: Option<u64>,
    },
    /// The file is as the asker knows it.
    Unchanged {
        /// Of the file.
        facts: Facts,
    },
    /// Nothing of the range is there.
    OutOfRange {
        /// Of the file.
        facts: Facts,
    },
    /// The file is written.
    Written {
        /// As it is now.
        facts: Facts,
        /// It was not there before.
        created: bool,
        /// It was replaced in one step; else it was changed where it is, which others may have seen halfway.
        atomic: bool,
    },
    /// What is there.
    Found {
        /// The facts.
        facts: Facts,
    },
    /// One of a list.
    Entry {
        /// Below the directory that was listed.
        path: Vec<u8>,
        /// The facts.
        facts: Facts,
    },
    /// The list is at its end.
    Listed {
        /// There is more behind the last entry.
        more: bool,
        /// So many directories below could not be read.
        unreadable: u64,
    },
    /// The directory is there.
    Made {
        /// The facts.
        facts: Facts,
        /// It was not before.
        created: bool,
    },
    /// Something in the words of the API.
    Said {
        /// As JSON.
        json: Vec<u8>,
    },
    /// So many things were done.
    Counted {
        /// How many.
        count: u64,
    },
    /// Something happened in a tree that is watched.
    Happened {
        /// What.
        event: Event,
    },
}
/// The number of [`Told::Entry`].
const ENTRY: u8 = 6;
wire!(enum Told {
    1 => Opened { facts, offset, length },
    2 => Unchanged { facts },
    3 => OutOfRange { facts },
    4 => Written { facts, created, atomic },
    5 => Found { facts },
    6 => Entry { path, facts },
    7 => Listed { more, unreadable },
    8 => Made { facts, created },
    9 => Counted { count },
    20 => Said { json },
    30 => Happened { event },
});

impl Told {
    /// Puts a [`Told::Entry`] whose parts are somebody else's.
    pub(crate) fn put_entry(path: &[u8], facts: &Facts, out: &mut Vec<u8>) {
        out.push(ENTRY);
        wire::put_list(path, out);
        facts.put(out);
    }
}

wire!(struct Watch { include, exclude, recursive, existing, directories });
wire!(struct Event { change, path, directory });
wire!(enum Change {
    1 => Created, 2 => Modified, 3 => Attributes, 4 => Removed, 5 => Renamed { from }, 6 => Overflow, 7 => Settled,
    8 => Gone,
});

wire!(struct Failure { kind, path, detail });
wire!(enum Kind {
    1 => NotFound, 2 => Exists, 3 => IsDirectory, 4 => NotDirectory, 5 => NotRegular, 6 => NotEmpty, 7 => Denied,
    8 => NoSpace, 9 => TooLarge, 10 => ReadOnly, 11 => NameTooLong, 12 => LinkLoop, 13 => Escapes, 14 => CrossDevice,
    15 => Busy, 16 => TooManyFiles, 17 => Precondition, 18 => Invalid, 19 => Content, 20 => Limit, 21 => Cancelled,
    22 => Unsupported, 23 => Io,
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_put_as_any_other_word() {
        let stat = rustix::fs::stat("/").unwrap();
        let told = Told::Entry { path: b"a\xff".to_vec(), facts: Facts::new(&stat) };
        let mut out = Vec::new();
        Told::put_entry(b"a\xff", &Facts::new(&stat), &mut out);
        assert_eq!(out, told.encode());
    }
}
