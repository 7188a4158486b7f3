//! The first answer to a confirmation counts, through every pair of interfaces; the others hear who gave it.

use attache_testkit::model_server::ModelServer;
use attache_testkit::pairs::{Ask, Pair};
use attache_testkit::{ServerProcess, TestClient};
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::agent_world::{calls, launch_with, says, work};
use crate::grpc::world::{Grpc, Speaks};
use crate::live::{approval, asking_session, is_question, read_until};
use attache_testkit::answer_words::Words;

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

    /// Answers about the call. Returns what a refused client is told.
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

async fn connect(address: &str, path: &str, name: &str) -> WebSocketStream<TcpStream> {
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

/// Sessions that each ask about one command, and a socket that watches all of them.
struct Sessions {
    launch: attache_testkit::ServerLaunch,
    server: ServerProcess,
    watcher: WebSocketStream<TcpStream>,
    _model: ModelServer,
}

impl Sessions {
    async fn start(count: usize) -> Self {
        let turn = |number: usize| {
            let command = json!({"command": format!("touch made-{number}")});
            [calls("run_shell_command", command), says("Made.")]
        };
        let model = ModelServer::with_responses((0..count).flat_map(turn));
        let launch = launch_with(&model).argument("--live");
        let server = launch.start().await;
        let watcher = connect(server.address(), "/ws", "watcher").await;
        Self { launch, server, watcher, _model: model }
    }

    /// A session that asks: its task and its call.
    async fn asking(&self) -> (String, Value) {
        let (task, _, _, frames) = asking_session(&self.server.client()).await;
        let question = frames.iter().map(|frame| frame.payload()).find(|event| is_question(event)).unwrap();
        (task, question["tool_call_id"].clone())
    }

    /// The clients that the watcher sees answer about the task, until its prompt is settled.
    async fn answerers(&mut self, task: &str) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            let event = read_until(&mut self.watcher, |event| event["taskId"] == *task).await;
            if let Some(by) = event["confirmation_answer"]["by"].as_str() {
                assert_eq!(event["confirmation_answer"]["selected_option_id"], "proceed_once");
                seen.push(by.to_owned());
            }
            if event["final"] == true {
                return seen;
            }
        }
    }
}

#[tokio::test]
async fn a_late_answer_is_refused_and_says_who_was_quicker() {
    let pairs: Vec<_> = Door::ALL.iter().flat_map(|one| Door::ALL.map(|other| (*one, other))).collect();
    let mut sessions = Sessions::start(pairs.len()).await;
    for (number, (first, late)) in pairs.into_iter().enumerate() {
        let (task, call) = sessions.asking().await;
        first
            .answer(sessions.server.address(), &task, &call)
            .await
            .unwrap_or_else(|why| panic!("{first:?}: {why}"));
        let answerers = sessions.answerers(&task).await;
        assert_eq!(answerers.len(), 1, "{first:?}: {answerers:?}");
        let name = first.shown_name();
        assert!(answerers[0].contains(&name), "{first:?}: {answerers:?}");
        // The same client may repeat itself with the same message; a new message is late.
        if first == late && !matches!(first, Door::WebSocket | Door::Live | Door::RestApi) {
            continue;
        }
        let refused = late.answer(sessions.server.address(), &task, &call).await;
        let why = refused.expect_err(&format!("{late:?} is late after {first:?}"));
        assert!(why.contains("answered") && why.contains(&name), "{first:?}, {late:?}: {why}");
        assert!(work(&sessions.launch).join(format!("made-{number}")).exists(), "{first:?}, {late:?}");
    }
}

#[tokio::test]
async fn of_two_answers_at_the_same_time_one_counts() {
    let mut pairs = Vec::new();
    for (place, one) in Door::ALL.iter().enumerate() {
        pairs.extend(Door::ALL[place + 1..].iter().map(|other| (*one, *other)));
    }
    let mut sessions = Sessions::start(pairs.len()).await;
    for (one, other) in pairs {
        let (task, call) = sessions.asking().await;
        let server = sessions.server.address();
        let (first, second) =
            tokio::join!(one.answer(server, &task, &call), other.answer(server, &task, &call));
        assert!(first.is_ok() != second.is_ok(), "{one:?}, {other:?}: {first:?}, {second:?}");
        let why = first.err().or(second.err()).unwrap();
        assert!(why.contains("answered"), "{one:?}, {other:?}: {why}");
        let answerers = sessions.answerers(&task).await;
        assert_eq!(answerers.len(), 1, "{one:?}, {other:?}: {answerers:?}");
    }
}
