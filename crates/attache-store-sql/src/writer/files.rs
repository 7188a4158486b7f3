//! The writer's checks of the database's files: whether they still exist, and the mark beside them.

use std::time::{Duration, Instant};

use crate::file_watch::FileWatch;
use crate::mark_file::{AcknowledgedBatch, MarkFile};

/// After an acknowledgement, transactions begin without a check for this long; each is checked before it is
/// acknowledged.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) struct DatabaseFiles {
    watch: FileWatch,
    mark: MarkFile,
    /// A transaction was written into files without a path. It was not acknowledged, but is in this process's memory,
    /// so nothing is written until the next start, even if the files come back.
    lost: Option<String>,
    /// The logged fault.
    reported: Option<String>,
    /// When the files were last checked.
    seen_at: Option<Instant>,
}

impl DatabaseFiles {
    pub(crate) fn new(watch: FileWatch, mark: MarkFile) -> Self {
        Self { watch, mark, lost: None, reported: None, seen_at: None }
    }

    /// Before a transaction: why nothing can be written. While nothing was written, the fault can pass.
    pub(super) fn fault(&mut self) -> Option<String> {
        if self.lost.is_none() && self.seen_at.is_some_and(|at| at.elapsed() < CHECK_INTERVAL) {
            return None;
        }
        let fault = self.lost.clone().or_else(|| self.watch.fault());
        if fault != self.reported {
            match &fault {
                Some(fault) => tracing::error!("{fault}; nothing is acknowledged any more"),
                None => tracing::info!("the files of the database are there again"),
            }
            self.reported.clone_from(&fault);
        }
        fault
    }

    /// After a commit, before it is acknowledged: why it cannot be acknowledged.
    pub(super) fn committed(&mut self, last_batch: Option<AcknowledgedBatch>) -> Option<String> {
        if let Some(fault) = self.watch.fault() {
            self.lost = Some(fault);
            return self.fault();
        }
        if let Some(witness) = last_batch {
            self.mark.write(witness);
        }
        self.seen_at = Some(Instant::now());
        None
    }

    /// At the end: whether the files are those that were opened, so that they can be cleaned up.
    pub(super) fn close(&mut self) -> bool {
        self.mark.sync();
        self.seen_at = None;
        self.fault().is_none()
    }
}
