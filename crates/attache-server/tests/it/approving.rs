//! What a person approves is what the person sees, and the person who approves it is named afterwards.

mod binding;
mod hidden;
mod recorded_answers;

use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::calls;
use serde_json::json;

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}
