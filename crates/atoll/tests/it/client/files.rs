//! Files from the command line: copied both ways, printed, listed, searched, edited; through the gateway.

use std::os::unix::fs::PermissionsExt;

use super::{Cli, refused};
use crate::harness::Home;

#[test]
fn files_and_trees_are_copied_both_ways() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let here = tempfile::tempdir().unwrap();
    let at = |path: &str| here.path().join(path).display().to_string();
    let inside = |path: &str| format!("{name}:{path}");
    std::fs::create_dir_all(here.path().join("tree/sub")).unwrap();
    std::fs::write(here.path().join("tree/sub/run"), "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(here.path().join("tree/sub/run"), PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("sub/run", here.path().join("tree/link")).unwrap();
    std::fs::write(here.path().join("large"), vec![7; 20_000_000]).unwrap();
    cli.ok(&["cp", &at("tree"), &inside("")]);
    assert_eq!(cli.ok(&["exec", &name, "--", "tree/link"]), "ran\n");
    cli.ok(&["cp", &at("large"), &inside("deep/er/")]);
    assert_eq!(cli.json(&["cp", &inside("deep/er/large"), &at("back")])["bytes"], 20_000_000);
    assert_eq!(std::fs::read(here.path().join("back")).unwrap(), vec![7; 20_000_000]);
    cli.ok(&["cp", &inside("tree"), &at("copy")]);
    let copied = std::fs::metadata(here.path().join("copy/sub/run")).unwrap();
    assert_eq!(copied.permissions().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read_link(here.path().join("copy/link")).unwrap().to_str(), Some("sub/run"));
    cli.ok(&["cp", &inside("tree/sub/run"), &inside("again")]);
    assert_eq!(cli.ok(&["cat", &inside("again")]), "#!/bin/sh\necho ran\n");
    assert_eq!(cli.ok(&["cp", &inside("again"), "-"]), "#!/bin/sh\necho ran\n");
    let missing = cli.done(&["cp", &inside("none"), &at("x"), "--json"]);
    assert_eq!((missing.code, refused(&missing).as_str()), (Some(125), "FILE_NOT_FOUND"));
    let nowhere = cli.done(&["cp", &at("large"), &at("x"), "--json"]);
    assert_eq!(refused(&nowhere), "VALIDATION_FAILED");
    cli.server.end();
}

#[test]
fn cp_of_several_sources_warns_about_skipped_entries() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let here = tempfile::tempdir().unwrap();
    let at = |path: &str| here.path().join(path).display().to_string();
    let inside = |path: &str| format!("{name}:{path}");
    for file in ["one", "two"] {
        std::fs::write(here.path().join(file), file).unwrap();
    }
    cli.ok(&["cp", &at("one"), &at("two"), &inside("both/")]);
    assert_eq!(cli.ok(&["exec", &name, "--", "cat both/one both/two"]), "onetwo");
    cli.ok(&["cp", &inside("both/one"), &inside("both/two"), &at("back/")]);
    assert_eq!(std::fs::read_to_string(here.path().join("back/two")).unwrap(), "two");
    let nowhere = cli.done(&["cp", &at("one"), &at("two"), &inside("both/one"), "--json"]);
    assert_eq!(refused(&nowhere), "VALIDATION_FAILED");
    // A socket has no place in an archive.
    let listens = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"both/socket\")'";
    if cli.done(&["exec", &name, "--", listens]).code == Some(0) {
        let partly = cli.done(&["cp", "-q", &inside("both"), &at("partly")]);
        assert_eq!(partly.code, Some(1), "{partly:?}");
        let said = String::from_utf8_lossy(&partly.err);
        assert!(said.contains("skipped 1 (cannot be read)") && said.contains("socket"), "{said}");
        assert_eq!(std::fs::read_to_string(here.path().join("partly/one")).unwrap(), "one");
    }
    cli.server.end();
}

#[test]
fn files_are_listed_searched_and_edited() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let inside = |path: &str| format!("{name}:{path}");
    let make = "mkdir -p src; printf 'one\\ntwo\\nthree\\n' > src/a; echo .x > .hidden; ln -s a src/b";
    cli.ok(&["exec", &name, "--", make]);
    assert_eq!(cli.ok(&["ls-files", &name]), "src/\n");
    assert_eq!(cli.ok(&["ls-files", &name, "-a", "-r"]), ".hidden\nsrc/\nsrc/a\nsrc/b\n");
    assert!(cli.ok(&["ls-files", &inside("src"), "-l"]).contains("b -> a"));
    assert_eq!(cli.ok(&["grep", &name, "t[wh]", "-C", "1"]), "src/a-1-one\nsrc/a:2:two\nsrc/a:3:three\n");
    assert_eq!(cli.ok(&["grep", &name, "one", "-l"]), "src/a\n");
    cli.done(&["grep", &name, "absent"]).assert(1, "", "");
    cli.ok(&["edit", &inside("src/a"), "--old", "two", "--new", "2"]);
    assert_eq!(cli.ok(&["cat", &inside("src/a"), "--offset", "4", "--length", "2"]), "2\n");
    let refused_edit = cli.done(&["edit", &inside("src/a"), "--old", "two", "--new", "2", "--json"]);
    assert_eq!(refused(&refused_edit), "CONTENT_MISMATCH");
    let patch = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(patch.path(), "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-2\n+two\n three\n").unwrap();
    let file = patch.path().display().to_string();
    assert_eq!(cli.ok(&["edit", &inside("src"), "--patch", &file]), "changed a +1 -1\n");
    assert_eq!(cli.ok(&["cat", &inside("src/a")]), "one\ntwo\nthree\n");
    cli.server.end();
}

#[test]
fn a_paused_sandbox_gives_no_files_and_a_reader_may_search() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    cli.ok(&["exec", &name, "--", "echo needle > f"]);
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), cli.ok(&["token", "create", "--scope", &format!("{name}:read")])).unwrap();
    let file = token.path().display().to_string();
    let as_reader = |arguments: &[&str]| cli.done(&[arguments, &["--token-file", &file]].concat());
    as_reader(&["cat", &format!("{name}:f")]).assert(0, "needle\n", "");
    as_reader(&["grep", &name, "needle"]).assert(0, "f:1:needle\n", "");
    let write = as_reader(&["edit", &format!("{name}:f"), "--old", "needle", "--new", "x", "--json"]);
    assert_eq!(refused(&write), "FORBIDDEN");
    if cli.done(&["pause", &name]).code == Some(0) {
        assert_eq!(refused(&cli.done(&["cat", &format!("{name}:f"), "--json"])), "SANDBOX_PAUSED");
        cli.ok(&["resume", &name]);
    }
    cli.server.end();
}
