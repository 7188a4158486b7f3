//! What people and agents say to each other.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::spelling::SpelledRole;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SpelledRole", into = "SpelledRole")]
pub enum Role {
    User,
    Agent,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub message_id: String,
    pub role: Role,
    #[serde(default)]
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

impl Message {
    /// One text of the user. Sent again with the same id while it is worked on, it is the same message.
    pub fn from_user(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with_parts(id, vec![Part::text(text)])
    }

    pub fn with_parts(id: impl Into<String>, parts: Vec<Part>) -> Self {
        let message_id = id.into();
        Self { message_id, role: Role::User, parts, context_id: None, task_id: None, metadata: None }
    }

    /// The same, said to a task.
    #[must_use]
    pub fn to_task(mut self, task: impl Into<String>) -> Self {
        self.task_id = Some(task.into());
        self
    }

    /// The same, said in a conversation.
    #[must_use]
    pub fn in_context(mut self, context: impl Into<String>) -> Self {
        self.context_id = Some(context.into());
        self
    }

    /// The same with one more member of its metadata; an extension's has its URI as `key`.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// All text parts, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    #[serde(flatten)]
    pub content: PartContent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartContent {
    Text(String),
    /// Bytes in base64.
    Raw(String),
    Url(String),
    Data(Value),
}

impl Part {
    pub fn new(content: PartContent) -> Self {
        Self { content, media_type: None, filename: None, metadata: None }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }

    pub fn data(data: impl Into<Value>) -> Self {
        Self::new(PartContent::Data(data.into()))
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            PartContent::Raw(_) | PartContent::Url(_) | PartContent::Data(_) => None,
        }
    }

    pub fn as_data(&self) -> Option<&Value> {
        match &self.content {
            PartContent::Data(data) => Some(data),
            PartContent::Text(_) | PartContent::Raw(_) | PartContent::Url(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_spelled_as_the_protocol_does() {
        let message = Message::from_user("m-1", "hi").to_task("t-1");
        let message = message.in_context("c-1").with_metadata("a", 1).with_metadata("b", json!({"c": 2}));
        let spelled = json!({
            "messageId": "m-1",
            "role": "ROLE_USER",
            "taskId": "t-1",
            "contextId": "c-1",
            "parts": [{"text": "hi"}],
            "metadata": {"a": 1, "b": {"c": 2}},
        });
        assert_eq!(serde_json::to_value(&message).unwrap(), spelled);
    }

    #[test]
    fn parts_of_every_kind_are_read_whatever_else_they_hold() {
        let parts = json!([
            {"text": "a", "mediaType": "text/x-diff", "filename": "a.diff", "future": 1},
            {"raw": "QQ=="},
            {"url": "https://example.com/a"},
            {"data": [1, {"b": 2}]},
        ]);
        let parts: Vec<Part> = serde_json::from_value(parts).unwrap();
        assert_eq!(parts[0].as_text(), Some("a"));
        assert_eq!(parts[0].media_type.as_deref(), Some("text/x-diff"));
        assert_eq!(parts[1].content, PartContent::Raw("QQ==".into()));
        assert_eq!(parts[2].content, PartContent::Url("https://example.com/a".into()));
        assert_eq!(parts[3].as_data(), Some(&json!([1, {"b": 2}])));
        assert_eq!(parts[0].as_data(), None);
    }
}
