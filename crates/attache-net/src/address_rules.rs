//! Which addresses may be dialled.
//!
//! Pure. An IPv4 address inside an IPv6 one (mapped or NAT64) counts as the address that is really reached, however
//! it is written. Not here: resolving names (`resolver`).

use std::net::{IpAddr, Ipv6Addr};

use ipnet::IpNet;

use crate::NetError;

/// All addresses, or only public ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressRules {
    public_only: bool,
    hosts: Vec<String>,
    networks: Vec<IpNet>,
}

/// Networks that are not public, and their purpose.
const SPECIAL_NETWORKS: &[(&str, &str)] = &[
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "carrier-grade NAT"),
    ("127.0.0.0/8", "this machine"),
    ("168.63.129.16/32", "a cloud's metadata"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "reserved"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "unspecified"),
    ("::1/128", "this machine"),
    // Includes Teredo.
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("3fff::/20", "documentation"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("ff00::/8", "multicast"),
];

/// Where public IPv6 addresses are; everything else has a purpose of its own.
const GLOBAL_UNICAST: &str = "2000::/3";

impl AddressRules {
    /// For addresses that the operator has named.
    pub fn any() -> Self {
        Self::default()
    }

    /// For addresses that come from outside: private, local and special ones are refused.
    pub fn public_only() -> Self {
        Self { public_only: true, ..Self::default() }
    }

    /// Allows `place` in any case: a host name, an address, or a network such as `10.1.0.0/16`.
    pub fn allow(mut self, place: &str) -> Result<Self, NetError> {
        let place = place.trim();
        if let Ok(network) = place.parse::<IpNet>() {
            self.networks.push(network);
        } else if let Ok(address) = without_brackets(place).parse::<IpAddr>() {
            self.networks.push(address.into());
        } else if is_name(place) {
            self.hosts.push(normalize_host(place));
        } else {
            let what = format!(
                "{place:?} is no host, address or network; write one such as 10.1.0.0/16 or wiki.lan"
            );
            return Err(NetError::Address { what });
        }
        Ok(self)
    }

    pub(crate) fn is_restrictive(&self) -> bool {
        self.public_only
    }

    /// Whether the operator allowed this host or address by name.
    pub fn is_named(&self, host: &str, address: IpAddr) -> bool {
        let reached = effective_address(address);
        let named = |network: &IpNet| network.contains(&address) || network.contains(&reached);
        self.hosts.contains(&normalize_host(host)) || self.networks.iter().any(named)
    }

    /// Whether `host`, which may be an address, may be dialled at `address`.
    pub fn check(&self, host: &str, address: IpAddr) -> Result<(), NetError> {
        if !self.public_only || self.is_named(host, address) {
            return Ok(());
        }
        match special_purpose(effective_address(address)) {
            None => Ok(()),
            Some(why) => {
                let host = normalize_host(host);
                let place = if host == address.to_string() { host } else { format!("{host} ({address})") };
                let what =
                    format!("{place} is not public ({why}); only public addresses may be fetched from");
                Err(NetError::Address { what })
            }
        }
    }
}

/// The address that packets reach.
fn effective_address(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    match v6.segments() {
        // IPv4-mapped, and the well-known prefix of NAT64.
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => IpAddr::V4(trailing_ipv4(v6)),
        _ => address,
    }
}

fn trailing_ipv4(address: Ipv6Addr) -> std::net::Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    [a, b, c, d].into()
}

/// The purpose of an address that is not public.
fn special_purpose(address: IpAddr) -> Option<&'static str> {
    let holds = |network: &str| network.parse::<IpNet>().is_ok_and(|network| network.contains(&address));
    let known = SPECIAL_NETWORKS.iter().find(|(network, _)| holds(network)).map(|(_, why)| *why);
    known.or_else(|| (address.is_ipv6() && !holds(GLOBAL_UNICAST)).then_some("reserved"))
}

/// The form in which hosts are compared.
fn normalize_host(host: &str) -> String {
    without_brackets(host).trim_end_matches('.').to_ascii_lowercase()
}

