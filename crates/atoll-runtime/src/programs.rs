//! The programs that run inside the wall, which a server makes once for all of its agents. Each is several megabytes that
//! every sandbox would else have of its own.

use std::io;
use std::path::{Path, PathBuf};

use atoll_isolation::carried::{Carried, INIT};

use crate::files::WORKER;

fn all() -> [&'static Carried; 2] {
    [&INIT, &WORKER]
}

/// Makes them, and tells where agents find them while this process lives.
pub fn share() -> io::Result<Vec<PathBuf>> {
    all().into_iter().map(Carried::share).collect()
}

/// Takes over what [`share`] told. Of another build, or gone: then this process makes its own when it needs them.
pub fn take(paths: impl IntoIterator<Item = impl AsRef<Path>>) {
    for (program, path) in all().into_iter().zip(paths) {
        drop(program.take(path.as_ref()));
    }
}
