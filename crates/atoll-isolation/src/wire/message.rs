//! The messages. Descriptors that travel with one are listed in its doc line, in order.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::plan::Step;
use crate::sys::process::Usage;
use crate::wire;

/// Version of this protocol. Raise it with any change of a message.
pub const VERSION: u16 = 7;

/// Agent to init.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Become a sandbox: apply the plan. Must come first, once. Answered only if it fails.
    /// Descriptors: the plan's passed sources, in order.
    Setup {
        /// The plan.
        setup: Setup,
    },
    /// Apply the plan's last steps, then answer [`Event::Ready`]. Must come second, once.
    Close {
        /// The steps.
        steps: Vec<Step>,
    },
    /// Start a program. Descriptors: stdin, stdout, stderr, the extra ones, then the cgroup directory and the memory
    /// cgroup's `cgroup.procs`, each if announced.
    Spawn {
        /// Names the answer.
        tag: u32,
        /// What to start.
        spawn: Spawn,
    },
    /// Signal processes. Answer: [`Event::Counted`], or [`Event::Failed`] if not all of them can be seen.
    Sweep {
        /// Names the answer.
        tag: u32,
        /// Which.
        members: Members,
        /// The signal.
        signal: i32,
    },
    /// List processes. Answer: [`Event::Listed`], or [`Event::Failed`] if not all of them can be seen.
    List {
        /// Names the answer.
        tag: u32,
        /// Which.
        members: Members,
    },
    /// Signal the main process of a command (not in warden mode). Answer: [`Event::Counted`], 0 if it is over.
    Signal {
        /// Names the answer.
        tag: u32,
        /// The command.
        command: u64,
        /// The signal.
        signal: i32,
    },
    /// Hand out pidfds of processes, as many as fit into a message. Answer: [`Event::Listed`] with those that live.
    Pidfds {
        /// Names the answer.
        tag: u32,
        /// Pids inside.
        pids: Vec<u32>,
    },
    /// Make a datagram socket with an abstract name inside, that tells who sends to it. Answer: [`Event::Opened`] with the socket.
    Listen {
        /// Names the answer.
        tag: u32,
        /// Its name, without the leading NUL.
        name: Vec<u8>,
    },
    /// Open a regular file inside for reading. Answer: [`Event::Opened`] with the descriptor.
    Read {
        /// Names the answer.
        tag: u32,
        /// Absolute path in the sandbox's view.
        path: Vec<u8>,
    },
    /// Make a pseudo-terminal inside. Answer: [`Event::Opened`] with its master.
    Terminal {
        /// Names the answer.
        tag: u32,
    },
    /// Connect to a port inside. Answer: [`Event::Opened`] with the socket.
    Connect {
        /// Names the answer.
        tag: u32,
        /// Where to.
        address: Address,
    },
    /// Open the way out: see [`crate::egress`]. Answer: [`Event::Opened`] with a socket that tells who owns a connection, one
    /// that tells what UDP was refused, and a TCP listener and a UDP socket for each family, IPv4 first.
    Egress {
        /// Names the answer.
        tag: u32,
    },
    /// Open a socket that tells which sockets there are inside (sock_diag(7)). Answer: [`Event::Opened`] with it.
    Diagnose {
        /// Names the answer.
        tag: u32,
    },
    /// Answer [`Event::Pong`] after everything that has ended so far was reaped and reported.
    Ping {
        /// Names the answer.
        tag: u32,
    },
}
wire!(enum Request {
    1 => Setup { setup },
    2 => Spawn { tag, spawn },
    3 => Sweep { tag, members, signal },
    4 => List { tag, members },
    5 => Read { tag, path },
    6 => Connect { tag, address },
    7 => Ping { tag },
    8 => Pidfds { tag, pids },
    9 => Listen { tag, name },
    10 => Signal { tag, command, signal },
    11 => Close { steps },
    15 => Diagnose { tag },
    16 => Egress { tag },
    17 => Terminal { tag },
});

