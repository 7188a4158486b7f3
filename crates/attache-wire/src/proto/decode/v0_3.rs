//! Requests of 0.3, which uses resource names such as `tasks/{id}`.

use attache_domain::{
    CancelTask, Fault, GetTask, ListPushConfigs, MAX_PAGE_SIZE, Message, MessageAnswers, Metadata,
    NewPushConfig, Operation, OperationKind, Part, PartContent, PushAuthentication, PushConfig,
    PushConfigOperation, PushShape, SendConfiguration, SendMessage, SendOptions, SubscribeTask, TaskId,
};
use attache_proto::v0_3 as proto;
use bytes::Bytes;

use super::{
    MessageMembers, bounded_integer, nonempty, optional_id, parse, required, to_base64, unsupported_operation,
};
use crate::decode::decoder::{Decoder, FieldPath, excerpt};
use crate::decode::part::unwrap_data;
use crate::devtool::incoming;
use crate::proto::value::{read_object, read_struct};

pub(super) fn read(
    decoder: &mut Decoder,
    kind: OperationKind,
    message: Bytes,
) -> Result<Option<Operation>, Fault> {
    let root = FieldPath::Root;
    Ok(match kind {
        OperationKind::Send => read_send(decoder, parse(message)?).map(Operation::Send),
        OperationKind::Stream => read_send(decoder, parse(message)?).map(Operation::Stream),
        OperationKind::Get => {
            let proto::GetTaskRequest { name, history_length } = parse(message)?;
            let task = read_task(decoder, &name, root.member("name"));
            let history_length = read_history_length(decoder, history_length, root);
            task.map(|task| Operation::Get(GetTask { task, history_length, at: None }))
        }
        OperationKind::Cancel => {
            let proto::CancelTaskRequest { name } = parse(message)?;
            let task = read_task(decoder, &name, root.member("name"));
            task.map(|task| Operation::Cancel(CancelTask { task, metadata: None }))
        }
        OperationKind::Subscribe => {
            let proto::TaskSubscriptionRequest { name } = parse(message)?;
            let task = read_task(decoder, &name, root.member("name"));
            task.map(|task| Operation::Subscribe(SubscribeTask::to(task)))
        }
        OperationKind::ExtendedCard => {
            let proto::GetAgentCardRequest {} = parse(message)?;
            Some(Operation::ExtendedCard)
        }
        OperationKind::PushCreate => read_create(decoder, parse(message)?).map(Operation::PushConfig),
        OperationKind::PushGet => {
            let proto::GetTaskPushNotificationConfigRequest { name } = parse(message)?;
            let named = read_config_name(decoder, &name, root.member("name"));
            let get = |(task, config)| Operation::PushConfig(PushConfigOperation::Get { task, config });
            named.map(|(task, config)| get((task, config.map(Into::into))))
        }
        OperationKind::PushDelete => {
            let proto::DeleteTaskPushNotificationConfigRequest { name } = parse(message)?;
            let (task, config) = match read_config_name(decoder, &name, root.member("name")) {
                Some((task, Some(config))) => (task, config),
                Some((_, None)) => return Ok(decoder.refuse(root.member("name"), "names no configuration")),
                None => return Ok(None),
            };
            Some(Operation::PushConfig(PushConfigOperation::Delete { task, config: config.into() }))
        }
        OperationKind::PushList => {
            let proto::ListTaskPushNotificationConfigRequest { parent, page_size, page_token } =
                parse(message)?;
            let most = i32::try_from(MAX_PAGE_SIZE).unwrap_or(i32::MAX);
            let size = bounded_integer(decoder, page_size, 0, most, root.member("page_size"));
            let page_size = size.filter(|size| *size > 0);
            let task = read_parent(decoder, &parent);
            let list = |task| PushConfigOperation::List(ListPushConfigs { task, page_size, page_token });
            task.map(list).map(Operation::PushConfig)
        }
        OperationKind::List | OperationKind::Commands | OperationKind::Execute => {
            return Err(unsupported_operation(kind));
        }
    })
}

