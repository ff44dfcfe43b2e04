//! Options that several subcommands share.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use atoll_isolation::Isolation;
use atoll_protocol::{EgressRule, Encoding, NetworkPolicy, SandboxLimits, SandboxName};
use atoll_runtime::{Error, Invocation, Limits, SandboxOptions, Storage};
use clap::{Args, ValueEnum};

use crate::parse;

/// The environment, working directory and user of a command.
#[derive(Debug, Args)]
pub(crate) struct ExecContext {
    /// Set an environment variable (MODE=fast), pass on your own (HOME), or unset one (LANG-). Repeatable.
    #[arg(short, long = "env", value_name = "VARIABLE", value_parser = parse::variable)]
    pub(crate) env: Vec<(OsString, Option<OsString>)>,

    /// Run in this directory; a relative path is below /workspace.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Run as this user of the sandbox: build, 1000, or build:staff [default: root].
    #[arg(short, long)]
    pub(crate) user: Option<String>,
}

/// A command and how to run it.
#[derive(Debug, Args)]
pub(crate) struct CommandArguments {
    #[command(flatten)]
    pub(crate) context: ExecContext,

    /// Pass your standard input to the command; without this it is empty.
    #[arg(short = 'i', long)]
    pub(crate) stdin: bool,

    /// Kill the command after this time (500ms, 10s, 2m).
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) timeout: Option<Duration>,

    /// Kill the command after this time without output (30s).
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) idle_timeout: Option<Duration>,

    /// Time between SIGTERM and SIGKILL when the command is killed (5s).
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) grace: Option<Duration>,

    /// Kill the command when its output exceeds this size (64k, 10m).
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) max_output: Option<u64>,

    /// Restrict the command's network to this rule, within its sandbox's rules (api.example.com:443, or none).
    /// Repeatable.
    #[arg(long = "only", value_name = "RULE", value_parser = parse::only, help_heading = "Network")]
    pub(crate) only: Vec<parse::Only>,

    /// Encoding of the output in --json.
    #[arg(long, value_enum, default_value_t = EncodingChoice::Utf8, requires = "json")]
    pub(crate) encoding: EncodingChoice,

    /// Shell string (one word), or program and arguments (several words).
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// The encoding of output in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingChoice {
    /// Text; invalid UTF-8 is replaced.
    Utf8,
    /// Base64; preserves all bytes.
    Base64,
}

impl From<EncodingChoice> for Encoding {
    fn from(choice: EncodingChoice) -> Self {
        match choice {
            EncodingChoice::Utf8 => Self::Utf8,
            EncodingChoice::Base64 => Self::Base64,
        }
    }
}

/// The resource limits of a sandbox.
#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// Limit the memory of the sandbox (512m, 2g).
    #[arg(short, long, value_name = "SIZE", value_parser = parse::size)]
    memory: Option<u64>,

    /// Limit the number of processes and threads (256).
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pids: Option<u64>,

    /// Limit the CPU cores of the sandbox (0.5, 2).
    #[arg(long, value_name = "CORES", value_parser = parse::cpus)]
    cpus: Option<u64>,

    /// Limit the open files of each process (1024).
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(16..))]
    open_files: Option<u64>,
}

impl LimitArguments {
    /// Returns the limits for a request.
    pub(crate) fn limits(&self) -> SandboxLimits {
        let Self { memory, pids, cpus, open_files } = *self;
        SandboxLimits { memory_bytes: memory, pids, cpu_millis: cpus, open_files }
    }
}

/// The egress policy of a sandbox.
#[derive(Debug, Args)]
pub(crate) struct NetworkArguments {
    /// Allow egress to a rule set (pypi, npm, crates, debian, github) or to [PROTOCOL://]HOST[:PORTS], where HOST is a
    /// name, *.NAME, an address or a CIDR block (tcp://10.0.0.0/8:5432). Repeatable [default: no egress].
    #[arg(long = "allow", value_name = "RULE", value_parser = parse::rule, help_heading = "Network")]
    allow: Vec<EgressRule>,

