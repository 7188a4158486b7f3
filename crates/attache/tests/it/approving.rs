//! What a person approves is what the person sees, on the surfaces of the binary. `attache-server` tests its own.

mod binding;
mod hidden;

use attache_testkit::model_server::PlannedResponse;
use serde_json::json;

use crate::agent_world::calls;

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}