/// Which processes are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Members {
    /// All of a command's tree (warden mode).
    Command {
        /// The command.
        command: u64,
    },
    /// What is below a process, but not `spared` and what is below them.
    Below {
        /// Its pid inside.
        top: u32,
        /// Pids inside.
        spared: Vec<u32>,
    },
    /// What is below a process, in its session but not in its process group: jobs of a shell with job control. But not
    /// `spared` and what is below them.
    Jobs {
        /// Its pid inside.
        top: u32,
        /// Pids inside.
        spared: Vec<u32>,
    },
    /// These and what is below them.
    Of {
        /// Pids inside.
        roots: Vec<u32>,
    },
}
wire!(enum Members {
    1 => Command { command },
    2 => Below { top, spared },
    3 => Of { roots },
    4 => Jobs { top, spared },
});

/// The plan as init gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Must equal [`VERSION`].
    pub version: u16,
    /// The steps, applied in order.
    pub steps: Vec<Step>,
}
wire!(struct Setup { version, steps });

/// One program to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spawn {
    /// The agent's number for it; exits are reported under it.
    pub command: u64,
    /// Paths to try, in order, until one can be executed.
    pub candidates: Vec<Vec<u8>>,
    /// Arguments, the program's name included.
    pub argv: Vec<Vec<u8>>,
    /// `NAME=value` strings: the whole environment.
    pub env: Vec<Vec<u8>>,
    /// Working directory, absolute.
    pub cwd: Vec<u8>,
    /// User and group inside.
    pub user: (u32, u32),
    /// Supplementary groups; `None` leaves them as they are (where the kernel forbids setting them).
    pub groups: Option<Vec<u32>>,
    /// (resource, soft, hard)
    pub limits: Vec<(u32, u64, u64)>,
    /// File creation mask.
    pub umask: u32,
    /// Session and terminal.
    pub session: Session,
    /// A cgroup directory comes along: the program is born in it.
    pub in_cgroup: bool,
    /// A `cgroup.procs` of a v1 memory cgroup comes along: the child enters it before it executes.
    pub in_memory_cgroup: bool,
    /// Put a warden over it: there is no cgroup to keep its tree together.
    pub warden: bool,
    /// So many descriptors come along beyond the standard three: the program gets them as 3, 4 and so on.
    pub extras: u32,
    /// Whenever it is stopped it is continued: nobody else would do it.
    pub unstoppable: bool,
    /// Answer with its pidfd too.
    pub pidfd: bool,
    /// Others are being started: a thread of its own may start it beside them, instead of behind.
    pub beside: bool,
}
wire!(struct Spawn {
    command, candidates, argv, env, cwd, user, groups, limits, umask, session, in_cgroup, in_memory_cgroup, warden,
    extras, unstoppable, pidfd, beside,
});

/// How a program relates to terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Session {
    /// A session of its own, no controlling terminal.
    #[default]
    Own,
    /// A session of its own, with standard input as its controlling terminal.
    Terminal,
}
wire!(enum Session { 0 => Own, 1 => Terminal });

/// Where in the life of a new process a start failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpawnStage {
    /// The request itself: a NUL byte, wrong descriptors.
    Request,
    /// Making the process (no more processes, no such cgroup).
    Clone,
    /// Entering its cgroup.
    Cgroup,
    /// Session, terminal, descriptors.
    Session,
    /// Resource limits.
    Limits,
    /// User and groups.
    User,
    /// The working directory.
    Cwd,
    /// Executing the program.
    Exec,
}
wire!(enum SpawnStage {
    0 => Request, 1 => Clone, 2 => Cgroup, 3 => Session, 4 => Limits, 5 => User, 6 => Cwd, 7 => Exec,
});

/// A TCP address on the inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// IPv4.
    V4 {
        /// The four bytes.
        ip: u32,
        /// The port.
        port: u16,
    },
    /// IPv6.
    V6 {
        /// High half.
        high: u64,
        /// Low half.
        low: u64,
        /// The port.
        port: u16,
    },
}
wire!(enum Address { 4 => V4 { ip, port }, 6 => V6 { high, low, port } });

