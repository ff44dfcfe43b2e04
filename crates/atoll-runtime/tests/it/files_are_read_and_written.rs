//! Files: every operation does what it says, and every way in which it cannot is told by its own name.

use atoll_files::ask::{Condition, ListOptions, Range, WriteOptions};
use atoll_files::{Facts, FileKind};
use atoll_protocol::ErrorCode;
use atoll_runtime::Error;
use atoll_runtime::files::{Content, Entries, Files, Naming, ReadOptions, Reading, Written};

use crate::harness::{Fixture, skip, soon};

in_every_mode! {
    four_modes {
        what_was_written_is_read,
        a_worker_is_nobodys_process,
    }
    one_thread {
        parts_are_read,
        states_decide,
        of_many_writers_with_one_tag_one_wins,
        mode_and_links_are_kept,
        appended_is_added,
        parents_are_made,
        odd_names_survive,
        every_refusal_has_its_name,
        nothing_blocks,
        lists_are_in_order_and_go_on,
        deep_trees_are_removed,
        trees_are_copied_as_they_are,
        things_are_renamed_and_moved,
        modes_and_links_are_set,
        a_broken_upload_changes_nothing,
        a_killed_worker_is_started_again,
    }
    isolated {
        each_user_has_their_own_rights,
        a_full_disk_is_told,
        the_kernels_own_files_are_read,
    }
}

fn files(f: &Fixture) -> Files {
    f.sandbox.files(None)
}

async fn put(files: &Files, path: &[u8], bytes: &[u8]) -> Result<Written, Error> {
    put_with(files, path, bytes, WriteOptions::default()).await
}

async fn put_with(files: &Files, path: &[u8], bytes: &[u8], options: WriteOptions) -> Result<Written, Error> {
    let mut upload = soon(files.write(path, options)).await?;
    for piece in bytes.chunks(100_000) {
        soon(upload.send(piece)).await?;
    }
    soon(upload.finish()).await
}

async fn get(files: &Files, path: &[u8]) -> Result<Vec<u8>, Error> {
    match soon(files.read(path, ReadOptions::default())).await? {
        Reading::Open(content) => all(content).await,
        other @ (Reading::Unchanged(_) | Reading::OutOfRange(_)) => panic!("{other:?}"),
    }
}

async fn all(mut content: Content) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(piece) = soon(content.next()).await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

async fn names(mut entries: Entries) -> Vec<String> {
    let mut names = Vec::new();
    while let Some(entry) = soon(entries.next()).await.unwrap() {
        names.push(String::from_utf8_lossy(&entry.path).into_owned());
    }
    names
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.map(|value| panic!("done: {value:?}")).unwrap_or_else(|error: Error| error.code())
}

async fn what_was_written_is_read(f: &Fixture) {
    let files = files(f);
    for size in [0, 1, 1000, 65_536, 65_537, 3_000_000] {
        let bytes: Vec<u8> = (0..size).map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let written = put(&files, b"a file", &bytes).await.unwrap();
        assert!(written.atomic, "{size}");
        assert_eq!(written.facts.size, u64::from(size));
        assert_eq!(get(&files, b"a file").await.unwrap(), bytes, "{size}");
        assert_eq!(f.say("wc -c < 'a file'").await.trim(), size.to_string());
    }
    assert_eq!(f.say("ls -A").await, "a file\n");
}

/// It is in no list, no kill means it, and it goes with the sandbox.
async fn a_worker_is_nobodys_process(f: &Fixture) {
    let files = files(f);
    put(&files, b"one", b"1").await.unwrap();
    assert_eq!(f.listed(), []);
    soon(f.sandbox.kill_all(&atoll_runtime::Filter::default(), std::time::Duration::ZERO)).await.unwrap();
    assert_eq!(get(&files, b"one").await.unwrap(), b"1");
}

