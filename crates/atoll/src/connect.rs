//! The way to the server that the settings name; where that is this user's own and it does not run, starting it.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use atoll_client::Client;
use atoll_protocol::{CreateSandbox, ErrorCode, SandboxName};

use crate::failure::Failure;
use crate::printer;
use crate::settings::{Address, ServerArguments, Settings, Source};

/// How long a server that somebody else is just starting may take.
const STARTED_WITHIN: Duration = Duration::from_secs(10);

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);

impl ServerArguments {
    /// Asks the server that is there.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        client(&Settings::find(self)?)
    }

    /// The same, for what is inside one of its sandboxes.
    pub(crate) fn inside(&self, name: &SandboxName) -> Result<Client, Failure> {
        Ok(self.client()?.inside(name))
    }

    /// The same, but a server of our own that does not run is started, and a sandbox that is not there is made. Both are
    /// said.
    pub(crate) async fn inside_or_made(&self, name: &SandboxName) -> Result<Client, Failure> {
        let client = self.client_or_started()?;
        make_if_absent(&client, name).await?;
        Ok(client.inside(name))
    }

    /// Asks the server; our own is started if it does not run, which is said.
    pub(crate) fn client_or_started(&self) -> Result<Client, Failure> {
        let settings = Settings::find(self)?;
        if let (Source::Default, Address::Unix(socket)) = (&settings.server.source, &settings.server.value)
            && !answers(socket)
        {
            start(socket)?;
        }
        client(&settings)
    }
}

fn client(settings: &Settings) -> Result<Client, Failure> {
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

/// A file that was named must be there. The first token of this machine's server is for this machine alone, and a
/// server that wants none has none.
fn token(settings: &Settings) -> Result<Option<String>, Failure> {
    let file = &settings.token_file;
    if file.source == Source::Default && !settings.server.value.is_local() {
        return Ok(None);
    }
    match std::fs::read_to_string(&file.value) {
        Ok(token) => Ok(Some(token)),
        Err(_) if file.source == Source::Default => Ok(None),
        Err(error) => Err(Failure::invalid(format!("cannot read the token in {}: {error}", file.value.display()))),
    }
}

fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// Starts a server that listens for this user alone, and goes on when we end. Of two who do so at once one is refused,
/// and uses the other's.
#[expect(clippy::disallowed_methods, reason = "a server is a process of the host, not of a sandbox")]
fn start(socket: &Path) -> Result<(), Failure> {
    printer::note("no server is running; starting one in the background");
    let program = std::env::current_exe().map_err(|error| Failure::internal(format!("who am I? {error}")))?;
    let mut command = std::process::Command::new(program);
    command.args(["serve", "--background", "--no-tcp"]).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output();
    let output = output.map_err(|error| Failure::internal(format!("failed to start a server: {error}")))?;
    let patience = if output.status.success() { Duration::ZERO } else { STARTED_WITHIN };
    if answers_within(socket, patience) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::internal(format!("failed to start a server: {}", said.trim().trim_start_matches("error: "))))
}

fn answers_within(socket: &Path, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while !answers(socket) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    true
}

async fn make_if_absent(client: &Client, name: &SandboxName) -> Result<(), Failure> {
    match client.find_sandbox(name).await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == Some(ErrorCode::SandboxNotFound) => {
            printer::note(&format!("there is no sandbox {name}; making it"));
            client.create_sandbox(&CreateSandbox { name: Some(name.clone()), ..CreateSandbox::default() }).await?;
            Ok(())
        }
        // A token may be good for using a sandbox and not for looking at it.
        Err(error) if error.code() == Some(ErrorCode::Forbidden) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
