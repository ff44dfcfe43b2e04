//! Descriptors: memory files, pipes' flags, duplication, bulk closing.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::{c_string, check, check_int};

/// An anonymous file in memory, close-on-exec, that can still be sealed.
pub fn memfd(name: &str) -> io::Result<OwnedFd> {
    let name = c_string(name.as_bytes())?;
    // SAFETY: `name` is NUL-terminated and outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    owned(fd)
}

/// Forbids any later change of a memory file, so that what was written is what is executed.
pub fn seal(fd: BorrowedFd<'_>) -> io::Result<()> {
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: plain integer arguments on a descriptor the caller holds.
    check_int(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) }).map(drop)
}

/// An anonymous file of `length` zeros that is to be mapped by another process; its length is fixed. Only who is given the
/// descriptor reaches it: its mode lets no other user open it again by `/proc/PID/fd`.
pub fn shared_memory(name: &str, length: u64) -> io::Result<OwnedFd> {
    let file = std::fs::File::from(memfd(name)?);
    file.set_len(length)?;
    set_mode(file.as_fd(), 0o600)?;
    // SAFETY: plain integer arguments on a descriptor that we hold.
    check_int(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_GROW | libc::F_SEAL_SHRINK) })?;
    Ok(file.into())
}

/// Whether any process has a writable mapping of this memory. The check seals the file against writing, which the kernel
/// refuses while there is such a mapping (fcntl(2), `EBUSY`); so once there is none, there can never be one again.
pub fn is_mapped(memory: BorrowedFd<'_>) -> bool {
    // SAFETY: plain integer arguments on a descriptor the caller holds.
    let sealed = check_int(unsafe { libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) });
    sealed.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// Gives the calling thread a descriptor table of its own, a copy of that of its process. The table is closed when the
/// thread exits.
pub fn own_table() -> io::Result<()> {
    // A range without descriptors: only the copy is wanted.
    let none = libc::c_uint::MAX;
    // SAFETY: plain integers; the descriptors keep their numbers.
    check(unsafe { libc::syscall(libc::SYS_close_range, none, none, libc::CLOSE_RANGE_UNSHARE) }).map(drop)
}

/// Whether a path leads somewhere, as far as can be seen.
pub fn is_there(path: &CStr) -> bool {
    // SAFETY: `path` is NUL-terminated and outlives the call.
    let seen = check_int(unsafe { libc::access(path.as_ptr(), libc::F_OK) });
    !seen.is_err_and(|error| matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)))
}

/// Whether nobody can ever change this file again.
pub fn is_sealed(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let wanted = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: plain integer arguments on a descriptor the caller holds.
    let seals = check_int(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) })?;
    Ok(seals & wanted == wanted)
}

/// Sets the permission bits of an open file.
pub fn set_mode(fd: BorrowedFd<'_>, mode: u32) -> io::Result<()> {
    // SAFETY: plain integer arguments on a descriptor the caller holds.
    check_int(unsafe { libc::fchmod(fd.as_raw_fd(), mode) }).map(drop)
}

/// Makes `to` a copy of `from`, without close-on-exec. Also right when both are the same number.
pub fn duplicate_onto(from: RawFd, to: RawFd) -> io::Result<()> {
    if from == to {
        // SAFETY: plain integer arguments.
        return check_int(unsafe { libc::fcntl(from, libc::F_SETFD, 0) }).map(drop);
    }
    // SAFETY: plain integer arguments; whatever `to` was is replaced, which is what the caller asks for.
    check_int(unsafe { libc::dup2(from, to) }).map(drop)
}

/// Closes every descriptor from `first` on. For use in a freshly cloned child that owns its table.
pub fn close_from(first: RawFd) -> io::Result<()> {
    let first = libc::c_uint::try_from(first).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: plain integers; the caller owns the whole table of a process that is about to exec or exit.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(drop)
}

/// Opens a path relative to a directory descriptor with the given flags; never blocks on a FIFO if `O_NONBLOCK` is in them.
pub fn open_at(dir: RawFd, path: &[u8], flags: i32, mode: u32) -> io::Result<OwnedFd> {
    let path = c_string(path)?;
    // SAFETY: `path` is NUL-terminated and outlives the call; the rest are integers.
    owned(unsafe { libc::openat(dir, path.as_ptr(), flags | libc::O_CLOEXEC, mode) })
}

/// Waits until `fd` can be read or has hung up. `false` when the time was up first.
pub fn wait_readable(fd: BorrowedFd<'_>, timeout_ms: i32) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd, as announced by the count.
    let ready = unsafe { libc::poll(&raw mut poll, 1, timeout_ms) };
    check_int(ready).map(|count| count > 0)
}

