//! The root token, which may do everything. It is generated at the first start, into a file that only the server's
//! user can read. To replace it, remove the file and restart.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::secret::{self, Hash, Secret};
use crate::Error;

/// The id of the root token.
pub(super) const ROOT: &str = "root";

/// Reads the token's hash from the file, or generates the token.
pub(super) fn load(path: &Path) -> Result<Hash, Error> {
    match std::fs::read_to_string(path) {
        Ok(token) => read(path, token.trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(path).map_err(|error| Error::io(&format!("create {}", path.display()), &error))
        }
        Err(error) => Err(Error::internal(&format!("read {}", path.display()), error)),
    }
}

fn read(path: &Path, token: &str) -> Result<Hash, Error> {
    let wrong = |why: &str| Error::invalid(format!("{} {why}", path.display()));
    let mode = std::fs::metadata(path).map_err(|error| wrong(&error.to_string()))?.mode();
    if mode & 0o077 != 0 {
        return Err(wrong("is readable by other users: chmod 600 it, or remove it and restart for a new token"));
    }
    match secret::split(token) {
        Some((ROOT, secret)) => Ok(Hash::of(secret)),
        _ => Err(wrong("contains no token: remove it and restart for a new one")),
    }
}

fn make(path: &Path) -> io::Result<Hash> {
    let secret = Secret::with_id(ROOT.to_owned())?;
    // Renamed into place, so that the file is never incomplete.
    let draft = path.with_extension("new");
    drop(std::fs::remove_file(&draft));
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&draft)?;
    writeln!(file, "{}", secret.to_token())?;
    file.sync_all()?;
    std::fs::rename(draft, path)?;
    Ok(secret.hash())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn root_token_is_generated_once_and_must_be_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("root-token");
        let hash = load(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(load(&path).unwrap(), hash);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert!(load(&path).is_err());
    }
}
