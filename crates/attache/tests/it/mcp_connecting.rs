//! A client's MCP server on this machine: nothing is sent to it before a person agrees.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{ServerLaunch, ServerProcess, TestClient};
use serde_json::{Value, json};

use crate::agent_world::{answer_text, calls, launch_with, reply, says, state};
use crate::support::{launch, message};
use crate::watching::{message_in, reaches};

/// An MCP server with one tool.
pub(crate) fn notes() -> ModelServer {
    ModelServer::with_handler(|received| {
        let request = received.json();
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [
                {"name": "list", "description": "Lists notes.", "inputSchema": {"type": "object"}},
            ]}),
            Some("tools/call") => json!({"content": [{"type": "text", "text": "one note"}]}),
            _ => {
                let status = if received.method == "POST" { 202 } else { 405 };
                return PlannedResponse::text(status, "text/plain", "");
            }
        };
        let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        PlannedResponse::text(200, "application/json", &response.to_string())
    })
}

/// Passes connections on to a server and counts them.
pub(crate) struct CountingProxy {
    address: SocketAddr,
    /// The other ends of all connections, in order.
    accepted: Arc<Mutex<Vec<SocketAddr>>>,
    probes: Mutex<Vec<SocketAddr>>,
    _server: ModelServer,
}

impl CountingProxy {
    pub(crate) fn before(server: ModelServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let target = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
        let peers = accepted.clone();
        thread::spawn(move || {
            while let Ok((client, peer)) = listener.accept() {
                peers.lock().unwrap().push(peer);
                let target = target.clone();
                thread::spawn(move || pass_on(client, &target));
            }
        });
        Self { address, accepted, probes: Mutex::default(), _server: server }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// How many connections others have opened by now. Connections are accepted in order, so one of our own that was
    /// accepted shows that every earlier one was.
    pub(crate) fn connections(&self) -> usize {
        let mut probes = self.probes.lock().unwrap();
        let probe = TcpStream::connect(self.address).unwrap();
        let own = probe.local_addr().unwrap();
        probes.push(own);
        while !self.accepted.lock().unwrap().contains(&own) {
            thread::yield_now();
        }
        self.accepted.lock().unwrap().iter().filter(|peer| !probes.contains(peer)).count()
    }
}

fn pass_on(client: TcpStream, target: &str) {
    let Ok(server) = TcpStream::connect(target) else { return };
    let (Ok(mut client_in), Ok(mut server_in)) = (client.try_clone(), server.try_clone()) else { return };
    let (mut client_out, mut server_out) = (client, server);
    let back = thread::spawn(move || {
        let _ = io::copy(&mut server_in, &mut client_out);
        let _ = client_out.shutdown(Shutdown::Both);
    });
    let _ = io::copy(&mut client_in, &mut server_out);
    let _ = server_out.shutdown(Shutdown::Both);
    let _ = back.join();
}

struct World {
    model: ModelServer,
    launch: ServerLaunch,
    server: ServerProcess,
    notes: CountingProxy,
}

impl World {
    async fn playing(answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::with(answers, |launch| launch).await
    }

    async fn with(
        answers: impl IntoIterator<Item = PlannedResponse>,
        more: impl FnOnce(ServerLaunch) -> ServerLaunch,
    ) -> Self {
        let model = ModelServer::with_responses(answers);
        let launch = more(launch_with(&model));
        let server = launch.start().await;
        Self { model, launch, server, notes: CountingProxy::before(notes()) }
    }

    fn client(&self) -> TestClient {
        self.server.client()
    }

    /// `kill -9`, and a new start.
    async fn crash(self) -> Self {
        self.server.kill().await;
        let server = self.launch.start().await;
        Self { server, ..self }
    }

    /// The first message of a conversation whose client brings its notes.
    async fn open(&self, id: &str) -> Value {
        let mut params = message(id, "Look!");
        params["message"]["metadata"] =
            json!({"attache": {"mcpServers": {"notes": {"httpUrl": self.notes.url()}}}});
        self.client().rpc("SendMessage", params).await["result"]["task"].clone()
    }

