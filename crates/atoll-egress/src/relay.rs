//! Bytes from one side to the other, both ways, until both have ended. Each end of a direction is passed on as such.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::pipe::{self, SpliceFlags};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

use crate::budget::{Budget, Pipe};
use crate::stream::{Client, Counted, Counts, Io, Side};
use crate::websocket::Frames;

/// Bytes after which a direction counts as a bulk transfer, and goes through the kernel alone.
const BULK_AFTER: u64 = 1024 * 1024;

/// Bytes that a direction reads at once before that.
const PIECE: usize = 64 * 1024;

/// Bytes that a direction without a socket of its own reads at first: most connections move little.
const FIRST_PIECE: usize = 8 * 1024;

thread_local! {
    /// Where bytes are for as long as it takes to pass them on: a connection has memory of its own only while the other
    /// side does not take them.
    static SCRATCH: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// Passes bytes on between a program and what it wanted.
pub(crate) async fn relay(client: Client, mut outside: Counted, budget: &Budget) -> io::Result<()> {
    let Client { side, ahead } = client;
    outside.write_all(&ahead).await?;
    drop(ahead);
    let (stream, counts) = outside.into_parts();
    match side {
        Side::Tcp(inside) => {
            let out = pass(&inside, &stream, &counts.out, budget);
            let back = pass(&stream, &inside, &counts.back, budget);
            tokio::try_join!(out, back).map(drop)
        }
        Side::Within(inside) => {
            let (reader, writer) = stream.into_split();
            let (inside_reader, inside_writer) = tokio::io::split(inside);
            both(inside_reader, inside_writer, reader, writer, &counts, None, budget).await
        }
    }
}

/// One direction between two connections.
async fn pass(from: &TcpStream, to: &TcpStream, count: &AtomicU64, budget: &Budget) -> io::Result<()> {
    let mut passed = 0;
    loop {
        if passed >= BULK_AFTER {
            if let Some(pipe) = budget.pipe() {
                return splice(from, to, count, pipe).await;
            }
            passed = 0;
        }
        from.readable().await?;
        let Some((got, waiting)) = pass_piece(from, to, budget.piece().min(PIECE))? else { continue };
        if got == 0 {
            return end(to);
        }
        let mut rest = &waiting[..];
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
}

/// Passes on what is there, up to this size. Returns how much was read, and what the other side did not take; `None` if
/// nothing is there.
fn pass_piece(from: &TcpStream, to: &TcpStream, most: usize) -> io::Result<Option<(usize, Vec<u8>)>> {
    let would_block = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    SCRATCH.with_borrow_mut(|scratch| {
        let got = match from.try_read(&mut scratch[..most]) {
            Err(error) if would_block(&error) => return Ok(None),
            got => got?,
        };
        let written = match to.try_write(&scratch[..got]) {
            _ if got == 0 => 0,
            Err(error) if would_block(&error) => 0,
            written => written?,
        };
        Ok(Some((got, scratch[written..got].to_vec())))
    })
}

/// Without a copy into this process: pages go from one socket's queue through a pipe to the other's (splice(2)).
async fn splice(from: &TcpStream, to: &TcpStream, count: &AtomicU64, through: Pipe) -> io::Result<()> {
    let Pipe { reader, writer, size, .. } = &through;
    let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
    loop {
        from.readable().await?;
        // The pipe is empty here, so that what would block is the socket.
        let taken = from.try_io(Interest::READABLE, || Ok(pipe::splice(from, None, writer, None, *size, flags)?));
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
            match to.try_io(Interest::WRITABLE, || Ok(pipe::splice(reader, None, to, None, held, flags)?)) {
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

/// The same after an upgrade within HTTP. `frames` searches what comes back, where the host has secrets.
pub(crate) async fn upgraded(
    inside: impl Io,
    outside: impl Io,
    frames: Option<Box<Frames>>,
    budget: &Budget,
) -> io::Result<()> {
    let (inside_reader, inside_writer) = tokio::io::split(inside);
    let (reader, writer) = tokio::io::split(outside);
    // Counted where they leave the machine.
    both(inside_reader, inside_writer, reader, writer, &Arc::default(), frames, budget).await
}

async fn both(
    inside_reader: impl AsyncRead + Unpin,
    inside_writer: impl AsyncWrite + Unpin,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
    counts: &Arc<Counts>,
    frames: Option<Box<Frames>>,
    budget: &Budget,
) -> io::Result<()> {
    let out = copy(inside_reader, writer, &counts.out, None, budget);
    let back = copy(reader, inside_writer, &counts.back, frames, budget);
    tokio::try_join!(out, back).map(drop)
}

async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    count: &AtomicU64,
    mut frames: Option<Box<Frames>>,
    budget: &Budget,
) -> io::Result<()> {
    let mut buffer = vec![0; FIRST_PIECE];
    loop {
        let got = from.read(&mut buffer).await?;
        if got == 0 {
            return to.shutdown().await;
        }
        count.fetch_add(got as u64, Ordering::Relaxed);
        match &mut frames {
            None => to.write_all(&buffer[..got]).await?,
            Some(frames) => to.write_all(&frames.push(&buffer[..got])?).await?,
        }
        resize(&mut buffer, got, budget.piece());
    }
}

/// Grows a buffer that was filled, up to `most`, and shrinks one that is larger.
fn resize(buffer: &mut Vec<u8>, filled: usize, most: usize) {
    if filled == buffer.len() && filled < most {
        buffer.resize((filled * 4).min(most), 0);
    } else if buffer.len() > most {
        buffer.truncate(most);
        buffer.shrink_to_fit();
    }
}
