//! Attacks on the agent through its sessions, by a process inside: as root there and as `user`, against the server of root
//! and that of an ordinary user. Whatever is tried, time limits, kills and calls of the sandbox are answered, the agent
//! does not grow, and no command's result is another process's word.
//!
//! The attacks are in `attacker.c`, a builtin: loaded into a session's own bash it changes what that bash is, in another
//! one it is a stranger.

use std::time::{Duration, Instant};

use atoll_client::Client;
use atoll_protocol::{
    EndReason, ErrorCode, ExecRequest, ExecResult, SandboxLimits, SessionId, SessionRequest, SessionState,
};
use base64::Engine as _;

use super::{Server, wait};
use crate::harness::{Home, compiled, need, skip};

/// How long a call may take that must not wait for an attacker. Waits that the attacker chose take 3000 s.
const ANSWERED: Duration = Duration::from_secs(8);

/// The memory limit of the attacked sandboxes: the agent, which is outside it, must stay below it too.
const MEMORY: u64 = 256 * 1024 * 1024;

/// What the agent may grow by, in KiB: more than one dump and one snapshot, far less than what is sent.
const GROWTH_KIB: u64 = 48 * 1024;

/// A sandbox with the attacker in it, and a session of one user.
struct Target<'a> {
    server: &'a Server<'a>,
    inside: Client,
    user: &'static str,
    session: SessionId,
}

