//! What agent and shell say to each other: one [`Order`] in, one [`Report`] back.
//!
//! The shell writes its report into the [`PAGE`], memory that it shares with the agent, and then connects to the agent's
//! listener. The agent answers with an order over that connection, and reads nothing from it: no bytes, no descriptors.
//!
//! Both ends are built from this file at the same time and run on the same machine, so numbers are in native order.

/// First bytes of every message; also its version.
pub const MAGIC: u32 = u32::from_ne_bytes(*b"ATS2");

/// The builtin's name while it is being loaded; it is gone before the first command.
pub const BUILTIN: &str = "atoll";

/// The descriptor on which bash finds the object to load.
pub const OBJECT: i32 = 3;

/// The descriptor on which a shell that runs one command only finds what to run.
pub const SCRIPT: i32 = 4;

/// The signal that makes the shell give up its command. Bash cannot trap it: the C library keeps it for itself.
pub const GIVE_UP: i32 = 33;

/// The descriptor on which a session's shell finds the memory that it shares with the agent.
pub const PAGE: i32 = 4;

/// Bytes of that memory: a report and its directory, in whole pages of any size that Linux has.
pub const PAGE_SIZE: usize = 64 * 1024;

/// Length of a [`Report`] without the directory that follows it.
pub const REPORT: usize = 40;

/// Most bytes of a dump. A session with thousands of functions holds about one MiB. A shell that holds more stops here
/// and reports [`TOO_LARGE`]; the agent ends one that sends more.
pub const DUMP_MAX: usize = 8 * 1024 * 1024;

/// The longest directory that a report tells (PATH_MAX); of a longer one nothing.
pub const DIRECTORY: usize = 4096;

/// Length of an [`Order`] without its payload.
pub const ORDER: usize = 24;

/// The longest payload that travels in the message itself. Longer ones travel as a file.
pub const INLINE: usize = 8 * 1024;

/// Stands for "not given" where a length is expected.
pub const NONE: u32 = u32::MAX;

/// What the shell has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It has started and waits for its first order.
    Ready,
    /// The command is over.
    Done,
    /// The command was not run: its working directory could not be entered (`status` is the OS error).
    NotRun,
    /// The dump is written.
    Dumped,
    /// The command ends the shell. It may be asked for a last dump; then it goes, and says nothing more.
    Leaving,
}

/// The command was given up before its end.
pub const GIVEN_UP: u8 = 1;
/// The shell has no child, not even an adopted one: nothing was left behind.
pub const ALONE: u8 = 2;
/// The directory that the session was in could not be entered again.
pub const CWD_LOST: u8 = 4;
/// The dump would be longer than [`DUMP_MAX`] and is not whole.
pub const TOO_LARGE: u8 = 8;

/// From the shell: how an order ended. The directory that the shell is in follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// What this is about.
    pub kind: Kind,
    /// [`GIVEN_UP`], [`ALONE`], [`CWD_LOST`], [`TOO_LARGE`].
    pub flags: u8,
    /// The exit status, or the OS error.
    pub status: i32,
    /// CPU time of the shell and of the children that it has waited for, in user code, in microseconds.
    pub user_us: u64,
    /// The same in the kernel.
    pub system_us: u64,
    /// The number of the order that ended.
    pub order: u64,
    /// Bytes of the directory that follows.
    pub directory: u32,
}

impl Report {
    /// Of this kind, with nothing to say.
    pub fn new(kind: Kind, order: u64) -> Self {
        Self { kind, flags: 0, status: 0, user_us: 0, system_us: 0, order, directory: 0 }
    }

    /// As bytes.
    pub fn encode(&self) -> [u8; REPORT] {
        let mut bytes = [0; REPORT];
        bytes[..4].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[4] = match self.kind {
            Kind::Ready => 0,
            Kind::Done => 1,
            Kind::NotRun => 2,
            Kind::Dumped => 3,
            Kind::Leaving => 4,
        };
        bytes[5] = self.flags;
        bytes[8..12].copy_from_slice(&self.status.to_ne_bytes());
        bytes[12..16].copy_from_slice(&self.directory.to_ne_bytes());
        bytes[16..24].copy_from_slice(&self.user_us.to_ne_bytes());
        bytes[24..32].copy_from_slice(&self.system_us.to_ne_bytes());
        bytes[32..].copy_from_slice(&self.order.to_ne_bytes());
        bytes
    }

    /// From the beginning of a message; `None` if it is none of ours.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < REPORT || number(bytes, 0)? != MAGIC {
            return None;
        }
        let kind = match bytes[4] {
            0 => Kind::Ready,
            1 => Kind::Done,
            2 => Kind::NotRun,
            3 => Kind::Dumped,
            4 => Kind::Leaving,
            _ => return None,
        };
        let status = i32::from_ne_bytes(number(bytes, 8)?.to_ne_bytes());
        Some(Self {
            kind,
            flags: bytes[5],
            status,
            user_us: u64::from_ne_bytes(bytes[16..24].try_into().ok()?),
            system_us: u64::from_ne_bytes(bytes[24..32].try_into().ok()?),
            order: u64::from_ne_bytes(bytes[32..REPORT].try_into().ok()?),
            directory: number(bytes, 12)?,
        })
    }
}

