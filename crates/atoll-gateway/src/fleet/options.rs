//! What was asked for against what there is: pure functions over options.

use std::collections::BTreeMap;

use atoll_protocol::{CreateSandbox, PatchSandbox, SandboxName, Timestamp};
use serde::Serialize;

use crate::Error;
use crate::error::Difference;
use crate::registry::Stored;

/// Labels of one sandbox: enough for whatever they are needed for, and a list stays readable.
const LABELS_MAX: usize = 64;

/// Characters of a label's name or value.
const LABEL_MAX: usize = 256;

/// Bytes of all variables together: they are passed to every command.
const ENV_BYTES: usize = 64 * 1024;

/// The options of a new sandbox.
pub(crate) fn stored(name: SandboxName, asked: CreateSandbox, default_sleep: Option<u64>, now: Timestamp) -> Stored {
    let new = Stored::new(name, now);
    Stored {
        isolation: asked.isolation.unwrap_or(new.isolation),
        limits: asked.limits.unwrap_or(new.limits),
        env: asked.env.unwrap_or_default(),
        labels: asked.labels.unwrap_or_default(),
        sleep_after_ms: asked.sleep_after_ms.map_or(default_sleep, never_if_zero),
        keep_alive: asked.keep_alive.unwrap_or(false),
        network: asked.network,
        ..new
    }
}

fn never_if_zero(millis: u64) -> Option<u64> {
    (millis > 0).then_some(millis)
}

/// What cannot be right, before anything is made.
pub(crate) fn check(asked: &CreateSandbox) -> Result<(), Error> {
    check_labels(asked.labels.iter().flatten().map(|(name, value)| (name, Some(value))))?;
    let env = asked.env.iter().flatten();
    if let Some((name, _)) = env.clone().find(|(name, _)| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(Error::invalid(format!("`{}` cannot be the name of a variable", name.escape_debug())));
    }
    if let Some((name, _)) = env.clone().find(|(_, value)| value.contains('\0')) {
        return Err(Error::invalid(format!("the variable {name} holds a NUL byte")));
    }
    if env.map(|(name, value)| name.len() + value.len()).sum::<usize>() > ENV_BYTES {
        return Err(Error::invalid(format!("the variables are longer than {ENV_BYTES} bytes together")));
    }
    Ok(())
}

fn check_labels<'a>(labels: impl Iterator<Item = (&'a String, Option<&'a String>)>) -> Result<(), Error> {
    let mut count = 0;
    for (name, value) in labels {
        count += 1;
        let is_long = is_long(name) || value.is_some_and(|value| is_long(value));
        if name.is_empty() || is_long || count > LABELS_MAX {
            let rule =
                format!("at most {LABELS_MAX} labels, names of 1 to {LABEL_MAX} characters, values of at most as many");
            return Err(Error::invalid(format!("the labels cannot be kept: {rule}")));
        }
    }
    Ok(())
}

fn is_long(text: &str) -> bool {
    text.chars().count() > LABEL_MAX
}

/// Which of the options that were asked for are not so. What was not asked for is as it may be.
pub(crate) fn differences(is: &Stored, asked: &CreateSandbox) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut compare = |option: &str, is: serde_json::Value, asked: Option<serde_json::Value>| {
        if let Some(asked) = asked.filter(|asked| *asked != is) {
            found.push(Difference { option: option.to_owned(), is: Some(is), asked: Some(asked) });
        }
    };
    compare("isolation", value(&is.isolation), asked.isolation.as_ref().map(value));
    compare("limits", value(&is.limits), asked.limits.as_ref().map(value));
    compare("labels", value(&is.labels), asked.labels.as_ref().map(value));
    let sleep = asked.sleep_after_ms.map(never_if_zero);
    compare("sleep_after_ms", value(&is.sleep_after_ms), sleep.as_ref().map(value));
    compare("keep_alive", value(&is.keep_alive), asked.keep_alive.as_ref().map(value));
    let first = value(&is.network.clone().unwrap_or_default());
    compare("network", first, asked.network.as_ref().map(value));
    if let Some(env) = &asked.env {
        found.extend(different_variables(&is.env, env));
    }
    found
}

/// Values may be secrets: only the names are told.
fn different_variables(is: &BTreeMap<String, String>, asked: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = is.keys().chain(asked.keys()).collect();
    let differ = names.into_iter().filter(|name| is.get(*name) != asked.get(*name));
    differ.map(|name| Difference { option: format!("env.{name}"), is: None, asked: None }).collect()
}

fn value(of: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// The options after a change.
pub(crate) fn patched(mut stored: Stored, change: PatchSandbox) -> Result<Stored, Error> {
    for (name, value) in change.labels {
        match value {
            Some(value) => drop(stored.labels.insert(name, value)),
            None => drop(stored.labels.remove(&name)),
        }
    }
    check_labels(stored.labels.iter().map(|(name, value)| (name, Some(value))))?;
    if let Some(millis) = change.sleep_after_ms {
        stored.sleep_after_ms = never_if_zero(millis);
    }
    stored.keep_alive = change.keep_alive.unwrap_or(stored.keep_alive);
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> Stored {
        let asked = CreateSandbox {
            env: Some(BTreeMap::from([("KEY".to_owned(), "secret".to_owned())])),
            labels: Some(BTreeMap::from([("team".to_owned(), "a".to_owned())])),
            ..CreateSandbox::default()
        };
        stored(SandboxName::new("one").unwrap(), asked, Some(5), Timestamp::from_millis(1))
    }

    #[test]
    fn only_what_was_asked_for_can_differ() {
        assert_eq!(differences(&one(), &CreateSandbox::default()), []);
        let asked = CreateSandbox {
            keep_alive: Some(false),
            sleep_after_ms: Some(0),
            env: Some(BTreeMap::from([("KEY".to_owned(), "other".to_owned())])),
            ..CreateSandbox::default()
        };
        let found = differences(&one(), &asked);
        let names: Vec<&str> = found.iter().map(|difference| difference.option.as_str()).collect();
        assert_eq!(names, ["sleep_after_ms", "env.KEY"]);
        let told = serde_json::to_string(&found).unwrap();
        assert!(!told.contains("secret") && !told.contains("other"), "{told}");
    }

    #[test]
    fn a_change_sets_removes_and_keeps() {
        let labels = BTreeMap::from([("team".to_owned(), None), ("tier".to_owned(), Some("2".to_owned()))]);
        let change = PatchSandbox { labels, sleep_after_ms: Some(0), keep_alive: None };
        let after = patched(one(), change).unwrap();
        assert_eq!(after.labels, BTreeMap::from([("tier".to_owned(), "2".to_owned())]));
        assert_eq!((after.sleep_after_ms, after.keep_alive), (None, false));
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for name in ["", "a=b", "a\0b"] {
            let env = Some(BTreeMap::from([(name.to_owned(), String::new())]));
            assert!(check(&CreateSandbox { env, ..CreateSandbox::default() }).is_err(), "{name:?}");
        }
        let labels = Some((0..=LABELS_MAX).map(|number| (number.to_string(), String::new())).collect());
        assert!(check(&CreateSandbox { labels, ..CreateSandbox::default() }).is_err());
    }
}
