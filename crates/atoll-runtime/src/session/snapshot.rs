//! What a shell holds: as data, and as a script that brings a fresh shell to the same state.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use atoll_shell::message::DUMP_MAX;

use super::order::quote;
use super::spec::{SessionSpec, is_name};
use crate::command::Command;

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Letters of `declare`: `a` array, `A` associative, `i` integer, `r` read-only, `x` exported and so on.
    pub attributes: String,
    /// What follows the `=` of its declaration, quoted for a shell; `None` if it is declared but not set.
    pub assignment: Option<OsString>,
    /// Its value, if it is no array.
    pub value: Option<OsString>,
}

impl Variable {
    /// Whether programs get it.
    pub fn is_exported(&self) -> bool {
        self.attributes.contains('x')
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: OsString,
    /// Letters of `declare -f`: `r`, `t`, `x`.
    pub attributes: String,
    /// Its definition.
    pub text: OsString,
}

/// An alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// Its name.
    pub name: OsString,
    /// What it stands for.
    pub value: OsString,
}

/// What there is in the shell that cannot be carried into another one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NotCarried {
    /// Open descriptors beyond the standard three.
    pub descriptors: Vec<u32>,
    /// Whether it has children: background jobs.
    pub jobs: bool,
}

/// Everything that a session remembers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// Where it is.
    pub cwd: OsString,
    /// Variables, but for those that bash computes or keeps for itself.
    pub variables: Vec<Variable>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Aliases.
    pub aliases: Vec<Alias>,
    /// Positional parameters.
    pub positional: Vec<OsString>,
    /// `set -o` options that are on.
    pub options: BTreeSet<String>,
    /// `shopt` options that are on.
    pub shell_options: BTreeSet<String>,
    /// Traps by name or number of the signal. An empty action means that it is ignored.
    pub traps: Vec<(String, OsString)>,
    /// File creation mask.
    pub umask: u32,
    /// Resource limits: number (getrlimit(2)), soft, hard.
    pub limits: Vec<(u32, u64, u64)>,
    /// What there was besides.
    pub not_carried: NotCarried,
}

/// Bash sets these itself and lets nobody else, or computes them for each command.
const BASH_OWN: [&str; 11] = [
    "BASH",
    "BASHOPTS",
    "BASH_EXECUTION_STRING",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "EUID",
    "PIPESTATUS",
    "PPID",
    "SHELLOPTS",
    "UID",
    "_",
];

/// A fresh bash has these whether or not it is given them.
const FRESH: [&str; 12] =
    ["HOSTNAME", "HOSTTYPE", "IFS", "MACHTYPE", "OLDPWD", "OPTERR", "OPTIND", "OSTYPE", "PATH", "PS4", "SHLVL", "TERM"];

/// A fresh bash of ours has these on.
const FRESH_OPTIONS: [&str; 3] = ["braceexpand", "hashall", "interactive-comments"];
const FRESH_SHELL_OPTIONS: [&str; 14] = [
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "expand_aliases",
    "extquote",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "hostcomplete",
    "interactive_comments",
    "patsub_replacement",
    "progcomp",
    "promptvars",
    "sourcepath",
];

/// These say how bash was started; they cannot be set.
const FIXED_SHELL_OPTIONS: [&str; 2] = ["login_shell", "restricted_shell"];

/// These change how bash starts, or how it reads what we tell it: a shell gets them when it has started.
const WITHHELD: [&str; 6] = ["BASHOPTS", "BASH_ENV", "ENV", "POSIXLY_CORRECT", "PS4", "SHELLOPTS"];

/// Options under which what comes after them would go wrong: set last, in this order.
const LAST_OPTIONS: [&str; 7] = ["noglob", "noclobber", "nounset", "errtrace", "errexit", "xtrace", "noexec"];

/// What one record of a dump takes in memory at most, beside its bytes.
const RECORD_SIZE: usize = 96;

/// Longest list of options: bash has some fifty of each kind.
const OPTIONS_MAX: usize = 4096;

/// Why a dump is not a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It has too many records.
    TooLarge,
    /// It is not whole, or not a dump.
    Malformed,
}

impl Snapshot {
    /// Reads what the shell wrote.
    pub(super) fn parse(dump: &[u8], jobs: bool) -> Result<Self, Unreadable> {
        let mut snapshot = Self { not_carried: NotCarried { jobs, ..NotCarried::default() }, ..Self::default() };
        let mut fields = Fields { rest: dump };
        let mut size = dump.len();
        while let Some(kind) = fields.kind() {
            size += RECORD_SIZE;
            if size > DUMP_MAX {
                return Err(Unreadable::TooLarge);
            }
            if kind == b'E' {
                return Ok(snapshot);
            }
            snapshot.record(kind, &mut fields).ok_or(Unreadable::Malformed)?;
        }
        Err(Unreadable::Malformed)
    }

