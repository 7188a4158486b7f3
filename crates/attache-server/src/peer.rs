//! The client at the other end of a connection: where it is, and whether it runs as the server's own user.
//!
//! Looked up once per connection, when it is accepted.

mod sock_diag;

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpStream;

use crate::connection_origin::ConnectionOrigin;

/// The kernel's name for all users that its namespace does not map, so never equal to one user.
const UNMAPPED_USER: u32 = 65534;

/// What is known about the client of one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The connection comes from a loopback address.
    pub(crate) is_loopback: bool,
    /// The client's process runs as the user that the server serves without a token.
    pub(crate) is_local_user: bool,
    /// Where the connection comes from, and how much of the server it may use.
    pub(crate) origin: ConnectionOrigin,
}

impl Peer {
    /// Looks at the client of `stream`. Without `local_user` no user is looked up.
    pub(crate) fn of(stream: &TcpStream, local_user: Option<u32>, origin: ConnectionOrigin) -> Self {
        let Ok(address) = stream.peer_addr() else {
            return Self { is_loopback: false, is_local_user: false, origin };
        };
        let is_loopback = address.ip().to_canonical().is_loopback();
        let is_local_user = local_user.is_some_and(|local| match user_of(stream, address) {
            Ok(user) => is_same_user(user, local),
            Err(error) => {
                tracing::debug!(%error, "the user of a client is unknown; it needs a token");
                false
            }
        });
        Self { is_loopback, is_local_user, origin }
    }
}

/// Whether this system tells which user a connection comes from; tried on a connection to itself. Otherwise every caller
/// needs a token.
pub fn can_identify_local_users() -> bool {
    let tried = || -> std::io::Result<u32> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let client = std::net::TcpStream::connect(listener.local_addr()?)?;
        sock_diag::user_of_socket(client.local_addr()?, client.peer_addr()?)
    };
    tried().is_ok_and(|user| user != UNMAPPED_USER)
}

fn is_same_user(user: u32, local: u32) -> bool {
    user == local && user != UNMAPPED_USER
}

fn user_of(stream: &TcpStream, peer: SocketAddr) -> std::io::Result<u32> {
    let user = sock_diag::user_of_socket(peer, stream.local_addr()?)?;
    // A client that is gone by now may have left its address to a process of another user. While our side is still
    // connected, no other socket can have that address.
    stream.peer_addr()?;
    Ok(user)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv6Addr};
    use std::time::{Duration, Instant};

    use tokio::net::TcpListener;

    use super::*;

    const ORIGIN: ConnectionOrigin = ConnectionOrigin::LOOPBACK;

    /// A connection by which an IPv4 listener may also be reached as an IPv6 address.
    async fn connected(listening_on: IpAddr, dialled: IpAddr) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((listening_on, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect((dialled, port)).await.unwrap();
        (listener.accept().await.unwrap().0, client)
    }

    fn own_user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[tokio::test]
    async fn the_user_of_a_client_is_found_however_it_dialled() {
        let v4 = IpAddr::from(Ipv4Addr::LOCALHOST);
        let v6 = IpAddr::from(Ipv6Addr::LOCALHOST);
        let mapped = IpAddr::from(Ipv4Addr::LOCALHOST.to_ipv6_mapped());
        let any = IpAddr::from(Ipv6Addr::UNSPECIFIED);
        for (listening_on, dialled) in [(v4, v4), (v6, v6), (v4, mapped), (any, v4), (any, v6), (any, mapped)]
        {
            let (server, client) = connected(listening_on, dialled).await;
            assert_eq!(user_of(&server, client.local_addr().unwrap()).unwrap(), own_user(), "{dialled}");
            let peer = Peer::of(&server, Some(own_user()), ORIGIN);
            assert_eq!(peer.is_local_user, own_user() != UNMAPPED_USER, "{dialled}");
            assert!(peer.is_loopback, "{dialled}");
            assert!(!Peer::of(&server, Some(own_user() + 1), ORIGIN).is_local_user, "another user");
            assert!(!Peer::of(&server, None, ORIGIN).is_local_user, "no user is served without a token");
        }
    }

    #[tokio::test]
    async fn a_client_that_is_gone_is_no_user() {
        let v4 = IpAddr::from(Ipv4Addr::LOCALHOST);
        for resets in [false, true] {
            let (server, client) = connected(v4, v4).await;
            let address = client.local_addr().unwrap();
            if resets {
                client.set_zero_linger().unwrap();
            }
            drop(client);
            let found = user_of(&server, address);
            assert!(found.is_err(), "{found:?}");
        }
    }

    #[test]
    fn a_system_that_tells_users_is_known_as_one() {
        assert_eq!(can_identify_local_users(), own_user() != UNMAPPED_USER);
    }

    #[test]
    fn only_the_very_same_user_is_the_same() {
        for (user, local, same) in [
            (1000, 1000, true),
            (0, 0, true),
            (0, 1000, false),
            (1000, 0, false),
            (1001, 1000, false),
            (65534, 65534, false),
        ] {
            assert_eq!(is_same_user(user, local), same, "{user} for {local}");
        }
    }

    /// `cargo nextest run --release -p attache-server the_lookup_is_quick --no-capture` prints the figure.
    #[tokio::test]
    async fn the_lookup_is_quick() {
        let v4 = IpAddr::from(Ipv4Addr::LOCALHOST);
        let (server, _client) = connected(v4, v4).await;
        let mut times: Vec<_> = (0..2000)
            .map(|_| {
                let began = Instant::now();
                std::hint::black_box(Peer::of(&server, Some(own_user()), ORIGIN));
                began.elapsed()
            })
            .collect();
        times.sort();
        let (median, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        println!("peer lookup: median {median:?}, 99th percentile {late:?}");
        // The promise is 50 µs. Work that grew with the number of sockets or processes would take far longer than this,
        // which a busy machine and a build without optimisation keep, too.
        assert!(median < Duration::from_millis(50), "{median:?}");
    }
}
