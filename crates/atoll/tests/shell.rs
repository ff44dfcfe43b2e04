//! `atoll shell` as somebody at a terminal meets it: the real binary in a pseudo-terminal.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Termios, Winsize};

/// Longest that something may take that should happen at once.
const AT_ONCE: Duration = Duration::from_secs(20);

/// A terminal, and `atoll shell` in it.
struct Seat {
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    slave: OwnedFd,
    before: Termios,
    child: Child,
    _home: Rc<tempfile::TempDir>,
}

impl Seat {
    fn new(arguments: &[&str]) -> Self {
        Self::in_home(&Rc::new(tempfile::tempdir().unwrap()), arguments)
    }

    #[expect(clippy::disallowed_methods, reason = "runs the real binary, in a session that its terminal controls")]
    fn in_home(home: &Rc<tempfile::TempDir>, arguments: &[&str]) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags).unwrap();
        let before = rustix::termios::tcgetattr(&slave).unwrap();
        let stdio = || Stdio::from(slave.try_clone().unwrap());
        let (keyboard, screen) = (File::from(master.try_clone().unwrap()), follow(File::from(master)));
        resize(keyboard.as_fd(), 100, 30);
        let child = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_atoll"), "shell"])
            .args(arguments)
            .env("ATOLL_HOME", home.path())
            .env("TERM", "vt220")
            .stdin(stdio())
            .stdout(stdio())
            .stderr(stdio())
            .spawn()
            .unwrap();
        Self { keyboard, screen, seen: Vec::new(), slave, before, child, _home: Rc::clone(home) }
    }

    fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for a text on the screen. What comes before it is not looked at again.
    fn sees(&mut self, text: &str) {
        let deadline = Instant::now() + AT_ONCE;
        loop {
            let found = self.seen.windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(_) => panic!("never seen: {text:?}, but {:?}", String::from_utf8_lossy(&self.seen)),
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    fn modes(&self) -> Termios {
        rustix::termios::tcgetattr(&self.slave).unwrap()
    }

    /// Waits for the end; the terminal must then be as it was.
    fn code(&mut self) -> i32 {
        let deadline = Instant::now() + AT_ONCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end: {:?}", String::from_utf8_lossy(&self.seen));
            std::thread::sleep(Duration::from_millis(5));
        };
        let (before, after) = (&self.before, self.modes());
        assert_eq!(after.local_modes, before.local_modes);
        assert_eq!(after.input_modes, before.input_modes);
        assert_eq!(after.output_modes, before.output_modes);
        status.code().expect("it ended by itself")
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Ended already, unless the test has failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn resize(terminal: std::os::fd::BorrowedFd<'_>, cols: u16, rows: u16) {
    let size = Winsize { ws_col: cols, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(terminal, size).unwrap();
}

fn follow(mut master: File) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = master.read(&mut buffer) {
            if sender.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Programs that draw for themselves say when they are up.
const UP: &str = "echo up$((1 + 1)); exec sleep 300";

#[test]
fn a_shell_is_worked_in() {
    let mut seat = Seat::new(&[]);
    seat.sees("# ");
    assert!(!seat.modes().local_modes.contains(LocalModes::ECHO), "keys come as they are");
    seat.types("echo $((6 * 7)) $TERM $(stty size) $(pwd)\r");
    seat.sees("42 vt220 30 100 /workspace");
    seat.types(&format!("sh -c '{UP}'\r"));
    seat.sees("up2");
    seat.types("\x03");
    seat.sees("# ");
    seat.types("echo $((5 * 5)); exit 7\r");
    seat.sees("25");
    assert_eq!(seat.code(), 7);
}

#[test]
fn the_window_is_passed_on() {
    let mut seat =
        Seat::new(&["--", "echo up; while [ \"$(stty size)\" != '33 111' ]; do sleep 0.05; done; echo done"]);
    seat.sees("up");
    resize(seat.keyboard.as_fd(), 111, 33);
    seat.sees("done");
    assert_eq!(seat.code(), 0);
}

#[test]
fn the_detach_key_ends_it_and_says_so() {
    let mut seat = Seat::new(&["--", UP]);
    seat.sees("up2");
    seat.types("\x1d");
    seat.sees("atoll: detached; the throw-away sandbox was destroyed");
    assert_eq!(seat.code(), 0);
}

#[test]
fn another_detach_key_leaves_the_usual_one_to_the_program() {
    let program = "stty raw -echo; echo up; head -c 1 | od -An -tx1; echo up; sleep 300";
    let mut seat = Seat::new(&["--detach-key", "ctrl-q", "--", program]);
    seat.sees("up");
    seat.types("\x1d");
    seat.sees("1d");
    seat.types("\x11");
    seat.sees("detached");
    assert_eq!(seat.code(), 0);
}

/// It never reads, and its terminal is full: the key gets through all the same.
#[test]
fn the_detach_key_overtakes_what_is_not_read() {
    let mut seat = Seat::new(&["--", &format!("stty raw -echo; {UP}")]);
    seat.sees("up2");
    for _ in 0..20 {
        seat.types(&"k".repeat(1000));
    }
    seat.types("\x1d");
    seat.sees("detached");
    assert_eq!(seat.code(), 0);
}

/// A program that draws on the second screen, and cannot clear up.
#[test]
fn signals_put_the_terminal_in_order() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let mut seat = Seat::new(&["--", &format!("printf '\\033[?1049h\\033[?25l\\033[?2004h'; {UP}")]);
        seat.sees("\x1b[?1049h");
        seat.sees("up2");
        seat.signal(signal);
        seat.sees("\x1b[?2004l");
        seat.sees("\x1b[?25h");
        seat.sees("\x1b[?1049l");
        assert_eq!(seat.code(), code);
    }
}

#[test]
fn how_the_program_ends_is_passed_on() {
    for (arguments, code) in [
        (&["--", "exit 3"][..], 3),
        (&["--", "kill -9 $$"], 137),
        (&["--", "no-such-program", "x"], 127),
        (&["-C", "/no/such/place"], 125),
        (&["--isolation", "none", "-e", "A=4", "--", "exit $A"], 4),
        (&["--without-cgroups", "--", "exit 5"], 5),
    ] {
        assert_eq!(Seat::new(arguments).code(), code, "{arguments:?}");
    }
}

/// A server in a home of its own. Ended in good order, with its sandboxes.
struct Server {
    home: Rc<tempfile::TempDir>,
    child: Child,
}

impl Server {
    #[expect(clippy::disallowed_methods, reason = "runs the real binary")]
    fn start() -> Self {
        let home = Rc::new(tempfile::tempdir().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_atoll"));
        command.args(["serve", "--no-tcp"]).env("ATOLL_HOME", home.path()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        // The first thing that it says is that it listens.
        assert_eq!(child.stdout.as_mut().unwrap().read(&mut [0]).unwrap(), 1);
        Self { home, child }
    }

    fn seat(&self, arguments: &[&str]) -> Seat {
        Seat::in_home(&self.home, arguments)
    }

    #[expect(clippy::disallowed_methods, reason = "runs the real binary")]
    fn atoll(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_atoll"));
        let output = command.args(arguments).env("ATOLL_HOME", self.home.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.atoll(&["rm", "box"]);
        }
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, Signal::TERM).ok();
        drop(self.child.wait());
    }
}

#[test]
fn a_named_terminal_outlives_those_who_look_at_it() {
    let server = Server::start();
    let mut seat = server.seat(&["box"]);
    seat.sees("sandbox box does not exist; creating it");
    seat.sees("# ");
    seat.types("X=kept; echo $TERM $(stty size) $(hostname)\r");
    seat.sees("vt220 30 100 box");
    seat.types("\x1d");
    seat.sees("atoll: detached; attach again with `atoll shell box --terminal main`");
    assert_eq!(seat.code(), 0);
    let mut again = server.seat(&["box"]);
    again.sees("vt220 30 100 box");
    again.types("echo it is $X\r");
    again.sees("it is kept");
    again.types("exit 7\r");
    assert_eq!(again.code(), 7, "the program has ended, and its code is ours");
    let mut fresh = server.seat(&["box"]);
    fresh.types("echo it is ${X-new}\r");
    fresh.sees("it is new");
    fresh.types("\x1d");
    assert_eq!(fresh.code(), 0);
}

#[test]
fn a_named_terminal_runs_any_program_and_follows_the_window() {
    let server = Server::start();
    let program = "echo up; while [ \"$(stty size)\" != '33 111' ]; do sleep 0.05; done; echo done; read x; exit $x";
    let mut seat = server.seat(&["box", "--terminal", "build", "--", program]);
    seat.sees("up");
    resize(seat.keyboard.as_fd(), 111, 33);
    seat.sees("done");
    seat.signal(Signal::TERM);
    assert_eq!(seat.code(), 143, "a signal ends us, not the program");
    let mut again = server.seat(&["box", "--terminal", "build"]);
    again.sees("done");
    again.types("5\r");
    assert_eq!(again.code(), 5);
}

#[test]
fn a_session_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("session.cast");
    let mut seat = Seat::new(&["--record", path.to_str().unwrap(), "--", "read x; echo got $x"]);
    seat.types("it\r");
    seat.sees("got it");
    assert_eq!(seat.code(), 0);
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["width"], &lines[0]["height"]), (&2.into(), &100.into(), &30.into()));
    assert_eq!(lines[0]["env"]["TERM"], "vt220");
    let shown: String = lines[1..].iter().map(|line| line[2].as_str().unwrap()).collect();
    assert_eq!(shown, "it\r\ngot it\r\n");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "runs the real binary")]
fn without_a_terminal_there_is_an_error_with_a_hint() {
    let output = Command::new(env!("CARGO_BIN_EXE_atoll")).arg("shell").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: standard input is not a terminal\n\
         hint: use `atoll run` to run a command without a terminal; --stdin passes input to it\n"
    );
}
