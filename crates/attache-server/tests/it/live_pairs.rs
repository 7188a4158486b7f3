//! The first answer to a confirmation counts, through every pair of interfaces; the others learn who gave it.

mod door;

use attache_testkit::live_session::{asking_session, is_question};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;

use crate::agent_world::{AgentLaunch, AgentServer, launch_with, work};
pub(crate) use door::read_until;
use door::{Door, connect};

/// Sessions that each ask about one command, and a socket that watches all of them.
struct Sessions {
    launch: AgentLaunch,
    server: AgentServer,
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
        let launch = launch_with(&model).options(|options| options.live = true);
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
