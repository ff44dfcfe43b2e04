//! Signals by name or number.

use serde::{Deserialize, Serialize};

/// A signal, 1 to 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String, example = "SIGTERM"))]
#[serde(try_from = "String", into = "String")]
pub struct Signal(i32);

/// Text that is neither a known signal name nor a number from 1 to 64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSignal(String);

impl std::fmt::Display for UnknownSignal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not a signal: give a name (TERM, SIGINT) or a number from 1 to 64", self.0.escape_debug())
    }
}

impl std::error::Error for UnknownSignal {}

/// Names of the Linux signals, the same on x86-64 and arm64. Signal N is at index N-1.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
    "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO",
    "PWR", "SYS",
];

impl Signal {
    /// Hangup: the terminal was closed.
    pub const HUP: Self = Self(1);
    /// Interrupt, as sent by Ctrl-C.
    pub const INT: Self = Self(2);
    /// Kill, which cannot be caught.
    pub const KILL: Self = Self(9);
    /// Terminate: a request to exit.
    pub const TERM: Self = Self(15);
    /// Continue after a stop.
    pub const CONT: Self = Self(18);
    /// Stop, which cannot be caught.
    pub const STOP: Self = Self(19);

    /// Returns the signal with this number.
    pub fn from_number(number: i32) -> Option<Self> {
        (1..=64).contains(&number).then_some(Self(number))
    }

    /// Returns the number.
    pub fn number(self) -> i32 {
        self.0
    }
}

impl std::str::FromStr for Signal {
    type Err = UnknownSignal;

    fn from_str(text: &str) -> Result<Self, UnknownSignal> {
        let unknown = || UnknownSignal(text.to_owned());
        if let Ok(number) = text.parse() {
            return Self::from_number(number).ok_or_else(unknown);
        }
        let upper = text.to_ascii_uppercase();
        let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
        if let Some(offset) = bare.strip_prefix("RTMIN+").and_then(|offset| offset.parse::<i32>().ok()) {
            return offset.checked_add(34).and_then(Self::from_number).filter(|_| offset >= 0).ok_or_else(unknown);
        }
        let position = NAMES.iter().position(|name| *name == bare).ok_or_else(unknown)?;
        i32::try_from(position + 1).ok().and_then(Self::from_number).ok_or_else(unknown)
    }
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match usize::try_from(self.0 - 1).ok().and_then(|index| NAMES.get(index)) {
            Some(name) => write!(f, "SIG{name}"),
            None if self.0 >= 34 => write!(f, "SIGRTMIN+{}", self.0 - 34),
            None => write!(f, "{}", self.0),
        }
    }
}

impl TryFrom<String> for Signal {
    type Error = UnknownSignal;
    fn try_from(text: String) -> Result<Self, UnknownSignal> {
        text.parse()
    }
}

impl From<Signal> for String {
    fn from(signal: Signal) -> Self {
        signal.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_name_round_trips_for_every_number() {
        for number in 1..=64 {
            let signal = Signal::from_number(number).unwrap();
            assert_eq!(signal.to_string().parse(), Ok(signal));
        }
    }

    #[test]
    fn signal_names_are_parsed_in_the_usual_spellings() {
        for text in ["TERM", "SIGTERM", "sigterm", "15"] {
            assert_eq!(text.parse(), Ok(Signal::TERM));
        }
        for text in ["", "0", "65", "-9", "SIG", "TERMX", "RTMIN+-1", "RTMIN+31"] {
            assert!(text.parse::<Signal>().is_err(), "{text}");
        }
    }
}
