//! What this program goes by: the server's address, its token, the directories; and where each of them was said.
//!
//! A flag wins over a variable, a variable over the file, the file over the default. Reads, and decides nothing else.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use atoll_gateway::{ROOT_TOKEN, SOCKET};
use atoll_runtime::Home;
use clap::Args;

use crate::failure::Failure;

/// The server that is asked, and how the answer is told.
#[derive(Debug, Args)]
pub(crate) struct ServerArguments {
    /// The server: https://HOST:PORT, http://HOST:PORT or unix:PATH [default: this user's on this machine].
    #[arg(long, value_name = "URL", help_heading = "Server", global = true)]
    pub(crate) server: Option<String>,

    /// A file with the token for it [default: the first token of this machine's server].
    #[arg(long, value_name = "FILE", help_heading = "Server", global = true)]
    pub(crate) token_file: Option<PathBuf>,

    /// A file with the certificates to trust, for https:// [default: those that the system trusts].
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub(crate) ca_file: Option<PathBuf>,

    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Where a value was said.
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

/// A value and where it was said.
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

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    Unix(PathBuf),
    /// `host:port`.
    Http(String),
    /// The same, encrypted.
    Https(String),
}

/// The port of a server that names none.
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
    fn parse(text: &str) -> Result<Self, Failure> {
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
                let rule = "give https://HOST:PORT, http://HOST:PORT or unix:PATH";
                Err(Failure::invalid(format!("`{text}` is no server: {rule}")))
            }
        }
    }

    /// Whether what is sent stays on this machine: the first token is for no other.
    pub(crate) fn is_local(&self) -> bool {
        let (Self::Http(address) | Self::Https(address)) = self else { return true };
        let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
        let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

/// Everything.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) server: Setting<Address>,
    pub(crate) token_file: Setting<PathBuf>,
    /// `None`: whom the system trusts.
    pub(crate) ca_file: Setting<Option<PathBuf>>,
    pub(crate) state: Setting<PathBuf>,
    pub(crate) cache: Setting<PathBuf>,
    /// Where the file is, or would be.
    pub(crate) file: PathBuf,
}

impl Settings {
    /// Looks everywhere.
    pub(crate) fn find(arguments: &ServerArguments) -> Result<Self, Failure> {
        let home = Home::discover()?;
        let file = file_path(&home);
        let written = Written::read(&file)?;
        let default = home.state.join("server");
        let server = match first("--server", arguments.server.clone(), "ATOLL_SERVER", written.server, &file)? {
            Some(Setting { value, source }) => Setting::new(Address::parse(&value)?, source),
            None => Setting::new(Address::Unix(default.join(SOCKET)), Source::Default),
        };
        let flag = arguments.token_file.clone().map(PathBuf::into_os_string);
        let token = first_os("--token-file", flag, "ATOLL_TOKEN_FILE", written.token_file.map(Into::into), &file);
        let token_file = match token {
            Some(Setting { value, source }) => Setting::new(value.into(), source),
            None => Setting::new(default.join(ROOT_TOKEN), Source::Default),
        };
        let flag = arguments.ca_file.clone().map(PathBuf::into_os_string);
        let ca = first_os("--ca-file", flag, "ATOLL_CA_FILE", written.ca_file.map(Into::into), &file);
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
    written: Option<String>,
    file: &Path,
) -> Result<Option<Setting<String>>, Failure> {
    let found = first_os(flag, given.map(Into::into), variable, written.map(Into::into), file);
    let Some(Setting { value, source }) = found else { return Ok(None) };
    let value = value.into_string().map_err(|value| {
        Failure::invalid(format!("{source}: `{}` is no UTF-8", value.to_string_lossy().escape_debug()))
    })?;
    Ok(Some(Setting { value, source }))
}

fn first_os(
    flag: &'static str,
    given: Option<OsString>,
    variable: &'static str,
    written: Option<OsString>,
    file: &Path,
) -> Option<Setting<OsString>> {
    let from_flag = given.map(|value| Setting::new(value, Source::Flag(flag)));
    let set = std::env::var_os(variable).filter(|value| !value.is_empty());
    let from_variable = set.map(|value| Setting::new(value, Source::Variable(variable)));
    let from_file = written.map(|value| Setting::new(value, Source::File(file.to_owned())));
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

/// Beside everything else if that is in one place, else where the system's or the user's settings are.
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

/// What the file says: lines of `name = value`, and comments.
#[derive(Debug, Default, PartialEq, Eq)]
struct Written {
    server: Option<String>,
    token_file: Option<String>,
    ca_file: Option<String>,
}

impl Written {
    fn read(path: &Path) -> Result<Self, Failure> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|what| Failure::invalid(format!("{}: {what}", path.display()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::invalid(format!("cannot read {}: {error}", path.display()))),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut written = Self::default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let (name, value) = line.split_once('=').ok_or_else(|| format!("`{line}` is no name = value"))?;
            let value = Some(value.trim().trim_matches('"').to_owned());
            match name.trim() {
                "server" => written.server = value,
                "token_file" => written.token_file = value,
                "ca_file" => written.ca_file = value,
                other => return Err(format!("`{other}` is none of server, token_file, ca_file")),
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_the_rest_is_refused() {
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
    fn only_this_machine_is_local() {
        let local = |text: &str| Address::parse(text).is_ok_and(|address| address.is_local());
        assert!(
            local("unix:/x") && local("http://127.0.0.1:1") && local("http://[::1]:1") && local("http://localhost:1")
        );
        assert!(!local("http://10.0.0.1:1") && !local("http://localhost.example.org:1"));
    }

    #[test]
    fn a_file_is_lines_of_names_and_values() {
        let written = Written::parse("# mine\n\nserver = http://box:1\ntoken_file = \"/a b\"\n");
        assert_eq!(
            written,
            Ok(Written { server: Some("http://box:1".to_owned()), token_file: Some("/a b".to_owned()), ca_file: None })
        );
        assert!(Written::parse("port = 1").is_err() && Written::parse("server").is_err());
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let file = Path::new("/f");
        let both = first_os("--x", Some("a".into()), "ATOLL_SURELY_UNSET", Some("b".into()), file);
        assert_eq!(both, Some(Setting::new("a".into(), Source::Flag("--x"))));
        let one = first_os("--x", None, "ATOLL_SURELY_UNSET", Some("b".into()), file);
        assert_eq!(one, Some(Setting::new("b".into(), Source::File(file.to_owned()))));
        assert_eq!(first_os("--x", None, "ATOLL_SURELY_UNSET", None, file), None);
    }
}
