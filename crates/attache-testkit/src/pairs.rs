//! Each version of A2A on each HTTP binding: its requests, responses and errors.

use serde_json::{Value, json};

use crate::{HttpResponse, SseStream, TestClient};

pub mod canonical;
mod error_row;

pub use error_row::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    Rpc03,
    Rpc10,
    Rest03,
    Rest10,
}

/// An operation, independent of binding and version.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Parameters in the pair's own encoding; see [`Pair::text`].
    Send(Value),
    Stream(Value),
    Get(String),
    Cancel(String),
    Subscribe(String),
    PushCreate(String),
    PushGet(String),
    PushList(String),
    PushDelete(String),
    ExtendedCard,
}

/// The id of every JSON-RPC request sent here.
pub const REQUEST_ID: &str = "request-7";

impl Pair {
    pub const ALL: [Self; 4] = [Self::Rpc03, Self::Rpc10, Self::Rest03, Self::Rest10];

    pub fn is_rest(self) -> bool {
        matches!(self, Self::Rest03 | Self::Rest10)
    }

    pub fn is_v1_0(self) -> bool {
        matches!(self, Self::Rpc10 | Self::Rest10)
    }

    pub fn version(self) -> &'static str {
        if self.is_v1_0() { "1.0" } else { "0.3" }
    }

    pub fn role(self) -> &'static str {
        if self == Self::Rpc03 { "user" } else { "ROLE_USER" }
    }

    /// The name of the member that holds a message's parts.
    pub fn parts(self) -> &'static str {
        if self == Self::Rest03 { "content" } else { "parts" }
    }

    pub fn text_part(self, text: &str) -> Value {
        if self == Self::Rpc03 { json!({"kind": "text", "text": text}) } else { json!({"text": text}) }
    }

    /// Parameters of a send.
    pub fn text(self, id: &str, text: &str) -> Value {
        let parts = json!([self.text_part(text)]);
        let mut message = json!({"messageId": id, "role": self.role()});
        message[self.parts()] = parts;
        if self == Self::Rpc03 {
            message["kind"] = "message".into();
        }
        json!({ "message": message })
    }

    /// Parameters of a send to a task.
    pub fn text_to(self, task: &str, id: &str, text: &str) -> Value {
        let mut params = self.text(id, text);
        params["message"]["taskId"] = task.into();
        params
    }

    pub fn canceled(self) -> &'static str {
        match self {
            Self::Rpc03 => "canceled",
            Self::Rest03 => "TASK_STATE_CANCELLED",
            Self::Rpc10 | Self::Rest10 => "TASK_STATE_CANCELED",
        }
    }

    /// Names the version, as clients of 1.0 must and those of 0.3 do not.
    pub fn dress(self, client: &TestClient) -> TestClient {
        if self.is_v1_0() { client.with("A2A-Version", "1.0") } else { client.clone() }
    }

    pub async fn call(self, client: &TestClient, ask: &Ask) -> Reply {
        let (verb, path, body) = self.request(ask);
        let client = self.dress(client);
        let answer = match body {
            Some(body) => {
                client.with("content-type", "application/json").call(verb, &path, &bytes(&body)).await
            }
            None => client.call(verb, &path, b"").await,
        };
        Reply { pair: self, answer }
    }

    /// The result of a call that must succeed.
    pub async fn result(self, client: &TestClient, ask: &Ask) -> Value {
        self.call(client, ask).await.result()
    }

    pub async fn stream(self, client: &TestClient, ask: &Ask) -> SseStream {
        let (verb, path, body) = self.request(ask);
        let client = self.dress(client).with("content-type", "application/json");
        let body = body.map(|body| bytes(&body)).unwrap_or_default();
        let stream = client.stream(verb, &path, &body).await;
        assert_eq!(stream.status, 200, "{self:?} {ask:?}");
        assert_eq!(stream.header("content-type"), Some("text/event-stream"), "{self:?} {ask:?}");
        stream
    }

    /// Verb, path and body of a request.
    pub fn request(self, ask: &Ask) -> (&'static str, String, Option<Value>) {
        match self {
            Self::Rpc03 | Self::Rpc10 => {
                let (method, params) = self.method(ask);
                let envelope =
                    json!({"jsonrpc": "2.0", "id": REQUEST_ID, "method": method, "params": params});
                ("POST", "/".to_owned(), Some(envelope))
            }
            Self::Rest03 | Self::Rest10 => self.route(ask),
        }
    }

    fn method(self, ask: &Ask) -> (&'static str, Value) {
        let named = |old: &'static str, new: &'static str| if self.is_v1_0() { new } else { old };
        let config = |task: &String| match self.is_v1_0() {
            true => json!({"taskId": task, "id": "c1", "url": "https://example.com/hook"}),
            false => json!({
                "id": task, "taskId": task, "pushNotificationConfigId": "c1",
                "pushNotificationConfig": {"url": "https://example.com/hook"},
            }),
        };
        match ask {
            Ask::Send(params) => (named("message/send", "SendMessage"), params.clone()),
            Ask::Stream(params) => (named("message/stream", "SendStreamingMessage"), params.clone()),
            Ask::Get(task) => (named("tasks/get", "GetTask"), json!({"id": task})),
            Ask::Cancel(task) => (named("tasks/cancel", "CancelTask"), json!({"id": task})),
            Ask::Subscribe(task) => (named("tasks/resubscribe", "SubscribeToTask"), json!({"id": task})),
            Ask::PushCreate(task) => {
                (named("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"), config(task))
            }
            Ask::PushGet(task) => {
                (named("tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"), config(task))
            }
            Ask::PushList(task) => {
                (named("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"), config(task))
            }
            Ask::PushDelete(task) => (
                named("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
                config(task),
            ),
            Ask::ExtendedCard => {
                (named("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"), json!({}))
            }
        }
    }

    fn route(self, ask: &Ask) -> (&'static str, String, Option<Value>) {
        let base = if self.is_v1_0() { "" } else { "/v1" };
        let at = |rest: String| format!("{base}{rest}");
        let configs = |task: &String| at(format!("/tasks/{task}/pushNotificationConfigs"));
        match ask {
            Ask::Send(params) => ("POST", at("/message:send".into()), Some(params.clone())),
            Ask::Stream(params) => ("POST", at("/message:stream".into()), Some(params.clone())),
            Ask::Get(task) => ("GET", at(format!("/tasks/{task}")), None),
            Ask::Cancel(task) => ("POST", at(format!("/tasks/{task}:cancel")), None),
            Ask::Subscribe(task) => ("POST", at(format!("/tasks/{task}:subscribe")), None),
            Ask::PushCreate(task) => {
                ("POST", configs(task), Some(json!({"url": "https://example.com/hook"})))
            }
            Ask::PushGet(task) => ("GET", format!("{}/c1", configs(task)), None),
            Ask::PushList(task) => ("GET", configs(task), None),
            Ask::PushDelete(task) => ("DELETE", format!("{}/c1", configs(task)), None),
            Ask::ExtendedCard => {
                ("GET", at(if self.is_v1_0() { "/extendedAgentCard" } else { "/card" }.into()), None)
            }
        }
    }
}

