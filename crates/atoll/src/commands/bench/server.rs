//! What the server adds: the same work through `atoll serve` over loopback, beside the library's own in this process.

mod figures;
mod files;
mod machine;
mod preview;
mod wire;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use atoll_bench::BenchError;
use atoll_runtime::Home;

pub(super) use figures::Figures;
use wire::Wire;

/// A server in a home of its own, with one sandbox.
pub(super) struct Server {
    child: Child,
    home: PathBuf,
    address: SocketAddr,
    token: String,
    /// How long it took until it listened.
    ready_after: Duration,
}

/// The sandbox that stands.
const STANDING: &str = "standing";

impl Server {
    /// Starts one, with these options beside the usual ones.
    pub(super) fn start(beside: &Home, called: &str, options: &[&str]) -> Result<Self, BenchError> {
        let home = beside.state.join(format!("bench-{}-{called}", std::process::id()));
        std::fs::create_dir_all(&home).map_err(BenchError::contender)?;
        // Preparing the roots is no part of any figure.
        std::os::unix::fs::symlink(&beside.cache, home.join("cache")).map_err(BenchError::contender)?;
        Self::start_in(home, options)
    }

    #[expect(clippy::disallowed_methods, reason = "a server is a process of the host, not of a sandbox")]
    fn start_in(home: PathBuf, options: &[&str]) -> Result<Self, BenchError> {
        let program = std::env::current_exe().map_err(BenchError::contender)?;
        let log = std::fs::File::create(home.join("log")).map_err(BenchError::contender)?;
        let started = Instant::now();
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--rate", "0"])
            .args(options)
            .env("ATOLL_HOME", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(BenchError::contender)?;
        let address = first_address(&mut child);
        let ready_after = started.elapsed();
        let token = std::fs::read_to_string(home.join("state/server/root-token")).unwrap_or_default();
        Ok(Self { child, home, address: address?, token: token.trim().to_owned(), ready_after })
    }

    async fn wire(&self) -> Result<Wire, BenchError> {
        Wire::open(self.address, &self.token).await
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Deletes every sandbox, ends the server and removes its home.
    async fn clean_up(&mut self) -> Result<(), BenchError> {
        let mut wire = self.wire().await?;
        let sandboxes = self.home.join("state/server/sandboxes");
        let entries = std::fs::read_dir(sandboxes).into_iter().flatten().flatten();
        for name in entries.filter_map(|entry| entry.file_name().into_string().ok()) {
            wire.ask("DELETE", &format!("/v1/sandboxes/{name}"), "").await?;
        }
        Ok(())
    }

    /// See [`Server::clean_up`].
    pub(super) fn end(mut self, runtime: &tokio::runtime::Runtime) -> Result<(), BenchError> {
        let cleaned = runtime.block_on(self.clean_up());
        drop(self);
        cleaned
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            // One that has ended by itself needs no signal.
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
        }
        drop(self.child.wait());
        remove(&self.home);
    }
}

fn remove(home: &Path) {
    // The link first: what it points to stays.
    drop(std::fs::remove_file(home.join("cache")));
    drop(atoll_isolation::remove_directory(home));
}

/// The first line that it prints, which it does when it listens.
fn first_address(child: &mut Child) -> Result<SocketAddr, BenchError> {
    let out = child.stdout.take().ok_or_else(|| BenchError::contender("the server has no output"))?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).map_err(BenchError::contender)?;
    let address = line.trim().rsplit("//").next().unwrap_or_default();
    address.parse().map_err(|_| BenchError::contender(format!("the server did not start: {line}")))
}
