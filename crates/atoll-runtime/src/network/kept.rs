//! Rules and secrets on disk, beside the sandbox's files and never among them, for the server's user alone.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use atoll_egress::Secrets;
use atoll_protocol::NetworkPolicy;
use serde::{Deserialize, Serialize};

use crate::Error;

/// What is kept.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) policy: NetworkPolicy,
    pub(super) secrets: Secrets,
}

/// Where, in a sandbox's storage.
pub(super) fn place(storage: &Path) -> PathBuf {
    storage.join("network.json")
}

/// `None` if nothing was kept. What cannot be read is an error: a sandbox must not begin with other rules than it had.
pub(super) fn read(place: &Path) -> Result<Option<Kept>, Error> {
    match std::fs::read(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read the network's rules", &error)),
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| Error::Internal {
            // Not what is wrong with it: that could be a piece of a secret.
            what: format!("{} cannot be read (line {})", place.display(), error.line()),
        }),
    }
}

/// Restores what [`read`] has returned.
pub(super) fn put_back(place: &Path, before: Option<Kept>) -> io::Result<()> {
    match before {
        Some(Kept { policy, secrets }) => write(place, &policy, &secrets),
        None => std::fs::remove_file(place),
    }
}

/// Whole or not at all.
pub(super) fn write(place: &Path, policy: &NetworkPolicy, secrets: &Secrets) -> io::Result<()> {
    let draft = place.with_extension("json.new");
    let kept = Kept { policy: policy.clone(), secrets: secrets.clone() };
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(&serde_json::to_vec(&kept)?)?;
    file.sync_all()?;
    std::fs::rename(&draft, place)?;
    place.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_read_back_by_us_alone_and_nothing_of_it_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(dir.path());
        assert!(read(&place).unwrap().is_none());
        let given = serde_json::from_str(r#"{"value":"real-value-1","hosts":["a.test"]}"#).unwrap();
        let secrets = Secrets::default().with("KEY", given).unwrap();
        write(&place, &NetworkPolicy::default(), &secrets).unwrap();
        assert_eq!(place.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(read(&place).unwrap().unwrap().secrets == secrets);
        put_back(&place, read(&place).unwrap()).unwrap();
        assert!(read(&place).unwrap().unwrap().secrets == secrets);
        let broken = std::fs::read_to_string(&place).unwrap().replace("\"hosts\"", "real-value-1");
        std::fs::write(&place, broken).unwrap();
        let error = read(&place).map(drop).unwrap_err().to_string();
        assert!(!error.contains("real-value"), "{error}");
        put_back(&place, None).unwrap();
        assert!(read(&place).unwrap().is_none());
    }
}
