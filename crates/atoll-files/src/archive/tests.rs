use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;
use crate::{Kind, Reach, Stop, Tree};

fn tree(path: &Path) -> Tree {
    Tree::beneath(path.as_os_str().as_bytes(), Reach::Beneath).unwrap()
}

fn pack(root: &Path, format: Format) -> (Vec<u8>, Packed) {
    let mut out = Vec::new();
    let packed = Pack { format, ..Pack::default() }.run(&tree(root), b".", &mut out, &Stop::never()).unwrap();
    (out, packed)
}

fn unpack(root: &Path, bytes: &[u8]) -> crate::Result<Unpacked> {
    Unpack::default().run(&tree(root), b".", bytes, &Stop::never())
}

/// Everything that can be known of a tree, line by line.
fn picture(root: &Path, nanos: bool) -> String {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if fs::symlink_metadata(&path).unwrap().is_dir() {
                open.push(path.clone());
            }
            paths.push(path);
        }
    }
    paths.sort();
    let mut picture = String::new();
    let mut inodes = std::collections::HashMap::new();
    for path in paths {
        let facts = fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().escape_ascii().to_string();
        let time = if nanos { facts.mtime_nsec() } else { 0 };
        write!(picture, "{name} {:o} {}.{time} {}", facts.mode(), facts.mtime(), facts.nlink()).unwrap();
        if facts.is_symlink() {
            write!(picture, " -> {}", fs::read_link(&path).unwrap().display()).unwrap();
        } else if facts.is_file() {
            let first = inodes.entry(facts.ino()).or_insert_with(|| name.clone());
            let bytes = if facts.len() > 1 << 24 { Vec::new() } else { fs::read(&path).unwrap() };
            write!(picture, " {} {:08x} {first}", facts.len(), crc32fast::hash(&bytes)).unwrap();
            let mut value = [0; 64];
            if let Ok(length) = rustix::fs::getxattr(&path, "user.note", &mut value[..]) {
                write!(picture, " note={:?}", &value[..length]).unwrap();
            }
        }
        picture.push('\n');
    }
    picture
}

