//! What the base holds.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use super::{SYSTEM, copy, is_directory, locale};
use crate::sys::identity;

/// Public configuration that programs from the host's /usr rely on. Nothing that may hold a credential: no
/// `environment`, no package manager or git configuration, no keys, no user lists.
const ETC: [&str; 42] = [
    "alternatives",
    "bash.bashrc",
    "bash_completion.d",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "ethertypes",
    "fonts",
    "gai.conf",
    "host.conf",
    "inputrc",
    "java-11-openjdk",
    "java-17-openjdk",
    "java-21-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "login.defs",
    "lsb-release",
    "magic",
    "magic.mime",
    "mime.types",
    "networks",
    "os-release",
    "perl",
    "pki/tls/certs",
    "profile",
    "protocols",
    "python3",
    "redhat-release",
    "rpc",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
    "vim",
    "xml",
];

const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n\
    user:x:1000:1000:user:/home/user:/bin/bash\n\
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "root:x:0:\ntty:x:5:\nuser:x:1000:\nnogroup:x:65534:\n";
const NSSWITCH: &str =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n";
const RESOLV: &str = "# no network: there is nobody to ask\n";

const DIRECTORIES: [(&str, u32); 25] = [
    ("dev", 0o755),
    ("etc", 0o755),
    ("home", 0o755),
    ("home/user", 0o755),
    ("media", 0o755),
    ("mnt", 0o755),
    ("opt", 0o755),
    ("proc", 0o555),
    ("root", 0o700),
    ("run", 0o755),
    ("run/lock", 0o1777),
    ("srv", 0o755),
    ("sys", 0o555),
    ("tmp", 0o1777),
    ("var", 0o755),
    ("var/cache", 0o755),
    ("var/lib", 0o755),
    ("var/lib/dpkg", 0o755),
    ("var/local", 0o755),
    ("var/log", 0o755),
    ("var/mail", 0o755),
    ("var/opt", 0o755),
    ("var/spool", 0o755),
    ("var/tmp", 0o1777),
    ("workspace", 0o1777),
];

/// A number that changes when what is copied changes: sizes and times of the sources, and this program's version.
pub(super) fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    (PASSWD, GROUP, NSSWITCH, RESOLV, ETC, DIRECTORIES).hash(&mut hasher);
    identity::user().hash(&mut hasher);
    for name in ETC {
        if let Ok(found) = Path::new("/etc").join(name).metadata() {
            (name, found.size(), found.mtime(), found.mtime_nsec(), found.mode()).hash(&mut hasher);
        }
    }
    for name in SYSTEM {
        (name, is_directory(name)).hash(&mut hasher);
    }
    locale::fingerprint(&mut hasher);
    hasher.finish()
}

/// Fills a new directory.
pub(super) fn fill(base: &Path) -> io::Result<()> {
    std::fs::create_dir(base)?;
    std::fs::set_permissions(base, PermissionsExt::from_mode(0o755))?;
    for (name, mode) in DIRECTORIES {
        let path = base.join(name);
        std::fs::create_dir(&path)?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode))?;
    }
    symlink("/run", base.join("var/run"))?;
    symlink("/proc/self/mounts", base.join("etc/mtab"))?;
    system_entries(base)?;
    locale::add(base);
    for name in ETC {
        copy::public(&Path::new("/etc").join(name), &base.join("etc").join(name))?;
    }
    for (name, text) in [("passwd", PASSWD), ("group", GROUP), ("nsswitch.conf", NSSWITCH), ("resolv.conf", RESOLV)] {
        let path = base.join("etc").join(name);
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644))?;
    }
    if identity::user() == 0 {
        chown(base.join("home/user"), Some(1000), Some(1000))?;
    }
    Ok(())
}

/// A mount point for each system directory, the same link for each that is a link on the host.
fn system_entries(base: &Path) -> io::Result<()> {
    for name in SYSTEM {
        let host = Path::new("/").join(name);
        if is_directory(name) {
            copy::make_directories(&base.join(name))?;
        } else if let Ok(target) = std::fs::read_link(&host) {
            symlink(target, base.join(name))?;
        }
    }
    Ok(())
}