/// Waits for input with `SIGCHLD`, and no other signal, let through for just that long. `false` if it came instead.
pub fn wait_input_or_child(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let open = super::signal::all_but(libc::SIGCHLD);
    // SAFETY: one pollfd as announced; no timeout; `open` lives through the call.
    let ready = unsafe { libc::ppoll(&raw mut poll, 1, std::ptr::null(), &raw const open) };
    match check_int(ready) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// Takes ownership of a descriptor that a system call just returned.
pub(crate) fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    let fd = check_int(fd)?;
    // SAFETY: the kernel just made this descriptor for us, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Takes the descriptor that the launcher left open for this program under a fixed number.
pub fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain integers; fails with EBADF if it is not open.
    check_int(unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) })?;
    // SAFETY: checked to be open, and by the launcher's contract ours alone; called once at start.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Marks every descriptor from `first` on close-on-exec. Async-signal-safe.
pub fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    let first = libc::c_uint::try_from(first).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: plain integers.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) })
        .map(drop)
}

/// One `write` of a few bytes to a kernel file. Async-signal-safe.
pub fn write_once(fd: RawFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: pointer and length describe the same slice.
    check(unsafe { libc::syscall(libc::SYS_write, fd, bytes.as_ptr(), bytes.len()) }).map(drop)
}

/// One byte off a pipe: how a cloned child waits for its parent's word. Async-signal-safe.
pub fn read_byte(fd: RawFd) -> io::Result<Option<u8>> {
    let mut byte = 0_u8;
    // SAFETY: one writable byte.
    let got = check(unsafe { libc::syscall(libc::SYS_read, fd, &raw mut byte, 1_usize) })?;
    Ok((got == 1).then_some(byte))
}

/// Changes the working directory. Async-signal-safe.
pub fn change_directory(path: &std::ffi::CStr) -> io::Result<()> {
    // SAFETY: NUL-terminated.
    check_int(unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

/// `<linux/magic.h>`
const PROC_SUPER_MAGIC: i64 = 0x9fa0;
const DEVPTS_SUPER_MAGIC: i64 = 0x1cd1;

/// Opens a regular file for reading. Links are followed, but none of procfs's magic ones, and a file of procfs itself is
/// refused: with the rights of this process it would show more than the sandbox's own processes may see. Never blocks.
pub fn open_regular(path: &[u8]) -> io::Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = open_resolving(path, flags, 0, libc::RESOLVE_NO_MAGICLINKS)?;
    let is_regular = mode(&opened)? & libc::S_IFMT == libc::S_IFREG;
    if is_regular && filesystem(&opened)? != PROC_SUPER_MAGIC {
        return Ok(opened);
    }
    Err(io::Error::from_raw_os_error(libc::EINVAL))
}

/// Makes a pseudo-terminal in the sandbox's own devpts and opens its master.
pub fn open_terminal() -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = open_resolving(b"/dev/pts/ptmx", flags, 0, libc::RESOLVE_NO_SYMLINKS)?;
    if filesystem(&opened)? == DEVPTS_SUPER_MAGIC {
        return Ok(opened);
    }
    Err(io::Error::from_raw_os_error(libc::ENODEV))
}

/// Type and permission bits (inode(7)).
pub fn mode(fd: &OwnedFd) -> io::Result<u32> {
    // SAFETY: an all-zero stat is valid.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is writable for the call.
    check_int(unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) })?;
    Ok(stat.st_mode)
}

/// Sets the permission bits of what a path leads to.
pub fn change_mode(path: &CStr, mode: u32) -> io::Result<()> {
    // SAFETY: `path` is NUL-terminated and outlives the call.
    check_int(unsafe { libc::chmod(path.as_ptr(), mode) }).map(drop)
}

/// Removes a name from a directory; a directory's name with `AT_REMOVEDIR`.
pub fn unlink_at(directory: &OwnedFd, name: &CStr, flags: i32) -> io::Result<()> {
    // SAFETY: `name` is NUL-terminated and outlives the call; the rest are integers.
    check_int(unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), flags) }).map(drop)
}

/// Makes a directory in another.
pub fn make_directory_at(directory: &OwnedFd, name: &CStr, mode: u32) -> io::Result<()> {
    // SAFETY: `name` is NUL-terminated and outlives the call; the rest are integers.
    check_int(unsafe { libc::mkdirat(directory.as_raw_fd(), name.as_ptr(), mode) }).map(drop)
}

