use std::fs;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::{Kind, Reach, Stop, Tree};

fn search(pattern: &str) -> Search {
    Search {
        pattern: Pattern { text: pattern.into(), ..Pattern::default() },
        order: Order::Sorted,
        ..Search::default()
    }
}

fn run(search: &Search, root: &Path) -> (Vec<Hit>, Summary) {
    let hits = Mutex::new(Vec::new());
    let tree = Tree::beneath(root.as_os_str().as_bytes(), Reach::Beneath).unwrap();
    let summary = search
        .run(&tree, b".", &Stop::never(), |found| {
            hits.lock().unwrap().extend(found);
            ControlFlow::Continue(())
        })
        .unwrap();
    (hits.into_inner().unwrap(), summary)
}

/// `path:line:role:text`, as a reader would like it.
fn lines(hits: &[Hit]) -> Vec<String> {
    hits.iter()
        .map(|hit| {
            let path = String::from_utf8_lossy(hit.path()).into_owned();
            match hit {
                Hit::Line { line, bytes, role, .. } => {
                    let mark = if *role == Role::Match { ':' } else { '-' };
                    format!("{path}{mark}{line}{mark}{}", String::from_utf8_lossy(bytes).trim_end_matches('\n'))
                }
                Hit::File { matches, .. } => format!("{path} {matches}"),
                Hit::Binary { .. } => format!("{path} binary"),
            }
        })
        .collect()
}

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

#[test]
fn lines_come_with_their_numbers_and_neighbours() {
    let dir = tree(&[("a.txt", "one\ntwo\nthree\nfour\nfive\n"), ("b/c.txt", "two\n")]);
    let asked = Search { before: 1, after: 1, ..search("two|three") };
    let (hits, summary) = run(&asked, dir.path());
    assert_eq!(lines(&hits), ["a.txt-1-one", "a.txt:2:two", "a.txt:3:three", "a.txt-4-four", "b/c.txt:1:two"]);
    assert_eq!((summary.files, summary.files_matched, summary.matches, summary.truncated), (2, 2, 3, None));
    let Hit::Line { offset, spans, .. } = &hits[1] else { panic!("a line") };
    assert_eq!((*offset, spans.as_slice()), (4, &[Span { start: 0, end: 3 }][..]));
}

#[test]
fn a_pattern_is_read_as_it_was_meant() {
    let dir = tree(&[("f", "a.c\nabc\nABC\nabcd\nx(y\n")]);
    let found = |pattern: Pattern| lines(&run(&Search { pattern, ..search("") }, dir.path()).0);
    let text = |text: &str| Pattern { text: text.into(), ..Pattern::default() };
    assert_eq!(found(Pattern { syntax: Syntax::Fixed, ..text("a.c") }), ["f:1:a.c"]);
    assert_eq!(found(Pattern { syntax: Syntax::Fixed, ..text("x(y") }), ["f:5:x(y"]);
    assert_eq!(found(Pattern { words: Words::Whole, ..text("abc") }), ["f:2:abc"]);
    assert_eq!(found(Pattern { case: Case::Insensitive, ..text("ABC") }), ["f:2:abc", "f:3:ABC", "f:4:abcd"]);
    assert_eq!(found(Pattern { case: Case::Smart, ..text("ABC") }), ["f:3:ABC"]);
    assert_eq!(found(Pattern { case: Case::Smart, ..text("^abc$") }), ["f:2:abc", "f:3:ABC"]);
    let across = Pattern { syntax: Syntax::Multiline { dot_all: false }, ..text("abc\\nABC") };
    assert_eq!(found(across), ["f:2:abc\nABC"]);
}

#[test]
fn a_pattern_that_cannot_be_read_is_refused() {
    let dir = tree(&[("f", "")]);
    let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
    for bad in ["(", "", "a\\nb", "\\w{1000}{1000}"] {
        let refused = search(bad).run(&tree, b".", &Stop::never(), |_| ControlFlow::Continue(())).unwrap_err();
        assert_eq!(refused.kind, Kind::Invalid, "{bad}: {refused}");
    }
    let glob = Search { include: vec!["a[".into()], ..search("a") };
    assert_eq!(glob.run(&tree, b".", &Stop::never(), |_| ControlFlow::Continue(())).unwrap_err().kind, Kind::Invalid);
}

