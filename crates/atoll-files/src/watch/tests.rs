use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use super::*;
use crate::{Kind, Reach};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a reader of events believes to be there: path and whether it is a directory.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Replay {
    there: BTreeMap<Vec<u8>, bool>,
    overflows: usize,
    settled: bool,
    gone: bool,
    seen: Vec<Event>,
}

impl Replay {
    fn play(&mut self, event: &Event) {
        match &event.change {
            Change::Created => drop(self.there.insert(event.path.clone(), event.directory)),
            Change::Modified | Change::Attributes => {}
            Change::Removed => self.remove(&event.path),
            Change::Renamed { from } => {
                self.remove(&event.path);
                let moved: Vec<_> = self.below(from).collect();
                for path in moved {
                    if let Some(kind) = self.there.remove(&path) {
                        self.there.insert([&event.path[..], &path[from.len()..]].concat(), kind);
                    }
                }
                self.there.insert(event.path.clone(), event.directory);
            }
            Change::Overflow => {
                self.there.clear();
                self.overflows += 1;
            }
            Change::Settled => self.settled = true,
            Change::Gone => self.gone = true,
        }
        if self.seen.len() < 10_000 {
            self.seen.push(event.clone());
        }
    }

    fn below(&self, path: &[u8]) -> impl Iterator<Item = Vec<u8>> + use<> {
        let inside = [path, b"/"].concat();
        let path = path.to_vec();
        let found: Vec<Vec<u8>> = self
            .there
            .range(path.clone()..)
            .take_while(|(other, _)| other.starts_with(&path))
            .filter(|(other, _)| **other == path || other.starts_with(&inside))
            .map(|(other, _)| other.clone())
            .collect();
        found.into_iter()
    }

    fn remove(&mut self, path: &[u8]) {
        for gone in self.below(path).collect::<Vec<_>>() {
            self.there.remove(&gone);
        }
    }

    /// `+path`, `-path`, `~path`, `old>new`.
    fn words(&self) -> Vec<String> {
        let text = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        self.seen
            .iter()
            .filter_map(|event| match &event.change {
                Change::Created => Some(format!("+{}", text(&event.path))),
                Change::Modified => Some(format!("~{}", text(&event.path))),
                Change::Removed => Some(format!("-{}", text(&event.path))),
                Change::Renamed { from } => Some(format!("{}>{}", text(from), text(&event.path))),
                Change::Attributes | Change::Overflow | Change::Settled | Change::Gone => None,
            })
            .collect()
    }
}

fn truth(root: &Path) -> BTreeMap<Vec<u8>, bool> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let is_directory = entry.file_type().unwrap().is_dir();
            let path = entry.path();
            found.insert(path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec(), is_directory);
            if is_directory {
                open.push(path);
            }
        }
    }
    found
}

/// A watch in a thread of its own, and what it told.
struct Watching {
    replay: Mutex<Replay>,
    changed: Condvar,
    stop: Stop,
}

impl Watching {
    fn until(&self, what: &str, mut enough: impl FnMut(&Replay) -> bool) -> Replay {
        let deadline = Instant::now() + PATIENCE;
        let mut replay = self.replay.lock().unwrap();
        while !enough(&replay) {
            assert!(Instant::now() < deadline, "{what} never came: {:?}", replay.words());
            replay = self.changed.wait_timeout(replay, Duration::from_millis(100)).unwrap().0;
        }
        replay.clone()
    }
}

/// Runs `act` while the directory is watched, and gives how the watch ended.
fn watching(watch: &Watch, root: &Path, act: impl FnOnce(&Watching)) -> Result<()> {
    let shared = Watching { replay: Mutex::new(Replay::default()), changed: Condvar::new(), stop: Stop::never() };
    let tree = Tree::beneath(root.as_os_str().as_bytes(), Reach::Beneath).unwrap();
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            watch.run(&tree, b".", &shared.stop, None, |events| {
                let mut replay = shared.replay.lock().unwrap();
                events.iter().for_each(|event| replay.play(event));
                shared.changed.notify_all();
                ControlFlow::Continue(())
            })
        });
        // Whatever fails, the watcher must end, or the scope never does.
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            if !watcher.is_finished() {
                act(&shared);
            }
        }));
        shared.stop.ask();
        let ended = watcher.join().unwrap();
        if let Err(panic) = acted {
            std::panic::resume_unwind(panic);
        }
        ended
    })
}

fn settled(watching: &Watching) {
    watching.until("the beginning", |replay| replay.settled);
}

#[test]
fn a_file_in_a_path_made_at_once_is_not_lost() {
    for round in 0..50 {
        let dir = tempfile::tempdir().unwrap();
        watching(&Watch::default(), dir.path(), |watching| {
            settled(watching);
            fs::create_dir_all(dir.path().join("a/b/c/d")).unwrap();
            fs::write(dir.path().join("a/b/c/d/file"), format!("{round}")).unwrap();
            watching.until("the file", |replay| replay.there.contains_key(&b"a/b/c/d/file"[..]));
        })
        .unwrap();
    }
}

