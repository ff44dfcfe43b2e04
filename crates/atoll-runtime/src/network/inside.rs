//! Files inside by which programs find the name server and trust the sandbox's own authority.
//!
//! Everything inside is the user's to change, so nothing here is relied upon: a program that looks elsewhere is still
//! bound by the rules, and one that does not trust the authority sees a certificate that it refuses.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;

use atoll_egress::{NAME_SERVER, machine_bundle};
use rustix::fs::OFlags;

use crate::Error;
use crate::link::Link;

/// The authority alone, and with all that the machine trusts.
const AUTHORITY: &str = "/etc/atoll-ca.pem";
const BUNDLE: &str = "/etc/atoll-ca-bundle.pem";

/// The system's own list, for programs that know no variable.
const SYSTEM_BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
const SYSTEM_BUNDLE_MAX: u64 = 4 * 1024 * 1024;
const BEGIN: &str = "# Atoll: the authority of this sandbox\n";
const END: &str = "# Atoll: end\n";

/// By which variables programs are told what to trust.
pub(super) const TRUST: [(&str, &str); 7] = [
    ("SSL_CERT_FILE", BUNDLE),
    ("CURL_CA_BUNDLE", BUNDLE),
    ("REQUESTS_CA_BUNDLE", BUNDLE),
    ("PIP_CERT", BUNDLE),
    ("GIT_SSL_CAINFO", BUNDLE),
    ("CARGO_HTTP_CAINFO", BUNDLE),
    ("NODE_EXTRA_CA_CERTS", AUTHORITY),
];

/// Writes them all.
pub(super) async fn furnish(link: &Link, authority: &str) -> Result<(), Error> {
    let resolv = format!("# names are told by Atoll, as far as the rules allow\nnameserver {NAME_SERVER}\n");
    write(link, "/etc/resolv.conf", &resolv).await?;
    write(link, AUTHORITY, authority).await?;
    write(link, BUNDLE, &format!("{}\n{authority}", machine_bundle())).await?;
    if let Some(text) = system_bundle(link).await? {
        write(link, SYSTEM_BUNDLE, &format!("{}{BEGIN}{authority}{END}", without_ours(&text))).await?;
    }
    Ok(())
}

/// `None` if there is none, or none that can be read as one.
async fn system_bundle(link: &Link) -> Result<Option<String>, Error> {
    let Ok(opened) = link.open(SYSTEM_BUNDLE.as_bytes(), 0).await? else { return Ok(None) };
    Ok(read(opened))
}

fn read(opened: OwnedFd) -> Option<String> {
    let file = File::from(opened);
    // Nothing but a file: whoever is inside may have put something there that makes a reader wait.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let mut text = String::new();
    file.take(SYSTEM_BUNDLE_MAX + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= SYSTEM_BUNDLE_MAX).then_some(text)
}

/// What an earlier life of the sandbox added is not added to.
fn without_ours(text: &str) -> String {
    match (text.find(BEGIN), text.find(END)) {
        (Some(begin), Some(end)) if begin < end => [&text[..begin], &text[end + END.len()..]].concat(),
        _ if text.is_empty() || text.ends_with('\n') => text.to_owned(),
        _ => format!("{text}\n"),
    }
}

async fn write(link: &Link, path: &str, text: &str) -> Result<(), Error> {
    let failed = |error: &std::io::Error| Error::EgressUnavailable {
        why: format!("{path} inside cannot be written: {}", crate::start::plain(error)),
        hint: Some("remove what is in its place, or start with fresh storage".to_owned()),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    let opened =
        link.create(path.as_bytes(), flags.bits().cast_signed(), 0o644).await?.map_err(|error| failed(&error))?;
    let mut file = File::from(opened);
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(failed(&std::io::ErrorKind::InvalidInput.into()));
    }
    file.write_all(text.as_bytes()).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_replaced_and_what_is_theirs_stays() {
        assert_eq!(without_ours("theirs"), "theirs\n");
        let before = format!("theirs\n{BEGIN}old\n{END}added\n");
        assert_eq!(without_ours(&before), "theirs\nadded\n");
    }
}