    fn record(&mut self, kind: u8, fields: &mut Fields<'_>) -> Option<()> {
        match kind {
            b'P' => self.cwd = fields.os()?,
            b'?' => drop(fields.bytes()?),
            b'V' => self.variable(fields)?,
            b'F' => {
                let (name, attributes, text) = (fields.os()?, fields.text()?, fields.os()?);
                self.functions.push(Function { name, attributes, text });
            }
            b'A' => self.aliases.push(Alias { name: fields.os()?, value: fields.os()? }),
            b'1' => self.positional.push(fields.os()?),
            b'T' => self.traps.push((trap_name(fields.number()?), fields.os()?)),
            b'U' => self.umask = u32::try_from(fields.number()?).ok()?,
            b'L' => {
                let resource = u32::try_from(fields.number()?).ok()?;
                self.limits.push((resource, fields.number()?, fields.number()?));
            }
            b'D' => self.not_carried.descriptors.push(u32::try_from(fields.number()?).ok()?),
            _ => return None,
        }
        Some(())
    }

    fn variable(&mut self, fields: &mut Fields<'_>) -> Option<()> {
        let (name, attributes) = (fields.text()?, fields.text()?);
        let (assignment, value) = (fields.os()?, fields.os()?);
        match name.as_str() {
            "SHELLOPTS" | "BASHOPTS" if value.len() > OPTIONS_MAX => return None,
            "SHELLOPTS" => self.options = words(&value),
            "BASHOPTS" => self.shell_options = words(&value),
            own if BASH_OWN.contains(&own) => {}
            _ => {
                let assignment =
                    assignment.as_bytes().strip_prefix(b"=").map(|text| OsStr::from_bytes(text).to_owned());
                let scalar = assignment.is_some() && !attributes.contains(['a', 'A']);
                self.variables.push(Variable { name, attributes, assignment, value: scalar.then_some(value) });
            }
        }
        Some(())
    }

    /// The exported variables, as programs get them.
    pub fn environment(&self) -> BTreeMap<OsString, OsString> {
        let exported = self.variables.iter().filter(|variable| variable.is_exported());
        exported.filter_map(|variable| Some((variable.name.clone().into(), variable.value.clone()?))).collect()
    }

    /// What a shell that is to hold this is started by: `command` with this directory and exactly these variables.
    pub(crate) fn foundation(&self, command: &Command, defaults: &BTreeMap<OsString, OsString>) -> Command {
        let mut env: BTreeMap<OsString, Option<OsString>> = defaults.keys().map(|name| (name.clone(), None)).collect();
        env.extend(["HOME", "USER", "LOGNAME", "SHELL"].map(|name| (name.into(), None)));
        env.extend(self.environment().into_iter().map(|(name, value)| (name, Some(value))));
        withhold(&mut env);
        let cwd = PathBuf::from(&self.cwd);
        Command {
            env,
            cwd: Some(command.cwd.as_ref().map_or_else(|| cwd.clone(), |given| cwd.join(given))),
            ..command.clone()
        }
    }

    /// What brings a fresh shell to this state, with the directory and the variables of one call over it.
    pub(crate) fn script(&self, call: &Command) -> Vec<u8> {
        let mut script = Script::default();
        self.declare_variables(&mut script, call.cwd.is_some());
        for (name, value) in call.env.iter().filter(|(name, _)| is_name(name)) {
            match value {
                Some(value) => script.line(&[b"export ", name.as_bytes(), b"=", &quote(value.as_bytes())]),
                None => script.line(&[b"unset -v ", name.as_bytes()]),
            }
        }
        for function in &self.functions {
            script.line(&[function.text.as_bytes()]);
            for attribute in function.attributes.bytes() {
                script.line(&[b"declare -f", &[attribute], b" ", &quote(function.name.as_bytes())]);
            }
        }
        let positional: Vec<u8> =
            self.positional.iter().flat_map(|word| [b" ", &quote(word.as_bytes())[..]].concat()).collect();
        script.line(&[b"set --", &positional]);
        script.line(&[format!("umask {:04o}", self.umask).as_bytes()]);
        self.set_options(&mut script);
        script.bytes
    }

