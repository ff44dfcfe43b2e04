//! `atoll cp`: files and trees into a sandbox, out of it, and from one to another.

mod flow;
mod progress;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use atoll_client::{Client, FileBytes, PackFiles, ReadFile, UnpackFiles, WriteFile};
use atoll_protocol::{ArchiveFormat, ErrorCode, FileKind, Omitted};
use clap::Args;
use serde::Serialize;

use self::progress::Progress;
use crate::failure::Failure;
use crate::place::{Inside, Place};
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Copy files and directories into a sandbox, out of one, or between two.
///
/// NAME:PATH is in a sandbox; a path that is not absolute starts at /workspace. A directory is copied with all that is in
/// it. Into a directory that is there, or a target that ends with a slash, the copy goes under its own name; several
/// sources need such a target. `-` is standard input or output. Modes, times and links are kept. What cannot be read in a
/// sandbox is left out of the copy of a directory: then it is told, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll cp report.csv box:data/
  atoll cp *.csv box:data/
  atoll cp -q ./project box:/workspace/project
  atoll cp box:/workspace/dist ./dist
  tar c . | atoll cp - box:all.tar
  atoll cp box:log.txt - | tail")]
pub(crate) struct Arguments {
    /// From where.
    #[arg(value_name = "SOURCE", required = true)]
    from: Vec<OsString>,

    /// To where.
    #[arg(value_name = "TARGET")]
    to: OsString,

    /// The user to read and write as in the sandbox.
    #[arg(short, long)]
    user: Option<String>,

    /// Say nothing of how far it is.
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// What was copied.
#[derive(Debug, Serialize)]
struct Copied {
    bytes: u64,
    /// Things that could not be read, and are not in the copy.
    omitted: u64,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    let threads = tokio::runtime::Builder::new_multi_thread();
    exit::told(exit::outcome(threads, copy(arguments)), as_json)
}

async fn copy(arguments: Arguments) -> Result<u8, Failure> {
    let from = arguments.from.iter().map(|from| Place::parse(from)).collect::<Result<Vec<_>, _>>()?;
    let to = Place::parse(&arguments.to)?;
    let copying = Copying { arguments: &arguments, progress: Progress::new(arguments.quiet || arguments.server.json) };
    let mut omitted = 0;
    if let [_, _, ..] = from[..] {
        copying.takes_many(&from, &to).await?;
    }
    for from in &from {
        omitted += copying.one(from, &to).await?;
    }
    let bytes = copying.progress.finish();
    if arguments.server.json {
        printer::json(&Copied { bytes, omitted })?;
    }
    Ok(u8::from(omitted > 0))
}

struct Copying<'a> {
    arguments: &'a Arguments,
    progress: Progress,
}

