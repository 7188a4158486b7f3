//! Origins, and which of them a card and a credential may lead to.

use std::fmt;

use attache_net::Url;

use crate::ClientError;

/// Scheme, host and port of a URL.
#[derive(Debug, Clone)]
pub struct Origin(Url);

impl Origin {
    /// Reads an origin such as `https://agent.example`; a path is ignored.
    pub fn parse(text: &str) -> Result<Self, ClientError> {
        let url = Url::parse(text.trim()).ok().filter(|url| url.has_host());
        url.map(Self).ok_or_else(|| ClientError::Address {
            what: format!("{:?} is no origin such as https://agent.example", excerpt(text)),
        })
    }

    pub(crate) fn of(url: &Url) -> Self {
        Self(url.clone())
    }

    /// The names of this machine count as one host, so a card that says `localhost` may come from `127.0.0.1`.
    pub fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (&self.0, &other.0);
        let same_door =
            one.scheme() == other.scheme() && one.port_or_known_default() == other.port_or_known_default();
        same_door
            && (one.host_str() == other.host_str() || (names_this_machine(one) && names_this_machine(other)))
    }
}

/// Other addresses in 127.0.0.0/8 may be of other servers.
fn names_this_machine(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.origin().ascii_serialization())
    }
}

/// The origins that the caller named: where it sent us, and those it allows besides.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamedOrigins(pub(crate) Vec<Origin>);

impl NamedOrigins {
    pub(crate) fn contains(&self, url: &Url) -> bool {
        let origin = Origin::of(url);
        self.0.iter().any(|named| named.is_same(&origin))
    }
}

/// A text of others in an error.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, same: bool) {
        assert_eq!(Origin::parse(one).unwrap() == Origin::parse(other).unwrap(), same, "{one} {other}");
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        check("https://a.example", "https://A.example:443/x?y", true);
        check("https://a.example", "http://a.example", false);
        check("https://a.example", "https://a.example:8443", false);
        check("https://a.example", "https://b.a.example", false);
        check("http://localhost:9", "http://127.0.0.1:9/", true);
        check("http://[::1]:9", "http://localhost:9", true);
        check("http://localhost:9", "http://127.0.0.1:10", false);
        check("http://localhost:9", "http://127.9.9.9:9", false);
        check("http://localhost.evil.example:9", "http://127.0.0.1:9", false);
        for wrong in ["a.example", "", "mailto:a@b.example", "https://"] {
            Origin::parse(wrong).unwrap_err();
        }
        assert_eq!(Origin::parse("https://a.example:443/x").unwrap().to_string(), "https://a.example");
    }
}
