//! Files inside by which programs find the name server and trust the sandbox's own authority.
//!
//! Everything inside is the user's to change, so nothing here is relied upon: a program that looks elsewhere is still
//! bound by the rules, and one that does not trust the authority sees a certificate that it refuses. For the same reason the
//! files are read and written by the file worker, with the rights of root inside and no others: whatever root inside puts
//! in their place, it could have written to by itself.

use std::sync::Arc;

use atoll_egress::{NAME_SERVER, machine_bundle};

use crate::Error;
use crate::files::{Files, ReadOptions, Reading, WriteOptions};
use crate::shared::Shared;

/// The authority alone, and with all that the machine trusts.
const AUTHORITY: &str = "/etc/atoll-ca.pem";
const BUNDLE: &str = "/etc/atoll-ca-bundle.pem";

/// The system's own list, for programs that know no variable.
const SYSTEM_BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
const SYSTEM_BUNDLE_MAX: usize = 4 * 1024 * 1024;
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
pub(super) async fn furnish(shared: &Arc<Shared>, authority: &str) -> Result<(), Error> {
    let files = Files::new(shared, None);
    let resolv = format!("# names are resolved by Atoll, as far as the rules allow\nnameserver {NAME_SERVER}\n");
    write(&files, "/etc/resolv.conf", &resolv).await?;
    write(&files, AUTHORITY, authority).await?;
    write(&files, BUNDLE, &format!("{}\n{authority}", machine_bundle())).await?;
    if let Some(text) = system_bundle(&files).await {
        write(&files, SYSTEM_BUNDLE, &format!("{}{BEGIN}{authority}{END}", without_ours(&text))).await?;
    }
    Ok(())
}

/// `None` if there is none, or none that can be read as one.
async fn system_bundle(files: &Files) -> Option<String> {
    let reading = files.read(SYSTEM_BUNDLE.as_bytes(), ReadOptions::default()).await.ok()?;
    let Reading::Open(mut content) = reading else { return None };
    let mut bytes = Vec::new();
    while let Some(piece) = content.next().await.ok()? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > SYSTEM_BUNDLE_MAX {
            return None;
        }
    }
    String::from_utf8(bytes).ok()
}

/// What an earlier life of the sandbox added is not added to.
fn without_ours(text: &str) -> String {
    match (text.find(BEGIN), text.find(END)) {
        (Some(begin), Some(end)) if begin < end => [&text[..begin], &text[end + END.len()..]].concat(),
        _ if text.is_empty() || text.ends_with('\n') => text.to_owned(),
        _ => format!("{text}\n"),
    }
}

async fn write(files: &Files, path: &str, text: &str) -> Result<(), Error> {
    let written = files.write_whole(path.as_bytes(), WriteOptions::default(), text.as_bytes()).await;
    written.map(drop).map_err(|error| Error::EgressUnavailable {
        why: format!("cannot write {path} inside: {error}"),
        hint: Some("remove what is in its place, or start with fresh storage".to_owned()),
    })
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
