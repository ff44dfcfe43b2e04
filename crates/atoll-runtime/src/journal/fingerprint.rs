//! What was asked for, as a number: the same for the same request in every life of a sandbox, and telling nothing of it.
//!
//! Must not change between versions: then a repeated start would be taken for a different one, and refused.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::command::{Background, Command, Invocation, Stdin};
use crate::process::{ProcessSpec, Restart};

/// FNV-1a in 128 bits, in hexadecimal. It tells accidents apart; a client that forges one fools itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint(String);

impl Fingerprint {
    /// Of what makes two specs the same ([`ProcessSpec::same_as`]).
    pub(crate) fn of(spec: &ProcessSpec) -> Self {
        let mut sum = Sum::default();
        let ProcessSpec { id: _, command, labels, restart, readiness: _, session } = spec;
        sum.command(command);
        sum.number(labels.len() as u64);
        for (name, value) in labels {
            sum.bytes(name.as_bytes());
            sum.bytes(value.as_bytes());
        }
        match restart {
            Restart::Never => sum.number(0),
            Restart::OnFailure { max, backoff, backoff_max } => {
                sum.number(1);
                sum.number(u64::from(*max));
                sum.time(Some(*backoff));
                sum.time(Some(*backoff_max));
            }
        }
        sum.maybe(session.as_ref().map(|session| session.as_str().as_bytes()));
        Self(format!("{:032x}", sum.0))
    }
}

struct Sum(u128);

impl Default for Sum {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Sum {
    fn raw(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }

    fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    /// With its length, so that no two lists of texts run into each other.
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    fn maybe(&mut self, bytes: Option<&[u8]>) {
        self.number(u64::from(bytes.is_some()));
        self.bytes(bytes.unwrap_or_default());
    }

    fn time(&mut self, time: Option<Duration>) {
        self.number(u64::from(time.is_some()));
        let time = time.unwrap_or_default();
        self.number(time.as_secs());
        self.number(u64::from(time.subsec_nanos()));
    }

    fn limit(&mut self, limit: Option<u64>) {
        self.number(u64::from(limit.is_some()));
        self.number(limit.unwrap_or_default());
    }

    fn command(&mut self, command: &Command) {
        self.invocation(&command.invocation);
        self.maybe(command.cwd.as_ref().map(|cwd| cwd.as_os_str().as_bytes()));
        self.number(command.env.len() as u64);
        for (name, value) in &command.env {
            self.bytes(name.as_bytes());
            self.maybe(value.as_ref().map(|value| value.as_bytes()));
        }
        self.maybe(command.user.as_ref().map(String::as_bytes));
        match &command.stdin {
            Stdin::Closed => self.number(0),
            Stdin::Bytes(bytes) => {
                self.number(1);
                self.bytes(bytes);
            }
            Stdin::Pipe => self.number(2),
        }
        self.time(command.timeout);
        self.time(command.idle_timeout);
        self.limit(command.max_output_bytes);
        self.limit(command.memory_bytes);
        self.number(match command.background {
            Background::Keep => 0,
            Background::Kill => 1,
        });
        self.time(Some(command.grace));
        // Behind everything else, and only if it is there: what was written down before it existed stays the same.
        if let Some(rules) = &command.network {
            self.bytes(&serde_json::to_vec(rules).unwrap_or_default());
        }
    }

    fn invocation(&mut self, invocation: &Invocation) {
        match invocation {
            Invocation::Shell(text) => {
                self.number(0);
                self.bytes(text.as_bytes());
            }
            Invocation::Interactive => self.number(1),
            Invocation::Argv(argv) => {
                self.number(2);
                self.number(argv.len() as u64);
                argv.iter().for_each(|word| self.bytes(word.as_bytes()));
            }
            Invocation::Session { .. } => self.number(3),
            Invocation::Restored { snapshot, text } => {
                self.number(4);
                self.bytes(text.as_bytes());
                // What the session held counts too; a snapshot that cannot be told equals only itself.
                self.bytes(&serde_json::to_vec(&**snapshot).unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: fn(&mut ProcessSpec)) -> String {
        let mut spec = ProcessSpec::new(Command::shell("make"));
        change(&mut spec);
        Fingerprint::of(&spec).0
    }

    #[test]
    fn it_is_the_same_in_every_version() {
        assert_eq!(of(|_| {}), of(|spec| spec.readiness = None));
        assert_eq!(of(|_| {}), "4dd304efe8aad8992e175b397bfaec20");
    }

    #[test]
    fn whatever_differs_is_seen() {
        let all = [
            of(|_| {}),
            of(|spec| spec.command = Command::argv(["make"])),
            of(|spec| spec.command = Command::argv(["ma", "ke"])),
            of(|spec| drop(spec.command.env.insert("A".into(), None))),
            of(|spec| drop(spec.command.env.insert("A".into(), Some("".into())))),
            of(|spec| spec.command.cwd = Some("A".into())),
            of(|spec| spec.command.user = Some("A".into())),
            of(|spec| spec.command.stdin = Stdin::Pipe),
            of(|spec| spec.command.timeout = Some(Duration::from_secs(1))),
            of(|spec| spec.command.idle_timeout = Some(Duration::from_secs(1))),
            of(|spec| spec.command.memory_bytes = Some(1)),
            of(|spec| spec.command.max_output_bytes = Some(1)),
            of(|spec| spec.command.background = Background::Kill),
            of(|spec| spec.command.network = Some(Vec::new())),
            of(|spec| drop(spec.labels.insert("A".into(), String::new()))),
            of(|spec| spec.restart = Restart::ON_FAILURE),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
