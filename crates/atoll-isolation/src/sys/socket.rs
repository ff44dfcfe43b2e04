//! SOCK_SEQPACKET sockets and descriptor passing (SCM_RIGHTS).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::{check_int, fd};

/// Most descriptors one message carries. The widest (a setup with all sources) needs fewer.
pub const MAX_FDS: usize = 16;

/// Whether descriptors may be sent to a socket (Linux 6.16, `asm-generic/socket.h`).
const SO_PASSRIGHTS: libc::c_int = 83;

/// Connections that wait to be accepted. A shell has one at a time; processes that connect to a listener that is not
/// theirs are accepted and dropped as fast as the agent runs, and wait meanwhile.
const BACKLOG: libc::c_int = 64;

/// Room for a control message with `MAX_FDS` descriptors: header and payload, aligned as cmsghdr wants.
#[repr(C, align(8))]
struct Control([u8; 16 + MAX_FDS * size_of::<RawFd>()]);

/// Two connected ends that keep message borders, close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: `ends` has room for the two descriptors.
    check_int(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) })?;
    // SAFETY: the kernel just made both for us.
    let first = unsafe { OwnedFd::from_raw_fd(ends[0]) };
    // SAFETY: as above.
    let second = unsafe { OwnedFd::from_raw_fd(ends[1]) };
    Ok((first, second))
}

/// An exclusive lock on a name in the abstract socket space: held while the descriptor lives, gone with the process.
pub fn claim_name(name: &[u8]) -> io::Result<Option<OwnedFd>> {
    let socket = unnamed(libc::SOCK_DGRAM)?;
    match bind_abstract(socket.as_fd(), name) {
        Ok(()) => Ok(Some(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
    }
}

/// A listener with a name in the abstract socket space of the current network namespace; never waits. Where the kernel
/// can, nothing that is sent to it or to its connections carries descriptors: the kernel refuses the sender.
pub fn listen(name: &[u8]) -> io::Result<OwnedFd> {
    let socket = unnamed(libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK)?;
    // Before it can be found.
    refuse_rights(socket.as_fd());
    bind_abstract(socket.as_fd(), name)?;
    // SAFETY: plain integers.
    check_int(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
    Ok(socket)
}

/// Has the kernel refuse messages with descriptors to this socket, and to those that it will accept. Kernels before
/// 6.16 cannot: [`refuses_rights`] says so afterwards.
pub fn refuse_rights(socket: BorrowedFd<'_>) {
    let off: libc::c_int = 0;
    let length = libc::socklen_t::try_from(size_of_val(&off)).expect("4 bytes");
    // SAFETY: `off` is an int of the length given. A kernel that does not know the option changes nothing.
    unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, SO_PASSRIGHTS, (&raw const off).cast(), length) };
}

/// Whether the kernel refuses messages with descriptors to this socket.
pub fn refuses_rights(socket: BorrowedFd<'_>) -> bool {
    option(socket, SO_PASSRIGHTS, 1_i32).is_ok_and(|passes| passes == 0)
}

/// The pid, here, of the process that connected or made the other end.
pub fn peer_pid(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let unknown = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
    Ok(u32::try_from(option(socket, libc::SO_PEERCRED, unknown)?.pid).unwrap_or(0))
}

/// Takes a connection off a listener made by [`listen`]; `WouldBlock` if there is none.
pub fn accept(listener: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let (nowhere, flags) = (std::ptr::null_mut(), libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
    // SAFETY: no address is requested; the rest are integers.
    fd::owned(unsafe { libc::accept4(listener.as_raw_fd(), nowhere, nowhere.cast(), flags) })
}

/// Has the last close of this socket wait for its peer (SO_LINGER).
#[cfg(test)]
pub(crate) fn linger(socket: BorrowedFd<'_>, seconds: i32) -> io::Result<()> {
    let linger = libc::linger { l_onoff: 1, l_linger: seconds };
    let length = libc::socklen_t::try_from(size_of_val(&linger)).expect("8 bytes");
    // SAFETY: `linger` is of the length given.
    let set = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), length)
    };
    check_int(set).map(drop)
}

fn option<T: Copy>(socket: BorrowedFd<'_>, name: libc::c_int, mut value: T) -> io::Result<T> {
    let mut length = libc::socklen_t::try_from(size_of::<T>()).expect("a few bytes");
    // SAFETY: `value` is plain numbers of the length given.
    let got = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length)
    };
    check_int(got).map(|_| value)
}

