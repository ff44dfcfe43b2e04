//! An agent over kept storage that dies without warning: the next one over the same storage tells the truth about what
//! ran, has every byte that a reader was shown, and runs nothing twice.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use atoll_client::{Client, OutputRange};
use atoll_protocol::{
    Encoding, EndReason, EndRecord, ErrorCode, ExecRequest, ProcessId, ProcessInfo, ProcessState, StartRequest,
    TerminalRequest, WaitFor, WaitRequest,
};

use crate::harness::{Home, Signal, SmallDisk, kill, skip, until};

/// An agent over the storage.
struct Life {
    pid: u32,
    client: Client,
}

fn begin(home: &Home, storage: &Path) -> Life {
    let socket = home.path().join("socket");
    let spec = format!(r#"{{"name":"{}","env":{{"ATOLL_IT":"{}"}}}}"#, home.name(), home.tag);
    let socket_path = socket.to_str().unwrap();
    let arguments = ["agent", "--spec", "-", "--socket", socket_path, "--storage", storage.to_str().unwrap()];
    let done = home.atoll(arguments).done_with(spec.into_bytes());
    assert_eq!((done.code, done.stderr().as_str()), (Some(0), ""), "{done:?}");
    Life { pid: u32::try_from(done.json()["pid"].as_u64().unwrap()).unwrap(), client: Client::unix(socket) }
}

impl Life {
    fn is_over(&self) -> Option<()> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid));
        stat.map_or(true, |stat| stat.contains(") Z ")).then_some(())
    }

    /// Ends it without warning, and waits until nothing of it is left that could hold the storage.
    fn die(&self, home: &Home) {
        kill(self.pid, Signal::KILL).unwrap();
        until("the agent is gone", || self.is_over());
        home.assert_nothing_left();
    }

    fn stop(&self, home: &Home) {
        wait(self.client.delete_sandbox()).unwrap();
        until("the agent is gone", || self.is_over());
        home.assert_nothing_left();
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

fn storage(home: &Home) -> PathBuf {
    home.path().join("kept")
}

fn named(id: &str, text: &str) -> StartRequest {
    StartRequest { id: Some(ProcessId::new(id).unwrap()), ..StartRequest::shell(text) }
}

/// Everything that a process has printed so far, by its pages.
async fn printed(client: &Client, id: &ProcessId) -> String {
    let mut text = String::new();
    let mut since = 0;
    loop {
        let page = client.output(id, &OutputRange { since, ..range() }).await.unwrap();
        assert!(page.gaps.is_empty(), "{id}: {:?}", page.gaps);
        for event in &page.events {
            assert_eq!(event.cursor, text.len() as u64, "{id}");
            text.push_str(&event.data);
        }
        since = page.next_cursor;
        if page.closed || page.events.is_empty() {
            return text;
        }
    }
}

fn range() -> OutputRange {
    OutputRange { since: 0, limit: Some(1 << 20), wait: None, encoding: Encoding::Utf8 }
}

/// Reads the output as it comes until the agent is gone; what was shown is left in `shown`.
async fn follow(client: Client, id: ProcessId, shown: Arc<Mutex<String>>) {
    let mut since = 0;
    let wait = Some(Duration::from_secs(5));
    while let Ok(page) = client.output(&id, &OutputRange { since, wait, ..range() }).await {
        since = page.next_cursor;
        let mut shown = shown.lock().unwrap();
        page.events.iter().for_each(|event| shown.push_str(&event.data));
    }
}

fn assert_lost(info: &ProcessInfo) {
    let end = info.end.as_ref().unwrap();
    assert_eq!((info.state, end.reason), (ProcessState::Ended, EndReason::HostLost), "{info:?}");
    assert_eq!((end.code, end.signal, end.survivors), (None, None, 0));
    assert!(end.cpu_user_ms.is_none() && end.ended_at >= end.started_at);
}

/// How many rounds: `ATOLL_KILL_TRIALS` asks for more.
fn rounds(usual: u64) -> u64 {
    std::env::var("ATOLL_KILL_TRIALS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Spread over some tens of milliseconds, in an order that does not follow the rounds.
fn moment(round: u64) -> Duration {
    Duration::from_micros(round * 7919 % 101 * 700)
}

#[test]
fn heavy_killed_in_the_middle_of_output_no_byte_that_was_shown_is_lost() {
    let home = Home::new();
    let storage = storage(&home);
    let mut before: Option<(ProcessId, String)> = None;
    let rounds = rounds(12);
    for round in 0..rounds {
        let life = begin(&home, &storage);
        if let Some((id, shown)) = before.take() {
            let info = wait(life.client.process(&id)).unwrap();
            assert_lost(&info);
            let all = wait(printed(&life.client, &id));
            assert_eq!(all.len() as u64, info.cursor);
            assert!(
                all.starts_with(&shown),
                "round {round}: {} bytes were shown, {} are there",
                shown.len(),
                all.len()
            );
            let counted: String = (0..).map(|number| format!("line {number}\n")).take(all.lines().count()).collect();
            assert!(counted.starts_with(&all), "round {round}: what is there was printed so");
            wait(life.client.remove_process(&id)).unwrap();
        }
        let text = "i=0; while :; do echo line $i; i=$((i+1)); [ $((i % 500)) = 0 ] && sleep 0.001; done";
        let id = wait(life.client.start(&named(&format!("p{round}"), text))).unwrap().id;
        let shown = Arc::new(Mutex::new(String::new()));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let following = runtime.spawn(follow(life.client.clone(), id.clone(), Arc::clone(&shown)));
        // No event to wait for: the moment itself is what is tried.
        std::thread::sleep(Duration::from_millis(20) + moment(round));
        life.die(&home);
        runtime.block_on(following).unwrap();
        let shown = std::mem::take(&mut *shown.lock().unwrap());
        before = Some((id, shown));
    }
    let logs = std::fs::read_dir(storage.join("logs")).unwrap().count();
    assert_eq!(logs, 1, "what was removed took its files with it");
}

/// What a client was told of its processes before the agent died.
#[derive(Debug, Default)]
struct Told {
    started: Vec<ProcessId>,
    ended: BTreeMap<String, EndRecord>,
    asked: Vec<StartRequest>,
}

/// Starts one process after the other and waits for every other one, until the agent is gone.
async fn keep_starting(client: Client, round: u64, told: Arc<Mutex<Told>>) {
    for number in 0.. {
        let id = format!("r{round}-{number}");
        let request = named(&id, &format!("echo {id} >> runs; exit {}", number % 7));
        told.lock().unwrap().asked.push(request.clone());
        let Ok(info) = client.start(&request).await else { return };
        told.lock().unwrap().started.push(info.id.clone());
        if number % 2 == 0 {
            let ask = WaitRequest { r#for: WaitFor::Exit, timeout_ms: None };
            let Ok(answer) = client.wait(&info.id, &ask).await else { return };
            told.lock().unwrap().ended.insert(id, answer.end.unwrap());
        }
    }
}

#[test]
fn heavy_killed_at_any_moment_every_record_is_right_and_nothing_runs_twice() {
    let home = Home::new();
    let storage = storage(&home);
    let rounds = rounds(10);
    for round in 0..rounds {
        let life = begin(&home, &storage);
        let told = Arc::new(Mutex::new(Told::default()));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let starting = runtime.spawn(keep_starting(life.client.clone(), round, Arc::clone(&told)));
        std::thread::sleep(Duration::from_millis(10) + moment(round));
        life.die(&home);
        runtime.block_on(starting).unwrap();
        let told = std::mem::take(&mut *told.lock().unwrap());
        let life = begin(&home, &storage);
        wait(check(&life.client, &told));
        life.stop(&home);
    }
}

async fn check(client: &Client, told: &Told) {
    for id in &told.started {
        let info = client.process(id).await.unwrap();
        assert_eq!(info.state, ProcessState::Ended);
        let end = info.end.clone().unwrap();
        match told.ended.get(id.as_str()) {
            Some(known) => assert_eq!(end, *known, "what was told stays true"),
            None if end.reason == EndReason::HostLost => assert_lost(&info),
            None => assert_eq!(end.reason, EndReason::Exited),
        }
    }
    // Whoever does not know whether it was heard asks again.
    for request in &told.asked {
        let info = client.start(request).await.unwrap();
        let ask = WaitRequest { r#for: WaitFor::Exit, timeout_ms: None };
        client.wait(&info.id, &ask).await.unwrap();
    }
    let runs = client.exec(&ExecRequest::shell("sort runs | uniq -d")).await.unwrap();
    assert_eq!(runs.stdout.data, "", "nothing runs twice");
}

#[test]
fn after_an_orderly_end_what_ran_was_stopped_with_its_sandbox() {
    let home = Home::new();
    let storage = storage(&home);
    let life = begin(&home, &storage);
    let (process, terminal) = wait(async {
        let process = life.client.start(&StartRequest::shell("echo begun; sleep 1000")).await.unwrap().id;
        let request =
            TerminalRequest { command: Some("echo screen; sleep 1000".to_owned()), ..TerminalRequest::default() };
        (process, life.client.open_terminal(&request).await.unwrap().id)
    });
    wait(async {
        while printed(&life.client, &process).await.is_empty()
            || life.client.terminal(&terminal).await.unwrap().cursor == 0
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    life.stop(&home);
    let life = begin(&home, &storage);
    wait(async {
        let info = life.client.process(&process).await.unwrap();
        assert_eq!(info.end.unwrap().reason, EndReason::SandboxStopped);
        assert_eq!(printed(&life.client, &process).await, "begun\n");
        let info = life.client.terminal(&terminal).await.unwrap();
        assert_eq!((info.end.unwrap().reason, info.cursor), (EndReason::SandboxStopped, 8));
    });
    life.stop(&home);
}

#[test]
fn a_full_disk_is_told_and_loses_nothing_that_was_acknowledged() {
    let home = Home::new();
    let Some(disk) = SmallDisk::new("2m") else { return skip("no tmpfs can be mounted") };
    let storage = disk.path().join("kept");
    let life = begin(&home, &storage);
    let ended = wait(async {
        let running = life.client.start(&named("running", "read x < /workspace/go; exit 6")).await;
        running.unwrap();
        let fill = "mkfifo go; cat /dev/zero > /workspace/zero 2> /dev/null; echo full";
        assert_eq!(life.client.exec(&ExecRequest::shell(fill)).await.unwrap().stdout.data, "full\n");
        let mut started = Vec::new();
        let refused = loop {
            let number = started.len();
            assert!(number < 10_000, "the journal has no end");
            match life.client.start(&named(&format!("n{number}"), "exit 3")).await {
                Ok(info) => started.push(info.id),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.code(), Some(ErrorCode::DiskFull), "{refused}");
        let told = life.client.exec(&ExecRequest::shell("echo an exec needs no room")).await.unwrap();
        assert_eq!(told.stdout.data, "an exec needs no room\n");
        let ask = WaitRequest { r#for: WaitFor::Exit, timeout_ms: None };
        let mut ended = BTreeMap::new();
        for id in &started {
            ended.insert(id.clone(), life.client.wait(id, &ask).await.unwrap().end.unwrap());
        }
        ended
    });
    life.die(&home);
    let life = begin(&home, &storage);
    wait(async {
        for (id, end) in &ended {
            assert_eq!(life.client.process(id).await.unwrap().end.as_ref(), Some(end), "{id}");
        }
        life.client.exec(&ExecRequest::shell("rm zero")).await.unwrap();
        life.client.start(&named("again", "true")).await.unwrap();
    });
    life.stop(&home);
}
