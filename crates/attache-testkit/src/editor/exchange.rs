//! The events that follow one message, in a form that all pairs have in common.

use serde_json::{Value, json};

use super::URI;
use crate::SseFrame;
use crate::agent_client::check_lines;
use crate::extension::check_event;
use crate::pairs::{Pair, canonical};

/// One event of a stream, which fits the published schema.
#[derive(Debug, Clone)]
pub struct Event {
    pub id: u64,
    /// The frame as it was sent.
    pub raw: String,
    /// What is within the envelope.
    pub payload: Value,
    neutral: Value,
    /// Nothing follows on this stream: in 0.3 the event says so.
    is_final: bool,
}

/// The events of a stream, in order.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub events: Vec<Event>,
}

impl Event {
    #[track_caller]
    pub fn read(pair: Pair, frame: SseFrame) -> Self {
        let payload = frame.payload().clone();
        check_event(&payload).unwrap_or_else(|error| panic!("{pair:?}: {error}\nin {payload:#}"));
        let is_final = payload["final"] == true || payload["statusUpdate"]["final"] == true;
        let neutral = canonical::item(pair, &payload);
        Self { id: frame.id.expect("every event has a number"), raw: frame.raw, payload, neutral, is_final }
    }

    fn update(&self) -> &Value {
        &self.neutral["status"]
    }

    /// What the extension says about it.
    pub fn metadata(&self) -> &Value {
        &self.update()["metadata"][URI]
    }

    pub fn kind(&self) -> &str {
        self.metadata()["kind"].as_str().unwrap_or_default()
    }

    pub fn state(&self) -> &str {
        let status = if self.neutral.get("task").is_some() { &self.neutral["task"] } else { self.update() };
        status["status"]["state"].as_str().unwrap_or_default()
    }

    pub fn message(&self) -> &Value {
        &self.update()["status"]["message"]
    }

    pub fn text(&self) -> Option<&str> {
        self.message()["parts"][0]["content"]["text"].as_str()
    }

    /// The call that it is about, whole.
    pub fn call(&self) -> Option<&Value> {
        let data = &self.message()["parts"][0]["content"]["data"];
        (self.kind() == "TOOL_CALL_UPDATE").then_some(data)
    }

    pub fn has_call(&self, status: &str) -> bool {
        self.call().is_some_and(|call| call["status"] == status)
    }

    /// `task state`; `artifact`; else `KIND state`, and then what it is about: a call's name and status, with a question
    /// mark where an approval is asked for; a text; a thought. `final` stands at the end of the last event of a stream.
    fn line(&self) -> String {
        if self.neutral.get("task").is_some() {
            return format!("task {}", self.state());
        }
        if let Some(update) = self.neutral.get("artifact") {
            return format!("artifact {}", update["artifact"]["id"].as_str().expect("the member"));
        }
        let about = match self.call() {
            Some(call) => {
                let asked = if call.get("confirmation_request").is_some() { " ?" } else { "" };
                format!(
                    " {} {}{asked}",
                    call["tool_name"].as_str().expect("the member"),
                    call["status"].as_str().expect("the member")
                )
            }
            None if self.kind() == "THOUGHT" => {
                let thought = &self.message()["parts"][0]["content"]["data"];
                format!(
                    " {} / {}",
                    thought["subject"].as_str().expect("the member"),
                    thought["description"].as_str().expect("the member")
                )
            }
            None => self.text().map(|text| format!(" {text}")).unwrap_or_default(),
        };
        let end = if self.is_final { " final" } else { "" };
        format!("{} {}{about}{end}", self.kind(), self.state())
    }
}

impl Exchange {
    /// A stream that has ended: in 1.0 its end says what `final` says in 0.3.
    pub fn of(pair: Pair, mut events: Vec<Event>) -> Self {
        if pair.is_v1_0()
            && let Some(last) = events.last_mut()
        {
            last.is_final = true;
        }
        Self { events }
    }

    pub fn under_way(events: Vec<Event>) -> Self {
        Self { events }
    }

    pub fn lines(&self) -> Vec<String> {
        self.events.iter().map(Event::line).collect()
    }

    /// It must read like this; `…` at the end of a line stands for anything.
    #[track_caller]
    pub fn check(&self, expected: &[&str]) {
        check_lines(&self.lines(), expected);
    }

    /// The task that the stream is about.
    #[track_caller]
    pub fn task(&self) -> &str {
        let first = &self.events[0].neutral;
        let id = first["task"]["id"].as_str().or_else(|| first["status"]["task"].as_str());
        id.unwrap_or_else(|| panic!("no task in {first:#}"))
    }

    pub fn context(&self) -> &str {
        let first = &self.events[0].neutral;
        first["task"]["context"].as_str().or_else(|| first["status"]["context"].as_str()).expect("the member")
    }

    /// The calls that waited for an approval, as they were first shown.
    pub fn asked(&self) -> Vec<Value> {
        let calls = self.events.iter().filter_map(Event::call);
        calls.filter(|call| call.get("confirmation_request").is_some()).cloned().collect()
    }

    /// The one call that waited for an approval.
    #[track_caller]
    pub fn only_asked(&self) -> Value {
        let asked = self.asked();
        assert_eq!(asked.len(), 1, "{:#?}", self.lines());
        asked[0].clone()
    }

    /// The first call with this status.
    #[track_caller]
    pub fn call(&self, status: &str) -> &Value {
        let found = self.events.iter().find(|event| event.has_call(status)).and_then(Event::call);
        found.unwrap_or_else(|| panic!("no call has {status}: {:#?}", self.lines()))
    }

    #[track_caller]
    pub fn last(&self) -> &Event {
        self.events.last().expect("events")
    }

    /// All that the agent said.
    pub fn said(&self) -> String {
        let texts = self.events.iter().filter(|event| event.kind() == "TEXT_CONTENT");
        texts.filter_map(Event::text).collect()
    }
}

/// A task outside of a stream, checked as one within.
#[track_caller]
pub(super) fn checked_task(pair: Pair, task: &Value) -> Value {
    let item = if pair == Pair::Rpc03 { task.clone() } else { json!({ "task": task }) };
    check_event(&item).unwrap_or_else(|error| panic!("{pair:?}: {error}\nin {item:#}"));
    canonical::task(pair, task)
}
