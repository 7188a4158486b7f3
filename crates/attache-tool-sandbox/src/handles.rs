//! Sends and receives file handles over a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

pub(crate) fn send(socket: impl AsFd, handle: BorrowedFd<'_>) -> io::Result<()> {
    let handles = [handle];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&handles));
    // A handle needs at least one byte of data.
    sendmsg(socket, &[IoSlice::new(b"h")], &mut control, SendFlags::empty())?;
    Ok(())
}

pub(crate) fn receive(socket: impl AsFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles),
        _ => None,
    });
    let handle = handles.next().and_then(|mut handles| handles.next());
    handle.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the other side was closed"))
}
