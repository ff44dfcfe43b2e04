//! A session is one bash: what a command changes in it is there for the next, and nothing of a call outlives it.

use std::time::Duration;

use atoll_protocol::{EndReason, SessionId, SessionState, Signal};
use atoll_runtime::{Command, Error, Filter, ProcessSpec, Session, SessionSpec, StartFrom, Stdin};
use bytes::Bytes;

use crate::harness::{Fixture, eventually, log_text, printed, soon};

in_every_mode! {
    one_thread {
        directories_variables_functions_and_aliases_stay,
        what_belongs_to_a_call_ends_with_it,
        redirections_of_the_shell_itself_stay,
        a_background_job_prints_to_its_own_command,
        an_interrupt_ends_the_command_and_not_the_session,
        a_timeout_ends_the_command_and_not_the_session,
        a_kill_ends_all_that_the_command_started,
        a_shell_that_exits_takes_the_session_with_it,
        a_shell_that_hangs_is_replaced_by_what_it_was,
        a_fork_holds_what_the_session_held,
        a_process_starts_from_what_the_session_holds,
        deleting_ends_everything_at_once,
        ids_are_taken_once,
        a_session_is_as_asked_for_whether_its_shell_was_spare_or_not,
        a_queued_command_can_be_cancelled,
        a_path_that_leads_nowhere_is_the_commands_affair,
    }
    isolated {
        without_a_bash_that_can_load_builtins_there_is_no_session,
    }
}

/// A session with every option at its default.
async fn session(f: &Fixture) -> Session {
    soon(f.sandbox.create_session(SessionSpec::default())).await.unwrap()
}

/// Output, errors and code of a command that ended by itself.
async fn sh(session: &Session, text: &str) -> (String, String, i32) {
    let output = soon(session.exec(Command::shell(text))).await.unwrap();
    assert_eq!(output.end.reason, EndReason::Exited, "{text}: {output:?}");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout.head), text(&output.stderr.head), output.end.code.unwrap())
}

async fn directories_variables_functions_and_aliases_stay(f: &Fixture) {
    let session = session(f).await;
    let steps = [
        ("mkdir -p deep/er && cd deep/er && x='a b' && export Y=2", "", 0),
        ("f() { echo \"f $1 $x\"; }; alias hi='echo hello'; declare -A h=([k]=v); set -- one two", "", 0),
        ("f 1; hi; echo ${h[k]} $2 $#; basename \"$PWD\"; env | grep ^Y=", "f 1 a b\nhello\nv two 2\ner\nY=2\n", 0),
        ("(exit 7)", "", 7),
        ("echo $?", "7\n", 0),
        ("umask 077; ulimit -n 77; set -o pipefail; trap 'echo usr1' USR1", "", 0),
        ("umask; ulimit -n; shopt -o pipefail; kill -USR1 $$; true", "0077\n77\npipefail       \ton\nusr1\n", 0),
        ("cat", "", 0),
    ];
    for (text, expected, code) in steps {
        assert_eq!(sh(&session, text).await, (expected.to_owned(), String::new(), code), "{text}");
    }
    assert!(session.info().cwd.ends_with("/deep/er"), "{:?}", session.info());
    soon(session.delete()).await.unwrap();
}

async fn what_belongs_to_a_call_ends_with_it(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "A=(1 2); declare -i N=5; readonly R=r; export X=old; mkdir sub").await;
    let mut command = Command::shell("echo $A $N $R $X ${HOME-unset} $NEW; basename $PWD; cat; X=gone; unset N; cd /");
    for (name, value) in [("A", "a"), ("N", "n"), ("R", "changed"), ("X", "call"), ("NEW", "new")] {
        command.env.insert(name.into(), Some(value.into()));
    }
    command.env.insert("HOME".into(), None);
    command.cwd = Some("sub".into());
    command.stdin = Stdin::Bytes(Bytes::from_static(b"input\n"));
    let output = soon(session.exec(command)).await.unwrap();
    assert_eq!(output.stdout.head, b"a n changed call unset new\nsub\ninput\n");
    let (after, _, _) =
        sh(&session, "declare -p A N R X; echo ${NEW-unset} ${HOME:+home}; [ -d sub ] && echo back").await;
    let expected = "declare -a A=([0]=\"1\" [1]=\"2\")\ndeclare -i N=\"5\"\ndeclare -r R=\"r\"\ndeclare -x X=\"old\"\nunset home\nback\n";
    assert_eq!(after, expected);
    let mut nowhere = Command::shell("echo ran");
    nowhere.cwd = Some("/nowhere".into());
    assert!(matches!(soon(session.exec(nowhere)).await, Err(Error::CwdNotFound { .. })));
    assert_eq!(sh(&session, "echo fine").await.0, "fine\n");
    soon(session.delete()).await.unwrap();
}

