//! Messages of A2A 0.3. What does not fit into them travels as in its JSON.

use attache_domain::{
    Artifact, ContextId, Message, Metadata, Part, PartContent, PushAuthentication, PushConfigPage,
    StoredPushConfig, TaskId, TaskStatus, TaskView, Update,
};
use attache_proto::v0_3::{self as proto, file_part::File, part::Part as Content, stream_response::Payload};
use serde_json::Value;

use super::{role_number, state_number, text, timestamp, usage_metadata};
use crate::devtool::Dialect;
use crate::encode::part::{WRAPPED_DATA_FLAG, WRAPPED_DATA_MEMBER};
use crate::encode::{IncludeArtifacts, TaskShape, status_with_pending_calls};
use crate::proto::value::{base64_bytes, to_struct};

pub(super) fn task(view: &TaskView, shape: TaskShape) -> proto::Task {
    let with_calls = status_with_pending_calls(view, shape.dialect);
    let artifacts = view.shown_artifacts(shape.dialect != Dialect::Plain);
    proto::Task {
        id: view.task.to_string(),
        context_id: view.context.to_string(),
        status: Some(status(with_calls.as_ref().unwrap_or(&view.status))),
        artifacts: match shape.artifacts {
            IncludeArtifacts::Never => Vec::new(),
            IncludeArtifacts::WhenAny | IncludeArtifacts::Always => artifacts.map(artifact).collect(),
        },
        history: view.shown_history(shape.history_length).into_iter().map(message).collect(),
        metadata: view.metadata.as_ref().map(to_struct),
    }
}

pub(super) fn task_item(view: &TaskView, shape: TaskShape) -> proto::StreamResponse {
    item(Payload::Task(task(view, shape)))
}

pub(super) fn message_item(it: &Message) -> proto::StreamResponse {
    item(Payload::Msg(message(it)))
}

pub(super) fn update(task: &TaskId, context: &ContextId, update: &Update<'_>) -> proto::StreamResponse {
    let (task_id, context_id) = (task.to_string(), context.to_string());
    item(match update {
        Update::Status { status: it, closes, usage } => Payload::StatusUpdate(proto::TaskStatusUpdateEvent {
            task_id,
            context_id,
            status: Some(status(it)),
            r#final: *closes,
            metadata: usage.and_then(usage_metadata),
        }),
        Update::Artifact { artifact: it, append, last_chunk } => {
            Payload::ArtifactUpdate(proto::TaskArtifactUpdateEvent {
                task_id,
                context_id,
                artifact: Some(artifact(it)),
                append: *append,
                last_chunk: *last_chunk,
                metadata: None,
            })
        }
        Update::Replied(it) => Payload::Msg(message(it)),
    })
}

pub(super) fn push_config(stored: &StoredPushConfig) -> proto::TaskPushNotificationConfig {
    let (task, config) = (&stored.task, &stored.config);
    let authentication = config.authentication.as_ref();
    let authentication = authentication.map(|PushAuthentication { schemes, credentials }| {
        proto::AuthenticationInfo { schemes: schemes.clone(), credentials: text(credentials.as_deref()) }
    });
    proto::TaskPushNotificationConfig {
        name: format!("tasks/{task}/pushNotificationConfigs/{}", config.id),
        push_notification_config: Some(proto::PushNotificationConfig {
            id: config.id.to_string(),
            url: config.url.clone(),
            token: text(config.token.as_deref()),
            authentication,
        }),
    }
}

pub(super) fn push_configs(page: &PushConfigPage) -> proto::ListTaskPushNotificationConfigResponse {
    proto::ListTaskPushNotificationConfigResponse {
        configs: page.configs.iter().map(push_config).collect(),
        next_page_token: page.next_page_token.clone(),
    }
}

fn item(payload: Payload) -> proto::StreamResponse {
    proto::StreamResponse { payload: Some(payload) }
}

fn status(status: &TaskStatus) -> proto::TaskStatus {
    proto::TaskStatus {
        state: state_number(status.state),
        update: status.message.as_deref().map(message),
        timestamp: Some(timestamp(status.at)),
    }
}

/// 0.3 has no field for referenced tasks.
fn message(message: &Message) -> proto::Message {
    proto::Message {
        message_id: message.id.to_string(),
        context_id: text(message.context.as_ref().map(ContextId::as_str)),
        task_id: text(message.task.as_ref().map(TaskId::as_str)),
        role: role_number(message.role),
        content: message.parts.iter().map(part).collect(),
        metadata: message.metadata.as_ref().map(to_struct),
        extensions: message.extensions.clone(),
    }
}

fn artifact(artifact: &Artifact) -> proto::Artifact {
    proto::Artifact {
        artifact_id: artifact.id.to_string(),
        name: text(artifact.name.as_deref()),
        description: text(artifact.description.as_deref()),
        parts: artifact.parts.iter().map(part).collect(),
        metadata: artifact.metadata.as_ref().map(to_struct),
        extensions: artifact.extensions.clone(),
    }
}

fn part(part: &Part) -> proto::Part {
    let mut metadata = part.metadata.as_ref().map(to_struct);
    let content = match &part.content {
        PartContent::Text(text) => Content::Text(text.clone()),
        PartContent::Raw(bytes) => file(part, File::FileWithBytes(base64_bytes(bytes))),
        PartContent::Url(uri) => file(part, File::FileWithUri(uri.clone())),
        PartContent::Data(Value::Object(members)) => data(members),
        PartContent::Data(other) => {
            let mut flagged = part.metadata.clone().unwrap_or_default();
            flagged.insert(WRAPPED_DATA_FLAG.to_owned(), Value::Bool(true));
            metadata = Some(to_struct(&flagged));
            data(&Metadata::from_iter([(WRAPPED_DATA_MEMBER.to_owned(), other.clone())]))
        }
    };
    proto::Part { metadata, part: Some(content) }
}

fn file(part: &Part, file: File) -> Content {
    Content::File(proto::FilePart {
        mime_type: text(part.media_type.as_deref()),
        name: text(part.filename.as_deref()),
        file: Some(file),
    })
}

fn data(members: &Metadata) -> Content {
    Content::Data(proto::DataPart { data: Some(to_struct(members)) })
}
