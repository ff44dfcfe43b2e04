//! Many files in one request: a form, written part by part as it is sent.

use std::sync::atomic::{AtomicU64, Ordering};

use atoll_protocol::{Encoding, UploadReceipt};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::Method;
use http::header::CONTENT_TYPE;

use crate::client::{Client, streamed};
use crate::error::Error;
use crate::file::{at, user};

/// A file to be written below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Its path below the directory; directories are made as needed.
    pub path: Vec<u8>,
    /// Its content.
    pub bytes: Bytes,
}

impl Client {
    /// Writes many small files below a directory with one request. Each is replaced in one step; should one fail, those
    /// before it are written. They are taken as they are sent, so that they need not all be in memory.
    pub async fn upload_files(
        &self,
        directory: impl AsRef<[u8]>,
        files: impl Stream<Item = std::io::Result<NewFile>> + Send + 'static,
        as_user: Option<&String>,
    ) -> Result<UploadReceipt, Error> {
        let query: Vec<_> = user(as_user).into_iter().collect();
        let boundary = boundary();
        let ask = self.request(Method::POST, &at("/files/upload", directory.as_ref()), &query)?;
        let ask = ask.header(CONTENT_TYPE.as_str(), format!("multipart/form-data; boundary={boundary}"));
        ask.send(streamed(form(files, boundary))).await?.json().await
    }
}

/// The form, a piece for the head of each file and one for its bytes.
fn form(
    files: impl Stream<Item = std::io::Result<NewFile>> + Send + 'static,
    boundary: String,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    let last = Bytes::from(format!("--{boundary}--\r\n"));
    let parts = files.flat_map(move |file| {
        stream::iter(match file {
            Ok(NewFile { path, bytes }) => {
                // A name may hold quotes, line ends and bytes that are no text: in base64 it is always the same.
                let name = Encoding::Base64.encode(&path).0;
                let head = format!(
                    "--{boundary}\r\ncontent-disposition: form-data; name=\"file_base64\"; filename=\"{name}\"\r\n\
                     content-type: application/octet-stream\r\n\r\n"
                );
                vec![Ok(Bytes::from(head)), Ok(bytes), Ok(Bytes::from_static(b"\r\n"))]
            }
            Err(error) => vec![Err(error)],
        })
    });
    parts.chain(stream::iter([Ok(last)]))
}

/// What no file holds by chance: a number that nobody knows before.
fn boundary() -> String {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Seeded by the system, anew for each.
    let (one, two) = (RandomState::new().hash_one(count), RandomState::new().hash_one(count));
    format!("atoll-{one:016x}{two:016x}")
}