#[test]
fn globs_hidden_names_and_ignore_files_choose() {
    let dir = tree(&[
        (".gitignore", "*.log\n!keep.log\n/build/\n"),
        (".git/config", "x\n"),
        ("a.rs", "x\n"),
        ("a.log", "x\n"),
        ("keep.log", "x\n"),
        ("build/out", "x\n"),
        ("sub/build/out", "x\n"),
        (".hidden", "x\n"),
        ("sub/.gitignore", "*.rs\n"),
        ("sub/b.rs", "x\n"),
        ("sub/.ignore", "!b.rs\n"),
    ]);
    let found = |asked: &Search| -> Vec<String> {
        let (hits, _) = run(asked, dir.path());
        hits.iter().map(|hit| String::from_utf8_lossy(hit.path()).into_owned()).collect()
    };
    assert_eq!(found(&search("x")), ["a.rs", "keep.log", "sub/b.rs", "sub/build/out"]);
    assert_eq!(found(&Search { include: vec!["*.rs".into()], ..search("x") }), ["a.rs", "sub/b.rs"]);
    assert_eq!(found(&Search { exclude: vec!["sub".into()], ..search("x") }), ["a.rs", "keep.log"]);
    let all =
        Search { ignored: Ignored::Included, hidden: Hidden::Included, exclude: vec![".git".into()], ..search("x") };
    let expected = [".hidden", "a.log", "a.rs", "build/out", "keep.log", "sub/b.rs", "sub/build/out"];
    assert_eq!(found(&all), expected);
    // From inside the repository, what lies above holds too.
    let (hits, _) = run(&search("x"), &dir.path().join("sub"));
    assert_eq!(lines(&hits), ["b.rs:1:x", "build/out:1:x"]);
}

#[test]
fn limits_are_exact_and_told() {
    let dir = tree(&[]);
    for file in 0..50 {
        fs::write(dir.path().join(format!("f{file}")), "x\n".repeat(10)).unwrap();
    }
    for order in [Order::Found, Order::Sorted] {
        let limits = Limits { matches: 123, ..Limits::default() };
        let (hits, summary) = run(&Search { limits, order, ..search("x") }, dir.path());
        assert_eq!((hits.len(), summary.matches, summary.truncated), (123, 123, Some(Truncated::Matches)));
        let limits = Limits { matches: 500, ..Limits::default() };
        let (hits, summary) = run(&Search { limits, order, ..search("x") }, dir.path());
        assert_eq!((hits.len(), summary.truncated), (500, None), "all of them is not cut");
        let limits = Limits { matches_per_file: Some(2), ..Limits::default() };
        assert_eq!(run(&Search { limits, order, ..search("x") }, dir.path()).0.len(), 100);
        let limits = Limits { bytes: 50, ..Limits::default() };
        let (_, summary) = run(&Search { limits, order, ..search("x") }, dir.path());
        assert_eq!(summary.truncated, Some(Truncated::Bytes));
        let limits = Limits { time: Duration::ZERO, ..Limits::default() };
        let (hits, summary) = run(&Search { limits, order, ..search("x") }, dir.path());
        assert_eq!((hits.len(), summary.truncated), (0, Some(Truncated::Time)));
    }
    let (hits, _) = run(&Search { detail: Detail::Counts, ..search("x") }, dir.path());
    assert_eq!(lines(&hits)[0], "f0 10");
    let (hits, summary) = run(&Search { detail: Detail::Files, ..search("x") }, dir.path());
    assert_eq!((lines(&hits)[0].as_str(), summary.matches), ("f0 1", 50));
}

#[test]
fn who_goes_away_ends_the_search() {
    let dir = tree(&[("a", "x\n"), ("b", "x\n")]);
    let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
    let summary = search("x").run(&tree, b".", &Stop::never(), |_| ControlFlow::Break(())).unwrap();
    assert_eq!((summary.files, summary.truncated), (1, Some(Truncated::Cancelled)));
    let stop = Stop::never();
    stop.ask();
    let summary = search("x").run(&tree, b".", &stop, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((summary.files, summary.truncated), (0, Some(Truncated::Cancelled)));
}

#[test]
fn bytes_that_are_no_text_survive() {
    let dir = tree(&[]);
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"na\xffme\n")), b"x\xff\xfe\r\nx").unwrap();
    fs::write(dir.path().join("nul"), b"x 1\n\0\nx 2\n").unwrap();
    let (hits, _) = run(&search("x"), dir.path());
    let bytes: Vec<_> = hits
        .iter()
        .filter_map(|hit| match hit {
            Hit::Line { bytes, path, .. } if path == b"na\xffme\n" => Some(bytes.as_slice()),
            Hit::Line { .. } | Hit::File { .. } | Hit::Binary { .. } => None,
        })
        .collect();
    assert_eq!(bytes, [&b"x\xff\xfe\r\n"[..], b"x"]);
    let of_nul = |binary| {
        let (hits, _) = run(&Search { binary, include: vec!["nul".into()], ..search("x") }, dir.path());
        lines(&hits)
    };
    assert_eq!(of_nul(Binary::Text), ["nul:1:x 1", "nul:3:x 2"]);
    assert_eq!(of_nul(Binary::Skip), Vec::<String>::new(), "a small file is known to be binary before it is searched");
    assert_eq!(of_nul(Binary::Report).last().unwrap(), "nul binary");
}

