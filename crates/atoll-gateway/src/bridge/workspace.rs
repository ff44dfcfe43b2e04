//! The workspace and paths in it. Like a bridge, this checks paths as they are written, without resolving links: a
//! link's target is inside the sandbox as well.

/// The root directory that a bridge exposes.
pub(super) const ROOT: &str = "/workspace";

/// Normalizes a path. Returns `None` if it is outside of the workspace. Relative paths start in the workspace.
pub(super) fn resolved(path: &[u8]) -> Option<Vec<u8>> {
    let mut names: Vec<&[u8]> = Vec::new();
    if !path.starts_with(b"/") {
        names.push(&ROOT.as_bytes()[1..]);
    }
    for name in path.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let is_inside = names.first().is_some_and(|first| *first == &ROOT.as_bytes()[1..]);
    is_inside.then(|| [b"/", names.join(&b'/').as_slice()].concat())
}

/// Returns the glob for exactly this path below the root, and everything below it. `None` if it is not such a path.
pub(super) fn glob(relative: &str) -> Option<String> {
    let names: Vec<&str> = relative.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if names.is_empty() || names.contains(&"..") {
        return None;
    }
    let is_plain = |letter: &char| letter.is_alphanumeric() || "/._-".contains(*letter);
    let escaped = |letter: char| if is_plain(&letter) { letter.to_string() } else { format!("\\{letter}") };
    Some(format!("/{}", names.join("/").chars().map(escaped).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<String> {
        resolved(path.as_bytes()).map(|path| String::from_utf8(path).unwrap())
    }

    #[test]
    fn paths_are_confined_to_the_workspace() {
        for (path, leads) in [
            ("/workspace", "/workspace"),
            ("/workspace/a//b/./c", "/workspace/a/b/c"),
            ("src", "/workspace/src"),
            ("", "/workspace"),
            ("/workspace/a/../b", "/workspace/b"),
            ("/etc/../workspace/a", "/workspace/a"),
            ("../workspace/a", "/workspace/a"),
        ] {
            assert_eq!(of(path).as_deref(), Some(leads), "{path}");
        }
        for path in
            ["/", "/etc/passwd", "/workspacefoo", "/workspace/..", "/workspace/../etc", "..", "../x", "a/../../x"]
        {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn glob_matches_one_path() {
        assert_eq!(glob("./build/out").as_deref(), Some("/build/out"));
        assert_eq!(glob("a*[b]!#").as_deref(), Some(r"/a\*\[b\]\!\#"));
        for relative in ["", ".", "./", "..", "a/../b"] {
            assert_eq!(glob(relative), None, "{relative}");
        }
    }
}
