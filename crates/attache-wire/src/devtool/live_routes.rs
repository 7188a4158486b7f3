//! The requests of the live endpoint: what clients send, and the response to a new task.

use attache_domain::{
    CallId, Cursor, Fault, Message, MessageId, Part, PartContent, Role, SendConfiguration, SendMessage,
    SendOptions, TaskId, TaskView, Violation, visible_line,
};
use serde_json::{Map, Value, json};

use super::live;
use crate::approval_answers::decode_answers;
use crate::decode::decoder::{Decoder, FieldPath, Members};
use crate::{JsonForm, replay};

/// The method with which clients send prompts and answers.
pub const METHOD: &str = "message/stream";

/// The method with which clients of the WebSocket ask for the events of a task after a cursor.
pub const SUBSCRIBE: &str = "subscribe";

/// The kind of data that answers a confirmation.
const CONFIRMATION: &str = "TOOL_CALL_CONFIRMATION";

/// The response to `POST /tasks`. A session of the live endpoint is one task.
pub fn created(view: &TaskView) -> Value {
    let task = view.task.as_str();
    json!({
        "taskId": task,
        "sessionId": task,
        "id": task,
        "contextId": view.context.as_str(),
        "state": live::state_of(view),
    })
}

/// A line of the server's own log; `task` if it is about one.
pub fn console_log(level: &str, text: &str, task: Option<&str>) -> Value {
    let mut event = live::log_line(level, text);
    if let Some(task) = task {
        event["taskId"] = task.into();
    }
    event
}

/// Reads the parameters of [`METHOD`]: `message.content.text` is a prompt, `message.content.data` the answer to a
/// confirmation. `message.parts` and a bare `text` mean the same. The message has an empty id unless the client gave one.
///
/// ```
/// use attache_wire::devtool::live_routes;
///
/// let params = serde_json::json!({ "message": { "content": { "text": "List the files" } } });
/// let send = live_routes::read_message(params).unwrap();
/// assert_eq!(send.message.text(), "List the files");
/// ```
pub fn read_message(params: Value) -> Result<SendMessage, Fault> {
    let mut decoder = Decoder::new(JsonForm::V0_3Rpc);
    let read = read_params(&mut decoder, params);
    decoder.finish(read)
}

fn user_message(id: MessageId, task: Option<TaskId>, parts: Vec<Part>) -> Message {
    Message {
        id,
        role: Role::User,
        parts,
        context: None,
        task,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
        requested: None,
        command: None,
        sender: None,
    }
}

/// Addresses the message to `task`. Refuses one that names another task.
pub fn address(send: &mut SendMessage, task: &TaskId) -> Result<(), Fault> {
    match send.message.task.replace(task.clone()) {
        None => Ok(()),
        Some(named) => check_task(task, &named),
    }
}

/// Refuses another task than `task`.
fn check_task(task: &TaskId, named: &TaskId) -> Result<(), Fault> {
    if named == task {
        return Ok(());
    }
    Err(bad_parameter("taskId", format!("is {named}, but this request is for the task {task}")))
}

/// The fault of a cursor in the address of a WebSocket that shows many tasks.
pub fn cursor_without_task() -> Fault {
    let why = "needs taskId beside it; for several tasks send the method \"subscribe\" for each";
    bad_parameter("after", why.into())
}

fn bad_parameter(field: &'static str, description: String) -> Fault {
    Fault::InvalidParams { violations: vec![Violation { field: field.into(), description }] }
}

/// The task of `?taskId=…`, to which a WebSocket is narrowed.
pub fn task_in_query(query: Option<&str>) -> Option<TaskId> {
    in_query(query, "taskId").map(TaskId::from)
}

/// The cursor of `?after=…`, after which a client reads on.
pub fn cursor_in_query(query: Option<&str>) -> Result<Option<Cursor>, Fault> {
    in_query(query, "after").map(|text| parse_after("after", text)).transpose()
}

fn parse_after(field: &'static str, text: &str) -> Result<Cursor, Fault> {
    replay::parse_cursor(text).map_err(|_| {
        let given: String = visible_line(text).chars().take(MAX_SHOWN_CHARS).collect();
        bad_parameter(field, format!("is {given:?}, which is no cursor of this server"))
    })
}

/// An error shows this much of what it refuses.
const MAX_SHOWN_CHARS: usize = 80;

/// Neither ids nor cursors need percent coding.
fn in_query<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    let mut pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(given, _)| *given == name)?;
    (!value.is_empty()).then_some(value)
}

/// Reads the parameters of [`SUBSCRIBE`]: `taskId` unless the session of the socket is meant, and `after` unless the client
/// wants the state of the task first.
pub fn read_subscribe(params: Value) -> Result<(Option<TaskId>, Option<Cursor>), Fault> {
    let mut decoder = Decoder::new(JsonForm::V0_3Rpc);
    let read = read_subscribe_params(&mut decoder, params);
    let (task, after) = decoder.finish(read)?;
    Ok((task, after.as_deref().map(|text| parse_after("after", text)).transpose()?))
}

fn read_subscribe_params(decoder: &mut Decoder, params: Value) -> Option<(Option<TaskId>, Option<String>)> {
    let mut params = decoder.members(params, FieldPath::Root)?;
    let after = match params.take("after") {
        None => None,
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(after) => Some(decoder.text(after, FieldPath::Root.member("after"))?),
    };
    Some((params.id(decoder, "taskId").map(TaskId::from), after))
}