    /// Read-only ones last: others may be computed from them.
    fn declare_variables(&self, script: &mut Script, elsewhere: bool) {
        let known: BTreeSet<&str> = self.variables.iter().map(|variable| variable.name.as_str()).collect();
        for name in FRESH.iter().filter(|name| !known.contains(*name)) {
            script.line(&[b"unset -v ", name.as_bytes()]);
        }
        let place = |variable: &&Variable| elsewhere && ["PWD", "OLDPWD"].contains(&variable.name.as_str());
        let (readonly, others): (Vec<_>, Vec<_>) = self
            .variables
            .iter()
            .filter(|variable| !place(variable))
            .partition(|variable| variable.attributes.contains('r'));
        for variable in others.into_iter().chain(readonly) {
            let attributes = if variable.attributes.is_empty() { "-" } else { &variable.attributes };
            let assignment = variable.assignment.as_ref().map(|text| [b"=", text.as_bytes()].concat());
            script.line(&[
                b"declare -",
                attributes.as_bytes(),
                b" ",
                variable.name.as_bytes(),
                assignment.as_deref().unwrap_or_default(),
            ]);
        }
    }

    /// Aliases change how later lines are read, traps and options how they are run.
    fn set_options(&self, script: &mut Script) {
        for (on, name) in changed(&self.shell_options, &FRESH_SHELL_OPTIONS) {
            if !FIXED_SHELL_OPTIONS.contains(&name) {
                script.line(&[b"shopt -", if on { b"s " } else { b"u " }, name.as_bytes()]);
            }
        }
        for alias in &self.aliases {
            let definition = [alias.name.as_bytes(), b"=", alias.value.as_bytes()].concat();
            script.line(&[b"\\alias -- ", &quote(&definition)]);
        }
        let (mut last, first): (Vec<_>, Vec<_>) =
            changed(&self.options, &FRESH_OPTIONS).partition(|(_, name)| LAST_OPTIONS.contains(name));
        last.sort_by_key(|(_, name)| LAST_OPTIONS.iter().position(|last| last == name));
        let (debug, traps): (Vec<_>, Vec<_>) = self.traps.iter().partition(|(name, _)| name == "DEBUG");
        let trap = |script: &mut Script, (name, action): &(String, OsString)| {
            script.line(&[b"\\trap -- ", &quote(action.as_bytes()), b" ", name.as_bytes()]);
        };
        let option = |script: &mut Script, (on, name): (bool, &str)| {
            script.line(&[b"\\set ", if on { b"-o " } else { b"+o " }, name.as_bytes()]);
        };
        first.into_iter().for_each(|set| option(script, set));
        traps.into_iter().for_each(|set| trap(script, set));
        // From here on each line may be traced, and each is the last that may fail.
        debug.into_iter().for_each(|set| trap(script, set));
        last.into_iter().for_each(|set| option(script, set));
    }
}

/// What a new session's shell is started by, and told first.
pub(super) fn from_nothing(
    command: &Command,
    defaults: &BTreeMap<OsString, OsString>,
    options: &[String],
) -> (Command, Vec<u8>) {
    let mut script = Script::default();
    let merged = crate::command::environment(defaults.clone(), &command.env);
    for name in WITHHELD {
        if let Some(value) = merged.get(OsStr::new(name)).filter(|_| !name.ends_with("OPTS")) {
            script.line(&[b"export ", name.as_bytes(), b"=", &quote(value.as_bytes())]);
        }
    }
    switch_on(&mut script, options);
    let mut env = command.env.clone();
    env.extend(
        defaults.keys().filter(|name| name.as_bytes().starts_with(b"BASH_FUNC_")).map(|name| (name.clone(), None)),
    );
    withhold(&mut env);
    (Command { env, ..command.clone() }, script.bytes)
}

/// What makes a fresh shell of the default kind what was asked for. Empty if it is that already.
pub(super) fn over_nothing(spec: &SessionSpec) -> Vec<u8> {
    let mut script = Script::default();
    for (name, value) in &spec.env {
        match value {
            Some(value) => script.line(&[b"export ", name.as_bytes(), b"=", &quote(value.as_bytes())]),
            None => script.line(&[b"unset -v ", name.as_bytes()]),
        }
    }
    switch_on(&mut script, &spec.options);
    script.bytes
}

/// All at once: each may change what comes after it, as `xtrace` does, whose words would pass for a complaint.
fn switch_on(script: &mut Script, options: &[String]) {
    let flags: String = options.iter().map(|option| format!(" -o {option}")).collect();
    if !flags.is_empty() {
        script.line(&[b"set", flags.as_bytes()]);
    }
}

/// What brings a fresh shell to another directory. As if it had been started there: it has not been anywhere before.
pub(super) fn elsewhere(cwd: &Path) -> Vec<u8> {
    let mut script = Script::default();
    script.line(&[b"cd -- ", &quote(cwd.as_os_str().as_bytes()), b" && unset -v OLDPWD && export OLDPWD"]);
    script.bytes
}

fn withhold(env: &mut BTreeMap<OsString, Option<OsString>>) {
    env.extend(WITHHELD.map(|name| (name.into(), None)));
}

/// Lines for a shell.
#[derive(Debug, Default)]
struct Script {
    bytes: Vec<u8>,
}

