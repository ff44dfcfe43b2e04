//! Translates a bridge's `argv` to one of our commands.
//!
//! A bridge joins the arguments to one shell command, each quoted so that it keeps its meaning. So the first may also
//! be a shell builtin (`command`, `type`, `cd` in a session), a missing program gives exit code 127 with a message on
//! standard error, and arguments without special characters are not quoted.

use atoll_protocol::ExecRequest;

/// Longest command that is passed to the shell as one string: the kernel allows 128 KiB per argument (MAX_ARG_STRLEN).
const LINE_MAX: usize = 120 * 1024;

/// A shell command that runs its arguments, for an argv that is too long for one string.
const RUN_ARGUMENTS: &str = "\"$@\"";

/// Joins the arguments to one shell command.
pub(super) fn line(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns the request for a command outside of a session.
pub(super) fn request(argv: &[String]) -> ExecRequest {
    let line = line(argv);
    if line.len() <= LINE_MAX {
        return ExecRequest::shell(line);
    }
    let first = ["sh", "-c", RUN_ARGUMENTS, "sh"].map(str::to_owned);
    ExecRequest::argv(first.into_iter().chain(argv.iter().cloned()))
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./-".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> String {
        line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_quoted_for_the_shell() {
        assert_eq!(of(&["ls", "-la", "/workspace/a.txt"]), "ls -la /workspace/a.txt");
        assert_eq!(of(&["echo", "", "two words", "it's"]), r"echo '' 'two words' 'it'\''s'");
        assert_eq!(of(&["echo", "$HOME", "a;b|c&d", "`x`", "\\", "*"]), r"echo '$HOME' 'a;b|c&d' '`x`' '\' '*'");
        assert_eq!(of(&["printf", "a\nb\tc"]), "printf 'a\nb\tc'");
    }

    #[test]
    fn long_argv_is_passed_as_arguments() {
        let words = vec!["echo".to_owned(), "x".repeat(100 * 1024), "y".repeat(100 * 1024)];
        let argv = request(&words).argv.unwrap();
        assert_eq!((argv[..4].join(" "), argv.len()), (r#"sh -c "$@" sh"#.to_owned(), 7));
        assert!(request(&words[..1]).command.is_some());
    }
}
