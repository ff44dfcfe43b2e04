//! Users by name or number, as the sandbox's own /etc/passwd and /etc/group have them.
//!
//! The files are opened on the inside and read here; what is in them is the sandbox's word about itself only.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;

use atoll_isolation::Isolation;
use atoll_isolation::sys::identity;

use crate::Error;
use crate::shared::Shared;

/// Larger files are not read: a user list is small.
const FILE_MAX: u64 = 1024 * 1024;

pub(crate) const NOT_MAPPED: &str = "without privileges only root exists inside; run Atoll as root to have more users";

/// Who a command runs as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// `None` where the kernel lets nobody set them.
    pub(crate) groups: Option<Vec<u32>>,
    name: Option<String>,
    home: Option<String>,
}

impl User {
    /// What a login would set.
    pub(crate) fn environment(&self, defaults: &mut BTreeMap<OsString, OsString>) {
        if let Some(name) = &self.name {
            defaults.insert("USER".into(), name.into());
            defaults.insert("LOGNAME".into(), name.into());
        }
        if let Some(home) = &self.home {
            defaults.insert("HOME".into(), home.into());
        }
    }
}

/// Finds the user. `None` is root inside, or whoever we are where there is no inside.
pub(crate) async fn resolve(shared: &Shared, wanted: Option<&str>) -> Result<User, Error> {
    let Some(wanted) = wanted else {
        return Ok(default_user(shared));
    };
    let (name, group) = wanted.split_once(':').map_or((wanted, None), |(name, group)| (name, Some(group)));
    let passwd = read_inside(shared, "/etc/passwd").await?;
    let groups = read_inside(shared, "/etc/group").await?;
    let not_found = |hint| Error::UserNotFound { user: wanted.to_owned(), hint };
    let mut user = find_user(&passwd, name).ok_or_else(|| not_found(None))?;
    if let Some(group) = group {
        user.gid = find_group(&groups, group).ok_or_else(|| not_found(None))?;
    }
    // The highest number means "unchanged" to the kernel: it is nobody's.
    let mapped = |id| id != u32::MAX && shared.ids.is_none_or(|ids| ids.contains(id));
    if !mapped(user.uid) || !mapped(user.gid) {
        return Err(not_found(Some(NOT_MAPPED)));
    }
    user.groups = settable(shared).then(|| groups_of(&groups, &user));
    Ok(user)
}

fn default_user(shared: &Shared) -> User {
    let (uid, gid) = match shared.isolation {
        Isolation::Namespaces => (0, 0),
        Isolation::None => (identity::user(), identity::group()),
    };
    User { uid, gid, groups: None, name: None, home: None }
}

/// Groups can be set where ids are a range, and by root on the host itself.
fn settable(shared: &Shared) -> bool {
    match shared.ids {
        Some(ids) => ids.contains(1),
        None => identity::user() == 0,
    }
}

async fn read_inside(shared: &Shared, path: &str) -> Result<String, Error> {
    // Never blocks: init opens nothing but regular files.
    let Ok(fd) = shared.link.read(path.as_bytes()).await? else {
        return Ok(String::new());
    };
    let file = std::fs::File::from(fd);
    let mut bytes = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut bytes).map_err(|error| Error::io("read the sandbox's users", &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn find_user(passwd: &str, wanted: &str) -> Option<User> {
    let number: Option<u32> = wanted.parse().ok();
    let line = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| {
        fields.first() == Some(&wanted)
            || number.is_some_and(|number| fields.get(2) == Some(&number.to_string().as_str()))
    });
    match line {
        Some(fields) => Some(User {
            uid: fields.get(2)?.parse().ok()?,
            gid: fields.get(3)?.parse().ok()?,
            groups: None,
            name: fields.first().map(|name| (*name).to_owned()),
            home: fields.get(5).map(|home| (*home).to_owned()),
        }),
        // A number needs no entry.
        None => number.map(|uid| User { uid, gid: uid, groups: None, name: None, home: Some("/".to_owned()) }),
    }
}

fn find_group(groups: &str, wanted: &str) -> Option<u32> {
    let named =
        groups.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields.first() == Some(&wanted));
    match named {
        Some(fields) => fields.get(2)?.parse().ok(),
        None => wanted.parse().ok(),
    }
}

fn groups_of(groups: &str, user: &User) -> Vec<u32> {
    let Some(name) = &user.name else {
        return Vec::new();
    };
    groups
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .filter(|fields| fields.get(3).is_some_and(|members| members.split(',').any(|member| member == name)))
        .filter_map(|fields| fields.get(2)?.parse().ok())
        .take(64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1001::/home/user:/bin/bash\nbad:x:y:z\n";

    #[test]
    fn users_are_found_by_name_and_number() {
        let user = find_user(PASSWD, "user").unwrap();
        assert_eq!((user.uid, user.gid, user.home.as_deref()), (1000, 1001, Some("/home/user")));
        assert_eq!(find_user(PASSWD, "1000").unwrap().name.as_deref(), Some("user"));
        assert_eq!(find_user(PASSWD, "77").unwrap().uid, 77);
        assert_eq!(find_user(PASSWD, "bad"), None);
        assert_eq!(find_user(PASSWD, "nobody"), None);
    }

    #[test]
    fn supplementary_groups_come_from_the_member_lists() {
        let user = find_user(PASSWD, "user").unwrap();
        assert_eq!(groups_of("a:x:5:root,user\nb:x:6:users\nc:x:7:user", &user), [5, 7]);
        assert_eq!(find_group("tty:x:5:", "tty"), Some(5));
        assert_eq!(find_group("tty:x:5:", "12"), Some(12));
    }
}
