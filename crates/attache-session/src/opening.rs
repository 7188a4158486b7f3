//! Opening tasks: a new message gets one, and a message that came before leads to the one it has.
//!
//! The id of a task follows from what was said and from how often it was said before, so that sends at the same time, and
//! those after a crash, agree on it. The tasks of one message are numbered without a gap, and each begins when the one
//! before is over.

use std::sync::Arc;

use attache_domain::{
    Digest, DuplicateSends, Ending, Event, Fault, Manner, Message, MessageId, Opening, Presentation,
    Progress, ReplyShape, Sameness, Scope, SendMessage, Seq, TaskKey, TaskSummary, TaskView,
};
use attache_store::{Append, StoreError};

use crate::SessionService;
use crate::hot::{HotTask, now};
use crate::identity::digest;
use crate::media;
use crate::outbox::Hold;
use crate::service::{Started, internal, refuse_another};

/// A task that is to be opened.
pub(crate) struct Place {
    pub(crate) key: TaskKey,
    /// How many tasks its message has opened before this one.
    pub(crate) number: u32,
    pub(crate) duplicates: DuplicateSends,
}

impl SessionService {
    /// How long a message counts as the same when it comes again. One that names the calls that it answers about cannot
    /// mean anything new.
    pub(crate) fn duplicates(&self, message: &Message, manner: &Manner) -> DuplicateSends {
        let is_answer = Progress::answers_apart(message).is_some();
        if manner.sameness == Sameness::Id || manner.resumes || is_answer {
            DuplicateSends::Always
        } else {
            self.options.duplicate_sends
        }
    }

    pub(crate) async fn open(
        &self,
        scope: &Scope,
        send: SendMessage,
    ) -> Result<(Started, Option<Hold>), Fault> {
        let digest = digest(&send.message);
        let duplicates = self.duplicates(&send.message, &send.manner);
        let place = |number| {
            let task = self.identity.task(scope, &send.message, &digest, send.manner.sameness, number);
            Place { key: TaskKey { scope: scope.clone(), task }, number, duplicates }
        };
        let mut number = 0;
        // Most messages are new. It is looked up first where a wrong guess would have to be taken back.
        let may_guess = send.manner.sameness == Sameness::Id
            || (duplicates == DuplicateSends::InFlight && send.configuration.push.is_none());
        if !may_guess && let Some(latest) = self.latest(place).await? {
            let counts = self.known(&place(latest), &send.message.id, &digest).await?.is_some();
            number = if counts { latest } else { latest + 1 };
        }
        loop {
            if let Some(opened) = self.open_as(place(number), send.clone(), digest.clone()).await? {
                return Ok(opened);
            }
            number = self.latest(place).await?.unwrap_or(0).max(number + 1);
        }
    }

    /// The task at `place`, if the message that opened it still counts as the one with this id and digest.
    async fn known(
        &self,
        place: &Place,
        message: &MessageId,
        digest: &Digest,
    ) -> Result<Option<Arc<HotTask>>, Fault> {
        let hot = match self.readable(&place.key).await {
            // It cannot be read, so nothing is in flight.
            Err(Fault::TaskFinished { .. }) if place.duplicates == DuplicateSends::InFlight => {
                return Ok(None);
            }
            found => found?.ok_or(Fault::Internal)?,
        };
        let counts = match place.duplicates {
            DuplicateSends::Always => true,
            in_flight => hot.with_progress(|progress| progress.knows(message, digest, in_flight)),
        };
        Ok(counts.then_some(hot))
    }

    /// The number of the latest task that the message has opened.
    async fn latest(&self, place: impl Fn(u32) -> Place) -> Result<Option<u32>, Fault> {
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

    /// The push configuration is recorded before there is anything to push. `None`: the message has opened this task, and that
    /// is over.
    pub(crate) async fn open_as(
        &self,
        place: Place,
        mut send: SendMessage,
        digest: Digest,
    ) -> Result<Option<(Started, Option<Hold>)>, Fault> {
        let wish = send.configuration.push.take();
        let reply = self.agent.reply_shape(&send.message);
        let wish = wish.filter(|_| reply == ReplyShape::Task);
        let enlisted = self.enlist(&place.key, wish, Seq::START.next()).await?;
        match self.append_opening(place, send, digest, reply).await {
            Ok(Some(started)) => Ok(Some((started, enlisted.map(|enlisted| enlisted.hold)))),
            refused => {
                self.discard(enlisted).await;
                refused.map(|_| None)
            }
        }
    }

    async fn append_opening(
        &self,
        place: Place,
        send: SendMessage,
        digest: Digest,
        reply: ReplyShape,
    ) -> Result<Option<Started>, Fault> {
        let Place { key, number, .. } = &place;
        let scope = &key.scope;
        let (message, sameness) = (send.message.id.clone(), send.manner.sameness);
        let context = match &send.message.context {
            Some(context) => context.clone(),
            None => self.identity.context(scope, &send.message, &digest, *number),
        };
        let opening = Opening {
            task: key.task.clone(),
            scope: scope.clone(),
            context,
            message: send.message,
            digest: digest.clone(),
            reply,
            metadata: send.metadata,
            ending: send.manner.ending.unwrap_or_default(),
            presentation: Presentation {
                // Tasks of clients that know the development-tool extension do not simply complete.
                changes: send.manner.ending.is_some_and(|ending| ending != Ending::Completes)
                    || media::names_diffs(&send.configuration.accepted_output_modes),
                answer: send.manner.answer,
            },
        };
        let event = Arc::new(Event { seq: Seq::START.next(), at: now(), fact: opening.decide() });
        let Some(view) = TaskView::open(&event) else { return Err(Fault::Internal) };
        let bare = reply == ReplyShape::Message;
        let summary = TaskSummary::of(&view.progress);
        let append = Append { key: key.clone(), expected: Seq::START, events: vec![event.clone()], summary };
        let under_way = self.counters.store.writes();
        let appended = self.stores.log.append(append).await;
        drop(under_way);
        self.counters.store.wrote(&appended);
        match appended {
            Ok(()) => {
                self.counters.appended(&event.fact);
                let hot = self.shelf.keep(self.warm(view.clone()));
                Ok(Some(Started { hot, view: Arc::new(view), bare, shown_again: 0 }))
            }
            // The message came before. If that still counts, the caller sees the task from its start.
            Err(StoreError::Conflict { .. }) => {
                let Some(hot) = self.known(&place, &message, &digest).await? else { return Ok(None) };
                if sameness == Sameness::Id {
                    hot.with_progress(|progress| refuse_another(progress, &message, &digest))?;
                }
                let view = self.as_of(&hot, Seq::START.next()).await?;
                let bare = view.progress.reply == ReplyShape::Message;
                Ok(Some(Started { hot, view, bare, shown_again: 0 }))
            }
            Err(error) => Err(internal(error)),
        }
    }
}
