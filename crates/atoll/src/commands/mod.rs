//! One module per subcommand.

pub(crate) mod agent;
pub(crate) mod bench;
pub(crate) mod doctor;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod token;
