//! Streams between local files and requests. Separate threads read and write files; a bounded channel keeps memory
//! constant for copies of any size.
//!
//! Data from a sandbox is hostile: archives are unpacked by the same engine as inside, which rejects entries that lead
//! out of the target directory.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use atoll_client::FileBytes;
use atoll_files::archive::{Format, Pack, Unpack};
use atoll_files::walk::Ignored;
use atoll_files::{Reach, Stop, Tree};
use bytes::Bytes;
use futures_util::{Stream, stream};
use tokio::sync::mpsc;

use super::progress::Progress;
use crate::error::CliError;

/// Size of a chunk, and the number of chunks in flight.
const CHUNK: usize = 256 * 1024;
const CHANNEL_CAPACITY: usize = 4;

type Piece = io::Result<Bytes>;

fn receiving(receiver: mpsc::Receiver<Piece>) -> impl Stream<Item = Piece> + Send + 'static {
    stream::unfold(receiver, |mut receiver| async move { receiver.recv().await.map(|piece| (piece, receiver)) })
}

/// Streams what a reader returns.
pub(super) fn read_local(
    mut from: impl Read + Send + 'static,
    progress: Progress,
) -> impl Stream<Item = Piece> + Send + 'static {
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    std::thread::spawn(move || {
        loop {
            let mut buffer = vec![0; CHUNK];
            let piece = match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => {
                    buffer.truncate(count);
                    progress.add(count);
                    Ok(Bytes::from(buffer))
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            // Stops after an error, or if the receiver is gone.
            if piece.is_err() | sender.blocking_send(piece).is_err() {
                return;
            }
        }
    });
    receiving(receiver)
}

/// Streams a local directory as an archive.
pub(super) fn pack_local(root: PathBuf, progress: Progress) -> impl Stream<Item = Piece> + Send + 'static {
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    std::thread::spawn(move || {
        let mut out = io::BufWriter::with_capacity(CHUNK, Sender { sender: sender.clone(), progress });
        let packed = pack(&root, &mut out).and_then(|()| out.flush());
        if let Err(error) = packed {
            // The receiver may be gone.
            sender.blocking_send(Err(error)).ok();
        }
    });
    receiving(receiver)
}

fn pack(root: &Path, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let root = root.canonicalize()?;
    let whole = Tree::beneath(b"/", Reach::Anywhere).map_err(io::Error::other)?;
    // A copy includes files named in `.gitignore`.
    let pack = Pack { format: Format::Tar, ignored: Ignored::Included, ..Pack::default() };
    let packed = pack.run(&whole, root.as_os_str().as_bytes(), out, &Stop::never()).map_err(io::Error::other)?;
    match packed.first_troubles.first() {
        None => Ok(()),
        Some(first) => Err(io::Error::other(format!("{} entries could not be read; first {first}", packed.troubles))),
    }
}

struct Sender {
    sender: mpsc::Sender<Piece>,
    progress: Progress,
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.progress.add(bytes.len());
        let sent = self.sender.blocking_send(Ok(Bytes::copy_from_slice(bytes)));
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Streams a response body into a request body.
pub(super) fn pass(bytes: FileBytes, progress: Progress) -> impl Stream<Item = Piece> + Send + 'static {
    stream::try_unfold((bytes, progress), |(mut bytes, progress)| async move {
        let piece = bytes.next().await.map_err(io::Error::other)?;
        Ok(piece.map(|piece| {
            progress.add(piece.len());
            (piece, (bytes, progress))
        }))
    })
}

/// Sends a response body to a thread. Stops at the first error of either side.
async fn feed(mut bytes: FileBytes, sender: mpsc::Sender<Piece>, progress: &Progress) -> Result<(), CliError> {
    loop {
        match bytes.next().await {
            Ok(None) => return Ok(()),
            Ok(Some(piece)) => {
                progress.add(piece.len());
                if sender.send(Ok(piece)).await.is_err() {
                    // The thread returns the error.
                    return Ok(());
                }
            }
            Err(error) => {
                sender.send(Err(io::Error::other("the connection to the server was lost"))).await.ok();
                return Err(error.into());
            }
        }
    }
}

/// Unpacks an archive into a local directory.
pub(super) async fn unpack_local(archive: FileBytes, to: PathBuf, progress: Progress) -> Result<(), CliError> {
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    let shown = to.display().to_string();
    let unpacking = tokio::task::spawn_blocking(move || unpack(&to, Receiver { receiver, rest: Bytes::new() }));
    let fed = feed(archive, sender, &progress).await;
    let unpacked = unpacking.await.map_err(|error| CliError::internal(error.to_string()))?;
    fed?;
    unpacked.map_err(|error| CliError::invalid(format!("cannot write {shown}: {error}")))
}

fn unpack(to: &Path, input: impl Read) -> io::Result<()> {
    let to = std::path::absolute(to)?;
    let whole = Tree::beneath(b"/", Reach::Anywhere).map_err(io::Error::other)?;
    let unpack = Unpack { format: Some(Format::Tar), ..Unpack::default() };
    unpack.run(&whole, to.as_os_str().as_bytes(), input, &Stop::never()).map_err(io::Error::other)?;
    Ok(())
}

struct Receiver {
    receiver: mpsc::Receiver<Piece>,
    rest: Bytes,
}

impl Read for Receiver {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.receiver.blocking_recv() {
                None => return Ok(0),
                Some(piece) => self.rest = piece?,
            }
        }
        let count = buffer.len().min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

/// Writes a local file atomically.
pub(super) async fn write_local(bytes: FileBytes, to: PathBuf, mode: u32, progress: Progress) -> Result<(), CliError> {
    let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    let shown = to.display().to_string();
    let writing = tokio::task::spawn_blocking(move || write(&to, mode, Receiver { receiver, rest: Bytes::new() }));
    let fed = feed(bytes, sender, &progress).await;
    let written = writing.await.map_err(|error| CliError::internal(error.to_string()))?;
    fed?;
    written.map_err(|error| CliError::invalid(format!("cannot write {shown}: {error}")))
}

fn write(to: &Path, mode: u32, mut input: impl Read) -> io::Result<()> {
    // An existing device or fifo is opened and written, not replaced.
    if std::fs::metadata(to).is_ok_and(|found| !found.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(to)?;
        return io::copy(&mut input, &mut file).map(drop);
    }
    let name = to.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = to.with_file_name(temporary);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
    let done = io::copy(&mut input, &mut file).and_then(|_| std::fs::rename(&temporary, to));
    if done.is_err() {
        std::fs::remove_file(&temporary).ok();
    }
    done
}