async fn redirections_of_the_shell_itself_stay(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "exec 3>&1 4>file; exec 2>&1").await;
    assert_eq!(sh(&session, "echo three >&3; echo four >&4; echo err >&2").await.0, "three\nerr\n");
    assert_eq!(sh(&session, "cat file; exec >file2; echo into").await.0, "four\n");
    // What 2 was made to mean before stays so.
    assert_eq!(sh(&session, "echo more; echo err >&2").await, ("err\n".to_owned(), String::new(), 0));
    assert_eq!(sh(&session, "exec >&3; cat file2").await.0, "into\nmore\n");
    soon(session.delete()).await.unwrap();
}

async fn a_background_job_prints_to_its_own_command(f: &Fixture) {
    let session = session(f).await;
    let output = soon(session.exec(Command::shell("mkfifo gate; { cat gate; echo late; } & echo now"))).await;
    let output = output.unwrap();
    assert_eq!(output.stdout.head, b"now\n");
    assert!(output.end.survivors > 0);
    let process = f.sandbox.process(&output.id).unwrap();
    assert_eq!(sh(&session, "jobs | wc -l; echo open >gate; wait; echo waited").await.0.lines().last(), Some("waited"));
    soon(process.gone()).await.unwrap();
    assert_eq!(log_text(&process).await, "now\nopen\nlate\n");
    soon(session.delete()).await.unwrap();
}

async fn an_interrupt_ends_the_command_and_not_the_session(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "x=kept").await;
    for text in
        ["echo begun; sleep 60; echo no", "echo begun; while :; do :; done", "echo begun; sleep 60 | cat; echo no"]
    {
        let process = soon(session.begin(ProcessSpec::new(Command::shell(text)))).await.unwrap();
        printed(&process, "begun").await;
        assert!(soon(session.interrupt()).await.unwrap());
        let end = soon(process.ended()).await.unwrap();
        assert_eq!((end.reason, end.signal, end.code), (EndReason::Killed, Some(Signal::INT), None), "{text}");
    }
    assert!(!soon(session.interrupt()).await.unwrap());
    assert_eq!(sh(&session, "echo $x $?").await.0, "kept 130\n");
    // With job control the foreground has a process group of its own; what was put into the background is left alone.
    sh(&session, "set -m; sleep 300 & mine=$!").await;
    let process = soon(session.begin(ProcessSpec::new(Command::shell("echo begun; sleep 60")))).await.unwrap();
    printed(&process, "begun").await;
    // The signal may come before the job has its group: then it is for the shell alone, as with Ctrl-C.
    while process.end().is_none() {
        soon(session.interrupt()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let end = soon(process.ended()).await.unwrap();
    assert!(end.signal == Some(Signal::INT) || end.code == Some(130), "{end:?}");
    assert_eq!(sh(&session, "kill -0 $mine && echo alive; set +m").await.0, "alive\n");
    // Nothing to run is nothing gone wrong, and leaves the status of what ran before.
    assert_eq!(sh(&session, "(exit 7)").await.2, 7);
    assert_eq!(sh(&session, "# nothing").await.2, 0);
    assert_eq!(sh(&session, "echo $?").await.0, "7\n");
    soon(session.delete()).await.unwrap();
}

async fn a_timeout_ends_the_command_and_not_the_session(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "x=kept; sleep 300 & mine=$!").await;
    for text in
        ["echo out; sleep 60", "echo out; setsid sleep 60", "trap '' TERM INT; echo out; while :; do sleep 0.01; done"]
    {
        let mut command = Command::shell(text);
        command.timeout = Some(Duration::from_millis(100));
        command.grace = Duration::from_millis(50);
        let output = soon(session.exec(command)).await.unwrap();
        assert_eq!((output.end.reason, output.end.code), (EndReason::Timeout, None), "{text}");
        assert_eq!(output.stdout.head, b"out\n", "{text}");
        assert!(!output.session_reset, "{text}");
    }
    assert_eq!(sh(&session, "trap - TERM INT; kill -0 $mine && echo $x").await.0, "kept\n");
    soon(session.delete()).await.unwrap();
}

