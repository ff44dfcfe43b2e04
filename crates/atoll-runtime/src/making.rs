//! Making a sandbox, in two halves: everything that does not depend on its name, and the rest. What was made so far is
//! removed if the rest fails. Synchronous.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use atoll_isolation::cgroup::{self, Group, Owner};
use atoll_isolation::sys::identity;
use atoll_isolation::wire::Kept;
use atoll_isolation::{
    Disk, HostRoot, IdMap, Ids, Isolation, LaunchError, Launched, Plan, RootError, Spec, Staged, remove_directory,
};
use atoll_protocol::SandboxName;

use crate::Error;
use crate::home::{CGROUPS, Home, KeptError, SandboxDir, Storage, write_private};
use crate::host::HostInner;
use crate::journal::{self, Restored};
use crate::sandbox::{Limits, SandboxOptions, random_text};
use crate::shared::limit_error;

/// How long a sandbox's processes may take to die when it is destroyed.
pub(crate) const DESTROY_WITHIN: Duration = Duration::from_secs(30);

/// What the cgroups of a sandbox are called that has no name yet.
const NAMELESS: &str = "ahead";

/// A sandbox whose init is ready.
pub(crate) struct Made {
    pub(crate) name: SandboxName,
    pub(crate) options: SandboxOptions,
    pub(crate) dir: SandboxDir,
    pub(crate) ids: Option<Ids>,
    pub(crate) group: Option<Group>,
    pub(crate) launched: Launched,
    pub(crate) kept: Vec<PathBuf>,
    pub(crate) restored: Option<Restored>,
}

/// One that has everything but its name.
#[derive(Debug)]
pub(crate) struct Half {
    name: Option<SandboxName>,
    dir: SandboxDir,
    ids: Option<Ids>,
    group: Option<Group>,
    staged: Staged,
    kept: Vec<PathBuf>,
}

impl Half {
    /// Nothing of it is left.
    pub(crate) fn undo(self, host: &HostInner) {
        let Self { dir, group, staged, kept, .. } = self;
        drop(staged);
        undo(host, group, kept);
        if dir.kept {
            // Nobody has relied on it: there is nothing in it to keep.
            drop(remove_directory(&dir.path));
        }
    }
}

/// The first half. A sandbox whose storage is its own needs its name for that already.
pub(crate) fn half(host: &HostInner, options: &SandboxOptions) -> Result<Half, Error> {
    let mut making = Making { host, kept: Vec::new(), group: None };
    let made = making.half(options);
    made.inspect_err(|_| undo(host, making.group.take(), std::mem::take(&mut making.kept)))
}

/// The second.
pub(crate) fn finish(host: &HostInner, half: Half, options: SandboxOptions) -> Result<Made, Error> {
    let Half { name, mut dir, ids, group, staged, kept } = half;
    let closed = || {
        let name = options.name.clone().or(name).map_or_else(random_name, Ok)?;
        if let Storage::Kept(path) = &options.storage
            && *path != dir.path
        {
            host.home.moved(&mut dir, path, ids.as_ref()).map_err(|error| Error::io("move the storage", &error))?;
        }
        let launched = staged.close(name.as_str()).map_err(|error| unavailable(&error))?;
        if let Some(group) = &group {
            group.shelter_init(launched.pid).map_err(|error| limit_error(&error))?;
        }
        Ok((name, launched))
    };
    match closed() {
        Err(error) => {
            undo(host, group, kept);
            Err(error)
        }
        Ok((name, launched)) => {
            let restored = dir.kept.then(|| journal::open(&dir.path));
            Ok(Made { name, options, dir, ids, group, launched, kept, restored })
        }
    }
}

/// Best effort: what cannot be removed now is still known to the keeper.
fn undo(host: &HostInner, group: Option<Group>, kept: Vec<PathBuf>) {
    if let Some(group) = group {
        drop(group.destroy(DESTROY_WITHIN));
    }
    for path in kept {
        if path.starts_with(&host.home.state) && remove_directory(&path).is_err() {
            continue;
        }
        drop(host.keeper.forget(&path));
    }
}

/// A sandbox in the making, and what was made so far.
struct Making<'a> {
    host: &'a HostInner,
    kept: Vec<PathBuf>,
    group: Option<Group>,
}

