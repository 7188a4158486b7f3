//! What the kernel tells about running processes. Where there is no `/proc`, there are none to be seen.

use std::fs;

use attache_tool::WATCHER_NAME;

/// One process, as it was when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// In ticks since the machine started. With the number it names a process for good.
    pub(super) started: u64,
    /// Not ended and only waiting for its parent to notice.
    pub(super) alive: bool,
    /// It has the name of those that stay beside a command and end its processes with the server.
    pub(super) watches: bool,
}

impl Process {
    pub(super) fn key(&self) -> (i32, u64) {
        (self.pid, self.started)
    }
}

pub(super) fn list_processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| read_process(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

pub(super) fn read_process(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Whether the process was started with this `NAME=value`.
pub(super) fn was_started_with(pid: i32, variable: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
}

/// How many file locks the process may have; none when there is no such limit.
pub(super) fn file_locks(pid: i32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    // The program's name stands in brackets and may hold anything, brackets too.
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let name = stat.iter().position(|byte| *byte == b'(').map(|begins| &stat[begins + 1..name_ends]);
    let after_name = name_ends + 1;
    let fields: Vec<&str> = str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    Some(Process {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
        alive: !matches!(fields[0], "Z" | "X" | "x"),
        watches: name == Some(WATCHER_NAME.as_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_confuse() {
        let stat = b"7 (a) R (b) S 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0\n";
        let expected =
            Process { pid: 7, parent: 3, group: 4, session: 5, started: 99, alive: true, watches: false };
        assert_eq!(parse(7, stat), Some(expected));
    }

    #[test]
    fn an_ended_process_is_not_alive() {
        let stat = b"7 (a) Z 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0\n";
        assert!(!parse(7, stat).unwrap().alive);
    }

    #[test]
    fn nonsense_is_no_process() {
        assert_eq!(parse(7, b""), None);
        assert_eq!(parse(7, b"7 (a) S 3"), None);
    }
}
