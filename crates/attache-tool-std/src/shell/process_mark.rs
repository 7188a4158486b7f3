//! Two marks that every process of a command inherits: an environment variable, and a resource limit that Linux does
//! not enforce. They identify a process that has left the session and lost its parents.
//!
//! `env -i` drops the variable. The limit (on file locks, `ulimit -x`) survives every fork, new session and new
//! program, unless a program sets this limit.

use attache_tool::MARK_VARIABLE;
use uuid::Uuid;

use super::processes;
use super::start::{SHELL, SHELL_OPTIONS};

#[derive(Debug, Clone)]
pub(super) struct ProcessMark {
    pub(super) id: String,
    limit: u64,
}

impl ProcessMark {
    pub(super) fn new() -> Self {
        Self::of(&fresh_id())
    }

    /// The mark with this id.
    pub(super) fn of(id: &str) -> Self {
        // 48 random bits, so no other process has this limit. An id that is no number gets an unused limit.
        let limit = Uuid::parse_str(id).map_or(u64::MAX >> 1, |id| id.as_u64_pair().0 >> 16);
        Self { id: id.to_owned(), limit }
    }

    /// The arguments of a shell that sets the limit and then executes the shell for `command`.
    pub(super) fn arguments(&self, command: &str) -> Vec<String> {
        let plain = SHELL_OPTIONS.map(str::to_owned).into_iter();
        if !cfg!(target_os = "linux") {
            return plain.chain([command.to_owned()]).collect();
        }
        let inner = format!("exec {SHELL} {} \"$0\"", SHELL_OPTIONS.join(" "));
        let script = format!("ulimit -Sx {} 2>/dev/null; {inner}", self.limit);
        plain.chain([script, command.to_owned()]).collect()
    }

    /// Whether the process has one of the marks.
    pub(super) fn is_on(&self, pid: i32) -> bool {
        processes::was_started_with(pid, &format!("{MARK_VARIABLE}={}", self.id))
            || processes::file_locks(pid) == Some(self.limit)
    }
}

/// A new unique id.
pub(crate) fn fresh_id() -> String {
    Uuid::new_v4().to_string()
}
