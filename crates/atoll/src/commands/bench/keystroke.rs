//! What a key costs: from typing it into a terminal until its echo is seen by a viewer.

use std::time::Instant;

use atoll_bench::{BenchError, Contender, Figure, Prepared, Sample, Target, Unit, key_to_echo};
use atoll_runtime::{
    Attach, Error, Invocation, LogPattern, Sandbox, Terminal, TerminalEvent, TerminalSpec, Viewer, ViewerOptions,
};
use bytes::Bytes;
use tokio::runtime::Runtime;

/// Keys in a row: one alone takes too little time to be measured well.
const KEYS: u32 = 50;

/// The figure. `cat` echoes on both sides, so that a program takes part, as it does when somebody types.
pub(super) fn figure<'a>(sandbox: &Sandbox, runtime: &'a Runtime, rounds: usize) -> Result<Figure<'a>, BenchError> {
    let mut seat = runtime.block_on(Seat::new(sandbox)).map_err(BenchError::contender)?;
    let subject = move || {
        let started = Instant::now();
        runtime.block_on(seat.type_keys()).map_err(BenchError::contender)?;
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

struct Seat {
    terminal: Terminal,
    viewer: Viewer,
}

impl Seat {
    async fn new(sandbox: &Sandbox) -> Result<Self, Error> {
        let cat = Invocation::Shell("stty raw -echo; echo ready; exec cat".into());
        let terminal = sandbox.open_terminal(TerminalSpec::new(cat)).await?;
        terminal.wait_log(&LogPattern::Text("ready\n".to_owned()), 0, None).await?;
        let viewer = terminal.attach(ViewerOptions { from: Attach::Now, ..ViewerOptions::default() });
        Ok(Self { terminal, viewer })
    }

    async fn type_keys(&mut self) -> Result<(), Error> {
        for _ in 0..KEYS {
            let (typed, echoed) = tokio::join!(self.terminal.write(Bytes::from_static(b"k")), echo(&mut self.viewer));
            typed?;
            echoed?;
        }
        Ok(())
    }
}

async fn echo(viewer: &mut Viewer) -> Result<(), Error> {
    loop {
        match viewer.next().await {
            Some(TerminalEvent::Output { bytes, .. }) if &bytes[..] == b"k" => return Ok(()),
            Some(TerminalEvent::Resized(_)) => {}
            other => return Err(Error::Internal { what: format!("no echo, but {other:?}") }),
        }
    }
}
