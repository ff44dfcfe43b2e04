//! The locale that commands run in, as one file.
//!
//! Nearly every program begins by reading its locale: a dozen files, each found, opened, mapped and closed, which through
//! an overlay is a tenth of a shell's start. The C library looks first for all of them in one archive. Where the host has
//! none, the base brings one, made from the host's own locale by the host's own tool; without the tool nothing is lost.

use std::hash::{Hash, Hasher};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use super::copy;

/// What the archive is made from, and with.
const LOCALE: &str = "/usr/lib/locale/C.utf8";
const TOOL: &str = "/usr/bin/localedef";

/// Where it is looked for.
const ARCHIVE: &str = "usr/lib/locale/locale-archive";

fn is_wanted() -> bool {
    Path::new(LOCALE).is_dir() && Path::new(TOOL).is_file() && !Path::new("/").join(ARCHIVE).exists()
}

/// What decides about it.
pub(super) fn fingerprint(hasher: &mut impl Hasher) {
    is_wanted().hash(hasher);
    for path in [LOCALE, TOOL] {
        let seen = Path::new(path).metadata().ok();
        seen.map(|found| (found.size(), found.mtime(), found.mtime_nsec())).hash(hasher);
    }
}

/// Adds it to a base whose mount point for `usr` is there.
pub(super) fn add(base: &Path) {
    if is_wanted() && !is_made(base) {
        // A part of one would be believed.
        drop(std::fs::remove_dir_all(base.join("usr/lib")));
    }
}

#[expect(clippy::disallowed_methods, reason = "a tool of the host, run once on the host's own files")]
fn is_made(base: &Path) -> bool {
    let archive = base.join(ARCHIVE);
    let Some(dir) = archive.parent() else { return false };
    if copy::make_directories(dir).is_err() {
        return false;
    }
    let mut tool = Command::new(TOOL);
    tool.env_clear().arg("--prefix").arg(base).args(["--add-to-archive", LOCALE]);
    tool.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let is_made = tool.status().is_ok_and(|status| status.success()) && archive.is_file();
    is_made && std::fs::set_permissions(&archive, PermissionsExt::from_mode(0o644)).is_ok()
}
