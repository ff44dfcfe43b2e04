//! The larger things, in the worker: from the words of the API to an engine, and back.

use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use atoll_protocol::{
    ArchiveExisting, ArchiveFormat, EditRequest, GlobAnswer, GlobEntry, GlobKind, GlobRequest, Omitted, PackOptions,
    PatchHunk, PatchOutcome, PatchReceipt, PatchedFile, PathText, SearchBinary, SearchCase, SearchDetail, SearchFile,
    SearchLine, SearchMatch, SearchRequest, SearchRole, SearchSpan, SearchSummary, SearchSyntax, SearchTruncated,
    SkippedMember, UnpackOptions, UnpackReceipt,
};
use rustix::event::{PollFd, PollFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::archive::{Existing, Format, Limits as ArchiveLimits, Pack, Unpack, Unpacked};
use crate::ask::{Condition, Task, Told};
use crate::edit::{self, Edit, Expected};
use crate::error::{Failure, Kind, Result};
use crate::line::Line;
use crate::patch::{self, Outcome, Patched};
use crate::search::{
    Binary, Case, Detail, Glob, Hit, Limits, Named, Pattern, Role, Search, Summary, Syntax, Truncated, Words,
};
use crate::stop::Stop;
use crate::tree::Tree;
use crate::walk::{EntryKind, Hidden, Ignored, Order};

/// The longest request that is gathered: an edit of a large file.
const GATHERED_MAX: usize = 64 << 20;

/// How many names of what is left out of an archive are told.
const OMITTED_TOLD: usize = 20;

/// How a patch is applied. Between agent and worker only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PatchOptions {
    /// Lines of context that need not fit.
    pub fuzz: usize,
    /// Leading names of paths that are dropped; `a/` and `b/` if not given.
    pub strip: Option<usize>,
    /// Only look whether it fits.
    pub dry_run: bool,
}

/// Does it.
pub(crate) fn perform(tree: &Tree, task: Task, path: &[u8], options: &[u8], line: &mut Line) -> Result<()> {
    crate::path::check(path)?;
    let stop = Stop::never();
    match task {
        Task::Search => search(tree, path, parse(options)?, line, &stop),
        Task::Glob => glob(tree, path, parse(options)?, line, &stop),
        Task::Edit => edit_file(tree, path, line),
        Task::Patch => apply_patch(tree, path, parse(options)?, line, &stop),
        Task::Pack => pack(tree, path, parse(options)?, line, &stop),
        Task::Unpack => unpack(tree, path, &parse(options)?, line, &stop),
    }
}

fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    serde_json::from_slice(json).map_err(|error| Failure::new(Kind::Invalid, b"", error.to_string()))
}

fn say(line: &mut Line, what: &impl Serialize) -> Result<()> {
    let json = serde_json::to_vec(what).map_err(|error| Failure::new(Kind::Io, b"", error.to_string()))?;
    line.tell(&Told::Said { json })
}

/// Asks the work to end when whoever asked hangs up, for as long as it lives.
struct Watch {
    /// Closed, the thread that looks ends.
    _end: OwnedFd,
}

impl Watch {
    fn start(line: &Line, stop: &Stop) -> Result<Self> {
        let socket = line.watch();
        let (ours, theirs) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(|errno| Failure::from_errno(errno, b""))?;
        let stop = stop.clone();
        let spawned = std::thread::Builder::new().stack_size(64 << 10).spawn(move || look(&socket, &ours, &stop));
        // Without it the work ends when it next tells something, or by its time.
        drop(spawned);
        Ok(Self { _end: theirs })
    }
}

fn look(socket: &UnixStream, end: &OwnedFd, stop: &Stop) {
    let hung_up = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
    loop {
        let mut polled = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::RDHUP), PollFd::new(end, PollFlags::IN)];
        match rustix::event::poll(&mut polled, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
            Ok(_) => {
                if polled[0].revents().intersects(hung_up) {
                    stop.ask();
                }
                return;
            }
        }
    }
}

