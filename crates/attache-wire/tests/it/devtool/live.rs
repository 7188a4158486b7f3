//! The flat events and the requests of the live endpoint.

use std::sync::Arc;

use attache_domain::{
    CallOutcome, Digest, Fact, Fault, Interface, Message, MessageId, Part, Role, Sender, Seq, TaskId,
    TurnOutcome, Verdict,
};
use attache_testkit::extension::check_event;
use attache_wire::JsonForm;
use attache_wire::devtool::{Dialect, URI, live_routes, rest_api};
use serde_json::{Value, json};

use super::stories::{self, ONCE, edit, exec};
use super::world::{answered, failed, finished, proposed, showed, started, tell, wants};

fn events(facts: Vec<Fact>) -> Vec<Value> {
    let told = tell(facts);
    let written = told.iter().filter_map(|told| told.written_for(Dialect::Live, JsonForm::V0_3Rpc));
    written
        .map(|out| {
            assert!(!out.contains(&b'\n'), "an event is one line");
            serde_json::from_slice(&out).unwrap()
        })
        .collect()
}

fn state(state: &str, is_final: bool) -> Value {
    json!({ "kind": "STATE_CHANGE", "state": state, "final": is_final, "taskId": "t-1" })
}

fn said(text: &str) -> Arc<Message> {
    Arc::new(Message::from_agent(MessageId::from("n"), "c-1".into(), Some("t-1".into()), text))
}

