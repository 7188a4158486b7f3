//! Limits for everything that a script writes to a task's log.

use std::time::Duration;

/// A script is written by hand; more is a mistake.
pub(super) const MAX_SCRIPT_BYTES: usize = 1024 * 1024;
pub(super) const MAX_RULES: usize = 1000;
pub(super) const MAX_STEPS: usize = 10_000;
/// That one step makes together.
pub(super) const MAX_CALLS: usize = 100;
/// Lists and maps within each other. The parser recurses, so this also keeps its stack small.
pub(super) const MAX_DEPTH: usize = 32;
/// One text after its placeholders are filled in; the rest is cut off.
pub(super) const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// The same for ids, names, descriptions, media types, file names and URLs.
pub(super) const MAX_LABEL_BYTES: usize = 8 * 1024;
/// Into how many chunks one text or file can be cut.
pub(super) const MAX_CHUNKS: u32 = 10_000;
pub(super) const MAX_REPEAT: u32 = 100_000;
pub(super) const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The caller chooses some of the numbers through captures, so a whole turn is bounded too.
pub(super) const MAX_TURN_CHUNKS: u32 = 1_000_000;
pub(super) const MAX_TURN_BYTES: usize = 64 * 1024 * 1024;
