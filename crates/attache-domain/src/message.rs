//! What people and agents say to each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CommandCall, ContextId, MessageId, RequestedSettings, Sender, TaskId};

/// Free-form data attached to an object; an extension keeps its data under its URI.
pub type Metadata = serde_json::Map<String, Value>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Agent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_tasks: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// The settings that it asks for.
    #[serde(default, rename = "wishes", skip_serializing_if = "Option::is_none")]
    pub requested: Option<Box<RequestedSettings>>,
    /// The command to run; the parts only repeat it as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Box<CommandCall>>,
    /// Who sent it, for other clients. Older logs lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Box<Sender>>,
}

/// In the metadata of the last message of a turn that failed while its session goes on.
pub(crate) const FAILED: &str = "failed";

impl Message {
    /// The turn that ended with this message failed, and its session goes on.
    pub fn is_about_failure(&self) -> bool {
        self.metadata.as_ref().is_some_and(|metadata| metadata.get(FAILED) == Some(&true.into()))
    }

    /// A message of the agent within a task, holding one text part.
    pub fn from_agent(
        id: MessageId,
        context: ContextId,
        task: Option<TaskId>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            id,
            role: Role::Agent,
            parts: vec![Part::text(text)],
            context: Some(context),
            task,
            requested: None,
            command: None,
            sender: None,
            reference_tasks: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
        }
    }

    /// All text parts joined by line breaks: what a model reads first.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::as_text).collect();
        texts.join("\n")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub content: PartContent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Part {
    pub fn new(content: PartContent) -> Self {
        Self { content, media_type: None, filename: None, metadata: None }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            PartContent::Raw(_) | PartContent::Url(_) | PartContent::Data(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartContent {
    Text(String),
    /// The bytes of a file.
    Raw(Base64),
    /// Where a file can be fetched.
    Url(String),
    /// Any JSON value.
    Data(Value),
}

/// Bytes in standard base64 with padding, the form in which they are stored and sent.
///
/// They are kept encoded because most bytes only pass through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64(pub String);
