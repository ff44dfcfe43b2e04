//! A container, from before its start until it is surely gone.
//!
//! The guard exists before anything is started, so a start that fails half-way
//! is cleaned up too. It knows no tool: it is given the commands to use.

use crate::error::BenchError;
use crate::plan::Prepared;
use crate::sample::Sample;
use crate::scratch::Scratch;
use crate::spawn::{self, Argv};

use super::START_LIMIT;
use super::stage::Stage;

/// Deletes the container on drop, then its files.
pub(super) struct Container {
    stage: Stage,
    delete: Argv,
    scratch: Scratch,
}

impl Container {
    pub(super) fn new(stage: Stage, delete: Argv, scratch: Scratch) -> Self {
        Self { stage, delete, scratch }
    }

    /// Runs the command that starts it and returns.
    pub(super) fn start(&self, start: &Argv) -> Result<(), BenchError> {
        self.launch(start, "start.log")
    }

    /// A contender that runs `argv` each turn and owns the container.
    pub(super) fn into_contender(self, argv: Argv) -> Prepared<'static> {
        Prepared::new(move || {
            let argv = argv.clone();
            let took = self.stage.run(move || spawn::output(&argv))?;
            took.map(|(_, took)| Sample::Took(took))
        })
    }

    fn launch(&self, argv: &Argv, log: &str) -> Result<(), BenchError> {
        let (argv, log) = (argv.clone(), self.scratch.path().join(log));
        self.stage.run(move || spawn::launch(&argv, &log, START_LIMIT))?
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let delete = self.delete.clone();
        // Fails where nothing was started or all has ended: then all is well.
        self.launch(&delete, "delete.log").ok();
    }
}