/// A stream is to be read on, and no prompt with this text has the event that the client names.
pub fn resumed_without_id() -> Fault {
    Fault::invalid(
        "message.messageId",
        "is needed with Last-Event-ID: the event that it names is not one of a message with this text",
    )
}

/// The fault of an answer for `task`, with the ids that the events of this dialect have.
pub fn name_calls(fault: Fault, task: &TaskId) -> Fault {
    let shown = |call: String| CallId(call).correlation_id(task);
    match fault {
        Fault::NothingToAnswer { call, open } => {
            Fault::NothingToAnswer { call, open: open.into_iter().map(shown).collect() }
        }
        Fault::AlreadyAnswered { call, choice, by, at } => {
            Fault::AlreadyAnswered { call: shown(call), choice, by, at }
        }
        Fault::NotAChoice { call, given, choices } => Fault::NotAChoice { call: shown(call), given, choices },
        fault => fault,
    }
}

/// The fault of an answer that does not say which task it is for.
pub fn call_without_task(call: &CallId) -> Fault {
    let call = visible_line(&call.0);
    let what = format!("is required: the id {call} names no task, as the tool_call_id of an event does");
    bad_parameter("taskId", what)
}

/// The fault of data that answers nothing.
pub fn data_without_question() -> Fault {
    bad_parameter("message.content.data", "is the answer to a confirmation, and no task asks for one".into())
}

fn read_params(decoder: &mut Decoder, params: Value) -> Option<SendMessage> {
    let mut params = decoder.members(params, FieldPath::Root)?;
    let task = params.id(decoder, "taskId");
    let path = FieldPath::Root.member("message");
    let mut message = match params.take("message") {
        Some(message) => decoder.members(message, path)?,
        // The bare form.
        None => match params.take("text") {
            Some(text) => Members::new(Map::from_iter([("text".to_owned(), text)]), FieldPath::Root),
            None => return decoder.refuse(path, "is required"),
        },
    };
    let named = message.id(decoder, "taskId");
    if let (Some(task), Some(named)) = (&task, &named)
        && task != named
    {
        return decoder.refuse(path.member("taskId"), format!("is not the task {task:?} of the parameters"));
    }
    let id = message.id(decoder, "messageId").unwrap_or_default();
    let parts = read_parts(decoder, &mut message)?;
    let message = user_message(MessageId::from(id), task.or(named).map(TaskId::from), parts);
    let (answers, _) = decode_answers(decoder, &message, path);
    let (configuration, options) = (SendConfiguration::default(), SendOptions::default());
    Some(SendMessage { message, answers, configuration, metadata: None, options })
}

fn read_parts(decoder: &mut Decoder, message: &mut Members<'_>) -> Option<Vec<Part>> {
    let here = message.path();
    if let Some(content) = message.take("content") {
        let part = read_part(decoder, content, here.member("content"))?;
        return Some(vec![part]);
    }
    if let Some(parts) = message.take("parts") {
        let path = here.member("parts");
        let items = decoder.array(parts, path)?;
        if items.is_empty() {
            return decoder.refuse(path, "must not be empty");
        }
        let items = items.into_iter().enumerate();
        return items.map(|(index, item)| read_part(decoder, item, path.item(index))).collect();
    }
    match message.take("text") {
        Some(text) => Some(vec![text_part(decoder, text, here.member("text"))?]),
        None => decoder.refuse(here.member("content"), "is required: its text, or its data"),
    }
}

/// An object with either `text` or `data`.
fn read_part(decoder: &mut Decoder, part: Value, path: FieldPath<'_>) -> Option<Part> {
    let mut members = decoder.members(part, path)?;
    match (members.take("text"), members.take("data")) {
        (Some(text), None) => text_part(decoder, text, path.member("text")),
        (None, Some(data)) => {
            let path = path.member("data");
            let data = decoder.object(data, path)?;
            check_confirmation(decoder, &data, path)?;
            Some(Part::new(PartContent::Data(data.into())))
        }
        (Some(_), Some(_)) => decoder.refuse(path, "must have either text or data, not both"),
        (None, None) => decoder.refuse(path, "must have text or data"),
    }
}

/// Data is the answer to a confirmation and nothing else. The RFC's form of an answer has no `kind`, so it may be missing.
fn check_confirmation(decoder: &mut Decoder, data: &Map<String, Value>, path: FieldPath<'_>) -> Option<()> {
    if data.get("kind").is_some_and(|kind| kind != CONFIRMATION) {
        return decoder.refuse(path.member("kind"), format!("must be {CONFIRMATION:?}"));
    }
    for names in [["tool_call_id", "toolCallId"], ["selected_option_id", "selectedOptionId"]] {
        let given = names.iter().find_map(|name| data.get(*name));
        if given.and_then(Value::as_str).is_none_or(str::is_empty) {
            return decoder.refuse(path.member(names[0]), "is required: a text");
        }
    }
    Some(())
}

fn text_part(decoder: &mut Decoder, text: Value, path: FieldPath<'_>) -> Option<Part> {
    let text = decoder.text(text, path)?;
    if text.trim().is_empty() {
        return decoder.refuse(path, "must not be empty");
    }
    Some(Part::text(text))
}
