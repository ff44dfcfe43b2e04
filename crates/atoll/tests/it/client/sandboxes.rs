//! Sandboxes from their first day to their last.

use super::{Cli, refused};
use crate::harness::{Home, skip};

#[test]
fn sandboxes_are_made_listed_shown_and_removed() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let (one, two) = (cli.sandbox(), home.name());
    let made = cli.json(&["create", &two, "--label", "team=a", "--sleep-after", "10m"]);
    assert_eq!((&made["labels"]["team"], &made["sleep_after_ms"]), (&"a".into(), &600_000.into()));
    let all = cli.ok(&["ls"]);
    assert!(all.starts_with("NAME") && all.contains(&one) && all.contains("team=a"), "{all}");
    let some = cli.json(&["ls", "--label", "team=a"]);
    assert_eq!(some["sandboxes"].as_array().unwrap().len(), 1);
    let shown = cli.ok(&["inspect", &two]);
    assert!(shown.contains("sleeps after   600000 ms") && shown.contains("state          running"), "{shown}");
    assert_eq!(cli.json(&["inspect", &two])["live"]["name"], two);
    let differs = cli.done(&["create", &two, "--label", "team=b", "--json"]);
    assert_eq!((differs.code, refused(&differs).as_str()), (Some(125), "SANDBOX_DIFFERS"));
    let removed = cli.done(&["rm", "no-such", &one]);
    removed.assert(125, &format!("{one}\n"), "error: no sandbox is named no-such\n");
    assert_eq!(cli.json(&["rm", &two])["removed"], serde_json::json!([two]));
    assert_eq!(cli.json(&["ls"])["sandboxes"], serde_json::json!([]));
    cli.server.end();
}

#[test]
fn a_stopped_sandbox_keeps_its_files() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    cli.ok(&["exec", &name, "--", "echo kept > file"]);
    assert_eq!(cli.ok(&["stop", &name]), format!("{name} stopped\n"));
    assert_eq!(cli.json(&["inspect", &name])["state"], "stopped");
    assert_eq!(cli.ok(&["start", &name]), format!("{name} running\n"));
    assert_eq!(cli.ok(&["exec", &name, "--", "cat file"]), "kept\n");
    cli.server.end();
}

#[test]
fn a_paused_sandbox_stands_still() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let name = cli.sandbox();
    let paused = cli.done(&["pause", &name, "--json"]);
    if paused.code != Some(0) {
        skip("no cgroups here that can be frozen");
    } else {
        let refusal = cli.done(&["exec", &name, "--json", "--", "true"]);
        assert_eq!((refusal.code, refused(&refusal).as_str()), (Some(125), "SANDBOX_PAUSED"));
        assert_eq!(cli.ok(&["resume", &name]), format!("{name} running\n"));
        assert_eq!(cli.ok(&["exec", &name, "--", "echo on"]), "on\n");
    }
    cli.server.end();
}
