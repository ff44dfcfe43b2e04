//! What is mounted, and where this process sits in it.
//!
//! Owns the reading of `/proc/self/mountinfo` and `/proc/self/cgroup` (proc_pid_mountinfo(5),
//! cgroups(7)). Pure: it must not touch the file system, and promises nothing about whether a
//! directory it names can be used.

use std::path::{Path, PathBuf};

use super::limits::Limit;

/// One mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// Where it is mounted.
    pub(super) mount: PathBuf,
    /// The directory of this process's own cgroup, if it is visible below the mount.
    pub(super) own: Option<PathBuf>,
}

/// Every hierarchy that matters here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Mounts {
    pub(super) cgroup2: Option<Hierarchy>,
    pub(super) memory: Option<Hierarchy>,
    pub(super) pids: Option<Hierarchy>,
    pub(super) cpu: Option<Hierarchy>,
}

impl Mounts {
    /// Reads the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`.
    pub(super) fn parse(mountinfo: &str, cgroup: &str) -> Self {
        let mounts = visible(mountinfo.lines().filter_map(Mount::parse).collect());
        let v1 = |controller: &str| {
            let path = own_path(cgroup, |names| names.split(',').any(|name| name == controller));
            best(mounts.iter().filter(|mount| mount.has_v1(controller)), path)
        };
        Self {
            cgroup2: best(mounts.iter().filter(|mount| mount.kind == "cgroup2"), own_path(cgroup, str::is_empty)),
            memory: v1("memory"),
            pids: v1("pids"),
            cpu: v1("cpu"),
        }
    }

    /// The v1 hierarchy of the controller behind `limit`.
    pub(super) fn v1(&self, limit: Limit) -> Option<&Hierarchy> {
        match limit {
            Limit::Memory => self.memory.as_ref(),
            Limit::Pids => self.pids.as_ref(),
            Limit::Cpu => self.cpu.as_ref(),
        }
    }
}

/// One line of mountinfo.
#[derive(Debug)]
struct Mount<'text> {
    /// Which directory of the file system is mounted, as "/" or "/docker/abc".
    root: PathBuf,
    point: PathBuf,
    kind: &'text str,
    options: &'text str,
}

impl<'text> Mount<'text> {
    fn parse(line: &'text str) -> Option<Self> {
        // "36 35 98:0 /root /point rw,noatime shared:1 - type source super,options"
        let (place, what) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        let mut what = what.split(' ');
        let kind = what.next()?;
        Some(Self { root: unescape(root), point: unescape(point), kind, options: what.nth(1).unwrap_or_default() })
    }

    fn has_v1(&self, controller: &str) -> bool {
        self.kind == "cgroup" && self.options.split(',').any(|option| option == controller)
    }

    /// The directory of the cgroup `path`, if this mount shows it.
    ///
    /// In a cgroup namespace both paths are relative to the namespace's root, and what lies above
    /// it starts with "/.." (cgroup_namespaces(7)): then the way from one to the other is unknown.
    fn directory_of(&self, path: &Path) -> Option<PathBuf> {
        if path.starts_with("/..") || self.root.starts_with("/..") {
            return None;
        }
        path.strip_prefix(&self.root).ok().map(|rest| {
            // Joining an empty path would add a slash.
            match rest.as_os_str().is_empty() {
                true => self.point.clone(),
                false => self.point.join(rest),
            }
        })
    }
}

/// Without those that a later mount on the same place hides.
fn visible(mounts: Vec<Mount<'_>>) -> Vec<Mount<'_>> {
    let mut seen: Vec<Mount<'_>> = Vec::new();
    for mount in mounts {
        seen.retain(|earlier| earlier.point != mount.point);
        seen.push(mount);
    }
    seen
}

/// The first mount that shows our own cgroup, or else the first.
fn best<'a>(mounts: impl Iterator<Item = &'a Mount<'a>>, path: Option<PathBuf>) -> Option<Hierarchy> {
    let mut first = None;
    for mount in mounts {
        let own = path.as_deref().and_then(|path| mount.directory_of(path));
        let found = Hierarchy { mount: mount.point.clone(), own };
        if found.own.is_some() {
            return Some(found);
        }
        first.get_or_insert(found);
    }
    first
}

/// The path in the first line of /proc/self/cgroup whose controllers are wanted. Lines are
/// "4:memory:/path"; the one of cgroup2 has no controllers: "0::/path".
fn own_path(cgroup: &str, wanted: impl Fn(&str) -> bool) -> Option<PathBuf> {
    cgroup.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        wanted(controllers).then(|| PathBuf::from(path))
    })
}

