//! Orders to the shell, as bytes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use atoll_shell::message::{INLINE, NONE, ORDER, Order, PAYLOAD_IN_FILE, Task};

use crate::command::{Command, Invocation};

/// A message, and the file that goes with it if its payload is long.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
    pub(super) file: Option<OwnedFd>,
}

/// What a command says, as the shell reads it.
pub(super) fn payload(command: &Command, text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + 64);
    piece(&mut bytes, command.cwd.as_deref().map(Path::as_os_str).map(OsStr::as_bytes));
    number(&mut bytes, command.env.len());
    for (name, value) in &command.env {
        piece(&mut bytes, Some(name.as_bytes()));
        piece(&mut bytes, value.as_deref().map(OsStr::as_bytes));
    }
    piece(&mut bytes, Some(text));
    bytes
}

/// A payload that is a text and nothing else.
pub(super) fn plain(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + 16);
    piece(&mut bytes, None);
    number(&mut bytes, 0);
    piece(&mut bytes, Some(text));
    bytes
}

/// Puts an order together.
pub(super) fn message(task: Task, flags: u8, number: u64, payload: &[u8]) -> io::Result<Message> {
    let long = payload.len() > INLINE;
    let length = u32::try_from(payload.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let flags = flags | if long { PAYLOAD_IN_FILE } else { 0 };
    let head = Order { task, flags, length, number }.encode();
    if long {
        let file = crate::pipes::file_of(payload)?;
        return Ok(Message { bytes: head.to_vec(), file: Some(file) });
    }
    let mut bytes = Vec::with_capacity(ORDER + payload.len());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(payload);
    Ok(Message { bytes, file: None })
}

/// The text that the shell is to run. Arguments are quoted, so that nothing in them means anything to it.
pub(super) fn text_of(invocation: &Invocation) -> Option<Vec<u8>> {
    match invocation {
        Invocation::Shell(text) => Some(text.as_bytes().to_vec()),
        Invocation::Argv(argv) => Some(quoted(argv)),
        Invocation::Interactive | Invocation::Session { .. } | Invocation::Restored { .. } => None,
    }
}

/// Whether there is nothing in it to run: blanks and comments.
pub(super) fn is_blank(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).all(|line| matches!(line.first(), None | Some(b'#')))
}

fn quoted(argv: &[OsString]) -> Vec<u8> {
    let words: Vec<Vec<u8>> = argv.iter().map(|word| quote(word.as_bytes())).collect();
    words.join(&b' ')
}

/// A word that means exactly these bytes to a shell.
pub(super) fn quote(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    quoted
}

/// Adds a piece: its length, its bytes, a NUL.
pub(super) fn piece(bytes: &mut Vec<u8>, piece: Option<&[u8]>) {
    match piece {
        None => bytes.extend_from_slice(&NONE.to_ne_bytes()),
        Some(piece) => {
            number(bytes, piece.len());
            bytes.extend_from_slice(piece);
            bytes.push(0);
        }
    }
}

fn number(bytes: &mut Vec<u8>, number: usize) {
    // What does not fit is refused with the whole message, which is longer still.
    bytes.extend_from_slice(&u32::try_from(number).unwrap_or(NONE - 1).to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use atoll_shell::message::Pieces;

    #[test]
    fn the_shell_reads_what_was_written() {
        let mut command = Command::shell("");
        command.cwd = Some("/tmp".into());
        command.env.insert("A".into(), Some("1".into()));
        command.env.insert("B".into(), None);
        let bytes = payload(&command, b"echo hi");
        let mut pieces = Pieces::new(&bytes);
        assert_eq!(pieces.piece(), Some(Some(&b"/tmp\0"[..])));
        assert_eq!(pieces.number(), Some(2));
        assert_eq!(pieces.piece(), Some(Some(&b"A\0"[..])));
        assert_eq!(pieces.piece(), Some(Some(&b"1\0"[..])));
        assert_eq!(pieces.piece(), Some(Some(&b"B\0"[..])));
        assert_eq!(pieces.piece(), Some(None));
        assert_eq!(pieces.piece(), Some(Some(&b"echo hi\0"[..])));
        assert_eq!(pieces.number(), None);
    }

    #[test]
    fn a_long_payload_travels_as_a_file() {
        let short = message(Task::Run, 0, 7, &plain(b"true")).unwrap();
        assert!(short.file.is_none());
        let long = message(Task::Run, 0, 7, &plain(&vec![b'x'; INLINE])).unwrap();
        assert!(long.file.is_some());
        assert_eq!(long.bytes.len(), ORDER);
        let order = Order::decode(&long.bytes).unwrap();
        assert_eq!((order.flags, order.number), (PAYLOAD_IN_FILE, 7));
    }

    #[test]
    fn blanks_and_comments_are_nothing_to_run() {
        for text in ["", " \t\n", "# a", "  # a\n\n#b; echo"] {
            assert!(is_blank(text.as_bytes()), "{text:?}");
        }
        for text in [":", "# a\ntrue", "true # a"] {
            assert!(!is_blank(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn arguments_mean_nothing_to_the_shell() {
        let argv = Invocation::Argv(vec!["echo".into(), "it's".into(), "$HOME *".into(), "".into()]);
        assert_eq!(text_of(&argv).unwrap(), b"'echo' 'it'\\''s' '$HOME *' ''");
    }
}