async fn parts_are_read(f: &Fixture) {
    let files = files(f);
    put(&files, b"digits", b"0123456789").await.unwrap();
    let part = async |range| {
        let options = ReadOptions { range: Some(range), ..ReadOptions::default() };
        match soon(files.read(b"digits", options)).await.unwrap() {
            Reading::Open(content) => Some((content.offset, all(content).await.unwrap())),
            Reading::OutOfRange(facts) => {
                assert_eq!(facts.size, 10);
                None
            }
            Reading::Unchanged(_) => panic!("not asked for"),
        }
    };
    assert_eq!(part(Range::From { start: 7 }).await, Some((7, b"789".to_vec())));
    assert_eq!(part(Range::Between { start: 2, last: 4 }).await, Some((2, b"234".to_vec())));
    assert_eq!(part(Range::Last { count: 3 }).await, Some((7, b"789".to_vec())));
    assert_eq!(part(Range::From { start: 10 }).await, None);
    // Five gigabytes of nothing take no time to skip.
    f.say("truncate -s 5G sparse; printf end >> sparse").await;
    let options = ReadOptions { range: Some(Range::Last { count: 4 }), ..ReadOptions::default() };
    let Reading::Open(content) = soon(files.read(b"sparse", options)).await.unwrap() else { panic!("not open") };
    assert_eq!(content.offset, 5 * 1024 * 1024 * 1024 - 1);
    assert_eq!(all(content).await.unwrap(), b"\0end");
}

async fn states_decide(f: &Fixture) {
    let files = files(f);
    let absent = WriteOptions { condition: Condition::Absent, ..WriteOptions::default() };
    let first = put_with(&files, b"it", b"1", absent.clone()).await.unwrap();
    assert!(first.created);
    assert_eq!(code(put_with(&files, b"it", b"2", absent.clone()).await), ErrorCode::PreconditionFailed);
    let tagged = |facts: &Facts| WriteOptions {
        condition: Condition::Tagged { tags: vec![facts.tag()] },
        ..WriteOptions::default()
    };
    let second = put_with(&files, b"it", b"2", tagged(&first.facts)).await.unwrap();
    assert!(!second.created);
    assert_eq!(code(put_with(&files, b"it", b"3", tagged(&first.facts)).await), ErrorCode::PreconditionFailed);
    assert_eq!(get(&files, b"it").await.unwrap(), b"2");
    assert_eq!(code(put_with(&files, b"other", b"3", tagged(&first.facts)).await), ErrorCode::PreconditionFailed);
    // What the asker has need not be sent.
    let unless = Condition::NotTagged { tags: vec![second.facts.tag()] };
    let read = files.read(b"it", ReadOptions { unless, ..ReadOptions::default() }).await.unwrap();
    assert!(matches!(read, Reading::Unchanged(_)), "{read:?}");
    f.say("echo more >> it").await;
    assert_eq!(code(put_with(&files, b"it", b"3", tagged(&second.facts)).await), ErrorCode::PreconditionFailed);
    let removal = Condition::Tagged { tags: vec![second.facts.tag()] };
    assert_eq!(code(files.remove(b"it", false, false, removal).await), ErrorCode::PreconditionFailed);
}

async fn of_many_writers_with_one_tag_one_wins(f: &Fixture) {
    let files = files(f);
    let mut facts = put(&files, b"contested", b"0").await.unwrap().facts;
    for round in 0..20 {
        let options =
            WriteOptions { condition: Condition::Tagged { tags: vec![facts.tag()] }, ..WriteOptions::default() };
        let writers = (0..8).map(|writer| {
            let (files, options) = (files.clone(), options.clone());
            tokio::spawn(async move {
                put_with(&files, b"contested", format!("{round} {writer}").as_bytes(), options).await
            })
        });
        let mut won = Vec::new();
        for writer in writers.collect::<Vec<_>>() {
            match writer.await.unwrap() {
                Ok(written) => won.push(written.facts),
                Err(error) => assert_eq!(error.code(), ErrorCode::PreconditionFailed),
            }
        }
        assert_eq!(won.len(), 1, "round {round}");
        facts = won.remove(0);
    }
}

async fn mode_and_links_are_kept(f: &Fixture) {
    let files = files(f);
    f.say("echo old > script; chmod 0751 script; ln -s script link; ln -s nowhere dangling; ln -s loop loop").await;
    put(&files, b"link", b"new").await.unwrap();
    assert_eq!(f.say("cat script; stat -c %a script; readlink link").await, "new751\nscript\n");
    put(&files, b"dangling", b"made").await.unwrap();
    assert_eq!(f.say("cat nowhere").await, "made");
    assert_eq!(code(put(&files, b"loop", b"x").await), ErrorCode::TooManyLinks);
    assert_eq!(code(get(&files, b"loop").await), ErrorCode::TooManyLinks);
    put_with(&files, b"script", b"x", WriteOptions { mode: Some(0o600), ..WriteOptions::default() }).await.unwrap();
    assert_eq!(f.say("stat -c %a script nowhere").await, "600\n644\n");
}

