//! Other methods.

use serde_json::json;

use super::{shell, spoken};
use crate::agent_world::says;
use crate::gemini_peer::scenario::{Scenario, Step, following, opening, said};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new("send")
            .model([spoken()])
            .rpc("message/send", json!({"message": opening("Count!", json!({}))}))
            .rpc("tasks/get", json!({"id": "$TASK"}))
            .rpc("tasks/get", json!({"id": "$TASK", "historyLength": 2})),
        Scenario::new("send-unblocking")
            .model([says("Hello.")])
            .rpc(
                "message/send",
                json!({"message": opening("Hello?", json!({})), "configuration": {"blocking": false}}),
            )
            .step(Step::Settle),
        Scenario::new("get")
            .model([shell(), says("Done.")])
            .prompt("Say hi!")
            .rpc("tasks/get", json!({"id": "$TASK"}))
            .answer(&[("call-1", "proceed_once")])
            .rpc("tasks/get", json!({"id": "$TASK", "historyLength": 100})),
        Scenario::new("cancel")
            .model([shell()])
            .prompt("Say hi!")
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .reply("Are you there?")
            .rpc("message/send", json!({"message": following(vec![said("Are you there?")])})),
        Scenario::new("resubscribe")
            .model([says("Hello.")])
            .prompt("Hello?")
            .rpc("tasks/resubscribe", json!({"id": "$TASK"}))
            // Ours stays open.
            .hanging(),
        Scenario::new("unknown-task")
            .reply("Hello?")
            .rpc("message/send", json!({"message": following(vec![said("Hello?")])}))
            .rpc("tasks/get", json!({"id": "$TASK"}))
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .rpc("tasks/resubscribe", json!({"id": "$TASK"}))
            .rpc("no/such/method", json!({})),
    ]
}
