//! Init as a process: what it answers, and when it ends.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use atoll_isolation::wire::{Event, Members, Request, Spawn, SpawnStage};
use atoll_isolation::{Channel, Launched, Launcher, Plan, sys};

/// An init on the host as it is: enough for the protocol, needs no privilege.
struct Init {
    channel: Channel,
    pidfd: OwnedFd,
}

impl Init {
    fn start() -> Self {
        let launcher = Launcher::new().unwrap();
        let Launched { socket, pidfd, .. } =
            launcher.stage(Plan::unisolated(), "/".as_ref(), None).unwrap().close("box").unwrap();
        Self { channel: Channel::new(socket), pidfd }
    }

    fn spawn(&mut self, tag: u32, spawn: Spawn, stdout: &OwnedFd) {
        let null = std::fs::File::open("/dev/null").unwrap();
        let fds = [null.as_fd(), stdout.as_fd(), null.as_fd()];
        self.channel.send(&Request::Spawn { tag, spawn }, &fds).unwrap();
    }

    fn next(&mut self) -> Option<Event> {
        self.channel.receive().unwrap().map(|(event, _)| event)
    }

    /// Waits for its end; init is our child.
    fn ended(self) {
        drop(self.channel);
        sys::process::wait_pidfd(self.pidfd.as_fd()).unwrap();
    }
}

fn shell(command: u64, text: &str) -> Spawn {
    let words = ["sh", "-c", text];
    Spawn {
        command,
        candidates: vec![b"/nowhere/sh".to_vec(), b"/bin/sh".to_vec()],
        argv: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
        env: vec![b"A=b".to_vec()],
        cwd: b"/".to_vec(),
        user: (sys::identity::user(), sys::identity::group()),
        umask: 0o027,
        ..Spawn::default()
    }
}

fn pipe() -> (std::io::PipeReader, OwnedFd) {
    let (reader, writer) = std::io::pipe().unwrap();
    (reader, writer.into())
}

fn text(mut reader: std::io::PipeReader) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_program_gets_what_was_asked_for_and_its_end_is_told() {
    for warden in [false, true] {
        let mut init = Init::start();
        let (reader, writer) = pipe();
        let script = "echo $A; umask; ls /proc/self/fd | wc -l; pwd; exit 7";
        init.spawn(5, Spawn { warden, ..shell(9, script) }, &writer);
        drop(writer);
        let Some(Event::Spawned { tag: 5, pid }) = init.next() else { panic!("not started") };
        assert!(pid > 1);
        let Some(Event::Exited { command: 9, status, usage, alone }) = init.next() else { panic!("no end") };
        assert_eq!(status, 7 << 8);
        assert!(usage.max_rss_bytes > 0);
        assert_eq!(alone, warden);
        // Three descriptors, and the one by which `ls` reads the directory.
        assert_eq!(text(reader), "b\n0027\n4\n/\n");
        if warden {
            assert_eq!(init.next(), Some(Event::TreeEmpty { command: 9 }));
        }
        init.ended();
    }
}

#[test]
fn a_start_that_fails_says_where_and_leaves_nothing() {
    let mut init = Init::start();
    let (_reader, writer) = pipe();
    let missing = Spawn { candidates: vec![b"/nowhere".to_vec()], ..shell(1, "") };
    let no_cwd = Spawn { cwd: b"/nowhere".to_vec(), ..shell(2, "") };
    let directory = Spawn { candidates: vec![b"/usr".to_vec()], ..shell(3, "") };
    let expected = [(missing, SpawnStage::Exec, 2), (no_cwd, SpawnStage::Cwd, 2), (directory, SpawnStage::Exec, 13)];
    for (tag, (spawn, stage, errno)) in expected.into_iter().enumerate() {
        let tag = u32::try_from(tag).unwrap();
        init.spawn(tag, spawn, &writer);
        assert_eq!(init.next(), Some(Event::SpawnFailed { tag, stage, errno }));
    }
    init.channel.send(&Request::Ping { tag: 9 }, &[]).unwrap();
    // Nothing was reaped that anybody should hear of.
    assert_eq!(init.next(), Some(Event::Pong { tag: 9 }));
    init.ended();
}