impl Target<'_> {
    async fn exec(&self, request: &ExecRequest) -> ExecResult {
        let exec = tokio::time::timeout(ANSWERED, self.inside.exec(request)).await;
        exec.unwrap_or_else(|_| panic!("{} was not answered as {}", request.command.as_deref().unwrap(), self.user))
            .unwrap()
    }

    async fn session_exec(&self, text: &str) -> ExecResult {
        let request = ExecRequest { timeout_ms: Some(4000), ..ExecRequest::shell(text) };
        let exec = tokio::time::timeout(ANSWERED, self.inside.session_exec(&self.session, &request)).await;
        exec.unwrap_or_else(|_| panic!("{text}: not answered as {}", self.user)).unwrap()
    }

    async fn new_session(&mut self, id: &str) {
        self.session = SessionId::new(id).unwrap();
        let request =
            SessionRequest { id: Some(self.session.clone()), user: Some(self.user.to_owned()), ..Default::default() };
        let made = tokio::time::timeout(ANSWERED, self.inside.create_session(&request)).await;
        made.unwrap_or_else(|_| panic!("no session as {}", self.user)).unwrap();
    }

    /// A time limit ends what it should, a kill kills, and a session can be made, used and deleted.
    async fn assert_answers(&mut self) {
        let limited = ExecRequest { timeout_ms: Some(300), ..ExecRequest::shell("echo on; sleep 1000") };
        let ended = self.exec(&limited).await;
        assert_eq!((ended.end.reason, ended.end.survivors), (EndReason::Timeout, 0), "as {}", self.user);
        let attacked = self.session.clone();
        self.new_session("another").await;
        assert_eq!(self.session_exec("echo works").await.stdout.data, "works\n");
        for session in [&self.session, &attacked] {
            let deleted = tokio::time::timeout(ANSWERED, self.inside.delete_session(session)).await;
            deleted.unwrap_or_else(|_| panic!("{session} was not deleted as {}", self.user)).unwrap();
        }
        self.session = attacked;
    }

    fn agent_kib(&self) -> u64 {
        let [agent] = self.server.agents_when(1)[..] else { panic!("one agent") };
        let status = std::fs::read_to_string(format!("/proc/{agent}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

/// Runs the attack as root inside and as `user`, each in a sandbox of its own, on the server of this home.
fn attacked(home: &Home, attack: impl AsyncFn(&mut Target<'_>)) {
    let Some(program) = compiled("attacker.c", &["-shared", "-fPIC"]) else { return skip("no gcc on this host") };
    let server = Server::start(home, &[]);
    wait(async {
        let client = server.client();
        for user in ["root", "user"] {
            let mut asked = server.asked();
            // Without cgroups there is no limit to have.
            let limits = SandboxLimits { memory_bytes: Some(MEMORY), ..Default::default() };
            asked.limits = home.is_roots().then_some(limits);
            let name = match client.create_sandbox(&asked).await {
                Ok(record) => record.name,
                Err(error) => return skip(&error.to_string()),
            };
            let inside = client.inside(&name);
            let put = "base64 -d >/tmp/attacker.so && chmod 755 /tmp/attacker.so && id -u user";
            let text = base64::engine::general_purpose::STANDARD.encode(&program);
            let put = inside.exec(&ExecRequest { stdin: Some(text), ..ExecRequest::shell(put) }).await.unwrap();
            let has_user = put.end.success();
            let is_user = ExecRequest { user: Some(user.to_owned()), ..ExecRequest::shell("true") };
            if (user == "root" || has_user) && inside.exec(&is_user).await.is_ok() {
                let session = SessionId::new("unmade").unwrap();
                let mut target = Target { server: &server, inside, user, session };
                target.new_session("attacked").await;
                attack(&mut target).await;
            }
            let removed = tokio::time::timeout(ANSWERED, client.remove_sandbox(&name)).await;
            removed.unwrap_or_else(|_| panic!("the sandbox was not deleted as {user}")).unwrap();
        }
    });
    server.end();
}

/// A test for the server of root, and one for that of an ordinary user.
macro_rules! attacks {
    ($($name:ident,)*) => {
        $(mod $name {
            use super::*;

            #[test]
            fn on_the_server_of_root() {
                attacked(&Home::new(), super::$name);
            }

            #[test]
            fn on_the_server_of_an_ordinary_user() {
                need!("setpriv");
                attacked(&Home::ordinary(), super::$name);
            }
        })*
    };
}

attacks! {
    an_endless_dump_is_cut_off,
    a_trickling_dump_is_given_up,
    a_stranger_s_descriptors_hang_nothing,
    descriptors_on_the_shell_s_own_connection_hang_nothing,
    a_program_in_the_shell_s_place_is_not_believed,
    a_session_that_holds_too_much_still_works,
}

const LOAD: &str = "enable -f /tmp/attacker.so attacker";

/// The shell is replaced, and says why; what it held before is there.
async fn assert_replaced(target: &mut Target<'_>, why: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let info = loop {
        let info = target.inside.session(&target.session).await.unwrap();
        if info.resets > 0 {
            break info;
        }
        assert!(Instant::now() < deadline, "not replaced as {}: {info:?}", target.user);
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(info.not_restored.as_ref().is_some_and(|said| said.contains(why)), "{info:?}");
    assert_eq!(info.state, SessionState::Ready, "{info:?}");
    assert_eq!(target.session_exec("echo $kept").await.stdout.data, "before\n");
}

async fn an_endless_dump_is_cut_off(target: &mut Target<'_>) {
    target.session_exec("kept=before").await;
    target.inside.session_snapshot(&target.session).await.unwrap();
    let before = target.agent_kib();
    // What the forged report says is believed: code in the shell's own process is the shell.
    target.session_exec(&format!("{LOAD}; attacker endless")).await;
    assert_replaced(target, "more than it may hold").await;
    let grown = target.agent_kib().saturating_sub(before);
    assert!(grown < GROWTH_KIB, "the agent has grown by {grown} KiB as {}", target.user);
    target.assert_answers().await;
}

async fn a_trickling_dump_is_given_up(target: &mut Target<'_>) {
    target.session_exec("kept=before").await;
    target.inside.session_snapshot(&target.session).await.unwrap();
    target.session_exec(&format!("{LOAD}; attacker trickle")).await;
    // Nothing else waits for it.
    assert_eq!(target.exec(&ExecRequest::shell("echo meanwhile")).await.stdout.data, "meanwhile\n");
    assert_replaced(target, "in time").await;
    target.assert_answers().await;
}

async fn a_stranger_s_descriptors_hang_nothing(target: &mut Target<'_>) {
    // A queue of connections that is not emptied would block the shell as well.
    for _ in 0..5 {
        let text = format!("bash -c '{LOAD}; attacker strangers'");
        let attack =
            target.exec(&ExecRequest { user: Some(target.user.to_owned()), ..ExecRequest::shell(&text) }).await;
        assert_eq!(attack.stdout.data, "tried\n", "{attack:?}");
        assert_eq!(target.session_exec("echo same").await.stdout.data, "same\n");
    }
    target.assert_answers().await;
}

async fn descriptors_on_the_shell_s_own_connection_hang_nothing(target: &mut Target<'_>) {
    target.session_exec("kept=before").await;
    target.session_exec(&format!("{LOAD}; attacker rights")).await;
    let ended = target.exec(&ExecRequest { timeout_ms: Some(300), ..ExecRequest::shell("sleep 1000") }).await;
    assert_eq!(ended.end.reason, EndReason::Timeout);
    target.assert_answers().await;
}

/// Not even another bash, with code of the attacker's in it: the memory in which a shell reports is gone with its program.
async fn a_program_in_the_shell_s_place_is_not_believed(target: &mut Target<'_>) {
    let text = format!("exec bash -c '{LOAD}; attacker taken; exit 7'");
    let ended = target.session_exec(&text).await;
    assert_eq!(ended.stdout.data, "unmapped ignored\n", "{ended:?}");
    assert_eq!((ended.end.reason, ended.end.code), (EndReason::ShellExited, Some(7)), "{ended:?}");
    assert_eq!(target.inside.session(&target.session).await.unwrap().state, SessionState::Dead);
    // Nor a child of the shell.
    target.inside.session_restart(&target.session, atoll_protocol::RestartFrom::Nothing).await.unwrap();
    let ended = target.session_exec(&format!("({LOAD}; attacker taken); (exit 3)")).await;
    assert_eq!((ended.stdout.data.as_str(), ended.end.code), ("unmapped ignored\n", Some(3)), "{ended:?}");
    target.assert_answers().await;
}

async fn a_session_that_holds_too_much_still_works(target: &mut Target<'_>) {
    target.session_exec("small=1").await;
    target.inside.session_snapshot(&target.session).await.unwrap();
    let large = "large=$(head -c 9000000 /dev/zero | tr '\\0' a); echo ${#large}";
    assert_eq!(target.session_exec(large).await.stdout.data, "9000000\n");
    let refused = target.inside.session_snapshot(&target.session).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::SessionTooLarge), "{refused}");
    assert_eq!(target.session_exec("echo ${#large} $small").await.stdout.data, "9000000 1\n");
    target.session_exec("unset large").await;
    let snapshot = target.inside.session_snapshot(&target.session).await.unwrap();
    assert!(snapshot.variables.iter().any(|variable| format!("{variable:?}").contains("small")), "{snapshot:?}");
    target.assert_answers().await;
}
