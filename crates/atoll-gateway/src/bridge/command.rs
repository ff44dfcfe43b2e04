//! A bridge's `argv` as what we run.
//!
//! A bridge joins the words into one line for a shell, each quoted so that it stays what it is. So the first word may
//! also be something that only a shell knows (`command`, `type`, `cd` in a session), a program that is not there is exit
//! code 127 with a line on standard error, and what holds nothing that a shell would read is not quoted.

use atoll_protocol::ExecRequest;

/// The longest line that goes to the shell as one: the kernel takes 128 KiB for an argument (MAX_ARG_STRLEN).
const LINE_MAX: usize = 120 * 1024;

/// Runs its arguments: for words that are too long together for one line.
const RUN_ARGUMENTS: &str = "\"$@\"";

/// The words as one line.
pub(super) fn line(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A command outside of any session.
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
    fn a_word_stays_what_it_is() {
        assert_eq!(of(&["ls", "-la", "/workspace/a.txt"]), "ls -la /workspace/a.txt");
        assert_eq!(of(&["echo", "", "two words", "it's"]), r"echo '' 'two words' 'it'\''s'");
        assert_eq!(of(&["echo", "$HOME", "a;b|c&d", "`x`", "\\", "*"]), r"echo '$HOME' 'a;b|c&d' '`x`' '\' '*'");
        assert_eq!(of(&["printf", "a\nb\tc"]), "printf 'a\nb\tc'");
    }

    #[test]
    fn what_is_too_long_for_a_line_is_passed_word_by_word() {
        let words = vec!["echo".to_owned(), "x".repeat(100 * 1024), "y".repeat(100 * 1024)];
        let argv = request(&words).argv.unwrap();
        assert_eq!((argv[..4].join(" "), argv.len()), (r#"sh -c "$@" sh"#.to_owned(), 7));
        assert!(request(&words[..1]).command.is_some());
    }
}
