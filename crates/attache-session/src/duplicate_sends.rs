//! Recognises a message that was sent before: by its id or by id and content, while its turn runs or for ever.

use std::sync::Arc;

use attache_domain::{Digest, DuplicateRule, DuplicateWindow, Fault, MessageId, SendMessage};
use attache_store::StoreError;

use crate::SessionService;
use crate::live_task::LiveTask;
use crate::open_task::NewTask;
use crate::service::internal;

impl SessionService {
    /// How long a repeated message counts as the same. A message that names the calls it answers cannot mean anything new.
    pub(crate) fn duplicates(&self, send: &SendMessage) -> DuplicateWindow {
        let options = &send.options;
        if options.duplicate_rule == DuplicateRule::Id || options.resumes || send.answers.has_data() {
            DuplicateWindow::Always
        } else {
            self.options.duplicate_sends
        }
    }

    /// The task at `place`, if the message that opened it still counts as the one with this id and digest.
    pub(crate) async fn find_duplicate(
        &self,
        place: &NewTask,
        message: &MessageId,
        digest: &Digest,
    ) -> Result<Option<Arc<LiveTask>>, Fault> {
        let live = match self.readable(&place.key).await {
            // It cannot be read, so nothing is in flight.
            Err(Fault::TaskFinished { .. }) if place.duplicates == DuplicateWindow::InFlight => {
                return Ok(None);
            }
            found => found?.ok_or(Fault::Internal)?,
        };
        let counts = match place.duplicates {
            DuplicateWindow::Always => true,
            in_flight => live.with_progress(|progress| progress.has_received(message, digest, in_flight)),
        };
        Ok(counts.then_some(live))
    }

    /// The number of the latest task that the message has opened.
    pub(crate) async fn latest_number(&self, place: impl Fn(u32) -> NewTask) -> Result<Option<u32>, Fault> {
        let exists = async |number| match self.stores.index.summary(&place(number).key).await {
            Err(StoreError::Corrupt { .. }) => Ok(true),
            found => found.map(|summary| summary.is_some()).map_err(internal),
        };
        if !exists(0).await? {
            return Ok(None);
        }
        let (mut latest, mut missing) = (0, 1);
        while exists(missing).await? {
            (latest, missing) = (missing, missing.saturating_mul(2));
        }
        while missing - latest > 1 {
            let middle = latest + (missing - latest) / 2;
            if exists(middle).await? {
                latest = middle;
            } else {
                missing = middle;
            }
        }
        Ok(Some(latest))
    }
}
