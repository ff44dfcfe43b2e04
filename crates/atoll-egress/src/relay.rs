//! Bytes from one side to the other, both ways, until both have ended. Each end of a direction is passed on as such.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::secret::Scrubber;
use crate::stream::{Client, Counted, Counts, Io};

/// Bytes moved at once. Large enough that a bulk transfer is not about system calls.
const PIECE: usize = 256 * 1024;

/// Passes bytes on between a program and what it wanted.
pub(crate) async fn relay(client: Client, mut outside: Counted) -> io::Result<()> {
    let Client { side, ahead } = client;
    outside.write_all(&ahead).await?;
    drop(ahead);
    let (stream, counts) = outside.into_parts();
    let (reader, writer) = stream.into_split();
    let (inside_reader, inside_writer) = tokio::io::split(side);
    both(inside_reader, inside_writer, reader, writer, &counts, None).await
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
