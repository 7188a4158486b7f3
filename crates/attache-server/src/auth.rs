//! Authentication and the checks of `Host` and `Origin`; they need only the request's head.

mod caller;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod tokens;

use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Version, header};

use attache_domain::{Fault, SendOptions};

pub(crate) use self::caller::Caller;
pub(crate) use self::tokens::LIVE_PROTOCOL;
use self::tokens::Tokens;
use crate::ServerOptions;
use crate::peer::Peer;

/// Of the name under which other clients see a caller.
const MAX_NAME_CHARS: usize = 80;

pub(crate) struct RequestGuard {
    tokens: Tokens,
    /// The user whose processes need no token; none while there are tokens.
    local_user: Option<u32>,
    hosts: Vec<String>,
    origins: Vec<String>,
    any_host: bool,
}

impl RequestGuard {
    pub(crate) fn new(options: &ServerOptions) -> Self {
        let lower = |names: &[String]| {
            names.iter().map(|name| name.trim_end_matches('/').to_ascii_lowercase()).collect()
        };
        let hosts: Vec<String> = lower(&options.allowed_hosts);
        let tokens = Tokens::of(options);
        Self {
            local_user: options.local_user.filter(|_| tokens.is_empty()),
            tokens,
            any_host: hosts.iter().any(|host| host == "*"),
            hosts,
            origins: lower(&options.allowed_origins),
        }
    }

    /// The user whose processes are served without a token. While there is one, each connection's user is looked up.
    pub(crate) fn local_user(&self) -> Option<u32> {
        self.local_user
    }

    /// Refuses pages of other sites, and host names that resolve to this machine only by DNS rebinding.
    pub(crate) fn check_source(&self, head: &Parts) -> Result<(), Fault> {
        let host = host_of(head)?;
        if !self.host_is_known(host) {
            let what =
                format!("the host {host:?} is not one this server answers to; add it to allowed_hosts");
            return Err(Fault::Forbidden { what });
        }
        self.check_page(host, &head.headers)
    }

    /// A page may call the host that served it, or when its origin is configured.
    fn check_page(&self, host: &str, headers: &HeaderMap) -> Result<(), Fault> {
        let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or_default());
        let configured = origin.is_some_and(|origin| self.origins.contains(&origin.to_ascii_lowercase()));
        if let Some(origin) = origin
            && !configured
            && !(is_same_origin(origin, host) && self.is_named(host))
        {
            let what = format!("pages from {origin:?} may not call this server; add it to allowed_origins");
            return Err(Fault::Forbidden { what });
        }
        // A simple request of a page has no `Origin`. Other ports of this machine count as the same site.
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if matches!(site, Some(b"cross-site" | b"same-site")) && !configured {
            return Err(Fault::Forbidden { what: "pages of other sites may not call this server".into() });
        }
        Ok(())
    }

    /// With a token configured, only tokens count; without one, the user of the calling process.
    pub(crate) fn authenticate(&self, peer: Peer, head: &Parts) -> Result<Caller, Fault> {
        if self.tokens.is_empty() {
            return if peer.is_local_user { Ok(Caller::OPERATOR) } else { Err(Fault::TokenNeeded) };
        }
        let token = tokens::presented(head);
        token.and_then(|token| self.tokens.find(&token)).ok_or(Fault::Unauthenticated)
    }

    /// Adds to a message what its sender may do, and the name of a client that has a token of its own.
    pub(crate) fn sign(&self, caller: Caller, options: &mut SendOptions) {
        options.rights = caller.rights();
        if let Some(name) = self.tokens.name(caller) {
            options.client = Some(name.to_owned());
        }
    }

    /// The caller as other clients see it: the name of its token, else what it calls itself.
    pub(crate) fn shown_name(&self, caller: Caller, headers: &HeaderMap) -> String {
        let agent = || headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let name = self.tokens.name(caller).or_else(agent).unwrap_or("a client");
        name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME_CHARS).collect()
    }

    fn host_is_known(&self, host: &str) -> bool {
        self.any_host || self.is_named(host)
    }

    /// Whether the host is a loopback or configured name. With `*` any site can point a name of its own at the server, so
    /// such a name is not the server's.
    fn is_named(&self, host: &str) -> bool {
        // The usual case, without a copy.
        let usual = host.strip_prefix("127.0.0.1").or_else(|| host.strip_prefix("localhost"));
        if usual.is_some_and(is_port) {
            return true;
        }
        let host = host.to_ascii_lowercase();
        let name = without_port(&host);
        is_loopback(name) || self.hosts.iter().any(|known| *known == host || known == name)
    }
}

