//! Asks the kernel whose socket is at the other end, by the diagnosis of sockets (`sock_diag(7)`).
//!
//! One exact query per call, which the kernel answers before `send` returns, so nothing here waits. An ambiguous answer is
//! an error.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// The request: a netlink header, and `inet_diag_req_v2` with the two addresses in it.
const REQUEST_BYTES: usize = HEADER_BYTES + 56;
const HEADER_BYTES: usize = 16;
/// `inet_diag_msg`.
const REPLY_BYTES: usize = 72;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;

/// States of TCP in which a client's socket is its own: connected, or done sending.
const ESTABLISHED: u8 = 1;
const FIN_WAIT_1: u8 = 4;
const FIN_WAIT_2: u8 = 5;

/// The user who owns the TCP socket of this machine that is at `source` and connected to `destination`.
#[cfg(target_os = "linux")]
pub(super) fn user_of_socket(source: SocketAddr, destination: SocketAddr) -> io::Result<u32> {
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    };

    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
    send(&kernel, &request(source, destination), SendFlags::empty())?;
    let mut buffer = [0; 1024];
    let (length, _) = recv(&kernel, &mut buffer[..], RecvFlags::DONTWAIT)?;
    owner(buffer.get(..length).unwrap_or_default(), source, destination)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn user_of_socket(_: SocketAddr, _: SocketAddr) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

fn request(source: SocketAddr, destination: SocketAddr) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    let mut at = 0;
    let mut put = |part: &[u8]| {
        bytes[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    };
    let (source_ip, destination_ip) = (source.ip().to_canonical(), destination.ip().to_canonical());
    let family = if source_ip.is_ipv4() && destination_ip.is_ipv4() { AF_INET } else { AF_INET6 };
    put(&(REQUEST_BYTES as u32).to_ne_bytes());
    put(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(&NLM_F_REQUEST.to_ne_bytes());
    // The number of the request and the sender's port, which the kernel fills in.
    put(&[0; 8]);
    put(&[family, IPPROTO_TCP, 0, 0]);
    put(&u32::MAX.to_ne_bytes());
    put(&source.port().to_be_bytes());
    put(&destination.port().to_be_bytes());
    put(&address_bytes(source_ip));
    put(&address_bytes(destination_ip));
    // Any interface, and any cookie.
    put(&0u32.to_ne_bytes());
    put(&[0xff; 8]);
    bytes
}

fn address_bytes(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V6(address) => address.octets(),
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            bytes
        }
    }
}

/// Reads the kernel's answer. The kernel also answers with sockets that only listen, or that no process has any more: for
/// those it names root, so they are refused.
fn owner(reply: &[u8], source: SocketAddr, destination: SocketAddr) -> io::Result<u32> {
    let kind = reply.get(4..6).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    if kind == Some(NLMSG_ERROR) {
        let code = number_at(reply, HEADER_BYTES).map_or(0, u32::cast_signed);
        return Err(io::Error::from_raw_os_error(code.saturating_neg()));
    }
    let message = reply.get(HEADER_BYTES..HEADER_BYTES + REPLY_BYTES);
    let Some(message) = message.filter(|_| kind == Some(SOCK_DIAG_BY_FAMILY)) else {
        return Err(io::Error::other("the kernel's answer cannot be read"));
    };
    let [family, state] = [message[0], message[1]];
    let port_at = |at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
    let found = |address: usize, port: usize| {
        SocketAddr::new(address_at(&message[address..address + 16], family), port_at(port))
    };
    let is_asked_for = found(8, 4) == canonical(source) && found(24, 6) == canonical(destination);
    let is_alive = matches!(state, ESTABLISHED | FIN_WAIT_1 | FIN_WAIT_2);
    let inode = number_at(message, 68).unwrap_or_default();
    match number_at(message, 64) {
        Some(user) if is_asked_for && is_alive && inode != 0 => Ok(user),
        _ => Err(io::Error::other("no process of this machine has that socket")),
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// An address in the 16 bytes that the kernel has for one.
fn address_at(bytes: &[u8], family: u8) -> IpAddr {
    let mut octets = [0; 16];
    octets.copy_from_slice(bytes);
    if family == AF_INET {
        let [a, b, c, d, ..] = octets;
        return IpAddr::from([a, b, c, d]);
    }
    IpAddr::from(octets).to_canonical()
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: u32 = 1234;

    fn addresses() -> (SocketAddr, SocketAddr) {
        ("127.0.0.1:50000".parse().unwrap(), "127.0.0.1:41242".parse().unwrap())
    }

    /// The kernel's answer about the socket at `source`.
    fn reply(source: SocketAddr, destination: SocketAddr, state: u8, inode: u32) -> Vec<u8> {
        let asked = request(source, destination);
        let mut bytes = vec![0; HEADER_BYTES + REPLY_BYTES];
        bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        bytes[16] = asked[16];
        bytes[17] = state;
        bytes[20..68].copy_from_slice(&asked[24..72]);
        bytes[80..84].copy_from_slice(&OWNER.to_ne_bytes());
        bytes[84..88].copy_from_slice(&inode.to_ne_bytes());
        bytes
    }

    #[test]
    fn the_owner_of_a_living_socket_is_told() {
        let (source, destination) = addresses();
        for state in [ESTABLISHED, FIN_WAIT_1, FIN_WAIT_2] {
            let reply = reply(source, destination, state, 7);
            assert_eq!(owner(&reply, source, destination).unwrap(), OWNER);
        }
        let mapped: SocketAddr = "[::ffff:127.0.0.1]:50000".parse().unwrap();
        assert_eq!(owner(&reply(mapped, destination, ESTABLISHED, 7), source, destination).unwrap(), OWNER);
        let (source, destination) = ("[::1]:5".parse().unwrap(), "[::1]:6".parse().unwrap());
        assert_eq!(owner(&reply(source, destination, ESTABLISHED, 7), source, destination).unwrap(), OWNER);
    }

    #[test]
    fn whatever_is_not_that_very_socket_is_refused() {
        let (source, destination) = addresses();
        // A socket that no process holds any more, and states that are none of a client that sends.
        owner(&reply(source, destination, FIN_WAIT_2, 0), source, destination).unwrap_err();
        for state in [0, 2, 3, 6, 7, 8, 9, 10, 11, 12] {
            owner(&reply(source, destination, state, 7), source, destination).unwrap_err();
        }
        let other: SocketAddr = "127.0.0.1:50001".parse().unwrap();
        let nowhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
        for (from, to) in [(other, destination), (source, other), (source, nowhere), (destination, source)] {
            owner(&reply(from, to, ESTABLISHED, 7), source, destination).unwrap_err();
        }
        let whole = reply(source, destination, ESTABLISHED, 7);
        for length in 0..whole.len() {
            owner(&whole[..length], source, destination).unwrap_err();
        }
        let mut refused = whole.clone();
        refused[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        refused[16..20].copy_from_slice(&(-2i32).to_ne_bytes());
        let error = owner(&refused, source, destination).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
