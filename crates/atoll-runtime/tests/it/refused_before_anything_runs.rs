//! What cannot be right is refused with its reason; nothing was started and nothing is left.

use atoll_protocol::ErrorCode;
use atoll_runtime::{Command, Error, ProcessSpec};

use crate::harness::{Fixture, assert_exited, err, out, soon};

in_every_mode! {
    one_thread {
        a_missing_command,
        a_missing_working_directory,
        a_file_that_may_not_be_executed,
        a_text_without_an_interpreter,
        too_long_arguments,
        arguments_just_short_enough,
        a_nul_byte_anywhere,
        a_bad_name_for_a_variable,
        an_unknown_user,
        nothing_to_run,
        limits_of_nothing,
        a_syntax_error_is_the_shells_word,
        a_shell_string_is_never_an_option,
    }
}

/// Both ways of running it are refused alike, and the sandbox is as before.
async fn refusal(f: &Fixture, command: Command) -> Error {
    let refused = soon(f.sandbox.exec(command.clone())).await.unwrap_err();
    let again = soon(f.sandbox.start(ProcessSpec::new(command))).await.unwrap_err();
    assert_eq!(refused.to_string(), again.to_string());
    f.assert_untouched().await;
    refused
}

async fn a_missing_command(f: &Fixture) {
    for program in ["no-such-program", "/no/such/program", "./no-such", "/etc/hostname/x"] {
        let refused = refusal(f, Command::argv([program, "arg"])).await;
        assert_eq!(refused.to_string(), format!("command not found: {program}"));
        assert_eq!((refused.code(), refused.code().status()), (ErrorCode::CommandNotFound, 404));
        assert!(refused.hint().is_some());
    }
    // In a shell string it is the shell's word.
    let output = f.sh("no-such-program").await;
    assert_exited(&output, 127);
    assert!(err(&output).contains("not found"));
}

async fn a_missing_working_directory(f: &Fixture) {
    for cwd in ["/no/such", "no/such", "/etc/passwd", "/etc/passwd/x"] {
        for mut command in [Command::shell("echo ran > /tmp/ran"), Command::argv(["true"])] {
            command.cwd = Some(cwd.into());
            let refused = refusal(f, command).await;
            assert!(matches!(&refused, Error::CwdNotFound { cwd: named, .. } if named == cwd), "{refused:?}");
            assert_eq!(refused.code(), ErrorCode::CwdNotFound);
        }
    }
}

async fn a_file_that_may_not_be_executed(f: &Fixture) {
    f.say("echo '#!/bin/sh' > plain").await;
    for program in ["./plain", "/etc/passwd", "/etc", "/"] {
        let refused = refusal(f, Command::argv([program])).await;
        assert!(matches!(&refused, Error::NotExecutable { program: named, .. } if named == program), "{refused:?}");
        assert_eq!(refused.code(), ErrorCode::NotExecutable);
    }
}

async fn a_text_without_an_interpreter(f: &Fixture) {
    f.say("echo 'echo hi' > text; chmod +x text; printf '#!/no/such/interpreter\\n' > lost; chmod +x lost").await;
    let refused = refusal(f, Command::argv(["./text"])).await;
    assert!(matches!(refused, Error::NotExecutable { .. }), "{refused:?}");
    // The kernel says only that something is not there.
    let refused = refusal(f, Command::argv(["./lost"])).await;
    assert!(matches!(refused, Error::CommandNotFound { .. } | Error::NotExecutable { .. }), "{refused:?}");
    // A shell runs it by itself, as ever.
    assert_eq!(out(&f.sh("./text").await), "hi\n");
}

async fn too_long_arguments(f: &Fixture) {
    let one = "x".repeat(128 * 1024);
    let many = std::iter::once("echo".to_owned()).chain((0..40).map(|_| "y".repeat(60_000)));
    let mut environment = Command::argv(["true"]);
    environment.env.insert("BIG".into(), Some("z".repeat(200_000).into()));
    for command in
        [Command::argv(["echo", &one]), Command::argv(many), Command::shell(format!("echo {one}")), environment]
    {
        let refused = refusal(f, command).await;
        assert!(matches!(refused, Error::ArgumentsTooLong { bytes } if bytes >= 128 * 1024), "{refused:?}");
        assert_eq!((refused.code(), refused.code().status()), (ErrorCode::ArgumentsTooLong, 413));
    }
}

