//! The plan: everything that is done to make a sandbox, as data.
//!
//! A pure function of the [`Spec`], so that it can be read, printed and snapshot-tested without privileges.
//! Init applies the steps in order (`init/apply.rs`); nothing is decided there.

use crate::seccomp;
use crate::spec::{IdMap, Spec};
use crate::wire;

/// Where the new root is put together. Hidden under a private tmpfs, so the host's /tmp is neither seen nor touched.
const STAGE: &str = "/tmp";

#[expect(missing_docs, reason = "the fields say what they are; the variants say what is done")]
/// One thing that init does. Paths are absolute and resolved without following symlinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Orphans come to this process. For sandboxes without a PID namespace.
    Subreaper,
    /// Its cgroup becomes the root that it sees.
    OwnCgroupRoot,
    /// Names the machine.
    Hostname { name: String },
    /// Loopback up.
    Loopback,
    /// Mounts made here are not seen outside, nor the other way round.
    Private,
    /// Clones a mount tree of the host for a later [`Step::Attach`] (unprivileged: the launcher could not pass it).
    CloneTree { path: String, read_only: bool },
    /// Puts the next passed (or cloned) tree here.
    Attach { target: String },
    /// A memory filesystem.
    Tmpfs { target: String, options: String, executable: bool },
    /// A directory, if it is not there yet.
    Directory { path: String, mode: u32 },
    /// A file with this content, replaced if there.
    File { path: String, content: String, mode: u32 },
    /// A symbolic link.
    Link { path: String, target: String },
    /// An overlay: `lower` read-only below (several with colons between them, the topmost first), changes in `upper`.
    Overlay { lower: String, upper: String, work: String, target: String },
    /// A directory or device of the current view at a second place.
    Bind { source: String, target: String },
    /// A device node of the host. The target file is made.
    Device { source: String, target: String },
    /// The processes of this sandbox.
    Proc { target: String },
    /// Terminals of this sandbox.
    Terminals { target: String, options: String },
    /// Hides a file or directory that the inside has no business with. Fine if it does not exist.
    Mask { path: String },
    /// Writes a kernel setting of this sandbox's namespaces.
    Setting { path: String, value: String },
    /// The staged root becomes `/`; the host's is gone.
    Pivot { root: String },
    /// Lowers a resource limit of init and of all that it starts.
    Limit { resource: u32, soft: u64, hard: u64 },
    /// No program can ever have more than these capabilities.
    Capabilities { keep: u64 },
    /// Init keeps what programs may have, and what it needs itself.
    OwnCapabilities { programs: u64 },
    /// No program gains privileges by being executed.
    NoNewPrivileges,
    /// The system call filter.
    Filter { program: Vec<u8> },
}

wire!(enum Step {
    1 => Subreaper,
    2 => OwnCgroupRoot,
    3 => Hostname { name },
    4 => Loopback,
    5 => Private,
    6 => CloneTree { path, read_only },
    7 => Attach { target },
    8 => Tmpfs { target, options, executable },
    9 => Directory { path, mode },
    10 => File { path, content, mode },
    11 => Link { path, target },
    12 => Overlay { lower, upper, work, target },
    13 => Bind { source, target },
    14 => Device { source, target },
    15 => Proc { target },
    16 => Terminals { target, options },
    17 => Mask { path },
    18 => Setting { path, value },
    19 => Pivot { root },
    20 => Capabilities { keep },
    21 => NoNewPrivileges,
    22 => Filter { program },
    23 => Limit { resource, soft, hard },
    24 => OwnCapabilities { programs },
});

/// A mount tree that the launcher prepares and passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// On the host.
    pub path: String,
    /// Never written through.
    pub read_only: bool,
    /// Owners are shown through the sandbox's id map.
    pub idmapped: bool,
}

/// How a sandbox is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// `CLONE_NEW*` flags of the one clone3.
    pub namespaces: u64,
    /// The id map, if there is a user namespace.
    pub ids: Option<IdMap>,
    /// Directories made in the sandbox's storage beforehand, with their modes.
    pub storage: Vec<(String, u32)>,
    /// Trees passed to init with the plan.
    pub sources: Vec<Source>,
    /// What init does before the sandbox has a name. What follows then is [`Plan::closing`].
    pub steps: Vec<Step>,
}

/// Root in a container needs these and no others: own files, own users, own low ports, chroot.
/// Left out on purpose: SYS_ADMIN, SYS_PTRACE, NET_ADMIN, NET_RAW, MKNOD, SYS_RESOURCE, DAC_READ_SEARCH …
const CAPABILITIES: [u32; 12] = [
    0,  // CHOWN
    1,  // DAC_OVERRIDE
    3,  // FOWNER
    4,  // FSETID
    5,  // KILL
    6,  // SETGID
    7,  // SETUID
    8,  // SETPCAP
    10, // NET_BIND_SERVICE
    18, // SYS_CHROOT
    29, // AUDIT_WRITE
    31, // SETFCAP
];

