//! Every operation on files meets everything that can be wrong with a path: each is refused by its own name, at once, and
//! nothing else is. A table, so that a new operation or a new trouble is one more line.

use std::io;

use atoll_files::ask::{Condition, ListOptions, WriteOptions};
use atoll_protocol::{EditRequest, EditText, ErrorCode, GlobRequest, PackOptions, SearchRequest, UnpackOptions};
use atoll_runtime::Error;
use atoll_runtime::files::{Files, Naming, PatchOptions, ReadOptions, Reading, WatchOptions};

use crate::harness::{Fixture, skip, soon};

in_every_mode! {
    isolated {
        every_trouble_of_every_operation_has_its_name,
    }
}

/// What is done to a path. `To`: the path is where something else goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Read,
    Write,
    Append,
    Stat,
    List,
    MakeDirectory,
    Remove,
    Rename,
    RenameTo,
    Move,
    MoveTo,
    Copy,
    CopyTo,
    SetMode,
    MakeLink,
    Search,
    Glob,
    Edit,
    Patch,
    Pack,
    Unpack,
    Watch,
}

use Op::*;

const ALL: [Op; 22] = [
    Read,
    Write,
    Append,
    Stat,
    List,
    MakeDirectory,
    Remove,
    Rename,
    RenameTo,
    Move,
    MoveTo,
    Copy,
    CopyTo,
    SetMode,
    MakeLink,
    Search,
    Glob,
    Edit,
    Patch,
    Pack,
    Unpack,
    Watch,
];

/// Those that make something.
const MAKERS: [Op; 8] = [Write, Append, MakeDirectory, RenameTo, MoveTo, CopyTo, MakeLink, Unpack];

/// More than a full disk takes.
const SIZE: usize = 20_000;

/// One line of the table: where, who, what, and how it ends. Where nothing is named it is done.
struct Trouble {
    called: &'static str,
    user: Option<&'static str>,
    path: &'static str,
    ops: Vec<Op>,
    ends: Vec<ErrorCode>,
}

fn trouble(called: &'static str, path: &'static str, ops: &[Op], ends: &[ErrorCode]) -> Trouble {
    Trouble { called, user: None, path, ops: ops.to_vec(), ends: ends.to_vec() }
}

fn but(left_out: &[Op]) -> Vec<Op> {
    ALL.into_iter().filter(|op| !left_out.contains(op)).collect()
}