async fn appended_is_added(f: &Fixture) {
    let files = files(f);
    let append = WriteOptions { append: true, ..WriteOptions::default() };
    for _ in 0..3 {
        put_with(&files, b"log", b"line\n", append.clone()).await.unwrap();
    }
    put_with(&files, b"log", &vec![b'x'; 200_000], append).await.unwrap();
    assert_eq!(f.say("wc -l < log; wc -c < log").await, "3\n200015\n");
}

async fn parents_are_made(f: &Fixture) {
    let files = files(f);
    assert_eq!(code(put(&files, b"a/b/c", b"x").await), ErrorCode::FileNotFound);
    let parents = WriteOptions { parents: true, ..WriteOptions::default() };
    put_with(&files, b"a/b/c", b"x", parents.clone()).await.unwrap();
    put_with(&files, b"a/b/d", b"x", parents.clone()).await.unwrap();
    assert_eq!(code(put_with(&files, b"a/b/c/d", b"x", parents).await), ErrorCode::NotDirectory);
    assert_eq!(f.say("ls a/b").await, "c\nd\n");
    let (facts, created) = files.make_directory(b"a/e/f", true, Some(0o700)).await.unwrap();
    assert_eq!((facts.kind, facts.mode, created), (FileKind::Directory, 0o700, true));
    assert!(!files.make_directory(b"a/e/f", true, None).await.unwrap().1);
    assert_eq!(code(files.make_directory(b"a/e/f", false, None).await), ErrorCode::FileExists);
    assert_eq!(code(files.make_directory(b"a/x/y", false, None).await), ErrorCode::FileNotFound);
    assert_eq!(code(files.make_directory(b"a/b/c", true, None).await), ErrorCode::FileExists);
}

async fn odd_names_survive(f: &Fixture) {
    let files = files(f);
    let odd: [&[u8]; 6] = [b"new\nline", b"\xff\xfe", b" ", b"-rf", b"'\"$(x)`", "ü😀".as_bytes()];
    for name in odd {
        put(&files, name, name).await.unwrap();
        assert_eq!(get(&files, name).await.unwrap(), name);
    }
    let mut entries = files.list(b".", ListOptions::default()).await.unwrap();
    let mut told = Vec::new();
    while let Some(entry) = entries.next().await.unwrap() {
        told.push(entry.path);
    }
    let mut sorted = odd.map(<[u8]>::to_vec).to_vec();
    sorted.sort();
    assert_eq!(told, sorted);
    for name in odd {
        assert_eq!(files.remove(name, false, false, Condition::Any).await.unwrap(), 1);
    }
    assert_eq!(f.say("ls -A").await, "");
}

async fn every_refusal_has_its_name(f: &Fixture) {
    let files = files(f);
    f.say("mkdir dir dir/full; echo x > dir/full/x; echo x > file; ln -s gone dangling").await;
    let long = vec![b'n'; 256];
    let none = Naming::default();
    assert_eq!(code(get(&files, b"missing").await), ErrorCode::FileNotFound);
    assert_eq!(code(get(&files, b"dangling").await), ErrorCode::FileNotFound);
    assert_eq!(code(get(&files, b"dir").await), ErrorCode::IsDirectory);
    assert_eq!(code(get(&files, b"file/x").await), ErrorCode::NotDirectory);
    assert_eq!(code(get(&files, b"file/").await), ErrorCode::NotDirectory);
    assert_eq!(code(get(&files, &long).await), ErrorCode::NameTooLong);
    assert_eq!(code(get(&files, b"nul\0").await), ErrorCode::ValidationFailed);
    assert_eq!(code(get(&files, b"").await), ErrorCode::ValidationFailed);
    assert_eq!(code(put(&files, b"dir", b"x").await), ErrorCode::IsDirectory);
    assert_eq!(code(put(&files, b"new/", b"x").await), ErrorCode::IsDirectory);
    assert_eq!(code(put(&files, b"..", b"x").await), ErrorCode::IsDirectory);
    assert_eq!(code(put(&files, &long, b"x").await), ErrorCode::NameTooLong);
    assert_eq!(code(files.stat(b"missing", true).await), ErrorCode::FileNotFound);
    assert_eq!(code(files.stat(b"dangling", true).await), ErrorCode::FileNotFound);
    assert_eq!(files.stat(b"dangling", false).await.unwrap().target.unwrap(), b"gone");
    assert_eq!(code(files.list(b"missing", ListOptions::default()).await), ErrorCode::FileNotFound);
    assert_eq!(code(files.list(b"file", ListOptions::default()).await), ErrorCode::NotDirectory);
    assert_eq!(code(files.remove(b"missing", true, false, Condition::Any).await), ErrorCode::FileNotFound);
    assert_eq!(files.remove(b"missing", true, true, Condition::Any).await.unwrap(), 0);
    assert_eq!(code(files.remove(b"dir", false, false, Condition::Any).await), ErrorCode::DirectoryNotEmpty);
    assert_eq!(code(files.rename(b"missing", b"x", none).await), ErrorCode::FileNotFound);
    assert_eq!(code(files.rename(b"file", b"no/x", none).await), ErrorCode::FileNotFound);
    assert_eq!(code(files.rename(b"file", b"dangling", none).await), ErrorCode::FileExists);
    assert_eq!(code(files.rename(b"dir", b"dir/full/in", none).await), ErrorCode::ValidationFailed);
    assert_eq!(code(files.copy(b"dir", b"x", false, none).await), ErrorCode::IsDirectory);
    assert_eq!(code(files.copy(b"dir", b"dir/full/in", true, none).await), ErrorCode::ValidationFailed);
    assert_eq!(code(files.copy(b"file", b"dangling", false, none).await), ErrorCode::FileExists);
    assert_eq!(code(files.set_mode(b"missing", 0o600, false).await), ErrorCode::FileNotFound);
    assert_eq!(code(files.make_link(b"file", b"x", none).await), ErrorCode::FileExists);
    assert_eq!(code(files.make_link(b"new", b"", none).await), ErrorCode::ValidationFailed);
    assert_eq!(f.say("find . | sort").await, ".\n./dangling\n./dir\n./dir/full\n./dir/full/x\n./file\n");
    let nobody = f.sandbox.files(Some("no-such-user".to_owned()));
    assert_eq!(code(get(&nobody, b"file").await), ErrorCode::UserNotFound);
}

