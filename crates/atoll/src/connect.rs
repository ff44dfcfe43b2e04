//! Connects to the server that the settings name, and starts this user's own server if it is not running.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use atoll_client::Client;
use atoll_protocol::{CreateSandbox, ErrorCode, SandboxName};

use crate::error::CliError;
use crate::printer;
use crate::settings::{Address, ServerArguments, Settings, Source};

/// How long to wait for a server that another process is starting.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval between two connection attempts.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl ServerArguments {
    /// Returns a client for the server. Does not start one.
    pub(crate) fn client(&self) -> Result<Client, CliError> {
        client(&Settings::load(self)?)
    }

    /// Returns a client for one sandbox of the server.
    pub(crate) fn sandbox_client(&self, name: &SandboxName) -> Result<Client, CliError> {
        Ok(self.client()?.inside(name))
    }

    /// Returns a client for one sandbox. Starts this user's own server if it is not running, creates the sandbox if it
    /// does not exist, and prints a note for either.
    pub(crate) async fn sandbox_client_or_create(&self, name: &SandboxName) -> Result<Client, CliError> {
        let client = self.client_or_start()?;
        create_if_absent(&client, name).await?;
        Ok(client.inside(name))
    }

    /// Returns a client for the server. Starts this user's own server, with a note, if it is not running.
    pub(crate) fn client_or_start(&self) -> Result<Client, CliError> {
        let settings = Settings::load(self)?;
        if let (Source::Default, Address::Unix(socket)) = (&settings.server.source, &settings.server.value)
            && !accepts(socket)
        {
            start(socket)?;
        }
        client(&settings)
    }
}

fn client(settings: &Settings) -> Result<Client, CliError> {
    let token = token(settings)?;
    let client = match &settings.server.value {
        Address::Unix(path) => Client::unix(path),
        Address::Http(address) => Client::tcp_without_token(address),
        Address::Https(address) => Client::tls(address, settings.ca_file.value.as_deref())?,
    };
    match token {
        Some(token) => Ok(client.with_token(token.trim())?),
        None => Ok(client),
    }
}

/// Reads the token. A file that the user named must exist. The default file, the first token of this machine's server,
/// is never used for another machine, and is absent if the server requires no token.
fn token(settings: &Settings) -> Result<Option<String>, CliError> {
    let file = &settings.token_file;
    if file.source == Source::Default && !settings.server.value.is_local() {
        return Ok(None);
    }
    match std::fs::read_to_string(&file.value) {
        Ok(token) => Ok(Some(token)),
        Err(_) if file.source == Source::Default => Ok(None),
        Err(error) => Err(CliError::invalid(format!("cannot read the token file {}: {error}", file.value.display()))),
    }
}

fn accepts(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// Starts a server for this user in the background. If two processes do so at the same time, one start fails, and that
/// process uses the other's server.
#[expect(clippy::disallowed_methods, reason = "a server is a process of the host, not of a sandbox")]
fn start(socket: &Path) -> Result<(), CliError> {
    printer::note("no server is running; starting one in the background");
    let program = std::env::current_exe()
        .map_err(|error| CliError::internal(format!("failed to find the path of this program: {error}")))?;
    let mut command = std::process::Command::new(program);
    command.args(["serve", "--background", "--no-tcp"]).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(|error| CliError::internal(format!("failed to start a server: {error}")))?;
    let wait = if output.status.success() { Duration::ZERO } else { START_TIMEOUT };
    if accepts_within(socket, wait) {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(CliError::internal(format!("failed to start a server: {}", stderr.trim().trim_start_matches("error: "))))
}

fn accepts_within(socket: &Path, wait: Duration) -> bool {
    let deadline = Instant::now() + wait;
    while !accepts(socket) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}

async fn create_if_absent(client: &Client, name: &SandboxName) -> Result<(), CliError> {
    match client.find_sandbox(name).await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == Some(ErrorCode::SandboxNotFound) => {
            printer::note(&format!("sandbox {name} does not exist; creating it"));
            client.create_sandbox(&CreateSandbox { name: Some(name.clone()), ..CreateSandbox::default() }).await?;
            Ok(())
        }
        // A token may allow exec in a sandbox, but not reading its record.
        Err(error) if error.code() == Some(ErrorCode::Forbidden) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
