//! Names that belong together: what the usual tools of each registry ask for, and no more.

use atoll_protocol::RuleSet;

/// The names of a set.
pub(super) fn names(set: RuleSet) -> &'static [&'static str] {
    match set {
        RuleSet::Pypi => &["pypi.org", "files.pythonhosted.org"],
        RuleSet::Npm => &["registry.npmjs.org"],
        RuleSet::Crates => &["index.crates.io", "static.crates.io", "crates.io", "static.rust-lang.org"],
        RuleSet::Debian => &["deb.debian.org", "security.debian.org", "cdn-fastly.deb.debian.org"],
        RuleSet::Github => &[
            "github.com",
            "api.github.com",
            "codeload.github.com",
            "raw.githubusercontent.com",
            "objects.githubusercontent.com",
            "release-assets.githubusercontent.com",
            "github-releases.githubusercontent.com",
        ],
    }
}

/// Only Debian's packages still come in the clear: they are signed.
pub(super) fn ports(set: RuleSet) -> Vec<String> {
    match set {
        RuleSet::Debian => vec!["80".to_owned(), "443".to_owned()],
        RuleSet::Pypi | RuleSet::Npm | RuleSet::Crates | RuleSet::Github => vec!["443".to_owned()],
    }
}
