//! Environment, working directory and user: as asked for in the call, and gone with it.

use atoll_runtime::{Command, ExecOutput};

use crate::harness::{Fixture, MARKER, Mode, Threads, assert_exited, err, out, run, skip, soon};

in_every_mode! {
    one_thread {
        variables_are_set_and_unset_for_one_call,
        the_sandboxs_own_variables_can_be_unset,
        values_are_bytes,
        nothing_of_the_hosts_environment_is_inside,
        the_default_directory_is_empty_and_writable,
        directories_are_absolute_or_below_the_default,
        relative_programs_are_below_the_directory,
        users_by_name_and_number,
        groups_by_name_and_number,
        a_user_may_not_do_what_root_may,
        outputs_can_be_opened_again,
        outputs_can_be_opened_again_by_another_user,
        no_other_descriptor_is_open,
    }
    isolated {
        root_is_root_inside,
        members_have_their_groups,
    }
}

async fn exec(f: &Fixture, command: Command) -> ExecOutput {
    soon(f.sandbox.exec(command)).await.unwrap()
}

/// Somebody who is neither root nor us, if there can be one here.
async fn other_user(f: &Fixture) -> Option<&'static str> {
    let name = if f.mode.isolated() { "user" } else { "nobody" };
    let mut command = Command::shell("id -u");
    command.user = Some(name.to_owned());
    let reason = match soon(f.sandbox.exec(command)).await {
        Ok(output) if out(&output) == f.say("id -u").await => "we are that user ourselves".to_owned(),
        Ok(_) => return Some(name),
        Err(error) => error.to_string(),
    };
    skip(&format!("no other user: {reason}"));
    None
}

async fn variables_are_set_and_unset_for_one_call(f: &Fixture) {
    let mut command = Command::shell("echo \"[$A][${HOME-none}][$EMPTY]\"; export B=1");
    command.env.insert("A".into(), Some("a b\n\"'".into()));
    command.env.insert("EMPTY".into(), Some("".into()));
    command.env.insert("HOME".into(), None);
    assert_eq!(out(&exec(f, command).await), "[a b\n\"'][none][]\n");
    let again = f.say("echo \"[${A-none}][${HOME-none}][${B-none}]\"").await;
    assert!(again.starts_with("[none][/") && again.ends_with("][none]\n"), "{again}");
}

async fn the_sandboxs_own_variables_can_be_unset(f: &Fixture) {
    let mut command = Command::shell(format!("echo ${{{MARKER}-none}}"));
    assert_eq!(out(&exec(f, command.clone()).await).trim(), f.marker);
    command.env.insert(MARKER.into(), None);
    assert_eq!(out(&exec(f, command).await), "none\n");
}

async fn values_are_bytes(f: &Fixture) {
    use std::os::unix::ffi::OsStringExt;
    let bytes = b"\xff\xfe\x01 \x80".to_vec();
    let mut command = Command::shell("printf %s \"$RAW\"");
    command.env.insert("RAW".into(), Some(std::ffi::OsString::from_vec(bytes.clone())));
    assert_eq!(exec(f, command).await.stdout.head, bytes);
    let argument = std::ffi::OsString::from_vec(bytes.clone());
    let output = exec(f, Command::argv(["printf".into(), "%s".into(), argument])).await;
    assert_eq!(output.stdout.head, bytes);
}

async fn nothing_of_the_hosts_environment_is_inside(f: &Fixture) {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "run by cargo");
    let output = exec(f, Command::argv(["env"])).await;
    let text = out(&output);
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, [MARKER, "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "USER"]);
    assert!(!text.contains(env!("CARGO_MANIFEST_DIR")));
}

async fn the_default_directory_is_empty_and_writable(f: &Fixture) {
    let place = f.say("pwd; ls -A; touch file; ls").await;
    if f.mode.isolated() {
        assert_eq!(place, "/workspace\nfile\n");
    } else {
        assert!(place.ends_with("/disk/workspace\nfile\n"), "{place}");
    }
}

async fn directories_are_absolute_or_below_the_default(f: &Fixture) {
    let home = f.say("mkdir -p a/b 'with space'; pwd").await;
    let home = home.trim();
    for (cwd, expected) in [
        ("/", "/".to_owned()),
        ("/usr/../usr", "/usr".to_owned()),
        ("a", format!("{home}/a")),
        ("a/b", format!("{home}/a/b")),
        ("./a/../with space", format!("{home}/with space")),
        (".", home.to_owned()),
    ] {
        let mut command = Command::argv(["pwd", "-P"]);
        command.cwd = Some(cwd.into());
        assert_eq!(out(&exec(f, command).await), format!("{expected}\n"), "{cwd}");
    }
    let mut command = Command::shell("cd /; pwd");
    command.cwd = Some("a".into());
    assert_eq!(out(&exec(f, command).await), "/\n");
    assert_eq!(f.say("pwd").await.trim(), home);
}

