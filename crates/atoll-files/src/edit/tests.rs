use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::Reach;

fn once(old: &str, new: &str) -> Edit {
    Edit { old: old.into(), new: new.into(), expected: Expected::Times(1) }
}

fn dir() -> (tempfile::TempDir, Tree) {
    let dir = tempfile::tempdir().unwrap();
    let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
    (dir, tree)
}

#[test]
fn replacements_are_done_in_order_and_told_by_line() {
    let (dir, tree) = dir();
    let path = dir.path().join("f");
    fs::write(&path, "one\ntwo\ntwo\nthree").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let all = Edit { expected: Expected::All, ..once("two", "2") };
    let edited = edit(&tree, b"f", &[once("three", "two"), all], &Condition::Any).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n2\n2\n2");
    assert_eq!(edited.lines, [vec![4], vec![2, 3, 4]]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o751);
    assert_eq!(edited.facts.tag(), Facts::new(&tree.stat(b"f", false).unwrap()).tag());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_count_that_does_not_match_changes_nothing_and_says_where() {
    let (dir, tree) = dir();
    fs::write(dir.path().join("f"), "a\nb a\n\na\n").unwrap();
    let failure = edit(&tree, b"f", &[once("b", "c"), once("a", "x")], &Condition::Any).unwrap_err();
    assert_eq!(failure.kind, Kind::Content);
    assert_eq!(failure.detail, "the old text should be there once, but it was found 3 times, on lines 1, 2, 4");
    assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap(), "a\nb a\n\na\n");
}

#[test]
fn near_misses_are_named() {
    let detail = |text: &str, old: &str| replace(text.as_bytes(), &once(old, "x")).unwrap_err().failure(b"f").detail;
    assert!(detail("a\n\tif x {\n", "    if x {").ends_with("line 2 differs only in blanks"));
    assert!(detail("Hello\n", "hello").ends_with("line 1 differs only in capital letters"));
    assert!(detail("a\r\nb\r\n", "a\nb\n").ends_with("line 1 differs only in its line ends: they are CRLF"));
    let several = detail("0\na\nb\nc\nd\n", "a\nb\nX\nd\n");
    assert!(
        several.ends_with("at line 2, 3 of 4 lines are the same, and line 4 is the first that differs"),
        "{several}"
    );
    assert!(detail("abc\n", "nothing like it").ends_with("it was not found"));
}

#[test]
fn another_state_than_the_one_asked_for_is_refused() {
    let (dir, tree) = dir();
    fs::write(dir.path().join("f"), "a").unwrap();
    let stale = Condition::Tagged { tags: vec!["stale".into()] };
    assert_eq!(edit(&tree, b"f", &[once("a", "b")], &stale).unwrap_err().kind, Kind::Precondition);
    let tag = Facts::new(&tree.stat(b"f", false).unwrap()).tag();
    edit(&tree, b"f", &[once("a", "b")], &Condition::Tagged { tags: vec![tag.clone()] }).unwrap();
    assert_eq!(
        edit(&tree, b"f", &[once("b", "c")], &Condition::Tagged { tags: vec![tag] }).unwrap_err().kind,
        Kind::Precondition
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (dir, tree) = dir();
    fs::write(dir.path().join("f"), "a").unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    let kind = |path: &[u8], edits: &[Edit]| edit(&tree, path, edits, &Condition::Any).unwrap_err().kind;
    assert_eq!(kind(b"f", &[]), Kind::Invalid);
    assert_eq!(kind(b"f", &[once("", "x")]), Kind::Invalid);
    assert_eq!(kind(b"f", &[once("a", "a")]), Kind::Invalid);
    assert_eq!(kind(b"none", &[once("a", "b")]), Kind::NotFound);
    assert_eq!(kind(b"d", &[once("a", "b")]), Kind::IsDirectory);
    let fifo = dir.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(kind(b"fifo", &[once("a", "b")]), Kind::NotRegular);
    let large = fs::File::create(dir.path().join("large")).unwrap();
    large.set_len(5 << 30).unwrap();
    assert_eq!(kind(b"large", &[once("a", "b")]), Kind::TooLarge);
}

#[test]
fn a_link_is_edited_where_it_leads() {
    let (dir, tree) = dir();
    fs::write(dir.path().join("f"), "a").unwrap();
    std::os::unix::fs::symlink("f", dir.path().join("link")).unwrap();
    edit(&tree, b"link", &[once("a", "b")], &Condition::Any).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap(), "b");
    assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_symlink());
}

#[test]
fn of_many_editors_at_once_none_is_lost() {
    let (dir, tree) = dir();
    fs::write(dir.path().join("f"), "0\n").unwrap();
    let rounds = 50;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..rounds {
                    // Each adds a line behind the first; who was overtaken tries again.
                    while let Err(failure) = edit(&tree, b"f", &[once("0\n", "0\nx\n")], &Condition::Any) {
                        assert_eq!(failure.kind, Kind::Precondition, "{failure}");
                    }
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap().lines().count(), 1 + 4 * rounds);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
