//! File figures: each compares the server with the plainest way to do the same work.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Instant;

use atoll_bench::floors::spawn_with_pipes;
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};

use super::SHARED;
use super::figures::{Figures, inside};

/// Size of a small file.
const SMALL: usize = 1024;

/// Size of a large file.
const LARGE: u64 = 1024 * 1024 * 1024;

/// Files in the large directory.
const MANY: u32 = 100_000;

/// Prefix of the last line of a stream.
const END: &[u8] = b"{\"end\":";

/// Buffer size of raw copies.
const PIECE: usize = 256 * 1024;

impl<'a> Figures<'a> {
    /// Writes 1 KiB; the floor is a request with an empty answer.
    pub(super) fn write_small(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let body = "x".repeat(SMALL);
        let path = inside("files/content?path=small");
        let write = move || Sample::time(|| runtime.block_on(connection.request("PUT", &path, &body)));
        self.beside_empty(name, Prepared::new(write))
    }

    /// Reads 1 KiB; the floor is a request with an empty answer.
    pub(super) fn read_small(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let path = inside("files/content?path=small-read");
        runtime.block_on(connection.request("PUT", &path, &"x".repeat(SMALL)))?;
        let read = move || Sample::time(|| runtime.block_on(connection.request("GET", &path, "")));
        self.beside_empty(name, Prepared::new(read))
    }

    fn beside_empty(&self, name: &str, subject: Prepared<'a>) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let path = inside("sessions");
        let empty = move || Sample::time(|| runtime.block_on(connection.request("GET", &path, "")));
        Ok(Figure::new(name, Unit::Latency)
            .rounds(self.rounds)
            .warm_up(10)
            .with(Contender::floor("an empty request", Ok(Prepared::new(empty))))
            .with(Contender::subject("the server", Ok(subject)).target(Target::at_most_times_floor(3.0))))
    }

    /// Uploads 1 GiB; the floor sends the same bytes over loopback into a file on the same disk.
    pub(super) fn upload(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let path = inside("files/content?path=large");
        let server = move || moved(|| runtime.block_on(connection.upload(&path, LARGE)));
        let file = self.home_file("raw-in");
        let raw = move || moved(|| raw_copy(None, Some(&file)));
        Ok(self.beside_raw(name, raw, server))
    }

    /// Downloads 1 GiB; the floor sends a file from the same disk over loopback.
    pub(super) fn download(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let path = inside("files/content?path=large-out");
        runtime.block_on(connection.upload(&path, LARGE))?;
        let server = move || moved(|| runtime.block_on(connection.download(&path)).map(drop));
        let file = self.home_file("raw-out");
        raw_copy(None, Some(&file))?;
        let raw = move || moved(|| raw_copy(Some(&file), None));
        Ok(self.beside_raw(name, raw, server))
    }

