//! The settings of the CLI: the server's address, its token, the directories, and the source of each value.
//!
//! A flag overrides a variable, a variable overrides the file, the file overrides the default.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use atoll_gateway::{ROOT_TOKEN, SOCKET};
use atoll_runtime::Home;
use clap::Args;

use crate::error::CliError;

/// Options for the connection to a server, and for the form of the output.
#[derive(Debug, Args)]
pub(crate) struct ServerArguments {
    /// Use this server: https://HOST[:PORT], http://HOST:PORT or unix:PATH [default: your own server on this machine].
    #[arg(long, value_name = "URL", help_heading = "Server", global = true)]
    pub(crate) server: Option<String>,

    /// Read the token from this file [default: the first token of the server on this machine].
    #[arg(long, value_name = "FILE", help_heading = "Server", global = true)]
    pub(crate) token_file: Option<PathBuf>,

    /// Trust the certificates in this PEM file for https:// [default: the system's].
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub(crate) ca_file: Option<PathBuf>,

    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The source of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Flag(&'static str),
    Variable(&'static str),
    File(PathBuf),
    Default,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) source: Source,
}

impl<T> Setting<T> {
    fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}

/// The address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Unix(PathBuf),
    /// `host:port`.
    Http(String),
    /// `host:port`, over TLS.
    Https(String),
}

/// The default port of `https://`.
const HTTPS_PORT: &str = ":443";

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Http(address) => write!(f, "http://{address}"),
            Self::Https(address) => write!(f, "https://{address}"),
        }
    }
}

impl Address {
    fn parse(text: &str) -> Result<Self, CliError> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        let after = |scheme: &str| text.strip_prefix(scheme).map(|rest| rest.trim_end_matches('/'));
        let is_host = |host: &&str| !host.is_empty() && !host.contains('/');
        if let Some(host) = after("https://").filter(is_host) {
            let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
            return Ok(Self::Https(if has_port { host.to_owned() } else { format!("{host}{HTTPS_PORT}") }));
        }
        match after("http://").filter(is_host).filter(|host| host.contains(':')) {
            Some(address) => Ok(Self::Http(address.to_owned())),
            None => {
                let expected = "expected https://HOST[:PORT], http://HOST:PORT or unix:PATH";
                Err(CliError::invalid(format!("invalid server address `{text}`: {expected}")))
            }
        }
    }

    /// Returns whether the server is on this machine. The first token is never sent to another one.
    pub(crate) fn is_local(&self) -> bool {
        let (Self::Http(address) | Self::Https(address)) = self else { return true };
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

/// All settings.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) server: Setting<Address>,
    pub(crate) token_file: Setting<PathBuf>,
    /// `None`: the system's certificates.
    pub(crate) ca_file: Setting<Option<PathBuf>>,
    pub(crate) state: Setting<PathBuf>,
    pub(crate) cache: Setting<PathBuf>,
    /// The path of the settings file, which may not exist.
    pub(crate) file: PathBuf,
}

impl Settings {
    /// Reads flags, variables and the settings file.
    pub(crate) fn load(arguments: &ServerArguments) -> Result<Self, CliError> {
        let home = Home::discover()?;
        let file = file_path(&home);
        let settings = FileSettings::read(&file)?;
        let default = home.state.join("server");
        let server = match first("--server", arguments.server.clone(), "ATOLL_SERVER", settings.server, &file)? {
            Some(Setting { value, source }) => Setting::new(Address::parse(&value)?, source),
            None => Setting::new(Address::Unix(default.join(SOCKET)), Source::Default),
        };
        let flag = arguments.token_file.clone().map(PathBuf::into_os_string);
        let token = first_os("--token-file", flag, "ATOLL_TOKEN_FILE", settings.token_file.map(Into::into), &file);
        let token_file = match token {
            Some(Setting { value, source }) => Setting::new(value.into(), source),
            None => Setting::new(default.join(ROOT_TOKEN), Source::Default),
        };
        let flag = arguments.ca_file.clone().map(PathBuf::into_os_string);
        let ca = first_os("--ca-file", flag, "ATOLL_CA_FILE", settings.ca_file.map(Into::into), &file);
        let ca_file = match ca {
            Some(Setting { value, source }) => Setting::new(Some(value.into()), source),
            None => Setting::new(None, Source::Default),
        };
        let state = Setting::new(home.state, directory_source("XDG_STATE_HOME"));
        let cache = Setting::new(home.cache, directory_source("XDG_CACHE_HOME"));
        Ok(Self { server, token_file, ca_file, state, cache, file })
    }
}

