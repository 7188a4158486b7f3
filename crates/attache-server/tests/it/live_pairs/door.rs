//! Every interface through which a client can answer about a call.

use std::time::Duration;

use attache_testkit::TestClient;
use attache_testkit::answer_words::Words;
use attache_testkit::live_session::approval;
use attache_testkit::pairs::{Ask, Pair};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::grpc::world::{Grpc, Speaks};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    WebSocket,
    Live,
    Rpc03,
    Rpc10,
    Rest10,
    Rest03,
    Grpc10,
    Grpc03,
    Gemini,
    Rfc,
    /// `POST /tasks/{id}/confirmations`.
    RestApi,
}

impl Door {
    pub(crate) const ALL: [Self; 11] = [
        Self::WebSocket,
        Self::Live,
        Self::Rpc03,
        Self::Rpc10,
        Self::Rest10,
        Self::Rest03,
        Self::Grpc10,
        Self::Grpc03,
        Self::Gemini,
        Self::Rfc,
        Self::RestApi,
    ];

    fn name(self) -> String {
        format!("client-{self:?}")
    }

    /// The name that others see.
    pub(crate) fn shown_name(self) -> String {
        match self {
            Self::Grpc10 | Self::Grpc03 => "tonic".to_owned(),
            _ => self.name(),
        }
    }

    /// Answers about the call. Returns the reason if the answer is refused.
    pub(crate) async fn answer(self, address: &str, task: &str, call: &Value) -> Result<(), String> {
        let client = TestClient::of(address).with("user-agent", &self.name());
        match self {
            Self::WebSocket => over_socket(address, &self.name(), task, call).await,
            Self::Live => {
                let body = approval(call).to_string();
                let json = client.with("content-type", "application/json");
                let path = format!("/tasks/{task}/messages/stream");
                let answer = json.call("POST", &path, body.as_bytes()).await;
                match answer.status {
                    200 => Ok(()),
                    _ => Err(answer.json()["error"]["message"].as_str().unwrap().to_owned()),
                }
            }
            Self::Grpc10 => over_grpc(Speaks::V10, address, &self.name(), task, call).await,
            Self::Grpc03 => over_grpc(Speaks::V03, address, &self.name(), task, call).await,
            Self::RestApi => {
                let body = json!({"toolCallId": call, "optionId": "proceed_once"});
                let answer = client.post(&format!("/tasks/{task}/confirmations"), &body).await;
                match answer.status {
                    200 => Ok(()),
                    _ => Err(answer.json()["error"]["message"].as_str().unwrap().to_owned()),
                }
            }
            Self::Rpc03 => send(&client, (Pair::Rpc03, Words::Plain), task, call).await,
            Self::Rpc10 => send(&client, (Pair::Rpc10, Words::Plain), task, call).await,
            Self::Rest10 => send(&client, (Pair::Rest10, Words::Plain), task, call).await,
            Self::Rest03 => send(&client, (Pair::Rest03, Words::Plain), task, call).await,
            Self::Gemini => send(&client, (Pair::Rpc03, Words::Gemini), task, call).await,
            Self::Rfc => {
                let client = client.with("X-A2A-Extensions", attache_wire::devtool::URI);
                send(&client, (Pair::Rpc03, Words::Rfc), task, call).await
            }
        }
    }
}

async fn send(
    client: &TestClient,
    (pair, words): (Pair, Words),
    task: &str,
    call: &Value,
) -> Result<(), String> {
    let mut params = pair.text_to(task, &format!("{pair:?}-{words:?}-{call}"), "");
    let data = words.chosen(call.as_str().unwrap(), "proceed_once");
    let part = match pair {
        Pair::Rpc03 => json!({"kind": "data", "data": data}),
        Pair::Rest03 => json!({"data": {"data": data}}),
        _ => json!({ "data": data }),
    };
    let parts = if pair == Pair::Rest03 { "content" } else { "parts" };
    params["message"][parts] = json!([part]);
    let reply = pair.call(client, &Ask::Send(params)).await;
    let body = reply.answer.json();
    match body.get("error").or_else(|| (reply.answer.status >= 400).then_some(&body)) {
        Some(error) => Err(error.to_string()),
        None => Ok(()),
    }
}

async fn over_grpc(
    speaks: Speaks,
    address: &str,
    name: &str,
    task: &str,
    call: &Value,
) -> Result<(), String> {
    let grpc = Grpc::to(&format!("http://{address}"), speaks).await;
    let mut params = speaks.text_to(task, name, "");
    let data = Words::Plain.chosen(call.as_str().unwrap(), "proceed_once");
    match speaks {
        Speaks::V03 => params["message"]["content"] = json!([{"data": {"data": data}}]),
        Speaks::V10 => params["message"]["parts"] = json!([{ "data": data }]),
    }
    let answer = grpc.call("SendMessage", params).await;
    answer.map(drop).map_err(|status| status.message().to_owned())
}

pub(crate) async fn connect(address: &str, path: &str, name: &str) -> WebSocketStream<TcpStream> {
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    request.headers_mut().insert("user-agent", name.parse().unwrap());
    let connection = TcpStream::connect(address).await.unwrap();
    client_async(request, connection).await.unwrap().0
}

async fn over_socket(address: &str, name: &str, task: &str, call: &Value) -> Result<(), String> {
    let mut socket = connect(address, &format!("/ws?taskId={task}"), name).await;
    let mut request = approval(call);
    request["id"] = json!(1);
    socket.send(Frame::text(request.to_string())).await.unwrap();
    let answer = read_until(&mut socket, |frame| frame["id"] == 1).await;
    match answer["error"]["message"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(()),
    }
}

pub(crate) async fn read_until(
    socket: &mut WebSocketStream<TcpStream>,
    enough: impl Fn(&Value) -> bool,
) -> Value {
    let reading = async {
        loop {
            let frame = socket.next().await.unwrap().unwrap();
            if let Frame::Text(text) = frame
                && let Ok(event) = serde_json::from_str(&text)
                && enough(&event)
            {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.expect("it comes in time")
}
