//! Tasks, messages, events and pages out, per version and binding.

use std::borrow::Cow;
use std::sync::Arc;

use attache_domain::{
    ContextId, Message, MessageId, Part, TaskId, TaskState, TaskStatus, TaskView, Update, Usage,
};
use attache_wire::JsonForm;
use attache_wire::devtool::Dialect;
use attache_wire::encode::{
    IncludeArtifacts, TaskPage, TaskShape, write_list, write_message_item, write_task, write_task_item,
    write_update,
};
use serde_json::{Value, json};

use crate::fixture::{artifact, bare_view, full_view, time, user_text};
use crate::golden;

const WHOLE: TaskShape =
    TaskShape { history_length: None, artifacts: IncludeArtifacts::WhenAny, dialect: Dialect::Plain };

fn folder(json_form: JsonForm) -> &'static str {
    match json_form {
        JsonForm::V1_0 => "v1_0",
        JsonForm::V0_3Rpc => "v0_3_rpc",
        JsonForm::V0_3Rest => "v0_3_rest",
    }
}

fn task(json_form: JsonForm, view: &TaskView, shape: TaskShape) -> Value {
    let mut out = Vec::new();
    write_task(json_form, view, shape, &mut out);
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn d8_m1_m2_a_task_is_written_whole_in_every_dialect() {
    for json_form in JsonForm::ALL {
        let mut out = Vec::new();
        write_task(json_form, &full_view(), WHOLE, &mut out);
        golden::check(&out, &golden::value(&format!("{}/out/task.json", folder(json_form))));
    }
}

#[test]
fn a_task_item_is_wrapped_except_on_0_3_json_rpc() {
    for json_form in JsonForm::ALL {
        let bare = golden::value(&format!("{}/out/task.json", folder(json_form)));
        let expected = if json_form == JsonForm::V0_3Rpc { bare } else { json!({ "task": bare }) };
        let mut out = Vec::new();
        write_task_item(json_form, &full_view(), WHOLE, &mut out);
        golden::check(&out, &expected);
    }
}

#[test]
fn s5_s6_s7_every_item_of_a_stream_is_written_in_every_dialect() {
    let (task, context) = (TaskId::from("t-1"), ContextId::from("c-1"));
    let status = |state, millisecond, closes| Update::Status {
        status: TaskStatus { state, message: None, at: time(millisecond) },
        closes,
        usage: None,
    };
    let mut named = artifact("answer-1", vec![Part::text("Hel")]);
    named.name = Some("Answer".into());
    let updates = [
        status(TaskState::Working, 1000, false),
        Update::Artifact { artifact: Cow::Owned(named), append: false, last_chunk: false },
        Update::Artifact {
            artifact: Cow::Owned(artifact("answer-1", vec![Part::text("lo ü")])),
            append: true,
            last_chunk: true,
        },
        status(TaskState::Canceled, 2000, true),
        Update::Replied(Message::from_agent(MessageId::from("m-3"), context.clone(), None, "Hello").into()),
    ];
    for json_form in JsonForm::ALL {
        let expected = golden::value(&format!("{}/out/stream.json", folder(json_form)));
        let mut out = Vec::new();
        write_task_item(json_form, &bare_view(), WHOLE, &mut out);
        golden::check(&out, &expected[0]);
        for (update, expected) in updates.iter().zip(expected.as_array().unwrap().iter().skip(1)) {
            let mut out = Vec::new();
            write_update(json_form, &task, &context, update, &mut out);
            golden::check(&out, expected);
        }
    }
}

#[test]
fn a_bare_message_is_written_as_the_last_stream_item_is() {
    let message = Message::from_agent(MessageId::from("m-3"), ContextId::from("c-1"), None, "Hello");
    for json_form in JsonForm::ALL {
        let mut out = Vec::new();
        write_message_item(json_form, &message, &mut out);
        golden::check(&out, &golden::value(&format!("{}/out/stream.json", folder(json_form)))[5]);
    }
}

#[test]
fn every_state_has_its_name_in_every_json_form() {
    let names = [
        (TaskState::Submitted, "submitted", "TASK_STATE_SUBMITTED", "TASK_STATE_SUBMITTED"),
        (TaskState::Working, "working", "TASK_STATE_WORKING", "TASK_STATE_WORKING"),
        (TaskState::Completed, "completed", "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"),
        (TaskState::Failed, "failed", "TASK_STATE_FAILED", "TASK_STATE_FAILED"),
        (TaskState::Canceled, "canceled", "TASK_STATE_CANCELLED", "TASK_STATE_CANCELED"),
        (
            TaskState::InputRequired,
            "input-required",
            "TASK_STATE_INPUT_REQUIRED",
            "TASK_STATE_INPUT_REQUIRED",
        ),
        (TaskState::Rejected, "rejected", "TASK_STATE_REJECTED", "TASK_STATE_REJECTED"),
        (TaskState::AuthRequired, "auth-required", "TASK_STATE_AUTH_REQUIRED", "TASK_STATE_AUTH_REQUIRED"),
    ];
    for (state, rpc, rest, v1_0) in names {
        let mut view = bare_view();
        view.status.state = state;
        for (json_form, name) in
            [(JsonForm::V0_3Rpc, rpc), (JsonForm::V0_3Rest, rest), (JsonForm::V1_0, v1_0)]
        {
            assert_eq!(task(json_form, &view, WHOLE)["status"]["state"], name, "{json_form:?}");
        }
    }
}

#[test]
fn history_keeps_the_most_recent_messages_oldest_first() {
    let mut view = bare_view();
    view.history = ["one", "two", "three"].map(|text| Arc::new(user_text(text))).to_vec();
    for json_form in JsonForm::ALL {
        for (length, expected) in [
            (None, vec!["one", "two", "three"]),
            (Some(9), vec!["one", "two", "three"]),
            (Some(2), vec!["two", "three"]),
            (Some(0), vec![]),
        ] {
            let shown = task(json_form, &view, TaskShape { history_length: length, ..WHOLE });
            let member = if json_form == JsonForm::V0_3Rest { "content" } else { "parts" };
            let texts: Vec<&str> = match shown.get("history") {
                Some(history) => {
                    let messages = history.as_array().unwrap().iter();
                    messages.map(|message| message[member][0]["text"].as_str().unwrap()).collect()
                }
                None => Vec::new(),
            };
            assert_eq!(texts, expected);
            assert_eq!(shown.get("history").is_some(), !expected.is_empty(), "left out when empty");
        }
    }
}

#[test]
fn l5_artifacts_are_shown_when_any_never_or_always() {
    let shown = |view: &TaskView, artifacts| {
        task(JsonForm::V1_0, view, TaskShape { artifacts, ..WHOLE }).get("artifacts").cloned()
    };
    assert_eq!(shown(&bare_view(), IncludeArtifacts::WhenAny), None);
    assert_eq!(shown(&bare_view(), IncludeArtifacts::Never), None);
    assert_eq!(shown(&bare_view(), IncludeArtifacts::Always), Some(json!([])));
    assert_eq!(shown(&full_view(), IncludeArtifacts::Never), None);
    assert!(
        shown(&full_view(), IncludeArtifacts::WhenAny).is_some_and(|shown| shown[0]["artifactId"] == "a-1")
    );
    assert!(
        shown(&full_view(), IncludeArtifacts::Always).is_some_and(|shown| shown[1]["artifactId"] == "a-2")
    );
}

#[test]
fn l4_a_page_always_has_all_four_members() {
    let page = TaskPage {
        tasks: vec![Arc::new(bare_view())],
        next_page_token: "bmV4dA==".into(),
        page_size: 50,
        total_size: 51,
    };
    let mut out = Vec::new();
    let shape = TaskShape { history_length: Some(0), artifacts: IncludeArtifacts::Always, ..WHOLE };
    write_list(&page, shape, &mut out);
    golden::check(&out, &golden::value("v1_0/out/list.json"));

    let page = TaskPage { tasks: Vec::new(), next_page_token: String::new(), page_size: 7, total_size: 0 };
    let mut out = Vec::new();
    write_list(&page, shape, &mut out);
    golden::check(&out, &golden::value("v1_0/out/list_empty.json"));
}

#[test]
fn s5_a_0_3_status_that_closes_the_stream_is_final_also_when_the_task_only_waits() {
    for (closes, state) in [(true, TaskState::InputRequired), (false, TaskState::AuthRequired)] {
        let status = TaskStatus { state, message: None, at: time(0) };
        let mut out = Vec::new();
        let update = Update::Status { status, closes, usage: None };
        write_update(JsonForm::V0_3Rpc, &TaskId::from("t"), &ContextId::from("c"), &update, &mut out);
        let written: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(written["final"], json!(closes));
    }
}

#[test]
fn what_a_task_has_cost_is_on_its_last_event() {
    let usage = Usage { input: 100, cached: 20, output: 30, thoughts: 10 };
    let status = TaskStatus { state: TaskState::Completed, message: None, at: time(0) };
    let update = Update::Status { status, closes: true, usage: Some(&usage) };
    for json_form in [JsonForm::V1_0, JsonForm::V0_3Rpc, JsonForm::V0_3Rest] {
        let mut out = Vec::new();
        write_update(json_form, &TaskId::from("t"), &ContextId::from("c"), &update, &mut out);
        let written: Value = serde_json::from_slice(&out).unwrap();
        let event = written.get("statusUpdate").unwrap_or(&written);
        let expected =
            json!({"inputTokens": 100, "cachedTokens": 20, "outputTokens": 30, "thoughtTokens": 10});
        assert_eq!(event["metadata"]["usage"], expected, "{written}");
    }
}
