//! The filters of `GET /tasks`: those of A2A, and the states of this API.

use attache_domain::{Fault, Operation, PromptState, TaskState as A2aState};

use super::responses::TaskState;
use crate::decode::decoder::excerpt;
use crate::{DecodedOperation, JsonForm, enum_names, percent, rest};

/// Decodes a listing. `state` and `status` take a state of this API or of A2A.
pub fn decode_list(route: &rest::Route, query: &str) -> Result<DecodedOperation, Fault> {
    let (query, prompt) = take_states(query)?;
    let mut decoded = rest::decode(route, &query, None)?;
    if let Operation::List(list) = &mut decoded.operation {
        list.prompt = prompt;
    }
    Ok(decoded)
}

/// The query without the states of this API, and with those of A2A as `status`.
fn take_states(query: &str) -> Result<(String, Option<PromptState>), Fault> {
    let (mut kept, mut prompt, mut status) = (Vec::new(), None, None);
    for pair in query.split('&') {
        let (name, value) = match percent::query_pairs(pair).next() {
            Some((name, Some(value))) if matches!(name.as_str(), "state" | "status") => (name, value),
            _ => {
                kept.push(pair.to_owned());
                continue;
            }
        };
        if value.is_empty() || value == "TASK_STATE_UNSPECIFIED" {
            continue;
        }
        if let Some(state) = TaskState::named(&value) {
            let state = PromptState::from(state);
            if prompt.replace(state).is_some_and(|other| other != state) {
                return Err(Fault::invalid(name, "is given twice, with different states"));
            }
        } else if enum_names::state_named(JsonForm::V1_0, &value).is_some() {
            if status.as_ref().is_some_and(|other| *other != value) {
                return Err(Fault::invalid(name, "is given twice, with different states"));
            }
            status = Some(value);
        } else {
            let own = TaskState::ALL.map(TaskState::name).join(", ");
            let a2a = A2aState::ALL.map(|state| enum_names::state_name(JsonForm::V1_0, state)).join(", ");
            let wanted = format!("must be one of {own}, {a2a}, not {:?}", excerpt(&value));
            return Err(Fault::invalid(name, wanted));
        }
    }
    kept.extend(status.map(|status| format!("status={status}")));
    Ok((kept.join("&"), prompt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: (&str, Option<PromptState>)) {
        let (kept, prompt) = take_states(query).unwrap();
        assert_eq!((kept.as_str(), prompt), expected, "{query}");
    }

    #[test]
    fn both_names_take_states_of_both_kinds() {
        check("", ("", None));
        check("pageSize=3&contextId=a%20b", ("pageSize=3&contextId=a%20b", None));
        check("status=running", ("", Some(PromptState::Running)));
        check("state=completed&pageSize=3", ("pageSize=3", Some(PromptState::Completed)));
        check("status=error&status=error", ("", Some(PromptState::Failed)));
        check("status=TASK_STATE_WORKING", ("status=TASK_STATE_WORKING", None));
        check("state=TASK_STATE_FAILED&x=1", ("x=1&status=TASK_STATE_FAILED", None));
        check(
            "state=running&status=TASK_STATE_WORKING",
            ("status=TASK_STATE_WORKING", Some(PromptState::Running)),
        );
        check("status=", ("", None));
        check("status=TASK_STATE_UNSPECIFIED", ("", None));
    }

    #[test]
    fn other_states_are_refused_with_those_that_there_are() {
        for (query, part) in [
            ("status=done", "status must be one of running, completed, error, TASK_STATE_SUBMITTED"),
            ("state=RUNNING", "not \"RUNNING\""),
            ("status=%00", "status must be one of"),
            ("status=running&state=error", "state is given twice"),
            ("status=TASK_STATE_WORKING&status=TASK_STATE_FAILED", "status is given twice"),
        ] {
            let fault = take_states(query).unwrap_err().to_string();
            assert!(fault.contains(part), "{query}: {fault}");
        }
    }
}
