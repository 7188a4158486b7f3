//! Encodes requests in a dialect.

use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::protocol::{PushConfig, State};
use crate::request::SendRequest;

impl Dialect {
    pub(crate) fn state(self, state: State) -> &'static str {
        if self == Self::Schema0_3 {
            return match state {
                State::Unspecified => "unknown",
                State::Submitted => "submitted",
                State::Working => "working",
                State::Completed => "completed",
                State::Failed => "failed",
                State::Canceled => "canceled",
                State::InputRequired => "input-required",
                State::Rejected => "rejected",
                State::AuthRequired => "auth-required",
            };
        }
        match state {
            State::Unspecified => "TASK_STATE_UNSPECIFIED",
            State::Submitted => "TASK_STATE_SUBMITTED",
            State::Working => "TASK_STATE_WORKING",
            State::Completed => "TASK_STATE_COMPLETED",
            State::Failed => "TASK_STATE_FAILED",
            State::Canceled if self == Self::Proto0_3 => "TASK_STATE_CANCELLED",
            State::Canceled => "TASK_STATE_CANCELED",
            State::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            State::Rejected => "TASK_STATE_REJECTED",
            State::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        }
    }

    pub(crate) fn user(self) -> &'static str {
        if self == Self::Schema0_3 { "user" } else { "ROLE_USER" }
    }

    pub(crate) fn text_part(self, text: &str) -> Value {
        if self == Self::Schema0_3 { json!({"kind": "text", "text": text}) } else { json!({"text": text}) }
    }

    pub(crate) fn bytes_part(self, base64: &str, media_type: &str) -> Value {
        match self {
            Self::Schema0_3 => {
                json!({"kind": "file", "file": {"bytes": base64, "mimeType": media_type, "name": "file"}})
            }
            Self::Proto0_3 => json!({"file": {"fileWithBytes": base64, "mimeType": media_type}}),
            Self::V1_0 => json!({"raw": base64, "mediaType": media_type, "filename": "file"}),
        }
    }

    pub(crate) fn data_part(self, data: &Value) -> Value {
        match self {
            Self::Schema0_3 => json!({"kind": "data", "data": data}),
            Self::Proto0_3 => json!({"data": {"data": data}}),
            Self::V1_0 => json!({"data": data}),
        }
    }
}

/// A message of the user.
pub(crate) fn message(dialect: Dialect, send: &SendRequest) -> Value {
    let mut message = json!({
        "messageId": send.message_id,
        "role": dialect.user(),
        dialect.parts(): [dialect.text_part(&send.text)],
    });
    if dialect == Dialect::Schema0_3 {
        message["kind"] = "message".into();
    }
    if let Some(context) = &send.context {
        message["contextId"] = context.as_str().into();
    }
    if let Some(task) = &send.task {
        message["taskId"] = task.as_str().into();
    }
    message
}

/// The parameters of a send or a stream.
pub(crate) fn send(dialect: Dialect, send: &SendRequest) -> Value {
    let mut configuration = json!({});
    if let Some(length) = send.history {
        configuration["historyLength"] = length.into();
    }
    if !send.accepted.is_empty() {
        configuration["acceptedOutputModes"] = send.accepted.clone().into();
    }
    if let Some(push) = &send.push {
        let member = match dialect {
            Dialect::Schema0_3 => "pushNotificationConfig",
            Dialect::Proto0_3 => "pushNotification",
            Dialect::V1_0 => "taskPushNotificationConfig",
        };
        configuration[member] = push_config(dialect, push);
    }
    let said_anything = configuration.as_object().is_some_and(|members| !members.is_empty());
    // The 0.3 protobuf does not distinguish "missing" from "false", so the value is always written.
    let wait = send.wait.or((dialect == Dialect::Proto0_3 && said_anything).then_some(true));
    if let Some(wait) = wait {
        match dialect {
            Dialect::V1_0 => configuration["returnImmediately"] = (!wait).into(),
            Dialect::Schema0_3 | Dialect::Proto0_3 => configuration["blocking"] = wait.into(),
        }
    }
    let mut params = json!({"message": message(dialect, send)});
    if configuration.as_object().is_some_and(|members| !members.is_empty()) {
        params["configuration"] = configuration;
    }
    params
}

/// A push configuration without the task it belongs to.
pub(crate) fn push_config(dialect: Dialect, config: &PushConfig) -> Value {
    let mut encoded = json!({"url": config.url});
    if let Some(id) = &config.id {
        encoded["id"] = id.as_str().into();
    }
    if let Some(token) = &config.token {
        encoded["token"] = token.as_str().into();
    }
    if let Some((scheme, credentials)) = &config.authentication {
        encoded["authentication"] = match dialect {
            Dialect::V1_0 => json!({"scheme": scheme, "credentials": credentials}),
            Dialect::Schema0_3 | Dialect::Proto0_3 => {
                json!({"schemes": [scheme], "credentials": credentials})
            }
        };
    }
    encoded
}
