//! The development-tool extension: thoughts, tool calls and approvals on the wire.
//!
//! There is one contract in an RFC and another in what Gemini CLI's server speaks. Both are spelled here from the same
//! [`Happening`]s, each in a module of its own, and a stream speaks one of them from its first event to its last. What
//! clients say in either is read in [`incoming`]; below this crate nobody knows that there are two.

use attache_domain::{
    CallRecords, ContextId, DevtoolEvent, Part, Seq, TaskEnding, TaskId, TaskView, Timestamp, UpdateContext,
};

use crate::Dialect;

mod call_text;
pub mod commands;
mod developer;
mod envelope;
pub mod five;
mod gemini;
pub mod gemini_routes;
pub(crate) mod incoming;
pub mod setting_names;
mod thought;
mod uri;

pub use uri::{URI, is_devtool_uri};

/// How much a client wants to see, and in whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// A2A and nothing else.
    Plain,
    /// The RFC's.
    Developer,
    /// That of Gemini CLI's server.
    Gemini,
}

/// One event of a task, and what it takes to spell it.
#[derive(Debug, Clone)]
pub struct DevtoolFrame<'a> {
    pub task: &'a TaskId,
    pub context: &'a ContextId,
    pub seq: Seq,
    pub at: Timestamp,
    /// Before the event.
    pub stage: &'a UpdateContext,
    /// After it.
    pub cast: &'a CallRecords,
    pub happening: DevtoolEvent<'a>,
}

impl Profile {
    pub const COUNT: usize = 3;

    /// Place in a table with one entry for each dialect and profile; below `Dialect::COUNT * Profile::COUNT`.
    pub fn index(self, dialect: Dialect) -> usize {
        let place = match self {
            Self::Plain => 0,
            Self::Developer => 1,
            Self::Gemini => 2,
        };
        place * Dialect::COUNT + dialect.index()
    }

    /// How a task ends that such a client opens.
    pub fn ending(self) -> TaskEnding {
        match self {
            Self::Plain => TaskEnding::Completes,
            Self::Developer => TaskEnding::Reopens,
            Self::Gemini => TaskEnding::StaysOpen,
        }
    }

    /// Whose task it is that ends like this: the profile of a client that does not say.
    pub fn from_ending(ending: TaskEnding) -> Self {
        match ending {
            TaskEnding::Completes => Self::Plain,
            TaskEnding::Reopens => Self::Developer,
            TaskEnding::StaysOpen => Self::Gemini,
        }
    }

    /// A client of this profile sees something of it.
    pub fn shows(self, happening: &DevtoolEvent<'_>) -> bool {
        match self {
            Self::Plain => false,
            Self::Developer => developer::shows(happening),
            Self::Gemini => gemini::shows(happening),
        }
    }

    /// Writes one event of a stream. Only what the profile [`shows`](Self::shows) is written.
    pub fn write(self, dialect: Dialect, occasion: &DevtoolFrame<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Plain => {}
            Self::Developer => developer::write(dialect, occasion, out),
            Self::Gemini => gemini::write(dialect, occasion, out),
        }
    }

    /// The calls that wait for somebody's answer, for the status of a task that somebody looks at.
    pub(crate) fn pending_call_parts(self, view: &TaskView) -> Vec<Part> {
        match self {
            Self::Plain => Vec::new(),
            Self::Developer => developer::pending_call_parts(view),
            Self::Gemini => gemini::pending_call_parts(view),
        }
    }
}
