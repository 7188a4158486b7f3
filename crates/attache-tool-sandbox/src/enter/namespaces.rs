//! Namespaces of users, mounts, processes, networks and shared memory, made without privileges.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};

/// Enters new ones; processes that are started from now on are in the new process namespace. The user stays the same
/// in name, so that files keep their owner.
pub(super) fn create() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWIPC,
    )?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}
