//! The way out: closed unless a rule opens it, and then only as far as the rule says.

mod answers;
mod bypass;
mod changes;
mod clients;
mod git;
mod memory;
mod names;
mod outside;
mod retry;
mod secrets;
mod spoken;

use std::collections::BTreeMap;

use atoll_protocol::{DenialReason, EgressRule, NetworkPolicy};
use atoll_runtime::{Command, ExecOutput, Sandbox};

use crate::harness::{Fixture, err, out};

/// A name with these ports.
fn domain(name: &str, ports: &[u16]) -> EgressRule {
    let ports = Some(ports.iter().map(u16::to_string).collect());
    EgressRule { domain: Some(name.to_owned()), ports, ..EgressRule::default() }
}

/// This machine's loopback, where the servers of these tests are: it is private, so a rule must name it.
fn loopback(ports: &[u16]) -> EgressRule {
    let ports = Some(ports.iter().map(u16::to_string).collect());
    EgressRule { cidr: Some("127.0.0.1/32".to_owned()), ports, ..EgressRule::default() }
}

/// Rules, and names that are at this machine's loopback.
fn policy(allow: Vec<EgressRule>, here: &[&str]) -> NetworkPolicy {
    let hosts = here.iter().map(|name| ((*name).to_owned(), vec!["127.0.0.1".to_owned()])).collect::<BTreeMap<_, _>>();
    NetworkPolicy { allow, hosts, ..NetworkPolicy::default() }
}

async fn with(f: &Fixture, policy: NetworkPolicy) -> Sandbox {
    f.another(|options| options.network = Some(policy)).await.unwrap()
}

async fn sh(sandbox: &Sandbox, text: &str) -> ExecOutput {
    sandbox.exec(Command::shell(text)).await.unwrap()
}

/// Runs a program of Python's, the system's own: the user's may not be inside.
async fn python(sandbox: &Sandbox, program: &str) -> ExecOutput {
    sandbox.exec(Command::argv(["/usr/bin/python3", "-c", program])).await.unwrap()
}

/// Why the command was refused something, in order.
fn reasons(output: &ExecOutput) -> Vec<DenialReason> {
    output.end.denials.iter().map(|denial| denial.reason).collect()
}

/// Refused for this reason, and nothing else.
fn assert_denied(output: &ExecOutput, reason: DenialReason) {
    assert_eq!(reasons(output), [reason], "{}\n{}\n{:?}", out(output), err(output), output.end.denials);
}