fn search(tree: &Tree, path: &[u8], request: SearchRequest, line: &mut Line, stop: &Stop) -> Result<()> {
    let _watch = Watch::start(line, stop)?;
    let SearchRequest { pattern, include, exclude, .. } = &request;
    let search = Search {
        pattern: Pattern {
            text: pattern.clone(),
            syntax: match request.syntax {
                SearchSyntax::Regex => Syntax::Regex,
                SearchSyntax::Multiline => Syntax::Multiline { dot_all: false },
                SearchSyntax::MultilineDotAll => Syntax::Multiline { dot_all: true },
                SearchSyntax::Fixed => Syntax::Fixed,
            },
            case: match request.case {
                SearchCase::Sensitive => Case::Sensitive,
                SearchCase::Insensitive => Case::Insensitive,
                SearchCase::Smart => Case::Smart,
            },
            words: if request.words { Words::Whole } else { Words::Any },
        },
        include: include.clone(),
        exclude: exclude.clone(),
        hidden: hidden(request.hidden),
        ignored: ignored(request.ignored),
        binary: match request.binary {
            SearchBinary::Skip => Binary::Skip,
            SearchBinary::Report => Binary::Report,
            SearchBinary::Text => Binary::Text,
        },
        detail: match request.detail {
            SearchDetail::Lines => Detail::Lines,
            SearchDetail::Files => Detail::Files,
            SearchDetail::Counts => Detail::Counts,
        },
        before: size(request.before),
        after: size(request.after),
        depth: request.depth.map(size),
        order: if request.sorted { Order::Sorted } else { Order::default() },
        limits: limits(request.max_matches, request.max_matches_per_file, request.max_bytes, request.timeout_ms),
    };
    let shared = Mutex::new(&mut *line);
    let summary = search.run(tree, path, stop, |hits: Vec<Hit>| {
        let mut line = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let told = hits.into_iter().try_for_each(|hit| say(&mut line, &found(path, hit)));
        if told.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    say(line, &SearchLine::End(summed(summary)))
}

/// A path as it is told: below what was asked for, which by itself is told as it is.
fn below<'a>(root: &[u8], path: &'a [u8]) -> &'a [u8] {
    let rest = path.strip_prefix(root).unwrap_or(path);
    let rest = &rest[rest.iter().take_while(|&&byte| byte == b'/').count()..];
    if rest.is_empty() { path } else { rest }
}

fn found(root: &[u8], hit: Hit) -> SearchLine {
    match hit {
        Hit::Line { path, line, offset, bytes, spans, role, cut } => {
            let (PathText { path, path_base64 }, text) = (PathText::new(below(root, &path)), PathText::new(&bytes));
            let span = |span: crate::search::Span| SearchSpan { start: span.start as u64, end: span.end as u64 };
            SearchLine::Match(SearchMatch {
                path,
                path_base64,
                line,
                offset,
                text: text.path,
                text_base64: text.path_base64,
                spans: spans.into_iter().map(span).collect(),
                role: match role {
                    Role::Match => SearchRole::Match,
                    Role::Before => SearchRole::Before,
                    Role::After => SearchRole::After,
                },
                cut_before: cut.before,
                cut_after: cut.after,
            })
        }
        Hit::File { path, matches } => SearchLine::File(file(below(root, &path), Some(matches))),
        Hit::Binary { path, .. } => SearchLine::Binary(file(below(root, &path), None)),
    }
}

fn file(path: &[u8], matches: Option<u64>) -> SearchFile {
    let PathText { path, path_base64 } = PathText::new(path);
    SearchFile { path, path_base64, matches }
}

fn summed(summary: Summary) -> SearchSummary {
    SearchSummary {
        files: summary.files,
        files_matched: summary.files_matched,
        matches: summary.matches,
        bytes_read: summary.bytes_read,
        truncated: summary.truncated.map(truncated),
        troubles: summary.troubles,
        first_troubles: summary.first_troubles.iter().map(ToString::to_string).collect(),
    }
}

fn truncated(why: Truncated) -> SearchTruncated {
    match why {
        Truncated::Matches => SearchTruncated::Matches,
        Truncated::Bytes => SearchTruncated::Bytes,
        Truncated::Time => SearchTruncated::Time,
        Truncated::Cancelled => SearchTruncated::Cancelled,
    }
}

