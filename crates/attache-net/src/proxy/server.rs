//! One proxy.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::NetError;

/// Where a proxy is and what it takes. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyServer {
    url: Url,
    /// The setting or variable that names it.
    source: String,
}

const SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

impl ProxyServer {
    /// Reads an address such as `http://user:password@proxy.example:8080`. Without a scheme it is http; an empty text names
    /// no proxy.
    pub(crate) fn parse(text: &str, source: &str) -> Result<Option<Self>, NetError> {
        let wrong = |what: String| NetError::Proxy { what: format!("{source} {what}") };
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        // The text is not shown: it may hold a password.
        let url = Url::parse(&text).ok().filter(|url| url.host_str().is_some_and(|host| !host.is_empty()));
        let Some(url) = url else {
            return Err(wrong("holds no address such as http://proxy.example:8080".to_owned()));
        };
        if !SCHEMES.contains(&url.scheme()) {
            let what = format!("must begin with http:, https: or socks5:, not with {}:", url.scheme());
            return Err(wrong(what));
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(
                "must be scheme, host and port only, such as http://proxy.example:8080".into(),
            ));
        }
        Ok(Some(Self { url, source: source.to_owned() }))
    }

    pub(crate) fn to_reqwest(&self) -> Result<reqwest::Proxy, NetError> {
        reqwest::Proxy::all(self.url.as_str()).map_err(NetError::of)
    }

    /// It forwards HTTP, rather than whole connections.
    pub(crate) fn speaks_http(&self) -> bool {
        matches!(self.url.scheme(), "http" | "https")
    }

    /// The connection to it is encrypted.
    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(1080)
    }

    /// The header that proves to it who asks.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        if self.url.username().is_empty() && self.url.password().is_none() {
            return None;
        }
        let mut pair = percent_decode_str(self.url.username()).collect::<Vec<u8>>();
        pair.push(b':');
        pair.extend(percent_decode_str(self.url.password().unwrap_or_default()));
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Display for ProxyServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}://{}:{} ({})", self.url.scheme(), self.host(), self.port(), self.source)
    }
}

impl fmt::Debug for ProxyServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_sent_as_it_was_before_it_was_escaped() {
        let server = ProxyServer::parse("http://me:p%40ss%3A@p:1", "x").unwrap().unwrap();
        let value = server.authorization().unwrap();
        assert_eq!(value.to_str().unwrap(), format!("Basic {}", STANDARD.encode("me:p@ss:")));
        assert!(value.is_sensitive());
        assert_eq!(ProxyServer::parse("p:1", "x").unwrap().unwrap().authorization(), None);
    }
}
