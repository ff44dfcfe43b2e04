//! Bytes from one side to the other, both ways, until both have ended. Each end of a direction is passed on as such.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::pipe::{self, PipeFlags, SpliceFlags};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

use crate::secret::Scrubber;
use crate::stream::{Client, Counted, Counts, Io, Side};

/// Bytes moved at once. Large enough that a bulk transfer is not about system calls.
const PIECE: usize = 256 * 1024;

/// Bytes after which a direction counts as a bulk transfer, and goes through the kernel alone.
const BULK_AFTER: u64 = 1024 * 1024;

/// Room for a bulk transfer on its way.
const PIPE: usize = 1024 * 1024;

/// Passes bytes on between a program and what it wanted.
pub(crate) async fn relay(client: Client, mut outside: Counted) -> io::Result<()> {
    let Client { side, ahead } = client;
    outside.write_all(&ahead).await?;
    drop(ahead);
    let (stream, counts) = outside.into_parts();
    match side {
        Side::Tcp(inside) => {
            let out = pass(&inside, &stream, &counts.out);
            let back = pass(&stream, &inside, &counts.back);
            tokio::try_join!(out, back).map(drop)
        }
        Side::Within(inside) => {
            let (reader, writer) = stream.into_split();
            let (inside_reader, inside_writer) = tokio::io::split(inside);
            both(inside_reader, inside_writer, reader, writer, &counts, None).await
        }
    }
}

/// One direction between two connections.
async fn pass(from: &TcpStream, to: &TcpStream, count: &AtomicU64) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut passed = 0;
    while passed < BULK_AFTER {
        from.readable().await?;
        let got = match from.try_read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            got => got?,
        };
        if got == 0 {
            return end(to);
        }
        let mut rest = &buffer[..got];
        while !rest.is_empty() {
            to.writable().await?;
            match to.try_write(rest) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => rest = &rest[written?..],
            }
        }
        passed += got as u64;
        count.fetch_add(got as u64, Ordering::Relaxed);
    }
    drop(buffer);
    splice(from, to, count).await
}

/// Without a copy into this process: pages go from one socket's queue through a pipe to the other's (splice(2)).
async fn splice(from: &TcpStream, to: &TcpStream, count: &AtomicU64) -> io::Result<()> {
    let (reader, writer) = pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // A smaller one works as well, only slower.
    pipe::fcntl_setpipe_size(&writer, PIPE).ok();
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    loop {
        from.readable().await?;
        // The pipe is empty here, so that what would block is the socket.
        let taken = from.try_io(Interest::READABLE, || Ok(pipe::splice(from, None, &writer, None, PIPE, flags)?));
        let mut held = match taken {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            taken => taken?,
        };
        if held == 0 {
            return end(to);
        }
        count.fetch_add(held as u64, Ordering::Relaxed);
        while held > 0 {
            to.writable().await?;
            match to.try_io(Interest::WRITABLE, || Ok(pipe::splice(&reader, None, to, None, held, flags)?)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                given => held -= given?,
            }
        }
    }
}

/// Passes the end on; a side that is gone already needs none.
fn end(to: &TcpStream) -> io::Result<()> {
    match rustix::net::shutdown(to, rustix::net::Shutdown::Write) {
        Err(rustix::io::Errno::NOTCONN) => Ok(()),
        ended => Ok(ended?),
    }
}

/// The same after an upgrade within HTTP; what comes back may not hold what the scrubber looks for.
pub(crate) async fn upgraded(inside: impl Io, outside: impl Io, scrubber: Option<Scrubber>) -> io::Result<()> {
    let (inside_reader, inside_writer) = tokio::io::split(inside);
    let (reader, writer) = tokio::io::split(outside);
    // Counted where they leave the machine.
    both(inside_reader, inside_writer, reader, writer, &Arc::default(), scrubber).await
}

async fn both(
    inside_reader: impl AsyncRead + Unpin,
    inside_writer: impl AsyncWrite + Unpin,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    counts: &Arc<Counts>,
    scrubber: Option<Scrubber>,
) -> io::Result<()> {
    let out = copy(inside_reader, writer, &counts.out, None);
    let back = copy(reader, inside_writer, &counts.back, scrubber);
    tokio::try_join!(out, back).map(drop)
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    count: &AtomicU64,
    mut scrubber: Option<Scrubber>,
) -> io::Result<()> {
    // Grows to what is moved: most connections move little.
    let mut buffer = vec![0; 8 * 1024];
    loop {
        let got = from.read(&mut buffer).await?;
        count.fetch_add(got as u64, Ordering::Relaxed);
        match &mut scrubber {
            None => to.write_all(&buffer[..got]).await?,
            Some(scrubber) if got == 0 => to.write_all(&scrubber.finish()).await?,
            Some(scrubber) => to.write_all(&scrubber.push(&buffer[..got])).await?,
        }
        if got == 0 {
            return to.shutdown().await;
        }
        if got == buffer.len() && buffer.len() < PIECE {
            buffer.resize(buffer.len() * 4, 0);
            buffer.truncate(PIECE);
        }
    }
}
