//! The loopback device of a new network namespace, and the listening socket of the proxy.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use crate::confinement_plan::PROXY_PORT;
use crate::handles;

/// The loopback device is the first of every network namespace.
const LOOPBACK: u32 = 1;

/// Lets programs talk to themselves on 127.0.0.1.
pub(super) fn bring_up() -> io::Result<()> {
    // The default netlink protocol is that of devices and routes.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &link_up_message(LOOPBACK), SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0u8; 128];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    match answer[..length].get(16..20) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(code) => {
            let code = i32::from_ne_bytes([code[0], code[1], code[2], code[3]]);
            Err(io::Error::from_raw_os_error(-code))
        }
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}

/// A netlink message (RTM_NEWLINK) that sets the flag IFF_UP of a device.
fn link_up_message(device: u32) -> Vec<u8> {
    const LENGTH: u32 = 32;
    const RTM_NEWLINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const UP: u32 = 1;
    let mut message = Vec::with_capacity(LENGTH as usize);
    message.extend(LENGTH.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    // Sequence number and port of the sender.
    message.extend([0; 8]);
    // Family, padding and type.
    message.extend([0; 4]);
    message.extend(device.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}

/// Listens at the proxy's address and sends the socket to the server, which accepts on it. A socket stays in the
/// network namespace in which it was created.
pub(super) fn send_listener() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    handles::send(rustix::stdio::stdin(), listener.as_fd())
}
