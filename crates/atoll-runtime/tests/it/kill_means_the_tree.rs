//! Kill ends every descendant, whatever it did to get away, and the receipt is true for whoever looks into /proc.

use std::time::{Duration, Instant};

use atoll_protocol::{EndReason, ProcessState, Signal};
use atoll_runtime::{Command, Filter, Limits, Process, ProcessSpec, Sandbox, SignalScope};

use crate::harness::{AT_ONCE, Fixture, alive, eventually, log_text, printed, printed_times, random, skip, soon};

in_every_mode! {
    one_thread {
        every_process_stopped_from_outside,
        what_can_end_in_time_is_not_cut_short,
        what_has_ended_can_be_killed_again,
        impatience_shortens_the_grace,
        one_tree_only,
    }
    many_threads {
        several_kills_at_once_all_get_a_true_receipt,
        a_killed_process_can_be_removed_right_away,
    }
    four_modes {
        children,
        setsid,
        double_fork,
        ignored_term,
        stopped,
        two_hundred_children,
        nohup,
        a_relay_of_short_lives,
        forking_while_being_killed,
        children_without_grace,
        stopped_without_grace,
        ignored_term_without_grace,
        orphans_of_a_command_that_is_over,
    }
    with_cgroups {
        a_fork_bomb_under_a_limit,
    }
}

/// A tree of processes that does not want to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stubborn {
    pub(crate) name: &'static str,
    script: &'static str,
    /// How often it prints `up` until it is complete.
    ups: usize,
    /// How many processes it has then, at least.
    size: usize,
}

pub(crate) const PLAIN: Stubborn =
    Stubborn { name: "plain", script: "sleep 300 & sleep 300 & echo up; wait", ups: 1, size: 3 };

pub(crate) const SETSID: Stubborn = Stubborn {
    name: "setsid",
    script: "setsid bash -c 'echo up; sleep 300; :' & setsid --fork bash -c 'echo up; sleep 300; :'; wait; sleep 300",
    ups: 2,
    size: 3,
};

pub(crate) const DOUBLE_FORK: Stubborn = Stubborn {
    name: "double fork",
    script: "( (setsid bash -c 'cd /; echo up; sleep 300; :' </dev/null &) ); echo up; sleep 300; :",
    ups: 2,
    size: 3,
};

pub(crate) const IGNORES_TERM: Stubborn = Stubborn {
    name: "ignores TERM",
    script: "trap '' TERM INT HUP; (echo up; while :; do sleep 1; done) & setsid bash -c 'echo up; while :; do sleep 1; done' & echo up; while :; do sleep 1; done",
    ups: 3,
    size: 3,
};

pub(crate) const STOPPED: Stubborn = Stubborn {
    name: "stopped",
    script: "sleep 300 & setsid sleep 300 & kill -STOP $! %1; echo up; kill -STOP $$; :",
    ups: 1,
    size: 3,
};

pub(crate) const MANY: Stubborn =
    Stubborn { name: "many", script: "for i in {1..200}; do sleep 300 & done; echo up; wait", ups: 1, size: 201 };

pub(crate) const NOHUP: Stubborn = Stubborn {
    name: "nohup",
    script: "nohup bash -c 'echo up; sleep 300; :' & disown; echo up; sleep 300; :",
    ups: 2,
    size: 4,
};

pub(crate) const ORPHANS: Stubborn = Stubborn {
    name: "orphans, main process over",
    script: "for i in 1 2 3; do (trap '' TERM; echo up; while :; do sleep 1; done) & done; exit 3",
    ups: 3,
    size: 3,
};

/// Each generation lives for a moment and has one child: never two looks at the same process.
pub(crate) const RELAY: Stubborn = Stubborn {
    name: "relay",
    script: "trap '' TERM; relay() { relay & }; relay; echo up; sleep 300; :",
    ups: 1,
    size: 1,
};

/// Forks all the time, and keeps its children for a while.
pub(crate) const FORKING: Stubborn =
    Stubborn { name: "forking", script: "trap '' TERM; echo up; while :; do sleep 0.2 & done", ups: 1, size: 1 };

