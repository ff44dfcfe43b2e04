//! One request to a worker, from here: the question, data either way, and what it says. Everything that comes back was
//! said by somebody inside: sizes are bounded, and what makes no sense ends the request.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use atoll_files::ask::{Ask, FRAME_MAX, FrameKind, HEADER, Told, header, parse_header};
use atoll_files::{Failure, Kind};
use atoll_isolation::sys::socket;
use atoll_isolation::wire::Wire;
use bytes::{Buf, Bytes, BytesMut};
use rustix::pipe::{SpliceFlags, splice};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::UnixStream;

use super::transfer::Pass;
use super::worker::{Use, Workers};
use crate::Error;
use crate::shared::Shared;
use crate::user::User;

/// A question up to this length, with its data, is written before the worker is told of it: it finds all of it at once.
const AHEAD: usize = 64 * 1024;

/// What is read at a time: words, and bytes of files.
const WORDS: usize = 8 * 1024;
const PIECE: usize = 256 * 1024;

/// What a worker says.
#[derive(Debug)]
pub(super) enum Frame {
    Told(Told),
    Data(Bytes),
    End,
}

/// What a worker says, if its data may be moved.
#[derive(Debug)]
pub(super) enum Passed {
    Frame(Frame),
    /// So many bytes of data.
    Moved(usize),
}

/// A request under way. Dropped, it is called off.
#[derive(Debug)]
pub(super) struct Call {
    /// There until the end.
    stream: Option<UnixStream>,
    buffer: BytesMut,
    /// What is still to come of a data frame.
    left: usize,
    over: bool,
    /// Once it is over, the connection can carry the next request.
    leaves_the_line: bool,
    used: Use,
}

impl Call {
    /// Asks. A worker that is gone is started again, once: nothing was done by then.
    pub(super) async fn new(shared: &Arc<Shared>, user: &User, ask: &Ask) -> Result<Self, Error> {
        Self::asking(shared, user, ask, framed(ask)?).await
    }

    /// The same, with all the data that belongs to the question.
    pub(super) async fn with(shared: &Arc<Shared>, user: &User, ask: &Ask, data: &[u8]) -> Result<Self, Error> {
        let mut question = framed(ask)?;
        for piece in data.chunks(FRAME_MAX) {
            question.extend_from_slice(&header(FrameKind::Data, piece.len()));
            question.extend_from_slice(piece);
        }
        question.extend_from_slice(&header(FrameKind::End, 0));
        Self::asking(shared, user, ask, question).await
    }

    async fn asking(shared: &Arc<Shared>, user: &User, ask: &Ask, question: Vec<u8>) -> Result<Self, Error> {
        let mut tried = false;
        loop {
            let used = Workers::of(shared, user).await?;
            match connected(&used, &question).await {
                Ok(stream) => {
                    let (stream, buffer) = (Some(stream), BytesMut::new());
                    let leaves_the_line = ask.leaves_the_line();
                    return Ok(Self { stream, buffer, left: 0, over: false, leaves_the_line, used });
                }
                Err(_) if !tried => {
                    used.is_gone();
                    tried = true;
                }
                Err(error) => return Err(Error::io("reach the file worker", &error)),
            }
        }
    }

    fn stream(&mut self) -> Result<&mut UnixStream, Error> {
        self.stream.as_mut().ok_or_else(lost)
    }

