//! What git prints for programs, taken apart. All of it may be anything: none of it is trusted to be there.

use std::time::{Duration, UNIX_EPOCH};

use atoll_protocol::{
    GitAuthor, GitBranch, GitChange, GitCommitInfo, GitPushedRef, GitStatus, GitStatusEntry, Timestamp,
};

/// `git status --porcelain=v2 --branch -z`.
pub(super) fn status(bytes: &[u8]) -> Option<GitStatus> {
    let mut status = GitStatus::default();
    let mut records = bytes.split(|&byte| byte == 0);
    while let Some(record) = records.next() {
        let (kind, rest) = match record.iter().position(|&byte| byte == b' ') {
            Some(blank) => (&record[..blank], &record[blank + 1..]),
            None if record.is_empty() => continue,
            None => return None,
        };
        match kind {
            b"#" => header(&mut status, &String::from_utf8_lossy(rest)),
            b"1" => status.entries.push(changed(rest, 8, None)?),
            b"2" => {
                let from = records.next()?;
                status.entries.push(changed(rest, 9, Some(from))?);
            }
            b"u" => {
                let path = rest.splitn(10, |&byte| byte == b' ').nth(9)?;
                status.entries.push(GitStatusEntry::new(path, None, GitChange::Unmerged, GitChange::Unmerged));
            }
            b"?" => status.entries.push(GitStatusEntry::new(rest, None, GitChange::Unmodified, GitChange::Untracked)),
            b"!" => status.entries.push(GitStatusEntry::new(rest, None, GitChange::Unmodified, GitChange::Ignored)),
            _ => {}
        }
    }
    Some(status)
}

fn header(status: &mut GitStatus, line: &str) {
    let Some((name, value)) = line.split_once(' ') else { return };
    let known = |value: &str, none: &str| (value != none).then(|| value.to_owned());
    match name {
        "branch.oid" => status.commit = known(value, "(initial)"),
        "branch.head" => status.branch = known(value, "(detached)"),
        "branch.upstream" => status.upstream = Some(value.to_owned()),
        "branch.ab" => {
            if let Some((ahead, behind)) = value.split_once(' ') {
                status.ahead = ahead.trim_start_matches('+').parse().ok();
                status.behind = behind.trim_start_matches('-').parse().ok();
            }
        }
        _ => {}
    }
}

/// `XY` and fields, of which the last, number `fields`, is the path.
fn changed(rest: &[u8], fields: usize, from: Option<&[u8]>) -> Option<GitStatusEntry> {
    let mut parts = rest.splitn(fields, |&byte| byte == b' ');
    let [staged, worktree] = parts.next()? else { return None };
    let path = parts.last()?;
    Some(GitStatusEntry::new(path, from, letter(*staged)?, letter(*worktree)?))
}

fn letter(letter: u8) -> Option<GitChange> {
    Some(match letter {
        b'.' => GitChange::Unmodified,
        b'M' => GitChange::Modified,
        b'T' => GitChange::TypeChanged,
        b'A' => GitChange::Added,
        b'D' => GitChange::Deleted,
        b'R' => GitChange::Renamed,
        b'C' => GitChange::Copied,
        b'U' => GitChange::Unmerged,
        _ => return None,
    })
}

/// `for-each-ref`: name, commit, `*`, upstream and where a symbolic one leads, with NULs between; a line each.
pub(super) fn branches(bytes: &[u8]) -> Option<Vec<GitBranch>> {
    let text = String::from_utf8_lossy(bytes);
    let mut found = Vec::new();
    for line in text.lines() {
        let mut fields = line.split('\0');
        let (name, commit, head) = (fields.next()?, fields.next()?, fields.next()?);
        let (upstream, leads) = (fields.next()?, fields.next()?);
        // `origin/HEAD` is another name of a branch that is listed.
        if leads.is_empty() {
            let upstream = (!upstream.is_empty()).then(|| upstream.to_owned());
            found.push(GitBranch { name: name.into(), commit: commit.into(), current: head == "*", upstream });
        }
    }
    Some(found)
}

/// `log -z`: seven fields, each with a NUL behind it.
pub(super) fn log(bytes: &[u8]) -> Option<Vec<GitCommitInfo>> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_suffix('\0').unwrap_or(&text);
    if text.is_empty() {
        return Some(Vec::new());
    }
    let fields: Vec<&str> = text.split('\0').collect();
    fields.chunks(7).map(commit).collect()
}

