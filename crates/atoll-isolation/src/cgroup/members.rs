//! Who is in a cgroup.
//!
//! Owns reading `cgroup.procs`. It must not act on the processes it finds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{Error, gone};
use super::file;

/// The processes of `dir` itself, each once, in ascending order.
///
/// The kernel may list a process twice if it moves while the file is read (cgroup-v2.rst,
/// "cgroup.procs"). It lists those of a PID namespace that is not below ours as 0; they are left
/// out, because 0 means "my own group" to kill(2).
pub(super) fn of(dir: &Path) -> Result<Vec<u32>, Error> {
    let path = dir.join("cgroup.procs");
    let text = file::read(&path)?;
    let mut pids = parse(&text).map_err(|cause| Error::io("read", &path, cause))?;
    pids.sort_unstable();
    pids.dedup();
    Ok(pids)
}

/// The processes of `dir` and of every directory below it. Directories that go away meanwhile
/// have no processes.
pub(super) fn below(dir: &Path) -> Result<Vec<u32>, Error> {
    let mut found = Vec::new();
    let mut ahead = vec![dir.to_owned()];
    while let Some(next) = ahead.pop() {
        match of(&next) {
            Ok(pids) => found.extend(pids),
            Err(error) if error.is_gone() => continue,
            Err(error) => return Err(error),
        }
        ahead.extend(children(&next)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The directories directly below `dir`; none if `dir` is gone.
pub(super) fn children(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    match list(dir) {
        Ok(found) => Ok(found),
        Err(cause) if gone(&cause) => Ok(Vec::new()),
        Err(cause) => Err(Error::io("list", dir, cause)),
    }
}

fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        // The type comes with the entry and does not follow links: only real directories.
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

fn parse(text: &str) -> io::Result<Vec<u32>> {
    let pids: Result<Vec<u32>, _> = text.lines().map(str::parse).collect();
    let mut pids = pids.map_err(|_| file::not_understood(text))?;
    pids.retain(|pid| *pid != 0);
    Ok(pids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_each_process_once_and_never_zero() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("cgroup.procs"), "7\n0\n3\n7\n").unwrap();
        assert_eq!(of(dir.path()).unwrap(), [3, 7]);
    }

    #[test]
    fn looks_into_every_directory_below() {
        let dir = tempfile::tempdir().unwrap();
        let leaf = dir.path().join("init/leaf");
        fs::create_dir_all(&leaf).unwrap();
        for (place, pids) in [("", "1\n"), ("init", ""), ("init/leaf", "9\n2\n")] {
            fs::write(dir.path().join(place).join("cgroup.procs"), pids).unwrap();
        }
        assert_eq!(below(dir.path()).unwrap(), [1, 2, 9]);
    }

    #[test]
    fn a_directory_that_is_gone_has_no_processes() {
        assert_eq!(below(Path::new("/nonexistent/group")).unwrap(), []);
    }

    #[test]
    fn text_that_is_no_list_is_an_error() {
        assert!(parse("12\nabc\n").is_err());
        assert_eq!(parse("").unwrap(), []);
    }
}