/// A tree with all kinds of entries.
fn everything() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("a/b/c")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("a/file"), "content\n").unwrap();
    fs::write(at("a/nothing"), "").unwrap();
    fs::write(at("a/b/run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(at("a/b/run"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(at("secret"), vec![7; 100_000]).unwrap();
    fs::set_permissions(at("secret"), fs::Permissions::from_mode(0o400)).unwrap();
    symlink("../a/file", at("a/link")).unwrap();
    symlink("/nowhere/at/all", at("dangling")).unwrap();
    symlink("x".repeat(300), at("far")).unwrap();
    fs::write(dir.path().join(OsStr::from_bytes(b"odd\n\xff name")), "odd").unwrap();
    fs::write(at(&"n".repeat(255)), "long").unwrap();
    fs::create_dir_all(at(&format!("{}/{}", "d".repeat(120), "e".repeat(120)))).unwrap();
    fs::write(at(&format!("{}/{}/f", "d".repeat(120), "e".repeat(120))), "deep").unwrap();
    rustix::fs::setxattr(at("a/file"), "user.note", b"\0\xffhi", rustix::fs::XattrFlags::empty()).ok();
    let old = rustix::fs::Timespec { tv_sec: 1_000_000_000, tv_nsec: 123_456_789 };
    let times = rustix::fs::Timestamps { last_access: old, last_modification: old };
    for path in ["a/file", "a/b/c", "empty", "dangling"] {
        rustix::fs::utimensat(rustix::fs::CWD, at(path), &times, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
    fs::set_permissions(at("empty"), fs::Permissions::from_mode(0o1577)).unwrap();
    dir
}

#[test]
fn a_tree_with_everything_goes_round_exactly() {
    for format in [Format::Tar, Format::TarZst, Format::TarGz, Format::Zip] {
        let from = everything();
        if format != Format::Zip {
            fs::hard_link(from.path().join("a/file"), from.path().join("z-hard")).unwrap();
            let fifo = from.path().join("fifo");
            rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o640.into(), 0).unwrap();
        } else {
            rustix::fs::removexattr(from.path().join("a/file"), "user.note").ok();
        }
        let (bytes, packed) = pack(from.path(), format);
        assert_eq!(packed.troubles, 0, "{:?}", packed.first_troubles);
        assert_eq!(Format::of(&bytes), format);
        let to = tempfile::tempdir().unwrap();
        let unpacked = unpack(to.path(), &bytes).unwrap();
        assert_eq!((unpacked.skipped, unpacked.format), (0, format));
        let nanos = format != Format::Zip;
        // A zip knows whole seconds, and no time for a link.
        assert_eq!(
            picture(from.path(), nanos).lines().collect::<Vec<_>>(),
            picture(to.path(), nanos).lines().collect::<Vec<_>>(),
            "{format:?}"
        );
        fs::set_permissions(from.path().join("empty"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn holes_stay_holes() {
    let from = tempfile::tempdir().unwrap();
    let file = fs::File::create(from.path().join("sparse")).unwrap();
    file.set_len(5 << 30).unwrap();
    file.write_all_at(b"middle", 3 << 30).unwrap();
    file.write_all_at(b"start", 0).unwrap();
    fs::File::create(from.path().join("only-hole")).unwrap().set_len(1 << 30).unwrap();
    let (bytes, packed) = pack(from.path(), Format::Tar);
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_eq!(packed.bytes, 6 << 30);
    let to = tempfile::tempdir().unwrap();
    unpack(to.path(), &bytes).unwrap();
    let facts = fs::metadata(to.path().join("sparse")).unwrap();
    assert!(facts.len() == 5 << 30 && facts.blocks() < 1 << 12, "{} {}", facts.len(), facts.blocks());
    let mut read = [0; 6];
    fs::File::open(to.path().join("sparse")).unwrap().read_exact_at(&mut read, 3 << 30).unwrap();
    assert_eq!(&read, b"middle");
    assert_eq!(fs::metadata(to.path().join("only-hole")).unwrap().len(), 1 << 30);
}

/// One member of a hostile tar.
fn raw(kind: u8, name: &str, link: &str, content: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[100..107].copy_from_slice(b"0000644");
    block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    block[136..147].copy_from_slice(b"00000000000");
    block[156] = kind;
    block[157..157 + link.len()].copy_from_slice(link.as_bytes());
    block[257..263].copy_from_slice(b"ustar\0");
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut bytes = block.to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

#[test]
fn tricks_are_refused_and_nothing_is_outside() {
    let tricks: &[(&str, Vec<Vec<u8>>, Kind)] = &[
        ("dots", vec![raw(b'0', "../evil", "", b"x")], Kind::Escapes),
        ("dots inside", vec![raw(b'0', "a/../../evil", "", b"x")], Kind::Escapes),
        ("absolute", vec![raw(b'0', "/tmp/atoll-evil", "", b"x")], Kind::Escapes),
        ("link, then through it", vec![raw(b'2', "l", "..", b""), raw(b'0', "l/evil", "", b"x")], Kind::Escapes),
        ("link, then a directory in it", vec![raw(b'2', "l", "..", b""), raw(b'5', "l/evil", "", b"")], Kind::Escapes),
        ("hard link out", vec![raw(b'1', "h", "../outside", b"")], Kind::Escapes),
        ("hard link absolute", vec![raw(b'1', "h", "/etc/passwd", b"")], Kind::Escapes),
        ("hard link through a link", vec![raw(b'2', "l", "..", b""), raw(b'1', "h", "l/outside", b"")], Kind::Escapes),
        ("hard link to a link", vec![raw(b'2', "l", "../outside", b""), raw(b'1', "h", "l", b"")], Kind::Content),
        ("hard link to nothing", vec![raw(b'1', "h", "none", b"")], Kind::Content),
        ("cut off", vec![raw(b'0', "f", "", b"x")[..600].to_vec()], Kind::Content),
        ("no tar", vec![vec![b'x'; 2048]], Kind::Content),
        ("long name without end", vec![raw(b'L', "x", "", &vec![b'a'; 2 << 20])], Kind::Content),
        ("broken records", vec![raw(b'x', "x", "", b"99999 path=a\n"), raw(b'0', "f", "", b"")], Kind::Content),
    ];
    for (what, members, kind) in tricks {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("outside"), "mine").unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        let failure = unpack(&root, &members.concat()).unwrap_err();
        assert_eq!(failure.kind, *kind, "{what}: {failure}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "{what}");
        assert_eq!(fs::read_to_string(dir.path().join("outside")).unwrap(), "mine", "{what}");
        assert_eq!(fs::metadata(dir.path().join("outside")).unwrap().nlink(), 1, "{what}");
        assert!(!Path::new("/tmp/atoll-evil").exists());
    }
}

#[test]
fn a_link_is_replaced_and_never_written_through() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("outside"), "mine").unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    // The same name twice: a link out, then a file.
    let bytes = [raw(b'2', "f", "../outside", b""), raw(b'0', "f", "", b"theirs")].concat();
    unpack(&root, &bytes).unwrap();
    assert_eq!(fs::read_to_string(root.join("f")).unwrap(), "theirs");
    assert!(fs::symlink_metadata(root.join("f")).unwrap().is_file());
    assert_eq!(fs::read_to_string(dir.path().join("outside")).unwrap(), "mine");
    // A name of a file outside, and then a file of that name: the other name keeps its content.
    fs::hard_link(dir.path().join("outside"), root.join("g")).unwrap();
    unpack(&root, &raw(b'0', "g", "", b"theirs")).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("outside")).unwrap(), "mine");
}

#[test]
fn devices_are_skipped_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let members =
        [raw(b'3', "null", "", b""), raw(b'4', "disk", "", b""), raw(b'Z', "odd", "", b""), raw(b'0', "f", "", b"x")];
    let unpacked = unpack(dir.path(), &members.concat()).unwrap();
    assert_eq!((unpacked.files, unpacked.skipped), (1, 3));
    assert_eq!(unpacked.first_skipped[0], Skipped { path: b"null".to_vec(), why: "a character device" });
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn what_is_there_is_treated_as_asked() {
    let archive = [raw(b'0', "f", "", b"new"), raw(b'0', "g", "", b"new")].concat();
    let run = |existing| {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), "old").unwrap();
        let done = Unpack { existing, ..Unpack::default() }.run(&tree(dir.path()), b".", &archive[..], &Stop::never());
        let left = fs::read_to_string(dir.path().join("f")).unwrap();
        (done.map(|told| (told.files, told.skipped)).map_err(|failure| failure.kind), left)
    };
    assert_eq!(run(Existing::Replace), (Ok((2, 0)), "new".into()));
    assert_eq!(run(Existing::Keep), (Ok((1, 1)), "old".into()));
    assert_eq!(run(Existing::Refuse), (Err(Kind::Exists), "old".into()));
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("f")).unwrap();
    assert_eq!(unpack(dir.path(), &archive).unwrap_err().kind, Kind::IsDirectory);
}

