//! The address of a service.

use std::fmt;

use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::{NetError, Secret};

/// The address of a service: https, or http on this machine. Joined paths stay below it, so its credential goes
/// nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    pub fn parse(text: &str) -> Result<Self, NetError> {
        let refuse = |what: &str| Err(NetError::Address { what: what.into() });
        // Does not show the text, which may hold a password.
        let Ok(url) = Url::parse(text.trim()) else {
            return refuse("it is not a URL such as https://example.com");
        };
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("it holds a user name or password; give the credential on its own");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refuse("it has a query or fragment; give scheme, host and path only");
        }
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if is_loopback(&url) => Ok(Self(url)),
            "http" => refuse("http is for this machine only; use https"),
            _ => refuse("it must start with https://, or with http:// for this machine"),
        }
    }

    /// `path` below this address. Dots, `?` and `#` are escaped or refused, so a path cannot lead out of it.
    pub fn join(&self, path: &str, query: Option<&str>) -> Result<Url, NetError> {
        if path.split('/').any(|segment| segment == ".." || segment == ".") {
            return Err(NetError::Address { what: "its path has `.` or `..` in it".into() });
        }
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{}", path.trim_start_matches('/')));
        // Dots and slashes have other forms: `%2e`, a backslash, a tab in between.
        if !url.path().strip_prefix(&base).is_some_and(|below| below.starts_with('/')) {
            return Err(NetError::Address { what: "its path leads out of where it belongs".into() });
        }
        url.set_query(query);
        Ok(url)
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// The host is this machine, by address or as `localhost`.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A header value that logs and HTTP/2 tables treat as secret.
pub(crate) fn sensitive_value(secret: &Secret, prefix: &str) -> Result<HeaderValue, NetError> {
    let mut value = HeaderValue::from_str(&format!("{prefix}{}", secret.expose())).map_err(|_| {
        NetError::Request { what: "the credential has a character that no header can hold".into() }
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        match (BaseUrl::parse(text), expected) {
            (Ok(base), Ok(joined)) => {
                assert_eq!(base.join("/v1/x", Some("a=b")).unwrap().as_str(), joined);
            }
            (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{error}"),
            (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn an_address_is_https_or_on_this_machine() {
        check("https://example.com", Ok("https://example.com/v1/x?a=b"));
        check(" https://example.com/proxy/ ", Ok("https://example.com/proxy/v1/x?a=b"));
        check("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080/v1/x?a=b"));
        check("http://[::1]:8080", Ok("http://[::1]:8080/v1/x?a=b"));
        check("http://localhost:8080/", Ok("http://localhost:8080/v1/x?a=b"));
        check("http://example.com", Err("use https"));
        check("http://localhost.example.com", Err("use https"));
        check("ftp://example.com", Err("https://"));
        check("example.com", Err("not a URL"));
        check("https://a:b@example.com", Err("user name or password"));
        check("https://example.com?key=b", Err("query"));
    }

    #[test]
    fn a_path_does_not_lead_elsewhere() {
        let base = BaseUrl::parse("https://example.com/a").unwrap();
        assert_eq!(base.join("//evil.com/x", None).unwrap().as_str(), "https://example.com/a/evil.com/x");
        assert_eq!(base.join("x?y#z", None).unwrap().as_str(), "https://example.com/a/x%3Fy%23z");
        for out in ["../x", "%2e%2e/x", ".%2E/x", "..\\x", "b/..\\..\\x", ".\t./x", "b/%2e%2e/%2e%2e"] {
            assert!(base.join(out, None).is_err(), "{out}");
        }
    }
}
