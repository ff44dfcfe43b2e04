//! Which part of a file is meant, and in which state it must be.

use atoll_isolation::wire;

use crate::facts::Facts;

/// Which state a file must be in for the request to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Condition {
    /// Any.
    #[default]
    Any,
    /// Not there.
    Absent,
    /// There, whatever it is.
    Present,
    /// One with one of these tags.
    Tagged {
        /// The tags.
        tags: Vec<String>,
    },
    /// None with one of these tags.
    NotTagged {
        /// The tags.
        tags: Vec<String>,
    },
}
wire!(enum Condition { 0 => Any, 1 => Absent, 2 => Present, 3 => Tagged { tags }, 4 => NotTagged { tags } });

impl Condition {
    /// Whether the file, if it is there, is as it must be.
    #[must_use]
    pub fn holds(&self, found: Option<&Facts>) -> bool {
        match (self, found) {
            (Self::Any, _) | (Self::Absent | Self::NotTagged { .. }, None) | (Self::Present, Some(_)) => true,
            (Self::Absent, Some(_)) | (Self::Present | Self::Tagged { .. }, None) => false,
            (Self::Tagged { tags }, Some(facts)) => tags.contains(&facts.tag()),
            (Self::NotTagged { tags }, Some(facts)) => !tags.contains(&facts.tag()),
        }
    }
}

/// Which part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// From here to the end.
    From {
        /// The first byte.
        start: u64,
    },
    /// From here to there, both included.
    Between {
        /// The first byte.
        start: u64,
        /// The last byte.
        last: u64,
    },
    /// So many at the end.
    Last {
        /// How many.
        count: u64,
    },
}
wire!(enum Range { 1 => From { start }, 2 => Between { start, last }, 3 => Last { count } });

impl Range {
    /// Offset and length in a file of this size; `None` if nothing of it is there.
    #[must_use]
    pub fn within(self, size: u64) -> Option<(u64, u64)> {
        match self {
            Self::From { start } if start < size => Some((start, size - start)),
            Self::Between { start, last } if start < size && start <= last => {
                Some((start, last.min(size - 1) - start + 1))
            }
            Self::Last { count } if count > 0 && size > 0 => Some((size - count.min(size), count.min(size))),
            Self::From { .. } | Self::Between { .. } | Self::Last { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_file() {
        assert_eq!(Range::From { start: 3 }.within(10), Some((3, 7)));
        assert_eq!(Range::From { start: 10 }.within(10), None);
        assert_eq!(Range::Between { start: 0, last: 0 }.within(10), Some((0, 1)));
        assert_eq!(Range::Between { start: 8, last: 99 }.within(10), Some((8, 2)));
        assert_eq!(Range::Between { start: 5, last: 4 }.within(10), None);
        assert_eq!(Range::Last { count: 4 }.within(10), Some((6, 4)));
        assert_eq!(Range::Last { count: 40 }.within(10), Some((0, 10)));
        assert_eq!(Range::Last { count: 0 }.within(10), None);
        assert_eq!(Range::Last { count: 1 }.within(0), None);
    }
}
