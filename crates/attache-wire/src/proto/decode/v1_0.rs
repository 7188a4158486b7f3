//! Requests of 1.0.

use attache_domain::{
    CancelTask, ContextId, DEFAULT_PAGE_SIZE, Fault, GetTask, ListPushConfigs, ListTasks, MAX_PAGE_SIZE,
    Message, MessageAnswers, NewPushConfig, Operation, OperationKind, Part, PartContent, PushAuthentication,
    PushConfig, PushConfigOperation, PushShape, SendConfiguration, SendMessage, SendOptions, SubscribeTask,
    TaskId, TaskState, Timestamp,
};
use attache_proto::v1_0 as proto;
use bytes::Bytes;

use super::{
    MessageMembers, bounded_integer, nonempty, optional_id, parse, required, required_id, to_base64,
    unsupported_operation,
};
use crate::decode::decoder::{Decoder, FieldPath};
use crate::devtool::incoming;
use crate::enum_names;
use crate::proto::value::{self, read_object};

/// Reads the operation, if it is valid, and the tenant.
pub(super) fn read(
    decoder: &mut Decoder,
    kind: OperationKind,
    message: Bytes,
) -> Result<(Option<Operation>, String), Fault> {
    let root = FieldPath::Root;
    Ok(match kind {
        OperationKind::Send | OperationKind::Stream => {
            let request: proto::SendMessageRequest = parse(message)?;
            let tenant = request.tenant.clone();
            let send = read_send(decoder, request);
            let operation = if kind == OperationKind::Send { Operation::Send } else { Operation::Stream };
            (send.map(operation), tenant)
        }
        OperationKind::Get => {
            let proto::GetTaskRequest { tenant, id, history_length } = parse(message)?;
            let task = required_id(decoder, id, root.member("id"));
            let history_length = read_history_length(decoder, history_length, root);
            (task.map(|id| Operation::Get(GetTask { task: id.into(), history_length, at: None })), tenant)
        }
        OperationKind::List => {
            let request: proto::ListTasksRequest = parse(message)?;
            let tenant = request.tenant.clone();
            (Some(Operation::List(read_list(decoder, request))), tenant)
        }
        OperationKind::Cancel => {
            let proto::CancelTaskRequest { tenant, id, metadata } = parse(message)?;
            let task = required_id(decoder, id, root.member("id"));
            let metadata = read_object(decoder, metadata, root.member("metadata"));
            (task.map(|id| Operation::Cancel(CancelTask { task: id.into(), metadata })), tenant)
        }
        OperationKind::Subscribe => {
            let proto::SubscribeToTaskRequest { tenant, id } = parse(message)?;
            let task = required_id(decoder, id, root.member("id"));
            (task.map(|id| Operation::Subscribe(SubscribeTask::to(TaskId::from(id)))), tenant)
        }
        OperationKind::ExtendedCard => {
            let proto::GetExtendedAgentCardRequest { tenant } = parse(message)?;
            (Some(Operation::ExtendedCard), tenant)
        }
        OperationKind::PushCreate
        | OperationKind::PushGet
        | OperationKind::PushList
        | OperationKind::PushDelete => {
            let (call, tenant) = read_push(decoder, kind, message)?;
            (call.map(Operation::PushConfig), tenant)
        }
        OperationKind::Commands | OperationKind::Execute => return Err(unsupported_operation(kind)),
    })
}

fn read_send(decoder: &mut Decoder, request: proto::SendMessageRequest) -> Option<SendMessage> {
    let root = FieldPath::Root;
    let message = match request.message {
        Some(message) => read_message(decoder, message, root.member("message")),
        None => decoder.refuse(root.member("message"), "is required"),
    };
    let configuration = match request.configuration {
        Some(configuration) => read_configuration(decoder, configuration, root.member("configuration")),
        None => SendConfiguration::default(),
    };
    let mut metadata = read_object(decoder, request.metadata, root.member("metadata"));
    let (mut message, answers) = message?;
    incoming::read_request(decoder, &mut message, metadata.as_mut());
    Some(SendMessage { message, answers, configuration, metadata, options: SendOptions::default() })
}

fn read_configuration(
    decoder: &mut Decoder,
    configuration: proto::SendMessageConfiguration,
    path: FieldPath<'_>,
) -> SendConfiguration {
    let proto::SendMessageConfiguration {
        accepted_output_modes,
        task_push_notification_config: push,
        history_length,
        return_immediately,
    } = configuration;
    let push =
        push.and_then(|config| read_config(decoder, config, path.member("task_push_notification_config")));
    SendConfiguration {
        accepted_output_modes,
        history_length: read_history_length(decoder, history_length, path),
        return_immediately,
        push: push.map(Box::new),
    }
}

fn read_history_length(decoder: &mut Decoder, length: Option<i32>, path: FieldPath<'_>) -> Option<usize> {
    bounded_integer(decoder, length?, 0, i32::MAX, path.member("history_length"))
}

fn read_message(
    decoder: &mut Decoder,
    message: proto::Message,
    path: FieldPath<'_>,
) -> Option<(Message, MessageAnswers)> {
    let members = MessageMembers {
        id: message.message_id,
        role: message.role,
        context: message.context_id,
        task: message.task_id,
        reference_tasks: message.reference_task_ids,
        extensions: message.extensions,
        metadata: message.metadata,
    };
    super::read_message(decoder, members, ("parts", message.parts), read_part, path)
}