/// What the shell is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Run a command. Descriptors: stdin, stdout, stderr, then the payload if it is a file.
    Run,
    /// Write down what the shell holds. Descriptor: where to.
    Dump,
}

/// The payload is not in the message but in the last descriptor.
pub const PAYLOAD_IN_FILE: u8 = 1;
/// The last command was ended from outside: forget whatever of that may still be on its way, and what died of it.
pub const FORGET_INTERRUPTS: u8 = 2;

/// To the shell: head of an order. The payload follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// What to do.
    pub task: Task,
    /// [`PAYLOAD_IN_FILE`], [`FORGET_INTERRUPTS`].
    pub flags: u8,
    /// Bytes of payload.
    pub length: u32,
    /// Comes back in the report.
    pub number: u64,
}

impl Order {
    /// As bytes.
    pub fn encode(&self) -> [u8; ORDER] {
        let mut bytes = [0; ORDER];
        bytes[..4].copy_from_slice(&MAGIC.to_ne_bytes());
        bytes[4] = match self.task {
            Task::Run => 1,
            Task::Dump => 2,
        };
        bytes[5] = self.flags;
        bytes[8..12].copy_from_slice(&self.length.to_ne_bytes());
        bytes[16..].copy_from_slice(&self.number.to_ne_bytes());
        bytes
    }

    /// From the beginning of a message; `None` if it is none of ours.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        if number(bytes, 0)? != MAGIC {
            return None;
        }
        let task = match bytes.get(4)? {
            1 => Task::Run,
            2 => Task::Dump,
            _ => return None,
        };
        let own = bytes.get(16..ORDER)?.try_into().ok()?;
        Some(Self { task, flags: *bytes.get(5)?, length: number(bytes, 8)?, number: u64::from_ne_bytes(own) })
    }
}

/// Reads a number at a place.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

/// Reads the pieces of a payload in order.
///
/// A payload to run is: the working directory; how many variables there are; name and value of each; the text. Each
/// piece is its length, its bytes and a NUL, so that it is a C string where it lies. [`NONE`] as a length means that
/// there is none: keep the directory, unset the variable.
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// Begins at the front.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// The next number.
    pub fn number(&mut self) -> Option<u32> {
        let found = number(self.rest, 0)?;
        self.rest = self.rest.get(4..)?;
        Some(found)
    }

    /// The next piece with its NUL; `Some(None)` if it is told to be none.
    pub fn piece(&mut self) -> Option<Option<&'a [u8]>> {
        let length = self.number()?;
        if length == NONE {
            return Some(None);
        }
        let end = usize::try_from(length).ok()?.checked_add(1)?;
        let piece = self.rest.get(..end).filter(|piece| piece.last() == Some(&0))?;
        self.rest = &self.rest[end..];
        Some(Some(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_way() {
        for kind in [Kind::Ready, Kind::Done, Kind::NotRun, Kind::Dumped, Kind::Leaving] {
            let (flags, order, directory) = (GIVEN_UP | ALONE, u64::MAX - 1, 4096);
            let report = Report { kind, flags, status: -7, user_us: 5, system_us: 1 << 40, order, directory };
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
    }

    #[test]
    fn an_order_survives_the_way() {
        for task in [Task::Run, Task::Dump] {
            let order = Order { task, flags: PAYLOAD_IN_FILE, length: 12, number: 1 << 40 };
            assert_eq!(Order::decode(&order.encode()), Some(order));
        }
    }

    #[test]
    fn what_is_none_of_ours_is_refused() {
        let report = Report::new(Kind::Done, 0).encode();
        assert_eq!(Report::decode(&report[1..]), None);
        assert_eq!(Report::decode(b"hello"), None);
        let mut foreign = report;
        foreign[0] ^= 1;
        assert_eq!(Report::decode(&foreign), None);
        let mut unknown = report;
        unknown[4] = 9;
        assert_eq!(Report::decode(&unknown), None);
        assert_eq!(Order::decode(&[0; ORDER]), None);
    }

    #[test]
    fn pieces_end_with_the_payload() {
        let mut pieces = Pieces::new(b"\x02\0\0\0ab\0\xff\xff\xff\xff\x05\0\0\0abc");
        assert_eq!(pieces.piece(), Some(Some(&b"ab\0"[..])));
        assert_eq!(pieces.piece(), Some(None));
        assert_eq!(pieces.piece(), None);
        assert_eq!(Pieces::new(b"\x02\0\0\0abc").piece(), None, "no NUL behind it");
    }
}