#[test]
fn both_halves_of_a_rename_are_one_event() {
    let dir = tempfile::tempdir().unwrap();
    for path in ["a/b", "c"] {
        fs::create_dir_all(dir.path().join(path)).unwrap();
    }
    fs::write(dir.path().join("a/f"), "").unwrap();
    watching(&Watch { existing: true, ..Watch::default() }, dir.path(), |watching| {
        settled(watching);
        let rename = |from: &str, to: &str| fs::rename(dir.path().join(from), dir.path().join(to)).unwrap();
        rename("a/f", "c/g");
        rename("a/b", "c/b");
        rename("c", "d");
        fs::write(dir.path().join("d/b/new"), "").unwrap();
        let replay = watching.until("the last", |replay| replay.there.contains_key(&b"d/b/new"[..]));
        let words = replay.words();
        for expected in ["a/f>c/g", "a/b>c/b", "c>d", "+d/b/new"] {
            assert!(words.iter().any(|word| word == expected), "{expected}: {words:?}");
        }
        assert_eq!(replay.there, truth(dir.path()));
    })
    .unwrap();
}

#[test]
fn trees_that_come_and_go_are_told_whole() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir_all(elsewhere.path().join("tree/x/y")).unwrap();
    fs::write(elsewhere.path().join("tree/x/y/f"), "").unwrap();
    watching(&Watch::default(), dir.path(), |watching| {
        settled(watching);
        fs::rename(elsewhere.path().join("tree"), dir.path().join("in")).unwrap();
        watching.until("the tree", |replay| replay.there.contains_key(&b"in/x/y/f"[..]));
        fs::rename(dir.path().join("in/x"), elsewhere.path().join("out")).unwrap();
        watching.until("its end", |replay| !replay.there.contains_key(&b"in/x/y/f"[..]));
        // What happens outside is not told.
        fs::write(elsewhere.path().join("out/y/secret"), "").unwrap();
        fs::write(dir.path().join("last"), "").unwrap();
        let replay = watching.until("the last", |replay| replay.there.contains_key(&b"last"[..]));
        assert_eq!(replay.there, truth(dir.path()));
        assert!(!replay.words().iter().any(|word| word.contains("secret")));
    })
    .unwrap();
}

#[test]
fn changes_are_told_apart() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), "").unwrap();
    watching(&Watch::default(), dir.path(), |watching| {
        settled(watching);
        fs::write(dir.path().join("f"), "x").unwrap();
        watching.until("the write", |replay| replay.words().contains(&"~f".into()));
        fs::set_permissions(dir.path().join("f"), fs::Permissions::from_mode(0o600)).unwrap();
        watching.until("the mode", |replay| replay.seen.iter().any(|event| event.change == Change::Attributes));
        fs::remove_file(dir.path().join("f")).unwrap();
        watching.until("the end", |replay| replay.words().contains(&"-f".into()));
    })
    .unwrap();
}

#[test]
fn globs_choose_and_a_flat_watch_stays_flat() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("node_modules/x")).unwrap();
    let watch = Watch { include: vec!["*.rs".into()], exclude: vec!["node_modules".into()], ..Watch::default() };
    watching(&watch, dir.path(), |watching| {
        settled(watching);
        for path in ["node_modules/x/a.rs", "b.txt", "c.rs"] {
            fs::write(dir.path().join(path), "").unwrap();
        }
        fs::rename(dir.path().join("b.txt"), dir.path().join("d.rs")).unwrap();
        fs::rename(dir.path().join("c.rs"), dir.path().join("c.txt")).unwrap();
        let replay = watching.until("the rename", |replay| replay.words().contains(&"-c.rs".into()));
        let mut words = replay.words();
        words.retain(|word| !word.starts_with('~'));
        assert_eq!(words, ["+c.rs", "+d.rs", "-c.rs"]);
    })
    .unwrap();
    let flat = Watch { recursive: false, ..Watch::default() };
    watching(&flat, dir.path(), |watching| {
        settled(watching);
        fs::create_dir(dir.path().join("new")).unwrap();
        fs::write(dir.path().join("new/inside"), "").unwrap();
        fs::write(dir.path().join("last"), "").unwrap();
        let replay = watching.until("the last", |replay| replay.there.contains_key(&b"last"[..]));
        assert!(!replay.words().iter().any(|word| word.contains("inside")));
    })
    .unwrap();
}

#[test]
fn a_root_that_goes_ends_the_watch() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    for end in ["remove", "rename"] {
        fs::create_dir(&root).unwrap();
        watching(&Watch::default(), &root, |watching| {
            settled(watching);
            match end {
                "remove" => fs::remove_dir(&root).unwrap(),
                _ => fs::rename(&root, dir.path().join("other")).unwrap(),
            }
            watching.until("the end", |replay| replay.gone);
        })
        .unwrap();
    }
}

