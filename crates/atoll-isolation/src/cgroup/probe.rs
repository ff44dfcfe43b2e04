//! Finding a place where sandboxes can be made, by trying.
//!
//! Owns the candidates and the trial. It must leave no directory behind, and must not guess from
//! modes and owners what a mkdir(2) can answer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::{Error, lower};
use super::file;
use super::limits::Limit;
use super::mounts::{Hierarchy, Mounts};
use super::parent;

/// Told of a directory before it is made, so that somebody can remove it should we not get to.
pub(super) type Known<'a> = &'a dyn Fn(&Path);

/// What the kernel says about this process.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) mounts: Mounts,
    pub(super) uid: u32,
}

impl Facts {
    pub(super) fn read() -> Result<Self, Error> {
        let text = |path: &str| file::read(Path::new(path));
        let mounts = Mounts::parse(&text("/proc/self/mountinfo")?, &text("/proc/self/cgroup")?);
        let status = text("/proc/self/status")?;
        let uid = effective_uid(&status).ok_or_else(|| {
            let cause = file::not_understood(&status);
            Error::io("read", Path::new("/proc/self/status"), cause)
        })?;
        Ok(Self { mounts, uid })
    }
}

/// "Uid:" is followed by the real, effective, saved and file system ids (proc_pid_status(5)).
fn effective_uid(status: &str) -> Option<u32> {
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    ids.split_whitespace().nth(1)?.parse().ok()
}

/// A usable place in cgroup2, and what it offers.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) mount: PathBuf,
    pub(super) parent: PathBuf,
    offers: Vec<(Limit, Result<(), String>)>,
}

impl Found {
    /// Whether the limit can be enforced there, or why not.
    pub(super) fn offer(&self, limit: Limit) -> Result<(), String> {
        let offer = self.offers.iter().find(|(offered, _)| *offered == limit);
        offer.map_or_else(|| Err("not tried".to_owned()), |(_, result)| result.clone())
    }

    fn count(&self) -> usize {
        self.offers.iter().filter(|(_, result)| result.is_ok()).count()
    }
}

/// The candidate that offers most controllers, the first of equals.
pub(super) fn tree(hierarchy: Option<&Hierarchy>, uid: u32, known: Known<'_>) -> Result<Found, String> {
    let hierarchy = hierarchy.ok_or("no cgroup2 file system is mounted")?;
    let mut best: Option<Found> = None;
    let mut whys = Vec::new();
    for candidate in candidates(hierarchy, uid) {
        match try_parent(hierarchy, &candidate, known) {
            Ok(found) if found.count() == Limit::ALL.len() => return Ok(found),
            Ok(found) if best.as_ref().is_none_or(|best| found.count() > best.count()) => {
                best = Some(found);
            }
            Ok(_) => {}
            Err(error) => whys.push(error.to_string()),
        }
    }
    best.ok_or_else(|| whys.join("; "))
}

/// Where to try, best first.
///
/// Root takes the top: the root cgroup may hold processes and still pass controllers on
/// (cgroup-v2.rst, "No Internal Process Constraint"). Others stay below their own cgroup, or
/// below their service manager, whose directory systemd hands over and keeps free of processes.
fn candidates(hierarchy: &Hierarchy, uid: u32) -> Vec<PathBuf> {
    let top = (uid == 0).then(|| hierarchy.mount.clone());
    let manager = format!("user.slice/user-{uid}.slice/user@{uid}.service");
    let mut places = Vec::new();
    for place in [top, hierarchy.own.clone(), Some(hierarchy.mount.join(manager))] {
        let parent = place.map(|place| place.join(parent::NAME));
        places.extend(parent.filter(|parent| !places.contains(parent)));
    }
    places
}

fn try_parent(hierarchy: &Hierarchy, parent: &Path, known: Known<'_>) -> Result<Found, Error> {
    with_probe(parent, known, |probe| {
        must_have(probe, "cgroup.kill")?;
        must_be_enterable(hierarchy, probe)?;
        let offers = Limit::ALL.into_iter().map(|limit| (limit, offer(&hierarchy.mount, parent, probe, limit)));
        Ok(Found { mount: hierarchy.mount.clone(), parent: parent.to_owned(), offers: offers.collect() })
    })
}

fn offer(mount: &Path, parent: &Path, probe: &Path, limit: Limit) -> Result<(), String> {
    let controller = limit.controller();
    let lacking = parent::lacking(mount, &[limit]).map_err(|error| error.to_string())?;
    if !lacking.is_empty() {
        let mount = mount.display();
        return Err(format!("the cgroup2 tree at {mount} has no {controller} controller"));
    }
    for (_, enabled) in parent::enable_down(mount, parent, &[limit]) {
        enabled.map_err(|error| explain(&error, controller))?;
    }
    must_have(probe, limit.file_v2()).map_err(|error| error.to_string())
}

