//! Receives the listening socket from a confined copy of the program.

use std::io;

use tokio::io::Interest;
use tokio::net::{TcpListener, UnixStream};

use crate::handles;

pub(super) async fn receive(socket: &UnixStream) -> io::Result<TcpListener> {
    let handle = socket.async_io(Interest::READABLE, || handles::receive(socket)).await?;
    let listener = std::net::TcpListener::from(handle);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}