#[test]
fn too_many_directories_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..20 {
        fs::create_dir(dir.path().join(format!("d{number}"))).unwrap();
    }
    let watch = Watch { directories: 10, ..Watch::default() };
    let failure = watching(&watch, dir.path(), |_| {}).unwrap_err();
    assert!(failure.kind == Kind::Limit && failure.detail.contains("more than 10 directories"), "{failure}");
}

/// A small generator of numbers, so that a failure can be played again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides).unwrap()).unwrap()
    }

    /// A path of a few levels, from few names, so that they clash.
    fn path(&mut self, root: &Path) -> PathBuf {
        let mut path = root.to_path_buf();
        for _ in 0..=self.roll(4) {
            path.push(["a", "b", "c", "d", "e"][self.roll(5)]);
        }
        path
    }
}

fn act(dice: &mut Dice, root: &Path) {
    let path = dice.path(root);
    match dice.roll(10) {
        0..=2 => drop(fs::write(&path, "x")),
        3 | 4 => drop(fs::create_dir_all(&path)),
        5 => {
            fs::create_dir_all(&path).ok();
            fs::write(path.join("f"), "x").ok();
        }
        6 | 7 => drop(fs::rename(&path, dice.path(root))),
        8 => drop(fs::remove_file(&path)),
        _ => {
            if dice.roll(3) == 0 {
                fs::remove_dir_all(&path).ok();
            }
        }
    }
}

#[test]
fn a_storm_is_played_back_exactly() {
    let actions: usize = std::env::var("ATOLL_WATCH_STORM").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let seed: u64 = std::env::var("ATOLL_WATCH_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(88_172_645);
    let dir = tempfile::tempdir().unwrap();
    watching(&Watch { existing: true, ..Watch::default() }, dir.path(), |watching| {
        settled(watching);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let root = dir.path();
                scope.spawn(move || {
                    let mut dice = Dice(seed + thread * 7919);
                    for _ in 0..actions / 4 {
                        act(&mut dice, root);
                    }
                });
            }
        });
        fs::write(dir.path().join("the-last"), "").unwrap();
        let expected = truth(dir.path());
        let deadline = Instant::now() + PATIENCE;
        let mut replay = watching.until("the last", |replay| replay.there.contains_key(&b"the-last"[..]));
        while replay.there != expected {
            if Instant::now() > deadline {
                let missing: Vec<_> =
                    expected.iter().filter(|(path, kind)| replay.there.get(*path) != Some(kind)).collect();
                let extra: Vec<_> =
                    replay.there.iter().filter(|(path, kind)| expected.get(*path) != Some(kind)).collect();
                panic!("seed {seed}: missing {missing:?}, extra {extra:?} after {} overflows", replay.overflows);
            }
            std::thread::yield_now();
            replay = watching.replay.lock().unwrap().clone();
        }
        eprintln!("{actions} actions, {} overflows, {} left", replay.overflows, expected.len());
    })
    .unwrap();
}

#[test]
fn more_than_the_kernel_keeps_is_told_and_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let released = std::sync::atomic::AtomicBool::new(false);
    let replay = Mutex::new(Replay::default());
    let tree = Tree::beneath(dir.path().as_os_str().as_bytes(), Reach::Beneath).unwrap();
    let (stop, watch) = (Stop::never(), Watch::default());
    let wait = |what: &str, enough: &dyn Fn(&Replay) -> bool| {
        let deadline = Instant::now() + PATIENCE;
        while !enough(&replay.lock().unwrap()) {
            assert!(Instant::now() < deadline, "{what} never came");
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            watch.run(&tree, b".", &stop, None, |events| {
                events.iter().for_each(|event| replay.lock().unwrap().play(event));
                // A reader that takes its time, once it has something.
                let stuck = events.iter().any(|event| event.path == b"first");
                while stuck && !released.load(std::sync::atomic::Ordering::Acquire) {
                    std::thread::yield_now();
                }
                ControlFlow::Continue(())
            })
        });
        wait("the beginning", &|replay| replay.settled);
        fs::write(dir.path().join("first"), "").unwrap();
        wait("the first", &|replay| replay.there.contains_key(&b"first"[..]));
        let most: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(16_384);
        for number in 0..most {
            fs::write(dir.path().join(format!("f{number}")), "").unwrap();
        }
        for number in 0..1000 {
            let path = dir.path().join(format!("d{}", number % 50));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join(format!("f{number}")), "").unwrap();
        }
        fs::remove_dir_all(dir.path().join("d7")).unwrap();
        fs::rename(dir.path().join("d8"), dir.path().join("d9/moved")).unwrap();
        released.store(true, std::sync::atomic::Ordering::Release);
        let expected = truth(dir.path());
        wait("the whole tree", &|replay| replay.overflows > 0 && replay.there == expected);
        // And it goes on.
        fs::write(dir.path().join("d9/moved/after"), "").unwrap();
        wait("what came after", &|replay| replay.there.contains_key(&b"d9/moved/after"[..]));
        stop.ask();
    });
}
