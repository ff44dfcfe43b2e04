//! The Rust in the documents: it stands here too, word for word, where it is compiled and run.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot go on, or not run, should say so")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use atoll_protocol::{ProcessId, TerminalId, WindowSize};
use atoll_runtime::{
    Access, Attach, Command, Home, Host, LogEvent, PortCheck, ProcessSpec, Readiness, Restart, Sandbox, SandboxOptions,
    Stdin, TerminalEvent, TerminalSpec, ViewerOptions,
};

/// The documents that have some.
const DOCUMENTS: [&str; 3] = ["exec.md", "processes.md", "terminals.md"];

/// Each line of a block stands here below the one before it, wherever that is indented.
#[test]
fn what_is_shown_is_what_is_run() {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let here = lines(include_str!("documents.rs"));
    let mut count = 0;
    for name in DOCUMENTS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        for block in text.split("```rust\n").skip(1) {
            let block = lines(block.split("```").next().unwrap());
            assert!(
                here.windows(block.len()).any(|window| window == block),
                "{name} shows what is not run: {block:#?}"
            );
            count += 1;
        }
        assert!(!text.contains("```rust,"), "{name} has Rust that is not run");
    }
    assert_eq!(count, 9);
}

/// One runtime, and a home of its own.
fn run(body: impl AsyncFnOnce(&Sandbox) -> Result<(), Box<dyn Error>>) {
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let host = Host::new(Home::at(directory.path())).unwrap();
        match host.create(SandboxOptions::default()).await {
            Ok(sandbox) => {
                let limited = tokio::time::timeout(Duration::from_secs(60), body(&sandbox)).await;
                limited.expect("examples are quick").unwrap();
                sandbox.destroy().await.unwrap();
            }
            Err(error) => {
                assert!(std::env::var_os("ATOLL_FORBID_SKIPS").is_none(), "{error}");
                eprintln!("SKIP documents: {error}");
            }
        }
    });
}

/// The first lines of a program; compiled only, since they use the machine's own home.
#[rustfmt::skip]
#[expect(dead_code, reason = "compiled, not run")]
async fn a_sandbox() -> Result<(), Box<dyn Error>> {
    let host = Host::new(Home::discover()?)?;                          // once per program: starts the keeper
    let sandbox = host.create(SandboxOptions::default()).await?;       // name, isolation, limits, env, retention
    // …
    sandbox.destroy().await?;                                          // ends everything in it, removes everything of it
    Ok(())
}

#[test]
#[rustfmt::skip]
fn an_answer_that_is_not_whole() {
    run(async |sandbox| {
        let output = sandbox.exec_with(ProcessSpec::new(Command::shell("seq 1 100000")), 1000).await?;
        if let Some(cursor) = output.stdout.omitted_from {
            let page = sandbox.process(&output.id)?.log().read(cursor, 64 * 1024, None).await;
            // page.events, page.next_cursor; see processes.md
            assert!(!page.events.is_empty());
        }
        assert!(output.stdout.omitted_from.is_some());
        Ok(())
    });
}

#[test]
#[rustfmt::skip]
#[expect(unused_variables, reason = "as the document has it")]
fn a_process() {
    run(async |sandbox| {
        let mut spec = ProcessSpec::new(Command::shell("python3 -m http.server 8000"));
        spec.id = Some(ProcessId::new("web")?);
        spec.labels.insert("job".into(), "demo".into());
        let process = sandbox.start(spec).await?;
        let mut spec = ProcessSpec::new(Command::shell("cat; sleep 1000"));
        spec.command.stdin = Stdin::Pipe;
        spec.restart = Restart::ON_FAILURE;                                // at most 10 times, pauses from 100 ms to 10 s
        spec.readiness = Some(Readiness::Port(PortCheck { port: 8000, http: None }));
        let process = sandbox.start(spec).await?;
        let next = process.write_stdin(0, "hello ".into()).await?;        // 6
        let same = process.write_stdin(0, "hello ".into()).await?;        // 6 again: already written, skipped
        let next = process.write_stdin(next, "world\n".into()).await?;    // 12
        process.close_stdin().await?;
        assert_eq!((same, next), (6, 12));
        process.wait_log(&atoll_runtime::LogPattern::Text("hello world\n".to_owned()), 0, None).await?;
        let receipt = process.kill(Duration::from_secs(2)).await?;
        assert_eq!(receipt.survivors, 0);
        let mut reader = process.log().reader(0);                          // from the beginning, then live
        while let Some(event) = reader.next().await {
            match event {
                LogEvent::Output(chunk) => { /* chunk.cursor, chunk.stream, chunk.bytes, chunk.time */ }
                LogEvent::Gap { from, to } => { /* these bytes are gone */ }
            }
        }
        Ok(())
    });
}

#[test]
#[rustfmt::skip]
#[expect(unused_variables, reason = "as the document has it")]
fn a_terminal() {
    run(async |sandbox| {
        let terminal = sandbox.open_terminal(TerminalSpec {
            id: Some(TerminalId::new("main")?),
            size: WindowSize::new(120, 40)?,
            ..TerminalSpec::default()                                      // the interactive shell, TERM=xterm-256color
        }).await?;
        terminal.write("make test\n".into()).await?;
        terminal.write("exit\n".into()).await?;
        let mut viewer = terminal.attach(ViewerOptions { from: Attach::Tail, access: Access::ReadWrite });
        while let Some(event) = viewer.next().await {
            match event {
                TerminalEvent::Resized(change) => { /* change.size, change.by; the first event is always one */ }
                TerminalEvent::Output { cursor, bytes } => { /* exactly as printed */ }
                TerminalEvent::Truncated { from, to } => { /* the log had to drop these */ }
                TerminalEvent::Exit(end) => { /* the end record; also for those who come later */ }
            }
        }
        Ok(())
    });
}
