//! What these clients read out of a stream: the kinds of events, the texts and the calls, all under `metadata.coderAgent`.

use serde_json::{Value, json};

use crate::TestClient;

/// A call as an event shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub status: String,
    /// What it gave back, once it has.
    pub output: Option<String>,
}

#[derive(Debug, Default)]
pub struct StreamSummary {
    pub events: Vec<Value>,
    /// The id of the task, which only the first event of a new one has under this name.
    pub task: Option<String>,
    pub context: String,
    /// The kinds of the events, in order.
    pub kinds: Vec<String>,
    pub text: String,
    pub calls: Vec<Call>,
    pub state: String,
    pub ended: bool,
}

impl StreamSummary {
    /// The calls that wait for an answer.
    pub fn pending(&self) -> Vec<&Call> {
        self.calls.iter().filter(|call| call.status == "awaiting_approval").collect()
    }

    /// The statuses that a call went through.
    pub fn statuses(&self, id: &str) -> Vec<&str> {
        self.calls.iter().filter(|call| call.id == id).map(|call| call.status.as_str()).collect()
    }

    fn take(&mut self, event: Value) {
        self.task = event["id"].as_str().map(str::to_owned).or(self.task.take());
        self.context = event["contextId"].as_str().expect("every event has it").to_owned();
        self.state = event["status"]["state"].as_str().unwrap_or(&self.state).to_owned();
        self.ended |= event["final"] == true;
        if let Some(kind) = event["metadata"]["coderAgent"]["kind"].as_str() {
            self.kinds.push(kind.to_owned());
            for part in event["status"]["message"]["parts"].as_array().into_iter().flatten() {
                match kind {
                    "text-content" => self.text.push_str(part["text"].as_str().expect("a text")),
                    "tool-call-update" | "tool-call-confirmation" => self.calls.push(call(&part["data"])),
                    _ => {}
                }
            }
        }
        self.events.push(event);
    }
}

fn call(data: &Value) -> Call {
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{data:#}")).to_owned();
    let output = &data["response"]["responseParts"][0]["functionResponse"]["response"]["output"];
    Call {
        id: text(&data["request"]["callId"]),
        tool: text(&data["request"]["name"]),
        status: text(&data["status"]),
        output: output.as_str().map(str::to_owned),
    }
}

/// Posts `message/stream` and reads its events to the end.
pub async fn stream(client: &TestClient, params: Value) -> StreamSummary {
    let request = json!({"jsonrpc": "2.0", "id": "1", "method": "message/stream", "params": params});
    let mut stream = client.post_stream("/", &request).await;
    let mut heard = StreamSummary::default();
    assert_eq!(stream.status, 200);
    for frame in stream.rest().await {
        heard.take(frame.data["result"].clone());
    }
    heard
}
