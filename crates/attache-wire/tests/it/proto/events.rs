//! The events of the development-tool extension, in protobuf.

use attache_domain::{ContextId, Fact, TaskId, devtool_event_of};
use attache_wire::devtool::{DevtoolFrame, Dialect};
use attache_wire::{JsonForm, Version, proto};
use serde_json::{Value, json};

use super::transcoded::check;
use crate::devtool::world::{started, tell, wants};

#[test]
fn both_dialects_of_the_extension_say_in_protobuf_what_they_say_in_json() {
    let mut facts = wants("shell", json!({ "command": "ls", "timeout": 3 }));
    facts.insert(1, Fact::ThoughtShared { text: "Let me see".into() });
    facts.insert(2, Fact::TextSaid { text: "I look".into(), last: false });
    let (task, context) = (TaskId::from("t-1"), ContextId::from("c-1"));
    let mut written = 0;
    for dialect in [Dialect::Developer, Dialect::Gemini] {
        for told in tell(facts.clone()) {
            let Some(event) = devtool_event_of(&told.stage, &told.call_records, &told.event) else {
                continue;
            };
            if !dialect.shows(&event) {
                continue;
            }
            let frame = DevtoolFrame {
                task: &task,
                context: &context,
                seq: told.event.seq,
                at: told.event.at,
                stage: &told.stage,
                call_records: &told.call_records,
                event,
            };
            for (version, json_form) in [(Version::V1_0, JsonForm::V1_0), (Version::V0_3, JsonForm::V0_3Rest)]
            {
                let (mut json, mut out) = (Vec::new(), Vec::new());
                dialect.write(json_form, &frame, &mut json);
                proto::write_devtool_frame(dialect, version, &frame, &mut out).unwrap();
                let json: Value = serde_json::from_slice(&json).unwrap();
                check(version, "StreamResponse", &out, &json);
                written += 1;
            }
        }
    }
    assert!(written >= 8, "{written}");
}

#[test]
fn an_event_that_no_protobuf_can_hold_is_an_error_and_not_an_empty_item() {
    let deep = (0..126).fold(json!("the bottom"), |inner, _| json!([inner]));
    let (task, context) = (TaskId::from("t-1"), ContextId::from("c-1"));
    let mut refused = 0;
    let mut facts = wants("shell", json!({ "command": deep }));
    facts.push(started());
    for told in tell(facts) {
        let Some(event) = devtool_event_of(&told.stage, &told.call_records, &told.event) else {
            continue;
        };
        let (stage, call_records) = (&told.stage, &told.call_records);
        let (seq, at) = (told.event.seq, told.event.at);
        let frame = DevtoolFrame { task: &task, context: &context, seq, at, stage, call_records, event };
        for version in [Version::V1_0, Version::V0_3] {
            let mut out = b"before".to_vec();
            match proto::write_devtool_frame(Dialect::Developer, version, &frame, &mut out) {
                Ok(()) => assert!(out.len() > 6),
                Err(error) => {
                    assert!(error.contains("recursion"), "{error}");
                    assert_eq!(out, b"before");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused >= 2, "{refused}");
}
