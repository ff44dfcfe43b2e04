//! SOCK_SEQPACKET pairs and descriptor passing (SCM_RIGHTS).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::{check_int, fd};

/// Most descriptors one message carries. The widest (a setup with all sources) needs fewer.
pub const MAX_FDS: usize = 16;

/// Room for a control message with `MAX_FDS` descriptors and one with credentials: headers and payloads, aligned as
/// cmsghdr wants.
#[repr(C, align(8))]
struct Control([u8; 16 + MAX_FDS * size_of::<RawFd>() + 32]);

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
    match bind_abstract(libc::SOCK_DGRAM, name) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
    }
}

/// A datagram socket with a name in the abstract socket space of the current network namespace; never waits, and tells
/// who sent each message.
pub fn listen(name: &[u8]) -> io::Result<OwnedFd> {
    let socket = bind_abstract(libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, name)?;
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of_val(&on)).expect("4 bytes");
    // SAFETY: `on` is an int of the length given.
    let set = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PASSCRED, (&raw const on).cast(), length)
    };
    check_int(set)?;
    Ok(socket)
}

fn bind_abstract(kind: libc::c_int, name: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: plain integers.
    let socket = fd::owned(unsafe { libc::socket(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: an all-zero sockaddr_un is valid.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).expect("a small constant");
    // The first byte stays zero: that makes the name abstract.
    for (slot, byte) in address.sun_path.iter_mut().skip(1).zip(name) {
        *slot = libc::c_char::from_ne_bytes([*byte]);
    }
    let length = size_of::<libc::sa_family_t>() + 1 + name.len().min(address.sun_path.len() - 1);
    let length = libc::socklen_t::try_from(length).expect("at most 110 bytes");
    // SAFETY: `address` is a sockaddr_un of which `length` bytes are meant.
    check_int(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(socket)
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
    let (length, fds, _) = receive_all(socket, buffer, waiting)?;
    Ok(if length == 0 { None } else { Some((length, fds)) })
}

/// Takes a datagram from a socket made by [`listen`], without waiting: its length, its descriptors, and the pid, here, of
/// the process that sent it.
pub fn receive_from(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>, Option<u32>)> {
    receive_all(socket, buffer, Waiting::Forbidden)
}

fn receive_all(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    waiting: Waiting,
) -> io::Result<(usize, Vec<OwnedFd>, Option<u32>)> {
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
    let (fds, sender) = take_control(&message);
    if message.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    Ok((got, fds, sender))
}

fn take_control(message: &libc::msghdr) -> (Vec<OwnedFd>, Option<u32>) {
    let mut fds = Vec::new();
    let mut sender = None;
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
        if current.cmsg_level == libc::SOL_SOCKET && current.cmsg_type == libc::SCM_CREDENTIALS {
            // SAFETY: the data area follows the header inside the control buffer.
            let data = unsafe { libc::CMSG_DATA(header) }.cast::<libc::ucred>();
            // SAFETY: the kernel wrote one ucred there.
            sender = u32::try_from(unsafe { data.read_unaligned() }.pid).ok();
        }
        // SAFETY: both come from the same message.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    (fds, sender)
}
