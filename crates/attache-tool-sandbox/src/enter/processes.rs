//! The processes below this one, as the kernel lists them.

use std::collections::HashSet;
use std::fs;

#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: i32,
    parent: i32,
    /// Start time in ticks since boot. Together with the process id it is unique.
    pub(super) started: u64,
}

/// Children, their children and so on. Empty without `/proc`.
pub(super) fn descendants() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let all: Vec<Process> = numbers.filter_map(read_process).collect();
    let mut below = HashSet::from([i32::try_from(std::process::id()).unwrap_or_default()]);
    let mut found: Vec<Process> = Vec::new();
    loop {
        let more: Vec<Process> = all
            .iter()
            .filter(|process| below.contains(&process.parent) && !below.contains(&process.pid))
            .copied()
            .collect();
        if more.is_empty() {
            return found;
        }
        below.extend(more.iter().map(|process| process.pid));
        found.extend(more);
    }
}

/// The ids of the same processes, without reading all processes of the machine. May miss processes that start or end at
/// this moment.
pub(super) fn descendant_pids() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let Some(mut found) = children(own) else {
        return descendants().iter().map(|process| process.pid).collect();
    };
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        let more = children(*pid).unwrap_or_default();
        found.extend(more);
        next += 1;
    }
    found
}

/// The children of all threads of a process. None if the kernel does not list them.
fn children(pid: i32) -> Option<Vec<i32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut found = Vec::new();
    for thread in threads.filter_map(Result::ok) {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        found.extend(list.split_ascii_whitespace().filter_map(|number| number.parse::<i32>().ok()));
    }
    Some(found)
}

pub(super) fn started_at(pid: i32) -> Option<u64> {
    read_process(pid).map(|process| process.started)
}

fn read_process(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    // The program's name is in brackets and may contain brackets.
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> = str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect();
    Some(Process { pid, parent: fields.get(1)?.parse().ok()?, started: fields.get(19)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_and_a_stranger_is_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let below: Vec<i32> = descendants().iter().map(|process| process.pid).collect();
        assert!(below.contains(&pid) && !below.contains(&1), "{below:?}");
        let numbers = descendant_pids();
        assert!(numbers.contains(&pid) && !numbers.contains(&1), "{numbers:?}");
        assert!(started_at(pid).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
