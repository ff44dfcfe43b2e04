//! Managed processes: commands with a life of their own.

mod handle;
mod registry;
mod remember;
mod spec;
mod supervise;

pub use handle::Process;
pub use registry::{Filter, Retention};
pub(crate) use registry::{Registry, Reserved};
pub(crate) use remember::Told;
pub use spec::{ProcessSpec, Readiness, Restart};
pub(crate) use supervise::{Begun, CONTROL_MAX, begin, enter, kill_all, starting};
