//! What is asked of an agent.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Message, TaskState};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SendMessage {
    pub message: Message,
    pub configuration: SendConfiguration,
}

impl SendMessage {
    pub fn new(message: Message) -> Self {
        Self { message, configuration: SendConfiguration::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendConfiguration {
    /// Answer as soon as the task exists instead of waiting for it to settle.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub return_immediately: bool,
    /// At most this many of the latest messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTasks {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    #[serde(rename = "status", skip_serializing_if = "Option::is_none")]
    pub state: Option<TaskState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// From the page before; empty for the first.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub page_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_artifacts: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OneTask<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_length: Option<u32>,
}

/// A call, free of any binding.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) params: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Send,
    Stream,
    Get,
    List,
    Cancel,
    Subscribe,
}

impl Call {
    pub(crate) fn send(send: &SendMessage) -> Self {
        Self { method: Method::Send, params: members(send) }
    }

    pub(crate) fn stream(send: &SendMessage) -> Self {
        Self { method: Method::Stream, params: members(send) }
    }

    pub(crate) fn list(list: &ListTasks) -> Self {
        Self { method: Method::List, params: members(list) }
    }

    pub(crate) fn about(method: Method, id: &str, history_length: Option<u32>) -> Self {
        Self { method, params: members(&OneTask { id, history_length }) }
    }
}

fn members(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => members,
        // Every one of them is a struct whose members JSON can hold.
        Ok(_) | Err(_) => Map::new(),
    }
}
