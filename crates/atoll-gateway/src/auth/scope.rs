//! Scopes of tokens: which sandboxes they match and what they allow.

use atoll_protocol::{SandboxName, Scope, Verb};

use crate::Error;

/// Most scopes per token.
const SCOPES_MAX: usize = 32;

/// Longest pattern: a sandbox name with wildcards, so hardly longer than a name.
const PATTERN_BYTES: usize = 128;

/// The pattern that matches every sandbox, present and future.
pub(crate) const EVERYTHING: &str = "*";

/// Validates the scopes of a new token.
pub(super) fn check(scopes: &[Scope]) -> Result<(), Error> {
    if scopes.is_empty() || scopes.len() > SCOPES_MAX {
        return Err(Error::invalid(format!("a token needs 1 to {SCOPES_MAX} scopes")));
    }
    for Scope { sandboxes, verbs } in scopes {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-*".contains(&byte);
        if !(1..=PATTERN_BYTES).contains(&sandboxes.len()) || !sandboxes.bytes().all(inner) {
            let rule = "a sandbox name, in which * matches any characters";
            return Err(Error::invalid(format!("`{}` is not a valid pattern: give {rule}", sandboxes.escape_debug())));
        }
        if verbs.is_empty() {
            return Err(Error::invalid(format!("the scope for {sandboxes} allows nothing: give read, exec or admin")));
        }
    }
    Ok(())
}

/// Whether one of the scopes allows `verb` on this sandbox.
pub(super) fn allow(scopes: &[Scope], verb: Verb, name: &SandboxName) -> bool {
    let fits = |scope: &&Scope| scope.verbs.contains(&verb);
    scopes.iter().filter(fits).any(|scope| matches(&scope.sandboxes, name.as_str()))
}

/// Whether one of the scopes allows `verb` on all sandboxes, present and future.
pub(super) fn allow_everywhere(scopes: &[Scope], verb: Verb) -> bool {
    scopes.iter().any(|scope| scope.sandboxes == EVERYTHING && scope.verbs.contains(&verb))
}

/// Matches a name against a pattern in which `*` matches any characters. Each literal piece is matched at its first
/// occurrence, which is sufficient for wildcards, so the time is linear in the name per piece.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_any_characters() {
        for (pattern, name) in
            [("*", "a"), ("ci-*", "ci-1"), ("ci-*", "ci-x-y"), ("*-dev", "a-dev"), ("a*b*c", "aXbYbc"), ("one", "one")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("ci-*", "ci"), ("ci-*", "xci-1"), ("*-dev", "dev"), ("a*b*c", "ac"), ("one", "ones"), ("ab*ba", "aba")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn verb_applies_only_to_its_own_scope() {
        let scopes = [
            Scope { sandboxes: "ci-*".to_owned(), verbs: vec![Verb::Exec] },
            Scope { sandboxes: "*".to_owned(), verbs: vec![Verb::Read] },
        ];
        let name = |text: &str| SandboxName::new(text).unwrap();
        assert!(allow(&scopes, Verb::Exec, &name("ci-1")) && allow(&scopes, Verb::Read, &name("other")));
        assert!(!allow(&scopes, Verb::Exec, &name("other")) && !allow(&scopes, Verb::Admin, &name("ci-1")));
        assert!(allow_everywhere(&scopes, Verb::Read) && !allow_everywhere(&scopes, Verb::Exec));
        assert!(check(&scopes).is_ok());
        for bad in ["", "../x", "A", "a b"] {
            assert!(check(&[Scope { sandboxes: bad.to_owned(), verbs: vec![Verb::Read] }]).is_err(), "{bad}");
        }
    }
}
