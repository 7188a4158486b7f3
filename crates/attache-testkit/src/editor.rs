//! An editor: a client that speaks the RFC's dialect, over whichever pair of version and binding.

mod exchange;

use serde_json::{Value, json};

use crate::pairs::{Ask, Pair, Refusal};
use crate::{SseStream, TestClient};
use exchange::checked_task;
pub use exchange::{Event, Exchange};

/// The extension, as the agent card lists it.
pub const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

#[derive(Clone)]
pub struct Editor {
    pub pair: Pair,
    pub client: TestClient,
}

impl Editor {
    /// One that says in the header of every call what it speaks.
    pub fn of(pair: Pair, client: &TestClient) -> Self {
        Self { pair, client: client.with(header(pair), URI) }
    }

    /// The same with one more header.
    pub fn with(&self, name: &str, value: &str) -> Self {
        Self { client: self.client.with(name, value), ..self.clone() }
    }

    /// Parameters of a message.
    pub fn text(&self, id: &str, text: &str) -> Value {
        self.pair.text(id, text)
    }

    /// Parameters of a message that says what is requested, as the first of a conversation does.
    pub fn text_with(&self, id: &str, text: &str, settings: &Value) -> Value {
        let mut params = self.text(id, text);
        params["message"]["metadata"] = json!({ URI: settings });
        params
    }

    /// Parameters of a message with answers about calls of `task`.
    pub fn answers(&self, task: &str, id: &str, answers: &[Value]) -> Value {
        let mut params = self.pair.text_to(task, id, "");
        params["message"][self.pair.parts()] =
            answers.iter().map(|answer| self.data_part(answer.clone())).collect();
        params
    }

    pub fn data_part(&self, data: Value) -> Value {
        match self.pair {
            Pair::Rpc03 => json!({"kind": "data", "data": data}),
            Pair::Rest03 => json!({"data": {"data": data}}),
            Pair::Rpc10 | Pair::Rest10 => json!({ "data": data }),
        }
    }

    /// Sends a prompt and reads its stream to the end.
    pub async fn ask(&self, id: &str, text: &str) -> Exchange {
        self.exchange(self.text(id, text)).await
    }

    /// As [`ask`](Self::ask), to a task.
    pub async fn ask_more(&self, task: &str, id: &str, text: &str) -> Exchange {
        self.exchange(self.pair.text_to(task, id, text)).await
    }

    /// Answers about calls and reads the stream of that to the end.
    pub async fn answer(&self, task: &str, id: &str, answers: &[Value]) -> Exchange {
        self.exchange(self.answers(task, id, answers)).await
    }

    /// Sends a message and reads its stream to the end.
    pub async fn exchange(&self, params: Value) -> Exchange {
        let mut stream = self.stream(params).await;
        self.rest(&mut stream).await
    }

    pub async fn stream(&self, params: Value) -> SseStream {
        self.pair.stream(&self.client, &Ask::Stream(params)).await
    }

    /// Follows a task from where it is, or from behind the event of this number.
    pub async fn resubscribe(&self, task: &str, after: Option<u64>) -> SseStream {
        let client = match after {
            Some(after) => self.client.with("last-event-id", &after.to_string()),
            None => self.client.clone(),
        };
        self.pair.stream(&client, &Ask::Subscribe(task.to_owned())).await
    }

    /// What is still to come of a stream.
    pub async fn rest(&self, stream: &mut SseStream) -> Exchange {
        let frames = stream.rest().await;
        Exchange::of(self.pair, frames.into_iter().map(|frame| Event::read(self.pair, frame)).collect())
    }

    /// The next events of a stream, up to the first of which `enough` holds.
    pub async fn until(&self, stream: &mut SseStream, enough: impl Fn(&Event) -> bool) -> Exchange {
        let mut events = Vec::new();
        while let Some(frame) = stream.next().await {
            let event = Event::read(self.pair, frame);
            let done = enough(&event);
            events.push(event);
            if done {
                return Exchange::under_way(events);
            }
        }
        panic!("the stream ended before that: {:#?}", Exchange::of(self.pair, events).lines());
    }

    /// The task as this editor sees it, in the form that all pairs have in common.
    pub async fn task(&self, id: &str) -> Value {
        let task = self.pair.result(&self.client, &Ask::Get(id.to_owned())).await;
        checked_task(self.pair, &task)
    }

    pub async fn cancel(&self, id: &str) -> Value {
        let task = self.pair.result(&self.client, &Ask::Cancel(id.to_owned())).await;
        checked_task(self.pair, &task)
    }

    /// The answer to a message that is waited for.
    pub async fn send(&self, params: Value) -> Value {
        let sent = self.pair.result(&self.client, &Ask::Send(params)).await;
        checked_task(self.pair, sent.get("task").unwrap_or(&sent))
    }

    /// Why a message is not taken.
    pub async fn refused(&self, params: Value) -> Refusal {
        self.pair.call(&self.client, &Ask::Send(params)).await.refusal()
    }
}

/// The name of the header in which extensions are asked for.
pub fn header(pair: Pair) -> &'static str {
    if pair.is_v1_0() { "A2A-Extensions" } else { "X-A2A-Extensions" }
}

/// The answer `option` about a call.
pub fn chosen(call: &Value, option: &str) -> Value {
    json!({"tool_call_id": call["tool_call_id"], "selected_option_id": option})
}

/// The options of a call, by their ids; each has a name and says what it does.
#[track_caller]
pub fn options(call: &Value) -> Vec<&str> {
    let options = call["confirmation_request"]["options"].as_array().expect("the member");
    for option in options {
        for member in ["name", "description"] {
            assert!(option[member].as_str().is_some_and(|text| !text.is_empty()), "{option:#}");
        }
    }
    options.iter().map(|option| option["id"].as_str().expect("the member")).collect()
}

/// What a call gave, as text.
#[track_caller]
pub fn output(call: &Value) -> &str {
    call["output"]["text"].as_str().unwrap_or_else(|| panic!("no text in {call:#}"))
}
