//! A server and a client that gives it commands.

use attache_testkit::{CommandEvents, TestClient, check_command_response};
use serde_json::{Value, json};

use crate::world::{Launch, TestServer, launch};

/// The extension, as the agent card lists it.
const URI: &str = attache_wire::devtool::URI;

pub(super) struct World {
    pub(super) server: TestServer,
}

impl World {
    pub(super) async fn start() -> Self {
        Self::of(launch()).await
    }

    pub(super) async fn of(launch: Launch) -> Self {
        Self { server: launch.start().await }
    }

    /// One that speaks 0.3 over JSON-RPC, as the RFC's examples do, and says that it knows the extension.
    pub(super) fn client(&self) -> TestClient {
        self.server.client().with("X-A2A-Extensions", URI)
    }

    /// Gives a command without waiting for what comes of it.
    pub(super) async fn give(&self, params: Value) -> Value {
        let answer = self.client().rpc("command/execute", params).await;
        check_command_response(&answer["result"])
    }

    /// Gives a command and reads everything that happens.
    pub(super) async fn run(&self, params: Value) -> CommandEvents {
        let client = self.client().with("accept", "text/event-stream");
        let mut stream = client.rpc_stream("command/execute", params).await;
        CommandEvents::of_command(stream.rest().await)
    }

    /// Gives a command that cannot start: why not, on a stream as without one.
    pub(super) async fn refused(&self, params: Value) -> String {
        let response = self.give(params.clone()).await;
        assert_eq!(response["status"], "FAILED_TO_START", "{params}");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "command/execute", "params": params});
        let answer = self.client().with("accept", "text/event-stream").post("/", &body).await;
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        let text = answer.text();
        let frame =
            text.strip_prefix("data: ").and_then(|text| text.strip_suffix("\n\n")).expect("one frame");
        assert_eq!(serde_json::from_str::<Value>(frame).unwrap()["result"], response);
        response["message"].as_str().unwrap().to_owned()
    }

    /// Gives the command of a line such as `/memory show`.
    pub(super) async fn line(&self, line: &str) -> CommandEvents {
        self.run(command(line)).await
    }

    pub(super) async fn task(&self, id: &str) -> Value {
        self.client().rpc("tasks/get", json!({"id": id})).await["result"].clone()
    }

    /// How many tasks there are.
    pub(super) async fn tasks(&self) -> u64 {
        let listed = self.server.client().rpc("ListTasks", json!({})).await;
        listed["result"]["totalSize"].as_u64().unwrap_or_else(|| panic!("{listed:#}"))
    }
}

/// Parameters for a line such as `/memory add tabs`: its first word is the path, and the rest arguments.
pub(super) fn command(line: &str) -> Value {
    let (name, arguments) = line.trim_start_matches('/').split_once(' ').unwrap_or((&line[1..], ""));
    json!({"command_path": [name], "args": arguments})
}