async fn nothing_blocks(f: &Fixture) {
    let files = files(f);
    f.say("mkfifo fifo; ln -s fifo link").await;
    for path in [&b"fifo"[..], b"link", b"/dev/zero", b"/dev/tty"] {
        let kept = [ErrorCode::NotRegularFile, ErrorCode::FileNotFound, ErrorCode::PermissionDenied];
        assert!(kept.contains(&code(get(&files, path).await)), "{path:?}");
        assert!(kept.contains(&code(put(&files, path, b"x").await)), "{path:?}");
    }
    assert_eq!(files.stat(b"fifo", true).await.unwrap().kind, FileKind::Fifo);
    assert_eq!(files.copy(b"fifo", b"copy", false, Naming::default()).await.unwrap(), 1);
    assert_eq!(files.stat(b"copy", false).await.unwrap().kind, FileKind::Fifo);
    // A link of /proc that is no path would reach what the worker has open.
    let magic = code(get(&files, b"/proc/self/fd/0").await);
    assert!(matches!(magic, ErrorCode::TooManyLinks | ErrorCode::FileNotFound), "{magic:?}");
}

async fn lists_are_in_order_and_go_on(f: &Fixture) {
    let files = files(f);
    f.say("mkdir -p b/c a-b 'a b'; touch a b/c/deep b/d .hidden a-b/x 'a b/y'; ln -s b link").await;
    let deep = ListOptions { depth: 9, ..ListOptions::default() };
    let whole = names(files.list(b".", deep.clone()).await.unwrap()).await;
    assert_eq!(whole, [".hidden", "a", "a b", "a b/y", "a-b", "a-b/x", "b", "b/c", "b/c/deep", "b/d", "link"]);
    let shallow = ListOptions { hidden: false, ..ListOptions::default() };
    assert_eq!(names(files.list(b".", shallow).await.unwrap()).await, ["a", "a b", "a-b", "b", "link"]);
    let mut unsorted = names(files.list(b".", ListOptions { sorted: false, ..deep.clone() }).await.unwrap()).await;
    unsorted.sort();
    assert_eq!(unsorted, whole);
    for size in [1, 2, 5, 100] {
        let (mut got, mut after) = (Vec::new(), None);
        loop {
            let options = ListOptions { limit: Some(size), after: after.take(), ..deep.clone() };
            let mut page = files.list(b".", options).await.unwrap();
            while let Some(entry) = page.next().await.unwrap() {
                got.push(String::from_utf8(entry.path).unwrap());
            }
            if !page.has_more() {
                break;
            }
            after = got.last().map(|last| last.clone().into_bytes());
        }
        assert_eq!(got, whole, "{size}");
    }
    // The entry that a page goes on from may be gone.
    f.say("rm b/c/deep").await;
    let options = ListOptions { after: Some(b"b/c/deep".to_vec()), ..deep };
    assert_eq!(names(files.list(b".", options).await.unwrap()).await, ["b/d", "link"]);
}

