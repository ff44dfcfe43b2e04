use std::fs;
use std::ops::ControlFlow;
use std::sync::Mutex;

use rustix::fs::{CWD, Mode, OFlags};

use super::*;

struct Collect<'a>(&'a Mutex<Vec<String>>);

impl Visitor for Collect<'_> {
    fn entry(&mut self, entry: &Entry<'_>) -> ControlFlow<()> {
        self.0.lock().unwrap().push(String::from_utf8_lossy(entry.path).into_owned());
        ControlFlow::Continue(())
    }
}

fn walk(root: &std::path::Path, order: Order, depth: usize) -> (Vec<String>, u64) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::openat(CWD, root, flags, Mode::empty()).unwrap();
    let choice = Choice::new(&[], &[], Hidden::Included, Ignored::Included).unwrap();
    let (troubles, found, stop) = (Troubles::default(), Mutex::new(Vec::new()), Stop::never());
    Walk { root, choice: &choice, order, depth, stop: &stop, troubles: &troubles }.run(|| Collect(&found));
    (found.into_inner().unwrap(), troubles.into_told().0)
}

#[test]
fn every_entry_is_seen_once_in_either_order() {
    let dir = tempfile::tempdir().unwrap();
    let mut made = Vec::new();
    for a in 0..20 {
        for b in 0..20 {
            let path = format!("d{a}/e{b}");
            fs::create_dir_all(dir.path().join(&path)).unwrap();
            for c in 0..5 {
                fs::write(dir.path().join(&path).join(format!("f{c}")), "").unwrap();
                made.push(format!("{path}/f{c}"));
            }
            made.push(path);
        }
        made.push(format!("d{a}"));
    }
    fs::create_dir(dir.path().join("wide")).unwrap();
    made.push("wide".into());
    for a in 0..2000 {
        fs::write(dir.path().join(format!("wide/a-rather-long-name-{a}")), "").unwrap();
        made.push(format!("wide/a-rather-long-name-{a}"));
    }
    made.sort();
    let (mut found, _) = walk(dir.path(), Order::Found, MAX_DEPTH);
    found.sort();
    assert_eq!(found, made);
    let (found, _) = walk(dir.path(), Order::Sorted, MAX_DEPTH);
    let (mut again, _) = walk(dir.path(), Order::Sorted, MAX_DEPTH);
    assert_eq!(found, again, "the same order each time");
    again.sort();
    assert_eq!(again, made);
}

#[test]
fn depth_is_a_choice_and_too_deep_is_trouble() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
    for order in [Order::Found, Order::Sorted] {
        assert_eq!(walk(dir.path(), order, 2), (vec!["a".to_string(), "a/b".to_string()], 0));
    }
    // Deeper than a path can be: made one level at a time.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::fs::openat(CWD, dir.path(), flags, Mode::empty()).unwrap();
    for _ in 0..MAX_DEPTH + 20 {
        rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, "d", flags, Mode::empty()).unwrap();
    }
    for order in [Order::Found, Order::Sorted] {
        let (found, troubles) = walk(dir.path(), order, MAX_DEPTH);
        assert_eq!((found.len() > MAX_DEPTH, troubles), (true, 1));
    }
}
