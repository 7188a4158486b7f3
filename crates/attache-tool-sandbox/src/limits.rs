//! Resource limits of commands.

use serde::{Deserialize, Serialize};

const MEBIBYTE: u64 = 1 << 20;

/// Limits for a command and everything it starts. Memory and processes are counted for all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLimits {
    pub processes: u64,
    pub memory_bytes: u64,
    /// Of each process.
    pub cpu_seconds: u64,
    /// Of each process.
    pub open_files: u64,
    /// The largest file a process may write.
    pub file_bytes: u64,
}

impl Default for CommandLimits {
    /// Enough for large builds; low enough that a fork bomb or an endless writer does not stop the machine.
    fn default() -> Self {
        Self {
            processes: 2_048,
            memory_bytes: 8 * 1024 * MEBIBYTE,
            cpu_seconds: 4 * 3_600,
            open_files: 16_384,
            file_bytes: 8 * 1024 * MEBIBYTE,
        }
    }
}

impl CommandLimits {
    /// Lower limits for commands at level look.
    #[must_use]
    pub(crate) fn for_look(self) -> Self {
        let least = Self {
            processes: 256,
            memory_bytes: 2 * 1024 * MEBIBYTE,
            cpu_seconds: 600,
            open_files: 4_096,
            file_bytes: 256 * MEBIBYTE,
        };
        Self {
            processes: self.processes.min(least.processes),
            memory_bytes: self.memory_bytes.min(least.memory_bytes),
            cpu_seconds: self.cpu_seconds.min(least.cpu_seconds),
            open_files: self.open_files.min(least.open_files),
            file_bytes: self.file_bytes.min(least.file_bytes),
        }
    }
}