fn table() -> Vec<Trouble> {
    use ErrorCode::{
        CrossDevice, FileExists, FileNotFound, IsDirectory, NameTooLong, NoSpace, NotDirectory, NotRegularFile,
        PermissionDenied, ReadOnly, ResourceBusy, TooManyLinks,
    };
    // Long enough to be no name, and the same at every call.
    let long: &'static str = Box::leak(format!("w/{}", "n".repeat(256)).into_boxed_str());
    let makers_but_unpack: Vec<Op> = MAKERS.into_iter().filter(|op| *op != Unpack).collect();
    vec![
        trouble("missing", "w/missing", &but(&MAKERS), &[FileNotFound]),
        trouble("in a missing directory", "w/missing/x", &makers_but_unpack, &[FileNotFound]),
        trouble("made with its directories", "w/missing/x", &[Unpack], &[]),
        trouble("a directory", "w/dir", &[Read, Write, Append, Edit, Patch, Copy], &[IsDirectory]),
        trouble("a file", "w/file", &[List, Watch, Unpack], &[NotDirectory]),
        trouble("below a file", "w/file/x", &but(&[]), &[NotDirectory]),
        Trouble { user: Some("user"), ..trouble("closed", "w/closed/x", &but(&[]), &[PermissionDenied]) },
        trouble("a name too long", long, &but(&[]), &[NameTooLong]),
        trouble("a link that leads nowhere", "w/dangling", &[Write, Append, Remove, Rename, Move, Copy], &[]),
        trouble("a link that leads nowhere", "w/dangling", &[Read, Stat, List, SetMode, Search], &[FileNotFound]),
        trouble("a link that leads nowhere", "w/dangling", &[Glob, Edit, Pack, Watch], &[FileNotFound]),
        trouble("a link that leads nowhere", "w/dangling", &[MakeDirectory, MakeLink, RenameTo], &[FileExists]),
        trouble("a link that leads nowhere", "w/dangling", &[MoveTo, CopyTo], &[FileExists]),
        trouble("a link that leads nowhere", "w/dangling", &[Patch], &[NotRegularFile]),
        trouble("a link to itself", "w/loop", &[Remove, Rename, Move, Copy], &[]),
        trouble("a link to itself", "w/loop", &[Read, Write, Append, Stat, List, SetMode, Search], &[TooManyLinks]),
        trouble("a link to itself", "w/loop", &[Glob, Edit, Pack, Watch, Unpack], &[TooManyLinks]),
        trouble("a link to itself", "w/loop", &[MakeDirectory, MakeLink, RenameTo, MoveTo, CopyTo], &[FileExists]),
        trouble("a link to itself", "w/loop", &[Patch], &[NotRegularFile]),
        trouble("a fifo", "w/fifo", &[Stat, Remove, Rename, Move, Copy, SetMode], &[]),
        trouble("a fifo", "w/fifo", &[Read, Write, Append, Edit, Patch, Pack, Search], &[NotRegularFile]),
        trouble("a fifo", "w/fifo", &[List, Glob, Watch, Unpack], &[NotDirectory]),
        trouble("a fifo", "w/fifo", &[MakeDirectory, MakeLink, RenameTo, MoveTo, CopyTo], &[FileExists]),
        trouble("a device", "/dev/zero", &[Stat], &[]),
        trouble("a device", "/dev/zero", &[Read, Write, Append, Edit, Patch, Pack, Search], &[NotRegularFile]),
        trouble("a device", "/dev/zero", &[List, Glob, Watch, Unpack], &[NotDirectory]),
        trouble("a device", "/dev/zero", &[MakeDirectory, MakeLink, MoveTo, CopyTo], &[FileExists]),
        trouble("a device", "/dev/zero", &[RenameTo], &[FileExists, CrossDevice]),
        trouble("a device", "/dev/zero", &[Remove, Rename, Move], &[ResourceBusy, CrossDevice, PermissionDenied]),
        trouble("a device", "/dev/zero", &[Copy, SetMode], &[NotRegularFile, PermissionDenied]),
        trouble("a full disk", "/dev/small/new", &[Write, Append, MoveTo, CopyTo], &[NoSpace]),
        trouble("a full disk", "/dev/small/text", &[Write, Append, Edit, Patch], &[NoSpace]),
        trouble("a full disk", "/dev/small", &[Unpack], &[NoSpace]),
        trouble("read-only", "/proc/acpi/x", &[Write, Append, MakeDirectory, MakeLink, CopyTo, MoveTo], &[ReadOnly]),
        trouble("read-only", "/proc/acpi/x", &[RenameTo], &[ReadOnly, CrossDevice]),
        trouble("read-only", "/proc/acpi/x", &[Remove], &[ReadOnly, FileNotFound]),
        trouble("read-only", "/proc/acpi", &[SetMode, Unpack], &[ReadOnly]),
        trouble(
            "empty",
            "w/empty",
            &[Read, Write, Append, Stat, Remove, Rename, Move, Copy, SetMode, Search, Pack],
            &[],
        ),
    ]
}

/// Everything that the table speaks of, anew: an operation may have changed it.
const MAKE: &str = "rm -rf w out; mkdir -p w/dir/full w/closed out; chmod 777 out; chmod 700 w/closed; \
    echo a > w/file; echo a > w/dir/full/x; echo a > w/closed/x; : > w/empty; head -c 20000 /dev/zero > w/big; \
    ln -s nowhere w/dangling; ln -s loop w/loop; mkfifo w/fifo; mkdir -p source; head -c 20000 /dev/urandom > source/big";

/// The sandbox's /dev is a megabyte: full, but for a file that can be changed.
const FILL: &str = "mkdir -p /dev/small; echo a > /dev/small/text; cat /dev/zero > /dev/small/fill 2>/dev/null; true";

