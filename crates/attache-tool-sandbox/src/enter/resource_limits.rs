//! Resource limits that the kernel enforces for each process.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, Rlimit, getrlimit, getuid, setrlimit};

use crate::CommandLimits;
use crate::confinement_plan::Isolation;

/// Memory that a process may reserve but not use.
const RESERVED_BYTES: u64 = 4 << 30;

/// Processes above the limit that can still be started.
const HEADROOM: u64 = 64;

pub(super) fn set_limits(limits: CommandLimits, isolation: Isolation) -> io::Result<()> {
    lower(Resource::Core, 0)?;
    lower(Resource::Cpu, limits.cpu_seconds)?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    // The process beside the command counts the memory in use. This limit bounds one process between two counts. An
    // allocator may reserve much more than it uses.
    lower(Resource::Data, limits.memory_bytes.saturating_add(RESERVED_BYTES))?;
    // A little more than the limit, so that the process beside the command sees the excess and kills them all.
    // Otherwise they would retry for ever.
    let limit = limits.processes.saturating_add(HEADROOM);
    match isolation {
        Isolation::Namespaces => {
            lower(Resource::Nproc, limit)?;
            limit_pids(limit);
            Ok(())
        }
        // Outside a user namespace the kernel counts every process of the user. It does not limit root.
        Isolation::Landlock | Isolation::None if getuid().is_root() => Ok(()),
        Isolation::Landlock | Isolation::None => {
            lower(Resource::Nproc, limit.saturating_add(user_process_count()))
        }
    }
}

/// The current number of processes and threads of the user. The kernel counts both.
fn user_process_count() -> u64 {
    /// The link count of a folder of threads is higher than the number of threads by this.
    const OTHER_LINKS: u64 = 2;
    let user = getuid().as_raw();
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let is_process = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes = entries.filter_map(Result::ok).filter(|entry| is_process(&entry.file_name()));
    let own = processes.filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.uid() == user));
    let threads = own.filter_map(|entry| fs::metadata(entry.path().join("task")).ok());
    threads.map(|threads| threads.nlink().saturating_sub(OTHER_LINKS).max(1)).sum()
}

/// Limits the process ids of the namespace, which also limits root. Older kernels have one setting for the whole
/// machine, which stays unchanged; there the first process of the namespace counts.
fn limit_pids(processes: u64) {
    /// Process ids that the kernel uses only once.
    const RESERVED: u64 = 300;
    if !kernel_is_at_least(6, 14) {
        return;
    }
    let _ = fs::write("/proc/sys/kernel/pid_max", (processes + RESERVED).to_string());
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers =
        release.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse::<u32>());
    match (numbers.next(), numbers.next()) {
        (Some(Ok(first)), Some(Ok(second))) => (first, second) >= (major, minor),
        _ => false,
    }
}

/// Lowers a limit. Never raises the limits of the server.
pub(super) fn lower(resource: Resource, limit: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let within = |known: Option<u64>| Some(known.map_or(limit, |known| known.min(limit)));
    setrlimit(resource, Rlimit { current: within(now.current), maximum: within(now.maximum) })?;
    Ok(())
}
