//! What travels between agent and worker: a head, and what it announces.

/// The largest frame that either side takes.
pub const FRAME_MAX: usize = 1024 * 1024;

/// Kind and length before each frame.
pub const HEADER: usize = 5;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// An [`Ask`] or a [`Told`].
    Message,
    /// Bytes of a file.
    Data,
    /// All was said.
    End,
    /// A [`Failure`]; nothing comes after it.
    Failed,
}

impl FrameKind {
    /// As it travels.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Self::Message => 1,
            Self::Data => 2,
            Self::End => 3,
            Self::Failed => 4,
        }
    }

    /// From how it travels.
    #[must_use]
    pub fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Message,
            2 => Self::Data,
            3 => Self::End,
            4 => Self::Failed,
            _ => return None,
        })
    }
}

/// The head of a frame.
#[must_use]
pub fn header(kind: FrameKind, length: usize) -> [u8; HEADER] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    [kind.byte(), length[0], length[1], length[2], length[3]]
}

/// Takes a head apart; `None` if it is no frame of ours.
#[must_use]
pub fn parse_header(head: [u8; HEADER]) -> Option<(FrameKind, usize)> {
    let [kind, length @ ..] = head;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    (length <= FRAME_MAX).then_some((FrameKind::of(kind)?, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frames_of_ours_are_taken() {
        assert_eq!(parse_header(header(FrameKind::Data, 7)), Some((FrameKind::Data, 7)));
        assert_eq!(parse_header(header(FrameKind::Data, FRAME_MAX + 1)), None);
        assert_eq!(parse_header([9, 0, 0, 0, 0]), None);
    }
}