#[test]
fn programs_are_started_side_by_side_and_each_is_told_apart() {
    const STARTS: u32 = 300;
    let mut init = Init::start();
    let (_reader, writer) = pipe();
    for tag in 0..STARTS {
        // Some end before anybody can say that they began, some never begin, and one kind leaves an orphan behind.
        let spawn = match tag % 4 {
            0 => Spawn { candidates: vec![b"/bin/true".to_vec()], ..shell(tag.into(), "") },
            1 => shell(tag.into(), &format!("exit {}", tag % 200)),
            2 => Spawn { candidates: vec![b"/nowhere".to_vec()], ..shell(tag.into(), "") },
            _ => shell(tag.into(), "(:; true) & exit 5"),
        };
        init.spawn(tag, Spawn { beside: true, ..spawn }, &writer);
    }
    init.channel.send(&Request::Ping { tag: STARTS }, &[]).unwrap();
    let (mut began, mut ended) = (std::collections::HashSet::new(), std::collections::HashSet::new());
    let running = STARTS - STARTS / 4;
    let mut answered = false;
    while !answered || ended.len() < running as usize {
        match init.next().unwrap() {
            Event::Spawned { tag, .. } => assert!(tag % 4 != 2 && began.insert(tag)),
            Event::SpawnFailed { tag, stage, errno } => {
                assert!((tag % 4, stage, errno) == (2, SpawnStage::Exec, 2) && began.insert(tag));
            }
            Event::Exited { command, status, .. } => {
                let tag = u32::try_from(command).unwrap();
                assert!(began.contains(&tag), "an end before its beginning");
                let code = [0, tag % 200, u32::MAX, 5][(tag % 4) as usize];
                assert_eq!(u32::try_from(status >> 8).unwrap(), code);
                assert!(ended.insert(tag));
            }
            Event::OrphanReaped => {}
            Event::Pong { tag } => {
                assert_eq!(tag, STARTS);
                assert_eq!(began.len(), STARTS as usize, "what was asked for before is done");
                answered = true;
            }
            Event::Ready { .. }
            | Event::SetupFailed { .. }
            | Event::Counted { .. }
            | Event::Listed { .. }
            | Event::Opened { .. }
            | Event::Failed { .. }
            | Event::TreeEmpty { .. }
            | Event::WardenLost { .. } => panic!("nobody asked for that"),
        }
    }
    init.ended();
}

#[test]
fn what_is_started_beside_others_ends_with_them() {
    let mut init = Init::start();
    let (reader, writer) = pipe();
    for tag in 0..20 {
        init.spawn(tag, Spawn { beside: true, ..shell(tag.into(), "sleep 1000") }, &writer);
    }
    drop(writer);
    // It has not even answered.
    init.ended();
    assert_eq!(text(reader), "");
}

#[test]
fn too_few_descriptors_are_refused() {
    let mut init = Init::start();
    let null = std::fs::File::open("/dev/null").unwrap();
    init.channel.send(&Request::Spawn { tag: 1, spawn: shell(1, "true") }, &[null.as_fd()]).unwrap();
    assert!(matches!(init.next(), Some(Event::SpawnFailed { tag: 1, stage: SpawnStage::Request, .. })));
    init.ended();
}

#[test]
fn everything_ends_when_the_agent_is_gone() {
    for warden in [false, true] {
        let mut init = Init::start();
        let (reader, writer) = pipe();
        // The pipe stays open as long as one of them lives.
        let script = "setsid sleep 1000 & (trap '' TERM HUP; sleep 1000) & sleep 1000";
        init.spawn(1, Spawn { warden, ..shell(1, script) }, &writer);
        drop(writer);
        assert!(matches!(init.next(), Some(Event::Spawned { .. })));
        init.ended();
        assert_eq!(text(reader), "");
    }
}

#[test]
fn a_message_that_is_none_ends_init() {
    let init = Init::start();
    sys::socket::send(init.channel.as_fd(), b"\xfe garbage", &[]).unwrap();
    init.ended();
}

