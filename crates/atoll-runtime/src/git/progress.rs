//! How far git is, out of what it prints for people: `Receiving objects:  45% (9/20), 1.2 MiB | 3 MiB/s`.

use atoll_protocol::GitProgress;
use tokio::sync::mpsc;

/// Who is told how far git is.
pub type Progress = mpsc::Sender<GitProgress>;

/// The longest line that can be about progress.
const MAX_LINE: usize = 512;

/// Takes what git prints, piece by piece.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    last: Option<(String, u8)>,
}

impl Lines {
    /// What these bytes tell that was not told before.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<GitProgress> {
        let mut told = Vec::new();
        for &byte in bytes {
            if byte != b'\r' && byte != b'\n' {
                if self.line.len() < MAX_LINE {
                    self.line.push(byte);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if let Some(progress) = parse(&String::from_utf8_lossy(&line)) {
                let now = Some((progress.phase.clone(), progress.percent));
                if self.last != now {
                    self.last = now;
                    told.push(progress);
                }
            }
        }
        told
    }
}

pub(super) fn parse(line: &str) -> Option<GitProgress> {
    let line = line.trim().strip_prefix("remote: ").unwrap_or_else(|| line.trim());
    let (phase, rest) = line.split_once(':')?;
    let (percent, rest) = rest.trim().split_once("% (")?;
    let (counts, _) = rest.split_once(')')?;
    let (done, total) = counts.split_once('/')?;
    let percent = percent.trim().parse().ok().filter(|percent| *percent <= 100)?;
    Some(GitProgress { phase: phase.to_owned(), percent, done: done.parse().ok()?, total: total.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_across_pieces() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"Cloning into 'x'...\nremote: Counting objects:  5"), []);
        let told = lines
            .push(b"0% (1/2)\rremote: Counting objects:  50% (1/2)\rReceiving objects: 100% (20/20), 1 KiB, done.\n");
        let short: Vec<_> =
            told.iter().map(|told| (told.phase.as_str(), told.percent, told.done, told.total)).collect();
        assert_eq!(short, [("Counting objects", 50, 1, 2), ("Receiving objects", 100, 20, 20)]);
    }
}
