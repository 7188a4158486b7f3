//! Tasks, messages, events and pages out.

use std::borrow::Cow;
use std::sync::Arc;

use attache_domain::{
    Base64, ContextId, Message, MessageId, Part, PartContent, TaskId, TaskState, TaskStatus, Update, Usage,
};
use attache_wire::devtool::Dialect;
use attache_wire::encode::{IncludeArtifacts, TaskPage, TaskShape};
use attache_wire::{Version, proto};
use serde_json::json;

use super::transcoded::{check, to_json};
use crate::fixture::{artifact, bare_view, full_view, time, user_text};
use crate::golden;

const WHOLE: TaskShape =
    TaskShape { history_length: None, artifacts: IncludeArtifacts::WhenAny, dialect: Dialect::Plain };

fn folder(version: Version) -> &'static str {
    match version {
        Version::V0_3 => "v0_3_rest",
        Version::V1_0 => "v1_0",
    }
}

#[test]
fn d8_m1_m2_a_task_is_written_whole_in_both_versions() {
    for version in Version::ALL {
        let expected = golden::value(&format!("{}/out/task.json", folder(version)));
        let mut out = Vec::new();
        proto::write_task(version, &full_view(), WHOLE, &mut out);
        check(version, "Task", &out, &expected);
        let mut out = Vec::new();
        proto::write_task_item(version, &full_view(), WHOLE, &mut out);
        check(version, "SendMessageResponse", &out, &json!({ "task": expected }));
        check(version, "StreamResponse", &out, &json!({ "task": expected }));
    }
}

#[test]
fn s5_s6_s7_every_item_of_a_stream_is_written_in_both_versions() {
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
    for version in Version::ALL {
        let expected = golden::value(&format!("{}/out/stream.json", folder(version)));
        let mut out = Vec::new();
        proto::write_task_item(version, &bare_view(), WHOLE, &mut out);
        check(version, "StreamResponse", &out, &expected[0]);
        for (update, expected) in updates.iter().zip(expected.as_array().unwrap().iter().skip(1)) {
            let mut out = Vec::new();
            proto::write_update(version, &task, &context, update, &mut out);
            check(version, "StreamResponse", &out, expected);
        }
    }
}

#[test]
fn every_state_has_its_number() {
    for state in TaskState::ALL {
        let mut view = bare_view();
        view.status.state = state;
        for version in Version::ALL {
            let mut out = Vec::new();
            proto::write_task(version, &view, WHOLE, &mut out);
            let name = to_json(version, "Task", &out)["status"]["state"].as_str().unwrap().to_owned();
            let plain =
                name.trim_start_matches("TASK_STATE_").replace('_', "").replace("CANCELLED", "CANCELED");
            assert_eq!(plain, format!("{state:?}").to_uppercase());
        }
    }
}

#[test]
fn history_keeps_the_most_recent_messages_oldest_first() {
    let mut view = bare_view();
    view.history = ["one", "two", "three"].map(|text| Arc::new(user_text(text))).to_vec();
    for (length, expected) in [(None, 3), (Some(9), 3), (Some(2), 2), (Some(0), 0)] {
        let mut out = Vec::new();
        let shape = TaskShape { history_length: length, ..WHOLE };
        proto::write_task(Version::V1_0, &view, shape, &mut out);
        let shown = to_json(Version::V1_0, "Task", &out);
        let history =
            shown.get("history").and_then(|history| history.as_array()).cloned().unwrap_or_default();
        assert_eq!(history.len(), expected);
        if expected > 0 {
            assert_eq!(history.last().unwrap()["parts"][0]["text"], "three");
        }
    }
}

#[test]
fn l4_l5_a_page_says_what_there_is() {
    let page = TaskPage {
        tasks: vec![Arc::new(full_view())],
        next_page_token: "bmV4dA==".into(),
        page_size: 50,
        total_size: 51,
    };
    let mut out = Vec::new();
    let shape = TaskShape { history_length: Some(0), artifacts: IncludeArtifacts::Never, ..WHOLE };
    proto::write_list(&page, shape, &mut out);
    let listed = to_json(Version::V1_0, "ListTasksResponse", &out);
    assert_eq!(listed["tasks"][0]["id"], "t-1");
    assert_eq!(listed["tasks"][0].get("artifacts"), None);
    assert_eq!(listed["tasks"][0].get("history"), None);
    assert_eq!(listed["nextPageToken"], "bmV4dA==");
    assert_eq!((&listed["pageSize"], &listed["totalSize"]), (&json!(50), &json!(51)));

    let page =
        TaskPage { tasks: Vec::new(), next_page_token: String::new(), page_size: 7, total_size: u64::MAX };
    let mut out = Vec::new();
    proto::write_list(&page, shape, &mut out);
    check(Version::V1_0, "ListTasksResponse", &out, &json!({ "pageSize": 7, "totalSize": i32::MAX }));
}

#[test]
fn what_a_task_has_cost_is_on_its_last_event() {
    let usage = Usage { input: 100, cached: 20, output: 30, thoughts: 10 };
    let status = TaskStatus { state: TaskState::Completed, message: None, at: time(0) };
    let update = Update::Status { status, closes: true, usage: Some(&usage) };
    for version in Version::ALL {
        let mut out = Vec::new();
        proto::write_update(version, &TaskId::from("t"), &ContextId::from("c"), &update, &mut out);
        let event = to_json(version, "StreamResponse", &out)["statusUpdate"].clone();
        let expected =
            json!({"inputTokens": 100.0, "cachedTokens": 20.0, "outputTokens": 30.0, "thoughtTokens": 10.0});
        assert_eq!(event["metadata"]["usage"], expected, "{event}");
        assert_eq!(event.get("final").is_some(), version == Version::V0_3);
    }
}

#[test]
fn texts_of_every_length_have_their_length_told() {
    for length in [0, 1, 100, 127, 128, 16_383, 16_384, 3_000_000] {
        let mut view = bare_view();
        view.history = vec![Arc::new(user_text(&"x".repeat(length)))];
        for version in Version::ALL {
            let mut out = Vec::new();
            proto::write_task_item(version, &view, WHOLE, &mut out);
            let shown = to_json(version, "StreamResponse", &out);
            let member = if version == Version::V0_3 { "content" } else { "parts" };
            assert_eq!(shown["task"]["history"][0][member][0]["text"].as_str().unwrap().len(), length);
        }
    }
}

#[test]
fn bytes_travel_as_bytes() {
    let mut view = bare_view();
    let raw = Part::new(PartContent::Raw(Base64("AAEC/w==".into())));
    view.artifacts = vec![artifact("a-1", vec![raw])];
    let mut out = Vec::new();
    proto::write_task(Version::V1_0, &view, WHOLE, &mut out);
    assert!(out.windows(4).any(|window| window == [0, 1, 2, 255]));
}

#[test]
fn times_before_1970_are_told_with_a_fraction_that_is_not_negative() {
    let mut view = bare_view();
    view.status.at = attache_domain::Timestamp::from_millisecond(-1).unwrap();
    let mut out = Vec::new();
    proto::write_task(Version::V1_0, &view, WHOLE, &mut out);
    assert_eq!(to_json(Version::V1_0, "Task", &out)["status"]["timestamp"], "1969-12-31T23:59:59.999Z");
}