async fn a_kill_ends_all_that_the_command_started(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "sleep 300 & mine=$!").await;
    let text = "sleep 61 & (setsid sleep 62 &) ; trap '' TERM; echo begun; sleep 63 | sleep 64";
    let process = soon(session.begin(ProcessSpec::new(Command::shell(text)))).await.unwrap();
    printed(&process, "begun").await;
    let receipt = soon(session.kill(Duration::from_millis(100))).await.unwrap();
    assert_eq!(receipt.survivors, 0);
    assert_eq!(soon(process.ended()).await.unwrap().reason, EndReason::Killed);
    assert_eq!(sh(&session, "trap - TERM; kill -0 $mine && echo mine").await.0, "mine\n");
    let left: Vec<String> = f.alive().into_iter().filter(|process| process.contains("sleep 6")).collect();
    assert_eq!(left, Vec::<String>::new());
    soon(session.delete()).await.unwrap();
}

async fn a_shell_that_exits_takes_the_session_with_it(f: &Fixture) {
    for (text, code, signal) in [
        ("echo bye; exit 3", Some(3), None),
        ("echo bye; exec sh -c 'exit 4'", Some(4), None),
        ("echo bye; set -e; false", Some(1), None),
        ("echo bye; kill -9 $$", None, Some(Signal::KILL)),
        ("trap 'echo bye' EXIT; exit 5", Some(5), None),
    ] {
        let session = session(f).await;
        let output = soon(session.exec(Command::shell(text))).await.unwrap();
        assert_eq!(
            (output.end.reason, output.end.code, output.end.signal),
            (EndReason::ShellExited, code, signal),
            "{text}"
        );
        assert_eq!(output.stdout.head, b"bye\n", "{text}");
        assert_eq!(session.info().state, SessionState::Dead);
        match soon(session.exec(Command::shell("true"))).await {
            Err(Error::SessionTerminated { end: Some(end), .. }) => assert_eq!((end.code, end.signal), (code, signal)),
            other => panic!("{text}: {other:?}"),
        }
        soon(session.restart(StartFrom::Nothing)).await.unwrap();
        assert_eq!(sh(&session, "echo again ${x-nothing}").await.0, "again nothing\n");
        // What it held when it left is there again, unless it had no time to say.
        let mut command = Command::shell("x=1; cd /tmp; f() { echo f; }; exit 6");
        command.env.insert("CALL".into(), Some("call".into()));
        assert_eq!(soon(session.exec(command)).await.unwrap().end.code, Some(6));
        soon(session.restart(StartFrom::Snapshot)).await.unwrap();
        assert_eq!(sh(&session, "echo $x $PWD ${CALL-unset}; f").await.0, "1 /tmp unset\nf\n");
        soon(session.delete()).await.unwrap();
    }
}

async fn a_shell_that_hangs_is_replaced_by_what_it_was(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "x=kept; declare -A h=([a]=1); cd /tmp; f() { echo f; }").await;
    soon(session.snapshot()).await.unwrap();
    // Matching back-references takes longer than the world is old, and nothing in it looks up.
    let mut command = Command::shell(
        r"echo out; x=lost; s=$(printf 'a%.0s' {1..200}); p='^(a*)(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5\6b$'; [[ $s =~ $p ]]",
    );
    command.timeout = Some(Duration::from_millis(100));
    command.grace = Duration::from_millis(100);
    let output = soon(session.exec(command)).await.unwrap();
    assert_eq!((output.end.reason, output.stdout.head.as_slice()), (EndReason::Timeout, &b"out\n"[..]));
    assert!(output.session_reset);
    assert_eq!(sh(&session, "echo $x ${h[a]} $PWD; f").await.0, "kept 1 /tmp\nf\n");
    assert_eq!(session.info().resets, 1);
    soon(session.delete()).await.unwrap();
}

