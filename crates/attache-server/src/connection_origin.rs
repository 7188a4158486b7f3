//! Where a connection comes from, and which requests it may make.

use std::net::{IpAddr, Ipv6Addr};

/// What is known about a connection before its first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionOrigin {
    pub(crate) network: PeerNetwork,
    pub(crate) admission: Admission,
}

impl ConnectionOrigin {
    /// An ordinary connection of this machine.
    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) const LOOPBACK: Self = Self { network: PeerNetwork::Loopback, admission: Admission::Open };
}

/// Which requests of a connection are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// All of them.
    Open,
    /// A reserve connection, used when all others are taken: serves short calls and answers to approvals only.
    Reserve,
    /// The address is over its connection limit: serves public paths only.
    OverLimit,
}

/// What counts as one peer: an IPv4 address, or an IPv6 /64 network, the smallest a host is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PeerNetwork {
    /// This machine. Its users and proxies share one address, so it has no limit per address.
    Loopback,
    Other(IpAddr),
}

impl PeerNetwork {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            address if address.is_loopback() => Self::Loopback,
            IpAddr::V4(address) => Self::Other(address.into()),
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                Self::Other(Ipv6Addr::from(network).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_host_count_as_one() {
        let network = |text: &str| PeerNetwork::of(text.parse().unwrap());
        assert_eq!(network("127.0.0.9"), PeerNetwork::Loopback);
        assert_eq!(network("::1"), PeerNetwork::Loopback);
        assert_eq!(network("::ffff:127.0.0.1"), PeerNetwork::Loopback);
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }
}
