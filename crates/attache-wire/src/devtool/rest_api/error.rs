//! Errors of the REST API: those of A2A 1.0, with the names that its clients use.

use attache_domain::{Fault, Violation};
use serde_json::{Value, json};

use crate::Version;
use crate::rest::{ErrorReply, error_value, reply};

/// A stream is to be read on, and no prompt with this text has the event that the client names.
pub fn resumed_without_id() -> Fault {
    Fault::invalid(
        "messageId",
        "is needed with Last-Event-ID: the event that it names is not one of a message with this text",
    )
}

/// The response to a request that failed with `fault`.
pub fn error(fault: &Fault) -> ErrorReply {
    let renamed = match fault {
        Fault::InvalidParams { violations } => Fault::InvalidParams {
            violations: violations
                .iter()
                .map(|violation| Violation {
                    field: member(&violation.field).to_owned(),
                    description: violation.description.clone(),
                })
                .collect(),
        },
        Fault::ConfirmationOpen { task, open } => Fault::invalid(
            "message",
            format!(
                "is not taken while a confirmation is open ({}): answer it with POST /tasks/{task}/confirmations, then send \
                 the prompt",
                open.join(", ")
            ),
        ),
        other => other.clone(),
    };
    let (status, mut error) = error_value(Version::V1_0, &renamed);
    let answered = match fault {
        Fault::NothingToAnswer { .. } | Fault::AlreadyAnswered { .. } => Some("toolCallId"),
        Fault::NotAChoice { .. } => Some("optionId"),
        _ => None,
    };
    if let (Some(field), Some(details)) = (answered, error["error"]["details"].as_array_mut()) {
        details.push(json!({
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{ "field": field, "description": fault.to_string() }],
        }));
    }
    if let Fault::TaskFinished { task, state } = fault {
        error["error"]["message"] = format!(
            "task {task} is {} and takes no more prompts and answers; to go on in the same conversation, create another \
             task with its contextId",
            state.in_words()
        )
        .into();
    }
    // The faults of the session name the members of A2A's messages.
    for detail in error["error"]["details"].as_array_mut().into_iter().flatten() {
        let violations = detail.get_mut("fieldViolations").and_then(Value::as_array_mut);
        for violation in violations.into_iter().flatten() {
            if let Some(Value::String(field)) = violation.get_mut("field") {
                *field = member(field).to_owned();
            }
        }
    }
    reply(status, &error)
}

/// The member of a request of this API for that of A2A's.
fn member(name: &str) -> &str {
    match name {
        "id" => "taskId",
        name => name.strip_prefix("message.").unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::TaskState;

    use super::*;

    #[track_caller]
    fn check(fault: &Fault, expected: &str) {
        let body: Value = serde_json::from_slice(&error(fault).body).unwrap();
        assert_eq!(body["error"]["details"][1]["fieldViolations"][0]["field"], expected, "{body}");
        assert!(body["error"]["details"][0].get("fieldViolations").is_none(), "{body}");
    }

    #[test]
    fn errors_name_the_members_of_this_api() {
        check(&Fault::MessageIdTaken { message: "m-1".into() }, "messageId");
        check(&Fault::ContextMismatch { task: "t".into(), context: "c".into() }, "contextId");
        check(&Fault::NothingToAnswer { call: "k".into(), open: Vec::new() }, "toolCallId");
        let not_a_choice = Fault::NotAChoice { call: "k".into(), given: "x".into(), choices: Vec::new() };
        check(&not_a_choice, "optionId");
        check(&Fault::invalid("id", "must not hold control characters"), "taskId");
        check(&Fault::invalid("agentSettings.model", "is wrong"), "agentSettings.model");
        let text = String::from_utf8(error(&Fault::invalid("id", "is too long")).body).unwrap();
        assert!(text.contains("invalid parameters: taskId is too long"), "{text}");
        let open = vec!["k1".to_owned(), "k2".to_owned()];
        let text =
            String::from_utf8(error(&Fault::ConfirmationOpen { task: "t".into(), open }).body).unwrap();
        let expected = "invalid parameters: message is not taken while a confirmation is open (k1, k2): answer it with POST \
                        /tasks/t/confirmations, then send the prompt";
        assert!(text.contains(expected), "{text}");
        let finished = Fault::TaskFinished { task: "t".into(), state: TaskState::Canceled };
        let text = String::from_utf8(error(&finished).body).unwrap();
        assert!(text.contains("task t is canceled and takes no more prompts and answers"), "{text}");
    }
}
