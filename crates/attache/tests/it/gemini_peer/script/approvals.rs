//! Calls that a person decides on.

use serde_json::json;

use super::{calls, command, edit, shell};
use crate::agent_world::says;
use crate::gemini_peer::scenario::{Scenario, Step};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new("shell-once")
            .model([shell(), says("Done.")])
            .prompt("Say hi!")
            .answer(&[("call-1", "proceed_once")]),
        Scenario::new("shell-cancelled")
            .model([shell(), says("As you like.")])
            .prompt("Say hi!")
            .answer(&[("call-1", "cancel")])
            .reply("Leave it."),
        Scenario::new("write-once")
            .model([
                calls(&[("call-1", "write_file", json!({"file_path": "new.txt", "content": "New.\n"}))]),
                says("Done."),
            ])
            .prompt("Write!")
            .answer(&[("call-1", "proceed_once")]),
        Scenario::new("edit-once")
            .model([edit(), says("Done.")])
            .prompt("Greet the moon!")
            .answer(&[("call-1", "proceed_once")]),
        Scenario::new("parallel")
            .model([
                calls(&[
                    ("call-1", "run_shell_command", command("one")),
                    ("call-2", "run_shell_command", command("two")),
                ]),
                says("Both."),
            ])
            .prompt("Both!")
            .answer(&[("call-1", "proceed_once"), ("call-2", "proceed_once")])
            .answer(&[("call-2", "proceed_once")]),
        Scenario::new("shell-always")
            .model([
                calls(&[("call-1", "run_shell_command", command("one"))]),
                calls(&[("call-2", "run_shell_command", command("two"))]),
                says("Both."),
            ])
            .prompt("Both!")
            .answer(&[("call-1", "proceed_always")]),
        Scenario::new("new-connection")
            .model([shell(), says("Done.")])
            .prompt("Say hi!")
            .step(Step::Reconnect)
            .answer(&[("call-1", "proceed_once")]),
    ]
}
