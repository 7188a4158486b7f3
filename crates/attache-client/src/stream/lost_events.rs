//! Makes up for events that were lost between a cut and the next subscription.
//!
//! An agent without event ids may begin a subscription with the next event and not with the task, as a2a-sdk 0.3 for Python
//! does. A reader that joins the pieces would then miss some in the middle. The status that ends the task or asks something is
//! held back until the whole task is fetched, which takes its place.
//!
//! That SDK stores each event that a second reader gets twice, so the fetched task may end with doubled parts. Those that the
//! subscription has given once are made single again.

use attache_domain::{Artifact, Part, PartContent};

use super::{EventSource, EventStream, TaskPhase};
use crate::{RemoteTask, StreamEvent};

/// Bytes of text after a cut that are kept, to find them doubled.
const MAX_GIVEN: usize = 1 << 20;

/// What an agent without event ids has not shown.
#[derive(Debug, Default)]
pub(super) struct LostEvents {
    /// Some events may be missing since the task was shown last.
    are_possible: bool,
    /// What the subscription has given since, by artifact.
    given: Vec<Artifact>,
    /// The status in whose place the task is given.
    held: Option<Box<StreamEvent>>,
}

impl LostEvents {
    /// Takes note of an event. `after_cut`: it is the first one of a new connection to an agent without event ids, or follows
    /// something that could not be read.
    pub(super) fn note(&mut self, event: &StreamEvent, after_cut: bool) {
        match event {
            StreamEvent::Task(_) | StreamEvent::Message(_) => *self = Self::default(),
            StreamEvent::StatusUpdate(_) | StreamEvent::ArtifactUpdate(_) => self.are_possible |= after_cut,
        }
        if after_cut {
            self.given.clear();
        }
        if let (true, StreamEvent::ArtifactUpdate(update)) = (self.are_possible, event) {
            self.keep(&update.artifact, update.append);
        }
    }

    fn keep(&mut self, artifact: &Artifact, append: bool) {
        let all = self.given.iter().chain([artifact]).flat_map(|known| &known.parts);
        let size = all.map(text_size).sum::<Option<usize>>();
        match self.given.iter_mut().find(|known| known.id == artifact.id) {
            _ if size.is_none_or(|size| size > MAX_GIVEN) => self.given.clear(),
            Some(known) if append => known.parts.extend(artifact.parts.clone()),
            Some(known) => known.parts.clone_from(&artifact.parts),
            None => self.given.push(artifact.clone()),
        }
    }

    /// Removes the second one of each given part from the end of its artifact, if all are there twice.
    fn make_single(&self, task: &mut RemoteTask) {
        for given in &self.given {
            let Some(known) = task.artifacts.iter_mut().find(|known| known.id == given.id) else { continue };
            let Some(end) = known.parts.len().checked_sub(2 * given.parts.len()) else { continue };
            let doubled = given.parts.iter().flat_map(|part| [part, part]);
            if known.parts[end..].iter().eq(doubled) {
                known.parts.truncate(end);
                known.parts.extend(given.parts.iter().cloned());
            }
        }
    }

    /// Keeps the event back if the whole task has to be fetched first.
    pub(super) fn hold(&mut self, event: Option<StreamEvent>) -> Option<StreamEvent> {
        let settles = |event: &StreamEvent| {
            event.status().is_some_and(|status| status.is_terminal() || status.is_interrupted())
        };
        if !self.are_possible || !event.as_ref().is_some_and(settles) {
            return event;
        }
        self.held = event.map(Box::new);
        None
    }

    pub(super) fn has_held(&self) -> bool {
        self.held.is_some()
    }
}

/// None for a part that is no text. An empty one takes room, too.
fn text_size(part: &Part) -> Option<usize> {
    match &part.content {
        PartContent::Text(text) => Some(text.len() + size_of::<Part>()),
        _ => None,
    }
}

impl EventStream {
    /// The whole task in place of the status that was held back. If it cannot be fetched, the status.
    pub(super) async fn fetch_lost(&mut self) -> Option<StreamEvent> {
        let fetched = match &self.task {
            Some(task) => Some(self.client.get(task.as_str(), None).await),
            None => None,
        };
        let status = self.lost.held.take()?;
        if self.phase == TaskPhase::Over {
            self.source = EventSource::Over;
        }
        match fetched {
            Some(Ok(mut task)) if task.status.state == status.status().and_then(|status| status.state) => {
                self.lost.make_single(&mut task);
                self.lost = LostEvents::default();
                Some(StreamEvent::Task(Box::new(task)))
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "events of a task are lost, and it cannot be fetched");
                Some(*status)
            }
            _ => Some(*status),
        }
    }
}
