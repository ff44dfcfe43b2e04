//! Storage that is kept: a later sandbox finds the files of an earlier one, and never two at once.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use atoll_runtime::{Command, Error, Storage};

use crate::harness::{Fixture, cgroups_of, eventually, out, random, soon};

in_every_mode! {
    one_thread {
        files_are_there_in_the_next_life,
        a_sandbox_that_broke_its_own_root_still_starts,
        one_storage_has_one_sandbox,
        other_sandboxes_stay_away_from_its_ids,
    }
}

/// A place for a kept directory, removed in the end.
fn place() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("kept");
    (parent, path)
}

/// Makes a sandbox over the directory, runs a shell string in it, destroys it.
async fn once(f: &Fixture, path: &Path, text: &str) -> String {
    let sandbox = over(f, path).await.unwrap();
    let output = soon(sandbox.exec(Command::shell(text))).await.unwrap();
    soon(sandbox.destroy()).await.unwrap();
    assert_eq!(cgroups_of(sandbox.name().as_str()), Vec::<PathBuf>::new());
    assert!(output.end.success(), "{text}: {output:?}");
    out(&output)
}

/// Not through the fixture, which would hold on to it.
async fn over(f: &Fixture, path: &Path) -> Result<atoll_runtime::Sandbox, Error> {
    let mut options = f.options();
    options.storage = Storage::Kept(path.to_owned());
    soon(f.host.create(options)).await
}

async fn files_are_there_in_the_next_life(f: &Fixture) {
    let (_parent, path) = place();
    once(f, &path, "echo first > note; sleep 300 & echo").await;
    assert_eq!(once(f, &path, "cat note; echo second >> note").await, "first\n");
    assert_eq!(once(f, &path, "cat note").await, "first\nsecond\n");
    assert_eq!(f.alive(), [""; 0], "files stay, processes do not");
    if f.mode.isolated() {
        once(f, &path, "echo mine > /etc/mine; echo program > /usr/bin/mine").await;
        assert_eq!(once(f, &path, "cat /etc/mine /usr/bin/mine; stat -c %u note").await, "mine\nprogram\n0\n");
    }
}

async fn a_sandbox_that_broke_its_own_root_still_starts(f: &Fixture) {
    if !f.mode.isolated() {
        return;
    }
    let (_parent, path) = place();
    once(f, &path, "rm -rf /etc /home /root /var; rm -rf /proc /dev /sys 2> /dev/null; ! [ -e /etc ]").await;
    assert_eq!(once(f, &path, "test -s /etc/hostname && echo there").await, "there\n");
    once(f, &path, "cd /etc; rm hosts hostname; ln -s /workspace/through hosts; mkdir hostname").await;
    assert_eq!(once(f, &path, "ls /workspace; readlink /etc/hosts").await, "/workspace/through\n");
    once(f, &path, "mv /etc /elsewhere; ln -s elsewhere /etc").await;
    assert_eq!(once(f, &path, "readlink /etc").await, "elsewhere\n");
    once(f, &path, "rm /etc; echo no directory > /etc").await;
    assert_eq!(once(f, &path, "cat /etc").await, "no directory\n");
}

async fn one_storage_has_one_sandbox(f: &Fixture) {
    let (_parent, path) = place();
    let first = over(f, &path).await.unwrap();
    let refused = over(f, &path).await.unwrap_err();
    assert!(matches!(refused, Error::StorageBusy { .. }), "{refused:?}");
    let output = soon(first.exec(Command::shell("echo still here"))).await.unwrap();
    assert_eq!(out(&output), "still here\n");
    soon(first.destroy()).await.unwrap();
    drop(first);
    eventually("the last task has let go", || {
        let lock = std::fs::File::open(path.join("lock")).unwrap();
        lock.try_lock().is_ok()
    })
    .await;
    assert_eq!(once(f, &path, "echo again").await, "again\n");
}

/// As root: the files of a stopped sandbox are nobody else's.
async fn other_sandboxes_stay_away_from_its_ids(f: &Fixture) {
    let (_parent, path) = place();
    once(f, &path, "touch owned").await;
    if !path.join("ids").exists() {
        return;
    }
    let base: u32 = std::fs::read_to_string(path.join("ids")).unwrap().parse().unwrap();
    assert_eq!(std::fs::metadata(path.join("disk/workspace/owned")).unwrap().uid(), base);
    let reserved = f.state().join("ids").join(base.to_string());
    assert_eq!(std::fs::read_link(&reserved).unwrap(), path);
    std::fs::rename(&path, path.with_extension(format!("{:x}", random()))).unwrap();
    assert!(!reserved.exists(), "a reservation counts while its directory is there");
}