#[test]
fn leading_names_are_stripped() {
    let dir = tempfile::tempdir().unwrap();
    let archive = [
        raw(b'5', "top/", "", b""),
        raw(b'0', "top/a/f", "", b"x"),
        raw(b'1', "top/h", "top/a/f", b""),
        raw(b'0', "lone", "", b"x"),
    ];
    let asked = Unpack { strip: 1, ..Unpack::default() };
    asked.run(&tree(dir.path()), b"made/for/it", &archive.concat()[..], &Stop::never()).unwrap();
    let root = dir.path().join("made/for/it");
    assert_eq!(fs::read_to_string(root.join("a/f")).unwrap(), "x");
    assert_eq!(fs::metadata(root.join("h")).unwrap().nlink(), 2);
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
}

#[test]
fn bombs_are_stopped() {
    let run = |bytes: &[u8], limits: Limits| {
        let dir = tempfile::tempdir().unwrap();
        let done = Unpack { limits, ..Unpack::default() }.run(&tree(dir.path()), b".", bytes, &Stop::never());
        done.map(|told| told.bytes).map_err(|failure| failure.kind)
    };
    let from = tempfile::tempdir().unwrap();
    let mut file = fs::File::create(from.path().join("zeros")).unwrap();
    for _ in 0..200 {
        file.write_all(&[0; 1 << 20]).unwrap();
    }
    for format in [Format::TarZst, Format::TarGz, Format::Zip] {
        let (bytes, _) = pack(from.path(), format);
        assert_eq!(run(&bytes, Limits::default()), Err(Kind::Limit), "{format:?}");
        assert_eq!(run(&bytes, Limits { ratio: 1 << 40, ..Limits::default() }), Ok(200 << 20), "{format:?}");
        let bytes_limit = Limits { bytes: Some(1 << 20), ratio: 1 << 40, ..Limits::default() };
        assert_eq!(run(&bytes, bytes_limit), Err(Kind::Limit), "{format:?}");
    }
    let many: Vec<u8> = (0..100).flat_map(|number| raw(b'0', &format!("f{number}"), "", b"")).collect();
    assert_eq!(run(&many, Limits { entries: 99, ..Limits::default() }), Err(Kind::Limit));
    assert_eq!(run(&many, Limits { entries: 100, ..Limits::default() }), Ok(0));
    // A file that is all hole costs nothing, but counts where bytes are limited.
    let sparse = tempfile::tempdir().unwrap();
    fs::File::create(sparse.path().join("hole")).unwrap().set_len(1 << 40).unwrap();
    let (bytes, _) = pack(sparse.path(), Format::Tar);
    assert_eq!(run(&bytes, Limits { bytes: Some(1 << 30), ..Limits::default() }), Err(Kind::Limit));
}