/// Connects to the listener of this name.
#[cfg(test)]
pub(crate) fn connect_to(name: &[u8]) -> io::Result<OwnedFd> {
    let socket = unnamed(libc::SOCK_SEQPACKET)?;
    let (address, length) = abstract_address(name);
    // SAFETY: `address` is a sockaddr_un of which `length` bytes are meant.
    check_int(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(socket)
}

fn unnamed(kind: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: plain integers.
    fd::owned(unsafe { libc::socket(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0) })
}

fn bind_abstract(socket: BorrowedFd<'_>, name: &[u8]) -> io::Result<()> {
    let (address, length) = abstract_address(name);
    // SAFETY: `address` is a sockaddr_un of which `length` bytes are meant.
    check_int(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
}

fn abstract_address(name: &[u8]) -> (libc::sockaddr_un, libc::socklen_t) {
    // SAFETY: an all-zero sockaddr_un is valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).expect("a small constant");
    // The first byte stays zero: that makes the name abstract.
    for (slot, byte) in address.sun_path.iter_mut().skip(1).zip(name) {
        *slot = libc::c_char::from_ne_bytes([*byte]);
    }
    let length = size_of::<libc::sa_family_t>() + 1 + name.len().min(address.sun_path.len() - 1);
    (address, libc::socklen_t::try_from(length).expect("at most 110 bytes"))
}

/// Whether a call may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Until it can be done.
    Allowed,
    /// Not at all: `WouldBlock` instead.
    Forbidden,
}

impl Waiting {
    fn flag(self) -> libc::c_int {
        match self {
            Self::Allowed => 0,
            Self::Forbidden => libc::MSG_DONTWAIT,
        }
    }
}

/// Sends one message with descriptors. Waits while the peer's queue is full.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_waiting(socket, bytes, fds, Waiting::Allowed)
}

/// As [`send`], with the choice.
pub fn send_waiting(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>], waiting: Waiting) -> io::Result<()> {
    if fds.len() > MAX_FDS {
        return Err(io::Error::from_raw_os_error(libc::E2BIG));
    }
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control = Control([0; _]);
    let mut message = message_header(&mut part);
    if !fds.is_empty() {
        attach_fds(&mut message, &mut control, fds);
    }
    loop {
        // SAFETY: `message` points at `part` and `control`, both alive; MSG_NOSIGNAL keeps a dead peer an error.
        let sent =
            unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL | waiting.flag()) };
        match sent {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => return Ok(()),
        }
    }
}

fn message_header(part: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: an all-zero msghdr is valid: no name, no parts, no control.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message
}

fn attach_fds(message: &mut libc::msghdr, control: &mut Control, fds: &[BorrowedFd<'_>]) {
    let payload = u32::try_from(size_of_val(fds)).expect("at most MAX_FDS descriptors");
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: pure arithmetic.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(payload) } as _;
    // SAFETY: `message` has a control buffer with room for one header.
    let first = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: not null, because the room was just announced; nothing else refers to it.
    let header = unsafe { &mut *first };
    header.cmsg_level = libc::SOL_SOCKET;
    header.cmsg_type = libc::SCM_RIGHTS;
    // SAFETY: pure arithmetic.
    header.cmsg_len = unsafe { libc::CMSG_LEN(payload) } as _;
    for (index, fd) in fds.iter().enumerate() {
        // SAFETY: the data area follows the header inside `control`.
        let data = unsafe { libc::CMSG_DATA(header) }.cast::<RawFd>();
        let slot = data.wrapping_add(index);
        // SAFETY: `index` is below MAX_FDS, for which `control` has room; unaligned write is always allowed.
        unsafe { slot.write_unaligned(fd.as_raw_fd()) };
    }
}

/// Receives one message into `buffer`. `None` when the peer is gone. A message longer than the buffer, or with more
/// descriptors than agreed, is an error: nothing is ever silently cut.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Option<Received>> {
    receive_waiting(socket, buffer, Waiting::Allowed)
}

/// Length of a message, and its descriptors.
pub type Received = (usize, Vec<OwnedFd>);

/// As [`receive`], with the choice.
pub fn receive_waiting(socket: BorrowedFd<'_>, buffer: &mut [u8], waiting: Waiting) -> io::Result<Option<Received>> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = Control([0; _]);
    let mut message = message_header(&mut part);
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _;
    let flags = libc::MSG_CMSG_CLOEXEC | waiting.flag();
    // SAFETY: `message` points at `part` and `control`, both alive and writable.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let Ok(got) = usize::try_from(got) else {
        return Err(io::Error::last_os_error());
    };
    let fds = take_fds(&message);
    if message.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    Ok(if got == 0 { None } else { Some((got, fds)) })
}

fn take_fds(message: &libc::msghdr) -> Vec<OwnedFd> {
    let mut fds = Vec::new();
    // SAFETY: `message` was filled in by recvmsg and its control buffer is alive.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: not null, inside the control buffer.
        let current = unsafe { &*header };
        if current.cmsg_level == libc::SOL_SOCKET && current.cmsg_type == libc::SCM_RIGHTS {
            // SAFETY: pure arithmetic.
            let empty = unsafe { libc::CMSG_LEN(0) } as usize;
            let count = (current.cmsg_len as usize - empty) / size_of::<RawFd>();
            for index in 0..count {
                // SAFETY: the data area follows the header inside the control buffer.
                let data = unsafe { libc::CMSG_DATA(header) }.cast::<RawFd>();
                let slot = data.wrapping_add(index);
                // SAFETY: the kernel wrote `count` descriptors behind the header; `slot` is one of them.
                let raw = unsafe { slot.read_unaligned() };
                // SAFETY: the kernel made this descriptor for us with this message.
                fds.push(unsafe { OwnedFd::from_raw_fd(raw) });
            }
        }
        // SAFETY: both come from the same message.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    fds
}
