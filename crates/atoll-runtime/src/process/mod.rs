//! Managed processes: commands with a life of their own.

mod handle;
mod registry;
mod spec;
mod supervise;

pub use handle::Process;
pub(crate) use registry::Registry;
pub use registry::{Filter, Retention};
pub use spec::{ProcessSpec, Readiness, Restart};
pub(crate) use supervise::{Begun, CONTROL_MAX, begin, starting};
