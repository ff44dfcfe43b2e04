//! A root directory made of the host's programs, and a bundle around it.
//!
//! The root holds empty folders and symlinks only; the host's folders are bound
//! in by the container's own mount namespace, so there is nothing to copy and
//! nothing of the host to lose when it is removed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::BenchError;
use crate::scratch::Scratch;
use crate::spawn::{self, Argv};

/// Where programs and their libraries live, merged into `/usr` or not.
const SYSTEM: [&str; 6] = ["usr", "bin", "sbin", "lib", "lib32", "lib64"];
/// What a container mounts for itself.
const MOUNT_POINTS: [&str; 4] = ["proc", "dev", "sys", "tmp"];

/// A root directory and the host's folders to bind into it.
#[derive(Debug)]
pub(super) struct Rootfs {
    pub(super) path: PathBuf,
    pub(super) bound: Vec<String>,
}

/// Makes a root directory in `scratch`.
pub(super) fn make_rootfs(scratch: &Scratch) -> Result<Rootfs, BenchError> {
    let path = scratch.folder("rootfs")?;
    let doing = || BenchError::io(format!("fill {}", path.display()));
    for name in MOUNT_POINTS {
        fs::create_dir(path.join(name)).map_err(doing())?;
    }
    let mut bound = Vec::new();
    for name in SYSTEM {
        let host = Path::new("/").join(name);
        if let Ok(target) = fs::read_link(&host) {
            symlink(target, path.join(name)).map_err(doing())?;
        } else if host.is_dir() {
            fs::create_dir(path.join(name)).map_err(doing())?;
            bound.push(format!("/{name}"));
        }
    }
    Ok(Rootfs { path, bound })
}

/// Makes a bundle for `argv` in `scratch` from what `crun spec` proposes.
pub(super) fn write(crun: &Argv, scratch: &Scratch, argv: &Argv) -> Result<(), BenchError> {
    let rootfs = make_rootfs(scratch)?;
    let spec = crun.clone().arg("spec").arg("--bundle");
    spawn::output(&spec.arg(scratch.path()))?;
    let path = scratch.path().join("config.json");
    let doing = |verb: &str| BenchError::io(format!("{verb} {}", path.display()));
    let text = fs::read(&path).map_err(doing("read"))?;
    let proposed = serde_json::from_slice(&text).map_err(BenchError::contender)?;
    let adjusted = adjust(proposed, argv, &rootfs.bound)?;
    fs::write(&path, adjusted.to_string()).map_err(doing("write"))
}

fn adjust(mut config: Value, argv: &Argv, bound: &[String]) -> Result<Value, BenchError> {
    let words: Vec<_> = argv.words().iter().map(|w| w.to_string_lossy()).collect();
    let process = field(&mut config, "process")?;
    process.insert("terminal".into(), json!(false));
    process.insert("args".into(), json!(words));
    let mounts = config.get_mut("mounts").and_then(Value::as_array_mut);
    let mounts = mounts.ok_or_else(|| unexpected("mounts"))?;
    // Nothing measured reads it, and mounting it needs a cgroup to show.
    mounts.retain(|mount| mount["destination"] != "/sys/fs/cgroup");
    mounts.extend(bound.iter().map(|folder| bind(folder)));
    Ok(config)
}

fn field<'a>(config: &'a mut Value, name: &str) -> Result<&'a mut serde_json::Map<String, Value>, BenchError> {
    let found = config.get_mut(name).and_then(Value::as_object_mut);
    found.ok_or_else(|| unexpected(name))
}

fn unexpected(name: &str) -> BenchError {
    BenchError::Unfit(format!("crun spec wrote a config without {name}"))
}

fn bind(folder: &str) -> Value {
    json!({
        "destination": folder,
        "type": "bind",
        "source": folder,
        "options": ["rbind", "ro", "nosuid", "nodev"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proposal_is_adjusted_not_replaced() {
        let proposed = json!({
            "hostname": "crun",
            "process": {"terminal": true, "args": ["sh"], "cwd": "/"},
            "mounts": [{"destination": "/proc"}, {"destination": "/sys/fs/cgroup"}],
        });
        let argv = Argv::new(["bash", "-c", "true"]);
        let config = adjust(proposed, &argv, &["/usr".into()]).unwrap();
        assert_eq!(config["hostname"], "crun");
        assert_eq!(config["process"]["cwd"], "/");
        assert_eq!(config["process"]["terminal"], false);
        assert_eq!(config["process"]["args"], json!(["bash", "-c", "true"]));
        let mounts = config["mounts"].as_array().unwrap();
        let places: Vec<_> = mounts.iter().map(|m| &m["destination"]).collect();
        assert_eq!(places, ["/proc", "/usr"]);
    }

    #[test]
    fn a_proposal_of_another_shape_is_refused() {
        let argv = Argv::new(["true"]);
        assert!(adjust(json!({"process": {}}), &argv, &[]).is_err());
    }

    #[test]
    fn a_root_holds_nothing_but_empty_folders_and_links() {
        let scratch = Scratch::new_in(&std::env::temp_dir()).unwrap();
        let rootfs = make_rootfs(&scratch).unwrap();
        assert!(rootfs.bound.contains(&"/usr".to_owned()));
        for entry in fs::read_dir(&rootfs.path).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                assert_eq!(fs::read_dir(entry.path()).unwrap().count(), 0);
            }
        }
    }
}
