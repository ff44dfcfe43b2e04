use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::Reach;

fn dir(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
    (dir, tree)
}

fn patch(tree: &Tree, text: &str) -> Result<Vec<Patched>> {
    apply(tree, b".", text.as_bytes(), Options::default(), &Stop::never())
}

/// Every file of a tree with its text.
fn contents(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.push((name, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()));
            }
        }
    }
    found.sort();
    found
}

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect()
}

#[test]
fn a_diff_over_many_files_is_applied_whole() {
    let (dir, tree) = dir(&[("a.txt", "one\ntwo\nthree\n"), ("gone", "x\n"), ("old name", "1\n2\n3\n")]);
    let text = "some words before\n\
        diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/a.txt\n+++ b/a.txt\n\
        @@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n\
        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/sub/new b/sub/new\nnew file mode 100644\n--- /dev/null\n+++ b/sub/new\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n\
        diff --git a/empty b/empty\nnew file mode 100644\nindex 0..0\n\
        diff --git a/old name b/new name\nsimilarity index 80%\nrename from old name\nrename to new name\n--- a/old name\n+++ b/new name\n@@ -1,3 +1,3 @@\n 1\n-2\n+zwei\n 3\n";
    let told = patch(&tree, text).unwrap();
    let expected = [("a.txt", "one\nzwei\nthree\n"), ("empty", ""), ("new name", "1\nzwei\n3\n"), ("sub/new", "a\nb")];
    assert_eq!(contents(dir.path()), pairs(&expected));
    assert_eq!(fs::metadata(dir.path().join("a.txt")).unwrap().permissions().mode() & 0o111, 0o111);
    let outcomes: Vec<_> = told.iter().map(|file| file.outcome.clone()).collect();
    let renamed = Outcome::Renamed { from: b"old name".to_vec() };
    assert_eq!(outcomes, [Outcome::Changed, Outcome::Deleted, Outcome::Created, Outcome::Created, renamed]);
    assert_eq!((told[0].added, told[0].removed, told[0].hunks[0].line, told[0].hunks[0].offset), (1, 1, 1, 0));
}

#[test]
fn one_hunk_that_does_not_fit_leaves_everything_as_it_was() {
    let files = [("a", "1\n2\n3\n"), ("b", "1\n2\n3\n")];
    let (dir, tree) = dir(&files);
    let text = "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+x\n 3\n--- a/b\n+++ b/b\n@@ -1,3 +1,3 @@\n 1\n-zwei\n+x\n 3\n\
        --- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+n\n";
    let failure = patch(&tree, text).unwrap_err();
    assert_eq!((failure.kind, failure.path.as_slice()), (Kind::Content, &b"b"[..]));
    assert_eq!(failure.detail, "hunk 1 does not fit: line 2 is `2`, but it expects `zwei`");
    assert_eq!(contents(dir.path()), pairs(&files));
    assert!(!dir.path().join("d").exists());
}

#[test]
fn a_late_failure_takes_back_what_was_done() {
    // The last step fails: the file of the third change came to be after it was looked at.
    let files = [("a", "1\n"), ("b", "1\n")];
    let (dir, tree) = dir(&files);
    let (a, b) =
        (crate::stage::Original::open(&tree, b"a").unwrap(), crate::stage::Original::open(&tree, b"b").unwrap());
    let mut stage = crate::stage::Stage::default();
    stage.replace(&tree, b"a", b"new", None, &a).unwrap();
    stage.delete(&tree, b"b", &b).unwrap();
    stage.create(&tree, b"made/for/it", b"new", None, None).unwrap();
    stage.create(&tree, b"c", b"new", None, None).unwrap();
    fs::write(dir.path().join("c"), "somebody else's").unwrap();
    assert_eq!(stage.commit().unwrap_err().kind, Kind::Precondition);
    assert_eq!(contents(dir.path()), pairs(&[("a", "1\n"), ("b", "1\n"), ("c", "somebody else's")]));
    assert!(!dir.path().join("made").exists());
    // A file that changed after it was read is not replaced.
    let mut stage = crate::stage::Stage::default();
    stage.replace(&tree, b"a", b"new", None, &a).unwrap();
    fs::write(dir.path().join("a"), "changed").unwrap();
    assert_eq!(stage.commit().unwrap_err().kind, Kind::Precondition);
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "changed");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn hunks_are_found_nearby_and_the_distance_is_told() {
    let numbered = |from: u32, to: u32| (from..=to).map(|line| format!("{line}\n")).collect::<String>();
    let (dir, tree) = dir(&[("f", &format!("new\nnew\n{}", numbered(1, 20)))]);
    let text = "--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n@@ -15,3 +15,3 @@\n 15\n-16\n+sixteen\n 17\n";
    let told = patch(&tree, text).unwrap();
    let hunks: Vec<_> = told[0].hunks.iter().map(|hunk| (hunk.line, hunk.offset)).collect();
    assert_eq!(hunks, [(7, 2), (17, 2)]);
    let (_dir, tree) = {
        drop(dir);
        super::tests::dir(&[("f", "a\nx\nb\nx\na\n")])
    };
    let twice = patch(&tree, "--- a/f\n+++ b/f\n@@ -3 +3 @@\n-x\n+y\n").unwrap_err();
    assert_eq!(twice.detail, "hunk 1 does not fit: it fits at line 2 as well as at line 4");
}

