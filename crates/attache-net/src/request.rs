//! Requests.

use std::fmt;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use crate::base_url::{is_loopback, sensitive_value};
use crate::{NetError, Secret};

/// One request to one URL.
#[derive(Clone)]
pub struct HttpRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// gRPC needs HTTP/2, which a server without TLS has to be expected to speak.
    pub(crate) expects_http2: bool,
}

impl HttpRequest {
    pub fn get(url: Url) -> Self {
        Self::without_body(Method::GET, url)
    }

    pub fn delete(url: Url) -> Self {
        Self::without_body(Method::DELETE, url)
    }

    /// Puts nothing: what is meant stands in the headers.
    pub fn put(url: Url) -> Self {
        Self::without_body(Method::PUT, url)
    }

    fn without_body(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new(), expects_http2: false }
    }

    /// Posts encoded JSON.
    pub fn post_json(url: Url, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        Self { method: Method::POST, url, headers, body: body.into(), expects_http2: false }
    }

    /// Posts a form.
    pub fn post_form(url: Url, fields: &[(&str, &str)]) -> Self {
        // A form is encoded as the query of a URL is.
        let mut encoded = url.clone();
        encoded.query_pairs_mut().clear().extend_pairs(fields);
        let body = encoded.query().unwrap_or_default().to_owned();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/x-www-form-urlencoded"));
        Self { method: Method::POST, url, headers, body: body.into(), expects_http2: false }
    }

    /// A gRPC call, over HTTP/2 also without TLS. The body is one frame of gRPC.
    pub fn grpc(url: Url, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/grpc"));
        headers.insert("te", HeaderValue::from_static("trailers"));
        Self { method: Method::POST, url, headers, body: body.into(), expects_http2: true }
    }

    /// It speaks HTTP/2 to a server without TLS.
    pub(crate) fn is_plain_http2(&self) -> bool {
        self.expects_http2 && self.url.scheme() == "http"
    }

    /// Sets a public header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, NetError> {
        let refused =
            |_| NetError::Request { what: format!("the header {name} has a value that cannot be sent") };
        let value = HeaderValue::from_str(value).map_err(refused)?;
        self.headers.insert(header_name(name)?, value);
        Ok(self)
    }

    /// Sets a secret header. Refused over plain http, except to this machine.
    pub fn secret_header(mut self, name: &str, prefix: &str, secret: &Secret) -> Result<Self, NetError> {
        self.check_may_hold_secret()?;
        self.headers.insert(header_name(name)?, sensitive_value(secret, prefix)?);
        Ok(self)
    }

    /// Adds a secret to the query, in the place of a parameter of this name. Refused over plain http, except to this
    /// machine.
    pub fn secret_query(mut self, name: &str, secret: &Secret) -> Result<Self, NetError> {
        self.check_may_hold_secret()?;
        let others: Vec<(String, String)> =
            self.url.query_pairs().into_owned().filter(|(key, _)| key != name).collect();
        self.url.query_pairs_mut().clear().extend_pairs(others).append_pair(name, secret.expose());
        Ok(self)
    }

    fn check_may_hold_secret(&self) -> Result<(), NetError> {
        if self.url.scheme() != "https" && !is_loopback(&self.url) {
            return Err(NetError::Address { what: "a credential goes over https only".into() });
        }
        Ok(())
    }

    pub fn url(&self) -> &Url {
        &self.url
    }
}

fn header_name(name: &str) -> Result<HeaderName, NetError> {
    let refused = |_| NetError::Request { what: format!("{name:?} is not a header name") };
    HeaderName::from_bytes(name.as_bytes()).map_err(refused)
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omits query and body, which may hold secrets. Sensitive header values hide themselves.
        let place = format!("{} {}{}", self.method, self.url.origin().ascii_serialization(), self.url.path());
        formatter
            .debug_struct(&place)
            .field("headers", &self.headers)
            .field("bytes", &self.body.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BaseUrl;

    #[test]
    fn a_request_shows_no_secret() {
        let url = BaseUrl::parse("https://example.com").unwrap().join("a", Some("key=s3cret")).unwrap();
        let request =
            HttpRequest::post_json(url, "s3cret").secret_header("x-key", "", &Secret::new("s3cret")).unwrap();
        let shown = format!("{request:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("https://example.com/a"), "{shown}");
    }

    #[test]
    fn a_secret_that_fits_no_header_is_refused_without_being_shown() {
        let url = BaseUrl::parse("https://example.com").unwrap().join("a", None).unwrap();
        let error = HttpRequest::get(url).secret_header("x-key", "", &Secret::new("s3c\nret")).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3c"));
    }

    #[test]
    fn a_secret_does_not_travel_in_the_clear() {
        let url = Url::parse("http://example.com").unwrap();
        assert!(HttpRequest::get(url.clone()).secret_header("x-key", "", &Secret::new("a")).is_err());
        assert!(HttpRequest::get(url).secret_query("key", &Secret::new("a")).is_err());
    }

    #[test]
    fn a_secret_in_a_query_takes_the_place_of_another_and_is_encoded() {
        let url = Url::parse("https://example.com/x?a=1&key=old").unwrap();
        let request = HttpRequest::get(url).secret_query("key", &Secret::new("n&w")).unwrap();
        assert_eq!(request.url.query(), Some("a=1&key=n%26w"));
        assert!(!format!("{request:?}").contains("n%26w"));
    }

    #[test]
    fn a_form_is_encoded() {
        let url = Url::parse("https://example.com/token?a=1").unwrap();
        let request = HttpRequest::post_form(url, &[("grant_type", "x:y"), ("b", "c d")]);
        assert_eq!(&request.body[..], b"grant_type=x%3Ay&b=c+d");
        assert_eq!(request.url.query(), Some("a=1"));
    }
}