async fn deep_trees_are_removed(f: &Fixture) {
    let files = files(f);
    let levels = "d/".repeat(60);
    f.say(&format!(
        "mkdir keep; touch keep/it; mkdir tree; cd tree; ln -s ../keep link; \
         for n in $(seq 10); do mkdir -p {levels}; cd {levels}; touch f; done"
    ))
    .await;
    assert_eq!(files.remove(b"tree", true, false, Condition::Any).await.unwrap(), 612);
    assert_eq!(f.say("find .").await, ".\n./keep\n./keep/it\n");
}

async fn trees_are_copied_as_they_are(f: &Fixture) {
    let files = files(f);
    f.say(
        "mkdir -p t/sub; echo one > t/one; chmod 640 t/one; touch -d 2001-02-03 t/one; ln -s ../x t/sub/link; \
         mkfifo t/fifo; truncate -s 100M t/sparse; printf x | dd of=t/sparse bs=1 seek=50M conv=notrunc 2>/dev/null",
    )
    .await;
    let count = files.copy(b"t", b"u", true, Naming::default()).await.unwrap();
    assert_eq!(count, 6);
    let seen = |dir: &str| format!("cd {dir}; find . -printf '%P %y %m %s %T@ %l\\n' | grep -v '^ ' | sort; cat one");
    assert_eq!(f.say(&seen("u")).await, f.say(&seen("t")).await);
    let blocks: u64 = f.say("stat -c %b u/sparse").await.trim().parse().unwrap();
    assert!(blocks < 10_000, "the hole is filled: {blocks} blocks");
    f.say("cmp t/sparse u/sparse").await;
    assert_eq!(code(files.copy(b"t", b"u", true, Naming::default()).await), ErrorCode::FileExists);
    f.say("echo two > t/one").await;
    files.copy(b"t", b"u", true, Naming { replace: true, parents: false }).await.unwrap();
    assert_eq!(f.say("cat u/one").await, "two\n");
}

async fn things_are_renamed_and_moved(f: &Fixture) {
    let files = files(f);
    f.say("echo 1 > one; echo 2 > two; mkdir dir; echo x > dir/x").await;
    let none = Naming::default();
    assert_eq!(files.rename(b"one", b"uno", none).await.unwrap().kind, FileKind::File);
    assert_eq!(code(files.rename(b"uno", b"two", none).await), ErrorCode::FileExists);
    files.rename(b"uno", b"two", Naming { replace: true, parents: false }).await.unwrap();
    files.move_to(b"dir", b"deep/er/dir", Naming { replace: false, parents: true }).await.unwrap();
    assert_eq!(f.say("cat two deep/er/dir/x; ls").await, "1\nx\ndeep\ntwo\n");
    if f.mode.isolated() {
        assert_eq!(code(files.rename(b"deep", b"/dev/shm/deep", none).await), ErrorCode::CrossDevice);
        files.move_to(b"deep", b"/dev/shm/deep", none).await.unwrap();
        assert_eq!(f.say("cat /dev/shm/deep/er/dir/x; ls").await, "x\ntwo\n");
    }
}

async fn modes_and_links_are_set(f: &Fixture) {
    let files = files(f);
    f.say("mkdir -p d/e; touch d/e/f target; chmod 600 target; ln -s ../target d/link").await;
    assert_eq!(files.set_mode(b"d/e/f", 0o4755, false).await.unwrap(), 1);
    assert_eq!(f.say("stat -c %a d/e/f").await, "4755\n");
    assert_eq!(files.set_mode(b"d", 0o750, true).await.unwrap(), 3);
    assert_eq!(f.say("stat -c %a d d/e d/e/f target").await, "750\n750\n750\n600\n");
    let facts = files.make_link(b"new/link", b"\xffanywhere", Naming { replace: false, parents: true }).await.unwrap();
    assert_eq!(facts.target.unwrap(), b"\xffanywhere");
    files.make_link(b"new/link", b"../target", Naming { replace: true, parents: false }).await.unwrap();
    assert_eq!(f.say("readlink new/link").await, "../target\n");
}

