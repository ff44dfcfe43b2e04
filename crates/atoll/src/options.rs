//! Options that several subcommands share.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use atoll_isolation::Isolation;
use atoll_protocol::{EgressRule, Encoding, NetworkPolicy, SandboxLimits, SandboxName};
use atoll_runtime::{Error, Invocation, Limits, SandboxOptions, Storage};
use clap::{Args, ValueEnum};

use crate::parse;

/// Where and as whom a command runs.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Set a variable (NAME=VALUE), take it from here (NAME), or unset it (NAME-).
    #[arg(short, long = "env", value_name = "VARIABLE", value_parser = parse::variable)]
    pub(crate) env: Vec<(OsString, Option<OsString>)>,

    /// Working directory; relative ones are below /workspace.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// User inside: a name, a number, or either with :GROUP [default: root].
    #[arg(short, long)]
    pub(crate) user: Option<String>,
}

/// One command, and how it is run.
#[derive(Debug, Args)]
pub(crate) struct CommandArguments {
    #[command(flatten)]
    pub(crate) place: Place,

    /// Pass on standard input; without it the command gets none.
    #[arg(short = 'i', long)]
    pub(crate) stdin: bool,

    /// End the command after so long (10s, 500ms, 2m).
    #[arg(short, long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) timeout: Option<Duration>,

    /// End the command after so long without output.
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) idle_timeout: Option<Duration>,

    /// How long a command that is told to end may take before it is killed.
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) grace: Option<Duration>,

    /// End the command when it has printed more than so much (64k, 10m).
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) max_output: Option<u64>,

    /// Let the command reach only this, within what its sandbox may; more than once if need be, `none` for nothing.
    #[arg(long = "only", value_name = "RULE", value_parser = parse::only, help_heading = "Network")]
    pub(crate) only: Vec<parse::Only>,

    /// With --json: how output is put into it.
    #[arg(long, value_enum, default_value_t = EncodingChoice::Utf8, requires = "json")]
    pub(crate) encoding: EncodingChoice,

    /// A shell string, or a program and its arguments.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// How output is put into JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingChoice {
    /// Text; what is no UTF-8 is replaced.
    Utf8,
    /// Exact.
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

/// What a sandbox may use.
#[derive(Debug, Args)]
pub(crate) struct LimitArguments {
    /// Memory that the sandbox may use (512m, 2g).
    #[arg(short, long, value_name = "SIZE", value_parser = parse::size)]
    memory: Option<u64>,

    /// Processes and threads that the sandbox may have.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pids: Option<u64>,

    /// Cores that the sandbox may use (0.5, 2).
    #[arg(long, value_name = "CORES", value_parser = parse::cpus)]
    cpus: Option<u64>,

    /// Files that each process may have open.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(16..))]
    open_files: Option<u64>,
}

impl LimitArguments {
    /// As a server is told them.
    pub(crate) fn limits(&self) -> SandboxLimits {
        let Self { memory, pids, cpus, open_files } = *self;
        SandboxLimits { memory_bytes: memory, pids, cpu_millis: cpus, open_files }
    }
}

/// What a sandbox may reach.
#[derive(Debug, Args)]
pub(crate) struct NetworkArguments {
    /// Let the sandbox reach this: pypi, npm, crates, debian, github, or [PROTOCOL://]WHERE[:PORTS], where WHERE is a name,
    /// *.NAME, an address or a block of them; more than once if need be [default: nothing].
    #[arg(long = "allow", value_name = "RULE", value_parser = parse::rule, help_heading = "Network")]
    allow: Vec<EgressRule>,

    /// The address of a name, which is then asked of nobody; more than once if need be.
    #[arg(long = "resolve", value_name = "NAME=ADDRESS", value_parser = parse::host, help_heading = "Network")]
    hosts: Vec<(String, String)>,

    /// The name server to ask [default: this machine's].
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Network")]
    resolver: Option<String>,

    /// A file with certificates (PEM) to believe servers by, where TLS ends at Atoll.
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    trust: Option<PathBuf>,
}

impl NetworkArguments {
    /// `None` if nothing was said.
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
            let failed = |error| Error::Invalid { what: format!("{} cannot be read: {error}", path.display()) };
            policy.trust = Some(read.map_err(failed)?);
        }
        Ok(Some(policy))
    }

    /// Adds what was said to what there is.
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

/// What the sandbox is like.
#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    #[command(flatten)]
    limits: LimitArguments,

    #[command(flatten)]
    network: NetworkArguments,

    /// Name of the sandbox, which is also its host name [default: made up].
    #[arg(long, value_parser = |text: &str| SandboxName::new(text))]
    name: Option<SandboxName>,

    /// How the sandbox is walled off.
    #[arg(long, value_enum, default_value_t = IsolationChoice::Namespaces)]
    isolation: IsolationChoice,

    /// Keep the sandbox's files in this directory, and use those that are there already [default: thrown away].
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,

    /// Keep processes together by a warden even if cgroups could do it.
    #[arg(long, hide = true)]
    without_cgroups: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsolationChoice {
    /// Own processes, files, network and users.
    Namespaces,
    /// None: on this machine as it is.
    None,
}

impl SandboxArguments {
    /// As the library takes them.
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

/// One word is a shell string, several are a program and its arguments.
pub(crate) fn invocation(mut words: Vec<OsString>) -> Invocation {
    match words.len() {
        1 => Invocation::Shell(words.remove(0)),
        _ => Invocation::Argv(words),
    }
}
