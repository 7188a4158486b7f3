//! The events of the development-tool extension, in protobuf.

use attache_domain::{ContextId, Fact, TaskId, happening_of};
use attache_wire::devtool::{Occasion, Profile};
use attache_wire::{Dialect, Version, proto};
use serde_json::{Value, json};

use super::transcoded::check;
use crate::devtool::world::{tell, wants};

#[test]
fn both_dialects_of_the_extension_say_in_protobuf_what_they_say_in_json() {
    let mut facts = wants("shell", json!({ "command": "ls", "timeout": 3 }));
    facts.insert(1, Fact::ThoughtShared { text: "Let me see".into() });
    facts.insert(2, Fact::TextSaid { text: "I look".into(), last: false });
    let (task, context) = (TaskId::from("t-1"), ContextId::from("c-1"));
    let mut written = 0;
    for profile in [Profile::Developer, Profile::Gemini] {
        for told in tell(facts.clone()) {
            let Some(happening) = happening_of(&told.stage, &told.cast, &told.event) else { continue };
            if !profile.shows(&happening) {
                continue;
            }
            let occasion = Occasion {
                task: &task,
                context: &context,
                seq: told.event.seq,
                at: told.event.at,
                stage: &told.stage,
                cast: &told.cast,
                happening,
            };
            for (version, dialect) in [(Version::V1_0, Dialect::V1_0), (Version::V0_3, Dialect::V0_3Rest)] {
                let (mut json, mut out) = (Vec::new(), Vec::new());
                profile.write(dialect, &occasion, &mut json);
                proto::write_occasion(profile, version, &occasion, &mut out);
                let json: Value = serde_json::from_slice(&json).unwrap();
                check(version, "StreamResponse", &out, &json);
                written += 1;
            }
        }
    }
    assert!(written >= 8, "{written}");
}
