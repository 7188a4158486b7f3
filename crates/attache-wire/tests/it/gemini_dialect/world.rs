//! A task as it goes on, and what a client sees of it.

use std::sync::Arc;

use attache_domain::{
    CallRecords, ContextId, Event, Fact, Message, MessageId, Presentation, ReplyShape, Seq, TaskId,
    TextPhase, Turn, TurnPhase, UpdateContext, devtool_event_of,
};
use attache_testkit::gemini_extension::check_gemini_event;
use attache_wire::JsonForm;
use attache_wire::devtool::{DevtoolFrame, Dialect};
use serde_json::{Value, json};

use crate::fixture::{object, time};

pub(super) struct World {
    json_form: JsonForm,
    stage: UpdateContext,
    call_records: Arc<CallRecords>,
    seq: u64,
}

impl World {
    /// In the middle of the first turn.
    pub(super) fn new() -> Self {
        Self::speaking(JsonForm::V0_3Rpc)
    }

    pub(super) fn speaking(json_form: JsonForm) -> Self {
        let turn =
            Turn { number: 1, phase: TurnPhase::Running, emitted: 0, text: TextPhase::Silent, asked: false };
        let stage = UpdateContext { reply: ReplyShape::Task, presentation: Presentation::default(), turn };
        let call_records = CallRecords { model: Some("gemini-2.5-pro".into()), ..CallRecords::default() };
        Self { json_form, stage, call_records: Arc::new(call_records), seq: 1 }
    }

    /// The model is not known yet.
    pub(super) fn nameless() -> Self {
        Self { call_records: Arc::default(), ..Self::new() }
    }

    /// What is sent when `fact` is recorded.
    #[track_caller]
    pub(super) fn hears(&mut self, fact: Fact) -> Option<Value> {
        self.seq += 1;
        self.call_records = self.call_records.after(&fact);
        let event = Event { seq: Seq(self.seq), at: time(0), fact };
        let devtool_event = devtool_event_of(&self.stage, &self.call_records, &event)
            .filter(|shown| Dialect::Gemini.shows(shown));
        let heard = devtool_event.map(|devtool_event| {
            let mut out = Vec::new();
            let (task, context) = (&TaskId::from("T"), &ContextId::from("C"));
            let (seq, at, stage, call_records) = (event.seq, event.at, &self.stage, &*self.call_records);
            let frame = DevtoolFrame { task, context, seq, at, stage, call_records, event: devtool_event };
            Dialect::Gemini.write(self.json_form, &frame, &mut out);
            let event: Value = serde_json::from_slice(&out).unwrap();
            check_gemini_event(&event).unwrap_or_else(|error| panic!("{error}"));
            event
        });
        self.stage = self.stage.after(&event.fact);
        heard
    }

    /// What is sent for several of them, one after the other.
    #[track_caller]
    pub(super) fn hears_all(&mut self, facts: impl IntoIterator<Item = Fact>) -> Vec<Value> {
        let mut heard = Vec::new();
        for fact in facts {
            heard.extend(self.hears(fact));
        }
        heard
    }

    /// The call that a client sees when the last of `facts` is recorded.
    #[track_caller]
    pub(super) fn call_after(&mut self, facts: impl IntoIterator<Item = Fact>) -> Value {
        let heard = self.hears_all(facts);
        heard.last().unwrap()["status"]["message"]["parts"][0]["data"].clone()
    }
}

/// `expected` as a status update of this task; ids of messages are ours to choose and are not compared.
#[track_caller]
pub(super) fn check_status(heard: Option<Value>, state: &str, kind: &str, part: Option<Value>) {
    let mut heard = heard.expect("something is sent");
    if let Some(message) = heard["status"].get_mut("message").and_then(Value::as_object_mut) {
        message.remove("messageId").expect("a message has an id");
    }
    let mut expected = json!({
        "kind": "status-update", "taskId": "T", "contextId": "C", "final": false,
        "status": { "state": state, "timestamp": "2025-10-28T10:30:00.000Z" },
        "metadata": { "coderAgent": { "kind": kind }, "model": "gemini-2.5-pro" }
    });
    if let Some(part) = part {
        expected["status"]["message"] =
            json!({ "kind": "message", "role": "agent", "parts": [part], "taskId": "T", "contextId": "C" });
    }
    assert_eq!(heard, expected, "\nheard:    {heard:#}\nexpected: {expected:#}");
}

/// Something the agent says about how it is; with a reason where a turn stopped without an answer.
pub(super) fn words(text: &str, reason: Option<&str>) -> Arc<Message> {
    let mut message = Message::from_agent(
        MessageId::from("status-1-T"),
        ContextId::from("C"),
        Some(TaskId::from("T")),
        text,
    );
    message.metadata = reason.map(|reason| object(json!({ "reason": reason })));
    Arc::new(message)
}
