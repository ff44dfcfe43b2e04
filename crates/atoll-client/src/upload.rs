//! Uploading many files in one request: a multipart form, written part by part while it is sent.

use std::sync::atomic::{AtomicU64, Ordering};

use atoll_protocol::{Encoding, UploadReceipt};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::Method;
use http::header::CONTENT_TYPE;

use crate::client::{Client, streamed};
use crate::error::Error;
use crate::file::{at, user};

/// A file to write below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Path relative to the directory; missing directories are created.
    pub path: Vec<u8>,
    /// Content of the file.
    pub bytes: Bytes,
}

impl Client {
    /// Writes many small files below a directory with one request. Each file is replaced atomically; if one fails,
    /// those before it are already written. The iterator is consumed while the request is sent, so the files need not
    /// all be in memory.
    pub async fn upload_files(
        &self,
        directory: impl AsRef<[u8]>,
        files: impl Stream<Item = std::io::Result<NewFile>> + Send + 'static,
        as_user: Option<&String>,
    ) -> Result<UploadReceipt, Error> {
        let query: Vec<_> = user(as_user).into_iter().collect();
        let boundary = boundary();
        let builder = self.request(Method::POST, &at("/files/upload", directory.as_ref()), &query)?;
        let builder = builder.header(CONTENT_TYPE.as_str(), format!("multipart/form-data; boundary={boundary}"));
        builder.send(streamed(form(files, boundary))).await?.json().await
    }
}

/// The multipart form: one chunk for the header of each file and one for its bytes.
fn form(
    files: impl Stream<Item = std::io::Result<NewFile>> + Send + 'static,
    boundary: String,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + 'static {
    let last = Bytes::from(format!("--{boundary}--\r\n"));
    let parts = files.flat_map(move |file| {
        stream::iter(match file {
            Ok(NewFile { path, bytes }) => {
                // A name may contain quotes, line ends and bytes that are not text; base64 avoids escaping.
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

/// Returns a random boundary, which no file contains by chance.
fn boundary() -> String {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Seeded by the system for each value.
    let (one, two) = (RandomState::new().hash_one(count), RandomState::new().hash_one(count));
    format!("atoll-{one:016x}{two:016x}")
}
