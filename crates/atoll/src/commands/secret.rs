//! `atoll secret`: secrets that commands of a sandbox may use and not see.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use atoll_protocol::{PutSecret, SandboxName, SecretInfo};
use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::settings::ServerArguments;
use crate::table::table;
use crate::{exit, printer};

/// Give a sandbox secrets that its commands may use and not see.
///
/// Commands find a stand-in in the variable of the secret's name. In requests by HTTPS to the named hosts it is replaced by
/// the real value, in the named headers only; nothing else ever gets it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  printf %s \"$TOKEN\" | atoll secret box put API_TOKEN --host api.example.com
  atoll secret box put API_KEY --host api.example.com --header x-api-key --from-file key.txt
  atoll secret box list
  atoll secret box rm API_KEY")]
pub(crate) struct Arguments {
    /// The sandbox.
    #[arg(value_parser = |text: &str| SandboxName::new(text))]
    name: SandboxName,

    #[command(subcommand)]
    action: Action,

    #[command(flatten)]
    server: ServerArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set a secret. Its value is read from standard input, or from a file: never from the command line, which others can see.
    Put {
        /// Its name, and that of the variable with its stand-in.
        secret: String,

        /// A server that gets it: NAME, or NAME:PORT for another port than 443; more than once if need be.
        #[arg(long = "host", value_name = "HOST", required = true)]
        hosts: Vec<String>,

        /// A header of requests in which it is put; more than once if need be.
        #[arg(long = "header", value_name = "HEADER", default_value = "authorization")]
        headers: Vec<String>,

        /// Read its value from this file.
        #[arg(long, value_name = "FILE")]
        from_file: Option<PathBuf>,
    },
    /// List secrets, without their values.
    List,
    /// Take a secret away.
    Rm {
        /// Its name.
        secret: String,
    },
}

/// Runs the subcommand.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let as_json = arguments.server.json;
    exit::after(act(arguments), as_json)
}

async fn act(arguments: Arguments) -> Result<u8, Failure> {
    let client = arguments.server.inside(&arguments.name)?;
    let as_json = arguments.server.json;
    match arguments.action {
        Action::Put { secret, hosts, headers, from_file } => {
            let asked = PutSecret { value: value(from_file)?, hosts, headers };
            let info = client.put_secret(&secret, &asked).await?;
            if as_json {
                printer::json(&info)?;
            } else {
                printer::out(format!("{}\n", info.name).as_bytes())?;
            }
        }
        Action::List => {
            let secrets = client.secrets().await?;
            if as_json { printer::json(&secrets)? } else { printer::out(shown(&secrets).as_bytes())? }
        }
        Action::Rm { secret } => client.remove_secret(&secret).await?,
    }
    Ok(0)
}

/// Without the line end that editors and `echo` add.
fn value(from: Option<PathBuf>) -> Result<String, Failure> {
    let mut text = String::new();
    let (read, what) = match &from {
        Some(path) => {
            (std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)), path.display().to_string())
        }
        None => (std::io::stdin().lock().read_to_string(&mut text), "standard input".to_owned()),
    };
    read.map_err(|error| atoll_runtime::Error::Invalid { what: format!("{what} cannot be read: {error}") })?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

fn shown(secrets: &[SecretInfo]) -> String {
    let row = |secret: &SecretInfo| vec![secret.name.clone(), secret.hosts.join(" "), secret.headers.join(" ")];
    table(&["NAME", "HOSTS", "HEADERS"], &secrets.iter().map(row).collect::<Vec<_>>())
}