async fn a_fork_holds_what_the_session_held(f: &Fixture) {
    let first = session(f).await;
    let state = "cd /tmp; x=$'a\\nb'; declare -ai n=(1 2); declare -A h=(['k k']='v v'); readonly r=1; export e='it'\\''s'; \
        declare -u up=abc; f() { local y=$1; echo \"f $y\"; }; alias hi='echo hi'; set -o pipefail; shopt -s extglob; \
        umask 027; ulimit -n 99; trap 'echo bye' EXIT; trap '' USR2; set -- 'p 1' p2; unset HOME";
    sh(&first, state).await;
    let second = soon(first.fork(None)).await.unwrap();
    let show = "pwd; declare -p x n h r e up; f 1; hi; shopt -o pipefail; shopt extglob; umask; ulimit -n; trap -p; \
        echo \"$1\" $# ${HOME-none}; echo $-; declare -x";
    assert_eq!(sh(&first, show).await, sh(&second, show).await);
    assert_eq!(second.info().not_restored, None);
    sh(&second, "x=changed").await;
    assert_eq!(sh(&first, "echo \"$x\"").await.0, "a\nb\n");
    soon(first.delete()).await.unwrap();
    soon(second.delete()).await.unwrap();
}

async fn a_process_starts_from_what_the_session_holds(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "cd /tmp; x=1; f() { echo f $x; }; alias hi='echo hi'; export E=e").await;
    let mut command = Command::shell("f; hi; pwd; env | grep -c ^E=; echo $OVER; cat; x=2; cd /; exit 6");
    command.env.insert("OVER".into(), Some("over".into()));
    command.stdin = Stdin::Bytes(Bytes::from_static(b"in\n"));
    let process = soon(session.start(ProcessSpec::new(command))).await.unwrap();
    let end = soon(process.ended()).await.unwrap();
    assert_eq!((end.reason, end.code), (EndReason::Exited, Some(6)));
    assert_eq!(log_text(&process).await, "f 1\nhi\n/tmp\n1\nover\nin\n");
    assert_eq!(sh(&session, "echo $x; pwd").await.0, "1\n/tmp\n");
    assert_eq!(f.sandbox.processes(&Filter { session: Some(session.id().clone()), ..Filter::default() }).len(), 1);
    soon(session.delete()).await.unwrap();
}

async fn deleting_ends_everything_at_once(f: &Fixture) {
    let session = session(f).await;
    sh(&session, "sleep 300 & (setsid sleep 301 &)").await;
    let started = soon(session.start(ProcessSpec::new(Command::shell("sleep 302")))).await.unwrap();
    let running =
        soon(session.begin(ProcessSpec::new(Command::shell("trap '' TERM INT; echo on; sleep 303")))).await.unwrap();
    let queued = soon(session.begin(ProcessSpec::new(Command::shell("echo never")))).await.unwrap();
    printed(&running, "on").await;
    soon(session.delete()).await.unwrap();
    assert_eq!(soon(running.ended()).await.unwrap().reason, EndReason::Killed);
    assert_eq!(soon(started.ended()).await.unwrap().reason, EndReason::Killed);
    assert!(matches!(soon(queued.ended()).await, Err(Error::SessionNotFound { .. })));
    assert!(matches!(f.sandbox.session(session.id()), Err(Error::SessionNotFound { .. })));
    assert!(matches!(soon(session.exec(Command::shell("true"))).await, Err(Error::SessionNotFound { .. })));
    eventually("nothing is left", || f.alive().is_empty()).await;
}

async fn ids_are_taken_once(f: &Fixture) {
    let spec = SessionSpec { id: Some(SessionId::new("default").unwrap()), ..SessionSpec::default() };
    let mut attempts = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (sandbox, spec) = (f.sandbox.clone(), spec.clone());
        attempts.spawn(async move { sandbox.create_session(spec).await });
    }
    let results = soon(attempts.join_all()).await;
    let refused = |result: &Result<Session, Error>| matches!(result, Err(Error::SessionAlreadyExists { .. }));
    assert_eq!(results.iter().filter(|result| refused(result)).count(), 7);
    let made = results.into_iter().find_map(Result::ok).unwrap();
    assert_eq!(f.sandbox.sessions().len(), 1);
    assert_eq!(f.sandbox.session(made.id()).unwrap().id().as_str(), "default");
    soon(made.delete()).await.unwrap();
    soon(soon(f.sandbox.create_session(spec)).await.unwrap().delete()).await.unwrap();
}

