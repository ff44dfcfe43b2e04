//! A server for one test, and the proof that nothing of it is left. The behaviours are in the files below `server/`.

mod access;
mod battery;
mod disk;
mod hidden;
mod large_files;
mod lifecycle;
mod limits;
mod load;
mod narrow;
mod pages;
mod revoked;
mod session_attacks;
mod sockets;
mod survives;
mod tls;
mod warm;

use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use atoll_client::Client;
use atoll_protocol::{CreateSandbox, ExecRequest, SandboxName};

use crate::harness::{Done, Home, Running, Signal};

/// How long a raw answer may take.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

/// `atoll serve` in a home of its own.
pub(crate) struct Server<'a> {
    pub(crate) home: &'a Home,
    running: Option<Running>,
    pub(crate) address: SocketAddr,
    /// Where previews are.
    pub(crate) previews: SocketAddr,
    pub(crate) token: String,
}

impl<'a> Server<'a> {
    /// On a port that is free.
    pub(crate) fn start(home: &'a Home, options: &[&str]) -> Self {
        Self::start_at(home, "127.0.0.1:0".parse().unwrap(), options)
    }

    pub(crate) fn start_at(home: &'a Home, address: SocketAddr, options: &[&str]) -> Self {
        Self::start_with(home, address, options, &[])
    }

    pub(crate) fn start_with(home: &'a Home, address: SocketAddr, options: &[&str], env: &[(&str, &str)]) -> Self {
        let listen = address.to_string();
        let mut call = home.atoll([&["serve", "--listen", &listen], options].concat());
        call.command.envs(env.iter().copied());
        let mut running = call.start();
        let Some(first) = running.try_line() else { panic!("it does not listen: {:?}", running.done()) };
        let said = first.trim().rsplit("//").next().unwrap();
        let address = said.parse().unwrap_or_else(|_| panic!("where does it listen? {first}"));
        assert!(running.line().starts_with("listening on unix:"));
        assert!(running.line().starts_with("the first token is in "));
        let last = running.line();
        let said = last.trim().strip_prefix("previews on ").and_then(|said| said.rsplit("//").next());
        let previews = said.and_then(|said| said.parse().ok()).unwrap_or_else(|| panic!("where are previews? {last}"));
        let token = std::fs::read_to_string(state(home).join("root-token")).unwrap();
        Self { home, running: Some(running), address, previews, token: token.trim().to_owned() }
    }

    pub(crate) fn client(&self) -> Client {
        self.client_with(&self.token)
    }

    pub(crate) fn client_with(&self, token: &str) -> Client {
        Client::tcp(self.address.to_string(), token).unwrap().with_patience(Duration::from_secs(20))
    }

    /// What a new sandbox is asked for with, so that it can be told to be of this home.
    pub(crate) fn asked(&self) -> CreateSandbox {
        CreateSandbox {
            name: Some(SandboxName::new(self.home.name()).unwrap()),
            env: Some([("ATOLL_IT".to_owned(), self.home.tag.clone())].into()),
            ..CreateSandbox::default()
        }
    }

    /// A sandbox.
    pub(crate) async fn sandbox(&self) -> SandboxName {
        self.client().create_sandbox(&self.asked()).await.unwrap().name
    }

    /// Pids of the agents that serve a sandbox: those that wait for one still listen to their server.
    pub(crate) fn agents(&self) -> Vec<u32> {
        let serves =
            |pid: &u32| std::fs::read_link(format!("/proc/{pid}/fd/0")).is_ok_and(|at| at.as_os_str() == "/dev/null");
        self.started().into_iter().filter(serves).collect()
    }

    /// The same, once there are so many: one that has just been told to serve lets go of the server a moment later.
    pub(crate) fn agents_when(&self, count: usize) -> Vec<u32> {
        crate::harness::until("every agent serves", || Some(self.agents()).filter(|agents| agents.len() == count))
    }

    /// Pids of the agents that wait for a sandbox.
    pub(crate) fn spares(&self) -> Vec<u32> {
        let serving = self.agents();
        self.started().into_iter().filter(|pid| !serving.contains(pid)).collect()
    }

    fn started(&self) -> Vec<u32> {
        let is_agent = |pid: &u32| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            command.split(|byte| *byte == 0).nth(1) == Some(b"spare-agent")
        };
        self.home.pids_called("atoll").into_iter().filter(is_agent).collect()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.as_ref().unwrap().pid()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.running.as_ref().unwrap().signal(signal);
    }

    /// Waits for its end.
    pub(crate) fn done(mut self) -> Done {
        self.running.take().unwrap().done()
    }

    /// Killed without warning.
    pub(crate) fn kill(self) {
        self.signal(Signal::KILL);
        assert_eq!(self.done().signal, Some(9));
    }

    /// Deletes what there is, ends the server in good order, and looks that nothing is left.
    pub(crate) fn end(self) {
        let home = self.home;
        wait(async {
            let client = self.client();
            let all = client.list_sandboxes(&Default::default(), None).await.unwrap();
            for sandbox in all.sandboxes {
                client.remove_sandbox(&sandbox.name).await.unwrap();
            }
        });
        self.signal(Signal::TERM);
        let done = self.done();
        assert_eq!(done.code, Some(0), "{done:?}");
        home.assert_nothing_left();
        assert_eq!(std::fs::read_dir(state(home).join("sandboxes")).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(state(home).join("trash")).unwrap().count(), 0);
    }

    /// Sends these bytes as they are; everything that comes back until the server closes.
    pub(crate) fn raw(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A server that refuses may reset what it did not read.
        drop(stream.read_to_end(&mut answer));
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status of a request without a body.
    pub(crate) fn status(&self, method: &str, path: &str) -> u16 {
        let token = &self.token;
        let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
        let answer = self.raw(&format!("{head}content-length: 0\r\nconnection: close\r\n\r\n"));
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.unwrap_or_else(|| panic!("{method} {path}: {answer:?}"))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(ANSWERED_WITHIN)).unwrap();
        stream
    }
}

/// Where a home's server keeps everything.
pub(crate) fn state(home: &Home) -> PathBuf {
    home.path().join("state/server")
}

/// What a shell string prints inside.
pub(crate) async fn sh(client: &Client, name: &SandboxName, text: &str) -> String {
    let result = client.inside(name).exec(&ExecRequest::shell(text)).await.unwrap();
    assert!(result.end.success(), "{text}: {result:?}");
    result.stdout.data
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}
