//! CORS headers for the pages that the guard admits.

use http::{HeaderValue, header};

use crate::http::Response;

/// The guard has checked `origin`: it is the server's own or a configured one.
pub(crate) fn allow(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, a2a-version, a2a-extensions, x-a2a-extensions, last-event-id",
        ),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "a2a-extensions, x-a2a-extensions, x-request-id, etag"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
