//! The development-tool extension as clients read it: what a coding agent does while it works.
//!
//! An agent that uses it sends everything as status updates: text, thoughts, and whole tool calls. See
//! `docs/extension/README.md`.

use attache_domain::{Part, PartContent};
use serde::Deserialize;
use serde_json::Value;

use super::StatusUpdate;
use crate::devtool::is_understood_uri;

/// What one status update of the extension shows.
#[derive(Debug, Clone, PartialEq)]
pub enum DevelopmentEvent {
    /// The next piece of the answer.
    Text(String),
    /// The answer was cut off: its text since the last tool call is void.
    TextWithdrawn,
    Thought {
        /// Empty where the model gives none.
        subject: String,
        description: String,
    },
    Call(Box<ToolCall>),
    /// A turn begins, waits or ends, or the agent reports on its work.
    State,
}

/// A tool call with everything that is known about it so far.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolCall {
    #[serde(rename = "tool_call_id")]
    pub id: String,
    pub status: CallStatus,
    #[serde(default)]
    pub tool_name: String,
    #[serde(default)]
    pub description: Option<String>,
    /// The latest output of a running call.
    #[serde(default)]
    pub live_content: Option<String>,
    #[serde(default)]
    pub output: Option<CallOutput>,
    #[serde(default)]
    pub error: Option<CallError>,
}

impl ToolCall {
    /// Reads the call that a part of a message holds, if it holds one.
    pub fn of(part: &Part) -> Option<Self> {
        serde_json::from_value(data_of(part)?.clone()).ok()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CallStatus {
    Pending,
    Executing,
    Succeeded,
    Failed,
    Cancelled,
    #[serde(other)]
    Unknown,
}

impl CallStatus {
    /// A word for people, such as `succeeded`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Executing => "executing",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }

    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// The result of a successful call; an agent sends one of the three.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct CallOutput {
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub diff: Option<FileDiff>,
    #[serde(default)]
    pub structured_data: Option<Value>,
}

/// What an edit has written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FileDiff {
    #[serde(default)]
    pub file_name: String,
    #[serde(default)]
    pub formatted_diff: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CallError {
    pub message: String,
}

#[derive(Deserialize)]
struct Thought {
    #[serde(default)]
    subject: String,
    #[serde(default)]
    description: String,
}

impl StatusUpdate {
    /// What the update shows in the terms of the extension; `None` if it does not use it.
    pub fn development(&self) -> Option<DevelopmentEvent> {
        // Under the URI of the agent's version, which may be a newer one.
        let (_, about) = self.metadata.as_ref()?.iter().find(|(uri, _)| is_understood_uri(uri))?;
        if about.get("withdrawn_message_id").is_some() {
            return Some(DevelopmentEvent::TextWithdrawn);
        }
        let parts = self.status.message.as_ref().map(|message| message.parts.as_slice()).unwrap_or_default();
        match about.get("kind")?.as_str()? {
            "TEXT_CONTENT" => Some(DevelopmentEvent::Text(parts.iter().filter_map(Part::as_text).collect())),
            "THOUGHT" => {
                let thought = data_of(parts.first()?)?.clone();
                let Thought { subject, description } = serde_json::from_value(thought).ok()?;
                Some(DevelopmentEvent::Thought { subject, description })
            }
            "TOOL_CALL_UPDATE" => Some(DevelopmentEvent::Call(Box::new(ToolCall::of(parts.first()?)?))),
            _ => Some(DevelopmentEvent::State),
        }
    }
}

fn data_of(part: &Part) -> Option<&Value> {
    match &part.content {
        PartContent::Data(data) => Some(data),
        PartContent::Text(_) | PartContent::Raw(_) | PartContent::Url(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::Binding;
    use serde_json::json;

    use super::*;
    use crate::Version;
    use crate::client::{Protocol, StreamEvent};
    use crate::devtool::URI;

    fn update(about: Value, part: Value) -> StatusUpdate {
        let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
        let event = json!({ "statusUpdate": {
            "taskId": "t", "metadata": { URI: about },
            "status": { "state": "TASK_STATE_WORKING",
                "message": { "messageId": "m", "role": "ROLE_AGENT", "parts": [part] } },
        }});
        match protocol.decode_event(200, event.to_string().as_bytes()).unwrap() {
            StreamEvent::StatusUpdate(update) => *update,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_of_event_is_understood() {
        let kind = |kind: &str| json!({ "kind": kind, "model": "m" });
        let text = update(kind("TEXT_CONTENT"), json!({"text": "Hi"}));
        assert_eq!(text.development(), Some(DevelopmentEvent::Text("Hi".into())));
        let thought = update(kind("THOUGHT"), json!({"data": {"subject": "A", "description": "B"}}));
        let expected = DevelopmentEvent::Thought { subject: "A".into(), description: "B".into() };
        assert_eq!(thought.development(), Some(expected));
        let withdrawn = json!({ "kind": "STATE_CHANGE", "withdrawn_message_id": "x" });
        let withdrawn = update(withdrawn, json!({"text": "cut off"}));
        assert_eq!(withdrawn.development(), Some(DevelopmentEvent::TextWithdrawn));
        let state = update(kind("STATE_CHANGE"), json!({"text": "waiting"}));
        assert_eq!(state.development(), Some(DevelopmentEvent::State));
        let newer = URI.replace("/v0/", "/v0.4/");
        let metadata = [(newer, kind("STATE_CHANGE"))].into_iter().collect();
        let newer = StatusUpdate { metadata: Some(metadata), ..state.clone() };
        assert_eq!(newer.development(), Some(DevelopmentEvent::State));
        let plain = StatusUpdate { metadata: None, ..state };
        assert_eq!(plain.development(), None);
    }

    #[test]
    fn a_call_is_read_with_what_it_has_shown_and_done() {
        let call = json!({
            "tool_call_id": "k1", "status": "SUCCEEDED", "tool_name": "replace", "input_parameters": {},
            "output": {"diff": {"file_name": "a", "formatted_diff": "+x"}}, "future": 1,
        });
        let event = update(json!({"kind": "TOOL_CALL_UPDATE"}), json!({"data": call})).development();
        let Some(DevelopmentEvent::Call(call)) = event else { panic!("{event:?}") };
        assert!(call.status.is_final());
        assert_eq!(call.output.unwrap().diff.unwrap().formatted_diff, "+x");
        let odd: CallStatus = serde_json::from_value(json!("RESTING")).unwrap();
        assert_eq!(odd, CallStatus::Unknown);
    }
}