/// A response over a pair.
#[derive(Debug, Clone)]
pub struct Reply {
    pub pair: Pair,
    pub answer: HttpResponse,
}

impl Reply {
    /// The content of a successful response, whose envelope must be well formed.
    #[track_caller]
    pub fn result(&self) -> Value {
        let mut body = self.answer.json();
        assert_eq!(self.answer.status, 200, "{:?}: {body:#}", self.pair);
        assert_eq!(self.answer.header("content-type"), Some(self.media_type()), "{:?}", self.pair);
        if self.pair.is_rest() {
            return body;
        }
        assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(REQUEST_ID)), "{body:#}");
        assert!(body.get("error").is_none(), "{:?}: {body:#}", self.pair);
        body["result"].take()
    }

    /// An error response, checked to the last member.
    #[track_caller]
    pub fn refusal(&self) -> Refusal {
        Refusal::read(self.pair, &self.answer)
    }

    fn media_type(&self) -> &'static str {
        if self.pair == Pair::Rest10 { "application/a2a+json" } else { "application/json" }
    }
}

/// An error, independent of binding and version as far as each of them contains it.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub http: u16,
    /// JSON-RPC error code; REST 1.0 has none.
    pub code: Option<i64>,
    /// Id of the JSON-RPC response.
    pub id: Value,
    /// gRPC status name, which only REST 1.0 has.
    pub status: Option<String>,
    /// Reason of the ErrorInfo of 1.0.
    pub reason: Option<String>,
    /// Error type, which only REST 0.3 has.
    pub name: Option<String>,
    pub message: String,
    /// Metadata of the ErrorInfo, or the data of 0.3.
    pub metadata: Value,
    /// The invalid members.
    pub fields: Vec<String>,
}

