//! Validates, compares and patches the options of sandboxes. Pure functions.

use std::collections::BTreeMap;

use atoll_protocol::{CreateSandbox, PatchSandbox, SandboxName, Timestamp};
use serde::Serialize;

use crate::Error;
use crate::error::Difference;
use crate::registry::Stored;

/// Most labels per sandbox: keeps lists readable.
const LABELS_MAX: usize = 64;

/// Most characters of a label's name or value.
const LABEL_MAX: usize = 256;

/// Most bytes of all variables together: every command gets them.
const ENV_BYTES: usize = 64 * 1024;

/// Returns the options of a new sandbox.
pub(crate) fn stored(
    name: SandboxName,
    requested: CreateSandbox,
    default_sleep: Option<u64>,
    now: Timestamp,
) -> Stored {
    let new = Stored::new(name, now);
    Stored {
        isolation: requested.isolation.unwrap_or(new.isolation),
        limits: requested.limits.unwrap_or(new.limits),
        env: requested.env.unwrap_or_default(),
        labels: requested.labels.unwrap_or_default(),
        sleep_after_ms: requested.sleep_after_ms.map_or(default_sleep, never_if_zero),
        keep_alive: requested.keep_alive.unwrap_or(false),
        network: requested.network,
        ..new
    }
}

fn never_if_zero(millis: u64) -> Option<u64> {
    (millis > 0).then_some(millis)
}

/// Validates a request before anything is created.
pub(crate) fn check(requested: &CreateSandbox) -> Result<(), Error> {
    check_labels(requested.labels.iter().flatten().map(|(name, value)| (name, Some(value))))?;
    let env = requested.env.iter().flatten();
    if let Some((name, _)) = env.clone().find(|(name, _)| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(Error::invalid(format!("`{}` is not a valid variable name", name.escape_debug())));
    }
    if let Some((name, _)) = env.clone().find(|(_, value)| value.contains('\0')) {
        return Err(Error::invalid(format!("the variable {name} contains a NUL byte")));
    }
    if env.map(|(name, value)| name.len() + value.len()).sum::<usize>() > ENV_BYTES {
        return Err(Error::invalid(format!("the variables exceed {ENV_BYTES} bytes in total")));
    }
    Ok(())
}

fn check_labels<'a>(labels: impl Iterator<Item = (&'a String, Option<&'a String>)>) -> Result<(), Error> {
    let mut count = 0;
    for (name, value) in labels {
        count += 1;
        let is_long = is_long(name) || value.is_some_and(|value| is_long(value));
        if name.is_empty() || is_long || count > LABELS_MAX {
            let rule = format!(
                "at most {LABELS_MAX} labels, names of 1 to {LABEL_MAX} characters, values of at most {LABEL_MAX}"
            );
            return Err(Error::invalid(format!("invalid labels: {rule}")));
        }
    }
    Ok(())
}

fn is_long(text: &str) -> bool {
    text.chars().count() > LABEL_MAX
}

/// Returns the requested options that differ from the existing ones. Options that were not requested never differ.
pub(crate) fn differences(is: &Stored, requested: &CreateSandbox) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut compare = |option: &str, is: serde_json::Value, requested: Option<serde_json::Value>| {
        if let Some(requested) = requested.filter(|requested| *requested != is) {
            found.push(Difference { option: option.to_owned(), is: Some(is), asked: Some(requested) });
        }
    };
    compare("isolation", value(&is.isolation), requested.isolation.as_ref().map(value));
    compare("limits", value(&is.limits), requested.limits.as_ref().map(value));
    compare("labels", value(&is.labels), requested.labels.as_ref().map(value));
    let sleep = requested.sleep_after_ms.map(never_if_zero);
    compare("sleep_after_ms", value(&is.sleep_after_ms), sleep.as_ref().map(value));
    compare("keep_alive", value(&is.keep_alive), requested.keep_alive.as_ref().map(value));
    let first = value(&is.network.clone().unwrap_or_default());
    compare("network", first, requested.network.as_ref().map(value));
    if let Some(env) = &requested.env {
        found.extend(different_variables(&is.env, env));
    }
    found
}

/// Reports names only: values may be secrets.
fn different_variables(is: &BTreeMap<String, String>, requested: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = is.keys().chain(requested.keys()).collect();
    let differ = names.into_iter().filter(|name| is.get(*name) != requested.get(*name));
    differ.map(|name| Difference { option: format!("env.{name}"), is: None, asked: None }).collect()
}

fn value(of: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(of).unwrap_or_default()
}

/// Returns the options after a change.
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
        let requested = CreateSandbox {
            env: Some(BTreeMap::from([("KEY".to_owned(), "secret".to_owned())])),
            labels: Some(BTreeMap::from([("team".to_owned(), "a".to_owned())])),
            ..CreateSandbox::default()
        };
        stored(SandboxName::new("one").unwrap(), requested, Some(5), Timestamp::from_millis(1))
    }

    #[test]
    fn only_requested_options_can_differ() {
        assert_eq!(differences(&one(), &CreateSandbox::default()), []);
        let requested = CreateSandbox {
            keep_alive: Some(false),
            sleep_after_ms: Some(0),
            env: Some(BTreeMap::from([("KEY".to_owned(), "other".to_owned())])),
            ..CreateSandbox::default()
        };
        let found = differences(&one(), &requested);
        let names: Vec<&str> = found.iter().map(|difference| difference.option.as_str()).collect();
        assert_eq!(names, ["sleep_after_ms", "env.KEY"]);
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains("secret") && !text.contains("other"), "{text}");
    }

    #[test]
    fn patch_sets_removes_and_keeps() {
        let labels = BTreeMap::from([("team".to_owned(), None), ("tier".to_owned(), Some("2".to_owned()))]);
        let change = PatchSandbox { labels, sleep_after_ms: Some(0), keep_alive: None };
        let after = patched(one(), change).unwrap();
        assert_eq!(after.labels, BTreeMap::from([("tier".to_owned(), "2".to_owned())]));
        assert_eq!((after.sleep_after_ms, after.keep_alive), (None, false));
    }

    #[test]
    fn invalid_variable_names_are_rejected() {
        for name in ["", "a=b", "a\0b"] {
            let env = Some(BTreeMap::from([(name.to_owned(), String::new())]));
            assert!(check(&CreateSandbox { env, ..CreateSandbox::default() }).is_err(), "{name:?}");
        }
        let labels = Some((0..=LABELS_MAX).map(|number| (number.to_string(), String::new())).collect());
        assert!(check(&CreateSandbox { labels, ..CreateSandbox::default() }).is_err());
    }
}
