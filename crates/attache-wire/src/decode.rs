//! Decodes parameters into operations.
//!
//! Moves text and data out of the parsed JSON. Collects all violations, so that one response names every invalid
//! member in the caller's form. Accepts camelCase and snake_case; `null` counts as absent, and unknown members are
//! ignored.

use attache_domain::{CancelTask, Fault, GetTask, Operation, OperationKind, SubscribeTask, TaskId};
use serde_json::{Map, Value};

use crate::JsonForm;
use crate::devtool::{Dialect, commands};
use decoder::{Decoder, FieldPath, Members, kind_of};

mod base64;
pub(crate) mod decoder;
mod kind;
mod list;
pub(crate) mod message;
pub(crate) mod part;
pub(crate) mod push;
mod send;

/// An operation, and the tenant it was addressed to.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedOperation {
    pub operation: Operation,
    /// Only 1.0 has tenants.
    pub tenant: Option<String>,
    /// The dialect that a message shows, if any.
    pub dialect: Option<Dialect>,
}

/// What an interface accepts beyond the schema of the JSON-RPC of 0.3. The default is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    pub part_kinds: PartKinds,
    pub message_task: MessageTask,
}

/// Where the id of the task stands that a message goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MessageTask {
    #[default]
    InMessage,
    /// Also beside the message, as `params.taskId`. Some clients of Gemini CLI's server put it there.
    AlsoInParams,
}

/// Whether a part in the JSON-RPC of 0.3 must name its kind. The schema requires it; some clients leave it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartKinds {
    #[default]
    Required,
    /// Inferred from the member that holds the content.
    Inferred,
}

/// Whether no part of the message names its kind, as in 1.0.
pub fn omits_part_kinds(params: &Value) -> bool {
    let parts = params.get("message").and_then(|message| message.get("parts")).and_then(Value::as_array);
    parts.is_some_and(|parts| !parts.is_empty() && parts.iter().all(|part| part.get("kind").is_none()))
}

/// Decodes the parameters of one operation: JSON-RPC params, or the members of a REST request.
pub fn decode(
    json_form: JsonForm,
    kind: OperationKind,
    params: Option<Value>,
) -> Result<DecodedOperation, Fault> {
    decode_with(json_form, kind, params, DecodeOptions::default())
}

/// Like [`decode`], for an interface that accepts more than the schema says.
pub fn decode_with(
    json_form: JsonForm,
    kind: OperationKind,
    params: Option<Value>,
    options: DecodeOptions,
) -> Result<DecodedOperation, Fault> {
    let params = match params {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(other) => {
            return Err(Fault::invalid("params", format!("must be an object, not {}", kind_of(&other))));
        }
    };
    let mut decoder = Decoder::new(json_form).with_options(options);
    let mut members = Members::new(params, FieldPath::Root);
    let tenant = match json_form {
        JsonForm::V1_0 => members.nonempty_text(&mut decoder, "tenant"),
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => None,
    };
    let operation = operation(&mut decoder, kind, members);
    let dialect = decoder.dialect();
    let operation = decoder.finish(operation)?;
    Ok(DecodedOperation { operation, tenant, dialect })
}

fn operation(decoder: &mut Decoder, kind: OperationKind, mut members: Members<'_>) -> Option<Operation> {
    Some(match kind {
        OperationKind::Send => Operation::Send(send::read(decoder, members)?),
        OperationKind::Stream => Operation::Stream(send::read(decoder, members)?),
        OperationKind::List => Operation::List(list::read(decoder, members)?),
        OperationKind::Get => {
            let task = task_id(decoder, &mut members);
            let history_length = history_length(decoder, &mut members);
            Operation::Get(GetTask { task: task?, history_length, at: None })
        }
        OperationKind::Cancel => {
            let task = task_id(decoder, &mut members);
            let metadata = members.object(decoder, "metadata");
            Operation::Cancel(CancelTask { task: task?, metadata })
        }
        OperationKind::Subscribe => Operation::Subscribe(SubscribeTask::to(task_id(decoder, &mut members)?)),
        OperationKind::ExtendedCard => Operation::ExtendedCard,
        OperationKind::Commands => Operation::Commands(commands::read_list(decoder, members)),
        OperationKind::Execute => Operation::Execute(commands::read_execute(decoder, members)?),
        OperationKind::PushCreate => Operation::PushConfig(push::read_create(decoder, members)?),
        OperationKind::PushGet => Operation::PushConfig(push::read_get(decoder, members)?),
        OperationKind::PushList => Operation::PushConfig(push::read_list(decoder, members)?),
        OperationKind::PushDelete => Operation::PushConfig(push::read_delete(decoder, members)?),
    })
}

fn task_id(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<TaskId> {
    members.required_id(decoder, "id").map(TaskId::from)
}

/// `None` means the whole history. The protobuf form of 0.3 cannot tell zero from absent, so zero counts as absent
/// there.
fn history_length(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<usize> {
    let length = members.integer(decoder, "historyLength", 0, i64::from(i32::MAX))?;
    match decoder.json_form() {
        JsonForm::V0_3Rest if length == 0 => None,
        _ => Some(length),
    }
}
