//! `atoll cp`: copies files and directories into a sandbox, out of it, or between sandboxes.

mod progress;
mod transfer;

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
use crate::error::CliError;
use crate::path_arg::{PathArg, SandboxPath};
use crate::settings::ServerArguments;
use crate::{exit, printer};

/// Copy files and directories into a sandbox, out of one, or between two.
///
/// NAME:PATH is a path in a sandbox; a relative path is below /workspace. Directories are copied recursively. If the
/// target is a directory or ends with a slash, the copy keeps its own name; several sources require such a target. `-`
/// is standard input or output. Modes, times and links are preserved. Files of a sandbox that cannot be read are
/// skipped with a warning and exit code 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  atoll cp report.csv box:data/
  atoll cp *.csv box:data/
  atoll cp -q ./project box:/workspace/project
  atoll cp box:/workspace/dist ./dist
  tar c . | atoll cp - box:all.tar
  atoll cp box:log.txt - | tail")]
pub(crate) struct Arguments {
    /// Path to copy from.
    #[arg(value_name = "SOURCE", required = true)]
    from: Vec<OsString>,

    /// Path to copy to.
    #[arg(value_name = "TARGET")]
    to: OsString,

    /// Read and write as this user of the sandbox.
    #[arg(short, long)]
    user: Option<String>,

    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    server: ServerArguments,
}

/// The result of a copy.
#[derive(Debug, Serialize)]
struct Copied {
    bytes: u64,
    /// Number of entries that could not be read and are not in the copy.
    omitted: u64,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    let threads = tokio::runtime::Builder::new_multi_thread();
    exit::report(exit::block_on(threads, copy(arguments)), as_json)
}