/// The host that the request names. A request that names two is refused: a proxy before this server may have checked the
/// other.
fn host_of(head: &Parts) -> Result<&str, Fault> {
    let refused = |what: &str| Fault::BadHead { what: what.into() };
    let mut named = head.headers.get_all(header::HOST).iter();
    let host = named.next().map(|value| value.to_str().unwrap_or_default());
    if named.next().is_some() {
        return Err(refused("the request has more than one Host header"));
    }
    let authority = head.uri.authority().map(Authority::as_str);
    match (host, authority) {
        (Some(host), Some(authority)) if !host.eq_ignore_ascii_case(authority) => {
            Err(refused("the Host header and the target of the request name different hosts"))
        }
        (Some(host), _) => Ok(host),
        // HTTP/1.1 requires the header even when the target names the host.
        (None, Some(authority)) if head.version != Version::HTTP_11 => Ok(authority),
        (None, _) => Err(refused("the request has no Host header")),
    }
}

/// Headers that proxies add.
const PROXY_HEADERS: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Whether the client is on this machine: loopback address, loopback host name, no proxy header.
pub(crate) fn is_local(peer: Peer, head: &Parts) -> bool {
    peer.is_loopback
        && host_of(head).is_ok_and(|host| is_loopback(without_port(&host.to_ascii_lowercase())))
        && !PROXY_HEADERS.iter().any(|name| head.headers.contains_key(*name))
}