async fn a_broken_upload_changes_nothing(f: &Fixture) {
    let files = files(f);
    put(&files, b"kept", b"old").await.unwrap();
    for size in [10, 1_000_000] {
        let mut upload = files.write(b"kept", WriteOptions::default()).await.unwrap();
        upload.send(&vec![b'x'; size]).await.unwrap();
        drop(upload);
    }
    // A whole one after them: they are over by then, or hold nothing up.
    put(&files, b"after", b"1").await.unwrap();
    assert_eq!(get(&files, b"kept").await.unwrap(), b"old");
    assert_eq!(f.say("ls -A").await, "after\nkept\n");
}

async fn a_killed_worker_is_started_again(f: &Fixture) {
    let files = files(f);
    if !f.mode.isolated() {
        return skip("on the host itself other tests have workers, too");
    }
    for _ in 0..3 {
        put(&files, b"file", b"x").await.unwrap();
        // By the name that it has inside.
        f.say(
            "for p in /proc/[0-9]*; do read -r name < $p/comm; case $name in atoll-files|3) \
             kill -9 ${p#/proc/}; while [ -e $p ]; do sleep 0.01; done;; esac; done",
        )
        .await;
    }
    assert_eq!(get(&files, b"file").await.unwrap(), b"x");
}

async fn each_user_has_their_own_rights(f: &Fixture) {
    let user = f.sandbox.files(Some("user".to_owned()));
    let root = files(f);
    f.say("chmod 755 .; echo secret > root; chmod 600 root; mkdir open; chmod 777 open; echo x > open/roots; chmod 666 open/roots; echo x > open/closed").await;
    match soon(user.read(b"open/roots", ReadOptions::default())).await {
        Err(Error::UserNotFound { .. }) => return skip("there is only root inside"),
        other => drop(other.unwrap()),
    }
    assert_eq!(code(get(&user, b"root").await), ErrorCode::PermissionDenied);
    assert_eq!(code(put(&user, b"root", b"x").await), ErrorCode::PermissionDenied);
    assert_eq!(code(put(&user, b"new", b"x").await), ErrorCode::PermissionDenied);
    assert_eq!(code(put(&user, b"open/closed", b"x").await), ErrorCode::PermissionDenied);
    assert_eq!(code(user.remove(b"root", false, false, Condition::Any).await), ErrorCode::PermissionDenied);
    assert_eq!(code(user.set_mode(b"root", 0o777, false).await), ErrorCode::PermissionDenied);
    assert_eq!(code(user.rename(b"root", b"open/mine", Naming::default()).await), ErrorCode::PermissionDenied);
    assert_eq!(code(user.make_directory(b"new", false, None).await), ErrorCode::PermissionDenied);
    // The owner cannot be given away, so that the file is changed where it is.
    let written = put(&user, b"open/roots", b"mine").await.unwrap();
    assert!(!written.atomic);
    assert_eq!((written.facts.uid, f.say("cat open/roots").await), (0, "mine".to_owned()));
    put(&user, b"open/new", b"x").await.unwrap();
    assert_eq!(f.say("stat -c %U open/new").await, "user\n");
    // Root keeps the owner of what it replaces.
    put(&root, b"open/new", b"y").await.unwrap();
    assert_eq!(f.say("stat -c %U open/new").await, "user\n");
}

async fn a_full_disk_is_told(f: &Fixture) {
    let files = files(f);
    // The sandbox's /dev is a megabyte.
    assert_eq!(code(put(&files, b"/dev/full-of-it", &vec![0; 4_000_000]).await), ErrorCode::NoSpace);
    f.say("head -c 4000000 /dev/urandom > big").await;
    assert_eq!(code(files.copy(b"big", b"/dev/big", false, Naming::default()).await), ErrorCode::NoSpace);
    assert_eq!(code(files.move_to(b"big", b"/dev/big", Naming::default()).await), ErrorCode::NoSpace);
    assert_eq!(f.say("ls -A /dev | grep -c atoll; ls big").await.trim(), "0\nbig");
    let read_only = code(put(&files, b"/proc/sys/kernel/x", b"x").await);
    assert!(matches!(read_only, ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::FileNotFound));
}

async fn the_kernels_own_files_are_read(f: &Fixture) {
    let files = files(f);
    let status = get(&files, b"/proc/self/status").await.unwrap();
    assert!(status.starts_with(b"Name:"), "{status:?}");
    let cpu = get(&files, b"/proc/cpuinfo").await.unwrap();
    assert!(!cpu.is_empty());
}
