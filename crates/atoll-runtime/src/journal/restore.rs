//! Reading a journal back when a sandbox is made over its storage. Blocks on the disk.
//!
//! Owns the judgement of what an earlier life came to. Must not invent: a command without an end is told as lost, or as
//! stopped with its sandbox, with neither code nor signal. Whatever the disk holds, the sandbox can be made.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use atoll_protocol::{EndReason, EndRecord, Timestamp};

use super::entry::{EndedEntry, Entry, Number};
use super::file::JournalFile;
use super::frame::{self, Rest, Scan};
use super::held;
use super::keeping::{self, Journal, Places};
use super::past::{CommandItem, Item, Past, SessionItem};
use crate::log::{Length, Limits, Log};
use crate::session::Snapshot;

/// What earlier lives left.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) journal: Arc<Journal>,
    pub(crate) commands: Vec<RestoredCommand>,
    pub(crate) sessions: Vec<RestoredSession>,
    /// What could not be read, or cannot be written.
    pub(crate) fault: Option<String>,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct RestoredCommand {
    pub(crate) number: Number,
    pub(crate) item: CommandItem,
    pub(crate) ended: EndedEntry,
    pub(crate) log: Log,
}

/// A session whose shell is gone.
#[derive(Debug)]
pub(crate) struct RestoredSession {
    pub(crate) number: Number,
    pub(crate) item: SessionItem,
    pub(crate) end: EndRecord,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    pub(crate) used_at: SystemTime,
}

/// What the file tells.
struct Told {
    past: Past,
    /// Bytes that are good.
    len: u64,
    /// Files of an earlier life may belong to entries that cannot be read.
    sweep: bool,
    fault: Option<String>,
}

/// Opens the journal of this storage, or begins one.
pub(crate) fn open(storage: &Path) -> Restored {
    let places = Places { storage: storage.to_owned() };
    let last_sign = modified(&places.journal());
    let Told { mut past, len, sweep, mut fault } = read(&places);
    let (mut commands, mut sessions) = (Vec::new(), Vec::new());
    for (number, item) in past.items() {
        match item {
            Item::Command(item) => commands.push(command(&places, number, item, last_sign)),
            Item::Session(item) => sessions.push(session(&places, number, item, last_sign)),
        }
    }
    for RestoredCommand { number, ended, .. } in &commands {
        past.apply(Entry::Ended { number: *number, ended: ended.clone() });
    }
    for RestoredSession { number, end, .. } in &sessions {
        past.apply(Entry::Died { number: *number, end: end.clone() });
    }
    if sweep {
        remove_strangers(&places, &past);
    }
    let next = past.next_number().max(highest(&places.logs()) + 1);
    let file = begin_file(&places.journal(), &past, len).map_err(|error| {
        let path = places.journal();
        fault.get_or_insert(format!("failed to write {}: {error}; what is run now is not remembered", path.display()));
    });
    let journal = Arc::new(Journal::new(places, file.ok(), past, next));
    Restored { journal, commands, sessions, fault }
}

/// The file anew, with what has been concluded in it; on a full disk the old one, which tells the same.
fn begin_file(path: &Path, past: &Past, len: u64) -> io::Result<JournalFile> {
    if len == 0
        && let Ok(first) = JournalFile::first(path)
    {
        return Ok(first);
    }
    let anew = keeping::frames_of(past).and_then(|frames| JournalFile::replace(path, &frames));
    anew.or_else(|error| if len == 0 { Err(error) } else { JournalFile::open(path, len).map_err(|_| error) })
}

fn read(places: &Places) -> Told {
    let path = places.journal();
    let told = |fault| Told { past: Past::default(), len: 0, sweep: true, fault };
    let bytes = match fs::read(&path) {
        // The machine lost its power before anything was in it.
        Ok(bytes) if bytes.is_empty() => return told(None),
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return told(None),
        Err(error) => {
            let fault = format!("failed to read {}: {error}{}", path.display(), put_aside(&path, "unreadable"));
            return Told { sweep: false, ..told(Some(fault)) };
        }
    };
    match frame::scan(&bytes) {
        Scan::Version(version) => {
            let aside = put_aside(&path, &format!("version-{version}"));
            let fault = format!("{} is of version {version}, which is not supported{aside}", path.display());
            Told { sweep: false, ..told(Some(fault)) }
        }
        Scan::Frames(payloads, rest) => fold(&path, &payloads, rest),
    }
}

