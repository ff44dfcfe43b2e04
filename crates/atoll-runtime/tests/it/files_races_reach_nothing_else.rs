//! Somebody inside exchanges directories for links, renames and mounts, again and again, while everything is done to files
//! that can be: nothing is reached but what the request means, and nothing of the host ever.
//!
//! `ATOLL_SOAK_ROUNDS` makes it as long as one likes: 100000 is a good night.

use std::os::unix::fs::MetadataExt;

use atoll_files::ask::{Condition, ListOptions, WriteOptions};
use atoll_protocol::{EditRequest, EditText, GlobRequest, PackOptions, SearchLine, SearchRequest, UnpackOptions};
use atoll_runtime::Error;
use atoll_runtime::files::{Files, Naming, PatchOptions, ReadOptions, Reading};

use crate::harness::{Fixture, printed, skip, soon};

in_every_mode! {
    isolated {
        exchanged_directories_lead_nowhere,
    }
}

/// What must never be read, changed or removed: it is the host's.
const SECRET: &[u8] = b"of the host, and of nobody inside";

/// `tree/sub` is by turns a directory, and a link to each of these.
const ATTACKER: &str = r#"
import ctypes, os, sys, shutil
libc = ctypes.CDLL(None)
targets = sys.argv[1:]
n = 0
print('at it', flush=True)
while True:
    try:
        os.makedirs('real', exist_ok=True)
        open('real/f', 'w').write('mine')
        os.makedirs('tree', exist_ok=True)
        for target in targets:
            n += 1
            try: os.unlink('link')
            except FileNotFoundError: pass
            os.symlink(target, 'link')
            if os.path.islink('tree/sub'): os.unlink('tree/sub')
            elif os.path.isdir('tree/sub'): os.rename('tree/sub', 'aside%d' % n)
            os.rename('link', 'tree/sub')
            # Bound over what is walked, if the wall ever let that be (MS_BIND | MS_REC).
            libc.mount(target.encode(), b'tree/sub', None, 0x5000, None)
            os.unlink('tree/sub')
            os.makedirs('real%d' % n); open('real%d/f' % n, 'w').write('mine')
            os.rename('real%d' % n, 'tree/sub')
            shutil.rmtree('aside%d' % n, ignore_errors=True)
    except OSError:
        pass
"#;

