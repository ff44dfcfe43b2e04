//! Egress figures: the time that egress rules add to a connection, and the throughput that they leave.
//!
//! Init opens the connection inside the sandbox and passes it to this process, so that both contenders are the same
//! program. The message to init and back counts as Atoll's time.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use atoll_bench::{BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_protocol::{EgressProtocol, EgressRule, NetworkPolicy};
use atoll_runtime::{Command, Host, Sandbox, SandboxOptions};
use tokio::runtime::Runtime;

/// Bytes per sample.
const BULK_BYTES: u64 = 256 * 1024 * 1024;
/// Size of one read or write.
const PIECE: usize = 256 * 1024;

/// Host name of the server outside, as the rules and the sandbox know it.
const NAME: &str = "bench.test";

/// A sandbox whose rules allow one destination: a server in this process.
struct World {
    sandbox: Sandbox,
    /// The server's address.
    direct: SocketAddr,
    /// The address that stands for the server inside the sandbox.
    inside: SocketAddr,
}

impl World {
    fn new(host: &Host, runtime: &Runtime) -> Result<Self, BenchError> {
        let direct = serve().map_err(BenchError::contender)?;
        let ports = Some(vec![direct.port().to_string()]);
        let protocols = Some(vec![EgressProtocol::Tcp]);
        let name =
            EgressRule { domain: Some(NAME.to_owned()), ports: ports.clone(), protocols, ..EgressRule::default() };
        let address = EgressRule { cidr: Some(direct.ip().to_string()), ports, ..EgressRule::default() };
        let network = NetworkPolicy {
            allow: vec![name, address],
            hosts: [(NAME.to_owned(), vec![direct.ip().to_string()])].into(),
            ..NetworkPolicy::default()
        };
        let options = SandboxOptions { network: Some(network), ..SandboxOptions::default() };
        let made = runtime.block_on(async {
            let sandbox = host.create(options).await?;
            let resolved = sandbox.exec(Command::argv(["getent", "ahostsv4", NAME])).await?;
            Ok::<_, atoll_runtime::Error>((sandbox, String::from_utf8_lossy(&resolved.stdout.head).into_owned()))
        });
        let (sandbox, resolved) = made.map_err(BenchError::contender)?;
        let ip: IpAddr =
            resolved.split_whitespace().next().unwrap_or_default().parse().map_err(BenchError::contender)?;
        Ok(Self { sandbox, direct, inside: (ip, direct.port()).into() })
    }

    fn dial(&self, runtime: &Runtime) -> Result<TcpStream, BenchError> {
        let stream = runtime.block_on(self.sandbox.dial(self.inside)).map_err(BenchError::contender)?;
        stream.set_nonblocking(false).map_err(BenchError::contender)?;
        Ok(stream)
    }
}

/// Starts a server that reads to the end of each connection and then sends a byte. It responds to a single byte at
/// once.
fn serve() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut buffer = vec![0; PIECE];
                while let Ok(got @ 1..) = stream.read(&mut buffer) {
                    if got == 1 {
                        break;
                    }
                }
                stream.write_all(&[1])
            });
        }
    });
    Ok(address)
}

fn exchange(mut stream: TcpStream) -> Result<(), BenchError> {
    let exchanged = stream.write_all(&[1]).and_then(|()| stream.read_exact(&mut [0]));
    exchanged.map_err(BenchError::contender)
}

fn send(mut stream: TcpStream) -> Result<(), BenchError> {
    let piece = vec![0; PIECE];
    let mut left = usize::try_from(BULK_BYTES).map_err(BenchError::contender)?;
    let sent = (|| {
        while left > 0 {
            stream.write_all(&piece[..left.min(PIECE)])?;
            left -= left.min(PIECE);
        }
        stream.shutdown(Shutdown::Write)?;
        stream.read_exact(&mut [0])
    })();
    sent.map_err(BenchError::contender)
}

/// Connects, sends a byte and receives one; the floor does the same over loopback.
pub(super) fn connect<'a>(host: &Host, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let world = World::new(host, runtime)?;
    let direct = world.direct;
    let floor = move || Sample::time(|| TcpStream::connect(direct).map_err(BenchError::contender).and_then(exchange));
    let subject = move || Sample::time(|| world.dial(runtime).and_then(exchange));
    Ok(Figure::new("egress: connect and a byte back", Unit::Latency)
        .rounds(rounds)
        .warm_up(5)
        .with(Contender::floor("loopback", Ok(Prepared::new(floor))))
        .with(
            Contender::subject("from a sandbox, by rule", Ok(Prepared::new(subject)))
                .target(Target::at_most_floor_plus(Duration::from_micros(300))),
        ))
}

/// Sends bulk data; the floor does the same over loopback.
pub(super) fn bulk<'a>(host: &Host, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let world = World::new(host, runtime)?;
    let direct = world.direct;
    let timed = |work: &dyn Fn() -> Result<(), BenchError>| {
        let started = Instant::now();
        work()?;
        Ok(Sample::Moved { bytes: BULK_BYTES, took: started.elapsed() })
    };
    let floor = move || timed(&|| TcpStream::connect(direct).map_err(BenchError::contender).and_then(send));
    let subject = move || timed(&|| world.dial(runtime).and_then(send));
    Ok(Figure::new("egress: 256 MiB out", Unit::Throughput)
        .rounds((rounds / 5).max(6))
        .warm_up(2)
        .with(Contender::floor("loopback", Ok(Prepared::new(floor))))
        .with(
            Contender::subject("from a sandbox, by rule", Ok(Prepared::new(subject)))
                .target(Target::at_least_share_of_floor(0.6)),
        ))
}
