//! `atoll egress`: what a sandbox may reach, changed while it runs, and what happened there.

use std::process::ExitCode;

use atoll_client::{Client, EgressFollowEvent};
use atoll_protocol::{EgressEvent, EgressRule, NetworkInfo, NetworkPolicy, SandboxName};
use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::options::NetworkArguments;
use crate::settings::ServerArguments;
use crate::table::{pairs, table};
use crate::{exit, parse, printer};

/// Show and change what a sandbox may reach.
///
/// Without a word behind the name: the rules, and what has gone out. A change counts at once; connections that are no longer
/// allowed are cut off.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll egress box
  atoll egress box allow pypi example.com:443
  atoll egress box deny example.com:443
  atoll egress box events -f")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Let it reach more.
    Allow {
        /// Rules, as for `atoll create --allow`.
        #[arg(value_name = "RULE", value_parser = parse::rule)]
        rules: Vec<EgressRule>,

        #[command(flatten)]
        more: NetworkArguments,
    },
    /// Take rules away; without any, all of them.
    Deny {
        /// Rules as they were given.
        #[arg(value_name = "RULE", value_parser = parse::rule)]
        rules: Vec<EgressRule>,
    },
    /// Print what happened on the way out, a line each.
    Events {
        /// Go on with what happens.
        #[arg(short, long)]
        follow: bool,

        /// From this position on.
        #[arg(long, value_name = "CURSOR", default_value_t = 0)]
        since: u64,
    },
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(act(arguments), as_json)
}

async fn act(arguments: Arguments) -> Result<u8, Failure> {
    let client = arguments.server.inside(&arguments.name)?;
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
            let policy = without(client.network().await?.policy, &rules)?;
            client.set_network(&policy).await?
        }
    };
    if arguments.server.json {
        printer::json(&info)?;
    } else {
        printer::out(shown(&info).as_bytes())?;
    }
    Ok(0)
}

fn without(mut policy: NetworkPolicy, rules: &[EgressRule]) -> Result<NetworkPolicy, Failure> {
    if rules.is_empty() {
        policy.allow.clear();
    }
    for rule in rules {
        let before = policy.allow.len();
        policy.allow.retain(|own| own != rule);
        if policy.allow.len() == before {
            let what = format!("there is no rule {}", described(rule));
            return Err(atoll_runtime::Error::Invalid { what }.into());
        }
    }
    Ok(policy)
}

fn shown(info: &NetworkInfo) -> String {
    let NetworkInfo { policy, open: _, totals } = info;
    let rules: Vec<String> = policy.allow.iter().map(described).collect();
    let rules = if rules.is_empty() { "nothing".to_owned() } else { rules.join(" ") };
    let mut lines = vec![("allowed", rules)];
    lines.extend(policy.hosts.iter().map(|(name, addresses)| ("resolved", format!("{name} {}", addresses.join(" ")))));
    lines.extend(policy.resolver.clone().map(|resolver| ("resolver", resolver)));
    lines.extend([
        ("connections", format!("{} ({} open, {} denied)", totals.connections, totals.open, totals.denied)),
        ("names", format!("{} told, {} denied", totals.names, totals.names_denied)),
        ("bytes", format!("{} out, {} in", totals.bytes_out, totals.bytes_in)),
    ]);
    pairs(&lines)
}

/// As it can be typed.
fn described(rule: &EgressRule) -> String {
    let EgressRule { set, domain, cidr, ports, protocols, inspect } = rule;
    if let Some(set) = set {
        return word(set);
    }
    let protocol = match protocols {
        _ if *inspect => "inspect://".to_owned(),
        Some(list) => format!("{}://", list.iter().map(word).collect::<Vec<_>>().join("+")),
        None => String::new(),
    };
    let place = domain.as_ref().or(cidr.as_ref()).cloned().unwrap_or_default();
    let place = if place.contains(':') { format!("[{place}]") } else { place };
    let ports = ports.as_ref().map(|ports| format!(":{}", ports.join(","))).unwrap_or_default();
    format!("{protocol}{place}{ports}")
}

/// A word of the protocol.
fn word(of: &impl serde::Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

async fn events(client: &Client, follow: bool, since: u64, as_json: bool) -> Result<(), Failure> {
    if follow {
        let mut follow = client.follow_egress(since);
        loop {
            match follow.next().await? {
                EgressFollowEvent::Event(event) if as_json => printer::json(&event)?,
                EgressFollowEvent::Event(event) => printer::out(line(&event).as_bytes())?,
                EgressFollowEvent::Gap(gap) => printer::warning(&format!("{} events are forgotten", gap.to - gap.from)),
            }
        }
    }
    let mut cursor = since;
    loop {
        let page = client.egress_events(cursor, None).await?;
        if page.lost > 0 {
            printer::warning(&format!("{} events are forgotten", page.lost));
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

/// When, what, whither, and why or how much.
fn line(event: &EgressEvent) -> String {
    let place = event.host.as_deref().or(event.address.as_deref()).unwrap_or("-");
    let port = event.port.map(|port| format!(":{port}")).unwrap_or_default();
    let bytes = event.bytes_out.zip(event.bytes_in).map(|(out, back)| format!("{out} out, {back} in"));
    let reason = event.reason.map(|reason| word(&reason));
    let rest = [reason, bytes, event.rule.clone(), event.command.as_ref().map(ToString::to_string)];
    let rest: Vec<String> = rest.into_iter().flatten().collect();
    let cells = vec![event.at.to_string(), word(&event.kind), format!("{place}{port}"), rest.join("  ")];
    // A table of one line, for what it does to letters that a terminal would obey.
    table(&["", "", "", ""], &[cells]).lines().nth(1).map(|line| format!("{line}\n")).unwrap_or_default()
}
