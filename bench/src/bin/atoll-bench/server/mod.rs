//! Figures of a server: the same work through `atoll serve` over loopback, and through the library in this process.

mod connection;
mod figures;
mod files;
mod memory;
mod preview;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use atoll_bench::BenchError;
use atoll_runtime::Home;

use self::connection::Connection;
pub(super) use self::figures::{Figures, NAMES, figures_of};

/// A running `atoll serve` with a home directory of its own. Dropping it ends the server and deletes the directory.
pub(super) struct Server {
    program: PathBuf,
    child: Child,
    home: PathBuf,
    address: SocketAddr,
    token: String,
    /// Time from its start until it listened.
    ready_after: Duration,
}

/// Name of the sandbox that most figures share.
const SHARED: &str = "shared";

impl Server {
    /// Starts `program` with `options` added, in a new directory `name` of `beside`.
    pub(super) fn start(program: &Path, beside: &Home, name: &str, options: &[&str]) -> Result<Self, BenchError> {
        let home = beside.state.join(format!("bench-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&home).map_err(BenchError::contender)?;
        // The server shares the prepared root filesystems: preparing them is not part of any figure.
        std::os::unix::fs::symlink(&beside.cache, home.join("cache")).map_err(BenchError::contender)?;
        Self::start_in(program, home, options)
    }

    #[expect(clippy::disallowed_methods, reason = "a server is a process of the host, not of a sandbox")]
    fn start_in(program: &Path, home: PathBuf, options: &[&str]) -> Result<Self, BenchError> {
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
            .map_err(|error| BenchError::contender(format!("cannot start {}: {error}", program.display())))?;
        let address = first_address(&mut child);
        let ready_after = started.elapsed();
        let token = std::fs::read_to_string(home.join("state/server/root-token")).unwrap_or_default();
        Ok(Self {
            program: program.to_owned(),
            child,
            home,
            address: address?,
            token: token.trim().to_owned(),
            ready_after,
        })
    }

    async fn connect(&self) -> Result<Connection, BenchError> {
        Connection::open(self.address, &self.token).await
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Deletes every sandbox.
    async fn clean_up(&mut self) -> Result<(), BenchError> {
        let mut connection = self.connect().await?;
        let sandboxes = self.home.join("state/server/sandboxes");
        let entries = std::fs::read_dir(sandboxes).into_iter().flatten().flatten();
        for name in entries.filter_map(|entry| entry.file_name().into_string().ok()) {
            connection.request("DELETE", &format!("/v1/sandboxes/{name}"), "").await?;
        }
        Ok(())
    }

    /// Deletes every sandbox, ends the server and removes its home.
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
            // The signal fails if the server has exited already.
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).ok();
        }
        drop(self.child.wait());
        remove(&self.home);
    }
}

fn remove(home: &Path) {
    // The symbolic link goes first: its target is the shared cache, which stays.
    drop(std::fs::remove_file(home.join("cache")));
    drop(atoll_isolation::remove_directory(home));
}

/// Returns the address in the server's first line of output, which it prints when it listens.
fn first_address(child: &mut Child) -> Result<SocketAddr, BenchError> {
    let out = child.stdout.take().ok_or_else(|| BenchError::contender("the server's standard output is not a pipe"))?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).map_err(BenchError::contender)?;
    let address = line.trim().rsplit("//").next().unwrap_or_default();
    address
        .parse()
        .map_err(|_| BenchError::contender(format!("the server did not start; its first line of output is {line:?}")))
}