async fn every_trouble_of_every_operation_has_its_name(f: &Fixture) {
    let has_user = f.sh("id user").await.end.success();
    let has_read_only = f.sh("grep -q '^tmpfs /proc/acpi tmpfs ro' /proc/mounts").await.end.success();
    let root = f.sandbox.files(None);
    f.say(MAKE).await;
    f.say(FILL).await;
    let archive = soon(packed(&root, b"source")).await.unwrap();
    let mut wrong = Vec::new();
    for Trouble { called, user, path, ops, ends } in table() {
        if (user.is_some() && !has_user) || (called == "read-only" && !has_read_only) {
            skip(&format!("{called}: not to be had here"));
            continue;
        }
        let files = f.sandbox.files(user.map(str::to_owned));
        for op in ops {
            f.say(MAKE).await;
            // Whatever it is, it never waits: for a fifo's other end least of all.
            let done = soon(act(f, &files, op, path, &archive)).await;
            let is_right = match &done {
                Ok(()) => ends.is_empty(),
                Err(error) => ends.contains(&error.code()),
            };
            if !is_right {
                wrong.push(format!("{op:?} of {called}: {:?}, not {ends:?}", done.map_err(|error| error.to_string())));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
    // And nothing of what was refused is left half done.
    let left = f.say("find w out /dev/small /proc/acpi -name '.atoll-*'").await;
    assert_eq!(left, "");
    f.say("rm -rf /dev/small").await;
}

async fn act(f: &Fixture, files: &Files, op: Op, path: &str, archive: &[u8]) -> Result<(), Error> {
    let none = Naming::default();
    let at = path.as_bytes();
    match op {
        Read => read(files, at).await,
        Write => write(files, at, WriteOptions::default()).await,
        Append => write(files, at, WriteOptions { append: true, ..WriteOptions::default() }).await,
        Stat => files.stat(at, true).await.map(drop),
        List => list(files, at).await,
        MakeDirectory => files.make_directory(at, false, None).await.map(drop),
        Remove => files.remove(at, false, false, Condition::Any).await.map(drop),
        Rename => files.rename(at, b"out/new", none).await.map(drop),
        RenameTo => files.rename(b"w/big", at, none).await.map(drop),
        Move => files.move_to(at, b"out/new", none).await.map(drop),
        MoveTo => files.move_to(b"w/big", at, none).await.map(drop),
        Copy => files.copy(at, b"out/new", false, none).await.map(drop),
        CopyTo => files.copy(b"w/big", at, false, none).await.map(drop),
        SetMode => files.set_mode(at, 0o640, false).await.map(drop),
        MakeLink => files.make_link(at, b"anywhere", none).await.map(drop),
        Search => search(files, at).await,
        Glob => {
            files.glob(at, &GlobRequest { patterns: vec!["*".to_owned()], ..GlobRequest::default() }).await.map(drop)
        }
        Edit => {
            let text = EditText { old: "a".to_owned(), new: "b".repeat(SIZE), count: None, all: false };
            files.edit(at, &EditRequest { edits: vec![text], ..EditRequest::default() }).await.map(drop)
        }
        Patch => patch(files, at).await,
        Pack => packed(files, at).await.map(drop),
        Unpack => unpack(files, at, archive).await,
        Watch => {
            let watch = files.watch(None, at, WatchOptions::default()).await?;
            f.sandbox.remove_watch(watch.id())
        }
    }
}

async fn read(files: &Files, path: &[u8]) -> Result<(), Error> {
    if let Reading::Open(mut content) = files.read(path, ReadOptions::default()).await? {
        while content.next().await?.is_some() {}
    }
    Ok(())
}

async fn write(files: &Files, path: &[u8], options: WriteOptions) -> Result<(), Error> {
    let mut upload = files.write(path, options).await?;
    upload.send(&[b'x'; SIZE]).await?;
    upload.finish().await.map(drop)
}

async fn list(files: &Files, path: &[u8]) -> Result<(), Error> {
    let mut entries = files.list(path, ListOptions::default()).await?;
    while entries.next().await?.is_some() {}
    Ok(())
}

async fn search(files: &Files, path: &[u8]) -> Result<(), Error> {
    let request = SearchRequest { pattern: "a".to_owned(), ..SearchRequest::default() };
    let mut found = files.search(path, &request).await?;
    while found.next().await?.is_some() {}
    Ok(())
}

async fn patch(files: &Files, path: &[u8]) -> Result<(), Error> {
    let absolute = String::from_utf8(files.absolute(path)).unwrap();
    let text = format!("*** Begin Patch\n*** Update File: {absolute}\n@@\n-a\n+{}\n*** End Patch\n", "b".repeat(SIZE));
    let mut sending = files.patch(b"/", PatchOptions::default()).await?;
    sending.send(text.as_bytes()).await?;
    sending.finish().await.map(drop)
}

async fn packed(files: &Files, path: &[u8]) -> Result<Vec<u8>, Error> {
    let mut packing = files.pack(path, &PackOptions::default()).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = packing.next().await? {
        io::Write::write_all(&mut bytes, &piece).unwrap();
    }
    Ok(bytes)
}

async fn unpack(files: &Files, path: &[u8], archive: &[u8]) -> Result<(), Error> {
    let mut sending = files.unpack(path, &UnpackOptions::default()).await?;
    sending.send(archive).await?;
    sending.finish().await.map(drop)
}
