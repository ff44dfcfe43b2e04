//! One module per subcommand.

pub(crate) mod agent;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod create;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod expose;
pub(crate) mod forward;
pub(crate) mod inspect;
pub(crate) mod kill;
pub(crate) mod lifecycle;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod ports;
pub(crate) mod ps;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod serve;
mod serve_stop;
pub(crate) mod session;
pub(crate) mod shell;
mod shell_named;
pub(crate) mod spare;
pub(crate) mod token;
pub(crate) mod wait;
