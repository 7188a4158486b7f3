//! A server with a scripted Gemini model and a workspace, and a client that gives it commands.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{CommandEvents, ServerLaunch, ServerProcess, TestClient, check_command_response};
use serde_json::{Value, json};

use crate::agent_world::{launch_with, work};
use crate::support::launch;

/// The extension, as the agent card lists it.
pub(super) const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

pub(super) struct World {
    pub(super) model: ModelServer,
    pub(super) launch: ServerLaunch,
    pub(super) server: ServerProcess,
}

impl World {
    /// The model says these, one after the other.
    pub(super) async fn playing(answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::with(answers, |launch| launch).await
    }

    /// The model has nothing to say: no command here asks it.
    pub(super) async fn silent() -> Self {
        Self::playing([]).await
    }

    /// A model of ours answers.
    pub(super) async fn offline() -> Self {
        Self::without_model(launch().argument("--model").argument("offline")).await
    }

    async fn without_model(launch: ServerLaunch) -> Self {
        let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
        let launch = launch.durable();
        fs::create_dir_all(work(&launch)).unwrap();
        let workspace = work(&launch).display().to_string();
        let launch = launch.argument("--workspace").argument(workspace);
        let server = launch.start().await;
        Self { model, launch, server }
    }

    /// As [`playing`](Self::playing), and `more` says how else the server is started.
    pub(super) async fn with(
        answers: impl IntoIterator<Item = PlannedResponse>,
        more: impl FnOnce(ServerLaunch) -> ServerLaunch,
    ) -> Self {
        let model = ModelServer::with_responses(answers);
        let launch = more(launch_with(&model));
        let server = launch.start().await;
        Self { model, launch, server }
    }

    /// `kill -9`, and a new start.
    pub(super) async fn crash(self) -> Self {
        let Self { model, launch, server } = self;
        server.kill().await;
        let server = launch.start().await;
        Self { model, launch, server }
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

    /// The same in a conversation.
    pub(super) async fn line_in(&self, context: &str, line: &str) -> CommandEvents {
        self.run(within(context, line)).await
    }

    /// Says something in a conversation and waits for the answer.
    pub(super) async fn say_in(&self, context: &str, id: &str, text: &str) -> CommandEvents {
        let message = json!({"messageId": id, "contextId": context, "kind": "message", "role": "user",
            "parts": [{"kind": "text", "text": text}]});
        let mut stream = self.client().rpc_stream("message/stream", json!({"message": message})).await;
        CommandEvents::of_message(stream.rest().await)
    }

    /// Chooses `option` about the one call that `asked` asks about, as the RFC has it.
    pub(super) async fn answer(&self, asked: &CommandEvents, option: &str) -> CommandEvents {
        let data = json!({"tool_call_id": asked.asked()["tool_call_id"], "selected_option_id": option});
        let message = json!({"messageId": format!("answer-{option}"), "taskId": asked.task(),
            "kind": "message", "role": "user", "parts": [{"kind": "data", "data": data}]});
        let mut stream = self.client().rpc_stream("message/stream", json!({"message": message})).await;
        CommandEvents::of_message(stream.rest().await)
    }

    pub(super) async fn task(&self, id: &str) -> Value {
        self.client().rpc("tasks/get", json!({"id": id})).await["result"].clone()
    }

    /// How many tasks there are.
    pub(super) async fn tasks(&self) -> u64 {
        let listed = self.server.client().rpc("ListTasks", json!({})).await;
        listed["result"]["totalSize"].as_u64().unwrap_or_else(|| panic!("{listed:#}"))
    }

    /// A file of the workspace as it is on the disk; none when it is not there.
    pub(super) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(work(&self.launch).join(name)).ok()
    }

    /// All that the model was told in its latest request.
    pub(super) fn told(&self) -> Value {
        self.model.received().last().unwrap().json()
    }

    /// All that the model was ever told.
    pub(super) fn ever_told(&self) -> String {
        self.model.received().iter().map(|request| request.json().to_string()).collect()
    }
}

/// Parameters for a line such as `/memory add tabs`: its first word is the path, and the rest arguments.
pub(super) fn command(line: &str) -> Value {
    let (name, arguments) = line.trim_start_matches('/').split_once(' ').unwrap_or((&line[1..], ""));
    json!({"command_path": [name], "args": arguments})
}

pub(super) fn within(context: &str, line: &str) -> Value {
    let mut params = command(line);
    params["contextId"] = context.into();
    params
}