#[test]
fn context_need_not_fit_if_fuzz_is_asked_for() {
    let text = "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n A\n b\n-c\n+C\n d\n e\n";
    let (dir, tree) = dir(&[("f", "a\nb\nc\nd\ne\n")]);
    assert_eq!(patch(&tree, text).unwrap_err().kind, Kind::Content);
    let options = Options { fuzz: 1, ..Options::default() };
    let told = apply(&tree, b".", text.as_bytes(), options, &Stop::never()).unwrap();
    assert_eq!((told[0].hunks[0].fuzz, contents(dir.path())), (1, pairs(&[("f", "a\nb\nC\nd\ne\n")])));
}

#[test]
fn line_ends_are_part_of_lines() {
    let (dir, tree) = dir(&[("crlf", "a\r\nb\r\n"), ("open", "a\nb")]);
    let wrong = patch(&tree, "--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap_err();
    assert!(
        wrong.detail.contains("the file's lines end in CRLF, the patch's in LF")
            || wrong.detail.contains("none of its lines"),
        "{wrong}"
    );
    patch(&tree, "--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n").unwrap();
    let closed = patch(&tree, "--- a/open\n+++ b/open\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap_err();
    assert_eq!(closed.detail, "hunk 1 does not fit: line 2 is `b` without a line end, but it expects `b`");
    let text = "--- a/open\n+++ b/open\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n";
    patch(&tree, text).unwrap();
    assert_eq!(contents(dir.path()), pairs(&[("crlf", "a\r\nc\r\n"), ("open", "a\nc\n")]));
}

#[test]
fn patches_that_cannot_be_are_refused() {
    let (_dir, tree) = dir(&[("f", "a\n"), ("full", "a\nb\n")]);
    std::os::unix::fs::symlink("f", _dir.path().join("link")).unwrap();
    let kind = |text: &str| patch(&tree, text).unwrap_err();
    for (text, expected, words) in [
        ("nothing\n", Kind::Content, "names no file"),
        ("--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n", Kind::Escapes, "outside"),
        ("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", Kind::Escapes, "outside"),
        ("--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n", Kind::NotFound, "not there"),
        ("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n", Kind::Exists, "already"),
        ("--- a/full\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", Kind::Content, "not all of its lines"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n", Kind::Content, "ends before"),
        ("--- a/f\n+++ b/f\n@@ -x +1 @@\n-a\n", Kind::Content, "cannot be read"),
        ("--- a/link\n+++ b/link\n@@ -1 +1 @@\n-a\n+b\n", Kind::NotRegular, "link"),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            Kind::Content,
            "symbolic link",
        ),
        ("diff --git a/f b/f\nBinary files a/f and b/f differ\n", Kind::Content, "binary"),
        ("*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", Kind::Content, "End Patch"),
        ("*** Begin Patch\n*** Frobnicate: f\n*** End Patch\n", Kind::Content, "line 2"),
        ("*** Begin Patch\n*** Add File: /etc/evil\n+x\n*** End Patch\n", Kind::Escapes, "outside"),
    ] {
        let failure = kind(text);
        assert_eq!(failure.kind, expected, "{text}: {failure}");
        assert!(failure.detail.contains(words), "{text}: {failure}");
    }
}

#[test]
fn what_agents_write_is_understood() {
    let python = "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n";
    let (dir, tree) =
        dir(&[("a.py", python), ("gone", "x\n"), ("move", "m\nn\n"), ("crlf", "a\r\nb\r\n"), ("open", "last")]);
    let text = "*** Begin Patch\n\
        *** Update File: a.py\n@@ class B:\n@@     def f(self):\n-        return 1\n+        return 2\n\
        *** Add File: new/file.txt\n+hello\n+\n+world\n\
        *** Delete File: gone\n\
        *** Update File: move\n*** Move to: moved\n@@\n m\n-n\n+o\n*** End of File\n\
        *** Update File: crlf\n@@\n a\n-b\n+c\n\
        *** Update File: open\n@@\n last\n+more\n\
        *** End Patch\n";
    let told = patch(&tree, text).unwrap();
    let expected = [
        ("a.py", "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 2\n"),
        ("crlf", "a\r\nc\r\n"),
        ("moved", "m\no\n"),
        ("new/file.txt", "hello\n\nworld\n"),
        ("open", "last\nmore\n"),
    ];
    assert_eq!(contents(dir.path()), pairs(&expected));
    assert_eq!(told.len(), 6);
}

#[test]
fn blanks_of_a_model_do_not_matter_and_the_files_own_are_kept() {
    let (dir, tree) = dir(&[("f", "\tone  \n\ttwo\n\tthree – “x”\n")]);
    let text =
        "<<'EOF'\n*** Begin Patch \n*** Update File: f\n@@\n one\n-two\n+    2\n three - \"x\"\n*** End Patch\nEOF\n";
    let told = patch(&tree, text).unwrap();
    assert_eq!(contents(dir.path()), pairs(&[("f", "\tone  \n    2\n\tthree – “x”\n")]));
    assert_eq!(told[0].hunks[0].looseness, Looseness::Punctuation);
    let unfit = patch(&tree, "*** Begin Patch\n*** Update File: f\n@@ nowhere\n-x\n*** End Patch").unwrap_err();
    assert_eq!(unfit.detail, "hunk 1 does not fit: no line after line 0 is `nowhere`");
}

#[test]
fn a_dry_run_changes_nothing() {
    let (dir, tree) = dir(&[("f", "a\n")]);
    let options = Options { dry_run: true, ..Options::default() };
    let text = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/x/y\n@@ -0,0 +1 @@\n+b\n";
    assert_eq!(apply(&tree, b".", text, options, &Stop::never()).unwrap().len(), 2);
    assert_eq!(contents(dir.path()), pairs(&[("f", "a\n")]));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A small generator of numbers, so that a failure can be played again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "git is the measure of what a diff means")]
fn what_git_makes_is_what_is_applied() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("SKIP what_git_makes_is_what_is_applied: there is no git");
        return;
    }
    for seed in 1..40 {
        let mut dice = Dice(seed * 7919);
        let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for file in 0..4 {
            let name = format!("f {file}\"é");
            let mut lines: Vec<String> = (0..dice.roll(60)).map(|_| format!("line {}", dice.roll(9))).collect();
            let joined = |lines: &[String], end: bool| {
                let mut text = lines.join("\n");
                if end && !text.is_empty() {
                    text.push('\n');
                }
                text
            };
            if dice.roll(5) > 0 {
                fs::write(before.path().join(&name), joined(&lines, dice.roll(3) > 0)).unwrap();
            }
            for _ in 0..dice.roll(6) {
                let at = usize::try_from(dice.roll(u64::try_from(lines.len()).unwrap() + 1)).unwrap();
                match dice.roll(3) {
                    0 if at < lines.len() => drop(lines.remove(at)),
                    1 if at < lines.len() => lines[at] = format!("changed {}", dice.roll(9)),
                    _ => lines.insert(at, format!("new {}", dice.roll(9))),
                }
            }
            if dice.roll(5) > 0 {
                fs::write(after.path().join(&name), joined(&lines, dice.roll(3) > 0)).unwrap();
            }
        }
        let git = |arguments: &[&str]| {
            let output = Command::new("git")
                .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.hooksPath=/dev/null"])
                .args(arguments)
                .current_dir(before.path())
                .output()
                .unwrap();
            output.stdout
        };
        git(&["init", "-q"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "--allow-empty", "-m", "before"]);
        let worktree = format!("--work-tree={}", after.path().display());
        git(&[&worktree, "add", "-A"]);
        let diff = git(&["diff", "--cached", "-M", "--src-prefix=a/", "--dst-prefix=b/", "HEAD"]);
        git(&["reset", "-q", "--hard"]);
        fs::remove_dir_all(before.path().join(".git")).unwrap();
        if diff.is_empty() {
            continue;
        }
        let tree = Tree::beneath(before.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
        apply(&tree, b".", &diff, Options::default(), &Stop::never())
            .unwrap_or_else(|failure| panic!("seed {seed}: {failure}\n{}", String::from_utf8_lossy(&diff)));
        assert_eq!(contents(before.path()), contents(after.path()), "seed {seed}");
    }
}