pub(crate) const ALL: [Stubborn; 10] =
    [PLAIN, SETSID, DOUBLE_FORK, IGNORES_TERM, STOPPED, MANY, NOHUP, ORPHANS, RELAY, FORKING];

/// A started tree, with a mark of its own in every environment.
pub(crate) struct Planted {
    pub(crate) process: Process,
    pub(crate) mark: String,
    tree: Stubborn,
}

impl Planted {
    pub(crate) async fn new(sandbox: &Sandbox, tree: Stubborn) -> Self {
        let mark = format!("tree-{:016x}", random());
        let mut command = Command::shell(tree.script);
        command.env.insert("ATOLL_TEST_TREE".into(), Some(mark.clone().into()));
        let process = soon(sandbox.start(ProcessSpec::new(command))).await.unwrap();
        Self { process, mark, tree }
    }

    /// Returns when the whole tree is there.
    pub(crate) async fn grown(&self) {
        printed_times(&self.process, "up\n", self.tree.ups).await;
        eventually(self.tree.name, || self.alive().len() >= self.tree.size).await;
    }

    pub(crate) fn alive(&self) -> Vec<String> {
        alive(&self.mark)
    }

    fn pids(&self) -> Vec<String> {
        self.alive().iter().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
    }

    /// Ends it, and checks the receipt against /proc.
    pub(crate) async fn kill(&self, grace: Duration) {
        let receipt = soon(self.process.kill(grace)).await.unwrap();
        // Not eventually: the receipt says so now.
        assert_eq!(self.alive(), [""; 0], "{} lives on", self.tree.name);
        assert_eq!(receipt.survivors, 0, "{}", self.tree.name);
    }
}

async fn kill_grown(f: &Fixture, tree: Stubborn, grace: Duration) {
    let planted = Planted::new(&f.sandbox, tree).await;
    planted.grown().await;
    planted.kill(grace).await;
    let end = soon(planted.process.ended()).await.unwrap();
    assert_eq!((end.reason, end.survivors), (EndReason::Killed, 0));
    assert!(end.code.is_none() || end.signal.is_none());
}

const SHORT: Duration = Duration::from_millis(200);

async fn children(f: &Fixture) {
    kill_grown(f, PLAIN, Duration::from_secs(10)).await;
}

async fn setsid(f: &Fixture) {
    kill_grown(f, SETSID, Duration::from_secs(10)).await;
}

async fn double_fork(f: &Fixture) {
    kill_grown(f, DOUBLE_FORK, Duration::from_secs(10)).await;
}

async fn ignored_term(f: &Fixture) {
    kill_grown(f, IGNORES_TERM, SHORT).await;
}

async fn stopped(f: &Fixture) {
    kill_grown(f, STOPPED, Duration::from_secs(10)).await;
}

async fn two_hundred_children(f: &Fixture) {
    kill_grown(f, MANY, Duration::from_secs(10)).await;
}

async fn nohup(f: &Fixture) {
    kill_grown(f, NOHUP, Duration::from_secs(10)).await;
}

async fn a_relay_of_short_lives(f: &Fixture) {
    kill_grown(f, RELAY, SHORT).await;
}

async fn forking_while_being_killed(f: &Fixture) {
    kill_grown(f, FORKING, SHORT).await;
}

async fn children_without_grace(f: &Fixture) {
    kill_grown(f, PLAIN, Duration::ZERO).await;
}

async fn stopped_without_grace(f: &Fixture) {
    kill_grown(f, STOPPED, Duration::ZERO).await;
}

async fn ignored_term_without_grace(f: &Fixture) {
    kill_grown(f, IGNORES_TERM, Duration::ZERO).await;
}

async fn orphans_of_a_command_that_is_over(f: &Fixture) {
    let planted = Planted::new(&f.sandbox, ORPHANS).await;
    planted.grown().await;
    assert_eq!(soon(planted.process.ended()).await.unwrap().code, Some(3));
    assert_eq!(planted.process.state(), ProcessState::Lingering);
    planted.kill(SHORT).await;
    assert_eq!(planted.process.end().unwrap().reason, EndReason::Exited);
}

