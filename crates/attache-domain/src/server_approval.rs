//! Approvals of connections to MCP servers that a client named.
//!
//! The agent makes the call by itself. The model learns only which servers are missing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallOutcome, CallRecord, Content, Exchange};

/// The author of calls that the agent makes by itself, in place of the name of a model.
pub const AGENT_MODEL: &str = "agent";

/// The agent's own call that connects to an MCP server.
pub const CONNECT_SERVER: &str = "connect_mcp_server";

/// Whether a conversation may connect to a server at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerApproval {
    pub server: String,
    pub address: String,
    pub allowed: bool,
}

impl ServerApproval {
    /// The decision in a finished call; a rule that denies counts as a refusal. A question that was withdrawn decides
    /// nothing.
    pub(crate) fn of(record: &CallRecord) -> Option<Self> {
        let allowed = match record.outcome.as_ref()? {
            CallOutcome::Canceled if is_withdrawn(record) => return None,
            CallOutcome::Canceled => false,
            CallOutcome::Failed { kind } => kind != "policy_violation",
            CallOutcome::Succeeded | CallOutcome::Unknown => true,
        };
        let text = |key: &str| record.call.input.get(key).and_then(Value::as_str).map(str::to_owned);
        (record.call.name == CONNECT_SERVER)
            .then(|| Some(Self { server: text("server")?, address: text("address")?, allowed }))?
    }
}

/// No message answered the question.
fn is_withdrawn(record: &CallRecord) -> bool {
    record.answer.as_ref().is_none_or(|answer| answer.message.is_none())
}

/// Tells the model which servers are missing, and why.
pub(crate) fn missing_servers<'a>(records: impl Iterator<Item = &'a CallRecord>) -> Option<Exchange> {
    let missing = records.filter(|record| record.outcome != Some(CallOutcome::Succeeded)).map(|record| {
        let server = record.call.input.get("server").and_then(Value::as_str).unwrap_or_default();
        format!("The MCP server {server} is not connected, so its tools are missing: {}", record.summary)
    });
    let lines: Vec<String> = missing.collect();
    (!lines.is_empty()).then(|| Exchange::User(vec![Content::Text(lines.join("\n"))]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{CANCEL, CallAnswer, CallId, Digest, MessageId, ToolCall, Verdict};

    fn finished(name: &str, outcome: CallOutcome) -> CallRecord {
        let Value::Object(input) = json!({"server": "notes", "address": "http://127.0.0.1:1/"}) else {
            panic!("an object")
        };
        let call = ToolCall { id: CallId("connect-1".into()), name: name.into(), input };
        CallRecord { outcome: Some(outcome), summary: "why".into(), ..CallRecord::requested(call) }
    }

    /// A person's message answered the question.
    fn answered(mut record: CallRecord) -> CallRecord {
        record.answer = Some(CallAnswer {
            choice: CANCEL.into(),
            question: None,
            verdict: Verdict::Refuse,
            new_content: None,
            answers: None,
            message: Some((MessageId::from("m1"), Digest("d".into()))),
            by: None,
        });
        record
    }

    #[test]
    fn a_finished_call_decides_about_its_server() {
        let failed = |kind: &str| CallOutcome::Failed { kind: kind.into() };
        for (outcome, allowed) in [
            (CallOutcome::Succeeded, true),
            (CallOutcome::Canceled, false),
            (failed("policy_violation"), false),
            // The person agreed; the server could not be reached.
            (failed("mcp_tool_error"), true),
        ] {
            let decided = ServerApproval::of(&answered(finished(CONNECT_SERVER, outcome.clone()))).unwrap();
            assert_eq!((decided.server.as_str(), decided.allowed), ("notes", allowed), "{outcome:?}");
        }
        let withdrawn = finished(CONNECT_SERVER, CallOutcome::Canceled);
        assert_eq!(ServerApproval::of(&withdrawn), None, "no message answered it");
        assert_eq!(ServerApproval::of(&finished("read_file", CallOutcome::Canceled)), None);
    }

    #[test]
    fn the_model_is_told_of_missing_servers_only() {
        let records = [
            finished(CONNECT_SERVER, CallOutcome::Succeeded),
            finished(CONNECT_SERVER, CallOutcome::Canceled),
        ];
        let Some(Exchange::User(contents)) = missing_servers(records.iter()) else {
            panic!("one is missing")
        };
        let text = "The MCP server notes is not connected, so its tools are missing: why";
        assert_eq!(contents, [Content::Text(text.into())]);
        assert_eq!(missing_servers(records[..1].iter()), None);
    }
}