    fn beside_raw(
        &self,
        name: &str,
        raw: impl FnMut() -> Result<Sample, BenchError> + 'a,
        server: impl FnMut() -> Result<Sample, BenchError> + 'a,
    ) -> Figure<'a> {
        Figure::new(name, Unit::Throughput)
            .rounds((self.rounds / 50).max(3))
            .warm_up(1)
            .with(Contender::floor("a raw loopback copy", Ok(Prepared::new(raw))))
            .with(
                Contender::subject("the server", Ok(Prepared::new(server)))
                    .target(Target::at_least_share_of_floor(0.6)),
            )
    }

    /// Lists a directory of 100,000 files; the floor reads the directory and stats each entry.
    pub(super) fn list_many(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let make = format!("mkdir -p many && cd many && seq {MANY} | xargs touch");
        let body = serde_json::json!({ "command": make }).to_string();
        runtime.block_on(connection.request("POST", &inside("exec"), &body))?;
        let raw = self.home_file("many");
        std::fs::create_dir_all(&raw).map_err(BenchError::contender)?;
        for number in 1..=MANY {
            std::fs::write(raw.join(number.to_string()), "").map_err(BenchError::contender)?;
        }
        let path = inside("files/list?path=many");
        let list = move || Sample::time(|| runtime.block_on(connection.lines_until("GET", &path, "", END)));
        let look = move || Sample::time(|| look_at_all(&raw));
        Ok(Figure::new(name, Unit::Latency)
            .rounds((self.rounds / 20).max(5))
            .warm_up(1)
            .with(Contender::floor("readdir and stat", Ok(Prepared::new(look))))
            .with(Contender::subject("the server", Ok(Prepared::new(list))).target(Target::at_most_times_floor(1.5))))
    }

    /// Searches 1 GiB in 1,024 files; the floor is ripgrep on the same tree.
    pub(super) fn search(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut connection) = (self.runtime, self.connect()?);
        let make = "seq 143000 > base && for d in $(seq 32); do mkdir -p tree/$d; for f in $(seq 32); do \
                    { cat base; echo needle $d $f; } > tree/$d/$f; done; done";
        let body = serde_json::json!({ "command": make }).to_string();
        runtime.block_on(connection.request("POST", &inside("exec"), &body))?;
        let tree = self.home_file("state/server/sandboxes").join(SHARED).join("storage/disk/workspace/tree");
        // Debian's package is `ripgrep`.
        let rg = spawn_with_pipes(Argv::new(["rg", "--line-number", "needle"]).arg(tree));
        let path = inside("files/search");
        let body = serde_json::json!({ "path": "tree", "pattern": "needle" }).to_string();
        let search = move || Sample::time(|| runtime.block_on(connection.lines_until("POST", &path, &body, END)));
        Ok(Figure::new(name, Unit::Latency)
            .rounds((self.rounds / 20).max(5))
            .warm_up(1)
            .with(Contender::floor("ripgrep", rg))
            .with(Contender::subject("the server", Ok(Prepared::new(search))).target(Target::at_most_times_floor(1.3))))
    }

    /// Returns a path below the server's home, which is deleted with the server.
    fn home_file(&self, name: &str) -> PathBuf {
        self.server.home.join(name)
    }
}

fn moved(work: impl FnOnce() -> Result<(), BenchError>) -> Result<Sample, BenchError> {
    let started = Instant::now();
    work()?;
    Ok(Sample::Moved { bytes: LARGE, took: started.elapsed() })
}

fn look_at_all(directory: &Path) -> Result<u64, BenchError> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory).map_err(BenchError::contender)? {
        let entry = entry.map_err(BenchError::contender)?;
        bytes += entry.metadata().map_err(BenchError::contender)?.len();
    }
    Ok(bytes)
}

/// Copies over loopback, from a file or from memory, into a file or nowhere.
fn raw_copy(from: Option<&Path>, to: Option<&Path>) -> Result<(), BenchError> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(BenchError::contender)?;
    let address = listener.local_addr().map_err(BenchError::contender)?;
    let file = from.map(std::fs::File::open).transpose().map_err(BenchError::contender)?;
    let sender = std::thread::spawn(move || send(&listener, file));
    let mut stream = TcpStream::connect(address).map_err(BenchError::contender)?;
    let mut file = to.map(std::fs::File::create).transpose().map_err(BenchError::contender)?;
    let mut buffer = vec![0; PIECE];
    loop {
        let count = stream.read(&mut buffer).map_err(BenchError::contender)?;
        if count == 0 {
            break;
        }
        if let Some(file) = &mut file {
            file.write_all(&buffer[..count]).map_err(BenchError::contender)?;
        }
    }
    let sent = sender.join().map_err(|_| BenchError::contender("the sending thread panicked"))?;
    sent.map_err(BenchError::contender)
}

fn send(listener: &TcpListener, file: Option<std::fs::File>) -> std::io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    let mut buffer = vec![0; PIECE];
    let mut left = LARGE;
    let mut file = file;
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let count = match &mut file {
            Some(file) => file.read(&mut buffer[..want])?,
            None => want,
        };
        if count == 0 {
            break;
        }
        stream.write_all(&buffer[..count])?;
        left -= count as u64;
    }
    Ok(())
}
