//! `atoll egress`: shows and changes the egress policy of a sandbox, and prints its egress events.

use std::process::ExitCode;

use atoll_client::{Client, EgressFollowEvent};
use atoll_protocol::{EgressEvent, EgressRule, NetworkInfo, NetworkPolicy, SandboxName};
use clap::{Args, Subcommand};

use crate::error::CliError;
use crate::options::NetworkArguments;
use crate::settings::ServerArguments;
use crate::table::{pairs, table};
use crate::{exit, parse, printer};

/// Show and change the egress rules of a sandbox.
///
/// Without an action, prints the rules and the traffic totals. A change takes effect at once and closes connections
/// that are no longer allowed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll egress box
  atoll egress box allow pypi example.com:443
  atoll egress box deny example.com:443
  atoll egress box events -f")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add egress rules.
    Allow {
        /// Rules to add, as for `atoll create --allow` (pypi, example.com:443).
        #[arg(value_name = "RULE", value_parser = parse::rule)]
        rules: Vec<EgressRule>,

        #[command(flatten)]
        more: NetworkArguments,
    },
    /// Remove egress rules; without RULE, remove all of them.
    Deny {
        /// Rules to remove, as `atoll egress NAME` prints them.
        #[arg(value_name = "RULE", value_parser = parse::rule)]
        rules: Vec<EgressRule>,
    },
    /// Print egress events, one per line.
    Events {
        /// Keep printing new events.
        #[arg(short, long)]
        follow: bool,

        /// Start at this cursor (0 is the first event).
        #[arg(long, value_name = "CURSOR", default_value_t = 0)]
        since: u64,
    },
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(act(arguments), as_json)
}

async fn act(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let info = match arguments.action {
        None => client.network().await?,
        Some(Action::Events { follow, since }) => {
            events(&client, follow, since, arguments.server.json).await?;
            return Ok(0);
        }
        Some(Action::Allow { rules, more }) => {
            let mut policy = client.network().await?.policy;
            more.add_to(&mut policy)?;
            for rule in rules {
                if !policy.allow.contains(&rule) {
                    policy.allow.push(rule);
                }
            }
            client.set_network(&policy).await?
        }
        Some(Action::Deny { rules }) => {
            let policy = remove_rules(client.network().await?.policy, &rules)?;
            client.set_network(&policy).await?
        }
    };
    if arguments.server.json {
        printer::json(&info)?;
    } else {
        printer::out(format_info(&info).as_bytes())?;
    }
    Ok(0)
}

fn remove_rules(mut policy: NetworkPolicy, rules: &[EgressRule]) -> Result<NetworkPolicy, CliError> {
    if rules.is_empty() {
        policy.allow.clear();
    }
    for rule in rules {
        let before = policy.allow.len();
        policy.allow.retain(|own| own != rule);
        if policy.allow.len() == before {
            let what =
                format!("the sandbox has no egress rule {} (list them with `atoll egress NAME`)", format_rule(rule));
            return Err(atoll_runtime::Error::Invalid { what }.into());
        }
    }
    Ok(policy)
}

fn format_info(info: &NetworkInfo) -> String {
    let NetworkInfo { policy, open: _, totals } = info;
    let rules: Vec<String> = policy.allow.iter().map(format_rule).collect();
    let rules = if rules.is_empty() { "nothing".to_owned() } else { rules.join(" ") };
    let mut lines = vec![("allowed", rules)];
    lines.extend(policy.hosts.iter().map(|(name, addresses)| ("resolved", format!("{name} {}", addresses.join(" ")))));
    lines.extend(policy.resolver.clone().map(|resolver| ("resolver", resolver)));
    lines.extend([
        ("connections", format!("{} ({} open, {} denied)", totals.connections, totals.open, totals.denied)),
        ("names", format!("{} resolved, {} denied", totals.names, totals.names_denied)),
        ("bytes", format!("{} out, {} in", totals.bytes_out, totals.bytes_in)),
    ]);
    pairs(&lines)
}

/// Formats a rule as `parse::rule` reads it.
fn format_rule(rule: &EgressRule) -> String {
    let EgressRule { set, domain, cidr, ports, protocols, inspect } = rule;
    if let Some(set) = set {
        return name(set);
    }
    let protocol = match protocols {
        _ if *inspect => "inspect://".to_owned(),
        Some(list) => format!("{}://", list.iter().map(name).collect::<Vec<_>>().join("+")),
        None => String::new(),
    };
    let host = domain.as_ref().or(cidr.as_ref()).cloned().unwrap_or_default();
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let ports = ports.as_ref().map(|ports| format!(":{}", ports.join(","))).unwrap_or_default();
    format!("{protocol}{host}{ports}")
}

/// Returns the name of an enum variant in the API.
fn name(of: &impl serde::Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

async fn events(client: &Client, follow: bool, since: u64, as_json: bool) -> Result<(), CliError> {
    if follow {
        let mut follow = client.follow_egress(since);
        loop {
            match follow.next().await? {
                EgressFollowEvent::Event(event) if as_json => printer::json(&event)?,
                EgressFollowEvent::Event(event) => printer::out(line(&event).as_bytes())?,
                EgressFollowEvent::Gap(gap) => {
                    printer::warning(&format!("{} older events were dropped", gap.to - gap.from))
                }
            }
        }
    }
    let mut cursor = since;
    loop {
        let page = client.egress_events(cursor, None).await?;
        if page.lost > 0 {
            printer::warning(&format!("{} older events were dropped", page.lost));
        }
        if page.events.is_empty() {
            return Ok(());
        }
        for event in &page.events {
            if as_json { printer::json(event)? } else { printer::out(line(event).as_bytes())? }
        }
        cursor = page.next_cursor;
    }
}

/// Formats an event: time, kind, target, then the reason or the bytes.
fn line(event: &EgressEvent) -> String {
    let host = event.host.as_deref().or(event.address.as_deref()).unwrap_or("-");
    let port = event.port.map(|port| format!(":{port}")).unwrap_or_default();
    let bytes = event.bytes_out.zip(event.bytes_in).map(|(out, back)| format!("{out} out, {back} in"));
    let reason = event.reason.map(|reason| name(&reason));
    let rest = [reason, bytes, event.rule.clone(), event.command.as_ref().map(ToString::to_string)];
    let rest: Vec<String> = rest.into_iter().flatten().collect();
    let cells = vec![event.at.to_string(), name(&event.kind), format!("{host}{port}"), rest.join("  ")];
    // A table of one line, which replaces control characters.
    table(&["", "", "", ""], &[cells]).lines().nth(1).map(|line| format!("{line}\n")).unwrap_or_default()
}
