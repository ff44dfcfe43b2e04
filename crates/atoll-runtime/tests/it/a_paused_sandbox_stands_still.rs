//! Pausing stops everything inside where it stands; resuming lets it go on.

use std::time::Duration;

use atoll_protocol::EndReason;
use atoll_runtime::{Command, Error, ProcessSpec};

use crate::harness::{Fixture, eventually, printed, soon};

in_every_mode! {
    with_cgroups {
        a_paused_process_goes_on_where_it_stood,
        a_paused_sandbox_can_be_destroyed,
        time_limits_stand_still_too,
    }
    without_cgroups {
        without_cgroups_it_says_that_it_cannot,
    }
}

/// Longer than it takes from a start to a pause, on the slowest machine.
const LIMIT: Duration = Duration::from_secs(3);

async fn a_paused_process_goes_on_where_it_stood(f: &Fixture) {
    let process = f.start("i=0; while :; do echo $((i += 1)); sleep 0.01; done").await;
    printed(&process, "3").await;
    if let Err(error) = soon(f.sandbox.pause()).await {
        assert!(matches!(error, Error::PauseUnavailable { .. }), "{error:?}");
        return crate::harness::skip(&error.to_string());
    }
    assert!(f.sandbox.is_paused());
    let exec = f.sandbox.exec(Command::shell("echo through"));
    tokio::pin!(exec);
    let before = process.log().end();
    let waited = tokio::time::timeout(Duration::from_millis(200), &mut exec).await;
    assert!(waited.is_err(), "nothing runs meanwhile");
    assert_eq!(soon(f.sandbox.ports()).await.unwrap(), [], "what listens can be looked at, also for the first time");
    assert!(process.log().end() <= before + 4, "what was in the pipe may come, no more");
    soon(f.sandbox.resume()).await.unwrap();
    assert!(!f.sandbox.is_paused());
    assert!(soon(exec).await.unwrap().end.success());
    let stood = process.log().end();
    eventually("it goes on", || process.log().end() > stood).await;
}

async fn time_limits_stand_still_too(f: &Fixture) {
    let sandbox = f.another(|_| {}).await.unwrap();
    let mut command = Command::shell("sleep 300");
    (command.timeout, command.idle_timeout) = (Some(LIMIT), Some(LIMIT * 2));
    let process = soon(sandbox.start(ProcessSpec::new(command))).await.unwrap();
    if let Err(error) = soon(sandbox.pause()).await {
        return crate::harness::skip(&error.to_string());
    }
    tokio::time::sleep(LIMIT * 2).await;
    assert_eq!(process.end(), None, "its time is not up");
    soon(sandbox.resume()).await.unwrap();
    assert_eq!(soon(process.ended()).await.unwrap().reason, EndReason::Timeout, "but it is when it has run so long");
    soon(sandbox.destroy()).await.unwrap();
}

async fn a_paused_sandbox_can_be_destroyed(f: &Fixture) {
    let sandbox = f.another(|_| {}).await.unwrap();
    let process = soon(sandbox.start(ProcessSpec::new(Command::shell("sleep 300")))).await.unwrap();
    if let Err(error) = soon(sandbox.pause()).await {
        return crate::harness::skip(&error.to_string());
    }
    soon(sandbox.destroy()).await.unwrap();
    soon(process.gone()).await.unwrap();
    assert_eq!(f.alive(), [""; 0]);
}

async fn without_cgroups_it_says_that_it_cannot(f: &Fixture) {
    let refused = soon(f.sandbox.pause()).await.unwrap_err();
    assert!(matches!(refused, Error::PauseUnavailable { .. }), "{refused:?}");
    assert!(refused.hint().is_some());
    assert_eq!(f.say("echo still here").await, "still here\n");
}
