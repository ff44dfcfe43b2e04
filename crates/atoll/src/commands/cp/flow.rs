//! Bytes between this machine's files and requests. Files are read and written by threads of their own; a few pieces are
//! on the way, so memory stays what it is however large the copy.
//!
//! What comes out of a sandbox is hostile: an archive is unpacked by the same engine as inside, which lets nothing lead
//! out of its directory.

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
use crate::failure::Failure;

/// What is read at a time, and how many such pieces are on the way.
const PIECE: usize = 256 * 1024;
const ON_THE_WAY: usize = 4;

type Piece = io::Result<Bytes>;

fn receiving(receiver: mpsc::Receiver<Piece>) -> impl Stream<Item = Piece> + Send + 'static {
    stream::unfold(receiver, |mut receiver| async move { receiver.recv().await.map(|piece| (piece, receiver)) })
}

/// What is read here, as it is read.
pub(super) fn read_here(
    mut from: impl Read + Send + 'static,
    progress: Progress,
) -> impl Stream<Item = Piece> + Send + 'static {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    std::thread::spawn(move || {
        loop {
            let mut buffer = vec![0; PIECE];
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
            // Nobody takes it any more, or nothing follows an error.
            if piece.is_err() | sender.blocking_send(piece).is_err() {
                return;
            }
        }
    });
    receiving(receiver)
}

/// A tree of this machine as an archive, as it is packed.
pub(super) fn pack_here(root: PathBuf, progress: Progress) -> impl Stream<Item = Piece> + Send + 'static {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    std::thread::spawn(move || {
        let mut out = io::BufWriter::with_capacity(PIECE, Sender { sender: sender.clone(), progress });
        let packed = pack(&root, &mut out).and_then(|()| out.flush());
        if let Err(error) = packed {
            // Nobody takes it any more.
            sender.blocking_send(Err(error)).ok();
        }
    });
    receiving(receiver)
}

fn pack(root: &Path, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let root = root.canonicalize()?;
    let whole = Tree::beneath(b"/", Reach::Anywhere).map_err(io::Error::other)?;
    // What `.gitignore` names is copied, too: a copy is a copy.
    let pack = Pack { format: Format::Tar, ignored: Ignored::Included, ..Pack::default() };
    let packed = pack.run(&whole, root.as_os_str().as_bytes(), out, &Stop::never()).map_err(io::Error::other)?;
    match packed.first_troubles.first() {
        None => Ok(()),
        Some(first) => Err(io::Error::other(format!("{} things could not be read; first {first}", packed.troubles))),
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

/// From one answer into the next request.
pub(super) fn pass(bytes: FileBytes, progress: Progress) -> impl Stream<Item = Piece> + Send + 'static {
    stream::try_unfold((bytes, progress), |(mut bytes, progress)| async move {
        let piece = bytes.next().await.map_err(io::Error::other)?;
        Ok(piece.map(|piece| {
            progress.add(piece.len());
            (piece, (bytes, progress))
        }))
    })
}

/// Takes an answer's pieces to a thread. The first error of either side ends it.
async fn feed(mut bytes: FileBytes, sender: mpsc::Sender<Piece>, progress: &Progress) -> Result<(), Failure> {
    loop {
        match bytes.next().await {
            Ok(None) => return Ok(()),
            Ok(Some(piece)) => {
                progress.add(piece.len());
                if sender.send(Ok(piece)).await.is_err() {
                    // The other side says why.
                    return Ok(());
                }
            }
            Err(error) => {
                sender.send(Err(io::Error::other("the connection broke"))).await.ok();
                return Err(error.into());
            }
        }
    }
}

/// Unpacks an archive into a directory of this machine.
pub(super) async fn unpack_here(archive: FileBytes, to: PathBuf, progress: Progress) -> Result<(), Failure> {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    let shown = to.display().to_string();
    let unpacking = tokio::task::spawn_blocking(move || unpack(&to, Receiver { receiver, rest: Bytes::new() }));
    let fed = feed(archive, sender, &progress).await;
    let unpacked = unpacking.await.map_err(|error| Failure::internal(error.to_string()))?;
    fed?;
    unpacked.map_err(|error| Failure::invalid(format!("{shown}: {error}")))
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

/// Writes a file of this machine: complete, or not at all.
pub(super) async fn write_here(bytes: FileBytes, to: PathBuf, mode: u32, progress: Progress) -> Result<(), Failure> {
    let (sender, receiver) = mpsc::channel(ON_THE_WAY);
    let shown = to.display().to_string();
    let writing = tokio::task::spawn_blocking(move || write(&to, mode, Receiver { receiver, rest: Bytes::new() }));
    let fed = feed(bytes, sender, &progress).await;
    let written = writing.await.map_err(|error| Failure::internal(error.to_string()))?;
    fed?;
    written.map_err(|error| Failure::invalid(format!("{shown}: {error}")))
}

fn write(to: &Path, mode: u32, mut input: impl Read) -> io::Result<()> {
    // A device or a fifo that is named is meant: it is written where it is.
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