fn read_part(decoder: &mut Decoder, part: proto::Part, path: FieldPath<'_>) -> Option<Part> {
    use proto::part::Content;
    let content = match part.content {
        Some(Content::Text(text)) => Some(PartContent::Text(text)),
        Some(Content::Raw(bytes)) => Some(PartContent::Raw(to_base64(&bytes))),
        Some(Content::Url(url)) if url.is_empty() => decoder.refuse(path.member("url"), "must not be empty"),
        Some(Content::Url(url)) => Some(PartContent::Url(url)),
        Some(Content::Data(data)) => Some(PartContent::Data(value::read(decoder, data, path.member("data")))),
        None => decoder.refuse(path, "must have exactly one of text, raw, url and data, but has none"),
    };
    let metadata = read_object(decoder, part.metadata, path.member("metadata"));
    let (media_type, filename) = (nonempty(part.media_type), nonempty(part.filename));
    Some(Part { content: content?, media_type, filename, metadata })
}

fn read_list(decoder: &mut Decoder, request: proto::ListTasksRequest) -> ListTasks {
    let root = FieldPath::Root;
    let most = i32::try_from(MAX_PAGE_SIZE).unwrap_or(i32::MAX);
    let size =
        request.page_size.and_then(|size| bounded_integer(decoder, size, 1, most, root.member("page_size")));
    ListTasks {
        context: optional_id(decoder, request.context_id, root.member("context_id")).map(ContextId::from),
        state: read_state(decoder, request.status, root.member("status")),
        prompt: None,
        page_size: size.unwrap_or(DEFAULT_PAGE_SIZE),
        page_token: request.page_token,
        history_length: read_history_length(decoder, request.history_length, root),
        status_since: read_time(
            decoder,
            request.status_timestamp_after,
            root.member("status_timestamp_after"),
        ),
        include_artifacts: request.include_artifacts.unwrap_or(false),
    }
}

/// Unspecified is any state.
fn read_state(decoder: &mut Decoder, state: i32, path: FieldPath<'_>) -> Option<TaskState> {
    if state == 0 {
        return None;
    }
    let read = enum_names::state_from_number(i64::from(state));
    if read.is_none() {
        decoder
            .refuse::<()>(path, format!("must be a state from 1 to {}, not {state}", TaskState::ALL.len()));
    }
    read
}

fn read_time(
    decoder: &mut Decoder,
    time: Option<prost_types::Timestamp>,
    path: FieldPath<'_>,
) -> Option<Timestamp> {
    let prost_types::Timestamp { seconds, nanos } = time?;
    match Timestamp::new(seconds, nanos) {
        Ok(time) if nanos >= 0 => Some(time),
        _ => decoder.refuse(path, format!("is no time: {seconds} seconds and {nanos} nanoseconds")),
    }
}

fn read_push(
    decoder: &mut Decoder,
    kind: OperationKind,
    message: Bytes,
) -> Result<(Option<PushConfigOperation>, String), Fault> {
    let root = FieldPath::Root;
    Ok(match kind {
        OperationKind::PushCreate => {
            let config: proto::TaskPushNotificationConfig = parse(message)?;
            let tenant = config.tenant.clone();
            let task = required_id(decoder, config.task_id.clone(), root.member("task_id"));
            let request = read_config(decoder, config, root);
            let create = |task: String, request| PushConfigOperation::Create { task: task.into(), request };
            (task.zip(request).map(|(task, request)| create(task, request)), tenant)
        }
        OperationKind::PushList => {
            let request: proto::ListTaskPushNotificationConfigsRequest = parse(message)?;
            let task = required_id(decoder, request.task_id, root.member("task_id"));
            let most = i32::try_from(MAX_PAGE_SIZE).unwrap_or(i32::MAX);
            let size = bounded_integer(decoder, request.page_size, 0, most, root.member("page_size"));
            let list = |task: String| ListPushConfigs {
                task: task.into(),
                page_size: size.filter(|size| *size > 0),
                page_token: request.page_token,
            };
            (task.map(list).map(PushConfigOperation::List), request.tenant)
        }
        OperationKind::PushGet => {
            let proto::GetTaskPushNotificationConfigRequest { tenant, task_id, id } = parse(message)?;
            let pair = read_pair(decoder, task_id, id);
            let get = |(task, id): (String, String)| PushConfigOperation::Get {
                task: task.into(),
                config: Some(id.into()),
            };
            (pair.map(get), tenant)
        }
        _ => {
            let proto::DeleteTaskPushNotificationConfigRequest { tenant, task_id, id } = parse(message)?;
            let pair = read_pair(decoder, task_id, id);
            let delete = |(task, id): (String, String)| PushConfigOperation::Delete {
                task: task.into(),
                config: id.into(),
            };
            (pair.map(delete), tenant)
        }
    })
}

fn read_pair(decoder: &mut Decoder, task: String, id: String) -> Option<(String, String)> {
    let root = FieldPath::Root;
    let task = required_id(decoder, task, root.member("task_id"));
    let id = required_id(decoder, id, root.member("id"));
    task.zip(id)
}

/// Ignores the task that it names.
fn read_config(
    decoder: &mut Decoder,
    config: proto::TaskPushNotificationConfig,
    path: FieldPath<'_>,
) -> Option<NewPushConfig> {
    let url = required(decoder, config.url, path.member("url"));
    let authentication = match config.authentication {
        Some(proto::AuthenticationInfo { scheme, credentials }) => {
            let above = path.member("authentication");
            let scheme = required(decoder, scheme, above.member("scheme"))?;
            Some(PushAuthentication { schemes: vec![scheme], credentials: nonempty(credentials) })
        }
        None => None,
    };
    let id = optional_id(decoder, config.id, path.member("id")).unwrap_or_default();
    let config = PushConfig { id: id.into(), url: url?, token: nonempty(config.token), authentication };
    Some(NewPushConfig { config, shape: PushShape::EachUpdate })
}