/// What follows from the frames, up to one that makes no sense.
fn fold(path: &Path, payloads: &[&[u8]], rest: Rest) -> Told {
    let mut told = Told { past: Past::default(), len: frame::HEADER as u64, sweep: true, fault: None };
    let mut rest = rest;
    for payload in payloads {
        let Ok(entry) = serde_json::from_slice(payload) else {
            rest = Rest::Damaged;
            break;
        };
        told.past.apply(entry);
        told.len += frame::frame(payload).map_or(0, |frame| frame.len() as u64);
    }
    if rest == Rest::Damaged {
        let kept = path.with_extension("damaged");
        let saved = fs::copy(path, &kept).map_or_else(
            |error| format!("it could not be copied: {error}"),
            |_| format!("a copy is in {}", kept.display()),
        );
        told.fault = Some(format!("{} is damaged: what it told later is lost; {saved}", path.display()));
    }
    told
}

fn put_aside(path: &Path, why: &str) -> String {
    let aside = path.with_extension(why);
    match fs::rename(path, &aside) {
        Ok(()) => format!("; it is now {}", aside.display()),
        Err(error) => format!("; it could not be put aside: {error}"),
    }
}

fn command(places: &Places, number: Number, item: &CommandItem, last_sign: Option<SystemTime>) -> RestoredCommand {
    let dir = places.log(number);
    let last_sign = last_sign.max(newest(&dir));
    let length =
        item.ended.as_ref().map_or(Length::default(), |ended| Length { end: ended.log_end, stdout: ended.log_stdout });
    let log = match Log::reopen(&dir, Limits::default(), length) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Log::lost(length, None),
        Err(error) => Log::lost(length, Some(error.to_string())),
    };
    let ended = item.ended.clone().unwrap_or_else(|| EndedEntry {
        end: unknown_end(item.started_at(), item.stopped, last_sign),
        cursor: log.end(),
        session_reset: false,
        log_end: log.end(),
        log_stdout: log.totals().stdout,
    });
    RestoredCommand { number, item: item.clone(), ended, log }
}

fn session(places: &Places, number: Number, item: &SessionItem, last_sign: Option<SystemTime>) -> RestoredSession {
    let made = UNIX_EPOCH + std::time::Duration::from_millis(item.made.at.as_millis());
    let used_at = modified(&places.session(number)).unwrap_or(made);
    let unknown = || unknown_end(item.made.at, item.stopped, last_sign);
    RestoredSession {
        number,
        end: item.end.clone().unwrap_or_else(unknown),
        item: item.clone(),
        snapshot: held::load(places, number).map(Arc::new),
        used_at,
    }
}

/// The end of what nobody saw ending: when it was last known to live, and nothing that is not known.
fn unknown_end(started_at: Timestamp, stopped: Option<Timestamp>, last_sign: Option<SystemTime>) -> EndRecord {
    let seen = stopped.or(last_sign.map(Timestamp::from)).unwrap_or(started_at).max(started_at);
    EndRecord {
        reason: if stopped.is_some() { EndReason::SandboxStopped } else { EndReason::HostLost },
        code: None,
        signal: None,
        timed_out: false,
        oom_killed: false,
        duration_ms: seen.as_millis() - started_at.as_millis(),
        cpu_user_ms: None,
        cpu_system_ms: None,
        max_rss_bytes: None,
        started_at,
        ended_at: seen,
        survivors: 0,
        denials: Vec::new(),
        denials_count: 0,
    }
}

/// Removes what belongs to nothing that is remembered: whoever wrote it died before it was.
fn remove_strangers(places: &Places, past: &Past) {
    for dir in [places.logs(), places.sessions()] {
        let Ok(entries) = fs::read_dir(dir) else { continue };
        for entry in entries.flatten().filter(|entry| number_of(entry).is_none_or(|number| !past.knows(number))) {
            let path = entry.path();
            // What cannot be removed now is found again the next time.
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir {
                fs::remove_dir_all(path).ok()
            } else {
                fs::remove_file(path).ok()
            };
        }
    }
}

fn highest(dir: &Path) -> Number {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| number_of(&entry)).max().unwrap_or(0)
}

fn number_of(entry: &fs::DirEntry) -> Option<Number> {
    entry.file_name().to_str()?.parse().ok()
}

/// When something was last written in a directory.
fn newest(dir: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| modified(&entry.path())).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