impl Script {
    fn line(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.bytes.push(b'\n');
    }
}

/// What differs from a fresh shell, and how.
fn changed<'a>(on: &'a BTreeSet<String>, fresh: &'a [&'a str]) -> impl Iterator<Item = (bool, &'a str)> {
    let added = on.iter().map(String::as_str).filter(|name| !fresh.contains(name)).map(|name| (true, name));
    let missing = fresh.iter().filter(|name| !on.contains(**name)).map(|name| (false, *name));
    added.chain(missing)
}

fn words(list: &OsStr) -> BTreeSet<String> {
    list.to_string_lossy().split(':').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Bash counts its own three behind the signals.
fn trap_name(number: u64) -> String {
    match number {
        0 => "EXIT".to_owned(),
        65 => "DEBUG".to_owned(),
        66 => "ERR".to_owned(),
        67 => "RETURN".to_owned(),
        signal => signal.to_string(),
    }
}

/// Fields that each end with a NUL.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn kind(&mut self) -> Option<u8> {
        let (kind, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*kind)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.rest)?;
        let field = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(field)
    }

    fn os(&mut self) -> Option<OsString> {
        self.bytes().map(|bytes| OsString::from_vec(bytes.to_vec()))
    }

    fn text(&mut self) -> Option<String> {
        self.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    fn number(&mut self) -> Option<u64> {
        self.text()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &[u8] = b"P/tmp\x00?0\x00VA\x00a\x00=([0]=\"1\")\x00\x00VB\x00x\x00='it'\\''s'\x00it's\x00VU\x00\x00\x00\x00VSHELLOPTS\x00r\x00='x'\x00braceexpand:errexit\x00\
        VBASHOPTS\x00r\x00='x'\x00extglob\x00VUID\x00ir\x00='0'\x000\x00Ff\x00x\x00f () \n{ \n    true\n}\x00All\x00ls -l\x00\
        1one\x001two words\x00T0\x00echo bye\x00T2\x00\x00T65\x00:\x00U18\x00L7\x00100\x00200\x00D5\x00E";

    #[test]
    fn a_dump_is_read_whole_or_not_at_all() {
        let snapshot = Snapshot::parse(DUMP, true).unwrap();
        assert_eq!(snapshot.cwd, "/tmp");
        let names: Vec<_> = snapshot.variables.iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["A", "B", "U"]);
        assert_eq!(snapshot.variables[0].value, None);
        assert_eq!(snapshot.variables[1].value.as_deref(), Some(OsStr::new("it's")));
        assert_eq!(snapshot.variables[2].assignment, None);
        assert_eq!(snapshot.environment().len(), 1);
        assert_eq!(snapshot.positional, ["one", "two words"]);
        assert_eq!(snapshot.limits, [(7, 100, 200)]);
        assert_eq!(snapshot.umask, 0o22);
        assert_eq!(snapshot.not_carried, NotCarried { descriptors: vec![5], jobs: true });
        for end in 0..DUMP.len() {
            assert_eq!(Snapshot::parse(&DUMP[..end], true), Err(Unreadable::Malformed), "cut at {end}");
        }
    }

    #[test]
    fn the_script_does_the_dangerous_things_last() {
        let snapshot = Snapshot::parse(DUMP, false).unwrap();
        let script = String::from_utf8(snapshot.script(&Command::shell(""))).unwrap();
        let at = |text: &str| script.find(text).unwrap_or_else(|| panic!("no {text:?} in {script}"));
        assert!(at("declare -x B='it'\\''s'") < at("f () "));
        assert!(at("declare -- U\n") < at("declare -fx 'f'"));
        assert!(at("set -- 'one' 'two words'") < at("umask 0022"));
        assert!(at("shopt -s extglob") < at("\\alias -- 'll=ls -l'"));
        assert!(at("\\trap -- 'echo bye' EXIT") < at("\\trap -- ':' DEBUG"));
        assert!(at("\\trap -- '' 2") < at("\\set -o errexit"));
        assert!(script.ends_with("\\set -o errexit\n"), "{script}");
        assert!(script.contains("\\set +o hashall"), "{script}");
    }

    #[test]
    fn a_shell_is_started_without_what_would_change_how_it_starts() {
        let defaults =
            BTreeMap::from([("BASH_ENV".into(), "/x".into()), ("BASH_FUNC_enable%%".into(), "() { :; }".into())]);
        let (command, script) = from_nothing(&Command::shell(""), &defaults, &["pipefail".to_owned()]);
        assert_eq!(command.env.get(OsStr::new("BASH_ENV")), Some(&None));
        assert_eq!(command.env.get(OsStr::new("BASH_FUNC_enable%%")), Some(&None));
        assert_eq!(script, b"export BASH_ENV='/x'\nset -o pipefail\n");
    }
}