impl Copying<'_> {
    /// Copies one source. Returns how many things had to be left out.
    async fn one(&self, from: &Place, to: &Place) -> Result<u64, Failure> {
        match (from, to) {
            (Place::Inside(from), Place::Inside(to)) => self.across(from, to).await,
            (Place::Inside(from), Place::Standard) => self.to_output(from).await.map(|()| 0),
            (Place::Inside(from), Place::Here(to)) => self.bring_out(from, to).await,
            (Place::Standard, Place::Inside(to)) => self.bring_input(to).await.map(|()| 0),
            (Place::Here(from), Place::Inside(to)) => self.bring_in(from, to).await.map(|()| 0),
            (Place::Here(_) | Place::Standard, Place::Here(_) | Place::Standard) => {
                Err(Failure::invalid("neither path is in a sandbox: write NAME:PATH for one of them"))
            }
        }
    }

    /// Several things go into one directory, each under its own name: anything else would be written over.
    async fn takes_many(&self, from: &[Place], to: &Place) -> Result<(), Failure> {
        if from.iter().any(|from| matches!(from, Place::Standard)) {
            return Err(Failure::invalid("standard input has no name: it is copied by itself"));
        }
        let takes = match to {
            Place::Standard => return Err(Failure::invalid("several files cannot be told apart on standard output")),
            Place::Here(to) => to.is_dir() || to.as_os_str().as_bytes().ends_with(b"/"),
            Place::Inside(to) if to.path.ends_with(b"/") => true,
            Place::Inside(to) => self.is_directory(&self.client(to)?, &to.path).await.unwrap_or(false),
        };
        if takes { Ok(()) } else { Err(Failure::invalid("several sources need a directory as their target")) }
    }

    /// Tells what is not in an archive.
    fn omitted(&self, archive: &FileBytes) -> u64 {
        let Omitted { count, first } = archive.omitted();
        if count > 0 {
            let mut names: Vec<String> = first.into_iter().map(|path| path.path.escape_debug().to_string()).collect();
            if names.len() as u64 != count {
                names.push("…".to_owned());
            }
            printer::warning(&format!("{count} left out, because they cannot be read: {}", names.join(", ")));
        }
        count
    }

    fn client(&self, place: &Inside) -> Result<Client, Failure> {
        self.arguments.server.inside(&place.name)
    }

    fn write(&self) -> WriteFile {
        WriteFile { parents: true, user: self.arguments.user.clone(), ..WriteFile::default() }
    }

    fn read(&self) -> ReadFile {
        ReadFile { user: self.arguments.user.clone(), ..ReadFile::default() }
    }

    fn pack(&self) -> PackFiles {
        PackFiles { format: ArchiveFormat::Tar, user: self.arguments.user.clone(), ..PackFiles::default() }
    }

    fn unpack(&self) -> UnpackFiles {
        let format = Some(ArchiveFormat::Tar);
        UnpackFiles { format, user: self.arguments.user.clone(), ..UnpackFiles::default() }
    }

    async fn is_directory(&self, client: &Client, path: &[u8]) -> Result<bool, Failure> {
        let info = client.stat_file(path, self.arguments.user.as_ref()).await?;
        Ok(info.kind == FileKind::Directory)
    }

    /// The whole target: below it under the source's name, if it is a directory.
    async fn target(&self, client: &Client, to: &Inside, name: &[u8]) -> Result<Vec<u8>, Failure> {
        let is_directory = match client.stat_file(&to.path, self.arguments.user.as_ref()).await {
            Ok(info) => info.kind == FileKind::Directory,
            Err(error) if error.code() == Some(ErrorCode::FileNotFound) => to.path.ends_with(b"/"),
            // `file/` is no directory, which the write will say in its own words.
            Err(error) if error.code() == Some(ErrorCode::NotDirectory) => false,
            Err(error) => return Err(error.into()),
        };
        let mut whole = to.path.clone();
        if is_directory {
            if !whole.ends_with(b"/") {
                whole.push(b'/');
            }
            whole.extend_from_slice(name);
        }
        Ok(whole)
    }

    async fn bring_in(&self, from: &Path, to: &Inside) -> Result<(), Failure> {
        let client = self.client(to)?;
        let metadata = std::fs::metadata(from).map_err(|error| here(from, &error))?;
        let target = self.target(&client, to, last_name(from)?.as_bytes()).await?;
        if metadata.is_dir() {
            let tree = flow::pack_here(from.to_owned(), self.progress.clone());
            client.unpack_files(&target, tree, &self.unpack()).await?;
            return Ok(());
        }
        if !metadata.is_file() {
            return Err(Failure::invalid(format!("{}: neither a file nor a directory", from.display())));
        }
        self.progress.expect(metadata.len());
        let file = std::fs::File::open(from).map_err(|error| here(from, &error))?;
        let mode = Some(metadata.permissions().mode() & 0o777);
        let pieces = flow::read_here(file, self.progress.clone());
        client.stream_file(&target, pieces, &WriteFile { mode, ..self.write() }).await?;
        Ok(())
    }

    async fn bring_input(&self, to: &Inside) -> Result<(), Failure> {
        let pieces = flow::read_here(std::io::stdin(), self.progress.clone());
        self.client(to)?.stream_file(&to.path, pieces, &self.write()).await?;
        Ok(())
    }

    async fn to_output(&self, from: &Inside) -> Result<(), Failure> {
        let mut bytes = self.client(from)?.read_file(&from.path, &self.read()).await?;
        while let Some(piece) = bytes.next().await? {
            printer::out(&piece)?;
            self.progress.add(piece.len());
        }
        Ok(())
    }

    async fn bring_out(&self, from: &Inside, to: &Path) -> Result<u64, Failure> {
        let client = self.client(from)?;
        let into = to.is_dir() || to.as_os_str().as_bytes().ends_with(b"/");
        let name = atoll_files::split_last(&from.path).map(|(_, name)| name.to_vec());
        let target: PathBuf = match (into, name) {
            (true, Some(name)) => to.join(std::ffi::OsStr::from_bytes(&name)),
            // `box:` and `box:/` have no name of their own.
            (true, None) | (false, _) => to.to_owned(),
        };
        // As inside: a directory that is named as one is made.
        if into {
            std::fs::create_dir_all(to).map_err(|error| here(to, &error))?;
        }
        if self.is_directory(&client, &from.path).await? {
            let archive = client.pack_files(&from.path, &self.pack()).await?;
            let omitted = self.omitted(&archive);
            flow::unpack_here(archive, target, self.progress.clone()).await?;
            return Ok(omitted);
        }
        let bytes = client.read_file(&from.path, &self.read()).await?;
        let info = client.stat_file(&from.path, self.arguments.user.as_ref()).await?;
        self.progress.expect(bytes.length().unwrap_or(0));
        let mode = u32::from_str_radix(&info.mode, 8).unwrap_or(0o644) & 0o777;
        flow::write_here(bytes, target, mode, self.progress.clone()).await?;
        Ok(0)
    }

    async fn across(&self, from: &Inside, to: &Inside) -> Result<u64, Failure> {
        let (source, sink) = (self.client(from)?, self.client(to)?);
        let name = atoll_files::split_last(&from.path).map_or(b".".to_vec(), |(_, name)| name.to_vec());
        let target = self.target(&sink, to, &name).await?;
        if self.is_directory(&source, &from.path).await? {
            let archive = source.pack_files(&from.path, &self.pack()).await?;
            let omitted = self.omitted(&archive);
            sink.unpack_files(&target, flow::pass(archive, self.progress.clone()), &self.unpack()).await?;
            return Ok(omitted);
        }
        let info = source.stat_file(&from.path, self.arguments.user.as_ref()).await?;
        let mode = u32::from_str_radix(&info.mode, 8).ok();
        let bytes = source.read_file(&from.path, &self.read()).await?;
        let pieces = flow::pass(bytes, self.progress.clone());
        sink.stream_file(&target, pieces, &WriteFile { mode, ..self.write() }).await?;
        Ok(0)
    }
}

/// What a path here is called: `.` and `dir/..` by what they are.
fn last_name(path: &Path) -> Result<OsString, Failure> {
    if let Some(name) = path.file_name() {
        return Ok(name.to_owned());
    }
    let whole = path.canonicalize().map_err(|error| here(path, &error))?;
    Ok(whole.file_name().unwrap_or(std::ffi::OsStr::new(".")).to_owned())
}

/// What went wrong with a file of this machine.
fn here(path: &Path, error: &std::io::Error) -> Failure {
    Failure::invalid(format!("{}: {error}", path.display()))
}
