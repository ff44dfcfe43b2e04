//! Renders errors of previews: HTML for browsers, an API error for programs.

use axum::response::{IntoResponse, Response};
use hyper::HeaderMap;
use hyper::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};

use crate::Error;

/// Content security policy of the page: allows nothing but its style.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors *";

/// Whether the client accepts HTML, as browsers do.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|kind| {
        let essence = kind.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("text/html")
    })
}

/// Renders an error.
pub(super) fn answer(error: Error, as_page: bool) -> Response {
    let page = as_page.then(|| html(&error));
    let mut response = error.into_response();
    // Errors must not be cached: a server may not be up yet, or a token may be rotated.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(page) = page {
        let headers = response.headers_mut();
        headers.remove(CONTENT_LENGTH);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        *response.body_mut() = page.into();
    }
    response
}

fn html(error: &Error) -> String {
    let body = error.body();
    let code = serde_json::to_value(body.code).ok().and_then(|code| code.as_str().map(str::to_owned));
    let hint = body.hint.map(|hint| format!("<p>{}</p>", escape(&hint))).unwrap_or_default();
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <title>{status}</title><style>body{{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:15vh auto;\
         padding:0 1em;color:#222}}h1{{font-size:1.4em}}small{{color:#777}}@media(prefers-color-scheme:dark)\
         {{body{{background:#181818;color:#ddd}}}}</style><h1>{message}</h1>{hint}<small>{status} {code}</small></html>\n",
        status = body.code.status(),
        message = escape(&body.message),
        code = escape(&code.unwrap_or_default()),
    )
}

fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, letter| {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_html_for_browsers_and_json_for_programs() {
        let accepts = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(text));
            is_wanted(&headers)
        };
        assert!(accepts("text/html,application/xhtml+xml;q=0.9") && !accepts("*/*") && !accepts("application/json"));
        assert!(!is_wanted(&HeaderMap::new()));
        let error = || Error::invalid("<script>alert(1)</script>");
        let page = answer(error(), true);
        assert_eq!(
            (page.status().as_u16(), &page.headers()[CONTENT_TYPE]),
            (400, &"text/html; charset=utf-8".parse().unwrap())
        );
        assert!(!html(&error()).contains("<script>"));
        assert_eq!(answer(error(), false).headers()[CONTENT_TYPE], "application/json");
    }
}
