//! Namespaces for users, mounts, processes, the network and shared memory, without privileges.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::fs::{Mode, OFlags, open, openat};

use crate::handles;

/// Enters new namespaces except that of the network. New child processes are in the new process namespace. The user id
/// stays the same, so that files keep their owner.
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

/// A handle of this process. The child replaces the file tree of both, so `/proc` cannot be used later.
pub(super) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    pub(super) fn this() -> io::Result<Self> {
        Ok(Self(open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Creates a network namespace and sends it to the child. The child builds its file tree meanwhile, which takes
    /// about as long.
    pub(super) fn send_network_namespace(&self, socket: &UnixStream) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let network = openat(&self.0, "ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        handles::send(socket, network.as_fd())
    }
}

/// Enters the network namespace that the parent has created.
pub(super) fn receive_network_namespace(socket: &UnixStream) -> io::Result<()> {
    Ok(setns(handles::receive(socket)?, CloneFlags::CLONE_NEWNET)?)
}
