//! The way out: what it adds to a connection, and what it leaves of a bulk transfer.
//!
//! The connection is made inside by init and used here, so that both contenders are the same program; the way to init and
//! back counts against us.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use atoll_bench::{BenchError, Contender, Figure, Prepared, Sample, Target, Unit};
use atoll_protocol::{EgressProtocol, EgressRule, NetworkPolicy};
use atoll_runtime::{Command, Host, Sandbox, SandboxOptions};
use tokio::runtime::Runtime;

/// What is moved at a time, and in pieces of what size.
const BULK_BYTES: u64 = 256 * 1024 * 1024;
const PIECE: usize = 256 * 1024;

/// The name by which the server outside is known.
const NAME: &str = "bench.test";

/// A sandbox with one way out, to a server here. It ends with the process.
struct World {
    sandbox: Sandbox,
    /// The server, and what stands for it inside.
    direct: SocketAddr,
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
            let told = sandbox.exec(Command::argv(["getent", "ahostsv4", NAME])).await?;
            Ok::<_, atoll_runtime::Error>((sandbox, String::from_utf8_lossy(&told.stdout.head).into_owned()))
        });
        let (sandbox, told) = made.map_err(BenchError::contender)?;
        let ip: IpAddr = told.split_whitespace().next().unwrap_or_default().parse().map_err(BenchError::contender)?;
        Ok(Self { sandbox, direct, inside: (ip, direct.port()).into() })
    }

    fn dial(&self, runtime: &Runtime) -> Result<TcpStream, BenchError> {
        let stream = runtime.block_on(self.sandbox.dial(self.inside)).map_err(BenchError::contender)?;
        stream.set_nonblocking(false).map_err(BenchError::contender)?;
        Ok(stream)
    }
}

/// Takes everything that is said, and then says a byte. A single byte is answered at once.
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

fn ask(mut stream: TcpStream) -> Result<(), BenchError> {
    let asked = stream.write_all(&[1]).and_then(|()| stream.read_exact(&mut [0]));
    asked.map_err(BenchError::contender)
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

/// From nothing to the first byte back.
pub(super) fn connect<'a>(host: &Host, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let world = World::new(host, runtime)?;
    let direct = world.direct;
    let floor = move || Sample::time(|| TcpStream::connect(direct).map_err(BenchError::contender).and_then(ask));
    let subject = move || Sample::time(|| world.dial(runtime).and_then(ask));
    Ok(Figure::new("egress: connect and a byte back", Unit::Latency)
        .rounds(rounds)
        .warm_up(5)
        .with(Contender::floor("loopback", Ok(Prepared::new(floor))))
        .with(
            Contender::subject("from a sandbox, by rule", Ok(Prepared::new(subject)))
                .target(Target::at_most_floor_plus(Duration::from_micros(300))),
        ))
}

/// Much, one way.
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
