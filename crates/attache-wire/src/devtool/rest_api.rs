//! The REST API of the server: tasks, prompts, confirmations and commands in camelCase JSON, and five kinds of events.
//!
//! The types here are the bodies of the API. [`Route`] lists its paths; the server dispatches by that list, and
//! [`openapi`] describes the API from the same list and types. Paths that A2A has too serve the [union](members) of both.

mod body;
mod call;
mod error;
mod event;
mod list_filter;
mod members;
pub mod openapi;
mod responses;
mod route;
mod schemas;

pub use body::{Confirmation, CreateTask, ExecuteCommand, ExecuteTask, check_task_id, is_gemini_create};
pub use error::{error, resumed_without_id};
pub use event::RestEvent;
pub(super) use event::{shows, write};
pub(crate) use event::{write_last_words, write_queued, write_state};
pub use list_filter::decode_list;
pub use members::{add_members, write_list};
pub use responses::{
    CommandResult, CreatedTask, DeliveredAnswer, TaskState, command_refused, command_result, command_started,
};
pub use route::{ROUTES, Route, RouteMatch, RouteSpec, find};

/// The types that only describe: the encoders of A2A write tasks, and the server its health.
pub mod schema {
    pub use super::body::AgentSettings;
    pub use super::call::{
        CallStatus, ConfirmationDetails, ConfirmationOption, GivenAnswer, PendingConfirmation, Question,
        QuestionOption, ToolCallUpdate,
    };
    pub use super::members::{Artifact, Message, Part, RestMembers, Task, TaskList, TaskStatus};
    pub use super::responses::{Command, CommandArgument, CommandList, ErrorBody, ErrorStatus, Health};
}

use serde::Serialize;

/// One response as bytes.
pub fn to_bytes(response: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(response).expect("the responses are JSON")
}