fn read_send(decoder: &mut Decoder, request: proto::SendMessageRequest) -> Option<SendMessage> {
    let root = FieldPath::Root;
    let message = match request.request {
        Some(message) => read_message(decoder, message, root.member("request")),
        None => decoder.refuse(root.member("request"), "is required"),
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

/// With a configuration, an absent `blocking` means false: protobuf cannot tell them apart.
fn read_configuration(
    decoder: &mut Decoder,
    configuration: proto::SendMessageConfiguration,
    path: FieldPath<'_>,
) -> SendConfiguration {
    let proto::SendMessageConfiguration {
        accepted_output_modes,
        push_notification,
        history_length,
        blocking,
    } = configuration;
    let push = push_notification.and_then(|it| read_config(decoder, it, path.member("push_notification")));
    let request = |config| Box::new(NewPushConfig { config, shape: PushShape::WholeTask });
    SendConfiguration {
        accepted_output_modes,
        history_length: read_history_length(decoder, history_length, path),
        return_immediately: !blocking,
        push: push.map(request),
    }
}

/// Zero and absent look the same, and both mean no limit.
fn read_history_length(decoder: &mut Decoder, length: i32, path: FieldPath<'_>) -> Option<usize> {
    bounded_integer(decoder, length, 0, i32::MAX, path.member("history_length")).filter(|length| *length > 0)
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
        reference_tasks: Vec::new(),
        extensions: message.extensions,
        metadata: message.metadata,
    };
    super::read_message(decoder, members, ("content", message.content), read_part, path)
}

fn read_part(decoder: &mut Decoder, part: proto::Part, path: FieldPath<'_>) -> Option<Part> {
    use proto::part::Part as Content;
    let metadata = read_object(decoder, part.metadata, path.member("metadata"));
    match part.part {
        Some(Content::Text(text)) => Some(Part { metadata, ..Part::text(text) }),
        Some(Content::File(file)) => read_file(decoder, file, metadata, path.member("file")),
        Some(Content::Data(proto::DataPart { data: Some(data) })) => {
            let above = path.member("data");
            let data = read_struct(decoder, data, above.member("data"));
            let (data, metadata) = unwrap_data(data, metadata);
            Some(Part { metadata, ..Part::new(PartContent::Data(data)) })
        }
        Some(Content::Data(proto::DataPart { data: None })) => {
            let above = path.member("data");
            decoder.refuse(above.member("data"), "is required")
        }
        None => decoder.refuse(path, "must have exactly one of text, file and data, but has none"),
    }
}

fn read_file(
    decoder: &mut Decoder,
    file: proto::FilePart,
    metadata: Option<Metadata>,
    path: FieldPath<'_>,
) -> Option<Part> {
    use proto::file_part::File;
    let content = match file.file {
        Some(File::FileWithBytes(bytes)) => PartContent::Raw(to_base64(&bytes)),
        Some(File::FileWithUri(uri)) if uri.is_empty() => {
            return decoder.refuse(path.member("file_with_uri"), "must not be empty");
        }
        Some(File::FileWithUri(uri)) => PartContent::Url(uri),
        None => {
            let wanted = "must have exactly one of file_with_uri and file_with_bytes, but has none";
            return decoder.refuse(path, wanted);
        }
    };
    Some(Part { content, media_type: nonempty(file.mime_type), filename: nonempty(file.name), metadata })
}

fn read_create(
    decoder: &mut Decoder,
    request: proto::CreateTaskPushNotificationConfigRequest,
) -> Option<PushConfigOperation> {
    let root = FieldPath::Root;
    let task = read_parent(decoder, &request.parent);
    let above = root.member("config");
    let Some(resource) = request.config else { return decoder.refuse(above, "is required") };
    let path = above.member("push_notification_config");
    let Some(config) = resource.push_notification_config else { return decoder.refuse(path, "is required") };
    let mut config = read_config(decoder, config, path)?;
    let named = resource.name.split_once(COLLECTION).map(|(_, id)| id.to_owned());
    let given = optional_id(decoder, request.config_id, root.member("config_id"));
    let named = optional_id(decoder, named.unwrap_or_default(), above.member("name"));
    if let Some(id) = given.or(named) {
        config.id = id.into();
    }
    Some(PushConfigOperation::Create {
        task: task?,
        request: NewPushConfig { config, shape: PushShape::WholeTask },
    })
}

fn read_config(
    decoder: &mut Decoder,
    config: proto::PushNotificationConfig,
    path: FieldPath<'_>,
) -> Option<PushConfig> {
    let url = required(decoder, config.url, path.member("url"))?;
    let authentication = config.authentication.map(|proto::AuthenticationInfo { schemes, credentials }| {
        PushAuthentication { schemes, credentials: nonempty(credentials) }
    });
    let id = optional_id(decoder, config.id, path.member("id")).unwrap_or_default();
    Some(PushConfig { id: id.into(), url, token: nonempty(config.token), authentication })
}

const TASKS: &str = "tasks/";
/// Separates a task's id from a configuration's.
const COLLECTION: &str = "/pushNotificationConfigs/";

fn read_task(decoder: &mut Decoder, name: &str, path: FieldPath<'_>) -> Option<TaskId> {
    let id = name.strip_prefix(TASKS).filter(|id| !id.is_empty() && !id.contains('/'));
    match id {
        Some(id) => decoder.id(id.to_owned(), path).map(TaskId::from),
        None if name.is_empty() => decoder.refuse(path, "is required: tasks/{id}"),
        None => decoder.refuse(path, format!("must be tasks/{{id}}, not {:?}", excerpt(name))),
    }
}

/// Accepts the task alone, or with its collection: clients write both.
fn read_parent(decoder: &mut Decoder, parent: &str) -> Option<TaskId> {
    let root = FieldPath::Root;
    let collection = COLLECTION.trim_end_matches('/');
    let task = parent.strip_suffix(collection).unwrap_or(parent);
    read_task(decoder, task, root.member("parent"))
}

/// Reads a task, and its configuration unless the only one is meant.
fn read_config_name(
    decoder: &mut Decoder,
    name: &str,
    path: FieldPath<'_>,
) -> Option<(TaskId, Option<String>)> {
    let (task, config) = match name.split_once(COLLECTION) {
        Some((task, config)) => (task, nonempty(config.to_owned())),
        None => (name, None),
    };
    let config = match config {
        Some(config) => Some(decoder.id(config, path)?),
        None => None,
    };
    Some((read_task(decoder, task, path)?, config))
}
