//! What of the agent's events an earlier run has shown.

use attache_client::StreamEvent;

use crate::agent_output::News;

/// How the run reads the events of a task that began before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Replay {
    /// Every event is new.
    None,
    /// The events come again from the beginning. Those up to this cursor were shown, and so many bytes after it.
    Until(String, usize),
    /// So many bytes were shown.
    Bytes(usize),
    /// The first event holds the whole task. Events between may be missing, and the agent does not send them again.
    Snapshot,
    /// The events after that one.
    Partial,
}

impl Replay {
    /// What of `news`, which is in this event, was not shown before.
    pub(super) fn unshown(&mut self, event: &StreamEvent, cursor: Option<&str>, mut news: News) -> News {
        match self {
            Self::None | Self::Partial => news,
            Self::Until(until, behind) => {
                if event.gap().is_some() {
                    *self = Self::None;
                } else if cursor == Some(until) {
                    *self = Self::Bytes(*behind);
                }
                News::default()
            }
            Self::Bytes(_) if event.gap().is_some() => {
                *self = Self::None;
                News::default()
            }
            Self::Bytes(bytes) => {
                for text in [&mut news.artifacts, &mut news.words] {
                    let shown = text.floor_char_boundary((*bytes).min(text.len()));
                    text.drain(..shown);
                    *bytes = if text.is_empty() { *bytes - shown } else { 0 };
                }
                if *bytes == 0 {
                    *self = Self::None;
                }
                news
            }
            Self::Snapshot => {
                *self = Self::Partial;
                match event {
                    // What is new in its artifacts cannot be told from what is not.
                    StreamEvent::Task(_) => News { artifacts: String::new(), ..news },
                    _ => news,
                }
            }
        }
    }

    /// Events may be missing, so the task has to be fetched at its end.
    pub(super) fn is_partial(&self) -> bool {
        matches!(self, Self::Snapshot | Self::Partial)
    }
}