    /// The tools that the model was told of in its latest request.
    fn tools(&self) -> String {
        self.model.received().last().unwrap().json()["tools"].to_string()
    }

    /// The conversation as the model was told it in its latest request.
    fn told(&self) -> String {
        self.model.received().last().unwrap().json()["contents"].to_string()
    }
}

#[track_caller]
fn assert_asks_to_connect(task: &Value, world: &World) {
    assert_eq!(state(task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("connect_mcp_server") && question.contains(&world.notes.url()), "{question}");
    assert!(question.contains("named by the client"), "{question}");
    assert_eq!(world.notes.connections(), 0, "nothing is sent before the answer");
    assert!(world.model.received().is_empty(), "the model is not asked before the answer");
}

fn uses_list() -> PlannedResponse {
    calls("mcp_notes_list", json!({}))
}

#[tokio::test]
async fn a_server_that_the_client_names_is_connected_to_once_a_person_agrees() {
    let world = World::playing([uses_list(), says("Done."), says("Again.")]).await;
    let task = world.open("m1").await;
    assert_asks_to_connect(&task, &world);
    let asked = reply(&world.client(), "m2", &task, "yes").await;
    assert!(world.notes.connections() > 0, "{asked:#}");
    assert!(world.tools().contains("mcp_notes_list"), "{}", world.tools());
    assert!(!world.told().contains("connect_mcp_server"), "the call is the agent's own: {}", world.told());
    assert!(!world.tools().contains("connect_mcp_server"), "it is no tool for the model");
    // The first use of one of its tools is a question of its own.
    let question = asked["status"]["message"].to_string();
    assert!(question.contains("use list of the server notes"), "{question}");
    let done = reply(&world.client(), "m3", &task, "yes").await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "Done."), "{done:#}");
    // The next task of the conversation has the tools without a question.
    let next = world.client().rpc("SendMessage", message_in(&done["contextId"], "m4", "And now?")).await;
    assert_eq!(answer_text(&next["result"]["task"]), "Again.", "{next:#}");
    assert!(world.tools().contains("mcp_notes_list"), "{}", world.tools());
}

#[tokio::test]
async fn a_refused_server_is_left_out_and_the_model_is_told() {
    let world = World::playing([says("Without it, then."), says("Still without.")]).await;
    let task = world.open("m1").await;
    assert_asks_to_connect(&task, &world);
    let done = reply(&world.client(), "m2", &task, "no").await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "Without it, then."));
    assert!(world.told().contains("The MCP server notes is not connected"), "{}", world.told());
    assert!(!world.tools().contains("mcp_notes_list"), "{}", world.tools());
    // The answer holds for the conversation, also after a restart.
    let world = world.crash().await;
    let next = world.client().rpc("SendMessage", message_in(&done["contextId"], "m3", "And now?")).await;
    assert_eq!(answer_text(&next["result"]["task"]), "Still without.", "{next:#}");
    assert_eq!(world.notes.connections(), 0);
}

#[tokio::test]
async fn a_question_about_a_connection_survives_a_kill() {
    let world = World::playing([says("Done."), says("Again.")]).await;
    let task = world.open("m1").await;
    assert_asks_to_connect(&task, &world);
    let world = world.crash().await;
    let still = reaches(&world.client(), task["id"].as_str().unwrap(), "INPUT_REQUIRED").await;
    assert_asks_to_connect(&still, &world);
    let done = reply(&world.client(), "m2", &task, "yes").await;
    assert_eq!(answer_text(&done), "Done.", "{done:#}");
    assert!(world.tools().contains("mcp_notes_list"), "{}", world.tools());
    // The agreement is a fact: after another kill the conversation connects unasked.
    let before = world.notes.connections();
    let world = world.crash().await;
    let next = world.client().rpc("SendMessage", message_in(&done["contextId"], "m3", "And now?")).await;
    assert_eq!(answer_text(&next["result"]["task"]), "Again.", "{next:#}");
    assert!(world.notes.connections() > before);
    assert!(world.tools().contains("mcp_notes_list"), "{}", world.tools());
}

