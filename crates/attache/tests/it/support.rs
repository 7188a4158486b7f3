//! What every module here needs: a launch of the real binary, and messages.

use attache_testkit::Launch;
use serde_json::{Value, json};

pub(crate) fn launch() -> Launch {
    Launch::of(env!("CARGO_BIN_EXE_attache"))
}

/// The script that most tests play.
pub(crate) const SCRIPT: &str = include_str!("../../../../examples/scripts/interop.yaml");

/// Parameters of a 1.0 send.
pub(crate) fn message(id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// Parameters of a 1.0 send to a task.
pub(crate) fn message_to(task: &str, id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "taskId": task, "role": "ROLE_USER", "parts": [{"text": text}]}})
}