fn commit(fields: &[&str]) -> Option<GitCommitInfo> {
    let [commit, parents, name, email, time, subject, body] = fields else { return None };
    let seconds = time.parse::<i64>().ok()?;
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))?;
    Some(GitCommitInfo {
        commit: (*commit).to_owned(),
        parents: parents.split_whitespace().map(str::to_owned).collect(),
        author: GitAuthor { name: (*name).to_owned(), email: (*email).to_owned() },
        time: Timestamp::from(time),
        subject: (*subject).to_owned(),
        body: body.trim_end().to_owned(),
    })
}

/// `ls-files --stage -z`: the paths of submodules, whose mode is 160000.
pub(super) fn submodules(bytes: &[u8]) -> Vec<&[u8]> {
    let entries = bytes.split(|&byte| byte == 0).filter(|entry| entry.starts_with(b"160000 "));
    let mut paths: Vec<&[u8]> = entries.filter_map(|entry| entry.splitn(2, |&byte| byte == b'\t').nth(1)).collect();
    // A conflict has an entry for each side.
    paths.dedup();
    paths
}

/// `FETCH_HEAD`: the commits to merge. Each line has a commit, a mark if it is not one of them, and a description.
pub(super) fn to_merge(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| {
        let (commit, rest) = line.split_once('\t')?;
        let wanted =
            rest.starts_with('\t') && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) && !commit.is_empty();
        wanted.then(|| commit.to_owned())
    };
    text.lines().filter_map(line).collect()
}

/// `push --porcelain`: a flag, `from:to` and words, with tabs between.
pub(super) fn pushed(bytes: &[u8]) -> Vec<GitPushedRef> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| {
        let mut fields = line.split('\t');
        let (_, names, summary) = (fields.next()?, fields.next()?, fields.next()?);
        let (from, to) = names.split_once(':')?;
        Some(GitPushedRef { from: from.to_owned(), to: to.to_owned(), summary: summary.to_owned() })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_taken_apart() {
        let told = b"# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -1\0\
            1 .M N... 100644 100644 100644 a b src/a file\0\
            2 R. N... 100644 100644 100644 a b R100 new\0old\0\
            u UU N... 1 2 3 4 h1 h2 h3 both\0? odd\nname\xff\0! target/\0";
        let status = status(told).unwrap();
        assert_eq!((status.branch.as_deref(), status.commit.as_deref()), (Some("main"), Some("abc")));
        assert_eq!((status.upstream.as_deref(), status.ahead, status.behind), (Some("origin/main"), Some(2), Some(1)));
        let paths: Vec<_> =
            status.entries.iter().map(|entry| (entry.path_bytes(), entry.staged, entry.worktree)).collect();
        assert_eq!(
            paths,
            [
                (b"src/a file".to_vec(), GitChange::Unmodified, GitChange::Modified),
                (b"new".to_vec(), GitChange::Renamed, GitChange::Unmodified),
                (b"both".to_vec(), GitChange::Unmerged, GitChange::Unmerged),
                (b"odd\nname\xff".to_vec(), GitChange::Unmodified, GitChange::Untracked),
                (b"target/".to_vec(), GitChange::Unmodified, GitChange::Ignored),
            ]
        );
        assert_eq!(status.entries[1].from.as_deref(), Some("old"));
        assert!(super::status(b"1 x\0").is_none() && super::status(b"nonsense\0").is_none());
    }

    #[test]
    fn submodules_are_found_by_their_mode() {
        let listed = b"100644 aa 0\tfile\x00160000 bb 0\tsub dir\x00160000 cc 2\tx\xff\ty\x00160000 cc 3\tx\xff\ty\0";
        assert_eq!(submodules(listed), [&b"sub dir"[..], b"x\xff\ty"]);
    }

    #[test]
    fn commits_to_merge_are_those_without_a_mark() {
        let fetched =
            b"abc1\t\tbranch 'main' of x\nabc2\tnot-for-merge\tbranch 'other' of x\n-x\t\tbranch\n\t\tbranch\n";
        assert_eq!(to_merge(fetched), ["abc1"]);
    }

    #[test]
    fn a_log_is_taken_apart() {
        let told = b"h2\0h1\0me\0me@x\x001700000000\0second\0more\n\0h1\0\0you\0you@x\x001600000000\0first\0\0";
        let commits = log(told).unwrap();
        assert_eq!((commits.len(), commits[0].body.as_str(), commits[0].parents.len()), (2, "more", 1));
        assert_eq!((commits[1].subject.as_str(), commits[1].parents.len()), ("first", 0));
        assert_eq!(log(b"").unwrap(), []);
        assert!(log(b"a\0b\0").is_none());
    }
}
