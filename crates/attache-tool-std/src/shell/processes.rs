//! Reads running processes from `/proc`. Finds none without `/proc`.

use std::fs;

use attache_tool::WATCHER_NAME;

/// The state of a process when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Start time in ticks since boot. Together with the process id it is unique.
    pub(super) started: u64,
    /// Not a zombie.
    pub(super) alive: bool,
    /// A watcher, by its name.
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

/// The limit on file locks; none if there is no limit.
pub(super) fn file_locks(pid: i32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    // The program's name is in brackets and may contain brackets.
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