#[test]
fn long_lines_are_cut_around_their_match() {
    let dir = tree(&[("long", &format!("{}needle{}\n", "a".repeat(100_000), "b".repeat(100_000)))]);
    let (hits, _) = run(&search("needle"), dir.path());
    let Hit::Line { bytes, spans, cut, .. } = &hits[0] else { panic!("a line") };
    assert_eq!(&bytes[spans[0].start..spans[0].end], b"needle");
    assert_eq!(cut.before + cut.after + u64::try_from(bytes.len()).unwrap(), 200_007);
}

#[test]
fn what_is_no_file_is_never_opened() {
    let dir = tree(&[("a", "x\n")]);
    for name in [".gitignore", ".ignore", "fifo"] {
        let path = dir.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    }
    fs::create_dir(dir.path().join(".git")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero")).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("loop")).unwrap();
    let (hits, summary) = run(&Search { hidden: Hidden::Included, ..search("x") }, dir.path());
    assert_eq!((lines(&hits), summary.troubles), (vec!["a:1:x".to_string()], 0));
    let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
    let refused = search("x").run(&tree, b"fifo", &Stop::never(), |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(refused.kind, Kind::NotRegular);
    let missing = search("x").run(&tree, b"none", &Stop::never(), |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(missing.kind, Kind::NotFound);
}

#[test]
fn a_giant_line_is_trouble_and_not_memory() {
    let dir = tree(&[("a", "x\n")]);
    let file = fs::File::create(dir.path().join("giant")).unwrap();
    file.set_len(5 << 30).unwrap();
    let (hits, summary) = run(&Search { binary: Binary::Text, ..search("x") }, dir.path());
    assert_eq!((hits.len(), summary.troubles), (1, 1));
    assert_eq!(summary.first_troubles[0].kind, Kind::TooLarge);
}

#[test]
fn names_are_found_by_pattern() {
    let dir = tree(&[("src/a.rs", ""), ("src/deep/b.rs", ""), ("c.rs", ""), (".d.rs", ""), ("target/e.rs", "")]);
    let named = |patterns: &[&str], exclude: &[&str]| -> Vec<String> {
        let names = Mutex::new(Vec::new());
        let glob = Glob {
            patterns: patterns.iter().map(|&text| text.into()).collect(),
            exclude: exclude.iter().map(|&text| text.into()).collect(),
            order: Order::Sorted,
            ..Glob::default()
        };
        let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
        let found = glob.run(&tree, b".", &Stop::never(), |found| {
            names.lock().unwrap().extend(found.into_iter().map(|name| String::from_utf8(name.path).unwrap()));
            ControlFlow::Continue(())
        });
        found.unwrap();
        names.into_inner().unwrap()
    };
    assert_eq!(named(&["**/*.rs"], &["target"]), ["c.rs", "src/a.rs", "src/deep/b.rs"]);
    assert_eq!(named(&["*.rs"], &[]), ["c.rs"]);
    assert_eq!(named(&["src/*"], &[]), ["src/a.rs", "src/deep"]);
    assert_eq!(named(&["src/{a,b}.rs", "target/**"], &[]), ["src/a.rs", "target/e.rs"]);
}

#[test]
fn a_directory_that_may_not_be_read_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tree(&[("a/b", "x\n"), ("c", "x\n")]);
    fs::set_permissions(dir.path().join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    let (hits, summary) = run(&search("x"), dir.path());
    if rustix::process::geteuid().is_root() {
        assert_eq!(hits.len(), 2); // root reads everything
    } else {
        assert_eq!((hits.len(), summary.troubles, summary.first_troubles[0].kind), (1, 1, Kind::Denied));
    }
    fs::set_permissions(dir.path().join("a"), fs::Permissions::from_mode(0o700)).unwrap();
}