async fn copy(arguments: Arguments) -> Result<u8, CliError> {
    let from = arguments.from.iter().map(|from| PathArg::parse(from)).collect::<Result<Vec<_>, _>>()?;
    let to = PathArg::parse(&arguments.to)?;
    let copying = Copying { arguments: &arguments, progress: Progress::new(arguments.quiet || arguments.server.json) };
    let mut omitted = 0;
    if let [_, _, ..] = from[..] {
        copying.check_many(&from, &to).await?;
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
    /// Copies one source. Returns the number of skipped entries.
    async fn one(&self, from: &PathArg, to: &PathArg) -> Result<u64, CliError> {
        match (from, to) {
            (PathArg::Sandbox(from), PathArg::Sandbox(to)) => self.between_sandboxes(from, to).await,
            (PathArg::Sandbox(from), PathArg::Stdio) => self.to_stdout(from).await.map(|()| 0),
            (PathArg::Sandbox(from), PathArg::Local(to)) => self.download(from, to).await,
            (PathArg::Stdio, PathArg::Sandbox(to)) => self.upload_stdin(to).await.map(|()| 0),
            (PathArg::Local(from), PathArg::Sandbox(to)) => self.upload(from, to).await.map(|()| 0),
            (PathArg::Local(_) | PathArg::Stdio, PathArg::Local(_) | PathArg::Stdio) => {
                Err(CliError::invalid("neither path is in a sandbox (write NAME:PATH for one of them)"))
            }
        }
    }

    /// Checks that the target of several sources is a directory, so that they do not overwrite each other.
    async fn check_many(&self, from: &[PathArg], to: &PathArg) -> Result<(), CliError> {
        if from.iter().any(|from| matches!(from, PathArg::Stdio)) {
            return Err(CliError::invalid("standard input cannot be copied together with other sources"));
        }
        let is_directory = match to {
            PathArg::Stdio => return Err(CliError::invalid("several sources cannot be copied to standard output")),
            PathArg::Local(to) => to.is_dir() || to.as_os_str().as_bytes().ends_with(b"/"),
            PathArg::Sandbox(to) if to.path.ends_with(b"/") => true,
            PathArg::Sandbox(to) => self.is_directory(&self.client(to)?, &to.path).await.unwrap_or(false),
        };
        if is_directory {
            Ok(())
        } else {
            Err(CliError::invalid("the target of several sources must be a directory (end it with / to create one)"))
        }
    }

    /// Warns about entries that are not in the archive, and returns their number.
    fn warn_omitted(&self, archive: &FileBytes) -> u64 {
        let Omitted { count, first } = archive.omitted();
        if count > 0 {
            let mut names: Vec<String> = first.into_iter().map(|path| path.path.escape_debug().to_string()).collect();
            if names.len() as u64 != count {
                names.push("…".to_owned());
            }
            printer::warning(&format!("skipped {count} (cannot be read): {}", names.join(", ")));
        }
        count
    }

    fn client(&self, path: &SandboxPath) -> Result<Client, CliError> {
        self.arguments.server.sandbox_client(&path.name)
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

    async fn is_directory(&self, client: &Client, path: &[u8]) -> Result<bool, CliError> {
        let info = client.stat_file(path, self.arguments.user.as_ref()).await?;
        Ok(info.kind == FileKind::Directory)
    }

    /// Returns the path of the copy: below the target, with the source's name, if the target is a directory.
    async fn target(&self, client: &Client, to: &SandboxPath, name: &[u8]) -> Result<Vec<u8>, CliError> {
        let is_directory = match client.stat_file(&to.path, self.arguments.user.as_ref()).await {
            Ok(info) => info.kind == FileKind::Directory,
            Err(error) if error.code() == Some(ErrorCode::FileNotFound) => to.path.ends_with(b"/"),
            // The target is `file/`: the write returns the error.
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

    async fn upload(&self, from: &Path, to: &SandboxPath) -> Result<(), CliError> {
        let client = self.client(to)?;
        let metadata = std::fs::metadata(from).map_err(|error| local_error(from, &error))?;
        let target = self.target(&client, to, last_name(from)?.as_bytes()).await?;
        if metadata.is_dir() {
            let tree = transfer::pack_local(from.to_owned(), self.progress.clone());
            client.unpack_files(&target, tree, &self.unpack()).await?;
            return Ok(());
        }
        if !metadata.is_file() {
            return Err(CliError::invalid(format!("cannot copy {}: neither a file nor a directory", from.display())));
        }
        self.progress.expect(metadata.len());
        let file = std::fs::File::open(from).map_err(|error| local_error(from, &error))?;
        let mode = Some(metadata.permissions().mode() & 0o777);
        let pieces = transfer::read_local(file, self.progress.clone());
        client.stream_file(&target, pieces, &WriteFile { mode, ..self.write() }).await?;
        Ok(())
    }

    async fn upload_stdin(&self, to: &SandboxPath) -> Result<(), CliError> {
        let pieces = transfer::read_local(std::io::stdin(), self.progress.clone());
        self.client(to)?.stream_file(&to.path, pieces, &self.write()).await?;
        Ok(())
    }

    async fn to_stdout(&self, from: &SandboxPath) -> Result<(), CliError> {
        let mut bytes = self.client(from)?.read_file(&from.path, &self.read()).await?;
        while let Some(piece) = bytes.next().await? {
            printer::out(&piece)?;
            self.progress.add(piece.len());
        }
        Ok(())
    }

    async fn download(&self, from: &SandboxPath, to: &Path) -> Result<u64, CliError> {
        let client = self.client(from)?;
        let into = to.is_dir() || to.as_os_str().as_bytes().ends_with(b"/");
        let name = atoll_files::split_last(&from.path).map(|(_, name)| name.to_vec());
        let target: PathBuf = match (into, name) {
            (true, Some(name)) => to.join(std::ffi::OsStr::from_bytes(&name)),
            // `box:` and `box:/` have no last component.
            (true, None) | (false, _) => to.to_owned(),
        };
        // As in a sandbox, a target that ends with a slash is created.
        if into {
            std::fs::create_dir_all(to).map_err(|error| local_error(to, &error))?;
        }
        if self.is_directory(&client, &from.path).await? {
            let archive = client.pack_files(&from.path, &self.pack()).await?;
            let omitted = self.warn_omitted(&archive);
            transfer::unpack_local(archive, target, self.progress.clone()).await?;
            return Ok(omitted);
        }
        let bytes = client.read_file(&from.path, &self.read()).await?;
        let info = client.stat_file(&from.path, self.arguments.user.as_ref()).await?;
        self.progress.expect(bytes.length().unwrap_or(0));
        let mode = u32::from_str_radix(&info.mode, 8).unwrap_or(0o644) & 0o777;
        transfer::write_local(bytes, target, mode, self.progress.clone()).await?;
        Ok(0)
    }

    async fn between_sandboxes(&self, from: &SandboxPath, to: &SandboxPath) -> Result<u64, CliError> {
        let (source, sink) = (self.client(from)?, self.client(to)?);
        let name = atoll_files::split_last(&from.path).map_or(b".".to_vec(), |(_, name)| name.to_vec());
        let target = self.target(&sink, to, &name).await?;
        if self.is_directory(&source, &from.path).await? {
            let archive = source.pack_files(&from.path, &self.pack()).await?;
            let omitted = self.warn_omitted(&archive);
            sink.unpack_files(&target, transfer::pass(archive, self.progress.clone()), &self.unpack()).await?;
            return Ok(omitted);
        }
        let info = source.stat_file(&from.path, self.arguments.user.as_ref()).await?;
        let mode = u32::from_str_radix(&info.mode, 8).ok();
        let bytes = source.read_file(&from.path, &self.read()).await?;
        let pieces = transfer::pass(bytes, self.progress.clone());
        sink.stream_file(&target, pieces, &WriteFile { mode, ..self.write() }).await?;
        Ok(0)
    }
}

/// Returns the name of a local path; `.` and `dir/..` are resolved first.
fn last_name(path: &Path) -> Result<OsString, CliError> {
    if let Some(name) = path.file_name() {
        return Ok(name.to_owned());
    }
    let whole = path.canonicalize().map_err(|error| local_error(path, &error))?;
    Ok(whole.file_name().unwrap_or(std::ffi::OsStr::new(".")).to_owned())
}

/// An error about a file of this machine.
fn local_error(path: &Path, error: &std::io::Error) -> CliError {
    CliError::invalid(format!("{}: {error}", path.display()))
}
