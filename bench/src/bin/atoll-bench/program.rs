//! Finds the `atoll` executable that server figures start.

use std::path::{Path, PathBuf};

use atoll_bench::BenchError;

/// Returns the path that was given, or that of `atoll` beside this program, as an absolute path.
pub(crate) fn find(given: Option<&Path>) -> Result<PathBuf, BenchError> {
    if let Some(path) = given {
        return path
            .canonicalize()
            .map_err(|error| BenchError::contender(format!("cannot find {}: {error}", path.display())));
    }
    let this = std::env::current_exe().map_err(BenchError::contender)?;
    beside(&this)
}

fn beside(this: &Path) -> Result<PathBuf, BenchError> {
    let path = this.with_file_name("atoll");
    if path.is_file() {
        return Ok(path);
    }
    Err(BenchError::contender(format!(
        "cannot find {} for the server figures (build it with `cargo build --release -p atoll`, or pass --atoll PATH)",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_prefers_the_given_path() {
        assert_eq!(find(Some(Path::new("/bin/../bin/sh"))).unwrap(), Path::new("/bin/sh").canonicalize().unwrap());
    }

    #[test]
    fn find_names_a_given_path_that_does_not_exist() {
        let error = find(Some(Path::new("/nonexistent/atoll"))).unwrap_err().to_string();
        assert!(error.starts_with("cannot find /nonexistent/atoll: "), "{error}");
    }

    #[test]
    fn beside_says_how_to_build_a_missing_program() {
        let error = beside(Path::new("/nonexistent/atoll-bench")).unwrap_err().to_string();
        assert!(error.contains("cargo build --release -p atoll"), "{error}");
    }
}
