//! The development-tool extension: thoughts, tool calls and approvals on the wire.
//!
//! An RFC defines one dialect, Gemini CLI's server speaks another, the live endpoint a third and the REST API a fourth. All
//! are encoded from the same [`DevtoolEvent`]s, each in its own module, and a stream uses one of them throughout. [`incoming`] decodes
//! what clients of A2A send in any of them; the live endpoint has requests of its own in [`live_routes`].

use attache_domain::{
    CallRecords, ContextId, DevtoolEvent, Part, Seq, TaskEnding, TaskId, TaskView, Timestamp, UpdateContext,
};

use crate::JsonForm;

pub mod call_display;
mod call_text;
pub mod commands;
mod developer;
mod envelope;
mod gemini;
pub mod gemini_routes;
pub(crate) mod incoming;
pub(crate) mod live;
pub mod live_routes;
pub mod live_tools;
pub mod rest_api;
pub mod setting_names;
mod thought;
mod uri;
mod user_prompt;

pub use uri::{URI, devtool_version, is_devtool_uri, is_understood_uri};

/// The dialect of the extension that a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Plain A2A.
    Plain,
    /// The RFC's dialect.
    Developer,
    /// The dialect of Gemini CLI's server.
    Gemini,
    /// The flat events of the live endpoint.
    Live,
    /// The named events of the REST API.
    RestApi,
}

/// One event of a task with its context.
#[derive(Debug, Clone)]
pub struct DevtoolFrame<'a> {
    pub task: &'a TaskId,
    pub context: &'a ContextId,
    pub seq: Seq,
    pub at: Timestamp,
    /// The state before the event.
    pub stage: &'a UpdateContext,
    /// The calls after the event.
    pub call_records: &'a CallRecords,
    pub event: DevtoolEvent<'a>,
}

impl Dialect {
    pub const COUNT: usize = 5;

    /// Index in a table with one entry per JSON form and dialect; below `JsonForm::COUNT * Dialect::COUNT`.
    pub fn index(self, json_form: JsonForm) -> usize {
        let place = match self {
            Self::Plain => 0,
            Self::Developer => 1,
            Self::Gemini => 2,
            Self::Live => 3,
            Self::RestApi => 4,
        };
        place * JsonForm::COUNT + json_form.index()
    }

    /// How a task ends that a client of this dialect opens.
    pub fn ending(self) -> TaskEnding {
        match self {
            Self::Plain => TaskEnding::Completes,
            Self::Developer | Self::RestApi => TaskEnding::Reopens,
            Self::Gemini => TaskEnding::StaysOpen,
            Self::Live => TaskEnding::Session,
        }
    }

    /// The dialect of a task's opener, for clients that show none. Clients of A2A do not speak that of a session.
    pub fn from_ending(ending: TaskEnding) -> Self {
        match ending {
            TaskEnding::Completes | TaskEnding::Session => Self::Plain,
            TaskEnding::Reopens => Self::Developer,
            TaskEnding::StaysOpen => Self::Gemini,
        }
    }

    /// Whether a client of this dialect sees the event.
    pub fn shows(self, event: &DevtoolEvent<'_>) -> bool {
        match self {
            Self::Plain => false,
            Self::Developer => developer::shows(event),
            Self::Gemini => gemini::shows(event),
            Self::Live => live::shows(event),
            Self::RestApi => rest_api::shows(event),
        }
    }

    /// Writes one event of a stream if the dialect [`shows`](Self::shows) it.
    pub fn write(self, json_form: JsonForm, frame: &DevtoolFrame<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Plain => {}
            Self::Developer => developer::write(json_form, frame, out),
            Self::Gemini => gemini::write(json_form, frame, out),
            Self::Live => live::write(frame, None, out),
            Self::RestApi => rest_api::write(frame, out),
        }
    }

    /// Whether a stream shows a whole prompt, whichever client answers the questions meanwhile.
    pub fn streams_whole_prompts(self) -> bool {
        matches!(self, Self::Live | Self::RestApi)
    }

    /// The calls that wait for an answer, for the status of a task.
    pub(crate) fn pending_call_parts(self, view: &TaskView) -> Vec<Part> {
        match self {
            Self::Plain | Self::Live | Self::RestApi => Vec::new(),
            Self::Developer => developer::pending_call_parts(view),
            Self::Gemini => gemini::pending_call_parts(view),
        }
    }
}