/// Strips the brackets that an IPv6 address has in a URL.
pub(crate) fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

fn is_name(text: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    !text.is_empty() && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &AddressRules, host: &str, address: &str, expected: Option<&str>) {
        let found = rules.check(host, address.parse().unwrap()).map_err(|error| error.to_string());
        match (&found, expected) {
            (Ok(()), None) => {}
            (Err(why), Some(part)) if why.contains(part) => {}
            _ => panic!("{address}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn every_network_of_the_table_is_one() {
        for (network, _) in SPECIAL_NETWORKS.iter().chain(&[(GLOBAL_UNICAST, "")]) {
            network.parse::<IpNet>().unwrap();
        }
    }

    #[test]
    fn public_addresses_pass() {
        for address in
            ["1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::101:101"]
        {
            check(&AddressRules::public_only(), "example.com", address, None);
        }
    }

    #[test]
    fn special_addresses_are_refused_however_they_are_written() {
        for (address, why) in [
            ("0.0.0.0", "unspecified"),
            ("10.1.2.3", "private"),
            ("100.100.100.200", "carrier"),
            ("127.0.0.1", "this machine"),
            ("168.63.129.16", "metadata"),
            ("169.254.169.254", "link-local"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.192", "reserved"),
            ("192.168.1.1", "private"),
            ("198.51.100.7", "documentation"),
            ("224.0.0.1", "multicast"),
            ("255.255.255.255", "reserved"),
            ("::", "unspecified"),
            ("::1", "this machine"),
            ("::7f00:1", "reserved"),
            ("::ffff:10.0.0.1", "private"),
            ("::ffff:169.254.169.254", "link-local"),
            ("::ffff:0:127.0.0.1", "reserved"),
            ("64:ff9b::7f00:1", "this machine"),
            ("64:ff9b::a9fe:a9fe", "link-local"),
            ("64:ff9b:1::a00:1", "reserved"),
            ("100::1", "reserved"),
            ("2001:0:5ef5:79fd::1", "reserved"),
            ("2001:db8::1", "documentation"),
            ("2002:7f00:1::", "6to4"),
            ("2002:808:808::", "6to4"),
            ("3fff::1", "documentation"),
            ("5f00::1", "reserved"),
            ("fd00:ec2::254", "private"),
            ("fe80::1", "link-local"),
            ("fec0::1", "reserved"),
            ("ff02::1", "multicast"),
        ] {
            check(&AddressRules::public_only(), "evil.test", address, Some(why));
            check(&AddressRules::any(), "evil.test", address, None);
        }
    }

    #[test]
    fn the_operator_may_open_hosts_addresses_and_networks() {
        let rules = ["10.1.0.0/16", "Wiki.lan", "192.168.1.7", "[fd00::7]"]
            .into_iter()
            .try_fold(AddressRules::public_only(), AddressRules::allow)
            .unwrap();
        check(&rules, "a.test", "10.1.2.3", None);
        check(&rules, "a.test", "::ffff:10.1.2.3", None);
        check(&rules, "a.test", "10.2.0.1", Some("private"));
        check(&rules, "wiki.LAN.", "10.2.0.1", None);
        check(&rules, "evil.wiki.lan", "10.2.0.1", Some("private"));
        check(&rules, "192.168.1.7", "192.168.1.7", None);
        check(&rules, "192.168.1.8", "192.168.1.8", Some("192.168.1.8 is not public"));
        check(&rules, "[fd00::7]", "fd00::7", None);
        for (host, address, named) in [
            ("wiki.lan", "1.1.1.1", true),
            ("a.test", "::ffff:10.1.2.3", true),
            ("a.test", "1.1.1.1", false),
            ("a.test", "10.2.0.1", false),
        ] {
            assert_eq!(rules.is_named(host, address.parse().unwrap()), named, "{host} {address}");
        }
        for wrong in ["", "10.1.0.0/33", "http://wiki.lan", "a b"] {
            AddressRules::any().allow(wrong).unwrap_err();
        }
    }
}
