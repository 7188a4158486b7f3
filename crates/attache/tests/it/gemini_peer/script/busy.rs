//! What is done while a command runs.

use attache_testkit::model_server::PlannedResponse;
use serde_json::{Value, json};

use super::calls;
use crate::agent_world::says;
use crate::gemini_peer::scenario::{Scenario, Step, following, opening, said};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new("cancel-running")
            .model([waits()])
            .begin("the prompt", prompt(), RUNS)
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .finish("the prompt")
            .step(Step::Settle),
        Scenario::new("resubscribe-running")
            .model([waits(), says("Done.")])
            .begin("the prompt", prompt(), RUNS)
            .step(Step::Begin {
                name: "tasks/resubscribe",
                method: "tasks/resubscribe",
                params: json!({"id": "$TASK"}),
                until: "",
            })
            .touch("go")
            .finish("the prompt")
            .finish("tasks/resubscribe"),
        Scenario::new("leave-running")
            .model([waits(), says("Done.")])
            .begin("the prompt", prompt(), RUNS)
            .step(Step::Leave("the prompt"))
            .touch("go")
            .step(Step::Settle),
        Scenario::new("message-while-busy")
            .model([waits(), says("Done."), says("And then that.")])
            .tells("And then?")
            .begin("the prompt", prompt(), RUNS)
            .begin("the message", following(vec![said("And then?")]), "")
            .touch("go")
            .finish("the prompt")
            .finish("the message")
            .hanging(),
    ]
}

/// What a stream says once the command runs and has written something.
const RUNS: &str = "artifact-update";

fn prompt() -> Value {
    opening("Wait!", json!({"autoExecute": true}))
}

/// A command that waits until there is a file `go`, but not for ever.
fn waits() -> PlannedResponse {
    // Without a line end, so that it is shown in one piece.
    let command = "printf begun; n=0; until [ -e go ] || [ $n -gt 200 ]; do n=$((n+1)); sleep 0.05; done";
    calls(&[("call-1", "run_shell_command", json!({"command": command}))])
}
