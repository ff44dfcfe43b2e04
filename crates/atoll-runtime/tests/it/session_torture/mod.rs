//! Nothing that a command does breaks its session: each case is a few commands, their results to the byte, and the
//! proof afterwards that the session works and remembers, or that it is dead and says why.

mod calls;
mod descriptors;
mod names;
mod options;
mod signals;
mod streams;
mod text;

use std::time::Duration;

use atoll_protocol::{EndReason, SessionState, Signal};
use atoll_runtime::{Command, Error, ExecOutput, Session, SessionSpec, Stdin};
use bytes::Bytes;

use crate::harness::{Fixture, soon};

/// How a step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// By itself, with a code.
    Code(i32),
    /// By an interrupt that it sent itself.
    Interrupted,
    /// By its timeout.
    Timeout,
    /// With the shell, which exited.
    Exit(i32),
    /// With the shell, by a signal.
    Signal(i32),
}

/// A command and what it comes to.
#[derive(Debug, Clone, Copy)]
struct Step {
    text: &'static str,
    stdout: &'static str,
    stderr: &'static str,
    end: End,
    env: &'static [(&'static str, Option<&'static str>)],
    cwd: Option<&'static str>,
    stdin: Option<&'static str>,
}

/// A command that succeeds with this output and no errors.
const fn run(text: &'static str, stdout: &'static str) -> Step {
    Step { text, stdout, stderr: "", end: End::Code(0), env: &[], cwd: None, stdin: None }
}

/// A command that succeeds without a word.
const fn quiet(text: &'static str) -> Step {
    run(text, "")
}

impl Step {
    const fn err(self, stderr: &'static str) -> Self {
        Self { stderr, ..self }
    }

    const fn ends(self, end: End) -> Self {
        Self { end, ..self }
    }

    const fn code(self, code: i32) -> Self {
        self.ends(End::Code(code))
    }

    const fn exits(self, code: i32) -> Self {
        self.ends(End::Exit(code))
    }

    const fn with(self, env: &'static [(&'static str, Option<&'static str>)]) -> Self {
        Self { env, ..self }
    }

    const fn at(self, cwd: &'static str) -> Self {
        Self { cwd: Some(cwd), ..self }
    }

    const fn input(self, stdin: &'static str) -> Self {
        Self { stdin: Some(stdin), ..self }
    }

    fn command(&self) -> Command {
        let mut command = Command::shell(self.text);
        command.env = self.env.iter().map(|(name, value)| (name.into(), value.map(Into::into))).collect();
        command.cwd = self.cwd.map(Into::into);
        command.stdin = self.stdin.map_or(Stdin::Closed, |text| Stdin::Bytes(Bytes::from_static(text.as_bytes())));
        if self.end == End::Timeout {
            command.timeout = Some(Duration::from_millis(60));
            command.grace = Duration::from_millis(20);
        }
        command
    }

    fn is_last(&self) -> bool {
        matches!(self.end, End::Exit(_) | End::Signal(_))
    }

    /// What is not as it should be, for people.
    fn differs(&self, output: &ExecOutput) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (reason, code, signal) = match self.end {
            End::Code(code) => (EndReason::Exited, Some(code), None),
            End::Interrupted => (EndReason::Signaled, None, Some(Signal::INT)),
            End::Timeout => (EndReason::Timeout, None, None),
            End::Exit(code) => (EndReason::ShellExited, Some(code), None),
            End::Signal(signal) => (EndReason::ShellExited, None, Signal::from_number(signal)),
        };
        let expected = (self.stdout.to_owned(), self.stderr.to_owned(), reason, code, signal, false);
        let end = &output.end;
        let (stdout, stderr) = (text(&output.stdout.head), text(&output.stderr.head));
        let got = (stdout, stderr, end.reason, end.code, end.signal, output.session_reset);
        (got != expected).then(|| format!("`{}`\n     is {got:?}\n not {expected:?}", self.text))
    }
}

/// A case: its name and its steps.
type Case = (&'static str, &'static [Step]);

/// Each case in a session and a directory of its own. All that fail are told, not only the first.
async fn play(f: &Fixture, cases: &[Case]) {
    let mut failed = Vec::new();
    for (number, (name, steps)) in cases.iter().enumerate() {
        let session = soon(f.sandbox.create_session(SessionSpec::default())).await.unwrap();
        let begin = format!("keep=kept; mkdir case{number} && cd case{number}");
        assert!(soon(session.exec(Command::shell(begin))).await.unwrap().end.success());
        if let Err(why) = play_one(&session, steps).await {
            failed.push(format!("{name}: {why}"));
        }
        soon(session.delete()).await.unwrap();
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

async fn play_one(session: &Session, steps: &[Step]) -> Result<(), String> {
    for step in steps {
        step_is_right(session, step).await?;
    }
    match steps.last().filter(|step| step.is_last()) {
        Some(last) => is_dead(session, last).await,
        None => works(session).await,
    }
}

async fn step_is_right(session: &Session, step: &Step) -> Result<(), String> {
    let output = soon(session.exec(step.command())).await.map_err(|error| format!("`{}`: {error}", step.text))?;
    step.differs(&output).map_or(Ok(()), Err)
}

/// It remembers, it prints, and its streams are two.
async fn works(session: &Session) -> Result<(), String> {
    step_is_right(session, &run("echo \"$keep\"; echo err >&2", "kept\n").err("err\n")).await?;
    match session.info().state {
        SessionState::Ready => Ok(()),
        state @ (SessionState::Busy | SessionState::Dead) => Err(format!("it is {state:?}")),
    }
}

/// It says so, with the end of its shell.
async fn is_dead(session: &Session, last: &Step) -> Result<(), String> {
    let (code, signal) = match last.end {
        End::Exit(code) => (Some(code), None),
        End::Signal(signal) => (None, Signal::from_number(signal)),
        End::Code(_) | End::Interrupted | End::Timeout => return Err("this is no end of a shell".to_owned()),
    };
    let right = (SessionState::Dead, EndReason::ShellExited, code, signal);
    let state = session.info().state;
    match soon(session.exec(Command::shell("echo no"))).await {
        Err(Error::SessionTerminated { end: Some(end), .. }) if (state, end.reason, end.code, end.signal) == right => {
            Ok(())
        }
        other => Err(format!("it is {state:?} and says {other:?}")),
    }
}
