//! Reading and writing the kernel's interface files.
//!
//! Owns how a value is read and written. It must not know what any file means. Files are opened
//! without O_CREAT, so that a missing one is an error and never an ordinary new file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::Error;

/// The whole file, as text.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|cause| Error::io("read", path, cause))
}

/// A file that holds one number.
pub(super) fn read_number(path: &Path) -> Result<u64, Error> {
    let text = read(path)?;
    text.trim().parse().map_err(|_| Error::io("read", path, not_understood(&text)))
}

/// One value of a "flat keyed" file (`key value` per line, as in cgroup-v2.rst, "Format").
pub(super) fn read_key(path: &Path, key: &str) -> Result<u64, Error> {
    let text = read(path)?;
    find_key(&text, key).ok_or_else(|| Error::io("read", path, not_understood(&text)))
}

/// The same from an open file, by one pread(2): kernfs makes the text anew for each read at 0.
pub(super) fn reread_key(file: &File, path: &Path, key: &str) -> Result<u64, Error> {
    // `populated 1\nfrozen 0\n` today; room for more keys.
    let mut buffer = [0; 256];
    let length = file.read_at(&mut buffer, 0).map_err(|cause| Error::io("read", path, cause))?;
    let text = String::from_utf8_lossy(&buffer[..length]);
    find_key(&text, key).ok_or_else(|| Error::io("read", path, not_understood(&text)))
}

/// Writes a value with one write(2), as the kernel's parsers want it.
pub(super) fn write(path: &Path, value: &str) -> Result<(), Error> {
    open_to_write(path)?.write_all(value.as_bytes()).map_err(|cause| Error::io("write to", path, cause))
}

/// Opens for writing. The kernel remembers who opened the file, and checks that one's rights when
/// a process is moved (cgroup-v2.rst, "Delegation Containment").
pub(super) fn open_to_write(path: &Path) -> Result<File, Error> {
    OpenOptions::new().write(true).open(path).map_err(|cause| Error::io("open", path, cause))
}

fn find_key(text: &str, key: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == key)
        .and_then(|(_, value)| value.trim().parse().ok())
}

pub(super) fn not_understood(text: &str) -> io::Error {
    let start: String = text.chars().take(40).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("did not expect {start:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_key_by_its_whole_name() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(find_key(text, "oom_kill"), Some(3));
        assert_eq!(find_key(text, "oom"), None);
        assert_eq!(find_key("populated", "populated"), None);
    }

    #[test]
    fn writing_never_makes_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.max");
        assert!(write(&path, "1").unwrap_err().is_gone());
        assert!(!path.exists());
    }

    #[test]
    fn a_value_that_is_no_number_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pids.current");
        std::fs::write(&path, "lots\n").unwrap();
        let error = read_number(&path).unwrap_err().to_string();
        assert!(error.ends_with(r#"pids.current: did not expect "lots\n""#), "{error}");
    }
}
