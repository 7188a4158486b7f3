//! What the peer falls silent about.

use serde_json::json;

use super::{edit, shell};
use crate::agent_world::says;
use crate::gemini_peer::scenario::{Scenario, following};

pub(super) fn scenarios() -> Vec<Scenario> {
    let other = json!({"callId": "call-1", "outcome": "proceed_once", "newContent": "Hello, sun.\n"});
    let other = following(vec![json!({"kind": "data", "data": other})]);
    [
        Scenario::new("unknown-outcome").model([shell()]).prompt("Say hi!").answer(&[("call-1", "maybe")]),
        Scenario::new("unknown-call")
            .model([shell()])
            .prompt("Say hi!")
            .answer(&[("call-9", "proceed_once")]),
        Scenario::new("words-while-asked").model([shell()]).prompt("Say hi!").reply("What would it do?"),
        Scenario::new("edit-other-content")
            .model([edit(), says("Done.")])
            .makes("hello.txt")
            .prompt("Greet the moon!")
            .rpc("message/stream", json!({"message": other})),
    ]
    .map(Scenario::hanging)
    .into()
}