async fn every_process_stopped_from_outside(f: &Fixture) {
    let planted = Planted::new(&f.sandbox, PLAIN).await;
    planted.grown().await;
    let reached = soon(planted.process.signal(Signal::STOP, SignalScope::Tree)).await.unwrap();
    assert_eq!(reached, 3);
    let began = Instant::now();
    planted.kill(Duration::from_secs(60)).await;
    assert!(began.elapsed() < AT_ONCE, "what is stopped must be able to act on TERM");
}

async fn a_fork_bomb_under_a_limit(f: &Fixture) {
    if let Some(reason) = f.no_pids_limit() {
        return skip(&reason);
    }
    let limits = Limits { pids: Some(100), ..Limits::default() };
    let sandbox = f.another(|options| options.limits = limits).await.unwrap();
    let bomb = Stubborn {
        name: "fork bomb",
        script: "trap '' TERM; bomb() { echo up; bomb & bomb; }; bomb 2>/dev/null",
        ups: 20,
        size: 60,
    };
    let planted = Planted::new(&sandbox, bomb).await;
    planted.grown().await;
    planted.kill(SHORT).await;
    let output = soon(sandbox.exec(Command::shell("echo fine"))).await.unwrap();
    assert_eq!(output.stdout.head, b"fine\n", "{output:?}");
}

async fn what_can_end_in_time_is_not_cut_short(f: &Fixture) {
    let process = f.start("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done").await;
    printed(&process, "up").await;
    let receipt = soon(process.kill(Duration::from_secs(60))).await.unwrap();
    assert!(receipt.signalled >= 1 && receipt.survivors == 0);
    assert_eq!(log_text(&process).await, "up\nbye\n");
    let end = process.end().unwrap();
    assert_eq!((end.reason, end.code, end.signal), (EndReason::Killed, Some(7), None));
}

async fn what_has_ended_can_be_killed_again(f: &Fixture) {
    let process = f.start("exit 3").await;
    soon(process.gone()).await.unwrap();
    for _ in 0..2 {
        let receipt = soon(process.kill(SHORT)).await.unwrap();
        assert_eq!((receipt.signalled, receipt.survivors), (0, 0));
    }
    assert_eq!(process.end().unwrap().reason, EndReason::Exited);
}

async fn several_kills_at_once_all_get_a_true_receipt(f: &Fixture) {
    let planted = Planted::new(&f.sandbox, IGNORES_TERM).await;
    planted.grown().await;
    let kills = (0..10).map(|number| {
        let process = planted.process.clone();
        tokio::spawn(async move { process.kill(Duration::from_millis(number * 50)).await })
    });
    for kill in kills.collect::<Vec<_>>() {
        assert_eq!(soon(kill).await.unwrap().unwrap().survivors, 0);
        assert_eq!(planted.alive(), [""; 0]);
    }
}

async fn impatience_shortens_the_grace(f: &Fixture) {
    let planted = Planted::new(&f.sandbox, IGNORES_TERM).await;
    planted.grown().await;
    let patient = tokio::spawn({
        let process = planted.process.clone();
        async move { process.kill(Duration::from_secs(300)).await }
    });
    tokio::task::yield_now().await;
    planted.kill(Duration::ZERO).await;
    assert_eq!(soon(patient).await.unwrap().unwrap().survivors, 0);
}

async fn one_tree_only(f: &Fixture) {
    let other = Planted::new(&f.sandbox, PLAIN).await;
    let planted = Planted::new(&f.sandbox, SETSID).await;
    other.grown().await;
    planted.grown().await;
    let before = other.pids();
    planted.kill(Duration::ZERO).await;
    // While a process changes its program, /proc shows no environment for a moment.
    eventually("the other is whole", || other.pids() == before).await;
    let running = Filter { state: Some(ProcessState::Running), ..Filter::default() };
    assert_eq!(f.sandbox.processes(&running).len(), 1);
}

/// After a receipt the process has ended for everybody else too.
async fn a_killed_process_can_be_removed_right_away(f: &Fixture) {
    for _ in 0..30 {
        let process = f.start("sleep 300").await;
        assert_eq!(soon(process.kill(Duration::ZERO)).await.unwrap().survivors, 0);
        assert_eq!(process.state(), ProcessState::Ended);
        f.sandbox.remove_process(process.id()).unwrap();
    }
}
