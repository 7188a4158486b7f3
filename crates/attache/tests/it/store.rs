//! The store as operators meet it: damage, files that go away, two servers, and the commands of `attache store`.

mod damage;
mod files;
mod maintenance;
mod sharing;

use std::path::Path;

use attache_testkit::{ServerLaunch, TestClient};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::{SCRIPT, launch, message};

fn durable() -> ServerLaunch {
    launch().durable().script(SCRIPT)
}

/// Sends a message and returns the task.
async fn send(client: &TestClient, id: &str, text: &str) -> Value {
    let answer = client.rpc("SendMessage", message(id, text)).await;
    let task = answer["result"]["task"].clone();
    assert!(task["id"].is_string(), "{answer:#}");
    task
}

async fn get(client: &TestClient, task: &Value) -> Value {
    client.rpc("GetTask", json!({"id": task["id"]})).await["result"].clone()
}

/// What `attache store …` prints and its exit code.
pub(crate) async fn store(launch: &ServerLaunch, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.arg("store").args(arguments).args(["--store", "sqlite:tasks.db"]);
    command.env_clear().env("HOME", launch.folder()).current_dir(launch.folder());
    let output = command.output().await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Flips one bit in every place of the file where `text` is.
#[track_caller]
fn flip(path: &Path, text: &str) {
    let mut bytes = std::fs::read(path).unwrap();
    let windows = bytes.windows(text.len()).enumerate();
    let places: Vec<_> =
        windows.filter(|(_, found)| *found == text.as_bytes()).map(|(place, _)| place).collect();
    assert!(!places.is_empty(), "{text} is not in {}", path.display());
    for place in places {
        bytes[place] ^= 1;
    }
    std::fs::write(path, bytes).unwrap();
}
