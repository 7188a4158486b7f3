//! The entry points with generated input: none of them panics.

use crate::fuzz;
use proptest::prelude::*;
use serde_json::Value;

/// JSON that is built of the protocol's own words, so that readers get beyond the first member.
fn likely_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "message",
        "request",
        "messageId",
        "message_id",
        "role",
        "ROLE_USER",
        "user",
        "parts",
        "content",
        "text",
        "raw",
        "url",
        "data",
        "file",
        "bytes",
        "fileWithBytes",
        "uri",
        "kind",
        "metadata",
        "data_part_compat",
        "value",
        "configuration",
        "historyLength",
        "history_length",
        "blocking",
        "id",
        "tenant",
        "jsonrpc",
        "2.0",
        "method",
        "SendMessage",
        "message/send",
        "params",
        "pageSize",
        "status",
        "statusTimestampAfter",
        "",
        "_",
        "AAEC/w==",
        "callId",
        "outcome",
        "tool_call_id",
        "selectedOptionId",
        "file_details",
        "newContent",
        "model",
        "workspacePath",
        "mcp_servers",
        "allowedTools",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..8).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes: Vec<u8>) {
        fuzz::jsonrpc(&bytes);
        fuzz::rest(&bytes);
        fuzz::message(&bytes);
    }

    #[test]
    fn likely_json_does_no_harm(value in likely_json()) {
        fuzz::message(value.to_string().as_bytes());
        fuzz::operations(value.to_string().as_bytes());
        fuzz::devtool(value.to_string().as_bytes());
    }

    #[test]
    fn likely_requests_do_no_harm(
        params in likely_json(),
        id in likely_json(),
        method in prop::sample::select(vec!["SendMessage", "message/send", "ListTasks", "GetTask", "tasks/cancel"]),
    ) {
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        fuzz::jsonrpc(body.to_string().as_bytes());
    }

    #[test]
    fn likely_rest_requests_do_no_harm(
        verb in "GET|POST|DELETE|HEAD|[A-Z]{0,3}",
        path in "(/(v1|tasks|acme|message:send|a:cancel|pushNotificationConfigs|%[0-9a-f]{0,2}|[^?\n]{0,3})){0,5}",
        query in "((pageSize|history_length|status|includeArtifacts|.?)=?(true|[0-9-]{0,20}|%.?|.?)&?){0,4}",
        body in likely_json(),
    ) {
        fuzz::rest(format!("{verb} {path}?{query}\n{body}").as_bytes());
    }
}
