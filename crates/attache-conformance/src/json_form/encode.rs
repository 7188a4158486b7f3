//! Encodes requests in a JSON form.

use serde_json::{Value, json};

use crate::json_form::JsonForm;
use crate::protocol::{PushConfig, State};
use crate::request::SendRequest;

impl JsonForm {
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
pub(crate) fn message(json_form: JsonForm, send: &SendRequest) -> Value {
    let mut message = json!({
        "messageId": send.message_id,
        "role": json_form.user(),
        json_form.parts(): [json_form.text_part(&send.text)],
    });
    if json_form == JsonForm::Schema0_3 {
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
pub(crate) fn send(json_form: JsonForm, send: &SendRequest) -> Value {
    let mut configuration = json!({});
    if let Some(length) = send.history {
        configuration["historyLength"] = length.into();
    }
    if !send.accepted.is_empty() {
        configuration["acceptedOutputModes"] = send.accepted.clone().into();
    }
    if let Some(push) = &send.push {
        let member = match json_form {
            JsonForm::Schema0_3 => "pushNotificationConfig",
            JsonForm::Proto0_3 => "pushNotification",
            JsonForm::V1_0 => "taskPushNotificationConfig",
        };
        configuration[member] = push_config(json_form, push);
    }
    let said_anything = configuration.as_object().is_some_and(|members| !members.is_empty());
    // The 0.3 protobuf does not distinguish "missing" from "false", so the value is always written.
    let wait = send.wait.or((json_form == JsonForm::Proto0_3 && said_anything).then_some(true));
    if let Some(wait) = wait {
        match json_form {
            JsonForm::V1_0 => configuration["returnImmediately"] = (!wait).into(),
            JsonForm::Schema0_3 | JsonForm::Proto0_3 => configuration["blocking"] = wait.into(),
        }
    }
    let mut params = json!({"message": message(json_form, send)});
    if configuration.as_object().is_some_and(|members| !members.is_empty()) {
        params["configuration"] = configuration;
    }
    params
}

/// A push configuration without the task it belongs to.
pub(crate) fn push_config(json_form: JsonForm, config: &PushConfig) -> Value {
    let mut encoded = json!({"url": config.url});
    if let Some(id) = &config.id {
        encoded["id"] = id.as_str().into();
    }
    if let Some(token) = &config.token {
        encoded["token"] = token.as_str().into();
    }
    if let Some((scheme, credentials)) = &config.authentication {
        encoded["authentication"] = match json_form {
            JsonForm::V1_0 => json!({"scheme": scheme, "credentials": credentials}),
            JsonForm::Schema0_3 | JsonForm::Proto0_3 => {
                json!({"schemes": [scheme], "credentials": credentials})
            }
        };
    }
    encoded
}