/// A program given by a relative path is found from the command's directory.
async fn relative_programs_are_below_the_directory(f: &Fixture) {
    f.say("mkdir bin; printf '#!/bin/sh\\necho mine $0' > bin/mine; chmod +x bin/mine").await;
    let mut command = Command::argv(["./mine"]);
    command.cwd = Some("bin".into());
    assert_eq!(out(&exec(f, command).await), "mine ./mine\n");
    let mut command = Command::argv(["mine"]);
    command.env.insert("PATH".into(), Some("bin:/usr/bin:/bin".into()));
    assert_eq!(out(&exec(f, command).await), "mine bin/mine\n");
}

async fn users_by_name_and_number(f: &Fixture) {
    let Some(name) = other_user(f).await else {
        return;
    };
    let number = f.say(&format!("id -u {name}")).await.trim().to_owned();
    for user in [name.to_owned(), number.clone()] {
        let mut command = Command::shell("id -u; id -un; echo $USER $LOGNAME; echo $HOME");
        command.user = Some(user);
        let output = exec(f, command).await;
        let expected = format!("{number}\n{name}\n{name} {name}\n/");
        assert!(out(&output).starts_with(&expected), "{}", out(&output));
    }
    // Nothing of it outlives the call.
    assert_ne!(f.say("id -u").await.trim(), number);
    let mut command = Command::shell("id -u; id -g");
    command.user = Some("12345".to_owned());
    assert_eq!(out(&exec(f, command).await), "12345\n12345\n");
}

async fn groups_by_name_and_number(f: &Fixture) {
    let Some(name) = other_user(f).await else {
        return;
    };
    for (user, expected) in [
        (format!("{name}:tty"), "5"),
        (format!("{name}:5"), "5"),
        ("0:12".to_owned(), "12"),
        ("root:root".to_owned(), "0"),
    ] {
        let mut command = Command::shell("id -g");
        command.user = Some(user.clone());
        assert_eq!(out(&exec(f, command).await).trim(), expected, "{user}");
    }
    // None of ours are kept.
    let mut command = Command::shell("id -G");
    command.user = Some("12345:23456".to_owned());
    assert_eq!(out(&exec(f, command).await), "23456\n");
}

async fn members_have_their_groups(f: &Fixture) {
    let Some(name) = other_user(f).await else {
        return;
    };
    f.say(&format!("echo 'extra:x:777:{name}' >> /etc/group")).await;
    let mut command = Command::shell("id -G");
    command.user = Some(name.to_owned());
    assert_eq!(out(&exec(f, command).await), "1000 777\n");
}

async fn a_user_may_not_do_what_root_may(f: &Fixture) {
    let Some(name) = other_user(f).await else {
        return;
    };
    let mut command = Command::shell("echo x > /etc/passwd");
    command.user = Some(name.to_owned());
    let output = exec(f, command).await;
    assert_exited(&output, 1);
    assert!(err(&output).contains("ermission denied"), "{}", err(&output));
}

const REOPEN: &str = "echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/stderr; echo d >> /proc/self/fd/1";

async fn outputs_can_be_opened_again(f: &Fixture) {
    let output = f.sh(REOPEN).await;
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("a\nc\nd\n", "b\nc\n"));
    assert_exited(&output, 0);
}

async fn outputs_can_be_opened_again_by_another_user(f: &Fixture) {
    let Some(name) = other_user(f).await else {
        return;
    };
    let mut command = Command::shell(REOPEN);
    command.user = Some(name.to_owned());
    let output = exec(f, command).await;
    assert_eq!((out(&output).as_str(), err(&output).as_str()), ("a\nc\nd\n", "b\nc\n"));
    assert_exited(&output, 0);
}

async fn root_is_root_inside(f: &Fixture) {
    let told = f.say("id -u; id -g; id -un; echo $HOME").await;
    assert_eq!(told, "0\n0\nroot\n/root\n");
}

/// Nothing of the server leaks into a command but its three outputs.
async fn no_other_descriptor_is_open(f: &Fixture) {
    let output = exec(f, Command::argv(["ls", "/proc/self/fd"])).await;
    // The fourth is the directory being listed.
    assert_eq!(out(&output), "0\n1\n2\n3\n");
}

/// The signals that a command ignores or blocks, as a set of bits. Two numbers belong to the C library.
async fn held_signals(f: &Fixture) -> u64 {
    let output = exec(f, Command::argv(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"])).await;
    let text = out(&output);
    let sets = text.lines().map(|line| u64::from_str_radix(&line[8..], 16).unwrap());
    sets.fold(0, |all, set| all | set) & !(0b11 << 31)
}

/// As under nohup, and as every Rust program does with SIGPIPE.
fn a_server_that_ignores_hangups(mode: Mode) {
    const HANGUP: i32 = 1;
    atoll_isolation::sys::signal::set_ignored(HANGUP, true).unwrap();
    run(mode, Threads::One, async |f: &Fixture| {
        assert_eq!(held_signals(f).await, 0);
    });
}

mod ignored_signals_are_not_inherited {
    use super::*;

    #[test]
    fn namespaces() {
        a_server_that_ignores_hangups(Mode::Namespaces);
    }

    #[test]
    fn wardens() {
        a_server_that_ignores_hangups(Mode::Wardens);
    }

    #[test]
    fn unisolated() {
        a_server_that_ignores_hangups(Mode::Unisolated);
    }
}
