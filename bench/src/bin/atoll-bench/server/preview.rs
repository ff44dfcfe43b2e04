//! Preview figures: the same program, once on the host behind nginx's `proxy_pass`, once in a sandbox behind the
//! server, and plain bytes over loopback without a proxy. Bulk data comes from memory in pieces of one size for all
//! contenders, so that no file is part of the comparison.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use atoll_bench::{BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use serde_json::{Value, json};

use super::figures::inside;
use super::{Figures, SHARED};

/// Size of the body in the bulk figures.
const LARGE: usize = 256 * 1024 * 1024;

/// Size of one read or write.
const PIECE: usize = 256 * 1024;

/// Ports on which the programs listen in the sandbox.
const PORT: u16 = 3000;
const BULK_PORT: u16 = 3001;

/// Deadline for a program to listen.
const UP_WITHIN: Duration = Duration::from_secs(10);

/// The program of the bulk figures: sends bytes, receives bytes, or sends a word.
const BULK: &str = "import socket, sys, threading
piece, room = bytes(int(sys.argv[2])), int(sys.argv[2])
def serve(c):
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    view, buf = memoryview(bytearray(room)), b''
    while True:
        while b'\\r\\n\\r\\n' not in buf:
            got = c.recv(65536)
            if not got: return
            buf += got
        head, _, buf = buf.partition(b'\\r\\n\\r\\n')
        lines = head.lower().split(b'\\r\\n')
        up = sum(int(line.split(b':')[1]) for line in lines if line.startswith(b'content-length:'))
        left, buf = up - len(buf), b''
        while left > 0: left -= c.recv_into(view, min(left, room))
        down = int(lines[0].split()[1][1:]) if lines[0].startswith(b'get /') and lines[0].split()[1][1:].isdigit() else 0
        c.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n' % (down or 5))
        if not down: c.sendall(b'hello')
        for _ in range(down // room): c.sendall(piece)
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True: threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()
";

/// The nginx configuration of the small figure: responds with a word.
fn program(port: u16, dir: &str) -> String {
    format!(
        "daemon off; master_process off; pid {dir}/pid; error_log {dir}/log; {user} events {{}}
         http {{ access_log off; sendfile on; keepalive_requests 1000000000; client_body_temp_path {dir}/body;
           proxy_temp_path {dir}/proxy; fastcgi_temp_path {dir}/fastcgi; uwsgi_temp_path {dir}/uwsgi;
           scgi_temp_path {dir}/scgi;
           server {{ listen 127.0.0.1:{port}; client_max_body_size 0; location = /word {{ return 200 'hello'; }} }} }}",
        user = if rustix::process::geteuid().is_root() { "user root;" } else { "" },
    )
}

/// The nginx configuration of the proxy. It keeps upstream connections open, as Atoll does.
fn proxy(port: u16, to: u16, dir: &str) -> String {
    let own = program(port, dir);
    let upstream = format!("upstream app {{ server 127.0.0.1:{to}; keepalive 64; }} server");
    let pass = "location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection '';
        proxy_set_header Host $http_host; proxy_buffering off; proxy_request_buffering off; }";
    own.replacen("server", &upstream, 1).replacen("location = /word { return 200 'hello'; }", pass, 1)
}

/// A process on the host, with its directory. Dropping it kills the process and deletes the directory.
struct Served {
    child: Child,
    dir: PathBuf,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(fs::remove_dir_all(&self.dir));
        // The last process of a figure also removes the parent directory.
        drop(self.dir.parent().map(fs::remove_dir));
    }
}

fn io(error: std::io::Error) -> BenchError {
    BenchError::contender(error)
}

/// Returns a port that is free at the moment of the call.
fn free_port() -> Result<u16, BenchError> {
    Ok(TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).map_err(io)?.port())
}

impl Served {
    fn nginx(under: &Path, called: &str, port: u16, config: impl FnOnce(&str) -> String) -> Result<Self, BenchError> {
        let missing =
            || BenchError::NotInstalled { program: "nginx".into(), remedy: "apt-get install nginx-light".into() };
        let dir = under.join(called);
        fs::create_dir_all(&dir).map_err(io)?;
        fs::write(dir.join("conf"), config(&dir.display().to_string())).map_err(io)?;
        let (conf, log) = (dir.join("conf").display().to_string(), dir.join("log").display().to_string());
        Self::start(dir, port, &["/usr/sbin/nginx", "-p", ".", "-c", &conf, "-e", &log], missing)
    }

    fn bulk(under: &Path, port: u16) -> Result<Self, BenchError> {
        let dir = under.join("bulk");
        fs::create_dir_all(&dir).map_err(io)?;
        let missing =
            || BenchError::NotInstalled { program: "python3".into(), remedy: "apt-get install python3".into() };
        let argv = ["/usr/bin/python3", "-c", BULK, &port.to_string(), &PIECE.to_string()];
        Self::start(dir, port, &argv, missing)
    }

