//! Messages of A2A 1.0.

use attache_domain::{
    Artifact, ContextId, Message, Part, PartContent, PushAuthentication, PushConfigPage, StoredPushConfig,
    TaskId, TaskStatus, TaskView, Update,
};
use attache_proto::v1_0::{self as proto, part::Content, stream_response::Payload};

use super::{role_number, state_number, text, timestamp, usage_metadata};
use crate::devtool::Dialect;
use crate::encode::{IncludeArtifacts, TaskPage, TaskShape, status_with_pending_calls};
use crate::proto::value::{base64_bytes, to_struct, to_value};

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
    item(Payload::Message(message(it)))
}

pub(super) fn update(task: &TaskId, context: &ContextId, update: &Update<'_>) -> proto::StreamResponse {
    let (task_id, context_id) = (task.to_string(), context.to_string());
    item(match update {
        // 1.0 has no `final`: the end of the stream says it.
        Update::Status { status: it, closes: _, usage } => {
            Payload::StatusUpdate(proto::TaskStatusUpdateEvent {
                task_id,
                context_id,
                status: Some(status(it)),
                metadata: usage.and_then(usage_metadata),
            })
        }
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
        Update::Replied(it) => Payload::Message(message(it)),
    })
}

pub(super) fn list(page: &TaskPage, shape: TaskShape) -> proto::ListTasksResponse {
    proto::ListTasksResponse {
        tasks: page.tasks.iter().map(|view| task(view, shape)).collect(),
        next_page_token: page.next_page_token.clone(),
        page_size: i32::try_from(page.page_size).unwrap_or(i32::MAX),
        total_size: i32::try_from(page.total_size).unwrap_or(i32::MAX),
    }
}

pub(super) fn push_config(stored: &StoredPushConfig) -> proto::TaskPushNotificationConfig {
    let config = &stored.config;
    let authentication = config.authentication.as_ref();
    proto::TaskPushNotificationConfig {
        tenant: String::new(),
        id: config.id.to_string(),
        task_id: stored.task.to_string(),
        url: config.url.clone(),
        token: text(config.token.as_deref()),
        authentication: authentication.map(|PushAuthentication { schemes, credentials }| {
            proto::AuthenticationInfo {
                scheme: text(schemes.first().map(String::as_str)),
                credentials: text(credentials.as_deref()),
            }
        }),
    }
}

pub(super) fn push_configs(page: &PushConfigPage) -> proto::ListTaskPushNotificationConfigsResponse {
    proto::ListTaskPushNotificationConfigsResponse {
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
        message: status.message.as_deref().map(message),
        timestamp: Some(timestamp(status.at)),
    }
}

fn message(message: &Message) -> proto::Message {
    proto::Message {
        message_id: message.id.to_string(),
        context_id: text(message.context.as_ref().map(ContextId::as_str)),
        task_id: text(message.task.as_ref().map(TaskId::as_str)),
        role: role_number(message.role),
        parts: message.parts.iter().map(part).collect(),
        metadata: message.metadata.as_ref().map(to_struct),
        extensions: message.extensions.clone(),
        reference_task_ids: message.reference_tasks.iter().map(TaskId::to_string).collect(),
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
    proto::Part {
        content: Some(match &part.content {
            PartContent::Text(text) => Content::Text(text.clone()),
            PartContent::Raw(bytes) => Content::Raw(base64_bytes(bytes)),
            PartContent::Url(url) => Content::Url(url.clone()),
            PartContent::Data(data) => Content::Data(to_value(data)),
        }),
        metadata: part.metadata.as_ref().map(to_struct),
        filename: text(part.filename.as_deref()),
        media_type: text(part.media_type.as_deref()),
    }
}
