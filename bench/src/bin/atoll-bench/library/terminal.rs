//! Terminal figure: the time from a key press until a viewer receives its echo.

use std::time::Instant;

use atoll_bench::{BenchError, Contender, Figure, Prepared, Sample, Target, Unit, key_to_echo};
use atoll_runtime::{
    Attach, Error, Invocation, LogPattern, Sandbox, Terminal, TerminalEvent, TerminalSpec, Viewer, ViewerOptions,
};
use bytes::Bytes;
use tokio::runtime::Runtime;

/// Keys per sample: a single one is too short to measure.
const KEYS: u32 = 50;

/// Builds the figure. `cat` echoes for both contenders, so that a program takes part, as in interactive use.
pub(super) fn figure<'a>(sandbox: &Sandbox, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let mut echo = runtime.block_on(Echo::new(sandbox)).map_err(BenchError::contender)?;
    let subject = move || {
        let started = Instant::now();
        runtime.block_on(echo.type_keys()).map_err(BenchError::contender)?;
        Ok(Sample::Took(started.elapsed() / KEYS))
    };
    Ok(Figure::new("terminal: key to echo", Unit::Latency)
        .rounds(rounds)
        .warm_up(5)
        .with(Contender::floor("a pseudo-terminal by hand", key_to_echo(KEYS)))
        .with(
            Contender::subject("atoll terminal", Ok(Prepared::new(subject))).target(Target::at_most_times_floor(2.0)),
        ))
}

/// A terminal that runs `cat`, and its viewer.
struct Echo {
    terminal: Terminal,
    viewer: Viewer,
}

impl Echo {
    async fn new(sandbox: &Sandbox) -> Result<Self, Error> {
        let cat = Invocation::Shell("stty raw -echo; echo ready; exec cat".into());
        let terminal = sandbox.open_terminal(TerminalSpec::new(cat)).await?;
        terminal.wait_log(&LogPattern::Text("ready\n".to_owned()), 0, None).await?;
        let viewer = terminal.attach(ViewerOptions { from: Attach::Now, ..ViewerOptions::default() });
        Ok(Self { terminal, viewer })
    }

    async fn type_keys(&mut self) -> Result<(), Error> {
        for _ in 0..KEYS {
            let (typed, echoed) =
                tokio::join!(self.terminal.write(Bytes::from_static(b"k")), next_echo(&mut self.viewer));
            typed?;
            echoed?;
        }
        Ok(())
    }
}

async fn next_echo(viewer: &mut Viewer) -> Result<(), Error> {
    loop {
        match viewer.next().await {
            Some(TerminalEvent::Output { bytes, .. }) if &bytes[..] == b"k" => return Ok(()),
            Some(TerminalEvent::Resized(_)) => {}
            other => return Err(Error::Internal { what: format!("expected the key's echo, got {other:?}") }),
        }
    }
}
