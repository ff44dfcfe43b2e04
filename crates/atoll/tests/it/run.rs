//! `atoll run`: output, codes, options, signals. What the sandbox keeps apart is in `escape.rs`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::harness::{ATOLL, Call, Home, Running, Signal, command, need, skip, until};

#[test]
fn the_first_command_of_the_readme() {
    need!("ps", "hostname");
    let home = Home::new();
    let done = home.run(["--", "echo hello from $(hostname); id; ps aux"]).done();
    let out = done.stdout();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], format!("hello from {}-0", home.tag));
    assert_eq!(lines[1], "uid=0(root) gid=0(root) groups=0(root)");
    // Init and the last command, in whose place bash has put itself: nothing of the host.
    let shown: Vec<&str> = lines[3..].iter().map(|line| line.split_whitespace().nth(10).unwrap()).collect();
    assert_eq!(shown, ["init", "ps"], "{out}");
    assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""));
    home.assert_nothing_left();
}

#[test]
fn a_made_up_name_is_the_host_name_too() {
    let home = Home::new();
    let done = home.atoll(["run", "--", "cat /etc/hostname /proc/sys/kernel/hostname"]).done();
    let out = done.stdout();
    let (file, kernel) = out.split_once('\n').unwrap();
    assert!(file.starts_with("atoll-"), "{out}");
    assert_eq!(kernel.trim(), file);
    home.assert_nothing_left();
}

#[test]
fn nothing_needs_to_be_prepared() {
    let home = Home::bare();
    assert_eq!(home.sh("echo made"), "made\n");
    assert_eq!(home.sh("echo again"), "again\n");
    home.assert_nothing_left();
}

