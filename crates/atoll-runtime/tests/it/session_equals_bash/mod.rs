//! A session is bash: random commands come to the same in one as in one script that one bash runs.

mod grammar;

use atoll_protocol::EndReason;
use atoll_runtime::{Command, ProcessSpec, Sandbox, SessionSpec, Stdin};
use tokio::task::JoinSet;

use crate::harness::{Fixture, Random, random, soon};

in_every_mode! {
    many_threads {
        heavy_a_session_is_bash,
    }
}

/// Over all modes together, unless `ATOLL_SESSION_SEQUENCES` says otherwise.
const SEQUENCES: usize = 2000;

const MODES: usize = 3;

/// Sequences that run at once.
const WORKERS: usize = 4;

/// Everything that both print is in the answer.
const ANSWER: usize = 1 << 20;

/// Output, errors and status of a command.
type Result = (String, String, i32);

fn number(name: &str) -> Option<u64> {
    let given = std::env::var(name).ok()?;
    Some(given.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

async fn heavy_a_session_is_bash(f: &Fixture) {
    let all = number("ATOLL_SESSION_SEQUENCES").map_or(SEQUENCES, |all| usize::try_from(all).unwrap());
    let seed = number("ATOLL_SESSION_SEED").unwrap_or_else(random);
    let each = all.div_ceil(MODES * WORKERS);
    let mut tasks = JoinSet::new();
    for worker in 0..WORKERS {
        let sandbox = f.sandbox.clone();
        tasks.spawn(async move {
            let mut random = Random(seed.wrapping_add(u64::try_from(worker).unwrap()));
            for round in 0..each {
                let steps = grammar::sequence(&mut random);
                let place = format!("w{worker}");
                if differs(&sandbox, &place, &steps).await.is_some() {
                    fail(&sandbox, &place, steps, &format!("ATOLL_SESSION_SEED={seed}, worker {worker}, {round}"))
                        .await;
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

/// Drops every step that is not needed, and tells the rest.
async fn fail(sandbox: &Sandbox, place: &str, mut steps: Vec<String>, shown: &str) {
    let mut at = 0;
    while at + 1 < steps.len() {
        let mut fewer = steps.clone();
        fewer.remove(at);
        match differs(sandbox, place, &fewer).await {
            Some(_) => steps = fewer,
            None => at += 1,
        }
    }
    let why = differs(sandbox, place, &steps).await;
    panic!("{shown}\n{steps:#?}\n{}", why.unwrap_or_else(|| "it is not always so".to_owned()));
}

/// What is not the same, for people.
async fn differs(sandbox: &Sandbox, place: &str, steps: &[String]) -> Option<String> {
    let in_script = in_a_script(sandbox, place, steps).await;
    let in_session = in_a_session(sandbox, place, steps).await;
    for (at, step) in steps.iter().enumerate() {
        let (script, session) = (in_script.get(at), in_session.get(at));
        if script != session {
            return Some(difference(step, script, session));
        }
    }
    None
}

fn difference(step: &str, script: Option<&Result>, session: Option<&Result>) -> String {
    let lines = |result: Option<&Result>| -> Vec<String> {
        let shown = result.map(|(out, err, code)| format!("{out}\n--\n{err}\n--\n{code}"));
        shown.unwrap_or_default().lines().map(str::to_owned).collect()
    };
    let (script, session) = (lines(script), lines(session));
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|line| !those.contains(line)).cloned().collect::<Vec<_>>()
    };
    format!("`{step}`\n in a script {:#?}\nin a session {:#?}", only(&script, &session), only(&session, &script))
}

/// Both begin in the same empty place.
fn begin(place: &str) -> String {
    format!("cd \"$HOME_OF_TEST\" && rm -rf {place} && mkdir -p {place}/d && cd {place} && T=$PWD")
}

/// One bash runs all of it. After each command it marks the end in both streams, without changing the status.
async fn in_a_script(sandbox: &Sandbox, place: &str, steps: &[String]) -> Vec<Result> {
    let mut script = format!(
        "shopt -s expand_aliases; BASH_ARGV0=bash; HOME_OF_TEST=$PWD; {}\n\
         __mark() {{ local s=$?; printf '\\1%d\\n' \"$s\"; printf '\\1' >&2; return $s; }}; true\n",
        begin(place)
    );
    let (last, steps) = steps.split_last().unwrap();
    for step in steps {
        script.push_str(step);
        script.push_str("\n__mark\n");
    }
    // It is no part of what the shell holds.
    script.push_str("unset -f __mark\n");
    script.push_str(last);
    script.push('\n');
    let run = format!("cat >{place}.sh; exec bash --norc --noprofile ./{place}.sh </dev/null");
    let mut command = Command::shell(run);
    command.stdin = Stdin::Bytes(script.clone().into());
    let output = soon(sandbox.exec_with(ProcessSpec::new(command), ANSWER)).await.unwrap();
    assert_eq!(output.end.reason, EndReason::Exited, "{script}");
    let (stdout, stderr) = (plain(&output.stdout.head), plain(&output.stderr.head));
    let mut errors = stderr.split('\u{1}');
    let mut results = Vec::new();
    let mut pieces = stdout.split('\u{1}');
    let mut printed = pieces.next().unwrap_or_default();
    for piece in pieces {
        let (code, next) = piece.split_once('\n').unwrap_or((piece, ""));
        results.push((printed.to_owned(), errors.next().unwrap_or_default().to_owned(), code.parse().unwrap_or(-1)));
        printed = next;
    }
    results.push((printed.to_owned(), errors.next().unwrap_or_default().to_owned(), output.end.code.unwrap_or(-1)));
    results
}

async fn in_a_session(sandbox: &Sandbox, place: &str, steps: &[String]) -> Vec<Result> {
    let session = soon(sandbox.create_session(SessionSpec::default())).await.unwrap();
    let first = format!("HOME_OF_TEST=$PWD; {}", begin(place));
    assert!(soon(session.exec(Command::shell(first))).await.unwrap().end.success());
    let mut results = Vec::new();
    for step in steps {
        let output = soon(session.exec_with(ProcessSpec::new(Command::shell(step)), ANSWER)).await.unwrap();
        let code = output.end.code.unwrap_or(-1);
        results.push((plain(&output.stdout.head), plain(&output.stderr.head), code));
    }
    soon(session.delete()).await.unwrap();
    results
}

/// As text, without where an error was: a session counts lines in each command anew, and has no file.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::new();
    let mut rest = &*text;
    while let Some((before, after)) = rest.split_once(": line ") {
        let line = before.rfind(['\n', '\u{1}']).map_or(0, |at| at + 1);
        let name = &before[line..];
        let ours = name == "environment" || name.starts_with("./w");
        plain.push_str(&before[..line]);
        plain.push_str(if ours { "bash" } else { name });
        plain.push_str(": line ");
        rest = after.trim_start_matches(|character: char| character.is_ascii_digit());
    }
    plain.push_str(rest);
    plain
}