    #[expect(clippy::disallowed_methods, reason = "processes of the host, not of a sandbox")]
    fn start(dir: PathBuf, port: u16, argv: &[&str], missing: impl Fn() -> BenchError) -> Result<Self, BenchError> {
        let mut command = Command::new(argv[0]);
        command.args(&argv[1..]).current_dir(&dir);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let served = Self { child: child.map_err(|_| missing())?, dir };
        let deadline = Instant::now() + UP_WITHIN;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() >= deadline {
                return Err(BenchError::contender(format!("{} does not listen", argv[0])));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(served)
    }
}

/// A persistent connection, and the host that its requests name.
struct Client {
    stream: TcpStream,
    port: u16,
    host: String,
    room: Vec<u8>,
}

impl Client {
    fn new(port: u16, host: &str) -> Result<Self, BenchError> {
        let stream = Self::connect(port)?;
        Ok(Self { stream, port, host: host.to_owned(), room: vec![0; PIECE] })
    }

    fn connect(port: u16) -> Result<TcpStream, BenchError> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(io)?;
        stream.set_nodelay(true).map_err(io)?;
        Ok(stream)
    }

    /// Connects again: contenders can wait longer for their turn than a server keeps an idle connection.
    fn refresh(&mut self) -> Result<(), BenchError> {
        self.stream = Self::connect(self.port)?;
        self.get("/word").map(drop)
    }

    /// Returns the length of the response's body.
    fn get(&mut self, path: &str) -> Result<usize, BenchError> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.host);
        self.stream.write_all(request.as_bytes()).map_err(io)?;
        self.answer()
    }

    /// Sends the bulk body.
    fn put(&mut self) -> Result<usize, BenchError> {
        let request = format!("PUT /up HTTP/1.1\r\nhost: {}\r\ncontent-length: {LARGE}\r\n\r\n", self.host);
        self.stream.write_all(request.as_bytes()).map_err(io)?;
        for _ in 0..LARGE / PIECE {
            self.stream.write_all(&self.room).map_err(io)?;
        }
        self.answer()
    }

    fn answer(&mut self) -> Result<usize, BenchError> {
        let mut read = 0;
        let (head, length) = loop {
            let more = self.stream.read(&mut self.room[read..]).map_err(io)?;
            read += more;
            if let Some(found) = head(&self.room[..read]) {
                break found;
            }
            if more == 0 {
                return Err(BenchError::contender("the server closed the connection"));
            }
        };
        let mut left = (head + length).saturating_sub(read);
        while left > 0 {
            let room = self.room.len().min(left);
            let more = self.stream.read(&mut self.room[..room]).map_err(io)?;
            if more == 0 {
                return Err(BenchError::contender("the server closed the connection"));
            }
            left -= more;
        }
        Ok(length)
    }
}

/// Returns the offset and length of the body, if the head is complete and its status is 200.
fn head(bytes: &[u8]) -> Option<(usize, usize)> {
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let text = str::from_utf8(&bytes[..at]).ok()?.to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    text.starts_with("http/1.1 200").then_some((at + 4, length))
}

/// One small request on an open connection.
fn word<'a>(mut client: Client, served: Vec<Served>) -> Prepared<'a> {
    Prepared::new(move || {
        let _owned = &served;
        client.refresh()?;
        Sample::time(|| client.get("/word"))
    })
}

/// Direction of the bulk body.
#[derive(Debug, Clone, Copy)]
enum Bulk {
    Down,
    Up,
}

fn large<'a>(mut client: Client, bulk: Bulk, served: Vec<Served>) -> Prepared<'a> {
    Prepared::new(move || {
        let _owned = &served;
        client.refresh()?;
        let started = Instant::now();
        match bulk {
            Bulk::Down => client.get(&format!("/{LARGE}"))?,
            Bulk::Up => client.put()?,
        };
        Ok(Sample::Moved { bytes: LARGE as u64, took: started.elapsed() })
    })
}

/// Sends bytes from one thread to another over loopback.
fn loopback<'a>() -> Prepared<'a> {
    Prepared::new(|| {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(io)?;
        let address = listener.local_addr().map_err(io)?;
        let writer = thread::spawn(move || -> std::io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            let piece = vec![0; PIECE];
            (0..LARGE / PIECE).try_for_each(|_| stream.write_all(&piece))
        });
        let mut stream = TcpStream::connect(address).map_err(io)?;
        let (started, mut room, mut read) = (Instant::now(), vec![0; PIECE], 0);
        while read < LARGE {
            read += stream.read(&mut room).map_err(io)?;
        }
        let took = started.elapsed();
        drop(writer.join());
        Ok(Sample::Moved { bytes: LARGE as u64, took })
    })
}

