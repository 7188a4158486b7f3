//! Requests of the REST API.

use attache_domain::{Fault, RequestedSettings, SendMessage, TaskId};

use super::{DEPTH, check_said};
use crate::devtool::rest_api::{
    Confirmation, CreateTask, ExecuteCommand, ExecuteTask, Route, RouteMatch, find, is_gemini_create,
};
use crate::{Version, json, rest};

/// Nothing panics, a fault is short and quotes no key, and a key is not among the settings.
pub(super) fn request(request: &[u8]) {
    let end = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
    let (line, body) = request.split_at(end);
    let line = String::from_utf8_lossy(line);
    let (method, path) = line.split_once(' ').unwrap_or(("POST", &line));
    if let Some(RouteMatch::Route { route, parameter, .. }) = find(method, path) {
        let has_parameter = !matches!(
            route,
            Route::CreateTask | Route::ListTasks | Route::ListCommands | Route::Health | Route::OpenApi
        );
        assert_eq!(parameter.is_some_and(|parameter| !parameter.is_empty()), has_parameter, "{path}");
    }
    let Ok(body) = json::parse(body, DEPTH) else { return };
    let _ = is_gemini_create(&body);
    let said = |fault: &Fault| check_said(&rest::error(Version::V1_0, fault).body, request);
    match CreateTask::read(body.clone()) {
        Ok(create) => {
            check_key(create.into_parts().1.as_deref());
        }
        Err(fault) => said(&fault),
    }
    let task = TaskId::from("t-1");
    match ExecuteTask::read(body.clone()) {
        Ok(execute) => {
            let send = execute.into_send(task.clone());
            assert!(!send.message.text().trim().is_empty());
            check_key(send.message.requested.as_deref());
        }
        Err(fault) => said(&fault),
    }
    match Confirmation::read(body.clone()) {
        Ok(confirmation) => check_answer(&confirmation.to_send(task)),
        Err(fault) => said(&fault),
    }
    match ExecuteCommand::read(body) {
        Ok(command) => assert!(command.into_send("memory show").message.command.is_some()),
        Err(fault) => said(&fault),
    }
}

/// A message with an answer is nothing but that.
fn check_answer(send: &SendMessage) {
    assert!(send.answers.has_data() && send.message.parts.len() == 1, "{send:?}");
}

fn check_key(requested: Option<&RequestedSettings>) {
    let stored = serde_json::to_value(requested).expect("settings are JSON");
    assert!(stored.get("apiKey").is_none() && stored.get("api_key").is_none());
    if let Some(key) = requested.and_then(|requested| requested.api_key.as_ref()) {
        assert!(!key.expose().is_empty() && key.expose().bytes().all(|byte| byte.is_ascii_graphic()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "null",
        "true",
        "7",
        "\"message\":",
        "\"messageId\":",
        "\"agentSettings\":",
        "\"workspaceRoot\":",
        "\"apiKey\":",
        "\"model\":",
        "\"toolCallId\":",
        "\"optionId\":",
        "\"newContent\":",
        "\"answers\":",
        "\"args\":",
        "\"contextId\":",
        "\"x\"",
        "\"sk-1\"",
        "\"\\u0000\"",
        "POST /tasks",
        "GET /tasks/t",
        "/execute",
        "/confirmations",
        "%20",
        "\n",
    ];

    #[test]
    fn the_seeds_are_read() {
        request(
            br#"POST /tasks/t-1/execute
{"message":"Hello","agentSettings":{"apiKey":"k"},"toolCallId":"k1","optionId":"proceed_once","args":["a"]}"#,
        );
    }

    proptest! {
        #[test]
        fn likely_requests_do_no_harm(words in prop::collection::vec(prop::sample::select(WORDS), 0..20)) {
            request(words.concat().as_bytes());
        }

        #[test]
        fn likely_bodies_do_no_harm(members in prop::collection::btree_map(
            prop::sample::select(&["message", "messageId", "agentSettings", "toolCallId", "optionId", "newContent",
                "answers", "args", "contextId"][..]),
            prop::sample::select(&["null", "\"x\"", "7", "[\"x\"]", "{}", "{\"apiKey\":\"sk-1\"}", "{\"model\":7}",
                "\" \"", "\"\\u0007\""][..]), 0..6)) {
            let members: Vec<_> = members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
            request(format!("POST /tasks\n{{{}}}", members.join(",")).as_bytes());
        }
    }
}