async fn arguments_just_short_enough(f: &Fixture) {
    let one = "x".repeat(128 * 1024 - 1);
    let output = soon(f.sandbox.exec(Command::argv(["echo", &one]))).await.unwrap();
    assert_eq!(out(&output).trim_end(), one);
    let many = std::iter::once("echo".to_owned()).chain((0..15).map(|_| "y".repeat(120_000)));
    let output = soon(f.sandbox.exec_with(ProcessSpec::new(Command::argv(many)), 2 << 20)).await.unwrap();
    assert_exited(&output, 0);
    assert_eq!(out(&output).len(), 15 * 120_001);
}

async fn a_nul_byte_anywhere(f: &Fixture) {
    let mut name = Command::shell("true");
    name.env.insert("A\0B".into(), Some("x".into()));
    let mut value = Command::shell("true");
    value.env.insert("A".into(), Some("x\0y".into()));
    let mut cwd = Command::shell("true");
    cwd.cwd = Some("/tmp\0/x".into());
    let mut user = Command::shell("true");
    user.user = Some("ro\0ot".to_owned());
    for command in
        [Command::argv(["echo", "a\0b"]), Command::argv(["ec\0ho"]), Command::shell("echo a\0b"), name, value, cwd]
    {
        let refused = refusal(f, command).await;
        assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
        assert_eq!((refused.code(), refused.code().status()), (ErrorCode::ValidationFailed, 400));
    }
    let refused = refusal(f, user).await;
    assert!(matches!(refused, Error::UserNotFound { .. } | Error::Invalid { .. }), "{refused:?}");
}

async fn a_bad_name_for_a_variable(f: &Fixture) {
    for name in ["", "A=B", "="] {
        for value in [Some("x".into()), None] {
            let mut command = Command::shell("true");
            command.env.insert(name.into(), value);
            let refused = refusal(f, command).await;
            assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
        }
    }
}

async fn an_unknown_user(f: &Fixture) {
    for user in ["no-such-user", "", "root:no-such-group", "-1", "99999999999", "4294967295"] {
        let mut command = Command::shell("true");
        command.user = Some(user.to_owned());
        let refused = refusal(f, command).await;
        assert!(matches!(&refused, Error::UserNotFound { user: named, .. } if named == user), "{user}: {refused:?}");
        assert_eq!(refused.code(), ErrorCode::UserNotFound);
    }
}

async fn nothing_to_run(f: &Fixture) {
    for command in [Command::argv(Vec::<String>::new()), Command::argv([""])] {
        let refused = refusal(f, command).await;
        assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
    }
    // To a shell, nothing is something it can do.
    assert_exited(&f.sh("").await, 0);
}

async fn limits_of_nothing(f: &Fixture) {
    let mut timeout = Command::shell("true");
    timeout.timeout = Some(std::time::Duration::ZERO);
    let mut idle = Command::shell("true");
    idle.idle_timeout = Some(std::time::Duration::ZERO);
    let mut memory = Command::shell("true");
    memory.memory_bytes = Some(0);
    for command in [timeout, idle, memory] {
        let refused = refusal(f, command).await;
        assert!(matches!(refused, Error::Invalid { .. }), "{refused:?}");
    }
}

async fn a_syntax_error_is_the_shells_word(f: &Fixture) {
    let output = f.sh("echo 'unfinished").await;
    assert_eq!(output.end.code, Some(2));
    assert_eq!(out(&output), "");
    assert!(!err(&output).is_empty());
}

async fn a_shell_string_is_never_an_option(f: &Fixture) {
    let output = f.sh("-x; echo $-").await;
    assert_eq!(output.end.code, Some(0));
    assert!(!out(&output).contains('x'), "{}", out(&output));
    assert_eq!(f.sh("+e").await.end.code, Some(127));
}
