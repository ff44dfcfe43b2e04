//! Opening a terminal, and the task over it.

use std::sync::Arc;

use atoll_protocol::{ProcessId, ProcessState, TerminalId};
use tokio::sync::{mpsc, watch};

use super::handle::Terminal;
use super::registry::Reserved;
use super::spec::TerminalSpec;
use super::window::Window;
use crate::Error;
use crate::process::{CONTROL_MAX, Process, ProcessSpec, Told, starting};
use crate::run::{Control, Driven, Run, Status};
use crate::shared::Shared;
use crate::start::{self, Standard};

/// Opens a terminal, or finds the one that has its id. Returns when its program runs.
pub(crate) async fn open(shared: &Arc<Shared>, spec: TerminalSpec) -> Result<Terminal, Error> {
    let command = spec.command();
    command.check()?;
    let id = match &spec.id {
        Some(id) => ProcessId::new(id.as_str()).map_err(|error| Error::invalid(error.to_string()))?,
        None => shared.next_id()?,
    };
    let name = TerminalId::new(id.as_str()).map_err(|error| Error::invalid(error.to_string()))?;
    let (status, watched) = watch::channel(starting());
    let (control, controls) = mpsc::channel(CONTROL_MAX);
    let process =
        Process::new(id, ProcessSpec::new(command), shared.new_output(), watched, control, Arc::downgrade(shared));
    let terminal = Terminal::new(name, spec, process);
    if let Reserved::Existing(existing) = shared.terminals.reserve(&terminal)? {
        existing.process().started().await?;
        return Ok(existing);
    }
    let owner = Owner { shared: Arc::clone(shared), terminal: terminal.clone(), status, controls };
    // In a task of its own: whoever asked may go away, the terminal has been asked for all the same.
    tokio::spawn(owner.live());
    terminal.process().started().await?;
    Ok(terminal)
}

struct Owner {
    shared: Arc<Shared>,
    terminal: Terminal,
    status: watch::Sender<Status>,
    controls: mpsc::Receiver<Control>,
}

impl Owner {
    async fn live(mut self) {
        let process = self.terminal.process().clone();
        // A terminal that cannot be remembered works all the same: it may be wanted to make room on the disk.
        process.remember_as(Some(self.terminal.made())).ok();
        let standard = Standard::Terminal(self.window());
        match start::start(&self.shared, process.id().as_str(), &process.spec().command, &standard).await {
            Ok((pid, parts)) => {
                let started_at = parts.started_at;
                self.status.send_modify(|status| {
                    status.state = ProcessState::Running;
                    status.pid = Some(pid);
                    status.begun = true;
                    status.started_at = started_at.into();
                });
                let run = Run::new(parts, process, None);
                let driven = run.drive(&mut self.controls, &self.status).await;
                self.over(driven);
            }
            Err(error) => {
                self.shared.terminals.discard(&self.terminal);
                self.status.send_modify(|status| status.failed = Some(error));
            }
        }
    }

    fn window(&self) -> Window {
        self.terminal.window().clone()
    }

    fn over(&self, driven: Driven) {
        self.terminal.log().close();
        let end = driven.end.clone();
        if let Some(end) = &end {
            self.terminal.process().remember_end(end, Told::ByRecord);
        }
        self.status.send_modify(|status| {
            status.state = ProcessState::Ended;
            status.pid = None;
            status.end = end;
        });
        driven.answer();
        self.shared.terminals.prune();
    }
}