/// The program of the bulk figures on the host, without a proxy.
fn direct() -> Result<(Client, Vec<Served>), BenchError> {
    let under = std::env::temp_dir().join(format!("atoll-bench-direct-{}", std::process::id()));
    let port = free_port()?;
    let served = Served::bulk(&under, port)?;
    Ok((Client::new(port, "localhost")?, vec![served]))
}

impl<'a> Figures<'a> {
    /// A program on the host behind nginx.
    fn proxied(
        &self,
        called: &str,
        behind: impl FnOnce(&Path, u16) -> Result<Served, BenchError>,
    ) -> Result<(Client, Vec<Served>), BenchError> {
        let under = std::env::temp_dir().join(format!("atoll-bench-nginx-{}-{called}", std::process::id()));
        let (app, front) = (free_port()?, free_port()?);
        let behind = behind(&under, app)?;
        let before = Served::nginx(&under, "proxy", front, |dir| proxy(front, app, dir))?;
        Ok((Client::new(front, "localhost")?, vec![before, behind]))
    }

    /// A program in the shared sandbox behind the server.
    fn previewed(&self, id: &str, port: u16, command: &Value) -> Result<Client, BenchError> {
        let mut connection = self.connect()?;
        let preview = self.runtime.block_on(async {
            let preview = connection.request("PUT", &format!("/v1/sandboxes/{SHARED}/previews/{port}"), "{}").await?;
            connection.request("POST", &inside("processes"), &command.to_string()).await?;
            let wait = json!({ "for": { "port": { "port": port } }, "timeout_ms": 20_000 }).to_string();
            connection.request("POST", &inside(&format!("processes/{id}/wait")), &wait).await?;
            Ok::<_, BenchError>(preview)
        })?;
        let preview: Value = serde_json::from_str(&preview).map_err(BenchError::contender)?;
        let url = preview["url"].as_str().unwrap_or_default().trim_start_matches("http://").trim_end_matches('/');
        let port = url.rsplit(':').next().and_then(|port| port.parse().ok());
        Client::new(port.ok_or_else(|| BenchError::contender(format!("the preview's url has no port: {url}")))?, url)
    }

    /// A small request through a preview.
    pub(super) fn preview(&self, name: &str) -> Figure<'a> {
        let nginx = |under: &Path, app| Served::nginx(under, "app", app, |dir| program(app, dir));
        let floor = self.proxied("word", nginx).map(|(client, served)| word(client, served));
        let command = "mkdir -p nginx && printf '%s' \"$CONF\" > nginx/conf && \
            exec nginx -p /workspace/nginx -c /workspace/nginx/conf -e /workspace/nginx/log";
        let env = json!({ "CONF": program(PORT, "/workspace/nginx") });
        let command = json!({ "command": command, "env": env, "id": "nginx" });
        let subject = self.previewed("nginx", PORT, &command).map(|client| word(client, Vec::new()));
        Figure::new(name, Unit::Latency)
            .rounds(self.rounds * 3)
            .warm_up(10)
            .with(Contender::floor("nginx proxy_pass", floor))
            .with(Contender::subject("preview", subject).target(Target::at_most_times_floor(2.0)))
    }

    /// A bulk response through a preview.
    pub(super) fn preview_down(&self, name: &str) -> Figure<'a> {
        self.preview_bulk(name, Bulk::Down)
    }

    /// A bulk request through a preview.
    pub(super) fn preview_up(&self, name: &str) -> Figure<'a> {
        self.preview_bulk(name, Bulk::Up)
    }

    fn preview_bulk(&self, name: &str, bulk: Bulk) -> Figure<'a> {
        let id = format!("{bulk:?}").to_lowercase();
        let port = match bulk {
            Bulk::Down => BULK_PORT,
            Bulk::Up => BULK_PORT + 1,
        };
        let argv = ["/usr/bin/python3", "-c", BULK, &port.to_string(), &PIECE.to_string()];
        let subject = self.previewed(&id, port, &json!({ "argv": argv, "id": id }));
        let proxied = self.proxied(&id, Served::bulk);
        let floor = match bulk {
            Bulk::Down => Contender::floor("loopback", Ok(loopback())),
            // The same program receives in both contenders, because its reading speed limits both.
            Bulk::Up => {
                Contender::floor("the program itself", direct().map(|(client, served)| large(client, bulk, served)))
            }
        };
        Figure::new(name, Unit::Throughput)
            .rounds((self.rounds / 5).max(6))
            .warm_up(1)
            .with(floor)
            .with(
                Contender::subject("preview", subject.map(|client| large(client, bulk, Vec::new())))
                    .target(Target::at_least_share_of_floor(0.6)),
            )
            .with(Contender::alternative(
                "nginx proxy_pass",
                proxied.map(|(client, served)| large(client, bulk, served)),
            ))
    }
}