/// Core files would be of no use and could fill the disk, and a handler of the host must not see a crash: with a limit of 1
/// the kernel makes no file and starts no handler; with 0 it would start one (core(5)).
const NO_CORE_DUMPS: Step = Step::Limit { resource: 4, soft: 1, hard: 1 };

/// Pseudo-terminals of one sandbox. The kernel has 3,072 for all that is not the host's own devpts.
const TERMINALS: u32 = 256;

/// Devices that are the same for everybody and carry no state.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Of /proc, what tells about the host or its kernel rather than about the sandbox.
const MASKED: [&str; 8] = ["acpi", "asound", "kcore", "keys", "latency_stats", "sched_debug", "scsi", "timer_list"];

impl Plan {
    /// Commands on the host as it is; only orphans are kept together.
    pub fn unisolated() -> Self {
        let steps = vec![Step::Subreaper, NO_CORE_DUMPS];
        Self { namespaces: 0, ids: None, storage: Vec::new(), sources: Vec::new(), steps }
    }

    /// A full sandbox.
    pub fn isolated(spec: &Spec) -> Self {
        let mut steps = vec![Step::OwnCgroupRoot, Step::Loopback, Step::Private, NO_CORE_DUMPS];
        let limits = spec.quotas.limits.iter();
        steps.extend(limits.map(|&(resource, soft, hard)| Step::Limit { resource, soft, hard }));
        let sources = sources(spec);
        if !spec.privileged {
            steps.extend(
                sources.iter().map(|source| Step::CloneTree { path: source.path.clone(), read_only: source.read_only }),
            );
        }
        stage(spec, &mut steps);
        roots(spec, &mut steps);
        devices(spec, &mut steps);
        kernel_views(&mut steps);
        settings(spec, &mut steps);
        Self {
            namespaces: namespaces(),
            ids: Some(spec.ids),
            storage: storage(spec),
            sources: if spec.privileged { sources } else { Vec::new() },
            steps,
        }
    }

    /// The last steps: the sandbox gets its name, and is closed. Apart, because they are the only ones that a sandbox made
    /// ahead of its time waits with.
    pub fn closing(&self, name: &str) -> Vec<Step> {
        if self.namespaces == 0 {
            return Vec::new();
        }
        let mut steps = vec![Step::Hostname { name: name.to_owned() }];
        identity_files(name, &mut steps);
        confine(&mut steps);
        steps
    }
}

fn namespaces() -> u64 {
    let flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWCGROUP;
    u64::try_from(flags).expect("positive constants")
}

/// Each overlay's upper and work directory, and the two plain directories.
fn storage(spec: &Spec) -> Vec<(String, u32)> {
    let mut dirs = vec![("root".to_owned(), 0o755), ("root.work".to_owned(), 0o700)];
    for name in &spec.system {
        dirs.push((name.clone(), 0o755));
        dirs.push((format!("{name}.work"), 0o700));
    }
    dirs.push(("workspace".to_owned(), 0o1777));
    dirs.push(("tmp".to_owned(), 0o1777));
    dirs
}

fn sources(spec: &Spec) -> Vec<Source> {
    let lower = |path: String| Source { path, read_only: true, idmapped: spec.idmapped };
    let mut sources = vec![
        Source { path: spec.disk.path.to_string_lossy().into_owned(), read_only: false, idmapped: false },
        lower(spec.base.to_string_lossy().into_owned()),
    ];
    sources.extend(spec.system.iter().map(|name| lower(format!("/{name}"))));
    sources
}

fn stage(spec: &Spec, steps: &mut Vec<Step>) {
    steps.push(Step::Tmpfs { target: STAGE.to_owned(), options: "mode=0755,size=1m".to_owned(), executable: true });
    let mut targets = vec![format!("{STAGE}/disk"), format!("{STAGE}/base")];
    targets.extend(spec.system.iter().map(|name| format!("{STAGE}/lower.{name}")));
    for target in targets {
        steps.push(Step::Directory { path: target.clone(), mode: 0o755 });
        steps.push(Step::Attach { target });
    }
    steps.push(Step::Directory { path: format!("{STAGE}/root"), mode: 0o755 });
}

fn roots(spec: &Spec, steps: &mut Vec<Step>) {
    let overlay = |lower: String, name: &str, target: String| Step::Overlay {
        lower,
        upper: format!("{STAGE}/disk/{name}"),
        work: format!("{STAGE}/disk/{name}.work"),
        target,
    };
    steps.push(overlay(format!("{STAGE}/base"), "root", format!("{STAGE}/root")));
    for name in &spec.system {
        let host = format!("{STAGE}/lower.{name}");
        let lower = if spec.added_to.contains(name) { format!("{STAGE}/base/{name}:{host}") } else { host };
        steps.push(overlay(lower, name, format!("{STAGE}/root/{name}")));
    }
    for name in ["workspace", "tmp"] {
        steps.push(Step::Bind { source: format!("{STAGE}/disk/{name}"), target: format!("{STAGE}/root/{name}") });
    }
}

