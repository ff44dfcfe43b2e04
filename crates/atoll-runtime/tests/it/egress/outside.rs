//! The world outside, as small as it can be: servers on this machine's loopback that remember what they were told.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// A server, and what it was told. It ends with this.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) port: u16,
    heard: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    /// Requests so far: head and body.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// HTTP in the clear.
    pub(crate) async fn http() -> Self {
        Self::serve(|stream| async move { Some(stream) }).await
    }

    /// HTTP by TLS.
    pub(crate) async fn https(authority: &Authority, names: &[&str]) -> Self {
        let acceptor = TlsAcceptor::from(authority.server(names));
        Self::serve(move |stream| {
            let acceptor = acceptor.clone();
            async move { acceptor.accept(stream).await.ok() }
        })
        .await
    }

    /// Says something first, then says everything back.
    pub(crate) async fn echo() -> Self {
        let (listener, port) = listen().await;
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    stream.write_all(b"hello\n").await.ok();
                    let (mut reader, mut writer) = stream.split();
                    tokio::io::copy(&mut reader, &mut writer).await.ok();
                });
            }
        });
        Self { port, heard: Arc::default(), serving }
    }

    async fn serve<S, F>(prepare: impl Fn(tokio::net::TcpStream) -> F + Send + 'static) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        F: Future<Output = Option<S>> + Send + 'static,
    {
        let (listener, port) = listen().await;
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let remembered = Arc::clone(&heard);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (stream, heard) = (prepare(stream), Arc::clone(&remembered));
                tokio::spawn(async move {
                    if let Some(stream) = stream.await {
                        converse(stream, heard).await;
                    }
                });
            }
        });
        Self { port, heard, serving }
    }

    /// A name server that gives every name this address, and remembers the names.
    pub(crate) async fn names(address: Ipv4Addr) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let remembered = Arc::clone(&heard);
        let serving = tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let asked = &buffer[..length];
                remembered.lock().unwrap().push(String::from_utf8_lossy(&asked[12..]).into_owned());
                let is_a = asked[length - 4..] == [0, 1, 0, 1];
                let mut told = asked.to_vec();
                (told[2], told[3], told[7]) = (0x81, 0x80, u8::from(is_a));
                if is_a {
                    told.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4]);
                    told.extend(address.octets());
                }
                socket.send_to(&told, from).await.ok();
            }
        });
        Self { port, heard, serving }
    }
}

async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Answers requests: `/redirect?URL` leads there, `/echo` says the head back, `/packed` claims to be gzip, everything else
/// is a word of welcome.
async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, heard: Arc<Mutex<Vec<String>>>) {
    let mut bytes = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            match stream.read_buf(&mut bytes).await {
                Ok(1..) => {}
                _ => return,
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        bytes.drain(..end);
        let lower = head.to_ascii_lowercase();
        let length =
            lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok()).unwrap_or(0);
        while bytes.len() < length {
            if !matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {
                return;
            }
        }
        let body = String::from_utf8_lossy(&bytes[..length]).into_owned();
        bytes.drain(..length);
        heard.lock().unwrap().push(format!("{head}{body}"));
        let path = head.split(' ').nth(1).unwrap_or_default();
        let keys = heard.lock().unwrap().iter().filter_map(|head| header(head, "x-api-key")).collect::<Vec<_>>();
        let key = keys.last().cloned().unwrap_or_default();
        if lower.contains("upgrade: websocket") {
            return if path == "/ws" { say_back(stream, &head).await } else { send_frames(stream, &head, &key).await };
        }
        if let Some(answer) = abused(path, &head, &key) {
            if stream.write_all(&answer).await.is_err() {
                return;
            }
            continue;
        }
        if path == "/trailers" {
            let told = format!(
                "HTTP/1.1 200 OK\r\ntrailer: x-seen\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-seen: {}\r\n\r\n",
                one_line(&head)
            );
            stream.write_all(told.as_bytes()).await.ok();
            continue;
        }
        let (status, extra, body) = match path.split_once('?') {
            Some(("/redirect", to)) => ("302 Found", format!("location: {to}\r\n"), String::new()),
            _ if path == "/echo" => ("200 OK", format!("x-seen: {}\r\n", one_line(&head)), head.clone()),
            _ if path == "/packed" => ("200 OK", "content-encoding: gzip\r\n".to_owned(), "packed".to_owned()),
            _ => ("200 OK", String::new(), "welcome\n".to_owned()),
        };
        let answer = format!("HTTP/1.1 {status}\r\n{extra}content-length: {}\r\n\r\n{body}", body.len());
        // In small pieces, so that nothing is found only because it came in one.
        for piece in answer.as_bytes().chunks(7) {
            if stream.write_all(piece).await.is_err() || stream.flush().await.is_err() {
                return;
            }
        }
    }
}