impl Making<'_> {
    fn half(&mut self, options: &SandboxOptions) -> Result<Half, Error> {
        let (dir, name) = self.storage(options)?;
        let ids = match options.isolation {
            Isolation::Namespaces => {
                Some(self.host.home.claim_ids(&dir).map_err(|error| kept_error(&dir.path, error))?)
            }
            Isolation::None => None,
        };
        let label = name.as_ref().map_or(NAMELESS, SandboxName::as_str);
        self.group = self.group(&dir, label, options, ids.as_ref().map(Ids::map))?;
        let plan = plan(self.host, &dir, ids.as_ref().map(Ids::map))?;
        let staged = self.host.launcher.stage(plan, &dir.path.join("disk"), self.group.as_ref());
        let staged = staged.map_err(|error| unavailable(&error))?;
        let (group, kept) = (self.group.take(), std::mem::take(&mut self.kept));
        Ok(Half { name, dir, ids, group, staged, kept })
    }

    fn keep(&mut self, kind: Kept, path: PathBuf) -> Result<(), Error> {
        self.host.keeper.keep(kind, &path).map_err(|error| Error::io("tell the keeper", &error))?;
        self.kept.push(path);
        Ok(())
    }

    /// A kept directory is none of the keeper's business: only what lives over it is.
    fn storage(&mut self, options: &SandboxOptions) -> Result<(SandboxDir, Option<SandboxName>), Error> {
        match &options.storage {
            Storage::Own => {
                let name = options.name.clone().map_or_else(random_name, Ok)?;
                Ok((self.directory(&name)?, Some(name)))
            }
            Storage::Kept(path) => {
                let dir = self.host.home.open_kept(path).map_err(|error| kept_error(path, error))?;
                Ok((dir, options.name.clone()))
            }
        }
    }

    fn directory(&mut self, name: &SandboxName) -> Result<SandboxDir, Error> {
        let home = self.host.home.clone();
        let known = |path: &Path| self.keep(Kept::Directory, path.to_owned()).map_err(Failed::Told);
        home.make_sandbox(name.as_str(), known).map_err(|error| match error {
            Failed::Told(error) => error,
            Failed::Io(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Error::invalid(format!("a sandbox named {name} exists already"))
            }
            Failed::Io(error) => Error::io(&format!("make {}", home.sandbox_path(name.as_str()).display()), &error),
        })
    }

    fn group(
        &mut self,
        dir: &SandboxDir,
        name: &str,
        options: &SandboxOptions,
        ids: Option<IdMap>,
    ) -> Result<Option<Group>, Error> {
        let Limits { memory_bytes, pids, cpu_millis, open_files: _ } = options.limits;
        let limits = cgroup::Limits { memory_bytes, pids, cpu_millis };
        let layout = &self.host.layout;
        let unlimited = limits == cgroup::Limits::default();
        if options.without_cgroups && !unlimited {
            return Err(Error::LimitUnavailable {
                what: "limits need cgroups, which this sandbox is to do without".to_owned(),
                hint: None,
            });
        }
        // Without a tree a group is still of use for its limits (v1 alone).
        if unlimited && (options.without_cgroups || matches!(layout.tree, cgroup::Tree::Unavailable { .. })) {
            return Ok(None);
        }
        // Another name than the sandbox's own: two homes on one machine may use the same.
        let group_name = format!("{name}-{}", random_text(6)?);
        let paths = Group::paths(layout, &group_name);
        let names: String = paths.iter().map(|path| format!("{}\n", path.display())).collect();
        write_private(&dir.path.join(CGROUPS), &names).map_err(|error| Error::io("note the cgroups", &error))?;
        for path in paths {
            self.keep(Kept::Cgroup, path)?;
        }
        let owner = ids.map(|ids| ids.root()).map(|(uid, gid)| Owner { uid, gid });
        Group::create(layout, &group_name, &limits, owner).map(Some).map_err(|error| limit_error(&error))
    }
}

fn kept_error(path: &Path, error: KeptError) -> Error {
    match error {
        KeptError::Busy(why) => Error::StorageBusy { path: path.display().to_string(), why },
        KeptError::Io(error) => Error::io(&format!("use {}", path.display()), &error),
    }
}

/// Why a directory was not made.
enum Failed {
    Io(io::Error),
    Told(Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Without a wall a command may run as any user of the host: the way to the workspace is open, and nothing beside it.
fn open_workspace(home: &Home, dir: &SandboxDir) -> io::Result<()> {
    let workspace = dir.path.join("disk/workspace");
    match std::fs::create_dir(&workspace) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made?,
    }
    std::fs::set_permissions(&workspace, Permissions::from_mode(0o1777))?;
    home.allow_traversal(dir)
}

fn plan(host: &HostInner, dir: &SandboxDir, ids: Option<IdMap>) -> Result<Plan, Error> {
    let Some(ids) = ids else {
        open_workspace(&host.home, dir).map_err(|error| Error::io("make the workspace", &error))?;
        return Ok(Plan::unisolated());
    };
    let root = HostRoot::prepare(&host.home.cache.join("roots")).map_err(|error| unprepared(&error))?;
    let privileged = identity::user() == 0;
    Ok(Plan::isolated(&Spec {
        ids,
        base: root.base,
        system: root.system,
        added_to: root.added_to,
        disk: Disk { path: dir.path.join("disk") },
        privileged,
        idmapped: privileged,
        quotas: host.quotas.clone(),
    }))
}

fn random_name() -> Result<SandboxName, Error> {
    SandboxName::new(format!("atoll-{}", random_text(8)?)).map_err(|error| Error::invalid(error.to_string()))
}

/// Who may not give files to others, or make them as they are, cannot have a root of their own.
fn unprepared(error: &RootError) -> Error {
    if error.cause().kind() == io::ErrorKind::PermissionDenied {
        let hint = "the cache directory must be writable, and root needs its usual capabilities (CHOWN, FOWNER, MKNOD)";
        return Error::IsolationUnavailable { what: error.to_string(), hint: Some(hint.to_owned()) };
    }
    Error::io("prepare the root", error.cause())
}

pub(crate) fn unavailable(error: &LaunchError) -> Error {
    Error::IsolationUnavailable { what: error.to_string(), hint: error.hint().map(str::to_owned) }
}
