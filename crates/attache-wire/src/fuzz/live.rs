//! The parameters of the requests of the live endpoint, and the address of its WebSocket.

use attache_domain::Fault;

use super::{DEPTH, check_said};
use crate::devtool::{live_routes, live_tools};
use crate::jsonrpc::{self, RequestId};
use crate::{Version, json};

/// Nothing panics, a fault is short, and what is read holds what its type promises.
pub(super) fn params(text: &[u8]) {
    query(&String::from_utf8_lossy(text));
    let Ok(params) = json::parse(text, DEPTH) else { return };
    let said = |fault: &Fault| {
        let mut out = Vec::new();
        jsonrpc::write_error(Version::V0_3, &RequestId::Null, fault, &mut out);
        check_said(&out, text);
    };
    match live_routes::read_message(params.clone()) {
        Ok(send) => assert!(!send.message.parts.is_empty()),
        Err(fault) => said(&fault),
    }
    match live_routes::read_subscribe(params.clone()) {
        Ok((task, _)) => assert!(task.is_none_or(|task| !task.as_str().is_empty())),
        Err(fault) => said(&fault),
    }
    match live_tools::read_register(params.clone()) {
        Ok(register) => {
            assert!((1..=16).contains(&register.servers.len()));
            assert!(register.task.is_none_or(|task| !task.as_str().is_empty()));
            let _ = register.servers.values().map(live_tools::address_of).count();
        }
        Err(fault) => said(&fault),
    }
    match live_tools::read_unregister(params) {
        Ok(unregister) => assert!(unregister.names.len() <= text.len()),
        Err(fault) => said(&fault),
    }
}

fn query(text: &str) {
    let _ = live_routes::cursor_in_query(Some(text));
    if let Some(task) = live_routes::task_in_query(Some(text)) {
        assert!(!task.as_str().is_empty() && text.contains(task.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop::sample::select(
                &["", "t", "http://127.0.0.1:1/mcp", "TOOL_CALL_CONFIRMATION", "\u{7}", "e.1"][..]
            )
            .prop_map(Value::from),
        ];
        let names = prop::sample::select(
            &[
                "taskId",
                "after",
                "mcpServers",
                "names",
                "message",
                "content",
                "data",
                "text",
                "parts",
                "kind",
                "messageId",
                "httpUrl",
                "url",
                "command",
                "tool_call_id",
                "selected_option_id",
                "a b",
            ][..],
        );
        leaf.prop_recursive(4, 32, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(names.clone(), inner, 0..6).prop_map(|members| json!(members)),
            ]
        })
    }

    #[test]
    fn the_seeds_are_read() {
        params(br#"{"taskId":"t","mcpServers":{"editor":{"httpUrl":"http://127.0.0.1:9000/mcp"}}}"#);
        params(br#"{"taskId":"t","names":["editor"]}"#);
        params(b"taskId=t&after=e.1");
    }

    proptest! {
        #[test]
        fn likely_parameters_do_no_harm(value in any_json()) {
            params(value.to_string().as_bytes());
        }
    }
}
