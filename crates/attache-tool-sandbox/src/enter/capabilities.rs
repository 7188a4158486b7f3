//! Drops the capabilities that the first process of a user namespace has.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};

/// Forbids further user namespaces, in which a command would have all capabilities again.
pub(super) fn forbid_user_namespaces() -> io::Result<()> {
    fs::write("/proc/sys/user/max_user_namespaces", "0")
}

/// Drops all capabilities of this process and of every program it starts, also as root.
pub(super) fn drop_all() -> io::Result<()> {
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel does not know it.
            Err(Errno::INVAL) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}