#[test]
fn a_second_setup_ends_init() {
    let mut init = Init::start();
    let setup = atoll_isolation::wire::Setup { version: 1, steps: Vec::new() };
    init.channel.send(&Request::Setup { setup }, &[]).unwrap();
    assert_eq!(init.next(), None);
    init.ended();
}

#[test]
fn files_and_sockets_are_opened_on_its_side() {
    let mut init = Init::start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    init.channel.send(&Request::Connect { tag: 1, address: address.into() }, &[]).unwrap();
    let (event, fds) = init.channel.receive::<Event>().unwrap().unwrap();
    assert_eq!((event, fds.len()), (Event::Opened { tag: 1 }, 1));
    let (_, peer) = listener.accept().unwrap();
    let socket = std::net::TcpStream::from(fds.into_iter().next().unwrap());
    assert_eq!(socket.local_addr().unwrap(), peer);
    init.channel.send(&Request::Read { tag: 2, path: b"/nowhere".to_vec() }, &[]).unwrap();
    assert_eq!(init.next(), Some(Event::Failed { tag: 2, errno: 2 }));
    // Nothing but regular files, and none of procfs; a FIFO without a writer does not hold it up.
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    let path = fifo.to_str().unwrap().as_bytes().to_vec();
    let (reader, writer) = pipe();
    init.spawn(3, shell(3, &format!("mkfifo {}", fifo.display())), &writer);
    drop(writer);
    assert_eq!(text(reader), "");
    while !matches!(init.next(), Some(Event::Exited { .. })) {}
    for (tag, path) in (4..).zip([path, b"/proc/self/status".to_vec(), b"/dev/null".to_vec(), b"/".to_vec()]) {
        init.channel.send(&Request::Read { tag, path }, &[]).unwrap();
        assert_eq!(init.next(), Some(Event::Failed { tag, errno: libc::EINVAL }));
    }
    let file = dir.path().join("file");
    std::fs::write(&file, "text").unwrap();
    init.channel.send(&Request::Read { tag: 9, path: file.to_str().unwrap().as_bytes().to_vec() }, &[]).unwrap();
    assert_eq!(init.next(), Some(Event::Opened { tag: 9 }));
    init.ended();
}

/// An init that can open nothing sees no process. It must not report that there is none.
#[test]
fn processes_that_cannot_be_seen_are_an_error_and_not_an_empty_tree() {
    let mut init = Init::start();
    let (_reader, writer) = pipe();
    init.spawn(1, shell(1, "prlimit --pid $PPID --nofile=4:4; exec sleep 1000"), &writer);
    let Some(Event::Spawned { pid, .. }) = init.next() else { panic!("it starts") };
    let comm = format!("/proc/{pid}/comm");
    while std::fs::read_to_string(&comm).unwrap() != "sleep\n" {
        std::thread::yield_now();
    }
    let members = || Members::Of { roots: vec![pid] };
    init.channel.send(&Request::Sweep { tag: 2, members: members(), signal: libc::SIGKILL }, &[]).unwrap();
    assert_eq!(init.next(), Some(Event::Failed { tag: 2, errno: libc::EMFILE }));
    init.channel.send(&Request::List { tag: 3, members: members() }, &[]).unwrap();
    assert_eq!(init.next(), Some(Event::Failed { tag: 3, errno: libc::EMFILE }));
    init.channel.send(&Request::Pidfds { tag: 4, pids: vec![pid] }, &[]).unwrap();
    assert_eq!(init.next(), Some(Event::Failed { tag: 4, errno: libc::EMFILE }));
    sys::process::kill(pid, libc::SIGKILL).unwrap();
    init.ended();
}

#[test]
fn orphans_are_reaped_and_told_of() {
    let mut init = Init::start();
    let (reader, writer) = pipe();
    init.spawn(1, shell(1, "(sleep 0.05 &) ; exit 0"), &writer);
    drop(writer);
    assert_eq!(text(reader), "");
    let mut events = Vec::new();
    while !events.contains(&Event::OrphanReaped) {
        events.push(init.next().unwrap());
    }
    init.ended();
}