async fn a_session_is_as_asked_for_whether_its_shell_was_spare_or_not(f: &Fixture) {
    let spec = SessionSpec {
        cwd: Some("/tmp".into()),
        env: [("A".into(), Some("it's".into())), ("HOME".into(), None)].into(),
        options: vec!["pipefail".to_owned()],
        ..SessionSpec::default()
    };
    let show =
        "pwd; declare -p A OLDPWD; echo ${HOME-none} $? $- $0 $#; shopt -o pipefail; declare -x; alias; trap; umask";
    // The first finds no spare; the later ones may.
    let first = soon(f.sandbox.create_session(spec.clone())).await.unwrap();
    let fresh = sh(&first, show).await;
    for _ in 0..5 {
        let next = soon(f.sandbox.create_session(spec.clone())).await.unwrap();
        assert_eq!(sh(&next, show).await, fresh);
        assert!(next.info().cwd.ends_with("/tmp"));
        soon(next.delete()).await.unwrap();
        let nowhere = SessionSpec { cwd: Some("/nowhere".into()), ..SessionSpec::default() };
        match soon(f.sandbox.create_session(nowhere)).await {
            Err(Error::CwdNotFound { cwd, why }) => {
                assert_eq!((&*cwd, &*why), ("/nowhere", "no such file or directory"))
            }
            other => panic!("{other:?}"),
        }
        let odd = SessionSpec { options: vec!["sideways".to_owned()], ..SessionSpec::default() };
        assert!(matches!(soon(f.sandbox.create_session(odd)).await, Err(Error::Invalid { .. })));
    }
    soon(first.delete()).await.unwrap();
    assert_eq!(f.sandbox.sessions().len(), 0);
}

async fn a_queued_command_can_be_cancelled(f: &Fixture) {
    let session = session(f).await;
    let first = soon(session.begin(ProcessSpec::new(Command::shell("echo on; sleep 60")))).await.unwrap();
    let second = soon(session.begin(ProcessSpec::new(Command::shell("touch second")))).await.unwrap();
    let third = soon(session.begin(ProcessSpec::new(Command::shell("echo third")))).await.unwrap();
    printed(&first, "on").await;
    assert_eq!(session.info().queued, 2);
    assert!(soon(session.cancel(second.id())).await.unwrap());
    assert!(!soon(session.cancel(second.id())).await.unwrap());
    assert!(!soon(session.cancel(first.id())).await.unwrap());
    assert!(matches!(soon(second.ended()).await, Err(Error::CommandCancelled { .. })));
    soon(session.kill(Duration::ZERO)).await.unwrap();
    let end = soon(third.ended()).await.unwrap();
    assert_eq!((end.reason, end.code), (EndReason::Exited, Some(0)));
    assert_eq!(sh(&session, "ls second 2>/dev/null").await.2, 2);
    soon(session.delete()).await.unwrap();
}

async fn a_path_that_leads_nowhere_is_the_commands_affair(f: &Fixture) {
    let spec = SessionSpec { env: [("PATH".into(), Some("/nowhere".into()))].into(), ..SessionSpec::default() };
    let session = soon(f.sandbox.create_session(spec)).await.unwrap();
    assert_eq!(sh(&session, "echo $PATH").await.0, "/nowhere\n");
    assert_eq!(sh(&session, "ls").await.2, 127);
    let process = soon(session.start(ProcessSpec::new(Command::shell("echo $PATH")))).await.unwrap();
    soon(process.ended()).await.unwrap();
    assert_eq!(log_text(&process).await, "/nowhere\n");
    soon(session.delete()).await.unwrap();
}

async fn without_a_bash_that_can_load_builtins_there_is_no_session(f: &Fixture) {
    // The sandbox's own layer changes, not the host.
    f.say("cp /bin/dash /tmp/dash; rm /bin/bash; cp /tmp/dash /bin/bash").await;
    match soon(f.sandbox.create_session(SessionSpec::default())).await {
        Err(Error::ShellNotSupported { why }) => assert!(why.contains("option"), "{why}"),
        other => panic!("{other:?}"),
    }
    f.say("rm /bin/bash").await;
    match soon(f.sandbox.create_session(SessionSpec::default())).await {
        Err(Error::ShellNotSupported { why }) => assert_eq!(why, "there is no bash in the sandbox"),
        other => panic!("{other:?}"),
    }
    assert_eq!(f.say("echo sh does").await, "sh does\n");
    assert_eq!(f.sandbox.sessions().len(), 0);
}
