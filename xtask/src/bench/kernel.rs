//! CPU time, memory and limits of a process, from Linux.

use std::fs;

/// What `/proc` counts CPU time in on every Linux this runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// User and system time of all threads and of all children, those that have ended and those that live, in seconds.
pub(super) fn cpu_seconds(process: u32) -> Result<f64, String> {
    let stat = read(process, "stat")?;
    let own = cpu_seconds_in(&stat).zip(children_cpu_seconds_in(&stat)).map(|(own, ended)| own + ended);
    let own = own.ok_or_else(|| format!("CPU time has an unknown form: {stat}"))?;
    // One that ends in between is in its parent's books the next time.
    let living = children(process).into_iter().filter_map(|child| cpu_seconds(child).ok());
    Ok(own + living.sum::<f64>())
}

/// The same of all own children that have ended.
pub(super) fn children_cpu_seconds() -> Result<f64, String> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| format!("own CPU time: {error}"))?;
    children_cpu_seconds_in(&stat).ok_or_else(|| format!("CPU time has an unknown form: {stat}"))
}

/// Resident memory in bytes.
pub(super) fn resident_bytes(process: u32) -> Result<f64, String> {
    memory(process, "VmRSS:")
}

/// The most memory that was ever resident, in bytes.
pub(super) fn peak_resident_bytes(process: u32) -> Result<f64, String> {
    memory(process, "VmHWM:")
}

fn memory(process: u32, key: &str) -> Result<f64, String> {
    let status = read(process, "status")?;
    bytes_in(&status, key).ok_or_else(|| format!("no resident memory in: {status}"))
}

/// The most files a process started from here may have open.
pub(super) fn open_files_limit() -> Result<u64, String> {
    let limits = fs::read_to_string("/proc/self/limits").map_err(|error| format!("own limits: {error}"))?;
    open_files_limit_in(&limits).ok_or_else(|| format!("no limit of open files in: {limits}"))
}

/// Processes that any thread has started and that live; none where the kernel does not tell.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn read(process: u32, file: &str) -> Result<String, String> {
    fs::read_to_string(format!("/proc/{process}/{file}"))
        .map_err(|error| format!("the measured process is gone ({file}): {error}"))
}

/// The program's name comes second, in brackets, and may hold anything; the fields count from behind it.
fn cpu_seconds_in(stat: &str) -> Option<f64> {
    user_and_system_at(11, stat)
}

fn children_cpu_seconds_in(stat: &str) -> Option<f64> {
    user_and_system_at(13, stat)
}

fn user_and_system_at(field: usize, stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(field);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

fn bytes_in(status: &str, key: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: f64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024.0)
}

fn open_files_limit_in(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let hard = line.split_ascii_whitespace().nth(1)?;
    if hard == "unlimited" { Some(u64::MAX) } else { hard.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_books_of_linux_are_read_as_written() {
        let stat = "42 (a) b) S 1 42 42 0 -1 4194304 100 0 0 0 150 25 200 50 20 0 3 0 1000 1 1";
        assert_eq!(cpu_seconds_in(stat), Some(1.75));
        assert_eq!(children_cpu_seconds_in(stat), Some(2.5));
        let status = "Name:\tx\nVmHWM:\t 4096 kB\nVmRSS:\t    2048 kB\n";
        assert_eq!(bytes_in(status, "VmRSS:"), Some(2_097_152.0));
        assert_eq!(bytes_in(status, "VmHWM:"), Some(4_194_304.0));
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024   20000   files\n";
        assert_eq!(open_files_limit_in(limits), Some(20_000));
        assert_eq!(cpu_seconds_in("nonsense"), None);
    }

    #[test]
    fn living_children_are_known() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found = children(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()), "{found:?}");
    }

    #[test]
    fn the_own_process_can_be_read() {
        let own = std::process::id();
        assert!(cpu_seconds(own).is_ok());
        assert!(children_cpu_seconds().is_ok());
        assert!(resident_bytes(own).unwrap() > 100_000.0);
        assert!(peak_resident_bytes(own).unwrap() >= resident_bytes(own).unwrap());
        assert!(open_files_limit().unwrap() > 0);
    }
}
