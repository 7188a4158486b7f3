//! Hosts that are reached without a proxy.

use std::net::IpAddr;

use ipnet::IpNet;
use reqwest::Url;

use crate::address_rules::without_brackets;

/// The hosts of `NO_PROXY`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProxyExceptions {
    everything: bool,
    exceptions: Vec<Exception>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Exception {
    target: ExceptionTarget,
    /// Only this port.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ExceptionTarget {
    /// A host, and every host below it.
    Host(String),
    Network(IpNet),
}

impl ProxyExceptions {
    /// Hosts, domains, addresses and networks between commas or spaces; each but a network may have a port. `*` is
    /// every host. What is none of this matches nothing.
    pub(super) fn parse(text: &str) -> Self {
        let words = || text.split([',', ' ', '\t', ';']).map(str::trim).filter(|word| !word.is_empty());
        Self {
            everything: words().any(|word| word == "*"),
            exceptions: words().filter_map(Exception::parse).collect(),
        }
    }

    pub(super) fn contain(&self, url: &Url) -> bool {
        let host = host_of(url);
        let port = url.port_or_known_default();
        let address = host.parse::<IpAddr>().ok();
        let matches = |exception: &Exception| {
            let is_target = match (&exception.target, address) {
                (ExceptionTarget::Network(network), Some(address)) => network.contains(&address),
                (ExceptionTarget::Host(name), None) => host
                    .strip_suffix(name.as_str())
                    .is_some_and(|above| above.is_empty() || above.ends_with('.')),
                _ => false,
            };
            is_target && exception.port.is_none_or(|wanted| Some(wanted) == port)
        };
        self.everything || self.exceptions.iter().any(matches)
    }
}

impl Exception {
    fn parse(word: &str) -> Option<Self> {
        if let Some(target) = ExceptionTarget::address(word) {
            return Some(Self { target, port: None });
        }
        let (name, port) = match word.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (word, None),
        };
        let target = ExceptionTarget::address(name).or_else(|| ExceptionTarget::host(name))?;
        Some(Self { target, port })
    }
}

impl ExceptionTarget {
    fn address(word: &str) -> Option<Self> {
        let network = word.parse::<IpNet>().ok();
        let address = || without_brackets(word).parse::<IpAddr>().ok().map(IpNet::from);
        network.or_else(address).map(Self::Network)
    }

    fn host(word: &str) -> Option<Self> {
        let name = word.trim_start_matches('*').trim_matches('.').to_ascii_lowercase();
        (!name.is_empty()).then_some(Self::Host(name))
    }
}

/// The host is this machine, by name or address. A proxy that were asked for it would reach itself.
pub(super) fn is_this_machine(url: &Url) -> bool {
    let host = host_of(url);
    if let Ok(address) = host.parse::<IpAddr>() {
        let address = address.to_canonical();
        return address.is_loopback() || address.is_unspecified();
    }
    host == "localhost" || host.ends_with(".localhost")
}

fn host_of(url: &Url) -> String {
    without_brackets(url.host_str().unwrap_or_default()).trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, url: &str, expected: bool) {
        let exceptions = ProxyExceptions::parse(text);
        assert_eq!(exceptions.contain(&Url::parse(url).unwrap()), expected, "{text:?} and {url}");
    }

    #[test]
    fn a_host_stands_for_those_below_it() {
        for text in
            ["corp.example", ".corp.example", "*.corp.example", "other, Corp.Example.", "a b;corp.example"]
        {
            check(text, "https://corp.example/", true);
            check(text, "https://a.b.corp.example./", true);
            check(text, "https://evilcorp.example/", false);
            check(text, "https://corp.example.evil/", false);
        }
    }

    #[test]
    fn a_port_counts_where_it_is_given() {
        check("corp.example:8443", "https://corp.example:8443/", true);
        check("corp.example:8443", "https://corp.example/", false);
        check("corp.example:443", "https://corp.example/", true);
        check("[2001:db8::1]:80", "http://[2001:db8::1]/", true);
        check("[2001:db8::1]:80", "http://[2001:db8::1]:81/", false);
    }

    #[test]
    fn addresses_and_networks_match_addresses_only() {
        check("10.0.0.0/8", "http://10.1.2.3/", true);
        check("10.0.0.0/8", "http://11.1.2.3/", false);
        check("10.1.2.3", "http://10.1.2.3/", true);
        check("2001:db8::/32", "http://[2001:db8::7]/", true);
        check("2001:db8::7", "http://[2001:db8::7]/", true);
        check("1.2.3", "http://10.1.2.3/", false);
    }

    #[test]
    fn a_star_is_everything_and_nonsense_is_nothing() {
        check("*", "https://any.example/", true);
        check("", "https://any.example/", false);
        for nonsense in ["10.0.0.0/99", "any.example:port", "...", "https://any.example", ":"] {
            check(nonsense, "https://any.example/", false);
        }
    }
}