#[test]
fn a_zip_whose_members_share_bytes_is_refused() {
    let from = tempfile::tempdir().unwrap();
    fs::write(from.path().join("a"), vec![0; 10_000]).unwrap();
    fs::write(from.path().join("b"), vec![0; 10_000]).unwrap();
    let (mut bytes, _) = pack(from.path(), Format::Zip);
    // Both entries of the directory point at the first member.
    let second = memchr::memmem::rfind(&bytes, b"PK\x01\x02").unwrap();
    bytes[second + 42..second + 46].fill(0);
    let to = tempfile::tempdir().unwrap();
    let failure = unpack(to.path(), &bytes).unwrap_err();
    assert!(failure.kind == Kind::Content && failure.detail.contains("share"), "{failure}");
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    // A wrong checksum leaves no file.
    let (mut bytes, _) = pack(from.path(), Format::Zip);
    let first = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    bytes[first + 16] ^= 1;
    let failure = unpack(to.path(), &bytes).unwrap_err();
    assert!(failure.kind == Kind::Content && failure.detail.contains("checksum"), "{failure}");
    assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "other tools are the measure of what an archive is")]
fn other_tools_read_ours_and_we_read_theirs() {
    let from = everything();
    let to = tempfile::tempdir().unwrap();
    let file = to.path().join("archive");
    let run = |program: &str, arguments: &[&str], at: &Path| {
        let output = Command::new(program).args(arguments).current_dir(at).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    };
    fs::write(from.path().join("sparse"), "x").unwrap();
    fs::OpenOptions::new().write(true).open(from.path().join("sparse")).unwrap().set_len(1 << 22).unwrap();
    fs::write(&file, pack(from.path(), Format::Tar).0).unwrap();
    let theirs = to.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    run("tar", &["--xattrs", "-xpf", "../archive"], &theirs);
    assert_eq!(picture(from.path(), true), picture(&theirs, true));
    for form in ["pax", "gnu"] {
        let archive = format!("{}/{form}", to.path().display());
        let attributes = if form == "pax" { "--xattrs" } else { "--no-xattrs" };
        run("tar", &["--sparse", attributes, &format!("--format={form}"), "-cf", &archive, "."], from.path());
        let ours = to.path().join(format!("{form}-ours"));
        fs::create_dir(&ours).unwrap();
        unpack(&ours, &fs::read(archive).unwrap()).unwrap();
        let nanos = form == "pax";
        let strip = |text: String| text.replace(" note=[0, 255, 104, 105]", "");
        let (left, right) = (picture(from.path(), nanos), picture(&ours, nanos));
        if nanos { assert_eq!(left, right) } else { assert_eq!(strip(left), strip(right)) }
    }
    let zip = pack(from.path(), Format::Zip).0;
    fs::write(&file, zip).unwrap();
    let list =
        "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(len(z.namelist()))";
    run("python3", &["-c", list, "archive"], to.path());
    fs::set_permissions(from.path().join("empty"), fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(to.path()).unwrap() {
        let path = entry.unwrap().path().join("empty");
        if path.is_dir() {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    assert!(!fs::symlink_metadata(&file).unwrap().file_type().is_fifo());
}

#[test]
fn a_tree_that_changes_while_it_is_packed_gives_a_whole_archive() {
    let from = tempfile::tempdir().unwrap();
    for number in 0..50 {
        fs::write(from.path().join(format!("f{number}")), vec![1; 100_000]).unwrap();
    }
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                for number in 0..50 {
                    let path = from.path().join(format!("f{number}"));
                    fs::write(&path, "short").ok();
                    fs::remove_file(&path).ok();
                    symlink("/etc/passwd", &path).ok();
                    fs::remove_file(&path).ok();
                    fs::write(&path, vec![1; 100_000]).ok();
                }
            }
        });
        for _ in 0..5 {
            for format in [Format::Tar, Format::Zip] {
                let (bytes, _) = pack(from.path(), format);
                let to = tempfile::tempdir().unwrap();
                unpack(to.path(), &bytes).unwrap();
                for entry in fs::read_dir(to.path()).unwrap() {
                    let path = entry.unwrap().path();
                    if fs::symlink_metadata(&path).unwrap().is_file() {
                        assert!(!fs::read_to_string(path).unwrap().contains("root:"));
                    }
                }
            }
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
