//! Two marks that every process of a command inherits, by which it is known when its parents are gone and it has left
//! the session: a variable of its environment, and a limit that no kernel of this century looks at.
//!
//! The variable goes with the environment, as `env -i` drops it. The limit (on file locks, `ulimit -x`) passes through
//! every fork, new session and new program; only a program that sets that very limit loses it.

use uuid::Uuid;

use super::processes;
use super::start::{SHELL, SHELL_OPTIONS};

/// The variable's name.
pub(super) const VARIABLE: &str = "ATTACHE_COMMAND_ID";

#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) id: String,
    limit: u64,
}

impl Mark {
    pub(super) fn new() -> Self {
        let id = Uuid::new_v4();
        // 48 bits of chance: nobody else has this limit.
        Self { id: id.to_string(), limit: id.as_u64_pair().0 >> 16 }
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
        processes::was_started_with(pid, &format!("{VARIABLE}={}", self.id))
            || processes::file_locks(pid) == Some(self.limit)
    }
}
