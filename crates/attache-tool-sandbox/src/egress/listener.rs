//! Takes over the listening socket that a confined copy of the program hands out.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use tokio::io::Interest;
use tokio::net::{TcpListener, UnixStream};

pub(super) async fn receive(socket: &UnixStream) -> io::Result<TcpListener> {
    let handle = socket.async_io(Interest::READABLE, || take(socket)).await?;
    let listener = std::net::TcpListener::from(handle);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

fn take(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles),
        _ => None,
    });
    let handle = handles.next().and_then(|mut handles| handles.next());
    handle.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the other side was closed"))
}
