//! An MCP server that does not answer: the conversation begins without its tools, says so, and has them later.

use std::fs;
use std::time::{Duration, Instant};

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::agent_world::{launch_with, says, state};
use crate::watching::{asked, frames, lines, message_in};

/// Says nothing before there is a file `go` in its home; then it is a server with one tool.
const LATE: &str = r#"
while [ ! -e "$HOME/go" ]; do sleep 0.05; done
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"late","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"wave","description":"Waves.","inputSchema":{"type":"object"}}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

fn with_late_server(model: &ModelServer) -> ServerLaunch {
    let launch = launch_with(model);
    fs::create_dir_all(launch.folder().join(".gemini")).unwrap();
    let script = launch.write("late-server", LATE).display().to_string();
    let home = launch.folder().display().to_string();
    let server = json!({"command": "bash", "args": [script], "env": {"HOME": home}});
    launch.write(".gemini/settings.json", &json!({"mcpServers": {"late": server}}).to_string());
    launch
}

/// The names of the tools that the model was told of last.
fn tools(model: &ModelServer) -> String {
    let body: Value = model.received().last().unwrap().json();
    body["tools"].to_string()
}

#[tokio::test]
async fn a_server_that_does_not_answer_holds_up_nothing_for_long() {
    let model = ModelServer::with_handler(|_| says("Here I am."));
    let launch = with_late_server(&model);
    let server = launch.start().await;
    let client = server.client();
    let began = Instant::now();
    let told = frames(&client, "m1", "Hello?").await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let told = lines(&told);
    let notice = "The MCP server late does not answer yet";
    assert!(told.iter().any(|line| line.contains(notice)), "{told:#?}");
    asked(&model, 1).await;
    assert!(!tools(&model).contains("wave"), "{}", tools(&model));
    let context = {
        let all = client.rpc("ListTasks", json!({})).await;
        all["result"]["tasks"][0]["contextId"].clone()
    };
    fs::write(launch.folder().join("go"), "").unwrap();
    for number in 2..1000 {
        let answer = client.rpc("SendMessage", message_in(&context, &format!("m{number}"), "And now?")).await;
        assert_eq!(state(&answer["result"]["task"]), "TASK_STATE_COMPLETED", "{answer:#}");
        if tools(&model).contains("wave") {
            return;
        }
    }
    panic!("its tools never come: {}", tools(&model));
}