#[tokio::test]
async fn another_conversation_is_asked_for_itself() {
    let world = World::playing([says("Done.")]).await;
    let task = world.open("m1").await;
    reply(&world.client(), "m2", &task, "yes").await;
    let other = world.open("other").await;
    assert_eq!(state(&other), "TASK_STATE_INPUT_REQUIRED", "{other:#}");
    assert!(other["status"]["message"].to_string().contains("connect_mcp_server"), "{other:#}");
}

#[tokio::test]
async fn a_rule_cannot_agree_to_a_connection() {
    let rule = "[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 500\n";
    let with_rule = |launch: ServerLaunch| {
        crate::agent_world::write(&launch, ".gemini/policies/all.toml", rule);
        launch
    };
    let world = World::with([says("Done.")], with_rule).await;
    let task = world.open("m1").await;
    assert_asks_to_connect(&task, &world);
}

#[tokio::test]
async fn in_yolo_mode_the_server_is_connected_to_unasked() {
    let yolo = |launch: ServerLaunch| launch.argument("--approval-mode").argument("yolo");
    let world = World::with([says("Done.")], yolo).await;
    let done = world.open("m1").await;
    assert_eq!(answer_text(&done), "Done.", "{done:#}");
    assert!(world.tools().contains("mcp_notes_list"), "{}", world.tools());
}

#[tokio::test]
async fn a_model_cannot_connect_by_itself() {
    let world = World::playing([]).await;
    let connect = json!({"server": "notes", "address": world.notes.url()});
    world.model.plan(calls("connect_mcp_server", connect));
    world.model.plan(says("I cannot."));
    let task = world.open("m1").await;
    let done = reply(&world.client(), "m2", &task, "no").await;
    assert_eq!(answer_text(&done), "I cannot.", "{done:#}");
    assert!(world.told().contains("there is no tool"), "{}", world.told());
    assert_eq!(world.notes.connections(), 0);
}

#[tokio::test]
async fn a_server_that_does_not_answer_after_all_is_told_to_the_model() {
    let world = World::playing([says("Without it, then.")]).await;
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut params = message("m1", "Look!");
    params["message"]["metadata"] =
        json!({"attache": {"mcpServers": {"notes": {"httpUrl": format!("http://{gone}/mcp")}}}});
    let task = world.client().rpc("SendMessage", params).await["result"]["task"].clone();
    let done = reply(&world.client(), "m2", &task, "yes").await;
    assert_eq!(answer_text(&done), "Without it, then.", "{done:#}");
    assert!(world.told().contains("The MCP server notes is not connected"), "{}", world.told());
}

/// A built-in model has the tools in the same turn, too.
#[tokio::test]
async fn a_script_uses_the_server_once_a_person_agrees() {
    let script = "rules:\n  - steps:\n      - call: { tool: mcp_notes_list, input: {} }\n      - say: 'I see {{result}}'\n";
    let launch = launch().in_memory().script(script);
    let (server, notes) = (launch.start().await, CountingProxy::before(notes()));
    let client = server.client();
    let mut params = message("m1", "Look!");
    params["message"]["metadata"] = json!({"attache": {"mcpServers": {"notes": {"httpUrl": notes.url()}}}});
    let task = client.rpc("SendMessage", params).await["result"]["task"].clone();
    assert!(task["status"]["message"].to_string().contains("connect_mcp_server"), "{task:#}");
    assert_eq!(notes.connections(), 0);
    let asked = reply(&client, "m2", &task, "yes").await;
    assert!(asked["status"]["message"].to_string().contains("use list of the server notes"), "{asked:#}");
    let done = reply(&client, "m3", &task, "yes").await;
    assert!(answer_text(&done).contains("one note"), "{done:#}");
}
