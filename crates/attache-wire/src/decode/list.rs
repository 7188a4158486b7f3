//! The parameters of list.

use attache_domain::{ContextId, DEFAULT_PAGE_SIZE, ListTasks, MAX_PAGE_SIZE, TaskState, Timestamp};
use serde_json::Value;

use super::decoder::{Decoder, Members, excerpt, kind_of};
use super::history_length;
use crate::enum_names;

pub(super) fn read(decoder: &mut Decoder, mut members: Members<'_>) -> Option<ListTasks> {
    let most = i64::try_from(MAX_PAGE_SIZE).unwrap_or(i64::MAX);
    Some(ListTasks {
        context: members.id(decoder, "contextId").map(ContextId::from),
        state: read_state(decoder, &mut members),
        prompt: None,
        page_size: members.integer(decoder, "pageSize", 1, most).unwrap_or(DEFAULT_PAGE_SIZE),
        page_token: members.text(decoder, "pageToken").unwrap_or_default(),
        history_length: history_length(decoder, &mut members),
        status_since: read_time(decoder, &mut members, "statusTimestampAfter"),
        include_artifacts: members.boolean(decoder, "includeArtifacts").unwrap_or(false),
    })
}

/// Unspecified means any state.
fn read_state(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<TaskState> {
    let value = members.take("status")?;
    let here = members.path();
    let (state, found) = match &value {
        Value::String(name) if name == "TASK_STATE_UNSPECIFIED" => return None,
        Value::Number(number) if number.as_i64() == Some(0) => return None,
        Value::String(name) => {
            (enum_names::state_named(decoder.json_form(), name), format!("{:?}", excerpt(name)))
        }
        Value::Number(number) => {
            (number.as_i64().and_then(enum_names::state_from_number), excerpt(&number.to_string()))
        }
        other => (None, kind_of(other).to_owned()),
    };
    if state.is_none() {
        let names = TaskState::ALL.map(|state| enum_names::state_name(decoder.json_form(), state)).join(", ");
        decoder.refuse::<()>(here.member("status"), format!("must be one of {names}, not {found}"));
    }
    state
}

fn read_time(decoder: &mut Decoder, members: &mut Members<'_>, name: &str) -> Option<Timestamp> {
    let text = members.nonempty_text(decoder, name)?;
    match text.parse() {
        Ok(moment) => Some(moment),
        Err(_) => {
            let here = members.path();
            let found = excerpt(&text);
            let wanted = "must be a time such as 2025-10-28T10:30:00.000Z";
            decoder.refuse(here.member(name), format!("{wanted}, not {found:?}"))
        }
    }
}