#[test]
fn thoughts_text_notices_and_states_have_the_documented_shapes() {
    let shown = events(vec![
        Fact::TurnStarted { turn: 1, model: None },
        Fact::ThoughtShared { text: "**Looking** I look.".into() },
        Fact::TextSaid { text: "I will list the files for you.".into(), last: false },
        Fact::Noticed { message: said("I wait.") },
        Fact::TextWithdrawn,
        Fact::TurnEnded { outcome: TurnOutcome::InputRequired, message: None, usage: None },
    ]);
    let withdrawn = shown[4]["content"]["text"].clone();
    let expected = [
        state("working", false),
        json!({ "kind": "THOUGHT", "content": { "subject": "Looking", "description": "I look." }, "taskId": "t-1" }),
        json!({ "kind": "TEXT_CONTENT", "content": { "text": "I will list the files for you." }, "taskId": "t-1" }),
        json!({ "kind": "CONSOLE_LOG", "content": { "level": "info", "text": "I wait." }, "taskId": "t-1" }),
        json!({ "kind": "CONSOLE_LOG", "content": { "level": "warn", "text": withdrawn }, "taskId": "t-1" }),
        state("idle", true),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn a_call_is_shown_from_its_question_to_its_end() {
    let agree = answered("proceed_once", Verdict::Proceed);
    let done = finished(CallOutcome::Succeeded, "x", "exited with code 0");
    let facts = vec![
        proposed(exec(), ONCE),
        Fact::PersonAsked { message: said("May I?"), auth: false },
        agree,
        Fact::WorkResumed,
        started(),
        showed("a\n"),
        done,
    ];
    let shown = events([wants("run_shell_command", json!({})), facts].concat());
    let asked = &shown[1];
    for (member, value) in [
        ("kind", json!("TOOL_CALL_UPDATE")),
        ("tool_call_id", json!("t-1.k1")),
        ("status", json!("PENDING")),
        ("tool_name", json!("run_shell_command")),
        ("taskId", json!("t-1")),
    ] {
        assert_eq!(asked[member], value, "{asked:#}");
    }
    let request = asked["confirmation_request"].as_object().unwrap();
    assert_eq!(request.keys().collect::<Vec<_>>(), ["details", "options"]);
    assert_eq!(request["details"]["execute_details"]["command"], "git status && ls");
    let options: Vec<_> = request["options"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(options, ["proceed_once", "cancel"]);
    assert_eq!(shown[2], state("input-required", false));
    let answered = &shown[3];
    assert!(answered.get("confirmation_request").is_none(), "{answered:#}");
    assert_eq!(answered["confirmation_answer"], json!({ "selected_option_id": "proceed_once", "by": "ann" }));
    assert_eq!(shown[4], state("working", false));
    let statuses: Vec<_> = shown[5..].iter().map(|event| &event["status"]).collect();
    assert_eq!(statuses, ["EXECUTING", "EXECUTING", "SUCCEEDED"]);
    assert_eq!(shown[6]["live_content"], "a\n");
}

#[test]
fn an_edit_has_its_details_below_details() {
    let shown = events([wants("write_file", json!({})), vec![proposed(edit(), ONCE)]].concat());
    let request = &shown[1]["confirmation_request"];
    assert!(request["details"]["file_edit_details"].is_object(), "{request:#}");
    assert!(request.get("file_edit_details").is_none(), "{request:#}");
}

/// One prompt that is worked on, and one that waits for it.
fn prompts() -> Vec<Fact> {
    let sender =
        Sender { by: "ann".into(), client: Some("wscat".into()), interface: Some(Interface::WebSocket) };
    let prompt = |id: &str, sender: Option<Sender>| {
        let message = Message { role: Role::User, ..(*said("List")).clone() };
        Arc::new(Message { id: id.into(), sender: sender.map(Box::new), ..message })
    };
    let digest = || Digest("d".into());
    vec![
        Fact::MessageReceived { message: prompt("m1", None), digest: digest() },
        Fact::TurnStarted { turn: 2, model: None },
        Fact::PromptQueued { message: prompt("m2", Some(sender)), digest: digest() },
        Fact::PromptTaken { said: None, message: Some("m2".into()) },
    ]
}

#[test]
fn clients_of_the_rfc_see_the_prompts_of_all_clients() {
    for json_form in JsonForm::ALL {
        let told = tell(prompts());
        let shown: Vec<_> = told.iter().filter_map(|told| told.encoded(json_form)).collect();
        let mut prompts = Vec::new();
        for event in &shown {
            check_event(event).unwrap_or_else(|error| panic!("{error}\nin {json_form:?}: {event:#}"));
            let event = event.get("statusUpdate").or(event.get("result")).unwrap_or(event);
            let about = &event["metadata"][URI];
            assert_eq!(about["kind"], "STATE_CHANGE", "{event:#}");
            prompts.extend(about.get("user_prompt").cloned());
        }
        let expected = [
            json!({ "message_id": "m1", "status": "RECEIVED", "text": "List" }),
            json!({
                "message_id": "m2", "status": "QUEUED", "text": "List", "by": "ann", "client": "wscat",
                "interface": "websocket",
            }),
            json!({ "message_id": "m2", "status": "TAKEN" }),
        ];
        assert_eq!(prompts, expected, "{json_form:?}");
    }
}

#[test]
fn prompts_say_who_gave_them_and_when_their_turn_comes() {
    let shown = events(prompts());
    let expected = [
        json!({
            "kind": "USER_PROMPT", "taskId": "t-1", "message_id": "m1", "status": "RECEIVED",
            "content": { "text": "List" },
        }),
        state("working", false),
        json!({
            "kind": "USER_PROMPT", "taskId": "t-1", "message_id": "m2", "status": "QUEUED",
            "content": { "text": "List" }, "by": "ann", "client": "wscat", "interface": "websocket",
        }),
        json!({ "kind": "USER_PROMPT", "taskId": "t-1", "message_id": "m2", "status": "TAKEN" }),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn the_end_of_a_prompt_is_shown_in_every_dialect_although_the_next_one_is_taken() {
    let message = |text: &str| {
        let reason = json!({ "reason": "failed", "failed": true }).as_object().cloned();
        Arc::new(Message { metadata: reason, ..(*said(text)).clone() })
    };
    let settled = |message: Option<Arc<Message>>| Fact::PromptSettled {
        prompt: Some("m1".into()),
        outcome: TurnOutcome::InputRequired,
        message,
    };
    let expected = json!({
        "kind": "STATE_CHANGE", "taskId": "t-1", "state": "working", "final": true, "message_id": "m1",
        "content": { "text": "No." }, "reason": "failed", "failed": message("").is_about_failure(),
    });
    assert_eq!(events(vec![settled(Some(message("No.")))]), [expected]);
    let silent = json!({
        "kind": "STATE_CHANGE", "taskId": "t-1", "state": "working", "final": true, "message_id": "m1",
    });
    assert_eq!(events(vec![settled(None)]), [silent]);
    for json_form in JsonForm::ALL {
        for dialect in [Dialect::Developer, Dialect::Gemini] {
            let told = tell(vec![settled(Some(message("No."))), settled(None)]);
            let shown: Vec<_> = told.iter().filter_map(|told| told.written_for(dialect, json_form)).collect();
            let [shown] = &shown[..] else { panic!("{} events", shown.len()) };
            let shown = String::from_utf8_lossy(shown);
            for words in ["No.", "orking", "\"error\":\"No.\""] {
                assert!(
                    shown.to_ascii_lowercase().contains(&words.to_ascii_lowercase()),
                    "{words} in {shown}"
                );
            }
            assert!(!shown.contains("\"final\":true"), "the stream goes on: {shown}");
        }
    }
}

#[test]
fn a_long_prompt_is_shown_in_part() {
    let long = Message { parts: vec![Part::text("é".repeat(100_000))], ..(*said("")).clone() };
    let shown = events(vec![Fact::MessageReceived { message: Arc::new(long), digest: Digest("d".into()) }]);
    assert_eq!(shown[0]["content"]["truncated"], true);
    assert_eq!(shown[0]["content"]["text"].as_str().unwrap().len(), 64 << 10);
}

#[track_caller]
fn check_status(end: Fact, expected: &str) {
    let shown = events([wants("ls", json!({})), vec![proposed(exec(), &[]), started(), end]].concat());
    assert_eq!(shown.last().unwrap()["status"], expected);
}

#[test]
fn the_end_of_a_call_has_one_of_three_statuses() {
    check_status(finished(CallOutcome::Succeeded, "", ""), "SUCCEEDED");
    check_status(finished(failed("f"), "no", "no"), "FAILED");
    check_status(finished(CallOutcome::Canceled, "", ""), "CANCELLED");
}

#[test]
fn a_turn_of_a_session_that_failed_says_so() {
    let mut message = (*said("The model is gone.")).clone();
    message.metadata =
        Some(serde_json::from_value(json!({ "reason": "credential", "failed": true })).unwrap());
    let (outcome, usage) = (TurnOutcome::InputRequired, None);
    let shown = events(vec![Fact::TurnEnded { outcome, message: Some(Arc::new(message)), usage }]);
    let mut expected = state("idle", true);
    expected["content"] = json!({ "text": "The model is gone." });
    expected["reason"] = json!("credential");
    expected["failed"] = json!(true);
    assert_eq!(shown, [expected]);
}

#[track_caller]
fn check_end(fact: Fact, expected: &str) {
    assert_eq!(events(vec![fact]), [state(expected, true)]);
}

#[test]
fn the_end_of_a_prompt_is_final() {
    let ended = |outcome| Fact::TurnEnded { outcome, message: None, usage: None };
    check_end(ended(TurnOutcome::Completed), "completed");
    check_end(ended(TurnOutcome::InputRequired), "idle");
    check_end(ended(TurnOutcome::Failed), "failed");
    check_end(Fact::TaskCanceled, "canceled");
}

#[test]
fn every_event_has_a_documented_kind_and_its_task() {
    let kinds = ["STATE_CHANGE", "TOOL_CALL_UPDATE", "TEXT_CONTENT", "THOUGHT", "CONSOLE_LOG", "USER_PROMPT"];
    let shown: Vec<_> = stories::all().into_iter().flat_map(events).collect();
    for event in &shown {
        assert!(kinds.iter().any(|kind| event["kind"] == *kind), "{event:#}");
        assert_eq!(event["taskId"], "t-1", "{event:#}");
    }
    let is_shown = |kind: &str| shown.iter().any(|event| event["kind"] == kind);
    assert!(kinds.iter().filter(|kind| **kind != "USER_PROMPT").all(|kind| is_shown(kind)));
}

#[track_caller]
fn check_prompt(params: Value) {
    let send = live_routes::read_message(params.clone()).unwrap_or_else(|fault| panic!("{params}: {fault}"));
    assert_eq!(send.message.text(), "List", "{params}");
}

#[test]
fn a_prompt_can_be_written_in_four_ways() {
    check_prompt(json!({ "message": { "content": { "text": "List" } } }));
    check_prompt(json!({ "message": { "parts": [{ "kind": "text", "text": "List" }] } }));
    check_prompt(json!({ "message": { "text": "List" } }));
    check_prompt(json!({ "text": "List" }));
}

#[test]
fn the_ids_of_a_message_are_read() {
    let params = json!({ "taskId": "t", "message": { "messageId": "m", "content": { "text": "List" } } });
    let message = live_routes::read_message(params).unwrap().message;
    assert_eq!((message.task, message.id.as_str()), (Some(TaskId::from("t")), "m"));
    let message = live_routes::read_message(json!({ "text": "List" })).unwrap().message;
    assert_eq!((message.task, message.id.as_str()), (None, ""));
}

#[test]
fn an_answer_to_a_confirmation_is_read() {
    let data = json!({
        "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": "k1", "selected_option_id": "proceed_once",
    });
    let send = live_routes::read_message(json!({ "message": { "content": { "data": data } } })).unwrap();
    let attache_domain::PartAnswers::Data(answers) = &send.answers.parts[0] else { panic!("no data") };
    assert_eq!(answers[0].call.as_ref().unwrap().0, "k1");
    assert_eq!(answers[0].choice.as_ref().unwrap().given, "proceed_once");
}

#[track_caller]
fn check_refused(params: Value, field: &str) {
    match live_routes::read_message(params.clone()) {
        Err(Fault::InvalidParams { violations }) => assert_eq!(violations[0].field, field, "{params}"),
        other => panic!("{params}: {other:?}"),
    }
}

#[test]
fn what_is_no_message_is_refused_with_the_place() {
    check_refused(json!([]), "");
    check_refused(json!({}), "message");
    check_refused(json!({ "message": {} }), "message.content");
    check_refused(json!({ "message": { "content": "List" } }), "message.content");
    check_refused(json!({ "message": { "content": {} } }), "message.content");
    check_refused(json!({ "message": { "content": { "text": " " } } }), "message.content.text");
    check_refused(json!({ "message": { "content": { "text": 1 } } }), "message.content.text");
    check_refused(json!({ "message": { "content": { "data": 1 } } }), "message.content.data");
    check_refused(
        json!({ "message": { "content": { "data": { "kind": "OTHER" } } } }),
        "message.content.data.kind",
    );
    check_refused(json!({ "message": { "parts": [] } }), "message.parts");
    check_refused(json!({ "taskId": "a", "message": { "taskId": "b", "text": "List" } }), "message.taskId");
}

#[test]
fn a_subscription_may_name_its_task_and_a_cursor() {
    let read = |params: Value| live_routes::read_subscribe(params).unwrap();
    assert_eq!(read(json!({ "taskId": "t" })), (Some(TaskId::from("t")), None));
    let (_, after) = read(json!({ "taskId": "t", "after": "e1.17" }));
    let after = after.unwrap();
    assert_eq!((after.epoch.as_deref(), after.seq), (Some("e1"), Seq(17)));
    let (_, after) = read(json!({ "taskId": "t", "after": 0 }));
    assert_eq!(after.unwrap().seq, Seq(0));
    assert_eq!(read(json!({})), (None, None));
    for (params, field) in
        [(json!({ "taskId": "t", "after": "x" }), "after"), (json!({ "taskId": 1 }), "taskId")]
    {
        match live_routes::read_subscribe(params) {
            Err(Fault::InvalidParams { violations }) => assert_eq!(violations[0].field, field),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_address_of_a_socket_may_hold_a_task_and_a_cursor() {
    let query = Some("taskId=t&after=e1.3");
    assert_eq!(live_routes::task_in_query(query), Some(TaskId::from("t")));
    assert_eq!(live_routes::cursor_in_query(query).unwrap().unwrap().seq, Seq(3));
    assert_eq!(live_routes::cursor_in_query(Some("after=")).unwrap(), None);
    assert_eq!(live_routes::task_in_query(None), None);
    assert!(live_routes::cursor_in_query(Some("after=-")).is_err());
}

#[test]
fn only_settings_of_gemini_clients_ask_for_the_bare_id() {
    let settings = |settings: Value| rest_api::is_gemini_create(&json!({ "agentSettings": settings }));
    assert!(settings(json!({ "kind": "agent-settings" })));
    assert!(settings(json!({ "workspacePath": "/w" })));
    assert!(!settings(json!({ "model": "m" })));
    assert!(!rest_api::is_gemini_create(&Value::Null));
    assert!(!rest_api::is_gemini_create(&json!({ "contextId": "c" })));
}
