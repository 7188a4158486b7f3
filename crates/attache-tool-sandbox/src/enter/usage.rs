//! Checks what a command and everything it has started use together against the limits.

use std::fs;
use std::time::Duration;

use crate::CommandLimits;

/// The time between two checks doubles from the first to the second of these.
pub(super) const FIRST_CHECK_INTERVAL: Duration = Duration::from_millis(20);
pub(super) const MAX_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The limit that these processes exceed together.
pub(super) fn exceeded_limit(limits: CommandLimits, processes: &[i32]) -> Option<String> {
    if processes.len() as u64 > limits.processes {
        return Some(format!("it started more than {} processes", limits.processes));
    }
    let page = rustix::param::page_size() as u64;
    let resident = |pid: &i32| -> Option<u64> {
        let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        let numbers: Vec<u64> = pages.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        // Shared memory is not counted for each process.
        Some(numbers.get(1)?.saturating_sub(*numbers.get(2)?) * page)
    };
    let total: u64 = processes.iter().filter_map(resident).sum();
    (total > limits.memory_bytes)
        .then(|| format!("it used more than {} MiB of memory", limits.memory_bytes >> 20))
}

/// What is added to the command's output.
pub(super) fn limit_message(why: &str) -> String {
    format!("\nattache: the command was ended: {why} (see [confinement] in the settings)\n")
}
