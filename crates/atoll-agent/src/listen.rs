//! Where clients come in: a unix socket that only its owner may open, or TCP with a token.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoll_http::Stream;
use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::{TcpListener, UnixListener};

use crate::auth::Token;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// How long a TCP connection may be silent before the kernel asks whether the other side is there.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(60);

/// A place where clients come in.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: Socket,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Unix { listener: UnixListener, _file: SocketFile },
    Tcp { listener: TcpListener, token: Token },
}

impl Listener {
    /// On a unix socket with mode 0600. A socket that was at the path is replaced at one moment, when clients are heard.
    pub fn unix(path: &Path) -> io::Result<Self> {
        let there = path.symlink_metadata();
        if there.is_ok_and(|there| !there.file_type().is_socket()) {
            let error = io::Error::new(io::ErrorKind::AlreadyExists, "something else than a socket is there");
            return Err(named(path, &error));
        }
        let aside = beside(path)?;
        let listener = bind_private(&aside).map_err(|error| named(&aside, &error))?;
        let renamed = std::fs::rename(&aside, path);
        if renamed.is_err() {
            drop(std::fs::remove_file(&aside));
        }
        renamed.map_err(|error| named(path, &error))?;
        let file = SocketFile::at(path)?;
        Ok(Self { socket: Socket::Unix { listener: UnixListener::from_std(listener)?, _file: file } })
    }

    /// On TCP, for those who know the token.
    pub async fn tcp(address: SocketAddr, token: Token) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Ok(Self { socket: Socket::Tcp { listener, token } })
    }

    /// The TCP address in use; a port of 0 has become a real one.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.socket {
            Socket::Unix { .. } => None,
            Socket::Tcp { listener, .. } => listener.local_addr().ok(),
        }
    }
}

impl Socket {
    pub(crate) async fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Unix { listener, .. } => Ok(Stream::Unix(listener.accept().await?.0.try_into()?)),
            Self::Tcp { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                // Keys and their echoes are small and must not wait for more.
                stream.set_nodelay(true)?;
                // A client whose machine is gone says nothing: without this its connection would stay for ever.
                rustix::net::sockopt::set_socket_keepalive(&stream, true)?;
                rustix::net::sockopt::set_tcp_keepidle(&stream, KEEPALIVE_AFTER)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

/// The mode is given to the socket before it has a name, so there is no moment at which others could connect: the file
/// is made with the mode of the socket's own inode (`unix_bind_bsd` in Linux's af_unix.c).
fn bind_private(path: &Path) -> io::Result<std::os::unix::net::UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    // By way of its directory: a path in a socket's address has room for 107 bytes (unix(7)).
    let (dir, name) = (path.parent().unwrap_or(Path::new(".")), path.file_name().unwrap_or_default());
    let dir = std::fs::File::open(dir)?;
    let path = Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name);
    rustix::net::bind(&socket, &SocketAddrUnix::new(&path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// A name in the same directory that nobody else uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(path.with_file_name(format!(".{:08x}", u32::from_ne_bytes(random))))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot listen on {}: {error}", path.display()))
}

/// The file of a unix socket, removed at the end unless another server has replaced it.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: identity(path)? })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.symlink_metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}
