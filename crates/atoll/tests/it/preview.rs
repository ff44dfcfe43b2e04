//! What listens inside, seen from outside: a server, a program in a sandbox, and requests as they go over the wire. The
//! behaviours are in the files below `preview/`.

mod browser;
mod carried;
mod early;
mod forward;
mod many;
mod private;
mod uploads;
mod walls;
mod who_may;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use atoll_protocol::{ExposePort, LogCondition, Preview, ProcessId, SandboxName, StartRequest, WaitFor, WaitRequest};
use serde_json::Value;

use crate::harness::Home;
use crate::server::{Server, wait};

/// The program inside.
const APP: &str = include_str!("preview/app.py");

/// Where it listens.
const PORT: u16 = 3000;

/// How long anything may take that should come at once.
const SOON: Duration = Duration::from_secs(20);

/// How a preview is addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Host,
    Path,
}

pub(crate) const BOTH: [Form; 2] = [Form::Host, Form::Path];

/// An exposed program.
pub(crate) struct Shown {
    pub(crate) name: SandboxName,
    pub(crate) app: ProcessId,
    pub(crate) preview: Preview,
}

impl Shown {
    /// What stands for it in addresses.
    pub(crate) fn label(&self) -> String {
        format!("{}-{}-{}", self.preview.port, self.name, self.preview.token)
    }

    /// `Host` and path by which it is asked.
    pub(crate) fn at(&self, form: Form, path: &str) -> (String, String) {
        match form {
            Form::Host => (format!("{}.localhost", self.label()), path.to_owned()),
            Form::Path => ("127.0.0.1".to_owned(), format!("/preview/{}{path}", self.label())),
        }
    }
}

/// Starts the program in a sandbox that is there.
pub(crate) async fn start_app(server: &Server<'_>, name: &SandboxName) -> ProcessId {
    let inside = server.client().inside(name);
    let port = PORT.to_string();
    let argv = ["/usr/bin/python3", "-u", "-c", APP, port.as_str()].map(str::to_owned);
    let request = StartRequest { argv: Some(argv.to_vec()), ..StartRequest::default() };
    let id = inside.start(&request).await.unwrap().id;
    printed(server, name, &id, "up").await;
    id
}

/// Waits until the program has said something.
pub(crate) async fn printed(server: &Server<'_>, name: &SandboxName, id: &ProcessId, text: &str) {
    let condition = LogCondition { text: Some(text.to_owned()), ..Default::default() };
    let request = WaitRequest { r#for: WaitFor::Log(condition), timeout_ms: Some(20_000) };
    server.client().inside(name).wait(id, &request).await.unwrap();
}

/// A sandbox with the program in it, exposed.
pub(crate) async fn show(server: &Server<'_>, asked: ExposePort) -> Shown {
    let name = server.sandbox().await;
    let app = start_app(server, &name).await;
    let preview = server.client().expose(&name, PORT, &asked).await.unwrap();
    Shown { name, app, preview }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The code of an error.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }

    /// A header as the program inside saw it.
    #[track_caller]
    pub(crate) fn seen(&self, name: &str) -> Option<String> {
        let json = self.json();
        let headers = json["headers"].as_array().unwrap();
        let found = headers.iter().find(|pair| pair[0] == name)?;
        Some(found[1].as_str().unwrap().to_owned())
    }
}

impl Server<'_> {
    /// A connection to where previews are.
    pub(crate) fn preview_stream(&self) -> TcpStream {
        let stream = TcpStream::connect(self.previews).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// A request on a connection of its own.
    pub(crate) fn look(&self, at: (String, String), method: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.preview_stream();
        send(&mut stream, &at, method, &[headers, &["connection: close"]].concat(), body);
        read_answer(&mut BufReader::new(stream), method)
    }

    pub(crate) fn get(&self, at: (String, String)) -> Answer {
        self.look(at, "GET", &[], b"")
    }

    /// The same where the API is.
    pub(crate) fn ask_api(&self, host: &str, path: &str) -> Answer {
        let mut stream = self.connect();
        let token = format!("authorization: Bearer {}", self.token);
        send(&mut stream, &(host.to_owned(), path.to_owned()), "GET", &[&token, "connection: close"], b"");
        read_answer(&mut BufReader::new(stream), "GET")
    }
}

pub(crate) fn send(stream: &mut TcpStream, at: &(String, String), method: &str, headers: &[&str], body: &[u8]) {
    let (host, path) = at;
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n");
    for header in headers {
        head.push_str(&format!("{header}\r\n"));
    }
    if !body.is_empty() {
        head.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
}

pub(crate) fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no answer: {line:?}"));
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { return (status, headers) };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
}

pub(crate) fn read_answer(reader: &mut impl BufRead, method: &str) -> Answer {
    let (status, headers) = read_head(reader);
    let mut answer = Answer { status, headers, body: Vec::new() };
    if method == "HEAD" || matches!(status, 100..=199 | 204 | 304) {
        return answer;
    }
    if answer.header("transfer-encoding") == Some("chunked") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            if size == 0 {
                reader.read_line(&mut line).unwrap();
                return answer;
            }
            let from = answer.body.len();
            answer.body.resize(from + size, 0);
            reader.read_exact(&mut answer.body[from..]).unwrap();
            reader.read_line(&mut line).unwrap();
        }
    }
    let length = answer.header("content-length").map(|length| length.parse::<usize>().unwrap());
    match length {
        Some(length) => {
            answer.body = vec![0; length];
            reader.read_exact(&mut answer.body).unwrap();
        }
        None => drop(reader.read_to_end(&mut answer.body)),
    }
    answer
}

/// A server with an exposed program, if the host has what it takes.
pub(crate) fn with_app(asked: ExposePort, body: impl FnOnce(&Server<'_>, &Shown)) {
    crate::harness::need!("python3");
    let home = Home::new();
    let server = Server::start(&home, &[]);
    let shown = wait(show(&server, asked));
    body(&server, &shown);
    server.end();
}

pub(crate) fn public() -> ExposePort {
    ExposePort::default()
}
