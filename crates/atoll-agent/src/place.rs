//! Where a command runs: in the sandbox as it is, or in one of its sessions. One way to ask for either.

use atoll_runtime::{Error, ExecOutput, Process, ProcessSpec, Sandbox, Session};

/// A place for commands. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// A program of its own, which remembers nothing.
    Sandbox(Sandbox),
    /// The shell of a session, after the commands that came before.
    Session(Session),
}

impl Place {
    /// Runs a command to its end.
    pub(crate) async fn exec(&self, spec: ProcessSpec, answer_bytes: usize) -> Result<ExecOutput, Error> {
        match self {
            Self::Sandbox(sandbox) => sandbox.exec_with(spec, answer_bytes).await,
            Self::Session(session) => session.exec_with(spec, answer_bytes).await,
        }
    }

    /// Starts it, or puts it into the queue.
    pub(crate) async fn start(&self, spec: ProcessSpec) -> Result<Process, Error> {
        match self {
            Self::Sandbox(sandbox) => sandbox.start(spec).await,
            Self::Session(session) => session.begin(spec).await,
        }
    }

    /// Ends what was started here. What waits in a queue never begins.
    pub(crate) async fn end(&self, process: &Process) {
        if let Self::Session(session) = self
            && session.cancel(process.id()).await.unwrap_or(false)
        {
            return;
        }
        // One that has ended by now needs nothing.
        drop(process.kill(process.spec().command.grace).await);
    }
}
