//! Namespaces of users, mounts, processes, networks and shared memory, made without privileges.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::fs::{Mode, OFlags, open, openat};

use crate::handles;

/// Enters new ones, but for that of the network; processes that are started from now on are in the new process namespace.
/// The user stays the same in name, so that files keep their owner.
pub(super) fn create() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWIPC,
    )?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// This process by a handle: the other process exchanges the file tree of both.
pub(super) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    pub(super) fn this() -> io::Result<Self> {
        Ok(Self(open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Makes a network namespace and hands it to the process at the other end. The kernel takes about as long for it as
    /// the other process takes for its file tree, so the two are made side by side.
    pub(super) fn send_network_namespace(&self, socket: &UnixStream) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let network = openat(&self.0, "ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        handles::send(socket, network.as_fd())
    }
}

/// Enters the network namespace that the process at the other end has made.
pub(super) fn receive_network_namespace(socket: &UnixStream) -> io::Result<()> {
    Ok(setns(handles::receive(socket)?, CloneFlags::CLONE_NEWNET)?)
}