impl Refusal {
    #[track_caller]
    pub fn read(pair: Pair, answer: &HttpResponse) -> Self {
        let body = answer.json();
        let media_type = if pair == Pair::Rest10 { "application/a2a+json" } else { "application/json" };
        let found = answer.header("content-type");
        // A stream may consist of an error event only.
        let is_event = found == Some("text/event-stream") && !pair.is_rest();
        assert!(is_event || found == Some(media_type), "{pair:?}: {found:?} {body:#}");
        let mut refusal = Self {
            http: answer.status,
            code: None,
            id: Value::Null,
            status: None,
            reason: None,
            name: None,
            message: String::new(),
            metadata: json!({}),
            fields: Vec::new(),
        };
        let error = match pair {
            Pair::Rpc03 | Pair::Rpc10 => {
                only(&body, &["jsonrpc", "id", "error"]);
                assert_eq!(body["jsonrpc"], "2.0");
                refusal.id = body["id"].clone();
                only(&body["error"], &["code", "message", "data"]);
                refusal.code = body["error"]["code"].as_i64();
                &body["error"]
            }
            Pair::Rest03 => {
                only(&body, &["type", "code", "message", "data"]);
                refusal.code = body["code"].as_i64();
                refusal.name = body["type"].as_str().map(str::to_owned);
                &body
            }
            Pair::Rest10 => {
                only(&body, &["error"]);
                let error = &body["error"];
                only(error, &["code", "status", "message", "details"]);
                assert_eq!(error["code"], answer.status, "the body repeats the HTTP status");
                refusal.status = error["status"].as_str().map(str::to_owned);
                error
            }
        };
        refusal.message = error["message"].as_str().expect("a message").to_owned();
        match pair {
            Pair::Rpc10 => refusal.read_details(&error["data"]),
            Pair::Rest10 => refusal.read_details(&error["details"]),
            Pair::Rpc03 | Pair::Rest03 => refusal.read_data(error.get("data")),
        }
        refusal
    }

    #[track_caller]
    fn read_details(&mut self, details: &Value) {
        let details = details.as_array().unwrap_or_else(|| panic!("an array of details, not {details}"));
        let info = &details[0];
        only(info, &["@type", "reason", "domain", "metadata"]);
        assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
        assert_eq!(info["domain"], "a2a-protocol.org");
        let metadata = info["metadata"].as_object().expect("a map of metadata");
        assert!(metadata.values().all(Value::is_string), "text to text: {info:#}");
        self.reason = info["reason"].as_str().map(str::to_owned);
        self.metadata = info["metadata"].clone();
        for detail in &details[1..] {
            only(detail, &["@type", "fieldViolations"]);
            assert_eq!(detail["@type"], "type.googleapis.com/google.rpc.BadRequest");
            self.read_violations(&detail["fieldViolations"]);
        }
    }

    #[track_caller]
    fn read_data(&mut self, data: Option<&Value>) {
        let Some(data) = data else { return };
        assert!(data.is_object(), "the data of 0.3 is an object, not {data}");
        self.metadata = data.clone();
        if let Some(violations) = data.get("violations") {
            self.read_violations(violations);
        }
    }

    #[track_caller]
    fn read_violations(&mut self, violations: &Value) {
        for violation in violations.as_array().expect("a list of violations") {
            only(violation, &["field", "description"]);
            self.fields.push(violation["field"].as_str().expect("a field").to_owned());
        }
    }
}

/// `object` is an object with no other members than these.
#[track_caller]
fn only(object: &Value, members: &[&str]) {
    let found = object.as_object().unwrap_or_else(|| panic!("an object, not {object}"));
    for name in found.keys() {
        assert!(members.contains(&name.as_str()), "{name} does not belong into {object:#}");
    }
}

pub fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Sends `text` over `pair` and returns the id of its task.
pub async fn task_of(pair: Pair, client: &TestClient, id: &str, text: &str) -> String {
    let sent = pair.result(client, &Ask::Send(pair.text(id, text))).await;
    let sent = canonical::item(pair, &sent);
    sent["task"]["id"].as_str().unwrap_or_else(|| panic!("a task in {sent:#}")).to_owned()
}
