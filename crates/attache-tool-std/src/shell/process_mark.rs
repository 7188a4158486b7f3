//! Two marks that every process of a command inherits, by which it is known when its parents are gone and it has left
//! the session: a variable of its environment, and a limit that no kernel of this century looks at.
//!
//! The variable goes with the environment, as `env -i` drops it. The limit (on file locks, `ulimit -x`) passes through
//! every fork, new session and new program; only a program that sets that very limit loses it.

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

    /// The mark that was chosen before.
    pub(super) fn of(id: &str) -> Self {
        // 48 bits of chance: nobody else has this limit. What is no number of ours has no limit that anything else has.
        let limit = Uuid::parse_str(id).map_or(u64::MAX >> 1, |id| id.as_u64_pair().0 >> 16);
        Self { id: id.to_owned(), limit }
    }

    /// What a shell has to be given to run `command` with the limit on it: it takes that on and becomes the shell that
    /// runs the command, which is none the wiser.
    pub(super) fn arguments(&self, command: &str) -> Vec<String> {
        let plain = SHELL_OPTIONS.map(str::to_owned).into_iter();
        if !cfg!(target_os = "linux") {
            return plain.chain([command.to_owned()]).collect();
        }
        let inner = format!("exec {SHELL} {} \"$0\"", SHELL_OPTIONS.join(" "));
        let script = format!("ulimit -Sx {} 2>/dev/null; {inner}", self.limit);
        plain.chain([script, command.to_owned()]).collect()
    }

    /// Whether the process has one of them.
    pub(super) fn is_on(&self, pid: i32) -> bool {
        processes::was_started_with(pid, &format!("{MARK_VARIABLE}={}", self.id))
            || processes::file_locks(pid) == Some(self.limit)
    }
}

/// Names a mark that nothing else has.
pub(crate) fn fresh_id() -> String {
    Uuid::new_v4().to_string()
}