/// Moves an entry from one directory to another; `EEXIST` if there is one of that name.
pub fn rename_without_replacing(from: &OwnedFd, name: &CStr, to: &OwnedFd, new: &CStr) -> io::Result<()> {
    // SAFETY: both names are NUL-terminated and outlive the call; the rest are integers. The raw call, because musl has no
    // wrapper for it.
    check(unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            from.as_raw_fd(),
            name.as_ptr(),
            to.as_raw_fd(),
            new.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    })
    .map(drop)
}

/// Begins to read a directory anew.
pub fn rewind(directory: &OwnedFd) -> io::Result<()> {
    // SAFETY: plain integers.
    check(unsafe { libc::syscall(libc::SYS_lseek, directory.as_raw_fd(), 0_i64, libc::SEEK_SET) }).map(drop)
}

/// The next names in a directory, as many as a buffer takes, without `.` and `..`; none at its end.
pub fn next_names(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    /// `struct linux_dirent64`: inode and offset of 8 bytes each, the record's length, its type, its name.
    const LENGTH: usize = 16;
    const NAME: usize = 19;
    let mut buffer = vec![0_u8; 16 * 1024];
    let mut names = Vec::new();
    loop {
        // SAFETY: the buffer is writable and as long as announced.
        let filled = check(unsafe {
            libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), buffer.as_mut_ptr(), buffer.len())
        })?;
        let filled = usize::try_from(filled).map_err(|_| io::Error::from_raw_os_error(libc::EIO))?;
        let mut rest = buffer.get(..filled).unwrap_or_default();
        while let Some(&[low, high]) = rest.get(LENGTH..LENGTH + 2) {
            let record = usize::from(u16::from_ne_bytes([low, high]));
            let name = rest.get(NAME..record).and_then(|name| CStr::from_bytes_until_nul(name).ok());
            names.extend(name.filter(|name| !matches!(name.to_bytes(), b"." | b"..")).map(CStr::to_owned));
            rest = rest.get(record.max(1)..).unwrap_or_default();
        }
        // A buffer may hold nothing but the two entries that every directory has.
        if filled == 0 || !names.is_empty() {
            return Ok(names);
        }
    }
}

/// The magic number of the file system (statfs(2)).
fn filesystem(fd: &OwnedFd) -> io::Result<i64> {
    // SAFETY: an all-zero statfs is valid.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: `found` is writable for the call.
    check_int(unsafe { libc::fstatfs(fd.as_raw_fd(), &raw mut found) })?;
    #[expect(clippy::useless_conversion, reason = "the type differs between C libraries")]
    i64::try_from(found.f_type).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Opens a path without following any symbolic link, wherever in it (openat2, RESOLVE_NO_SYMLINKS).
pub fn open_without_links(path: &[u8], flags: i32, mode: u32) -> io::Result<OwnedFd> {
    open_resolving(path, flags, mode, libc::RESOLVE_NO_SYMLINKS)
}

fn open_resolving(path: &[u8], flags: i32, mode: u32, resolve: u64) -> io::Result<OwnedFd> {
    let path = c_string(path)?;
    // SAFETY: an all-zero open_how is valid.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = u64::try_from(flags | libc::O_CLOEXEC).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    how.mode = u64::from(mode);
    how.resolve = resolve;
    // SAFETY: `path` and `how` live through the call; the size is that of `how`.
    let fd = check(unsafe {
        libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, path.as_ptr(), &raw const how, size_of::<libc::open_how>())
    })?;
    owned(RawFd::try_from(fd).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?)
}

/// As [`memfd`], for a file that will be executed (kernels from 6.3 on may want that said, older ones refuse the flag).
pub fn executable_memfd(name: &str) -> io::Result<OwnedFd> {
    let text = c_string(name.as_bytes())?;
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | libc::MFD_EXEC;
    // SAFETY: `text` is NUL-terminated and outlives the call.
    match owned(unsafe { libc::memfd_create(text.as_ptr(), flags) }) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => memfd(name),
        other => other,
    }
}

/// A copy of `fd` whose number is at least `lowest`, close-on-exec.
pub fn duplicate_above(fd: BorrowedFd<'_>, lowest: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: plain integers.
    owned(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, lowest) })
}

/// Moves a descriptor to a fixed number in a process that is about to execute, and says so in its lifetime.
pub fn move_onto(from: BorrowedFd<'_>, to: RawFd) -> io::Result<BorrowedFd<'_>> {
    duplicate_onto(from.as_raw_fd(), to)?;
    // SAFETY: just made; it stays open until exec, which is all that the caller does with it.
    Ok(unsafe { BorrowedFd::borrow_raw(to) })
}
