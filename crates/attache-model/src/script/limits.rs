//! Limits of everything that a script writes to a task's log.

use std::time::Duration;

/// A script with more is a mistake.
pub(super) const MAX_SCRIPT_BYTES: usize = 1024 * 1024;
pub(super) const MAX_RULES: usize = 1000;
pub(super) const MAX_STEPS: usize = 10_000;
/// The maximum of one step.
pub(super) const MAX_CALLS: usize = 100;
/// The nesting of lists and maps. The parser recurses, so this also bounds its stack.
pub(super) const MAX_DEPTH: usize = 32;
/// The maximum of one text with its placeholders filled in; longer texts are cut.
pub(super) const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// The same for ids, names, descriptions, media types, file names and URLs.
pub(super) const MAX_LABEL_BYTES: usize = 8 * 1024;
/// The maximum number of chunks of one text or file.
pub(super) const MAX_CHUNKS: u32 = 10_000;
pub(super) const MAX_REPEAT: u32 = 100_000;
pub(super) const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum of a turn. Captures let the caller choose some of the numbers.
pub(super) const MAX_TURN_CHUNKS: u32 = 1_000_000;
pub(super) const MAX_TURN_BYTES: usize = 64 * 1024 * 1024;