    /// Resolve a name to this address without DNS (db.internal=10.0.0.5). Repeatable.
    #[arg(long = "resolve", value_name = "NAME=ADDRESS", value_parser = parse::host, help_heading = "Network")]
    hosts: Vec<(String, String)>,

    /// Resolve names with this DNS server (1.1.1.1:53) [default: the host's].
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Network")]
    resolver: Option<String>,

    /// Trust the certificates in this PEM file where Atoll inspects TLS.
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    trust: Option<PathBuf>,
}

impl NetworkArguments {
    /// Returns the policy, or `None` if no option was given.
    pub(crate) fn policy(&self) -> Result<Option<NetworkPolicy>, Error> {
        let Self { allow, hosts, resolver, trust } = self;
        if allow.is_empty() && hosts.is_empty() && resolver.is_none() && trust.is_none() {
            return Ok(None);
        }
        let mut policy = NetworkPolicy { allow: allow.clone(), resolver: resolver.clone(), ..NetworkPolicy::default() };
        for (name, address) in hosts {
            policy.hosts.entry(name.clone()).or_default().push(address.clone());
        }
        if let Some(path) = trust {
            let read = std::fs::read_to_string(path);
            let failed = |error| Error::Invalid { what: format!("cannot read {}: {error}", path.display()) };
            policy.trust = Some(read.map_err(failed)?);
        }
        Ok(Some(policy))
    }

    /// Adds the options to an existing policy.
    pub(crate) fn add_to(&self, policy: &mut NetworkPolicy) -> Result<(), Error> {
        let Some(more) = self.policy()? else { return Ok(()) };
        for rule in more.allow {
            if !policy.allow.contains(&rule) {
                policy.allow.push(rule);
            }
        }
        policy.hosts.extend(more.hosts);
        policy.resolver = more.resolver.or(policy.resolver.take());
        policy.trust = more.trust.or(policy.trust.take());
        Ok(())
    }
}

/// The properties of a throw-away sandbox.
#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    network: NetworkArguments,

    /// Name of the sandbox, also its host name [default: generated].
    #[arg(long, value_parser = |text: &str| SandboxName::new(text))]
    name: Option<SandboxName>,

    /// Isolation of the sandbox.
    #[arg(long, value_enum, default_value_t = IsolationChoice::Namespaces)]
    isolation: IsolationChoice,

    /// Keep the sandbox's files in this directory and reuse those already there [default: delete them].
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,

    /// Track processes with a warden even if cgroups are available.
    #[arg(long, hide = true)]
    without_cgroups: bool,
}

/// The isolation of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationChoice {
    /// Separate processes, files, network and users.
    Namespaces,
    /// No isolation: commands run directly on this machine.
    None,
}

impl SandboxArguments {
    /// Returns the options for the runtime.
    pub(crate) fn options(&self) -> Result<SandboxOptions, Error> {
        let SandboxLimits { memory_bytes, pids, cpu_millis, open_files } = self.limits.limits();
        Ok(SandboxOptions {
            name: self.name.clone(),
            isolation: match self.isolation {
                IsolationChoice::Namespaces => Isolation::Namespaces,
                IsolationChoice::None => Isolation::None,
            },
            limits: Limits { memory_bytes, pids, cpu_millis, open_files },
            storage: self.storage.clone().map_or(Storage::Own, Storage::Kept),
            without_cgroups: self.without_cgroups,
            network: self.network.policy()?,
            ..SandboxOptions::default()
        })
    }
}

/// Interprets the words after `--`: one is a shell string, several are a program and its arguments.
pub(crate) fn invocation(mut words: Vec<OsString>) -> Invocation {
    match words.len() {
        1 => Invocation::Shell(words.remove(0)),
        _ => Invocation::Argv(words),
    }
}
