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
        if lower.contains("upgrade: websocket") {
            return say_back(stream, &head).await;
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

/// A WebSocket as far as a proxy sees it: the head that asked for it, and then every byte.
async fn say_back(mut stream: impl AsyncRead + AsyncWrite + Unpin, head: &str) {
    let told = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: x\r\n\r\n";
    if stream.write_all(format!("{told}{}", one_line(head)).as_bytes()).await.is_err() {
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