fn glob(tree: &Tree, path: &[u8], request: GlobRequest, line: &mut Line, stop: &Stop) -> Result<()> {
    let _watch = Watch::start(line, stop)?;
    let glob = Glob {
        patterns: request.patterns,
        exclude: request.exclude,
        hidden: hidden(request.hidden),
        ignored: ignored(request.ignored),
        order: Order::Sorted,
        depth: request.depth.map(size),
        limits: limits(request.max_matches, None, None, request.timeout_ms),
    };
    let shared = Mutex::new(&mut *line);
    let summary = glob.run(tree, path, stop, |names: Vec<Named>| {
        let mut line = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let told = names.into_iter().try_for_each(|name| say(&mut line, &named(path, &name)));
        if told.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let truncated = summary.truncated.map(truncated);
    say(line, &GlobAnswer { entries: Vec::new(), truncated, troubles: summary.troubles })
}

fn named(root: &[u8], name: &Named) -> GlobEntry {
    let PathText { path, path_base64 } = PathText::new(below(root, &name.path));
    GlobEntry { path, path_base64, kind: kind(name.kind) }
}

fn kind(kind: EntryKind) -> GlobKind {
    match kind {
        EntryKind::File => GlobKind::File,
        EntryKind::Directory => GlobKind::Directory,
        EntryKind::Link => GlobKind::Symlink,
        EntryKind::Other => GlobKind::Other,
    }
}

fn edit_file(tree: &Tree, path: &[u8], line: &mut Line) -> Result<()> {
    let request: EditRequest = parse(&gathered(line)?)?;
    let decode = |text: &str| {
        let bytes = request.encoding.decode(text);
        bytes.ok_or_else(|| Failure::new(Kind::Invalid, path, "a text is not base64"))
    };
    let mut edits = Vec::with_capacity(request.edits.len());
    for edit in &request.edits {
        let expected = match (edit.all, edit.count) {
            (true, Some(_)) => return Err(Failure::new(Kind::Invalid, path, "`all` and `count` exclude each other")),
            (true, None) => Expected::All,
            (false, count) => Expected::Times(count.unwrap_or(1)),
        };
        edits.push(Edit { old: decode(&edit.old)?, new: decode(&edit.new)?, expected });
    }
    let condition = match &request.if_match {
        Some(tag) => Condition::Tagged { tags: vec![tag.trim_matches('"').to_owned()] },
        None => Condition::Any,
    };
    let edited = edit::edit(tree, path, &edits, &condition)?;
    line.tell(&Told::Found { facts: edited.facts })?;
    say(line, &edited.lines)
}

fn apply_patch(tree: &Tree, path: &[u8], options: PatchOptions, line: &mut Line, stop: &Stop) -> Result<()> {
    let text = gathered(line)?;
    let strip = options.strip.map_or(patch::Strip::Auto, patch::Strip::Names);
    let how = patch::Options { fuzz: options.fuzz, strip, dry_run: options.dry_run };
    let _watch = Watch::start(line, stop)?;
    let patched = patch::apply(tree, path, &text, how, stop)?;
    let files = patched.into_iter().map(patched_file).collect();
    say(line, &PatchReceipt { files, dry_run: options.dry_run })
}

fn patched_file(patched: Patched) -> PatchedFile {
    let PathText { path, path_base64 } = PathText::new(&patched.path);
    let (outcome, from) = match patched.outcome {
        Outcome::Created => (PatchOutcome::Created, None),
        Outcome::Changed => (PatchOutcome::Changed, None),
        Outcome::Deleted => (PatchOutcome::Deleted, None),
        Outcome::Renamed { from } => (PatchOutcome::Renamed, Some(from)),
        Outcome::Copied { from } => (PatchOutcome::Copied, Some(from)),
    };
    let hunk = |hunk: &patch::Fitted| PatchHunk {
        line: hunk.line,
        offset: hunk.offset,
        fuzz: hunk.fuzz as u64,
        exact: hunk.looseness == patch::Looseness::Exact,
    };
    PatchedFile {
        path,
        path_base64,
        outcome,
        from: from.map(|from| String::from_utf8_lossy(&from).into_owned()),
        added: patched.added,
        removed: patched.removed,
        hunks: patched.hunks.iter().map(hunk).collect(),
    }
}

/// All the data that comes with a request.
fn gathered(line: &mut Line) -> Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        match line.data(&mut buffer)? {
            0 => return Ok(all),
            count if all.len() + count > GATHERED_MAX => {
                return Err(Failure::new(Kind::TooLarge, b"", format!("more than {GATHERED_MAX} bytes")));
            }
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
}

fn pack(tree: &Tree, path: &[u8], options: PackOptions, line: &mut Line, stop: &Stop) -> Result<()> {
    let pack = Pack {
        format: format(options.format),
        include: options.include,
        exclude: options.exclude,
        ignored: ignored(!options.gitignore),
        prefix: Vec::new(),
    };
    let _watch = Watch::start(line, stop)?;
    // Said before the first byte: what cannot be packed at all is a refusal, and what will be missing is known.
    let surveyed = pack.survey(tree, path, stop)?;
    let first = surveyed.first_troubles.iter().take(OMITTED_TOLD).map(|failure| PathText::new(&failure.path));
    say(line, &Omitted { count: surveyed.troubles, first: first.collect() })?;
    let mut out = io::BufWriter::with_capacity(256 << 10, Out(line));
    let packed = pack.run(tree, path, &mut out, stop)?;
    out.flush().map_err(|error| Failure::from_io(&error, b""))?;
    drop(out);
    if packed.troubles > surveyed.troubles {
        // The archive is whole but for what nobody was told of; so it does not end as one that is.
        let new = packed.first_troubles.into_iter().find(|failure| !surveyed.first_troubles.contains(failure));
        return Err(new.unwrap_or_else(|| Failure::new(Kind::Io, path, "changed while it was packed")));
    }
    Ok(())
}

struct Out<'a>(&'a mut Line);

impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unpack(tree: &Tree, path: &[u8], options: &UnpackOptions, line: &mut Line, stop: &Stop) -> Result<()> {
    let defaults = ArchiveLimits::default();
    let unpack = Unpack {
        format: options.format.map(format),
        strip: size(options.strip),
        existing: match options.existing {
            ArchiveExisting::Replace => Existing::Replace,
            ArchiveExisting::Keep => Existing::Keep,
            ArchiveExisting::Refuse => Existing::Refuse,
        },
        limits: ArchiveLimits {
            entries: options.max_entries.unwrap_or(defaults.entries),
            bytes: options.max_bytes,
            ratio: defaults.ratio,
        },
    };
    let mut input = In { line, over: false };
    let unpacked = unpack.run(tree, path, &mut input, stop)?;
    // What an archive has behind its end is of no use, and still on its way.
    io::copy(&mut input, &mut io::sink()).map_err(|error| Failure::from_io(&error, path))?;
    say(line, &unpacked_receipt(&unpacked))
}

/// The data of a request, as something to read.
struct In<'a> {
    line: &'a mut Line,
    over: bool,
}

