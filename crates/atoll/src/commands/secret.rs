//! `atoll secret`: secrets that commands can use but not read.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use atoll_protocol::{PutSecret, SandboxName, SecretInfo};
use clap::{Args, Subcommand};

use crate::error::CliError;
use crate::settings::ServerArguments;
use crate::table::table;
use crate::{exit, printer};

/// Manage secrets that the commands of a sandbox can use but not read.
///
/// Commands see a placeholder in the variable of the secret's name. Atoll replaces it with the real value in HTTPS
/// requests to the given hosts, in the given headers only.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  printf %s \"$TOKEN\" | atoll secret box put API_TOKEN --host api.example.com
  atoll secret box put API_KEY --host api.example.com --header x-api-key --from-file key.txt
  atoll secret box list
  atoll secret box rm API_KEY")]
pub(crate) struct Arguments {
    /// Name of the sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(subcommand)]
    action: Action,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set a secret. Reads the value from standard input or a file, because other users can see command lines.
    Put {
        /// Name of the secret, and of the variable with its placeholder (API_KEY).
        secret: String,

        /// Send the secret to this host: NAME, or NAME:PORT for another port than 443 (api.example.com). Repeatable.
        #[arg(long = "host", value_name = "HOST", required = true)]
        hosts: Vec<String>,

        /// Replace the placeholder in this request header (x-api-key). Repeatable.
        #[arg(long = "header", value_name = "HEADER", default_value = "authorization")]
        headers: Vec<String>,

        /// Read the value from this file instead of standard input.
        #[arg(long, value_name = "FILE")]
        from_file: Option<PathBuf>,
    },
    /// List secrets, without their values.
    List,
    /// Remove a secret.
    Rm {
        /// Name of the secret.
        secret: String,
    },
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::run(act(arguments), as_json)
}

async fn act(arguments: Arguments) -> Result<u8, CliError> {
    let client = arguments.server.sandbox_client(&arguments.name)?;
    let as_json = arguments.server.json;
    match arguments.action {
        Action::Put { secret, hosts, headers, from_file } => {
            let request = PutSecret { value: value(from_file)?, hosts, headers };
            let info = client.put_secret(&secret, &request).await?;
            if as_json {
                printer::json(&info)?;
            } else {
                printer::out(format!("{}\n", info.name).as_bytes())?;
            }
        }
        Action::List => {
            let secrets = client.secrets().await?;
            if as_json { printer::json(&secrets)? } else { printer::out(format_secrets(&secrets).as_bytes())? }
        }
        Action::Rm { secret } => client.remove_secret(&secret).await?,
    }
    Ok(0)
}

/// Reads the value, without the line end that editors and `echo` add.
fn value(from: Option<PathBuf>) -> Result<String, CliError> {
    let mut text = String::new();
    let (read, what) = match &from {
        Some(path) => {
            (std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)), path.display().to_string())
        }
        None => (std::io::stdin().lock().read_to_string(&mut text), "standard input".to_owned()),
    };
    read.map_err(|error| atoll_runtime::Error::Invalid { what: format!("cannot read {what}: {error}") })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn format_secrets(secrets: &[SecretInfo]) -> String {
    let row = |secret: &SecretInfo| vec![secret.name.clone(), secret.hosts.join(" "), secret.headers.join(" ")];
    table(&["NAME", "HOSTS", "HEADERS"], &secrets.iter().map(row).collect::<Vec<_>>())
}
