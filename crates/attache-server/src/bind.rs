//! Binds the port, or names the process that holds it.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

/// A program that a killed server was about to start may hold the port for a moment.
const BIND_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The state of a listening socket in `/proc/net/tcp`.
const LISTEN_STATE: &str = "0A";

/// Why nothing can listen at an address.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}")]
pub struct BindError {
    address: SocketAddr,
    source: io::Error,
}

impl BindError {
    /// What to do about it; `flag` chooses the port.
    pub fn hint(&self, flag: &str) -> String {
        hint(self.source.kind(), self.address, flag)
    }
}

/// Binds `address`. If it is in use, waits a moment for it.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    let give_up_at = Instant::now() + BIND_TIMEOUT;
    let mut waits = false;
    loop {
        // Sets SO_REUSEADDR, so lingering connections of an earlier server do no harm.
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < give_up_at => {
                if !std::mem::replace(&mut waits, true) {
                    tracing::debug!("{address} is in use; waiting a moment for it");
                }
                sleep(RETRY_INTERVAL).await
            }
            Err(source) => return Err(BindError { address, source }),
        }
    }
}

fn hint(kind: ErrorKind, address: SocketAddr, flag: &str) -> String {
    match kind {
        ErrorKind::AddrInUse if is_held_by_connection(address) => format!(
            "no program listens there, but a connection of a client has this port, as Linux gives clients any port from 32768 \
             on: try again in a minute, or choose a port below 32768 with {flag}"
        ),
        ErrorKind::AddrInUse => format!(
            "another program listens there; choose another port with {flag}, or {flag} 0 for any free one"
        ),
        ErrorKind::PermissionDenied => {
            format!("ports below 1024 need privileges; choose a higher one with {flag}")
        }
        _ => format!("check --host and {flag}"),
    }
}

/// Whether sockets have the port and none of them listens. False if the system does not say.
fn is_held_by_connection(address: SocketAddr) -> bool {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let states: Vec<_> = tables.iter().flat_map(|table| states_at(table, address)).collect();
    !states.is_empty() && !states.contains(&LISTEN_STATE)
}

/// The states of the sockets at the port of `address`. At other addresses, only sockets that listen everywhere count.
fn states_at(table: &str, address: SocketAddr) -> Vec<&str> {
    let port = format!("{:04X}", address.port());
    let own = hexadecimal(address.ip());
    let sockets = table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (local, _, state) = (words.next()?, words.next()?, words.next()?);
        let (ip, at) = local.split_once(':')?;
        let is_everywhere = |ip: &str| ip.bytes().all(|digit| digit == b'0');
        let is_same = ip == own || is_everywhere(ip) || is_everywhere(&own) || ip.ends_with(&own);
        (at == port && is_same).then_some(state)
    });
    sockets.collect()
}

/// The kernel's spelling: words of four bytes, each in the byte order of this machine.
fn hexadecimal(ip: IpAddr) -> String {
    let bytes = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |word: &[u8]| {
        let word = word.try_into().map_or(0, u32::from_ne_bytes);
        format!("{word:08X}")
    };
    bytes.chunks(4).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:A11A 0100007F:1F90 06 00000000:00000000 03:00000AAA 00000000     0        0 0 3 0
   1: 0200007F:A11B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0
   2: 00000000:A11C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0
";

    #[track_caller]
    fn check(address: &str, expected: &[&str]) {
        assert_eq!(states_at(TABLE, address.parse().unwrap()), expected, "{address}");
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn sockets_are_found_by_address_and_port() {
        check("127.0.0.1:41242", &["06"]);
        check("0.0.0.0:41242", &["06"]);
        check("127.0.0.1:41243", &[]);
        check("127.0.0.2:41243", &["0A"]);
        check("127.0.0.1:41244", &["0A"]);
        check("127.0.0.1:41245", &[]);
    }
}