/// The value of a header of a request.
fn header(head: &str, name: &str) -> Option<String> {
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
}

/// What a host may do with the last key that it got, by path. Nothing of it needs a key in the same request.
fn abused(path: &str, head: &str, key: &str) -> Option<Vec<u8>> {
    let whole = |status: &str, more: &str, body: &str| {
        Some(format!("HTTP/1.1 {status}\r\n{more}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())
    };
    let encode = |text: String| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    match path {
        "/kept" => whole("200 OK", "", &format!("kept {key}.")),
        "/range" => match header(head, "range") {
            Some(_) => whole("206 Partial Content", "content-range: bytes 0-9/24\r\n", &key[..key.len().min(10)]),
            None => whole("200 OK", "accept-ranges: bytes\r\n", key),
        },
        "/part" => whole("206 Partial Content", "", key),
        "/reason" => whole(&format!("401 bad-{key}"), "", "refused"),
        "/name" => whole("200 OK", &format!("X-{key}-1: 1\r\n"), "named"),
        "/base64" => whole("200 OK", "", &encode(format!("someone:{key}"))),
        "/percent" => whole("200 OK", &format!("location: /?key={}\r\n", key.replace('/', "%2F").replace('+', "%2B")), ""),
        "/coded" => Some(
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", &key[..1])
                .into_bytes(),
        ),
        "/trailer-name" => Some(
            format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-{key}\r\n\r\n2\r\nok\r\n0\r\nx-{key}: 1\r\n\r\n")
                .into_bytes(),
        ),
        _ => None,
    }
}

/// An unmasked frame of less than 126 bytes.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&[first, u8::try_from(payload.len()).unwrap()], payload].concat()
}

/// A WebSocket that sends the key in frames and hangs up: in two fragments with a ping between them, in a ping, in two
/// messages, in the reason of the close. `/packed-frames` sends a frame that claims to be compressed.
async fn send_frames(mut stream: impl AsyncRead + AsyncWrite + Unpin, head: &str, key: &str) {
    let extensions = header(head, "sec-websocket-extensions");
    let extensions = extensions.map(|given| format!("sec-websocket-extensions: {given}\r\n")).unwrap_or_default();
    let told = format!(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n{extensions}\r\n"
    );
    let (first, second) = key.as_bytes().split_at(key.len() / 2);
    let frames = if head.contains("/packed-frames") {
        [frame(0x81, b"before."), frame(0xc1, key.as_bytes()), frame(0x81, b"behind.")].concat()
    } else {
        [
            frame(0x01, &[b"<", first].concat()),
            frame(0x89, b"ping"),
            frame(0x80, &[second, b">"].concat()),
            frame(0x89, key.as_bytes()),
            frame(0x82, first),
            frame(0x82, second),
            frame(0x88, &[&[3, 232], key.as_bytes()].concat()),
        ]
        .concat()
    };
    stream.write_all(&[told.as_bytes(), &frames].concat()).await.ok();
    stream.flush().await.ok();
    stream.shutdown().await.ok();
}

/// A WebSocket as far as a proxy sees it: the head that asked for it as a message, and then every byte.
async fn say_back(mut stream: impl AsyncRead + AsyncWrite + Unpin, head: &str) {
    let told = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n";
    let text = one_line(head).into_bytes();
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    let message = [told.as_bytes(), &[0x81, 126], &length, &text].concat();
    if stream.write_all(&message).await.is_err() {
        return;
    }
    let mut buffer = vec![0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..length]).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

fn one_line(head: &str) -> String {
    head.replace("\r\n", "|")
}

/// An authority that only these tests know.
#[derive(Debug)]
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "an authority of a test");
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    fn server(&self, names: &[&str]) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap())
    }
}