impl Read for In<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.over || buffer.is_empty() {
            return Ok(0);
        }
        let count = self.line.data(buffer).map_err(|_| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        self.over = count == 0;
        Ok(count)
    }
}

fn unpacked_receipt(unpacked: &Unpacked) -> UnpackReceipt {
    let skipped = |skipped: &crate::archive::Skipped| {
        let PathText { path, path_base64 } = PathText::new(&skipped.path);
        SkippedMember { path, path_base64, why: skipped.why.to_owned() }
    };
    UnpackReceipt {
        format: match unpacked.format {
            Format::Tar => ArchiveFormat::Tar,
            Format::TarZst => ArchiveFormat::TarZst,
            Format::TarGz => ArchiveFormat::TarGz,
            Format::Zip => ArchiveFormat::Zip,
        },
        files: unpacked.files,
        directories: unpacked.directories,
        links: unpacked.links,
        bytes: unpacked.bytes,
        skipped: unpacked.skipped,
        first_skipped: unpacked.first_skipped.iter().map(skipped).collect(),
    }
}

fn format(format: ArchiveFormat) -> Format {
    match format {
        ArchiveFormat::Tar => Format::Tar,
        ArchiveFormat::TarZst => Format::TarZst,
        ArchiveFormat::TarGz => Format::TarGz,
        ArchiveFormat::Zip => Format::Zip,
    }
}

fn hidden(too: bool) -> Hidden {
    if too { Hidden::Included } else { Hidden::Skipped }
}

fn ignored(too: bool) -> Ignored {
    if too { Ignored::Included } else { Ignored::Skipped }
}

fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn limits(matches: Option<u64>, per_file: Option<u64>, bytes: Option<u64>, millis: Option<u64>) -> Limits {
    let defaults = Limits::default();
    Limits {
        matches: matches.unwrap_or(defaults.matches),
        matches_per_file: per_file,
        bytes: bytes.unwrap_or(defaults.bytes),
        time: millis.map_or(defaults.time, Duration::from_millis),
    }
}
