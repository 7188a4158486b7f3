//! A server whose model delegates, and agents that it can delegate to.

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::{Value, json};

use crate::agent_world::{calls, launch_with, write};
use crate::support::{SCRIPT, launch};

pub(crate) struct Delegating {
    pub(crate) launch: ServerLaunch,
    pub(crate) server: ServerProcess,
}

impl Delegating {
    /// Asks before it delegates.
    pub(crate) async fn start(model: &ModelServer, agents: &[(&str, &str)]) -> Self {
        let launch = configured(launch_with(model), agents);
        let server = launch.start().await;
        Self { launch, server }
    }

    pub(crate) async fn yolo(model: &ModelServer, agents: &[(&str, &str)]) -> Self {
        let launch = yolo_launch(model, agents);
        let server = launch.start().await;
        Self { launch, server }
    }
}

pub(crate) fn yolo_launch(model: &ModelServer, agents: &[(&str, &str)]) -> ServerLaunch {
    configured(launch_with(model), agents).argument("--approval-mode").argument("yolo")
}

pub(crate) fn configured(launch: ServerLaunch, agents: &[(&str, &str)]) -> ServerLaunch {
    switch_on(&launch);
    agents.iter().for_each(|(name, url)| write_agent(&launch, name, url));
    launch
}

pub(crate) fn switch_on(launch: &ServerLaunch) {
    write(launch, ".gemini/settings.json", r#"{"experimental": {"enableAgents": true}}"#);
}

pub(crate) fn write_agent(launch: &ServerLaunch, name: &str, url: &str) {
    let text = format!(
        "---\nkind: remote\nname: {name}\ndescription: It is {name}.\nagent_card_url: {url}/.well-known/agent-card.json\n---\n"
    );
    write(launch, &format!(".gemini/agents/{name}.md"), &text);
}

/// Our own server as an agent, playing the script for tests of clients.
pub(crate) async fn peer() -> ServerProcess {
    launch().in_memory().script(SCRIPT).start().await
}

/// All tasks that the agent has, newest first.
pub(crate) async fn peer_tasks(peer: &ServerProcess) -> Vec<Value> {
    let (mut tasks, mut token) = (Vec::new(), String::new());
    loop {
        let params = json!({"pageSize": 100, "pageToken": token, "includeArtifacts": true});
        let page = peer.client().rpc("ListTasks", params).await["result"].take();
        tasks.extend(page["tasks"].as_array().unwrap().clone());
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            return tasks;
        }
    }
}

/// An answer of the model that delegates.
pub(crate) fn invoke(agent: &str, prompt: &str) -> PlannedResponse {
    calls("invoke_agent", json!({"agent_name": agent, "prompt": prompt}))
}

/// An agent that streams and has no extensions. `answer` gives the response to each request after the card.
pub(crate) fn scripted_agent(
    answer: impl Fn(&ReceivedRequest) -> PlannedResponse + Send + Sync + 'static,
) -> ModelServer {
    ModelServer::with_handler(move |request| match request.method.as_str() {
        "GET" => card(),
        _ => answer(request),
    })
}

fn card() -> PlannedResponse {
    let interface = json!({"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    json_response(&json!({
        "name": "agent", "description": "It is scripted.", "supportedInterfaces": [interface],
        "capabilities": {"streaming": true},
    }))
}

pub(crate) fn json_response(body: &Value) -> PlannedResponse {
    PlannedResponse::text(200, "application/json", &body.to_string())
}

pub(crate) fn result(result: &Value) -> PlannedResponse {
    json_response(&json!({"jsonrpc": "2.0", "id": 1, "result": result}))
}

/// The messages that a scripted agent has received.
pub(crate) fn sent(agent: &ModelServer) -> Vec<Value> {
    let requests = agent.received().into_iter().filter(|request| request.method == "POST");
    let bodies = requests.map(|request| request.json());
    let sends =
        bodies.filter(|body| body["method"].as_str().is_some_and(|method| method.starts_with("Send")));
    sends.map(|body| body["params"]["message"].clone()).collect()
}

/// A stream that begins with a task and says `text`.
pub(crate) fn working(text: &str) -> PlannedResponse {
    let artifact = json!({"artifactId": "a", "parts": [{"text": text}]});
    let piece = json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact, "append": true}});
    [task("WORKING"), piece].iter().fold(PlannedResponse::stream(), event)
}

/// The same, and completes.
pub(crate) fn done(text: &str) -> PlannedResponse {
    let status = json!({"state": "TASK_STATE_COMPLETED"});
    let update = json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}});
    event(working(text), &update)
}

/// The same, and fails.
pub(crate) fn says_and_fails(text: &str) -> PlannedResponse {
    let status = json!({"state": "TASK_STATE_FAILED"});
    event(working(text), &json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}}))
}

/// A stream that begins with a task and asks something.
pub(crate) fn asks(state: &str, question: &str) -> PlannedResponse {
    let message = json!({"messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": question}]});
    let status = json!({"state": format!("TASK_STATE_{state}"), "message": message});
    let update = json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}});
    [task("WORKING"), update].iter().fold(PlannedResponse::stream(), event)
}

pub(crate) fn task(state: &str) -> Value {
    json!({"task": {"id": "t-1", "contextId": "c-1", "status": {"state": format!("TASK_STATE_{state}")}}})
}

fn event(planned: PlannedResponse, item: &Value) -> PlannedResponse {
    planned.bytes(format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "result": item})))
}