/// EBUSY from `cgroup.subtree_control` has one meaning, which its text does not say.
fn explain(error: &Error, controller: &str) -> String {
    if let Error::Io { path, cause, .. } = error
        && cause.kind() == io::ErrorKind::ResourceBusy
    {
        let dir = path.parent().unwrap_or(path).display();
        return format!("{dir} holds processes itself, so it cannot pass the {controller} controller on");
    }
    error.to_string()
}

/// Moving a process needs the right to write to `cgroup.procs` of the new place and of the common
/// ancestor of both places (cgroup-v2.rst, "Delegation Containment"). Opening moves nothing.
fn must_be_enterable(hierarchy: &Hierarchy, probe: &Path) -> Result<(), Error> {
    let own = hierarchy.own.as_deref();
    let common = own.and_then(|own| probe.ancestors().find(|above| own.starts_with(above)));
    for dir in [Some(probe), common].into_iter().flatten() {
        file::open_to_write(&dir.join("cgroup.procs"))?;
    }
    Ok(())
}

/// The directory for sandboxes in a v1 hierarchy: below our own cgroup, whose limits so still hold.
pub(super) fn v1(hierarchy: Option<&Hierarchy>, limit: Limit, known: Known<'_>) -> Result<PathBuf, String> {
    let controller = limit.controller();
    let hierarchy = hierarchy.ok_or_else(|| format!("no v1 {controller} controller is mounted"))?;
    let own = hierarchy.own.as_ref().ok_or_else(|| {
        let mount = hierarchy.mount.display();
        format!("our own {controller} cgroup is not visible below {mount}")
    })?;
    let parent = own.join(parent::NAME);
    let tried = with_probe(&parent, known, |probe| {
        must_have(probe, limit.file_v1())?;
        file::open_to_write(&probe.join("cgroup.procs")).map(drop)
    });
    tried.map(|()| parent).map_err(|error| error.to_string())
}

/// Makes a directory in `parent`, looks at it, and removes it again.
fn with_probe<T>(parent: &Path, known: Known<'_>, look: impl FnOnce(&Path) -> Result<T, Error>) -> Result<T, Error> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    // The time, because a number of ours may have been another's that was killed while it looked.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let probe = parent.join(format!("probe-{}-{number}-{now}", process::id()));
    known(&probe);
    parent::pin(&probe)?;
    let seen = look(&probe);
    let removed = fs::remove_dir(&probe);
    parent::unpin(&probe);
    removed.map_err(|cause| Error::io("remove", &probe, cause))?;
    seen
}

fn must_have(dir: &Path, name: &str) -> Result<(), Error> {
    let path = dir.join(name);
    fs::metadata(&path).map(drop).map_err(|cause| {
        let why = format!("this kernel lacks it ({})", lower(&cause));
        Error::io("find", &path, io::Error::new(cause.kind(), why))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(own: Option<&str>) -> Hierarchy {
        Hierarchy { mount: "/c".into(), own: own.map(PathBuf::from) }
    }

    #[test]
    fn candidates_per_kind_of_user() {
        let manager = "/c/user.slice/user-1000.slice/user@1000.service";
        let scope = format!("{manager}/app.slice/a.scope");
        let table = [
            ("root at the top", at(Some("/c")), 0, vec!["/c/atoll".to_owned()]),
            ("root in a service", at(Some("/c/s")), 0, vec!["/c/atoll".into(), "/c/s/atoll".into()]),
            ("root, own place unknown", at(None), 0, vec!["/c/atoll".into()]),
            ("user in a scope", at(Some(&scope)), 1000, vec![format!("{scope}/atoll"), format!("{manager}/atoll")]),
        ];
        for (name, hierarchy, uid, expected) in table {
            let mut found = candidates(&hierarchy, uid);
            if uid == 0 {
                let manager = found.pop().unwrap();
                assert!(manager.ends_with("user@0.service/atoll"), "{name}");
            }
            let expected: Vec<_> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn the_effective_id_is_the_second() {
        let status = "Name:\tatoll\nUid:\t1000\t0\t1000\t0\nGid:\t5\t5\t5\t5\n";
        assert_eq!(effective_uid(status), Some(0));
        assert_eq!(effective_uid("Name:\tatoll\n"), None);
    }

    #[test]
    fn busy_is_explained() {
        let busy = io::Error::from_raw_os_error(libc::EBUSY);
        let error = Error::io("write to", Path::new("/c/a/cgroup.subtree_control"), busy);
        assert_eq!(
            explain(&error, "memory"),
            "/c/a holds processes itself, so it cannot pass the memory controller on"
        );
    }

    #[test]
    fn a_place_that_cannot_be_used_says_why() {
        let nowhere = at(Some("/nonexistent"));
        let why = tree(Some(&nowhere), 1000, &|_| {}).unwrap_err();
        assert!(why.starts_with("failed to make /nonexistent/atoll: no such file"), "{why}");
    }
}
