//! Domain words to protobuf, through the generated types of each version.

use attache_domain::{
    ContextId, Message, PushConfigPage, Role, StoredPushConfig, TaskId, TaskState, TaskView, Timestamp,
    Update, Usage,
};
use prost_types::Struct;
use serde_json::json;

use super::value::to_struct;
use crate::Version;
use crate::encode::{TaskPage, TaskShape};

mod v0_3;
mod v1_0;

/// A bare task: the response to get and cancel.
pub fn write_task(version: Version, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    match version {
        Version::V0_3 => write(&v0_3::task(view, shape), out),
        Version::V1_0 => write(&v1_0::task(view, shape), out),
    }
}

/// A task as the response to send, or as an item of a stream.
pub fn write_task_item(version: Version, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    match version {
        Version::V0_3 => write(&v0_3::task_item(view, shape), out),
        Version::V1_0 => write(&v1_0::task_item(view, shape), out),
    }
}

/// A bare message as the response to send, or as the only item of a stream.
pub fn write_message_item(version: Version, message: &Message, out: &mut Vec<u8>) {
    match version {
        Version::V0_3 => write(&v0_3::message_item(message), out),
        Version::V1_0 => write(&v1_0::message_item(message), out),
    }
}

/// One event of a stream.
pub fn write_update(
    version: Version,
    task: &TaskId,
    context: &ContextId,
    update: &Update<'_>,
    out: &mut Vec<u8>,
) {
    match version {
        Version::V0_3 => write(&v0_3::update(task, context, update), out),
        Version::V1_0 => write(&v1_0::update(task, context, update), out),
    }
}

/// The response to list, which only 1.0 has.
pub fn write_list(page: &TaskPage, shape: TaskShape, out: &mut Vec<u8>) {
    write(&v1_0::list(page, shape), out);
}

/// The response to setting or getting a push configuration.
pub fn write_push_config(version: Version, stored: &StoredPushConfig, out: &mut Vec<u8>) {
    match version {
        Version::V0_3 => write(&v0_3::push_config(stored), out),
        Version::V1_0 => write(&v1_0::push_config(stored), out),
    }
}

pub fn write_push_configs(version: Version, page: &PushConfigPage, out: &mut Vec<u8>) {
    match version {
        Version::V0_3 => write(&v0_3::push_configs(page), out),
        Version::V1_0 => write(&v1_0::push_configs(page), out),
    }
}

pub(super) fn write(message: &impl prost::Message, out: &mut Vec<u8>) {
    message.encode(out).expect("a vector takes every write");
}

/// To the millisecond, as in JSON.
fn timestamp(at: Timestamp) -> prost_types::Timestamp {
    let milliseconds = at.as_millisecond();
    prost_types::Timestamp {
        // Before 1970 seconds are negative; nanoseconds never are.
        seconds: milliseconds.div_euclid(1000),
        nanos: i32::try_from(milliseconds.rem_euclid(1000)).unwrap_or_default() * 1_000_000,
    }
}

/// The enum is the same in both versions.
fn state_number(state: TaskState) -> i32 {
    use attache_proto::v1_0::TaskState as Number;
    let number = match state {
        TaskState::Submitted => Number::Submitted,
        TaskState::Working => Number::Working,
        TaskState::Completed => Number::Completed,
        TaskState::Failed => Number::Failed,
        TaskState::Canceled => Number::Canceled,
        TaskState::InputRequired => Number::InputRequired,
        TaskState::Rejected => Number::Rejected,
        TaskState::AuthRequired => Number::AuthRequired,
    };
    number.into()
}

/// The enum is the same in both versions.
fn role_number(role: Role) -> i32 {
    use attache_proto::v1_0::Role as Number;
    match role {
        Role::User => Number::User.into(),
        Role::Agent => Number::Agent.into(),
    }
}

fn usage_metadata(usage: &Usage) -> Option<Struct> {
    let usage = json!({ "usage": {
        "inputTokens": usage.input,
        "cachedTokens": usage.cached,
        "outputTokens": usage.output,
        "thoughtTokens": usage.thoughts,
    }});
    usage.as_object().map(to_struct)
}

fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}