/// mountinfo writes space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> PathBuf {
    let marks = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    let plain = marks.iter().fold(text.to_owned(), |text, (mark, plain)| text.replace(mark, plain));
    PathBuf::from(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is expected of one hierarchy: its mount, and our own directory.
    type Expected = Option<(&'static str, Option<&'static str>)>;

    struct Case {
        name: &'static str,
        mountinfo: &'static str,
        cgroup: &'static str,
        /// cgroup2, memory, pids, cpu
        expected: [Expected; 4],
    }

    /// Only cgroup2 is there.
    const fn only(mount: &'static str, own: Option<&'static str>) -> [Expected; 4] {
        [Some((mount, own)), None, None, None]
    }

    const CASES: &[Case] = &[
        Case {
            name: "pure v2, systemd, a service of root",
            mountinfo: "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot",
            cgroup: "0::/system.slice/atoll.service",
            expected: only("/sys/fs/cgroup", Some("/sys/fs/cgroup/system.slice/atoll.service")),
        },
        Case {
            name: "pure v2, a user's session",
            mountinfo: "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n",
            expected: only(
                "/sys/fs/cgroup",
                Some("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope"),
            ),
        },
        Case {
            name: "hybrid, each controller on its own",
            mountinfo: "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
                32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n\
                35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n\
                41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw",
            cgroup: "8:pids:/\n4:memory:/jobs/54\n2:cpuacct:/\n1:cpu:/\n0::/\n",
            expected: [
                Some(("/sys/fs/cgroup/unified", Some("/sys/fs/cgroup/unified"))),
                Some(("/sys/fs/cgroup/memory", Some("/sys/fs/cgroup/memory/jobs/54"))),
                Some(("/sys/fs/cgroup/pids", Some("/sys/fs/cgroup/pids"))),
                Some(("/sys/fs/cgroup/cpu", Some("/sys/fs/cgroup/cpu"))),
            ],
        },
        Case {
            name: "v1 only, cpu and cpuacct together",
            mountinfo: "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n\
                35 31 0:32 / /sys/fs/cgroup/memory rw shared:12 - cgroup cgroup rw,memory\n\
                40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
            cgroup: "4:memory:/user.slice\n3:cpu,cpuacct:/user.slice\n1:name=systemd:/user.slice\n",
            expected: [
                None,
                Some(("/sys/fs/cgroup/memory", Some("/sys/fs/cgroup/memory/user.slice"))),
                None,
                Some(("/sys/fs/cgroup/cpu,cpuacct", Some("/sys/fs/cgroup/cpu,cpuacct/user.slice"))),
            ],
        },
        Case {
            name: "nothing mounted",
            mountinfo: "23 1 0:20 / /sys rw - sysfs sysfs rw\nthis is no line\n",
            cgroup: "0::/\n",
            expected: [None; 4],
        },
        Case {
            name: "container with its own cgroup namespace",
            mountinfo: "900 880 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw",
            cgroup: "0::/\n",
            expected: only("/sys/fs/cgroup", Some("/sys/fs/cgroup")),
        },
        Case {
            name: "container that sees only its part of the host's tree",
            mountinfo: "900 880 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
            cgroup: "4:memory:/docker/abc\n",
            expected: [None, Some(("/sys/fs/cgroup/memory", Some("/sys/fs/cgroup/memory"))), None, None],
        },
        Case {
            name: "container with a mount from outside its namespace",
            mountinfo: "900 880 0:26 /../.. /host/cgroup rw - cgroup2 cgroup rw",
            cgroup: "0::/\n",
            expected: only("/host/cgroup", None),
        },
        Case {
            name: "process that sits outside its namespace's root",
            mountinfo: "900 880 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw",
            cgroup: "0::/../other\n",
            expected: only("/sys/fs/cgroup", None),
        },
        Case {
            name: "hidden by a later mount; a second one shows us; a blank in the path",
            mountinfo: "1 0 0:26 /else /a rw - cgroup2 cgroup rw\n\
                2 0 0:26 / /b rw - cgroup2 cgroup rw\n\
                3 0 0:40 / /b rw - tmpfs tmpfs rw\n\
                4 0 0:26 / /c\\040d rw - cgroup2 cgroup rw",
            cgroup: "0::/x\n",
            expected: only("/c d", Some("/c d/x")),
        },
    ];

    #[test]
    fn every_layout_is_understood() {
        for case in CASES {
            let found = Mounts::parse(case.mountinfo, case.cgroup);
            let found = [found.cgroup2, found.memory, found.pids, found.cpu];
            let expected = case.expected.map(|expected| {
                expected.map(|(mount, own)| Hierarchy { mount: mount.into(), own: own.map(PathBuf::from) })
            });
            assert_eq!(found, expected, "{}", case.name);
        }
    }
}
