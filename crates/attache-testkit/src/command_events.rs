//! The response to a command of the development-tool extension, and the events that follow a command or a message.

use serde_json::Value;

use crate::SseFrame;
use crate::extension::{check, check_event};

/// The development-tool extension, as the agent card lists it.
const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

/// What a command or a message led to.
#[derive(Debug)]
pub struct CommandEvents {
    /// What was answered before all events; null for a message.
    pub response: Value,
    pub events: Vec<Value>,
}

impl CommandEvents {
    /// The first frame is the response; streams do not resume after it.
    #[track_caller]
    pub fn of_command(frames: Vec<SseFrame>) -> Self {
        let (first, rest) = frames.split_first().expect("an answer");
        assert_eq!(first.id, None, "{first:?}");
        Self { response: check_command_response(first.payload()), ..Self::of_message(rest.to_vec()) }
    }

    #[track_caller]
    pub fn of_message(frames: Vec<SseFrame>) -> Self {
        let events: Vec<Value> = frames.iter().map(|frame| frame.payload().clone()).collect();
        for (event, frame) in events.iter().zip(&frames) {
            check_event(event).unwrap_or_else(|error| panic!("{error}\nin {event:#}"));
            assert!(frame.id.is_some(), "every event has a number: {frame:?}");
        }
        Self { response: Value::Null, events }
    }

    #[track_caller]
    pub fn status(&self) -> &str {
        self.response["status"].as_str().expect("text")
    }

    #[track_caller]
    pub fn task(&self) -> &str {
        let first = &self.events[0];
        first["id"].as_str().or_else(|| first["taskId"].as_str()).unwrap_or_else(|| panic!("{first:#}"))
    }

    #[track_caller]
    pub fn context(&self) -> &str {
        self.events[0]["contextId"].as_str().expect("text")
    }

    /// The state in which the stream ended, which says so.
    #[track_caller]
    pub fn state(&self) -> &str {
        let last = self.events.last().expect("events");
        assert_eq!(last["final"], true, "{last:#}");
        last["status"]["state"].as_str().expect("text")
    }

    /// What the agent said, in all.
    pub fn text(&self) -> String {
        let said = self.events.iter().filter(|event| event["metadata"][URI]["kind"] == "TEXT_CONTENT");
        said.filter_map(|event| event["status"]["message"]["parts"][0]["text"].as_str()).collect()
    }

    /// What stands in the last event, such as why a turn failed.
    pub fn last_words(&self) -> &str {
        let last = self.events.last().expect("events");
        last["status"]["message"]["parts"][0]["text"].as_str().unwrap_or_default()
    }

    /// What the command gives to programs.
    #[track_caller]
    pub fn data(&self) -> &Value {
        let artifacts = self.events.iter().filter(|event| event["kind"] == "artifact-update");
        let mut results = artifacts.map(|event| &event["artifact"]).filter(|it| it["name"] == "Result");
        &results.next().unwrap_or_else(|| panic!("{:#?}", self.events))["parts"][0]["data"]
    }

    /// The calls as they were shown, one update after the other.
    pub fn calls(&self) -> impl Iterator<Item = &Value> {
        let updates = self.events.iter().filter(|event| event["metadata"][URI]["kind"] == "TOOL_CALL_UPDATE");
        updates.map(|event| &event["status"]["message"]["parts"][0]["data"])
    }

    /// The one call that waits for an approval.
    #[track_caller]
    pub fn asked(&self) -> &Value {
        let mut asked = self.calls().filter(|call| call.get("confirmation_request").is_some());
        asked.next().unwrap_or_else(|| panic!("no call is asked about: {:#?}", self.events))
    }
}

/// The response to a command, which fits the published schema.
#[track_caller]
pub fn check_command_response(response: &Value) -> Value {
    check("ExecuteSlashCommandResponse", response).unwrap_or_else(|error| panic!("{error}\nin {response:#}"));
    response.clone()
}
