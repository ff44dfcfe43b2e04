//! A minimal HTTP/1.1 client over one persistent connection, so that a figure measures the server and not its client.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use atoll_bench::BenchError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Initial size of the read buffer: fits the head and a small body.
const ROOM: usize = 64 * 1024;

/// Age at which a connection is replaced. The server closes a connection that is idle for 10 s, and contenders can wait
/// longer than that for their turn.
const FRESH_FOR: Duration = Duration::from_secs(5);

/// A persistent connection to a server, with its token.
pub(super) struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    used: Instant,
    token: String,
    read: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr, token: &str) -> Result<Self, BenchError> {
        let stream = connect(address).await?;
        Ok(Self { address, stream, used: Instant::now(), token: token.to_owned(), read: Vec::with_capacity(ROOM) })
    }

    /// Sends a request and returns the response's body. A status other than 200, 201 or 204 is an error.
    pub(super) async fn request(&mut self, method: &str, path: &str, body: &str) -> Result<String, BenchError> {
        self.send(method, path, "application/json", body).await?;
        let (head, length) = self.head().await?;
        let length = length.unwrap_or(0);
        while self.read.len() < head + length {
            self.more().await?;
        }
        let text = String::from_utf8_lossy(&self.read[head..head + length]).into_owned();
        let status = String::from_utf8_lossy(&self.read[..12]).into_owned();
        if status.ends_with("200") || status.ends_with("201") || status.ends_with("204") {
            Ok(text)
        } else {
            Err(BenchError::contender(format!("{method} {path}: {status} {text}")))
        }
    }

    /// Reads a body of unknown length until `last` arrives. Returns the number of bytes read.
    pub(super) async fn stream_until(&mut self, path: &str, accept: &str, last: &[u8]) -> Result<u64, BenchError> {
        self.until("GET", path, accept, "", last).await
    }

    /// Like [`Self::stream_until`], for newline-delimited JSON.
    pub(super) async fn lines_until(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        last: &[u8],
    ) -> Result<u64, BenchError> {
        self.until(method, path, "application/x-ndjson", body, last).await
    }

    async fn until(
        &mut self,
        method: &str,
        path: &str,
        accept: &str,
        body: &str,
        last: &[u8],
    ) -> Result<u64, BenchError> {
        self.send(method, path, accept, body).await?;
        let (head, _) = self.head().await?;
        self.read.drain(..head);
        let mut read = 0;
        while memchr::memmem::find(&self.read, last).is_none() {
            // The end of the buffer may hold the beginning of `last`.
            let gone = self.read.len() - self.read.len().min(last.len() - 1);
            self.read.drain(..gone);
            read += gone as u64;
            self.more().await?;
        }
        Ok(read + self.read.len() as u64)
    }

    /// Uploads `total` bytes and reads the response.
    pub(super) async fn upload(&mut self, path: &str, total: u64) -> Result<(), BenchError> {
        self.send_head("PUT", path, "application/json", total).await?;
        let piece = vec![b'x'; 4 * ROOM];
        let mut left = total;
        while left > 0 {
            let count = usize::try_from(left).unwrap_or(piece.len()).min(piece.len());
            self.stream.write_all(&piece[..count]).await.map_err(BenchError::contender)?;
            left -= count as u64;
        }
        let (head, _) = self.head().await?;
        let status = String::from_utf8_lossy(&self.read[..12]).into_owned();
        self.used = Instant::now();
        if memchr::memmem::find(&self.read[..head], b"connection: close").is_some() {
            self.stream = connect(self.address).await?;
        }
        if status.ends_with("200") || status.ends_with("201") { Ok(()) } else { Err(BenchError::contender(status)) }
    }

    /// Reads and discards a body. Returns the number of bytes read.
    pub(super) async fn download(&mut self, path: &str) -> Result<u64, BenchError> {
        self.send("GET", path, "*/*", "").await?;
        let (head, length) = self.head().await?;
        let length = length.unwrap_or(0);
        let mut read = self.read.len() - head;
        let mut buffer = vec![0; 4 * ROOM];
        while read < length {
            let count = self.stream.read(&mut buffer).await.map_err(BenchError::contender)?;
            if count == 0 {
                return Err(BenchError::contender("the server closed the connection"));
            }
            read += count;
        }
        self.used = Instant::now();
        Ok(read as u64)
    }

    async fn send(&mut self, method: &str, path: &str, kind: &str, body: &str) -> Result<(), BenchError> {
        self.freshen().await?;
        let mut request = self.head_of(method, path, kind, body.len() as u64);
        request.push_str(body);
        self.stream.write_all(request.as_bytes()).await.map_err(BenchError::contender)
    }

    async fn send_head(&mut self, method: &str, path: &str, kind: &str, length: u64) -> Result<(), BenchError> {
        self.freshen().await?;
        let request = self.head_of(method, path, kind, length);
        self.stream.write_all(request.as_bytes()).await.map_err(BenchError::contender)
    }

    async fn freshen(&mut self) -> Result<(), BenchError> {
        self.read.clear();
        if self.used.elapsed() > FRESH_FOR {
            self.stream = connect(self.address).await?;
        }
        self.used = Instant::now();
        Ok(())
    }

    fn head_of(&self, method: &str, path: &str, kind: &str, length: u64) -> String {
        let token = &self.token;
        format!(
            "{method} {path} HTTP/1.1\r\nhost: atoll\r\nauthorization: Bearer {token}\r\naccept: {kind}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    }

    /// Returns the offset of the body, and the content length if the head has one.
    async fn head(&mut self) -> Result<(usize, Option<usize>), BenchError> {
        loop {
            if let Some(at) = self.read.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.read[..at]).to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                return Ok((at + 4, length.and_then(|length| length.parse().ok())));
            }
            self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<(), BenchError> {
        if self.read.capacity() - self.read.len() < ROOM {
            self.read.reserve(4 * ROOM);
        }
        let read = self.stream.read_buf(&mut self.read).await.map_err(BenchError::contender)?;
        if read == 0 { Err(BenchError::contender("the server closed the connection")) } else { Ok(()) }
    }
}

async fn connect(address: SocketAddr) -> Result<TcpStream, BenchError> {
    let stream = TcpStream::connect(address).await.map_err(BenchError::contender)?;
    stream.set_nodelay(true).map_err(BenchError::contender)?;
    Ok(stream)
}
