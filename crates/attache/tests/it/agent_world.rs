//! A server with a scripted Gemini model and a workspace, and what tests say to it.

use std::fs;
use std::path::PathBuf;

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{ServerLaunch, ServerProcess, TestClient};
use serde_json::{Value, json};

use crate::support::{launch, message, message_to};

/// A server whose model is `model` and whose workspace is the folder `work` of the launch.
pub(crate) async fn start(model: &ModelServer) -> (ServerLaunch, ServerProcess) {
    let launch = launch_with(model);
    let server = launch.start().await;
    (launch, server)
}

pub(crate) fn launch_with(model: &ModelServer) -> ServerLaunch {
    launch_of(launch(), model)
}

/// As [`launch_with`], for a launch of something else than the binary itself.
pub(crate) fn launch_of(launch: ServerLaunch, model: &ModelServer) -> ServerLaunch {
    let workspace = launch.folder().join("work");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("hello.txt"), "Hello, world.\nSecond line.\n").unwrap();
    let data = launch.folder().join("data").display().to_string();
    launch
        .durable()
        .argument("--workspace")
        .argument(workspace.display().to_string())
        .argument("--model")
        .argument("gemini-2.5-pro")
        .variable("GEMINI_API_KEY", "key-for-tests")
        .variable("GOOGLE_GEMINI_BASE_URL", &model.url())
        .variable("XDG_DATA_HOME", &data)
}

pub(crate) fn says(text: &str) -> PlannedResponse {
    gemini::answer([gemini::chunk().text(text).finish("STOP").usage(100, 10)])
}

pub(crate) fn calls(name: &str, arguments: Value) -> PlannedResponse {
    gemini::answer([gemini::chunk().call(name, arguments).finish("STOP").usage(100, 10)])
}

pub(crate) async fn send(client: &TestClient, id: &str, text: &str) -> Value {
    client.rpc("SendMessage", message(id, text)).await["result"]["task"].clone()
}

/// The fault with which a message with this metadata is refused; null if it is taken.
pub(crate) async fn refusal(client: &TestClient, id: &str, metadata: Value) -> Value {
    let mut params = message(id, "Hello");
    params["message"]["metadata"] = metadata;
    client.rpc("SendMessage", params).await["error"].clone()
}

pub(crate) async fn reply(client: &TestClient, id: &str, task: &Value, text: &str) -> Value {
    let task = task["id"].as_str().unwrap();
    let answer = client.rpc("SendMessage", message_to(task, id, text)).await;
    answer["result"].get("task").cloned().unwrap_or(answer)
}

/// What the tool named in the last request gave back to the model.
pub(crate) fn last_output(model: &ModelServer) -> String {
    let body = model.received().last().unwrap().json();
    let contents = body["contents"].as_array().unwrap().clone();
    let part = &contents.last().unwrap()["parts"][0]["functionResponse"]["response"];
    let text = part.get("output").or_else(|| part.get("error")).unwrap_or(part);
    text.as_str().map_or_else(|| text.to_string(), str::to_owned)
}

pub(crate) fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("{task:#}"))
}

pub(crate) fn answer_text(task: &Value) -> String {
    let history = task["history"].as_array().unwrap();
    history.last().unwrap()["parts"][0]["text"].as_str().unwrap().to_owned()
}

/// The workspace of a launch.
pub(crate) fn work(launch: &ServerLaunch) -> PathBuf {
    launch.folder().join("work")
}

/// Writes a file of the workspace, with the folders it needs.
pub(crate) fn write(launch: &ServerLaunch, path: &str, text: &str) {
    let path = launch.folder().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The task once it is finished or waits for a person.
pub(crate) async fn settled(client: &TestClient, id: &str) -> Value {
    loop {
        let task = client.rpc("GetTask", json!({"id": id})).await["result"].clone();
        if !matches!(state(&task), "TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING") {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

/// Trusts the workspace for good and accepts what its files allow now, as `attache trust` does.
pub(crate) fn trust(launch: &ServerLaunch) -> String {
    trust_command(launch, "--yes")
}

/// Runs `attache trust` with a flag.
pub(crate) fn trust_command(launch: &ServerLaunch, flag: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attache"));
    command.args(["trust", flag, "--workspace"]).arg(work(launch));
    command.env_clear().env("HOME", launch.folder()).current_dir(launch.folder());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All that the model was told in its first request.
pub(crate) fn first_told(model: &ModelServer) -> String {
    model.received()[0].json().to_string()
}