fn first(
    flag: &'static str,
    given: Option<String>,
    variable: &'static str,
    in_file: Option<String>,
    file: &Path,
) -> Result<Option<Setting<String>>, CliError> {
    let found = first_os(flag, given.map(Into::into), variable, in_file.map(Into::into), file);
    let Some(Setting { value, source }) = found else { return Ok(None) };
    let value = value.into_string().map_err(|value| {
        CliError::invalid(format!("{source}: `{}` is not valid UTF-8", value.to_string_lossy().escape_debug()))
    })?;
    Ok(Some(Setting { value, source }))
}

fn first_os(
    flag: &'static str,
    given: Option<OsString>,
    variable: &'static str,
    in_file: Option<OsString>,
    file: &Path,
) -> Option<Setting<OsString>> {
    let from_flag = given.map(|value| Setting::new(value, Source::Flag(flag)));
    let set = std::env::var_os(variable).filter(|value| !value.is_empty());
    let from_variable = set.map(|value| Setting::new(value, Source::Variable(variable)));
    let from_file = in_file.map(|value| Setting::new(value, Source::File(file.to_owned())));
    from_flag.or(from_variable).or(from_file)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

fn directory_source(xdg: &'static str) -> Source {
    if is_set("ATOLL_HOME") {
        return Source::Variable("ATOLL_HOME");
    }
    let given = std::env::var_os(xdg).map(PathBuf::from).filter(|path| path.is_absolute());
    let by_user = !rustix::process::getuid().is_root() && given.is_some();
    if by_user { Source::Variable(xdg) } else { Source::Default }
}

/// Returns the path of the settings file: in `ATOLL_HOME` if set, otherwise the system's or the user's.
fn file_path(home: &Home) -> PathBuf {
    if is_set("ATOLL_HOME") {
        return home.state.with_file_name("config");
    }
    if rustix::process::getuid().is_root() {
        return "/etc/atoll/config".into();
    }
    let given = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let below_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    given.or_else(below_home).unwrap_or_default().join("atoll/config")
}

/// The settings file: lines of `name = value`, and comments.
#[derive(Debug, Default, PartialEq, Eq)]
struct FileSettings {
    server: Option<String>,
    token_file: Option<String>,
    ca_file: Option<String>,
}

impl FileSettings {
    fn read(path: &Path) -> Result<Self, CliError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|what| CliError::invalid(format!("{}: {what}", path.display()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(CliError::invalid(format!("cannot read {}: {error}", path.display()))),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (name, value) =
                line.split_once('=').ok_or_else(|| format!("invalid line `{line}`: expected name = value"))?;
            let value = Some(value.trim().trim_matches('"').to_owned());
            match name.trim() {
                "server" => settings.server = value,
                "token_file" => settings.token_file = value,
                "ca_file" => settings.ca_file = value,
                other => return Err(format!("unknown setting `{other}` (expected server, token_file or ca_file)")),
            }
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_parse() {
        let shown = |text: &str| Address::parse(text).map(|address| address.to_string()).ok();
        assert_eq!(shown("http://box:7070/").as_deref(), Some("http://box:7070"));
        assert_eq!(shown("unix:/run/a.sock").as_deref(), Some("unix:/run/a.sock"));
        assert_eq!(shown("https://box:7070").as_deref(), Some("https://box:7070"));
        assert_eq!(shown("https://box.example.org/").as_deref(), Some("https://box.example.org:443"));
        assert_eq!(shown("https://[::1]").as_deref(), Some("https://[::1]:443"));
        for text in ["", "box:7070", "https://", "https://a/b", "http://box", "http://box:1/v1", "unix:"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn address_is_local() {
        let local = |text: &str| Address::parse(text).is_ok_and(|address| address.is_local());
        assert!(
            local("unix:/x") && local("http://127.0.0.1:1") && local("http://[::1]:1") && local("http://localhost:1")
        );
        assert!(!local("http://10.0.0.1:1") && !local("http://localhost.example.org:1"));
    }

    #[test]
    fn file_parse() {
        let settings = FileSettings::parse("# mine\n\nserver = http://box:1\ntoken_file = \"/a b\"\n");
        assert_eq!(
            settings,
            Ok(FileSettings {
                server: Some("http://box:1".to_owned()),
                token_file: Some("/a b".to_owned()),
                ca_file: None
            })
        );
        assert!(FileSettings::parse("port = 1").is_err() && FileSettings::parse("server").is_err());
    }

    #[test]
    fn flag_overrides_file() {
        let file = Path::new("/f");
        let both = first_os("--x", Some("a".into()), "ATOLL_SURELY_UNSET", Some("b".into()), file);
        assert_eq!(both, Some(Setting::new("a".into(), Source::Flag("--x"))));
        let one = first_os("--x", None, "ATOLL_SURELY_UNSET", Some("b".into()), file);
        assert_eq!(one, Some(Setting::new("b".into(), Source::File(file.to_owned()))));
        assert_eq!(first_os("--x", None, "ATOLL_SURELY_UNSET", None, file), None);
    }
}