/// Whether `host` served a page of `origin`, by name and port. The scheme is ignored: behind a proxy it differs.
fn is_same_origin(origin: &str, host: &str) -> bool {
    let served = |scheme: &str, default_port: &str| {
        let name = origin.get(..scheme.len()).filter(|start| start.eq_ignore_ascii_case(scheme));
        let name = name.and(origin.get(scheme.len()..))?;
        let bare = |name: &'_ str| name.strip_suffix(default_port).map_or(name.len(), str::len);
        Some(name[..bare(name)].eq_ignore_ascii_case(&host[..bare(host)]))
    };
    served("http://", ":80").or_else(|| served("https://", ":443")).unwrap_or(false)
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.strip_suffix(".localhost").is_some_and(is_plain)
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Empty when the name is not followed by a port, as in `localhost:@evil.example`.
fn without_port(host: &str) -> &str {
    let end = host.rfind(']').map_or_else(|| host.find(':').unwrap_or(host.len()), |bracket| bracket + 1);
    let (name, port) = host.split_at(end);
    if is_port(port) { name } else { "" }
}

/// Only characters of host names: a slash or the like would end the name earlier.
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
    use crate::connection_origin::ConnectionOrigin;

    fn gate() -> RequestGuard {
        RequestGuard {
            tokens: Tokens::default(),
            local_user: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            any_host: false,
        }
    }

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
        let gate = RequestGuard { hosts: vec!["agent.example".into()], ..gate() };
        for host in ["127.0.0.1", "localhost:41242", "localhost:", "agent.example:443", "[::1]"] {
            assert!(gate.host_is_known(host), "{host}");
        }
        for host in ["localhost:@evil.example", "127.0.0.1:1@evil.example", "agent.example:x@evil.example"] {
            assert!(!gate.host_is_known(host), "{host}");
        }
    }

    #[test]
    fn a_page_is_of_the_same_origin_when_name_and_port_are_the_same() {
        for (origin, host, same) in [
            ("http://localhost:41242", "localhost:41242", true),
            ("HTTP://LOCALHOST:41242", "localhost:41242", true),
            ("https://agent.example", "agent.example", true),
            ("https://agent.example", "agent.example:443", true),
            ("http://agent.example:80", "agent.example", true),
            ("http://[::1]:41242", "[::1]:41242", true),
            ("http://agent.example", "agent.example:443", false),
            ("https://agent.example:80", "agent.example", false),
            ("http://localhost:3000", "localhost:41242", false),
            ("http://localhost", "localhost:41242", false),
            ("http://localhost:41242", "127.0.0.1:41242", false),
            ("http://localhost:41242@evil.example", "localhost:41242", false),
            ("http://localhost:41242/", "localhost:41242", false),
            ("localhost:41242", "localhost:41242", false),
            ("file://localhost", "localhost", false),
            ("null", "null", false),
            ("", "", false),
        ] {
            assert_eq!(is_same_origin(origin, host), same, "{origin} for {host}");
        }
    }

    fn head_with_token(token: Option<&str>) -> Parts {
        let mut request = http::Request::builder().uri("/");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn without_a_token_only_the_local_user_is_let_in_and_with_one_only_the_token_counts() {
        let local = Peer { is_loopback: true, is_local_user: true, origin: ConnectionOrigin::LOOPBACK };
        let other = Peer { is_local_user: false, ..local };
        for (token, peer, shown, expected) in [
            (None, local, None, Ok(())),
            (None, local, Some("anything"), Ok(())),
            (None, other, None, Err(Fault::TokenNeeded)),
            (None, other, Some("anything"), Err(Fault::TokenNeeded)),
            (Some("right"), local, None, Err(Fault::Unauthenticated)),
            (Some("right"), local, Some("wrong"), Err(Fault::Unauthenticated)),
            (Some("right"), local, Some(""), Err(Fault::Unauthenticated)),
            (Some("right"), other, Some("right"), Ok(())),
        ] {
            let gate = RequestGuard { tokens: Tokens::own(token), ..gate() };
            let found = gate.authenticate(peer, &head_with_token(shown)).map(drop);
            assert_eq!(found, expected, "{token:?} {peer:?} {shown:?}");
        }
    }

    #[test]
    fn a_request_names_one_host() {
        let head = |target: &str, version: Version, hosts: &[&str]| {
            let mut request = http::Request::builder().uri(target).version(version);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            request.body(()).unwrap().into_parts().0
        };
        for (target, version, hosts, expected) in [
            ("/", Version::HTTP_11, &["a"][..], Some("a")),
            ("/", Version::HTTP_11, &[], None),
            ("/", Version::HTTP_11, &["a", "a"], None),
            ("/", Version::HTTP_11, &["a", "b"], None),
            ("http://a/", Version::HTTP_11, &["A"], Some("A")),
            ("http://a/", Version::HTTP_11, &["b"], None),
            ("http://a:1/", Version::HTTP_11, &["a:2"], None),
            ("http://u@a/", Version::HTTP_11, &["a"], None),
            ("http://a/", Version::HTTP_11, &[], None),
            ("http://a/", Version::HTTP_10, &[], Some("a")),
            ("http://a/", Version::HTTP_2, &[], Some("a")),
            ("http://a/", Version::HTTP_2, &["b"], None),
        ] {
            let head = head(target, version, hosts);
            assert_eq!(host_of(&head).ok(), expected, "{target} {version:?} {hosts:?}");
        }
    }

    #[test]
    fn a_client_is_local_when_nothing_says_otherwise() {
        let head = |host: &str, more: Option<&str>| {
            let mut request = http::Request::builder().uri("/").header(header::HOST, host);
            if let Some(name) = more {
                request = request.header(name, "192.0.2.7");
            }
            request.body(()).unwrap().into_parts().0
        };
        let here = Peer { is_loopback: true, is_local_user: false, origin: ConnectionOrigin::LOOPBACK };
        let elsewhere = Peer { is_loopback: false, is_local_user: false, origin: ConnectionOrigin::LOOPBACK };
        assert!(is_local(here, &head("localhost:41242", None)));
        assert!(is_local(here, &head("[::1]:41242", Some("user-agent"))));
        assert!(!is_local(elsewhere, &head("localhost:41242", None)));
        assert!(!is_local(here, &head("agent.example", None)));
        for name in PROXY_HEADERS {
            assert!(!is_local(here, &head("localhost", Some(name))), "{name}");
        }
    }
}