async fn exchanged_directories_lead_nowhere(f: &Fixture) {
    if !f.has("python3").await {
        return skip("no python3 inside");
    }
    let rounds = std::env::var("ATOLL_SOAK_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let canary = f.state().join("canary");
    std::fs::create_dir(&canary).unwrap();
    std::fs::write(canary.join("it"), SECRET).unwrap();
    let before = std::fs::metadata(canary.join("it")).unwrap();
    f.say("mkdir keep; printf kept > keep/it; chmod 600 keep/it; chmod 700 keep").await;
    let host = canary.display().to_string();
    let targets = ["/workspace/keep", "../keep", &host, &format!("/proc/1/root{host}"), "../../../../.."];
    let mut command = atoll_runtime::Command::argv(["python3", "-c", ATTACKER]);
    if let atoll_runtime::Invocation::Argv(argv) = &mut command.invocation {
        argv.extend(targets.iter().map(Into::into));
    }
    let attacker = f.start_command(command).await;
    printed(&attacker, "at it").await;
    let files = f.sandbox.files(None);
    for round in 0..rounds {
        // Most of it fails, one way or another: that is what the attacker wants.
        drop(soon(one(&files, round)).await);
    }
    soon(attacker.kill(std::time::Duration::ZERO)).await.unwrap();
    let after = std::fs::metadata(canary.join("it")).unwrap();
    assert_eq!(std::fs::read(canary.join("it")).unwrap(), SECRET);
    assert_eq!(
        (after.mode(), after.ino(), after.mtime_nsec()),
        (before.mode(), before.ino(), before.mtime_nsec()),
        "the host's file was touched"
    );
    assert_eq!(std::fs::read_dir(&canary).unwrap().count(), 1, "something was made on the host");
    // What was made through a link to `keep` and not yet removed, as any program of the user's could have made it.
    f.say("rm -rf keep/new keep/deep keep/link keep/made").await;
    assert_eq!(f.say("cat keep/it; stat -c ' %a' keep/it keep; ls -A keep").await, "kept 600\n 700\nit\n");
}

async fn one(files: &Files, round: u64) -> Result<(), Error> {
    let replace = Naming { replace: true, parents: false };
    let parents = Naming { replace: true, parents: true };
    match round % 22 {
        0 => drop(files.remove(b"tree", true, true, Condition::Any).await?),
        1 => drop(files.set_mode(b"tree", 0o755, true).await?),
        2 => drop(files.copy(b"tree", b"copy", true, replace).await?),
        3 => drop(files.remove(b"copy", true, true, Condition::Any).await?),
        4 => read(files, b"tree/sub/it").await?,
        5 => {
            let mut entries = files.list(b"tree", ListOptions { depth: 9, ..ListOptions::default() }).await?;
            while let Some(entry) = entries.next().await? {
                assert_ne!(entry.path, b"sub/it", "a link was followed");
            }
        }
        6 => {
            let mut upload = files.write(b"tree/sub/new", WriteOptions::default()).await?;
            upload.send(b"x").await?;
            // Through the link to `keep` it may well be made there: as it would be for any program of the user's.
            upload.finish().await?;
            files.remove(b"keep/new", false, true, Condition::Any).await?;
        }
        7 => drop(files.move_to(b"tree/sub", b"moved", replace).await?),
        8 => search(files).await?,
        9 => {
            let request = GlobRequest { patterns: vec!["**/it".to_owned()], ..GlobRequest::default() };
            let found = files.glob(b"tree", &request).await?;
            assert_eq!(found.entries.len(), 0, "a link was followed");
        }
        10 => edit(files, b"tree/sub/f").await?,
        11 => patch(files, "tree/sub/f", "sub/made").await?,
        12 => {
            let bytes = pack(files).await?;
            assert!(!holds(&bytes, b"kept") && !holds(&bytes, SECRET), "what a link leads to is in the archive");
        }
        13 => {
            // Below the tree, where `sub` may be a link by then: it is replaced, never written through.
            let mut sending = files.unpack(b"tree", &UnpackOptions::default()).await?;
            sending.send(&archive()).await?;
            sending.finish().await?;
        }
        14 => drop(files.make_directory(b"tree/sub/deep/er", true, None).await?),
        15 => drop(files.remove(b"keep/deep", true, true, Condition::Any).await?),
        16 => drop(files.make_link(b"tree/sub/link", b"anywhere", parents).await?),
        17 => drop(files.remove(b"keep/link", false, true, Condition::Any).await?),
        18 => drop(files.rename(b"tree/sub/f", b"taken", replace).await?),
        19 => drop(files.stat(b"tree/sub/it", true).await?),
        20 => {
            let whole = files.write_whole(b"tree/sub/new", WriteOptions::default(), b"y").await;
            files.remove(b"keep/new", false, true, Condition::Any).await?;
            whole?;
        }
        _ => read(files, b"tree/sub/f").await?,
    }
    Ok(())
}

async fn search(files: &Files) -> Result<(), Error> {
    let request = SearchRequest { pattern: "kept|host".to_owned(), ignored: true, ..SearchRequest::default() };
    let mut found = files.search(b"tree", &request).await?;
    while let Some(line) = found.next().await? {
        assert!(!matches!(line, SearchLine::Match(_)), "a link was followed: {line:?}");
    }
    Ok(())
}

async fn edit(files: &Files, path: &[u8]) -> Result<(), Error> {
    let text = EditText { old: "mine".to_owned(), new: "ours".to_owned(), count: None, all: false };
    files.edit(path, &EditRequest { edits: vec![text], ..EditRequest::default() }).await.map(drop)
}

/// Changes one file and makes another.
async fn patch(files: &Files, change: &str, make: &str) -> Result<(), Error> {
    let text = format!(
        "*** Begin Patch\n*** Update File: {change}\n@@\n-mine\n+ours\n*** Add File: tree/{make}\n+new\n*** End Patch\n"
    );
    let mut sending = files.patch(b".", PatchOptions::default()).await?;
    sending.send(text.as_bytes()).await?;
    let done = sending.finish().await;
    files.remove(b"keep/made", false, true, Condition::Any).await?;
    done.map(drop)
}

async fn pack(files: &Files) -> Result<Vec<u8>, Error> {
    let mut packing = files.pack(b"tree", &PackOptions::default()).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = packing.next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// A tar with `sub/new` and `sub/it`, by hand: no tool is needed.
fn archive() -> Vec<u8> {
    let member = |name: &str| {
        let mut head = [0_u8; 512];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[100..107].copy_from_slice(b"0000644");
        head[108..115].copy_from_slice(b"0000000");
        head[116..123].copy_from_slice(b"0000000");
        head[124..135].copy_from_slice(b"00000000003");
        head[136..147].copy_from_slice(b"00000000000");
        head[148..156].copy_from_slice(b"        ");
        head[156] = b'0';
        head[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        head[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        let mut body = [0_u8; 512];
        body[..3].copy_from_slice(b"new");
        [head, body].concat()
    };
    [member("sub/new"), member("sub/it"), vec![0; 1024]].concat()
}

async fn read(files: &Files, path: &[u8]) -> Result<(), Error> {
    if let Reading::Open(mut content) = files.read(path, ReadOptions::default()).await? {
        while let Some(bytes) = content.next().await? {
            assert!(bytes != SECRET, "the host's file was read");
        }
    }
    Ok(())
}
