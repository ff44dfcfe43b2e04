//! Many commands in one sandbox, and many sandboxes: each as if it were alone.

use std::time::Duration;

use atoll_protocol::ProcessState;
use atoll_runtime::{Command, Limits, ProcessSpec, Sandbox};

use crate::harness::{Fixture, out, skip, soon};

in_every_mode! {
    many_threads {
        heavy_two_hundred_execs_in_one_sandbox,
        heavy_two_hundred_processes_at_once,
        eight_sandboxes_at_once,
        eight_sandboxes_made_and_destroyed_at_once,
        a_flood_beside_a_small_command,
    }
    with_cgroups {
        a_limit_on_processes_is_for_the_users_own,
    }
}

/// What helps to start programs side by side is a thread of init's, and would be counted with the user's processes.
async fn a_limit_on_processes_is_for_the_users_own(f: &Fixture) {
    if let Some(reason) = f.no_pids_limit() {
        return skip(&reason);
    }
    let limits = Limits { pids: Some(100), ..Limits::default() };
    let limited = f.another(|options| options.limits = limits).await.unwrap();
    assert_eq!(threads_of_init(&limited).await, 1);
    assert!(threads_of_init(&f.sandbox).await > 1, "without a limit there is room for them");
}

/// How many it has after many commands at once.
async fn threads_of_init(sandbox: &Sandbox) -> usize {
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let sandbox = sandbox.clone();
        starts.spawn(async move { sandbox.exec(Command::argv(["true"])).await });
    }
    while let Some(output) = soon(starts.join_next()).await {
        assert!(output.unwrap().unwrap().end.success());
    }
    let output = soon(sandbox.exec(Command::shell("grep Threads /proc/$PPID/status"))).await.unwrap();
    out(&output).trim().rsplit('\t').next().unwrap().parse().unwrap()
}

async fn heavy_two_hundred_execs_in_one_sandbox(f: &Fixture) {
    let execs: Vec<_> = (0..200)
        .map(|number| {
            let sandbox = f.sandbox.clone();
            let script = format!("echo out {number}; echo err {number} >&2; exit {}", number % 256);
            tokio::spawn(async move { sandbox.exec(Command::shell(script)).await })
        })
        .collect();
    for (number, exec) in execs.into_iter().enumerate() {
        let output = tokio::time::timeout(Duration::from_secs(60), exec).await.unwrap().unwrap().unwrap();
        assert_eq!(out(&output), format!("out {number}\n"));
        assert_eq!(output.stderr.head, format!("err {number}\n").into_bytes());
        assert_eq!(output.end.code, i32::try_from(number % 256).ok());
    }
    assert_eq!(f.listed(), []);
    assert_eq!(f.alive(), [""; 0]);
}

async fn heavy_two_hundred_processes_at_once(f: &Fixture) {
    let mut processes = Vec::new();
    for number in 0..200 {
        processes.push(f.start(&format!("echo {number}; sleep 300")).await);
    }
    for (number, process) in processes.iter().enumerate() {
        crate::harness::printed(process, &format!("{number}\n")).await;
    }
    let receipt = soon(f.sandbox.kill_all(&atoll_runtime::Filter::default(), Duration::ZERO)).await.unwrap();
    assert_eq!(receipt.survivors, 0);
    assert_eq!(f.alive(), [""; 0]);
}

async fn eight_sandboxes_at_once(f: &Fixture) {
    let mut sandboxes = Vec::new();
    for _ in 0..8 {
        sandboxes.push(f.another(|_| {}).await.unwrap());
    }
    let work = |number: usize| format!("echo {number} > mine; for i in 1 2 3 4 5; do cat mine; done");
    let execs: Vec<_> = sandboxes
        .iter()
        .enumerate()
        .flat_map(|(number, sandbox)| (0..5).map(move |_| (number, sandbox.clone())))
        .map(|(number, sandbox)| {
            let script = work(number);
            (number, tokio::spawn(async move { sandbox.exec(Command::shell(script)).await }))
        })
        .collect();
    for (number, exec) in execs {
        let output = soon(exec).await.unwrap().unwrap();
        assert_eq!(out(&output).lines().filter(|line| *line != number.to_string()).count(), 0);
    }
    // Files of one are not those of another.
    let output = soon(sandboxes[3].exec(Command::shell("cat mine; ls"))).await.unwrap();
    assert_eq!(out(&output), "3\nmine\n");
    soon(sandboxes[3].destroy()).await.unwrap();
    let output = soon(sandboxes[4].exec(Command::shell("cat mine"))).await.unwrap();
    assert_eq!(out(&output), "4\n", "one that goes does not touch its neighbours");
}

async fn eight_sandboxes_made_and_destroyed_at_once(f: &Fixture) {
    let makes = (0..8).map(|number| async move {
        let sandbox = f.another(|_| {}).await.unwrap();
        let output = sandbox.exec(Command::shell(format!("sleep 300 & echo {number}"))).await.unwrap();
        assert_eq!(out(&output), format!("{number}\n"));
        sandbox.destroy().await.unwrap();
    });
    let all: Vec<_> = makes.map(Box::pin).collect();
    soon(join_all(all)).await;
    assert_eq!(f.alive(), [""; 0]);
}

/// Drives all of them together.
async fn join_all<F: Future<Output = ()> + Unpin>(mut futures: Vec<F>) {
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| std::pin::Pin::new(future).poll(context).is_pending());
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// A busy neighbour does not make another command wait for it.
async fn a_flood_beside_a_small_command(f: &Fixture) {
    let flood = soon(f.sandbox.start(ProcessSpec::new(Command::shell("yes")))).await.unwrap();
    crate::harness::printed(&flood, "y\n").await;
    for number in 0..20 {
        assert_eq!(f.say(&format!("echo {number}")).await, format!("{number}\n"));
    }
    assert_eq!(flood.state(), ProcessState::Running);
    assert_eq!(soon(flood.kill(Duration::ZERO)).await.unwrap().survivors, 0);
}
