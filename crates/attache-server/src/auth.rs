//! Who is calling, and from where: the checks that need nothing but the request's head.

pub(crate) mod fuzz;

use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use attache_domain::Fault;

use crate::ServerOptions;

/// Name of the only caller there is while there is one token or none. One name for both, so that tasks
/// stay with their owner when a token is added.
const OPERATOR: &str = "operator";

/// The caller, once admitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) owner: &'static str,
}

impl Caller {
    /// For what is public anyway.
    pub(crate) const NOBODY: Self = Self { owner: "" };
}

pub(crate) struct Gate {
    /// Only a digest: comparing digests takes the same time whatever was sent.
    token: Option<[u8; 32]>,
    hosts: Vec<String>,
    origins: Vec<String>,
    any_host: bool,
}

impl Gate {
    pub(crate) fn new(options: &ServerOptions) -> Self {
        let lower = |names: &[String]| {
            names.iter().map(|name| name.trim_end_matches('/').to_ascii_lowercase()).collect()
        };
        let hosts: Vec<String> = lower(&options.allowed_hosts);
        Self {
            token: options.bearer_token.as_deref().map(digest),
            any_host: hosts.iter().any(|host| host == "*"),
            hosts,
            origins: lower(&options.allowed_origins),
        }
    }

    /// Stops pages of other sites, and names that only pretend to be this machine (DNS rebinding).
    pub(crate) fn check_source(&self, authority: Option<&str>, headers: &HeaderMap) -> Result<(), Fault> {
        let host = headers.get(header::HOST).map(|value| value.to_str().unwrap_or_default());
        let Some(host) = host.or(authority) else {
            return Err(Fault::InvalidRequest { what: "the request has no Host header".into() });
        };
        if !self.host_is_known(host) {
            let what =
                format!("the host {host:?} is not one this server answers to; add it to allowed_hosts");
            return Err(Fault::Forbidden { what });
        }
        let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or_default());
        let configured = origin.is_some_and(|origin| self.origins.contains(&origin.to_ascii_lowercase()));
        if let Some(origin) = origin
            && !configured
            && !origin_is_loopback(origin)
        {
            let what = format!("pages from {origin:?} may not call this server; add it to allowed_origins");
            return Err(Fault::Forbidden { what });
        }
        let cross_site = headers.get("sec-fetch-site").is_some_and(|value| value.as_bytes() == b"cross-site");
        if cross_site && !configured {
            return Err(Fault::Forbidden { what: "pages of other sites may not call this server".into() });
        }
        Ok(())
    }

    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Fault> {
        let Some(expected) = &self.token else { return Ok(Caller { owner: OPERATOR }) };
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = value.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        match token {
            Some(token) if bool::from(digest(token).ct_eq(expected)) => Ok(Caller { owner: OPERATOR }),
            _ => Err(Fault::Unauthenticated),
        }
    }

    fn host_is_known(&self, host: &str) -> bool {
        // The usual case, told without making a copy.
        let usual = host.strip_prefix("127.0.0.1").or_else(|| host.strip_prefix("localhost"));
        if self.any_host || usual.is_some_and(is_port) {
            return true;
        }
        let host = host.to_ascii_lowercase();
        let name = without_port(&host);
        is_loopback(name) || self.hosts.iter().any(|known| *known == host || known == name)
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn origin_is_loopback(origin: &str) -> bool {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|host| is_loopback(without_port(&host.to_ascii_lowercase())))
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.strip_suffix(".localhost").is_some_and(is_plain)
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Empty where what comes after the name is no port, as in `localhost:@evil.example`: that is another name.
fn without_port(host: &str) -> &str {
    let end = host.rfind(']').map_or_else(|| host.find(':').unwrap_or(host.len()), |bracket| bracket + 1);
    let (name, port) = host.split_at(end);
    if is_port(port) { name } else { "" }
}

/// Has only what names have: a slash or the like in it would end the name earlier.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// A port after its colon, or none.
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_are_known_and_look_alikes_are_not() {
        for (host, expected) in [
            ("localhost", true),
            ("localhost:41242", true),
            ("127.0.0.1:8080", true),
            ("127.8.9.1", true),
            ("[::1]:80", true),
            ("agent.localhost:1", true),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("evil.example", false),
            ("10.0.0.1", false),
            ("", false),
            ("localhost:@evil.example", false),
            ("localhost:80@evil.example", false),
            ("evil.example/.localhost", false),
            ("evil.example:80/.localhost", false),
            ("[::1]evil.example", false),
            ("[::1]:80:80", false),
        ] {
            assert_eq!(is_loopback(without_port(host)), expected, "{host}");
        }
    }

    #[test]
    fn what_follows_the_usual_names_is_a_port_or_another_name() {
        let gate =
            Gate { token: None, hosts: vec!["agent.example".into()], origins: Vec::new(), any_host: false };
        for host in ["127.0.0.1", "localhost:41242", "localhost:", "agent.example:443", "[::1]"] {
            assert!(gate.host_is_known(host), "{host}");
        }
        for host in ["localhost:@evil.example", "127.0.0.1:1@evil.example", "agent.example:x@evil.example"] {
            assert!(!gate.host_is_known(host), "{host}");
        }
    }

    #[test]
    fn loopback_origins_need_a_web_scheme() {
        assert!(origin_is_loopback("http://localhost:3000"));
        assert!(!origin_is_loopback("null"));
        assert!(!origin_is_loopback("file://localhost"));
        assert!(!origin_is_loopback("https://evil.example"));
        assert!(!origin_is_loopback("https://localhost:@evil.example"));
    }
}
