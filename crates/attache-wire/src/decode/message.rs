//! Decodes messages.

use attache_domain::{ContextId, Message, MessageAnswers, MessageId, Part, Role, TaskId};
use serde_json::Value;

use super::decoder::{Decoder, FieldPath, Members, excerpt, kind_of};
use super::{MessageTask, kind, part};
use crate::devtool::incoming;
use crate::{JsonForm, enum_names};

/// Reads the member `message` of a send request.
pub(super) fn read_member(
    decoder: &mut Decoder,
    parent: &mut Members<'_>,
) -> Option<(Message, MessageAnswers)> {
    let above = parent.path();
    // The protobuf name of the member in 0.3 is `request`, and some clients write that.
    let name = match decoder.json_form() {
        JsonForm::V0_3Rest if !parent.has("message") && parent.has("request") => "request",
        _ => "message",
    };
    let Some(value) = parent.take(name) else {
        return decoder.refuse(above.member("message"), "is required");
    };
    let beside = match (decoder.json_form(), decoder.options().message_task) {
        (JsonForm::V0_3Rpc, MessageTask::AlsoInParams) => parent.id(decoder, "taskId"),
        _ => None,
    };
    let members = decoder.members(value, above.member(name))?;
    read(decoder, members, beside)
}

/// `task` is the one that a message goes to which names none itself.
fn read(
    decoder: &mut Decoder,
    mut members: Members<'_>,
    task: Option<String>,
) -> Option<(Message, MessageAnswers)> {
    kind::check_message_kind(decoder, &mut members);
    let here = members.path();
    let mut message = read_members(decoder, members)?;
    message.task = message.task.or(task.map(TaskId::from));
    read_extension_content(decoder, message, here, "taskId")
}

/// Reads the message itself, without the extension's content. A lenient decoder accepts a message without parts and
/// with an unknown role.
pub(crate) fn read_members(decoder: &mut Decoder, mut members: Members<'_>) -> Option<Message> {
    let id = members.required_id(decoder, "messageId");
    let context = members.id(decoder, "contextId");
    let task = members.id(decoder, "taskId");
    let role = match decoder.is_lenient() {
        true => Some(read_any_role(decoder, &mut members)),
        false => read_role(decoder, &mut members),
    };
    let parts = read_parts(decoder, &mut members);
    let metadata = members.object(decoder, "metadata");
    let extensions = members.texts(decoder, "extensions");
    let reference_tasks = members.ids(decoder, "referenceTaskIds");
    Some(Message {
        id: MessageId::from(id?),
        role: role?,
        parts: parts?,
        context: context.map(ContextId::from),
        task: task.map(TaskId::from),
        requested: None,
        command: None,
        sender: None,
        reference_tasks: reference_tasks.into_iter().map(TaskId::from).collect(),
        extensions,
        metadata,
    })
}

/// Reads the extension's content of a message. `task` is the form's name for the task's id.
pub(crate) fn read_extension_content(
    decoder: &mut Decoder,
    mut message: Message,
    here: FieldPath<'_>,
    task: &str,
) -> Option<(Message, MessageAnswers)> {
    let (answers, dialect) = incoming::read(decoder, &mut message, here);
    decoder.set_dialect(dialect);
    // With a context, the session finds the task that asks.
    let is_lost = message.task.is_none() && message.context.is_none();
    if is_lost && answers.has_data() {
        return decoder
            .refuse(here.member(task), "is required: an answer about a call goes to the task that asks");
    }
    Some((message, answers))
}

fn read_role(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<Role> {
    let here = members.path();
    let path = here.member("role");
    let Some(value) = members.take("role") else { return decoder.refuse(path, "is required") };
    let json_form = decoder.json_form();
    let wanted = format_args!(
        "must be {} or {}",
        enum_names::role_name(json_form, Role::User),
        enum_names::role_name(json_form, Role::Agent)
    );
    match &value {
        Value::String(name) => match role_named(json_form, name) {
            Some(role) => Some(role),
            None => decoder.refuse(path, format!("{wanted}, not {:?}", excerpt(name))),
        },
        Value::Number(number) if json_form.is_proto_json() => match number.as_i64() {
            Some(1) => Some(Role::User),
            Some(2) => Some(Role::Agent),
            _ => decoder.refuse(path, format!("{wanted}, not {}", excerpt(&number.to_string()))),
        },
        other => decoder.refuse(path, format!("{wanted}, not {}", kind_of(other))),
    }
}

/// An agent's message with an unknown role counts as the agent's.
fn read_any_role(decoder: &Decoder, members: &mut Members<'_>) -> Role {
    let role = match members.take("role") {
        Some(Value::String(name)) => role_named(decoder.json_form(), &name),
        Some(Value::Number(number)) if number.as_i64() == Some(1) => Some(Role::User),
        _ => None,
    };
    role.unwrap_or(Role::Agent)
}

fn role_named(json_form: JsonForm, name: &str) -> Option<Role> {
    let speaks = |json_form: JsonForm, role: Role| enum_names::role_name(json_form, role) == name;
    [Role::User, Role::Agent].into_iter().find(|role| {
        // Under /v1 the prose of 0.3 also allows the names of its JSON Schema.
        speaks(json_form, *role) || (json_form == JsonForm::V0_3Rest && speaks(JsonForm::V0_3Rpc, *role))
    })
}

fn read_parts(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<Vec<Part>> {
    let here = members.path();
    let name = match decoder.json_form() {
        JsonForm::V1_0 | JsonForm::V0_3Rpc => "parts",
        JsonForm::V0_3Rest if !members.has("content") && members.has("parts") => "parts",
        JsonForm::V0_3Rest => "content",
    };
    let path = here.member(name);
    let items = match members.take(name) {
        Some(value) => decoder.array(value, path)?,
        None if decoder.is_lenient() => Vec::new(),
        None => return decoder.refuse(path, "is required"),
    };
    if items.is_empty() && !decoder.is_lenient() {
        return decoder.refuse(path, "must hold at least one part");
    }
    read_items(decoder, items, path)
}

fn read_items(decoder: &mut Decoder, items: Vec<Value>, path: FieldPath<'_>) -> Option<Vec<Part>> {
    let count = items.len();
    let items = items.into_iter().enumerate();
    let parts: Vec<Part> =
        items.filter_map(|(index, item)| part::read(decoder, item, path.item(index))).collect();
    (parts.len() == count).then_some(parts)
}