impl From<SocketAddr> for Address {
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a u128")]
    fn from(address: SocketAddr) -> Self {
        let port = address.port();
        match address.ip() {
            IpAddr::V4(ip) => Self::V4 { ip: ip.to_bits(), port },
            IpAddr::V6(ip) => {
                let bits = ip.to_bits();
                Self::V6 { high: (bits >> 64) as u64, low: bits as u64, port }
            }
        }
    }
}

impl From<Address> for SocketAddr {
    fn from(address: Address) -> Self {
        match address {
            Address::V4 { ip, port } => (Ipv4Addr::from_bits(ip), port).into(),
            Address::V6 { high, low, port } => {
                (Ipv6Addr::from_bits((u128::from(high) << 64) | u128::from(low)), port).into()
            }
        }
    }
}

/// Init (or a warden) to agent: answers, which carry the tag of their request, and news, which carry a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The sandbox stands. Descriptor: its `/proc`, opened as a path.
    Ready {
        /// Init's protocol version.
        version: u16,
    },
    /// A step of the plan failed; init ends.
    SetupFailed {
        /// Its position among all of them.
        step: u32,
        /// The OS error.
        errno: i32,
    },
    /// The program runs. Descriptor: its pidfd, if it was wanted.
    Spawned {
        /// The request.
        tag: u32,
        /// Its pid inside.
        pid: u32,
    },
    /// The program was not started; nothing is left of the attempt.
    SpawnFailed {
        /// The request.
        tag: u32,
        /// What failed.
        stage: SpawnStage,
        /// The OS error.
        errno: i32,
    },
    /// So many processes were signalled.
    Counted {
        /// The request.
        tag: u32,
        /// How many.
        count: u32,
    },
    /// The pids (inside) of living processes. Descriptors: their pidfds, if asked for.
    Listed {
        /// The request.
        tag: u32,
        /// The pids.
        pids: Vec<u32>,
    },
    /// Here is the descriptor asked for.
    Opened {
        /// The request.
        tag: u32,
    },
    /// The request could not be done.
    Failed {
        /// The request.
        tag: u32,
        /// The OS error.
        errno: i32,
    },
    /// Everything that had ended is reported.
    Pong {
        /// The request.
        tag: u32,
    },
    /// A command's main process has ended.
    Exited {
        /// The command.
        command: u64,
        /// The raw wait status.
        status: i32,
        /// What it used.
        usage: Usage,
        /// Nothing of its tree is left, as its warden knows for certain. Without a warden never set.
        alone: bool,
    },
    /// The last process of a command's tree is gone (warden mode).
    TreeEmpty {
        /// The command.
        command: u64,
    },
    /// The warden of a command was killed from inside; its tree was killed with it and its end is unknown.
    WardenLost {
        /// The command.
        command: u64,
    },
    /// Some process without a living parent has ended: trees may have become empty.
    OrphanReaped,
}
wire!(enum Event {
    1 => Ready { version },
    2 => SetupFailed { step, errno },
    3 => Spawned { tag, pid },
    4 => SpawnFailed { tag, stage, errno },
    5 => Counted { tag, count },
    6 => Listed { tag, pids },
    7 => Opened { tag },
    8 => Failed { tag, errno },
    9 => Pong { tag },
    10 => Exited { command, status, usage, alone },
    11 => TreeEmpty { command },
    12 => WardenLost { command },
    13 => OrphanReaped,
});

wire!(struct Usage { user_us, system_us, max_rss_bytes });

/// Agent to keeper: what must not outlive the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeeperRequest {
    /// Remove this when the agent is gone. Answered with one byte, so that nothing is made before it is known.
    Keep {
        /// What kind of thing.
        kind: Kept,
        /// Where.
        path: Vec<u8>,
    },
    /// It is gone already, or is to stay.
    Forget {
        /// Where.
        path: Vec<u8>,
    },
}
wire!(enum KeeperRequest { 1 => Keep { kind, path }, 2 => Forget { path } });

/// Things that the keeper knows how to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// A cgroup directory: kill what is in it, then remove it.
    Cgroup,
    /// A directory tree on disk.
    Directory,
}
wire!(enum Kept { 1 => Cgroup, 2 => Directory });
