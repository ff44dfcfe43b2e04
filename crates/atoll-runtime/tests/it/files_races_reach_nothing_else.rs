//! Somebody inside exchanges directories for links, again and again, while files are read, written, copied and removed:
//! nothing is reached but what the request means, and nothing of the host ever.
//!
//! `ATOLL_SOAK_ROUNDS` makes it as long as one likes: 100000 is a good night.

use std::os::unix::fs::MetadataExt;

use atoll_files::ask::{Condition, ListOptions, WriteOptions};
use atoll_runtime::Error;
use atoll_runtime::files::{Files, Naming, ReadOptions, Reading};

use crate::harness::{Fixture, skip, soon};

in_every_mode! {
    isolated {
        exchanged_directories_lead_nowhere,
    }
}

/// What must never be read, changed or removed: it is the host's.
const SECRET: &[u8] = b"of the host, and of nobody inside";

/// `tree/sub` is by turns a directory, and a link to each of these.
const ATTACKER: &str = r#"
import os, sys, shutil
targets = sys.argv[1:]
n = 0
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
    let rounds = std::env::var("ATOLL_SOAK_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
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
    assert_eq!(f.say("cat keep/it; stat -c ' %a' keep/it keep; ls -A keep").await, "kept 600\n 700\nit\n");
}

async fn one(files: &Files, round: u64) -> Result<(), Error> {
    let replace = Naming { replace: true, parents: false };
    match round % 9 {
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
        _ => read(files, b"tree/sub/f").await?,
    }
    Ok(())
}

async fn read(files: &Files, path: &[u8]) -> Result<(), Error> {
    if let Reading::Open(mut content) = files.read(path, ReadOptions::default()).await? {
        while let Some(bytes) = content.next().await? {
            assert!(bytes != SECRET, "the host's file was read");
        }
    }
    Ok(())
}
