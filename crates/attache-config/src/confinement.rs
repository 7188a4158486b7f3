//! The settings for the confinement of commands.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ConfigError;
use crate::push::in_range;

/// The table `[confinement]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConfinementFile {
    enabled: bool,
    reads: Vec<PathBuf>,
    processes: u64,
    memory_megabytes: u64,
    cpu_seconds: u64,
    open_files: u64,
    file_megabytes: u64,
}

impl Default for ConfinementFile {
    fn default() -> Self {
        Self {
            enabled: true,
            reads: Vec::new(),
            processes: 2_048,
            memory_megabytes: 8_192,
            cpu_seconds: 4 * 3_600,
            open_files: 16_384,
            file_megabytes: 8_192,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinementSettings {
    /// If off, every command needs approval except in mode yolo.
    pub enabled: bool,
    /// Files and folders that confined commands may read besides the workspace and toolchains.
    pub reads: Vec<PathBuf>,
    /// Limits of a command and everything it starts.
    pub processes: u64,
    pub memory_bytes: u64,
    /// Limits of each process.
    pub cpu_seconds: u64,
    pub open_files: u64,
    pub file_bytes: u64,
}

impl ConfinementSettings {
    pub(crate) fn read(file: ConfinementFile, home: Option<&Path>) -> Result<Self, ConfigError> {
        const MANY: u64 = 1 << 40;
        in_range("confinement.processes", file.processes, 16..=MANY)?;
        in_range("confinement.memory_megabytes", file.memory_megabytes, 64..=MANY)?;
        in_range("confinement.cpu_seconds", file.cpu_seconds, 1..=MANY)?;
        in_range("confinement.open_files", file.open_files, 64..=MANY)?;
        in_range("confinement.file_megabytes", file.file_megabytes, 1..=MANY)?;
        let in_home = |path: PathBuf| match (path.strip_prefix("~"), home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => path,
        };
        Ok(Self {
            enabled: file.enabled,
            reads: file.reads.into_iter().map(in_home).collect(),
            processes: file.processes,
            memory_bytes: file.memory_megabytes << 20,
            cpu_seconds: file.cpu_seconds,
            open_files: file.open_files,
            file_bytes: file.file_megabytes << 20,
        })
    }
}
