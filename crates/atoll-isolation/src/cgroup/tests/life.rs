//! Making and removing, alone and against others.

use std::collections::HashSet;
use std::sync::Barrier;
use std::thread;

use super::*;

#[test]
fn create_makes_what_paths_says_and_destroy_leaves_nothing() {
    let test = "create_makes_what_paths_says_and_destroy_leaves_nothing";
    let Some(place) = Place::new(test) else {
        return;
    };
    let paths = Group::paths(&place.layout, "box");
    assert!(paths.iter().all(|path| !path.exists()));
    let group = place.group("box", &Limits::default());
    assert!(paths.iter().all(|path| path.is_dir()));
    for parent in place.parents() {
        assert_eq!(members::children(&parent).unwrap().len(), 1, "{}", parent.display());
    }
    let leaves: Vec<_> = (0..3).map(|_| group.leaf().unwrap()).collect();
    let mut sleeper = Script::start(&group, &leaves[1], "sleep 600 & echo ready; wait");
    assert_eq!(sleeper.line(), "ready");
    drop(leaves);
    assert_eq!(group.sweep(), 1);
    group.clone().destroy(SOON).unwrap();
    place.assert_nothing_left();
    assert!(matches!(group.leaf(), Err(Error::Destroyed { .. })));
    assert!(matches!(group.kill(), Err(Error::Destroyed { .. })));
    group.destroy(SOON).unwrap();
}

#[test]
fn an_idle_leaf_is_used_again_and_a_busy_one_is_removed_later() {
    let test = "an_idle_leaf_is_used_again_and_a_busy_one_is_removed_later";
    let Some(place) = Place::new(test) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let first = group.leaf().unwrap();
    let path = first.path().to_owned();
    drop(first);
    let second = group.leaf().unwrap();
    assert_eq!(second.path(), path);
    let mut sleeper = Script::start(&group, &second, "echo ready; exec sleep 600");
    assert_eq!(sleeper.line(), "ready");
    drop(second);
    assert_ne!(group.leaf().unwrap().path(), path);
    assert_eq!(group.sweep(), 1);
    sleeper.child.kill().unwrap();
    sleeper.status();
    eventually("it is removed", || group.sweep() == 0);
    assert!(!path.exists());
}

#[test]
fn no_more_idle_leaves_than_the_cap_are_kept() {
    let Some(place) = Place::new("no_more_idle_leaves_than_the_cap_are_kept") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let many: Vec<_> = (0..pool::IDLE_CAP + 5).map(|_| group.leaf().unwrap()).collect();
    drop(many);
    let tree = &Group::paths(&place.layout, "box")[0];
    assert_eq!(members::children(tree).unwrap().len(), pool::IDLE_CAP);
    let warm = place.group("warm", &Limits::default());
    warm.warm(1000).unwrap();
    let tree = &Group::paths(&place.layout, "warm")[0];
    assert_eq!(members::children(tree).unwrap().len(), pool::IDLE_CAP);
}

#[test]
fn a_second_sandbox_of_the_same_name_is_refused_and_harms_not_the_first() {
    let test = "a_second_sandbox_of_the_same_name_is_refused_and_harms_not_the_first";
    let Some(place) = Place::new(test) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let error = Group::create(&place.layout, "box", &Limits::default(), None).unwrap_err();
    assert!(error.to_string().contains("file exists"), "{error}");
    group.leaf().unwrap();
    assert!(Group::paths(&place.layout, "box").iter().all(|path| path.is_dir()));
}

#[test]
fn a_late_leaf_does_not_touch_the_next_sandbox_of_its_name() {
    let test = "a_late_leaf_does_not_touch_the_next_sandbox_of_its_name";
    let Some(place) = Place::new(test) else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let late = group.leaf().unwrap();
    group.destroy(SOON).unwrap();
    assert!(late.populated().is_err());
    let next = place.group("box", &Limits::default());
    let leaf = next.leaf().unwrap();
    assert_eq!(leaf.path(), late.path());
    drop(late);
    assert!(!leaf.populated().unwrap());
}

#[test]
fn the_owner_and_nobody_else_may_enter_a_leaf() {
    let test = "the_owner_and_nobody_else_may_enter_a_leaf";
    let Some(place) = Place::new(test) else {
        return;
    };
    let owner = Owner { uid: 231_072, gid: 231_072 };
    let made = Group::create(&place.layout, "box", &Limits::default(), Some(owner));
    let Ok(group) = made else {
        return skip(test, "cannot change an owner");
    };
    let leaf = group.leaf().unwrap();
    let tree = &Group::paths(&place.layout, "box")[0];
    for (uid, code) in [(owner.uid, 0), (owner.uid + 1, 2)] {
        let script = format!(
            "echo $$ > {}/cgroup.procs; exec setpriv --reuid={uid} --regid={uid} --clear-groups \
             sh -c 'echo 0 > {}/cgroup.procs; exit $?'",
            tree.display(),
            leaf.path().display()
        );
        let mut shell = Script::wait_for_go(&script);
        shell.go();
        assert_eq!(shell.status(), code, "uid {uid}");
    }
    let mut as_owner = Script::wait_for_go(&format!(
        "exec setpriv --reuid={0} --regid={0} --clear-groups sh -c 'mkdir {1}/x || echo no'",
        owner.uid,
        tree.display()
    ));
    as_owner.go();
    assert_eq!(as_owner.line(), "no");
}

#[test]
fn a_cleaner_needs_only_the_paths() {
    let Some(place) = Place::new("a_cleaner_needs_only_the_paths") else {
        return;
    };
    let paths = Group::paths(&place.layout, "box");
    let group = place.group("box", &Limits::default());
    let leaf = group.leaf().unwrap();
    let mut family = Script::start(&group, &leaf, "setsid sleep 600 & echo ready; wait");
    assert_eq!(family.line(), "ready");
    for path in &paths {
        kill_and_remove(path, SOON).unwrap();
        kill_and_remove(path, SOON).unwrap();
    }
    place.assert_nothing_left();
    assert_eq!(family.status(), 128 + libc::SIGKILL);
}

#[test]
fn heavy_eight_threads_share_and_remove_one_parent() {
    let Some(place) = Place::new("heavy_eight_threads_share_and_remove_one_parent") else {
        return;
    };
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (place, start) = (&place, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..100 {
                    let group = place.group(&format!("box-{thread}-{round}"), &Limits::default());
                    group.leaf().unwrap();
                    group.destroy(SOON).unwrap();
                }
            });
        }
    });
    place.assert_nothing_left();
}

#[test]
fn no_two_threads_get_the_same_leaf() {
    let Some(place) = Place::new("no_two_threads_get_the_same_leaf") else {
        return;
    };
    let group = place.group("box", &Limits::default());
    let held = std::sync::Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let leaf = group.leaf().unwrap();
                    let path = leaf.path().to_owned();
                    assert!(held.lock().unwrap().insert(path.clone()));
                    assert!(held.lock().unwrap().remove(&path));
                }
            });
        }
    });
    group.destroy(SOON).unwrap();
    place.assert_nothing_left();
}

#[test]
fn detection_leaves_no_directory_behind() {
    let layout = Layout::detect();
    assert_eq!(layout, Layout::detect());
    let probe = format!("probe-{}-", id());
    for path in Group::paths(&layout, "x") {
        for child in members::children(path.parent().unwrap()).unwrap() {
            let name = child.file_name().unwrap().to_string_lossy().into_owned();
            // Another test may be detecting at this moment; its probe is gone soon.
            eventually(&name, || !name.starts_with(&probe) || !child.exists());
        }
    }
}
