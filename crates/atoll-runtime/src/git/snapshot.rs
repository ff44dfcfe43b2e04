//! The configuration file of a private git directory: what a fetch or a push needs of the checked keys, written anew.
//!
//! Fetches and pushes read this file instead of the repository's own (`script::TRANSFER`). So a change to the repository
//! after its configuration was checked cannot reach the git that is given credentials.

use super::config::{Config, Entry};

/// Renders the entries that matter to a transfer. `head` is the first line of `HEAD`: it selects the branch.
pub(super) fn render(config: &Config, head: &[u8]) -> Vec<u8> {
    let branch = head.strip_prefix(b"ref: refs/heads/");
    let mut file = Vec::new();
    for entry in config.0.iter().filter(|entry| matters(entry, branch)) {
        file.extend_from_slice(b"[");
        file.extend_from_slice(&entry.section);
        if let Some(subsection) = &entry.subsection {
            file.extend_from_slice(b" ");
            quote(&mut file, subsection);
        }
        file.extend_from_slice(b"]\n\t");
        file.extend_from_slice(&entry.name);
        if let Some(value) = &entry.value {
            file.extend_from_slice(b" = ");
            quote(&mut file, value);
        }
        file.push(b'\n');
    }
    file
}

fn matters(entry: &Entry, branch: Option<&[u8]>) -> bool {
    match (entry.section.as_slice(), entry.subsection.as_deref()) {
        (b"core", None) => {
            let names: [&[u8]; 4] = [b"repositoryformatversion", b"bare", b"logallrefupdates", b"sharedrepository"];
            names.contains(&entry.name.as_slice())
        }
        (b"extensions", None) => entry.name == b"objectformat" || entry.name == b"refstorage",
        (b"branch", Some(name)) => Some(name) == branch,
        (b"remote", Some(_)) | (b"user" | b"committer" | b"fetch" | b"push", None) => true,
        (b"http", None) => entry.name == b"postbuffer",
        _ => false,
    }
}

/// Quotes a subsection or a value. See "Syntax" in git-config(1).
fn quote(file: &mut Vec<u8>, text: &[u8]) {
    file.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => file.extend_from_slice(&[b'\\', byte]),
            b'\n' => file.extend_from_slice(b"\\n"),
            byte => file.push(byte),
        }
    }
    file.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_has_the_remotes_and_the_branch_and_nothing_else() {
        let listed = b"core.bare\nfalse\0core.worktree\n/\0core.hookspath\n/x\0extensions.worktreeconfig\ntrue\0\
            remote.a\"]\\b.url\nhttps://x/\"y\nz\0branch.main.remote\na\0branch.other.remote\nb\0user.useconfigonly\0";
        let file = render(&Config::parse(listed).unwrap(), b"ref: refs/heads/main");
        let expected = "[core]\n\tbare = \"false\"\n[remote \"a\\\"]\\\\b\"]\n\turl = \"https://x/\\\"y\\nz\"\n\
            [branch \"main\"]\n\tremote = \"a\"\n[user]\n\tuseconfigonly\n";
        assert_eq!(String::from_utf8(file).unwrap(), expected);
    }
}
