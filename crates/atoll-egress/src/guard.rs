//! Requests to hosts that have secrets, and their answers: an answer must be whole and in the clear, so that a value in it
//! is found.
//!
//! A request could make the host cut its answer into parts or encode it, and none of these parts would contain the value
//! as such. So the headers that request that are removed, and an answer that does it all the same is refused.

use atoll_protocol::DenialReason;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING,
};
use http::{Response, StatusCode};
use hyper::ext::ReasonPhrase;

/// Headers by which a request asks for a part of an answer, an encoding of it, or a digest (short digests of chosen texts
/// tell a short value).
const REMOVED: [&str; 14] = [
    "range",
    "if-range",
    "request-range",
    "x-ms-range",
    "te",
    "a-im",
    "accept-charset",
    "available-dictionary",
    "dictionary-id",
    "want-digest",
    "want-content-digest",
    "want-repr-digest",
    "sec-websocket-extensions",
    "http2-settings",
];

/// Headers of an answer that no longer hold for it, or would hold for the value: digests, and the offer to send parts.
const DROPPED: [&str; 5] = ["accept-ranges", "digest", "content-digest", "repr-digest", "content-md5"];

/// Leaves in a request nothing that asks for an answer that cannot be searched.
pub(crate) fn request(headers: &mut HeaderMap) {
    for name in REMOVED {
        headers.remove(name);
    }
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}

/// Refuses an answer that cannot be searched, and removes from its head what is not searched.
pub(crate) fn answer<B>(response: &mut Response<B>) -> Result<(), DenialReason> {
    let headers = response.headers();
    let is_partial = matches!(response.status(), StatusCode::PARTIAL_CONTENT | StatusCode::IM_USED)
        || headers.contains_key(CONTENT_RANGE)
        || headers.get_all(CONTENT_TYPE).iter().any(is_multipart_range);
    let is_encoded = !all(headers, &CONTENT_ENCODING, "identity")
        || !all(headers, &TRANSFER_ENCODING, "chunked")
        || headers.get_all(TRANSFER_ENCODING).iter().count() > 1
        || headers.contains_key("sec-websocket-extensions");
    if is_partial || is_encoded {
        return Err(DenialReason::Malformed);
    }
    for name in DROPPED {
        response.headers_mut().remove(name);
    }
    // hyper writes the usual one in its place.
    response.extensions_mut().remove::<ReasonPhrase>();
    Ok(())
}

/// Whether each of these headers has this one value.
fn all(headers: &HeaderMap, name: &http::HeaderName, value: &str) -> bool {
    headers.get_all(name).iter().all(|given| given.as_bytes().trim_ascii().eq_ignore_ascii_case(value.as_bytes()))
}

fn is_multipart_range(value: &HeaderValue) -> bool {
    const KIND: &[u8] = b"multipart/byteranges";
    value.as_bytes().trim_ascii_start().get(..KIND.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(KIND))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, headers: &[(&'static str, &'static str)]) -> Result<Response<()>, DenialReason> {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        let mut response = response.body(()).unwrap();
        answer(&mut response).map(|()| response)
    }

    #[test]
    fn only_whole_answers_in_the_clear_pass() {
        for (status, headers) in [
            (206, &[][..]),
            (226, &[]),
            (200, &[("content-range", "bytes 0-1/2")]),
            (416, &[("content-range", "bytes */2")]),
            (200, &[("content-type", "Multipart/ByteRanges; boundary=x")]),
            (200, &[("content-encoding", "gzip")]),
            (200, &[("content-encoding", "identity"), ("content-encoding", "br")]),
            (200, &[("content-encoding", "identity, gzip")]),
            (200, &[("transfer-encoding", "gzip, chunked")]),
            (200, &[("transfer-encoding", "gzip")]),
            (200, &[("transfer-encoding", "chunked"), ("transfer-encoding", "chunked")]),
            (101, &[("sec-websocket-extensions", "permessage-deflate")]),
        ] {
            assert_eq!(answered(status, headers).err(), Some(DenialReason::Malformed), "{status} {headers:?}");
        }
        for headers in [&[][..], &[("content-encoding", "Identity")], &[("transfer-encoding", " Chunked ")]] {
            assert!(answered(200, headers).is_ok(), "{headers:?}");
        }
        assert!(answered(200, &[("content-md5", "x"), ("repr-digest", "x")]).unwrap().headers().is_empty());
    }

    #[test]
    fn a_request_asks_for_nothing_else() {
        let mut headers = HeaderMap::new();
        for name in REMOVED {
            headers.insert(name, HeaderValue::from_static("x"));
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert("x-own", HeaderValue::from_static("stays"));
        request(&mut headers);
        assert_eq!(headers.len(), 2);
        assert_eq!(
            (&headers[ACCEPT_ENCODING], &headers["x-own"]),
            (&"identity".parse().unwrap(), &"stays".parse().unwrap())
        );
    }
}
