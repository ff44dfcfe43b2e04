//! `atoll doctor`: checks by trial which features this host supports.

use std::process::ExitCode;

use atoll_isolation::{Isolation, cgroup};
use atoll_runtime::{Command, Error, Home, Host, SandboxOptions};
use clap::Args;
use serde::Serialize;

use crate::printer;

/// Check which features this host supports, and show why others are missing.
///
/// Creates and destroys a sandbox to find out. Exits with 1 if sandboxes cannot be isolated on this host.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll doctor
  atoll doctor --json | jq .isolation")]
pub(crate) struct Arguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    works: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// All results.
#[derive(Debug, Serialize)]
struct Findings {
    kernel: String,
    user: String,
    home: String,
    isolation: Finding,
    /// Whether `atoll agent --entrypoint` is isolated from its commands.
    entrypoint: Finding,
    process_trees: Finding,
    memory_limit: Finding,
    process_limit: Finding,
    cpu_limit: Finding,
    /// System calls that the seccomp filter denies.
    refused_calls: Vec<String>,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let findings = match examine() {
        Ok(findings) => findings,
        Err(error) => {
            printer::error(&error.body(), arguments.json);
            return ExitCode::FAILURE;
        }
    };
    let printed = if arguments.json { printer::json(&findings) } else { printer::out(text(&findings).as_bytes()) };
    if printed.is_ok() && findings.isolation.works { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn examine() -> Result<Findings, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::Internal { what: format!("failed to start the async runtime: {error}") })?;
    let home = Home::discover()?;
    let host = Host::new(home.clone())?;
    let isolation = runtime.block_on(try_isolation(&host));
    let layout = host.layout();
    let limit = |controller: &cgroup::Controller| match controller {
        cgroup::Controller::V2 => found("cgroup v2"),
        cgroup::Controller::V1(path) => found(format!("cgroup v1 at {}", path.display())),
        cgroup::Controller::Missing { why } => missing(why.clone(), None),
    };
    Ok(Findings {
        kernel: read("/proc/sys/kernel/osrelease"),
        user: format!("uid {}", atoll_isolation::sys::identity::user()),
        home: home.state.display().to_string(),
        entrypoint: entrypoint(&isolation),
        isolation,
        process_trees: match &layout.tree {
            cgroup::Tree::Cgroup2 { parent, .. } => {
                found(format!("tracked by cgroups, one per command below {}", parent.display()))
            }
            cgroup::Tree::Unavailable { why } => found(format!("tracked by a warden process per command ({why})")),
        },
        memory_limit: limit(&layout.controllers.memory),
        process_limit: limit(&layout.controllers.pids),
        cpu_limit: limit(&layout.controllers.cpu),
        refused_calls: atoll_isolation::seccomp::rules().iter().map(ToString::to_string).collect(),
    })
}

/// Creates a sandbox and reads its user mapping.
async fn try_isolation(host: &Host) -> Finding {
    let tried = async {
        let sandbox =
            host.create(SandboxOptions { isolation: Isolation::Namespaces, ..SandboxOptions::default() }).await?;
        let output = sandbox.exec(Command::shell("cat /proc/self/uid_map")).await;
        sandbox.destroy().await?;
        output
    };
    match tried.await {
        Ok(output) => {
            let map =
                String::from_utf8_lossy(&output.stdout.head).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let base = map.get(1).cloned().unwrap_or_default();
            let count = map.get(2).cloned().unwrap_or_default();
            found(format!(
                "user, pid, mount, net, uts, ipc and cgroup namespaces; \
                 root in the sandbox is uid {base} on the host, {count} ids"
            ))
        }
        Err(error) => missing(error.to_string(), error.hint()),
    }
}

fn entrypoint(isolation: &Finding) -> Finding {
    if isolation.works {
        return found("`atoll agent --entrypoint` is isolated from its commands");
    }
    let detail = "`atoll agent --entrypoint` is not isolated from its commands; only the container around them is";
    missing(detail.to_owned(), None)
}

fn found(detail: impl Into<String>) -> Finding {
    Finding { works: true, detail: detail.into(), hint: None }
}

fn missing(detail: String, hint: Option<String>) -> Finding {
    Finding { works: false, detail, hint }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn text(findings: &Findings) -> String {
    let rows = [
        ("isolation", &findings.isolation),
        ("entrypoint", &findings.entrypoint),
        ("process trees", &findings.process_trees),
        ("memory limit", &findings.memory_limit),
        ("process limit", &findings.process_limit),
        ("cpu limit", &findings.cpu_limit),
    ];
    let mut text = format!(
        "kernel         {}\nuser           {}\nhome           {}\n",
        findings.kernel, findings.user, findings.home
    );
    for (name, finding) in rows {
        let verdict = if finding.works { "yes" } else { "no " };
        text.push_str(&format!("{name:<14} {verdict}  {}\n", finding.detail));
        if let Some(hint) = &finding.hint {
            text.push_str(&format!("               hint: {hint}\n"));
        }
    }
    text.push_str(&format!(
        "system calls   {} seccomp rules deny system calls (--json lists them)\n",
        findings.refused_calls.len()
    ));
    text
}