fn devices(spec: &Spec, steps: &mut Vec<Step>) {
    let dev = format!("{STAGE}/root/dev");
    steps.push(Step::Tmpfs { target: dev.clone(), options: "mode=0755,size=1m".to_owned(), executable: false });
    for name in DEVICES {
        steps.push(Step::Device { source: format!("/dev/{name}"), target: format!("{dev}/{name}") });
    }
    steps.push(Step::Directory { path: format!("{dev}/pts"), mode: 0o755 });
    // The group `tty` exists inside only if more than one id is mapped.
    let group = if spec.ids.contains(5) { ",gid=5" } else { "" };
    steps.push(Step::Terminals {
        target: format!("{dev}/pts"),
        options: format!("newinstance,max={TERMINALS},ptmxmode=0666,mode=0620{group}"),
    });
    steps.push(Step::Directory { path: format!("{dev}/shm"), mode: 0o1777 });
    steps.push(Step::Tmpfs {
        target: format!("{dev}/shm"),
        options: "mode=1777,size=1g".to_owned(),
        executable: false,
    });
    let links =
        [("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")];
    for (name, target) in links {
        steps.push(Step::Link { path: format!("{dev}/{name}"), target: target.to_owned() });
    }
}

fn kernel_views(steps: &mut Vec<Step>) {
    let proc = format!("{STAGE}/root/proc");
    steps.push(Step::Proc { target: proc.clone() });
    steps.extend(MASKED.iter().map(|name| Step::Mask { path: format!("{proc}/{name}") }));
}

/// Of a user namespace, as user_namespaces(7) and namespaces(7) have them. No namespace can be made inside, not even by
/// clone3, whose flags no filter can see.
fn settings(spec: &Spec, steps: &mut Vec<Step>) {
    let none = ("max_user_namespaces".to_owned(), 0);
    for (name, value) in std::iter::once(&none).chain(&spec.quotas.settings) {
        steps.push(Step::Setting { path: format!("/proc/sys/user/{name}"), value: value.to_string() });
    }
}

fn identity_files(name: &str, steps: &mut Vec<Step>) {
    let hosts = format!("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 {name}\n");
    let file =
        |path: &str, content: String| Step::File { path: format!("{STAGE}/root/etc/{path}"), content, mode: 0o644 };
    // An earlier life of the sandbox may have removed it.
    steps.push(Step::Directory { path: format!("{STAGE}/root/etc"), mode: 0o755 });
    steps.push(file("hostname", format!("{name}\n")));
    steps.push(file("hosts", hosts));
}

fn confine(steps: &mut Vec<Step>) {
    steps.push(Step::Pivot { root: format!("{STAGE}/root") });
    let keep = CAPABILITIES.iter().fold(0, |mask, number| mask | (1 << number));
    steps.push(Step::Capabilities { keep });
    steps.push(Step::NoNewPrivileges);
    steps.push(Step::OwnCapabilities { programs: keep });
    steps.push(Step::Filter { program: seccomp::baseline().to_bytes() });
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Subreaper => f.write_str("become the reaper of orphans"),
            Self::OwnCgroupRoot => f.write_str("make a cgroup namespace"),
            Self::Hostname { name } => write!(f, "set the host name to {name}"),
            Self::Loopback => f.write_str("bring up loopback"),
            Self::Private => f.write_str("make mounts private"),
            Self::CloneTree { path, .. } => write!(f, "clone the mount of {path}"),
            Self::Attach { target } => write!(f, "attach a mount at {target}"),
            Self::Tmpfs { target, .. } => write!(f, "mount a tmpfs on {target}"),
            Self::Directory { path, .. } => write!(f, "make the directory {path}"),
            Self::File { path, .. } => write!(f, "write {path}"),
            Self::Link { path, .. } => write!(f, "link {path}"),
            Self::Overlay { target, lower, .. } => {
                write!(f, "mount an overlay of {lower} on {target}")
            }
            Self::Bind { source, target } => write!(f, "bind {source} to {target}"),
            Self::Device { source, .. } => write!(f, "give the sandbox {source}"),
            Self::Proc { target } => write!(f, "mount proc on {target}"),
            Self::Terminals { target, .. } => write!(f, "mount devpts on {target}"),
            Self::Mask { path } => write!(f, "mask {path}"),
            Self::Setting { path, value } => write!(f, "write {value} to {path}"),
            Self::Pivot { root } => write!(f, "make {root} the root"),
            Self::Limit { resource, soft, hard } => write!(f, "lower resource limit {resource} to {soft}, {hard}"),
            Self::Capabilities { keep } => write!(f, "limit capabilities to {keep:#x}"),
            Self::OwnCapabilities { programs } => write!(f, "keep init's capabilities for {programs:#x}"),
            Self::NoNewPrivileges => f.write_str("set no_new_privs"),
            Self::Filter { program } => {
                write!(f, "install a filter of {} instructions", program.len() / 8)
            }
        }
    }
}
