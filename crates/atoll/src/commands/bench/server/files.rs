//! Files through the server, beside the least that the same work can take.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Instant;

use atoll_bench::floors::spawn_with_pipes;
use atoll_bench::{Argv, BenchError, Contender, Figure, Prepared, Sample, Target, Unit};

use super::STANDING;
use super::figures::{Figures, inside};

/// A small file.
const SMALL: usize = 1024;

/// A large one.
const LARGE: u64 = 1024 * 1024 * 1024;

/// Files in the large directory.
const MANY: u32 = 100_000;

/// How the last line of a stream begins.
const END: &[u8] = b"{\"end\":";

/// What is moved at a time.
const PIECE: usize = 256 * 1024;

impl<'a> Figures<'a> {
    /// 1 KB written, beside a request that asks for next to nothing.
    pub(crate) fn write_small(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let body = "x".repeat(SMALL);
        let path = inside("files/content?path=small");
        let write = move || Sample::time(|| runtime.block_on(wire.ask("PUT", &path, &body)));
        self.beside_empty(name, Prepared::new(write))
    }

    /// 1 KB read.
    pub(crate) fn read_small(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let path = inside("files/content?path=small-read");
        runtime.block_on(wire.ask("PUT", &path, &"x".repeat(SMALL)))?;
        let read = move || Sample::time(|| runtime.block_on(wire.ask("GET", &path, "")));
        self.beside_empty(name, Prepared::new(read))
    }

    fn beside_empty(&self, name: &str, subject: Prepared<'a>) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let path = inside("sessions");
        let empty = move || Sample::time(|| runtime.block_on(wire.ask("GET", &path, "")));
        Ok(Figure::new(name, Unit::Latency)
            .rounds(self.rounds)
            .warm_up(10)
            .with(Contender::floor("an empty request", Ok(Prepared::new(empty))))
            .with(Contender::subject("the server", Ok(subject)).target(Target::at_most_times_floor(3.0))))
    }

    /// 1 GB in, beside the same bytes over a loopback connection into a file of the same disk.
    pub(crate) fn upload(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let path = inside("files/content?path=large");
        let server = move || moved(|| runtime.block_on(wire.upload(&path, LARGE)));
        let file = self.home_file("raw-in");
        let raw = move || moved(|| raw_copy(None, Some(&file)));
        Ok(self.beside_raw(name, raw, server))
    }

    /// 1 GB out, beside a file of the same disk over a loopback connection.
    pub(crate) fn download(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let path = inside("files/content?path=large-out");
        runtime.block_on(wire.upload(&path, LARGE))?;
        let server = move || moved(|| runtime.block_on(wire.download(&path)).map(drop));
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

    /// A directory of 100,000 files, beside reading it and looking at each.
    pub(crate) fn list_many(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let make = format!("mkdir -p many && cd many && seq {MANY} | xargs touch");
        let body = serde_json::json!({ "command": make }).to_string();
        runtime.block_on(wire.ask("POST", &inside("exec"), &body))?;
        let raw = self.home_file("many");
        std::fs::create_dir_all(&raw).map_err(BenchError::contender)?;
        for number in 1..=MANY {
            std::fs::write(raw.join(number.to_string()), "").map_err(BenchError::contender)?;
        }
        let path = inside("files/list?path=many");
        let list = move || Sample::time(|| runtime.block_on(wire.lines_until("GET", &path, "", END)));
        let look = move || Sample::time(|| look_at_all(&raw));
        Ok(Figure::new(name, Unit::Latency)
            .rounds((self.rounds / 20).max(5))
            .warm_up(1)
            .with(Contender::floor("readdir and stat", Ok(Prepared::new(look))))
            .with(Contender::subject("the server", Ok(Prepared::new(list))).target(Target::at_most_times_floor(1.5))))
    }

    /// A tree of a gigabyte in 1024 files is searched, beside ripgrep itself on the same tree.
    pub(crate) fn search(&self, name: &str) -> Result<Figure<'a>, BenchError> {
        let (runtime, mut wire) = (self.runtime, self.wire()?);
        let make = "seq 143000 > base && for d in $(seq 32); do mkdir -p tree/$d; for f in $(seq 32); do \
                    { cat base; echo needle $d $f; } > tree/$d/$f; done; done";
        let body = serde_json::json!({ "command": make }).to_string();
        runtime.block_on(wire.ask("POST", &inside("exec"), &body))?;
        let tree = self.home_file("state/server/sandboxes").join(STANDING).join("storage/disk/workspace/tree");
        // Debian has it in the package ripgrep.
        let rg = spawn_with_pipes(Argv::new(["rg", "--line-number", "needle"]).arg(tree));
        let path = inside("files/search");
        let body = serde_json::json!({ "path": "tree", "pattern": "needle" }).to_string();
        let search = move || Sample::time(|| runtime.block_on(wire.lines_until("POST", &path, &body, END)));
        Ok(Figure::new(name, Unit::Latency)
            .rounds((self.rounds / 20).max(5))
            .warm_up(1)
            .with(Contender::floor("ripgrep", rg))
            .with(Contender::subject("the server", Ok(Prepared::new(search))).target(Target::at_most_times_floor(1.3))))
    }

    /// Below the server's home: gone with it.
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

/// A connection over loopback: from a file, or from memory, into a file, or into nothing.
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
    let sent = sender.join().map_err(|_| BenchError::contender("the sender fell over"))?;
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