    /// Sends data. That the worker has hung up is told by what it said last.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Error> {
        for piece in bytes.chunks(FRAME_MAX) {
            let head = header(FrameKind::Data, piece.len());
            let mut frame = Buf::chain(&head[..], piece);
            if self.stream()?.write_all_buf(&mut frame).await.is_err() {
                return Err(self.why().await);
            }
        }
        Ok(())
    }

    /// Sends data that is in a pipe: so many bytes, at most [`FRAME_MAX`], which nobody copies.
    pub(super) async fn send_piped(&mut self, out: &OwnedFd, length: usize) -> Result<(), Error> {
        let stream = self.stream()?;
        let sent = async {
            stream.write_all(&header(FrameKind::Data, length)).await?;
            let mut left = length;
            while left > 0 {
                let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
                let moved = || Ok(splice(out, None, &*stream, None, left, flags)?);
                left -= stream.async_io(Interest::WRITABLE, moved).await?;
            }
            io::Result::Ok(())
        };
        match sent.await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.why().await),
        }
    }

    /// All data was sent.
    pub(super) async fn finish(&mut self) -> Result<(), Error> {
        match self.stream()?.write_all(&header(FrameKind::End, 0)).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.why().await),
        }
    }

    async fn why(&mut self) -> Error {
        match self.next().await {
            Err(error) => error,
            Ok(_) => lost(),
        }
    }

    /// What the worker says next. Nothing is lost if the wait is given up.
    pub(super) async fn next(&mut self) -> Result<Frame, Error> {
        loop {
            if let Some(frame) = self.take()? {
                return Ok(frame);
            }
            // A small answer needs little; what is long says so, and is then read in large pieces.
            self.buffer.reserve(if self.left > WORDS || self.buffer.capacity() >= PIECE { PIECE } else { WORDS });
            let stream = self.stream.as_mut().ok_or_else(lost)?;
            match stream.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return Err(lost()),
                Ok(_) => {}
            }
        }
    }

    /// What the worker says next, of which data may be moved by `pass` from the connection to where it is wanted.
    pub(super) fn poll_pass(&mut self, context: &mut Context<'_>, pass: &mut Pass<'_>) -> Poll<Result<Passed, Error>> {
        loop {
            if self.left > 0 && self.buffer.is_empty() {
                let stream = self.stream.as_ref().ok_or_else(lost)?;
                let moved = match ready!(pass(context, stream, self.left)) {
                    Ok(0) | Err(_) => return Poll::Ready(Err(lost())),
                    Ok(moved) => moved,
                };
                self.left = self.left.checked_sub(moved).ok_or_else(lost)?;
                return Poll::Ready(Ok(Passed::Moved(moved)));
            }
            if let Some(frame) = self.take()? {
                return Poll::Ready(Ok(Passed::Frame(frame)));
            }
            if self.left == 0 {
                ready!(self.poll_little(context))?;
            }
        }
    }

    /// Reads the head of a frame and no more, or what else is missing of one that is no data.
    fn poll_little(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut room = [0; WORDS];
        let most = HEADER.checked_sub(self.buffer.len()).filter(|missing| *missing > 0).unwrap_or(WORDS);
        let mut read = ReadBuf::new(&mut room[..most]);
        let stream = self.stream.as_mut().ok_or_else(lost)?;
        let done = ready!(Pin::new(stream).poll_read(context, &mut read));
        if done.is_err() || read.filled().is_empty() {
            return Poll::Ready(Err(lost()));
        }
        self.buffer.extend_from_slice(read.filled());
        Poll::Ready(Ok(()))
    }

    fn take(&mut self) -> Result<Option<Frame>, Error> {
        if self.over {
            return Ok(Some(Frame::End));
        }
        if self.left > 0 {
            let ready = self.left.min(self.buffer.len());
            self.left -= ready;
            return Ok((ready > 0).then(|| Frame::Data(self.buffer.split_to(ready).freeze())));
        }
        let Some(head) = self.buffer.first_chunk::<HEADER>() else { return Ok(None) };
        let (kind, length) = parse_header(*head).ok_or_else(lost)?;
        if kind == FrameKind::Data {
            self.buffer.advance(HEADER);
            self.left = length;
            // An empty one says nothing.
            return self.take();
        }
        if self.buffer.len() < HEADER + length {
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        let body = self.buffer.split_to(length);
        match kind {
            FrameKind::Message => Told::decode(&body).map(|told| Some(Frame::Told(told))).map_err(|_| lost()),
            FrameKind::End | FrameKind::Data => {
                self.over = true;
                Ok(Some(Frame::End))
            }
            FrameKind::Failed => {
                let failure = Failure::decode(&body).unwrap_or_else(|_| Failure::new(Kind::Io, b"", "unknown"));
                Err(Error::File { failure: Box::new(failure) })
            }
        }
    }

    /// The one thing that was asked, once all is done.
    pub(super) async fn told(mut self) -> Result<Told, Error> {
        let Frame::Told(told) = self.next().await? else { return Err(lost()) };
        match self.next().await? {
            Frame::End => Ok(told),
            Frame::Told(_) | Frame::Data(_) => Err(lost()),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.over
            && self.leaves_the_line
            && self.buffer.is_empty()
            && let Some(stream) = self.stream.take()
        {
            self.used.keep(stream);
        }
    }
}

/// A connection on which the question was asked: one that waits, or a new one.
async fn connected(used: &Use, question: &[u8]) -> io::Result<UnixStream> {
    if let Some(mut kept) = used.line()
        // The worker has hung up, and read nothing of it: only one that is gone does.
        && kept.write_all(question).await.is_ok()
    {
        return Ok(kept);
    }
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    // Only bytes come back. A descriptor would be closed by our one thread, and that can wait.
    socket::refuse_rights(ours.as_fd());
    let mut stream = UnixStream::from_std(ours)?;
    if question.len() <= AHEAD {
        stream.write_all(question).await?;
        used.hand_over(theirs.as_fd()).await?;
    } else {
        used.hand_over(theirs.as_fd()).await?;
        stream.write_all(question).await?;
    }
    Ok(stream)
}

fn framed(ask: &Ask) -> Result<Vec<u8>, Error> {
    let mut frame = vec![0; HEADER];
    ask.put(&mut frame);
    let length = frame.len() - HEADER;
    if length > FRAME_MAX {
        return Err(Error::invalid("the request is too long"));
    }
    frame[..HEADER].copy_from_slice(&header(FrameKind::Message, length));
    Ok(frame)
}

/// The worker said nothing, or nonsense.
pub(super) fn lost() -> Error {
    let detail = "what serves files inside was ended in the middle of the request; it may or may not have been done";
    Error::File { failure: Box::new(Failure::new(Kind::Io, b"", detail)) }
}