#[test]
fn exit_codes() {
    let home = Home::new();
    let cases: [(&[&str], i32); 19] = [
        (&["--", "true"], 0),
        (&["--", "exit 3"], 3),
        (&["--", "exit 255"], 255),
        (&["--", "kill -TERM $$"], 128 + 15),
        (&["--", "kill -KILL $$"], 128 + 9),
        (&["--", "kill -RTMAX $$"], 128 + 64),
        (&["--timeout", "100ms", "--", "sleep 100"], 124),
        (&["--idle-timeout", "100ms", "--", "sleep 100"], 124),
        (&["--max-output", "1k", "--", "yes"], 123),
        (&["--no-such-option", "--", "true"], 125),
        (&["--timeout", "0", "--", "true"], 125),
        (&["--user", "nosuch", "--", "true"], 125),
        (&["--cwd", "/nosuch", "--", "true"], 125),
        (&["--", "/etc/passwd", "x"], 126),
        (&["--", "/workspace", "x"], 126),
        (&["--", "/workspace/nosuch", "x"], 127),
        (&["--", "nosuch", "x"], 127),
        // The shell's own words for the same.
        (&["--", "/etc/passwd"], 126),
        (&["--", "nosuch"], 127),
    ];
    for (arguments, code) in cases {
        let done = home.run(arguments).done();
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn failures_are_told_on_stderr_with_a_hint() {
    let home = Home::new();
    home.run(["--", "nosuch", "x"]).done().assert(
        127,
        "",
        "error: command not found: nosuch\n\
         hint: argv runs a program directly; give a shell string to use builtins and pipes\n",
    );
    home.run(["--", "/etc/passwd", "x"]).done().assert(
        126,
        "",
        "error: cannot execute /etc/passwd: permission denied\n",
    );
    home.run(["--cwd", "/nosuch", "--", "true"]).done().assert(
        125,
        "",
        "error: cannot enter the working directory /nosuch: no such file or directory\n\
         hint: it must be a directory inside that the command's user may enter, as each one above it\n",
    );
    home.run(["--user", "nosuch", "--", "true"]).done().assert(125, "", "error: no such user in the sandbox: nosuch\n");
    home.assert_nothing_left();
}

#[test]
fn several_words_are_a_program_and_its_arguments() {
    let home = Home::new();
    home.run(["--", "printf", "%s|", "$HOME", "a b", "", "*"]).done().assert(0, "$HOME|a b||*|", "");
    // One word is for bash, whatever it begins with.
    home.run(["--", "-x"]).done().assert(127, "", "bash: line 1: -x: command not found\n");
    home.run(["--", ""]).done().assert(0, "", "");
    home.assert_nothing_left();
}

#[test]
fn the_two_outputs_go_to_the_two_descriptors() {
    let home = Home::new();
    home.run(["--", "echo out; echo err >&2; printf more; printf less >&2"]).done().assert(0, "out\nmore", "err\nless");
    home.assert_nothing_left();
}

#[test]
fn output_is_seen_while_the_command_still_runs() {
    let home = Home::new();
    let mut running = home.run(["--stdin", "--", "echo one; read x; echo $x >&2; read y; echo $y"]).start_with_stdin();
    assert_eq!(running.line(), "one\n");
    running.tell("two\n");
    assert_eq!(running.error_line(), "two\n");
    running.tell("three\n");
    assert_eq!(running.line(), "three\n");
    running.done().assert(0, "one\nthree\n", "two\n");
    home.assert_nothing_left();
}

#[test]
fn a_part_of_a_line_is_seen_too() {
    let home = Home::new();
    let mut call = home.run(["--stdin", "--", "printf abc; read x"]);
    let mut child = call.command.stdin(Stdio::piped()).spawn().unwrap();
    let mut three = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut three).unwrap();
    assert_eq!(&three, b"abc");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    home.assert_nothing_left();
}

#[test]
fn every_byte_comes_out_as_it_went_in() {
    let home = Home::new();
    let all: Vec<u8> = (0..=255).collect();
    let script = "for i in {0..255}; do printf \"\\\\x$(printf %x $i)\"; done";
    let done = home.run(["--", script]).done();
    assert_eq!((done.code, done.out), (Some(0), all));
    home.assert_nothing_left();
}

#[test]
fn a_large_output_is_complete() {
    let home = Home::new();
    let done = home.run(["--", "seq 1 2000000; seq 1 300000 >&2"]).done();
    let numbers = |upto: u32| (1..=upto).map(|number| format!("{number}\n")).collect::<String>();
    assert_eq!(done.code, Some(0));
    assert!(done.out == numbers(2_000_000).as_bytes());
    assert!(done.err == numbers(300_000).as_bytes());
    home.assert_nothing_left();
}

#[test]
fn the_answer_as_json() {
    let home = Home::new();
    let done = home.run(["--json", "--", "echo out; echo err >&2; exit 4"]).done();
    assert_eq!((done.code, done.stderr().as_str()), (Some(4), ""));
    assert!(done.stdout().ends_with("}\n"));
    let mut answer = done.json();
    let end = answer["end"].as_object_mut().unwrap();
    let mut taken = |name: &str| end.remove(name).unwrap();
    for name in ["duration_ms", "cpu_user_ms", "cpu_system_ms", "max_rss_bytes"] {
        assert!(taken(name).is_u64(), "{name}");
    }
    for name in ["started_at", "ended_at"] {
        let time = taken(name);
        assert!(time.as_str().unwrap().ends_with('Z'), "{name}: {time}");
    }
    let capture = |text: &str| json!({"data": text, "encoding": "utf8", "replaced": false, "bytes": text.len()});
    assert_eq!(
        answer,
        json!({
            "id": "run",
            "end": {
                "reason": "exited", "code": 4, "signal": null,
                "timed_out": false, "oom_killed": false, "survivors": 0,
            },
            "stdout": capture("out\n"),
            "stderr": capture("err\n"),
            "cursor": 8,
        })
    );
    home.assert_nothing_left();
}

#[test]
fn the_end_record_says_why() {
    let home = Home::new();
    let cases: [(&[&str], serde_json::Value); 5] = [
        (&["--", "kill -9 $$"], json!(["signaled", null, "SIGKILL", false])),
        (&["--timeout", "100ms", "--", "sleep 100"], json!(["timeout", null, "SIGTERM", true])),
        (&["--timeout", "100ms", "--", "trap 'exit 7' TERM; sleep 100 & wait"], json!(["timeout", 7, null, true])),
        (&["--idle-timeout", "100ms", "--", "echo a; sleep 100"], json!(["idle_timeout", null, "SIGTERM", true])),
        (&["--max-output", "10", "--", "yes"], json!(["output_limit", null, "SIGKILL", false])),
    ];
    for (arguments, expected) in cases {
        let done = home.run([&["--json"], arguments].concat()).done();
        let answer = done.json();
        let end = &answer["end"];
        let found = json!([end["reason"], end["code"], end["signal"], end["timed_out"]]);
        assert_eq!(found, expected, "{arguments:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn json_in_base64_is_exact() {
    let home = Home::new();
    let all: Vec<u8> = (0..=255).collect();
    let done = home.run(["--json", "--encoding", "base64", "--stdin", "--", "tee /dev/stderr"]).done_with(all.clone());
    let answer = done.json();
    for stream in ["stdout", "stderr"] {
        let capture = &answer[stream];
        let data = STANDARD.decode(capture["data"].as_str().unwrap()).unwrap();
        assert_eq!(data, all, "{stream}");
        assert_eq!(capture["bytes"], 256);
        assert_eq!(capture["replaced"], false);
    }
    home.assert_nothing_left();
}

#[test]
fn json_in_utf8_says_what_it_replaced() {
    let home = Home::new();
    let answer = home.run(["--json", "--", "printf 'a\\xff'; printf 'b\\xc3\\xa4' >&2"]).done().json();
    assert_eq!(answer["stdout"]["data"], "a\u{fffd}");
    assert_eq!(answer["stdout"]["replaced"], true);
    assert_eq!(answer["stdout"]["bytes"], 2);
    assert_eq!(answer["stderr"]["data"], "b\u{e4}");
    assert_eq!(answer["stderr"]["replaced"], false);
    home.assert_nothing_left();
}

#[test]
fn an_answer_that_is_cut_says_where() {
    let home = Home::new();
    let answer = home.run(["--json", "--answer-bytes", "10", "--", "seq 100; echo short >&2"]).done().json();
    let capture = &answer["stdout"];
    let truncated = &capture["truncated"];
    let (head, tail) = (capture["data"].as_str().unwrap(), truncated["tail"].as_str().unwrap());
    let whole: String = (1..=100).map(|number| format!("{number}\n")).collect();
    assert!(whole.starts_with(head) && whole.ends_with(tail), "{answer}");
    assert_eq!(head.len() + tail.len(), 10);
    assert_eq!(capture["bytes"], whole.len());
    assert_eq!(truncated["omitted_bytes"], whole.len() - 10);
    assert_eq!(truncated["cursor"], head.len());
    assert_eq!(answer["stderr"].get("truncated"), None);
    home.assert_nothing_left();
}

#[test]
fn a_failure_as_json() {
    let home = Home::new();
    let done = home.run(["--json", "--", "nosuch", "x"]).done();
    assert_eq!((done.code, done.stderr().as_str()), (Some(127), ""));
    let answer = done.json();
    assert_eq!(answer["error"]["code"], "COMMAND_NOT_FOUND");
    assert_eq!(answer["error"]["message"], "command not found: nosuch");
    assert!(answer["error"]["hint"].is_string());
    let done = home.run(["--json", "--memory", "1", "--", "true"]).done();
    assert_eq!(done.code, Some(125));
    assert_eq!(done.json()["error"]["code"], "VALIDATION_FAILED");
    home.assert_nothing_left();
}

#[test]
fn survivors_are_counted_and_end_with_the_sandbox() {
    let home = Home::new();
    let answer = home.run(["--json", "--", "sleep 1000 & setsid sleep 1000 & echo started"]).done().json();
    assert_eq!(answer["end"]["survivors"], 2);
    assert_eq!(answer["stdout"]["data"], "started\n");
    home.assert_nothing_left();
}

#[test]
fn variables() {
    let home = Home::new();
    let done = home
        .run([
            "--env",
            "SET=a=b c",
            "--env",
            "TAKEN",
            "--env",
            "LANG-",
            "--env",
            "EMPTY=",
            "--env",
            "HOME=/x",
            "--",
            "env",
        ])
        .env("TAKEN", "from outside")
        .env("UNASKED", "stays outside")
        .done();
    let out = done.stdout();
    let lines: Vec<&str> = out.lines().collect();
    for expected in ["SET=a=b c", "TAKEN=from outside", "EMPTY=", "HOME=/x"] {
        assert!(lines.contains(&expected), "{expected}: {out}");
    }
    for absent in ["LANG=", "UNASKED=", "ATOLL_HOME="] {
        assert!(!out.contains(absent), "{absent}: {out}");
    }
    for (variable, message) in
        [("ATOLL_SURELY_UNSET", "is not set in your environment"), ("=x", "no name for a variable")]
    {
        let done = home.run(["--env", variable, "--", "true"]).done();
        assert_eq!(done.code, Some(125), "{variable}");
        assert!(done.stderr().contains(message), "{done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn working_directories() {
    let home = Home::new();
    for (cwd, expected) in
        [(None, "/workspace\n"), (Some("/usr/bin"), "/usr/bin\n"), (Some(".."), "/\n"), (Some("../tmp"), "/tmp\n")]
    {
        let options: Vec<&str> = cwd.map(|cwd| ["--cwd", cwd]).into_iter().flatten().collect();
        assert_eq!(home.sh_with(&options, "pwd -P"), expected, "{cwd:?}");
    }
    for (cwd, why) in [("nosuch", "no such file or directory"), ("/etc/passwd", "not a directory")] {
        let done = home.run(["--cwd", cwd, "--", "pwd"]).done();
        let hint = "it must be a directory inside that the command's user may enter, as each one above it";
        let expected = format!("error: cannot enter the working directory {cwd}: {why}\nhint: {hint}\n");
        done.assert(125, "", &expected);
    }
    // As the user, not as root.
    let done = home.run(["--user", "user", "--cwd", "/root", "--", "pwd"]).done();
    assert_eq!(done.code, Some(125), "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn users() {
    let home = Home::new();
    for (user, expected) in [
        ("root", "0 0 0 /root"),
        ("user", "1000 1000 1000 /home/user"),
        ("1000", "1000 1000 1000 /home/user"),
        ("user:0", "1000 0 0 /home/user"),
        ("1000:tty", "1000 5 5 /home/user"),
        ("4321", "4321 4321 4321 /"),
        ("nobody", "65534 65534 65534 /nonexistent"),
    ] {
        let shown = home.sh_with(&["--user", user], "echo $(id -u) $(id -g) $(id -G) $HOME");
        assert_eq!(shown.trim(), expected, "{user}");
    }
    let shown = home.sh_with(
        &["--user", "user"],
        "touch /workspace/a /tmp/b ~/c && echo $USER; touch /etc/d 2>/dev/null || echo refused",
    );
    assert_eq!(shown, "user\nrefused\n");
    for user in ["nosuch", "user:nosuch", "70000", "-1", ""] {
        let done = home.run([&format!("--user={user}"), "--", "true"]).done();
        assert_eq!(done.code, Some(125), "{user:?}: {done:?}");
        assert!(done.stderr().contains("no such user"), "{user:?}: {done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn without_stdin_there_is_none() {
    let home = Home::new();
    let done = home.run(["--", "cat; echo $?"]).done_with(b"not for you".to_vec());
    done.assert(0, "0\n", "");
    home.assert_nothing_left();
}

#[test]
fn stdin_is_passed_on_bit_by_bit() {
    let home = Home::new();
    // Not a multiple of anything, and every byte value.
    let input: Vec<u8> =
        (0..10_000_019_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]).collect();
    let done = home.run(["--stdin", "--", "cat"]).done_with(input.clone());
    assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""));
    assert!(done.out == input, "{} of {} bytes", done.out.len(), input.len());
    home.assert_nothing_left();
}

#[test]
fn a_command_need_not_read_its_stdin() {
    let home = Home::new();
    let done = home.run(["--stdin", "--", "echo done"]).done_with(vec![b'x'; 10_000_000]);
    done.assert(0, "done\n", "");
    // Nor does its end wait for ours.
    let mut running = home.run(["--stdin", "--", "echo done"]).start_with_stdin();
    assert_eq!(running.line(), "done\n");
    until("the end, with stdin still open", || running.is_over().then_some(()));
    let done = home.run(["--json", "--stdin", "--", "head -c 3"]).done_with(vec![b'x'; 1_000_000]);
    assert_eq!(done.json()["stdout"]["data"], "xxx");
    home.assert_nothing_left();
}

#[test]
fn a_timeout_keeps_the_output_and_ends_the_tree() {
    let home = Home::new();
    let script = "echo before; trap '' TERM; (setsid sleep 1000 &); sleep 1000 & wait; wait";
    for options in [&[][..], &["--without-cgroups"], &["--isolation", "none"]] {
        let limits = ["--timeout", "300ms", "--grace", "200ms", "--", script];
        let done = home.run([options, &limits].concat()).done();
        assert_eq!((done.code, done.stdout().as_str()), (Some(124), "before\n"), "{done:?}");
        assert!(done.stderr().starts_with("atoll: timeout after "), "{done:?}");
        assert!(done.took >= Duration::from_millis(300), "{done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn a_memory_limit_is_told_when_it_was_hit() {
    need!("python3");
    let home = Home::new();
    let eater = "x = b'a' * (300 << 20); print(len(x))";
    let done = home.run(["--memory", "64m", "--", "python3", "-c", eater]).done();
    if done.stderr().contains("cannot limit memory") {
        return skip(&done.stderr());
    }
    done.assert(137, "", "atoll: out of memory: killed by the kernel\n");
    let answer = home.run(["--json", "--memory", "64m", "--", "python3", "-c", eater]).done().json();
    assert_eq!(answer["end"]["reason"], "oom");
    assert_eq!(answer["end"]["oom_killed"], true);
    // Enough is enough.
    let done = home.run(["--memory", "1g", "--", "python3", "-c", eater]).done();
    done.assert(0, "314572800\n", "");
    home.assert_nothing_left();
}

#[test]
fn a_limit_on_processes_holds() {
    need!("perl");
    let home = Home::new();
    // As many as fit beside init and itself. Not by bash, which tries again for fifteen seconds.
    let script = "for (1..20) { $p = fork; last unless defined $p; $p or sleep 1000; $n++ } print $n, \"\\n\"";
    let done = home.run(["--pids", "8", "--json", "--", "perl", "-e", script]).done();
    let answer = done.json();
    if answer["error"]["code"] == "LIMIT_UNAVAILABLE" {
        return skip(&done.stdout());
    }
    assert_eq!(answer["stdout"]["data"], "6\n", "{answer}");
    assert_eq!(answer["end"]["survivors"], 6, "{answer}");
    home.assert_nothing_left();
}

#[test]
fn heavy_a_limit_on_cores_holds() {
    let home = Home::new();
    // The same amount of work takes ten times as long on a tenth of a core: its processor time tells how much it was.
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let done = home.run(["--json", "--cpus", "0.1", "--", work]).done();
    let answer = done.json();
    if answer["error"]["code"] == "LIMIT_UNAVAILABLE" {
        return skip(&done.stdout());
    }
    let end = &answer["end"];
    let used = end["cpu_user_ms"].as_u64().unwrap() + end["cpu_system_ms"].as_u64().unwrap();
    let took = end["duration_ms"].as_u64().unwrap();
    assert!(used >= 20 && took > used * 4, "{end}");
    home.assert_nothing_left();
}

#[test]
fn a_limit_on_open_files_holds() {
    let home = Home::new();
    let script = "ulimit -Sn; ulimit -Hn; ulimit -n 33 2>/dev/null && echo raised; exec 40</dev/null && echo opened";
    let done = home.run(["--open-files", "32", "--", script]).done();
    assert_eq!(done.stdout(), "32\n32\n", "{done:?}");
    home.assert_nothing_left();
}

#[test]
fn a_name_is_the_host_name_and_has_rules() {
    let home = Home::new();
    let name = home.name();
    let shown = home.sh_with(&["--name", &name], "uname -n; cat /etc/hostname; grep -c $(uname -n) /etc/hosts");
    assert_eq!(shown, format!("{name}\n{name}\n1\n"));
    for name in ["", "A", "a.b", "../x", "-a", "a-", "a/b", &"x".repeat(64)] {
        let done = home.atoll(["run", &format!("--name={name}"), "--", "true"]).done();
        assert_eq!(done.code, Some(125), "{name}");
        assert!(done.stderr().contains("is not a valid sandbox name: 1 to 63 characters of a-z, 0-9"), "{done:?}");
    }
    home.assert_nothing_left();
}

#[test]
fn a_name_in_use_is_refused_and_its_sandbox_unharmed() {
    let home = Home::new();
    let name = home.name();
    let mut first = home.run(["--stdin", "--name", &name, "--", "echo up; read x; echo still $x"]).start_with_stdin();
    assert_eq!(first.line(), "up\n");
    let second = home.run(["--name", &name, "--", "true"]).done();
    second.assert(125, "", &format!("error: a sandbox named {name} exists already\n"));
    first.tell("here\n");
    first.done().assert(0, "up\nstill here\n", "");
    home.assert_nothing_left();
    assert_eq!(home.sh_with(&["--name", &name], "echo free again"), "free again\n");
    home.assert_nothing_left();
}

#[test]
fn of_two_that_want_one_name_at_once_one_wins_unharmed() {
    let home = Home::new();
    for round in 0..20 {
        let name = home.name();
        let both = [(); 2].map(|()| {
            home.run(["--stdin", "--name", &name, "--", "echo kept > f; read x; cat f; ls | wc -l"]).start_with_stdin()
        });
        let mut ended = Vec::new();
        for mut running in both {
            // The one that is refused is over by itself; the other waits for its input.
            until("an end or a file", || {
                let up = home.sandboxes().iter().any(|dir| dir.join("disk/workspace/f").exists());
                (running.is_over() || up).then_some(())
            });
            ended.push(running);
        }
        let done: Vec<_> = ended.into_iter().map(Running::done).collect();
        let won = done.iter().filter(|done| done.code == Some(0)).count();
        assert!(won >= 1, "round {round}: {done:?}");
        for done in &done {
            match done.code {
                Some(0) => done.assert(0, "kept\n1\n", ""),
                _ => done.assert(125, "", &format!("error: a sandbox named {name} exists already\n")),
            }
        }
    }
    home.assert_nothing_left();
}

#[test]
fn isolation_none_is_this_machine() {
    let home = Home::new();
    let outside = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let shown = home.sh_with(&["--isolation", "none"], "uname -n; id -u; pwd -P");
    let workspace = home.path().join("state/sandboxes").join(format!("{}-0", home.tag)).join("disk/workspace");
    let uid = rustix::process::getuid().as_raw();
    assert_eq!(shown, format!("{outside}{uid}\n{}\n", workspace.display()));
    let done = home.run(["--isolation", "vm", "--", "true"]).done();
    assert_eq!(done.code, Some(125));
    home.assert_nothing_left();
}

#[test]
fn signals_end_the_tree_and_are_told_by_the_code() {
    let home = Home::new();
    let tree = "trap 'echo asked' TERM; (setsid sleep 1000 &); sleep 1000 & wait; wait; wait";
    for options in [&[][..], &["--without-cgroups"], &["--isolation", "none"], &["--json"]] {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            let running = home.run([options, &["--grace", "300ms", "--", tree]].concat()).start();
            until("the tree", || (home.pids_called("sleep").len() == 2).then_some(()));
            running.signal(signal);
            let done = running.done();
            assert_eq!(done.code, Some(code), "{options:?} {signal:?} {done:?}");
            assert!(done.stdout().contains("asked"), "{options:?} {done:?}");
            home.assert_nothing_left();
        }
    }
}

/// As a terminal sends it: to every process of the group.
#[test]
fn ctrl_c_reaches_the_whole_group_and_leaves_nothing() {
    let home = Home::new();
    for options in
        [&[][..], &["--without-cgroups"], &["--isolation", "none"], &["--isolation", "none", "--without-cgroups"]]
    {
        let mut call = home.run([options, &["--", "(setsid sleep 1000 &); echo up; sleep 1000"]].concat());
        call.command.process_group(0);
        let mut running = call.start();
        assert_eq!(running.line(), "up\n");
        let group = rustix::process::Pid::from_raw(i32::try_from(running.pid()).unwrap()).unwrap();
        rustix::process::kill_process_group(group, Signal::INT).unwrap();
        let done = running.done();
        assert_eq!(done.code, Some(130), "{options:?} {done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn heavy_a_signal_at_any_moment_of_the_making_leaves_nothing() {
    let home = Home::new();
    for round in 0..80_u64 {
        let options: &[&str] = match round % 4 {
            0 => &["--without-cgroups"],
            1 => &["--isolation", "none"],
            2 => &["--pids", "100", "--memory", "1g"],
            _ => &[],
        };
        let mut call = home.run([options, &["--grace", "10ms", "--", "sleep 1000"]].concat());
        call.command.process_group(0);
        let running = call.start();
        // No event to wait for: the moment itself is what is tried.
        std::thread::sleep(Duration::from_micros(round * 350));
        let group = rustix::process::Pid::from_raw(i32::try_from(running.pid()).unwrap()).unwrap();
        rustix::process::kill_process_group(group, Signal::INT).unwrap();
        let done = running.done();
        // Before it watches for signals it dies of it; afterwards it says so by its code.
        assert!(done.code == Some(130) || done.signal == Some(2), "round {round}: {done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let home = Home::new();
    for options in [&["--"][..], &["--without-cgroups", "--"], &["--isolation", "none", "--"]] {
        let mut call = home.run([options, &["(setsid sleep 1000 &); yes"]].concat());
        let mut child = call.command.spawn().unwrap();
        let mut first = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut first).unwrap();
        drop(reader);
        assert_eq!(first, "y\n");
        let output = child.wait_with_output().unwrap();
        // As every other program of a pipeline: by the broken pipe, without a word.
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), err.as_str()), (Some(141), ""), "{options:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn closed_standard_descriptors_do_no_harm() {
    need!("sh");
    let home = Home::new();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let name = home.name();
        let script = format!(
            "exec {ATOLL} run --name {name} -e ATOLL_IT={} -- 'ls /proc/self/fd | wc -l; exit 7' {closed}",
            home.tag
        );
        let mut command = command("sh");
        command.args(["-c", &script]).env("ATOLL_HOME", home.path()).current_dir(home.cwd());
        let done = Call { command }.done();
        assert_eq!(done.code, Some(7), "{closed}: {done:?}");
        home.assert_nothing_left();
    }
}

#[test]
fn help_has_examples_and_exit_codes() {
    let home = Home::new();
    let done = home.atoll(["run", "--help"]).done();
    let help = done.stdout();
    assert_eq!(done.code, Some(0));
    for expected in ["Examples:\n  atoll run -- 'echo hello", "Exit codes:\n", "  124  the command exceeded --timeout"]
    {
        assert!(help.contains(expected), "{expected}: {help}");
    }
    assert!(!help.contains("--without-cgroups"), "{help}");
    for arguments in [&["--help"][..], &["--version"], &["run", "-h"]] {
        let done = home.atoll(arguments).done();
        assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_wrong_command_line_is_explained_and_does_nothing() {
    let home = Home::new();
    for (arguments, message) in [
        (&["run"][..], "required arguments were not provided"),
        (&["run", "--"], "required arguments were not provided"),
        (&["run", "true"], "unexpected argument 'true' found"),
        (&["run", "--timeout", "5d", "--", "true"], "invalid value '5d'"),
        (&["run", "--memory", "lots", "--", "true"], "invalid value 'lots'"),
        (&["run", "--pids", "0", "--", "true"], "invalid value '0'"),
        (&["run", "--cpus", "-1", "--", "true"], "unexpected argument"),
        (&["run", "--open-files", "3", "--", "true"], "invalid value '3'"),
        (&["run", "--encoding", "base64", "--", "true"], "--json"),
        (&["nosuch"], "unrecognized subcommand 'nosuch'"),
        (&[], "Usage: atoll"),
    ] {
        let done = home.atoll(arguments).done();
        assert_eq!((done.code, done.stdout().as_str()), (Some(125), ""), "{arguments:?}");
        assert!(done.stderr().contains(message), "{arguments:?}: {done:?}");
    }
    assert!(!home.path().join("state").exists());
}

#[test]
fn arguments_that_the_kernel_would_not_take_are_refused() {
    let home = Home::new();
    let long = "x".repeat(130_000);
    let done = home.run(["--", "echo", &long, "end"]).done();
    assert_eq!(done.code, Some(0), "{:?}", done.stderr());
    assert!(done.stdout().ends_with("x end\n"));
    let text = format!(": {long}{}", "x".repeat(10_000));
    // Longer than one argument may be: refused by name, never cut.
    let done = home.run(["--json", "--stdin", "--", "wc -c"]).done_with(text.into_bytes());
    assert_eq!(done.json()["stdout"]["data"], "140002\n");
    home.assert_nothing_left();
}

#[test]
fn many_at_once_in_one_home_do_not_meet() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let home = &home;
            scope.spawn(move || {
                for round in 0..12 {
                    let text = format!("{worker}-{round}");
                    home.run(["--", &format!("echo {text} > f; cat f; ls | wc -l")]).done().assert(
                        0,
                        &format!("{text}\n1\n"),
                        "",
                    );
                }
            });
        }
    });
    home.assert_nothing_left();
}
