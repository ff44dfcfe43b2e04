//! Applies a plan: one loop, one function per kind of step, no decisions.
//!
//! Until the pivot the host's tree is in view and the sandbox's storage may hold what an earlier life of the sandbox
//! put there, so no path is resolved through a symbolic link: targets are opened first, and mounted on by descriptor.

use std::collections::VecDeque;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use super::privileges;
use crate::plan::Step;
use crate::sys::{fd, identity, mount, network, process};

const QUIET: u64 = libc::MS_NOSUID | libc::MS_NODEV;

/// Runs the steps in order. On failure: which one, and why.
pub(crate) fn apply(steps: &[Step], passed: Vec<OwnedFd>) -> Result<(), (usize, io::Error)> {
    let mut trees = VecDeque::from(passed);
    identity::set_umask(0);
    for (index, step) in steps.iter().enumerate() {
        apply_step(step, &mut trees).map_err(|error| (index, error))?;
    }
    identity::set_umask(0o022);
    Ok(())
}

fn apply_step(step: &Step, trees: &mut VecDeque<OwnedFd>) -> io::Result<()> {
    match step {
        Step::Subreaper => identity::become_subreaper(),
        Step::OwnCgroupRoot => process::unshare_cgroup(),
        Step::Hostname { name } => process::set_hostname(name.as_bytes()),
        Step::Loopback => network::loopback_up(),
        Step::Private => mount::mount(b"none", b"/", "", libc::MS_REC | libc::MS_PRIVATE, b""),
        Step::CloneTree { path, read_only } => clone_tree(path, *read_only).map(|tree| trees.push_back(tree)),
        Step::Attach { target } => attach(target, trees),
        Step::Tmpfs { target, options, executable } => tmpfs(target, options, *executable),
        Step::Directory { path, mode } => directory(path, *mode),
        Step::File { path, content, mode } => file_unless_taken(path, content, *mode),
        Step::Link { path, target } => std::os::unix::fs::symlink(target, path),
        Step::Overlay { lower, upper, work, target } => overlay(lower, upper, work, target),
        Step::Bind { source, target } => bind(source, target),
        Step::Device { source, target } => device(source, target),
        Step::Proc { target } => on(target, |path| mount::mount(b"proc", path, "proc", QUIET | libc::MS_NOEXEC, b"")),
        Step::Terminals { target, options } => terminals(target, options),
        Step::Mask { path } => mask(path),
        Step::Setting { path, value } => std::fs::write(path, value),
        Step::Pivot { root } => pivot(root),
        Step::Limit { resource, soft, hard } => lower_limit(*resource, *soft, *hard),
        Step::Capabilities { keep } => limit_capabilities(*keep),
        Step::OwnCapabilities { programs } => privileges::reduce(*programs),
        Step::NoNewPrivileges => identity::no_new_privileges(),
        Step::Filter { program } => identity::install_filter(program),
    }
}

/// Calls `act` with a path that means exactly the opened target, whatever links may lie about.
fn on<T>(target: &str, act: impl FnOnce(&[u8]) -> io::Result<T>) -> io::Result<T> {
    let opened = fd::open_without_links(target.as_bytes(), libc::O_PATH, 0)?;
    act(format!("/proc/self/fd/{}", opened.as_raw_fd()).as_bytes())
}

fn clone_tree(path: &str, read_only: bool) -> io::Result<OwnedFd> {
    let tree = mount::clone_tree(path.as_bytes())?;
    mount::restrict_tree(tree.as_fd(), read_only, None)?;
    Ok(tree)
}

fn attach(target: &str, trees: &mut VecDeque<OwnedFd>) -> io::Result<()> {
    let tree = trees.pop_front().ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
    on(target, |path| mount::attach_tree(tree.as_fd(), path))
}

fn tmpfs(target: &str, options: &str, executable: bool) -> io::Result<()> {
    let flags = if executable { QUIET } else { QUIET | libc::MS_NOEXEC };
    on(target, |path| mount::mount(b"tmpfs", path, "tmpfs", flags, options.as_bytes()))
}

fn directory(path: &str, mode: u32) -> io::Result<()> {
    match std::fs::create_dir(path) {
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(mode)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// What an earlier life of the sandbox put in its place is that sandbox's own affair: it must start all the same, and
/// nothing is written but to a regular file.
fn file_unless_taken(path: &str, content: &str, mode: u32) -> io::Result<()> {
    match file(path, content, mode) {
        // A link, a directory, something in place of the directory above; a FIFO or a socket (open(2), O_NONBLOCK).
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::EISDIR | libc::ENOTDIR | libc::ENXIO)) =>
        {
            Ok(())
        }
        written => written,
    }
}

/// Never waits for what is at the path. `ENXIO` if that is not a regular file.
fn file(path: &str, content: &str, mode: u32) -> io::Result<()> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = fd::open_without_links(path.as_bytes(), flags, mode)?;
    if fd::mode(&opened)? & libc::S_IFMT != libc::S_IFREG {
        return Err(io::Error::from_raw_os_error(libc::ENXIO));
    }
    std::fs::File::from(opened).write_all(content.as_bytes())
}

/// `userxattr`, because in a user namespace overlayfs may not use trusted attributes (Documentation/filesystems/overlayfs.rst).
fn overlay(lower: &str, upper: &str, work: &str, target: &str) -> io::Result<()> {
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work},userxattr");
    on(target, |path| mount::mount(b"overlay", path, "overlay", QUIET, options.as_bytes()))
}

fn bind(source: &str, target: &str) -> io::Result<()> {
    on(target, |path| mount::mount(source.as_bytes(), path, "", libc::MS_BIND, b""))
}

/// Nodes cannot be made in a user namespace; the host's are bound over empty files.
fn device(source: &str, target: &str) -> io::Result<()> {
    file(target, "", 0o666)?;
    bind(source, target)
}

fn terminals(target: &str, options: &str) -> io::Result<()> {
    on(target, |path| mount::mount(b"devpts", path, "devpts", libc::MS_NOSUID | libc::MS_NOEXEC, options.as_bytes()))
}

fn mask(path: &str) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(there) if there.is_dir() => {
            let flags = QUIET | libc::MS_NOEXEC | libc::MS_RDONLY;
            on(path, |path| mount::mount(b"tmpfs", path, "tmpfs", flags, b"size=4k,mode=0555"))
        }
        Ok(_) => bind("/dev/null", path),
    }
}

fn pivot(root: &str) -> io::Result<()> {
    std::env::set_current_dir(root)?;
    mount::pivot_here()?;
    mount::detach(b".")?;
    std::env::set_current_dir("/")
}

/// Bits above the kernel's last capability are refused as unknown; 63 is the widest a mask can be.
fn limit_capabilities(keep: u64) -> io::Result<()> {
    for number in (0..64).filter(|number| keep & (1 << number) == 0) {
        if !identity::drop_bounding(number)? {
            break;
        }
    }
    Ok(())
}

/// A limit that is lower already stays: raising a hard limit is refused.
fn lower_limit(resource: u32, soft: u64, hard: u64) -> io::Result<()> {
    let (_, most) = identity::limit(resource)?;
    identity::set_limit(resource, soft.min(most), hard.min(most))
}
