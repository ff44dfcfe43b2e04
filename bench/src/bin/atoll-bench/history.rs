//! Records of earlier runs: the files in `bench/history`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use atoll_bench::{BenchError, Record, Report, Source};
use atoll_protocol::Timestamp;

/// The package's directory in the checkout that this program was built from.
const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// Reads a record.
pub(crate) fn read(path: &Path) -> Result<Record, BenchError> {
    let failed = |error: String| BenchError::contender(format!("cannot read the record {}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Record::parse(&text).map_err(|error| failed(error.to_string()))
}

/// The file that a record is written to.
pub(crate) struct Target {
    path: PathBuf,
    source: Source,
}

impl Target {
    /// Names the file after the day and the commit, and checks that it does not exist.
    pub(crate) fn new() -> Result<Self, BenchError> {
        let date: String = Timestamp::from(SystemTime::now()).to_string().chars().take("2026-11-16".len()).collect();
        let commit = git(&["rev-parse", "--short", "HEAD"])?;
        let dirty = !git(&["status", "--porcelain"])?.is_empty();
        let source = Source { date, commit, dirty, profile: atoll_bench::profile().to_owned() };
        Self::within(&Path::new(PACKAGE).join("history"), source)
    }

    fn within(history: &Path, source: Source) -> Result<Self, BenchError> {
        let path = history.join(format!("{}-{}.json", source.date, source.commit));
        if path.exists() {
            let message = format!("{} exists (delete it to record this commit again)", path.display());
            return Err(BenchError::contender(message));
        }
        Ok(Self { path, source })
    }

    /// Writes the record and returns its path.
    pub(crate) fn write(self, report: &Report) -> Result<PathBuf, BenchError> {
        let Self { path, source } = self;
        let mut text = Vec::new();
        Record::new(source, report).write(&mut text)?;
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| BenchError::contender(format!("cannot write {}: {error}", path.display())))?;
        Ok(path)
    }
}

/// Runs git in the checkout and returns its output without the final newline.
#[expect(clippy::disallowed_methods, reason = "git runs on the host, no sandbox is involved")]
fn git(arguments: &[&str]) -> Result<String, BenchError> {
    let failed =
        |why: String| BenchError::contender(format!("cannot run `git {}` in {PACKAGE}: {why}", arguments.join(" ")));
    let output = Command::new("git").arg("-C").arg(PACKAGE).args(arguments).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io;

    use atoll_bench::{Machine, Plan};

    use super::*;

    fn source() -> Source {
        Source { date: "2026-11-16".into(), commit: "1a2b3c4".into(), dirty: false, profile: "debug".into() }
    }

    #[test]
    fn a_record_is_written_under_its_date_and_commit_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let report = atoll_bench::run(Plan::new(), Machine::observe(), &mut io::sink()).unwrap();
        let path = Target::within(dir.path(), source()).unwrap().write(&report).unwrap();
        assert_eq!(path, dir.path().join("2026-11-16-1a2b3c4.json"));
        assert_eq!(read(&path).unwrap().source, source());
    }

    #[test]
    fn an_existing_record_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("2026-11-16-1a2b3c4.json"), "{}").unwrap();
        let error = Target::within(dir.path(), source()).err().unwrap().to_string();
        assert!(error.ends_with("exists (delete it to record this commit again)"), "{error}");
    }

    #[test]
    fn a_file_that_is_not_a_record_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        fs::write(&path, "{}").unwrap();
        let error = read(&path).err().unwrap().to_string();
        assert!(error.contains("x.json: not a record: missing field"), "{error}");
    }
}
