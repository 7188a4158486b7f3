//! Where the answer of a turn stands: in an artifact, or in the message of the status that ends the turn.

use attache_domain::AnswerLocation;
use attache_server::ServerOptions;
use attache_testkit::agent_client::{message, message_to, state};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use crate::agent_world::launch_with;
use crate::world::launch;

const ANSWER: &str = "one two three four five";
/// Both versions of JSON-RPC: how a message is sent, streamed, and a task read.
const VERSIONS: [[&str; 3]; 2] =
    [["SendMessage", "SendStreamingMessage", "GetTask"], ["message/send", "message/stream", "tasks/get"]];

fn answers_interface(options: &mut ServerOptions) {
    options.answers_card = Some(options.card.clone());
}

fn answers_in_messages(options: &mut ServerOptions) {
    options.answers = AnswerLocation::StatusMessage;
}

fn request(method: &str, mut params: Value) -> Value {
    if method.contains('/') && params["message"].is_object() {
        params["message"]["kind"] = json!("message");
        params["message"]["role"] = json!("user");
        for part in params["message"]["parts"].as_array_mut().unwrap() {
            part["kind"] = json!("text");
        }
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

async fn call(client: &TestClient, path: &str, method: &str, params: Value) -> Value {
    let result = client.post(path, &request(method, params)).await.json()["result"].clone();
    result.get("task").cloned().unwrap_or(result)
}

async fn stream(client: &TestClient, path: &str, method: &str, params: Value) -> Vec<SseFrame> {
    client.post_stream(path, &request(method, params)).await.rest().await
}

/// The answer stands in the status of the whole task and as the same message at the end of its history, and in no artifact.
#[track_caller]
fn check_message(task: &Value, expected: &str) {
    assert!(task.get("artifacts").is_none_or(|artifacts| artifacts == &json!([])), "{task:#}");
    let parts = task["status"]["message"]["parts"].as_array().unwrap_or_else(|| panic!("{task:#}"));
    assert_eq!((parts.len(), parts[0]["text"].as_str()), (1, Some(expected)), "{task:#}");
    let last = task["history"].as_array().and_then(|history| history.last());
    if let Some(last) = last {
        assert_eq!(last, &task["status"]["message"], "{task:#}");
    }
    let places = if last.is_some() { 2 } else { 1 };
    assert_eq!(task.to_string().matches(expected).count(), places, "{task:#}");
}

#[tokio::test]
async fn by_default_an_answer_is_neither_repeated_in_the_status_nor_sent_whole_at_the_end() {
    let server = launch().start().await;
    let client = server.client();
    for [send, streaming, _] in VERSIONS {
        let frames = stream(&client, "/", streaming, message(streaming, "stream")).await;
        let items: Vec<Value> = frames.iter().map(|frame| frame.payload().clone()).collect();
        let pieces: Vec<&Value> = items
            .iter()
            .map(|item| item.get("artifactUpdate").unwrap_or(item))
            .filter(|item| item["artifact"].is_object())
            .collect();
        assert_ne!(pieces[0].get("append"), Some(&json!(true)), "{streaming}");
        assert!(pieces[1..].iter().all(|piece| piece["append"] == true), "{streaming}: {pieces:#?}");
        let last = items.last().unwrap();
        let status = &last.get("statusUpdate").unwrap_or(last)["status"];
        assert!(status["state"].is_string() && status.get("message").is_none(), "{streaming}: {last:#}");
        let task = call(&client, "/", send, message(send, "stream")).await;
        assert!(task["status"].get("message").is_none(), "{task:#}");
        assert_eq!(task["artifacts"][0]["parts"].as_array().unwrap().len(), 1, "{task:#}");
        assert_eq!(task["artifacts"][0]["parts"][0]["text"], ANSWER);
    }
}

#[tokio::test]
async fn on_its_own_interface_the_answer_stands_in_the_final_status_and_in_no_artifact() {
    let server = launch().options(answers_interface).start().await;
    let client = server.client();
    for [send, streaming, get] in VERSIONS {
        let frames = stream(&client, "/answers", streaming, message(streaming, "stream")).await;
        let artifacts = frames.iter().filter(|frame| frame.raw.contains("\"artifactId\"")).count();
        assert_eq!(artifacts, 0, "{frames:?}");
        let last = frames.last().unwrap().payload();
        let status = &last.get("statusUpdate").unwrap_or(last)["status"];
        assert_eq!(status["message"]["parts"][0]["text"], ANSWER, "{last:#}");
        let sent = call(&client, "/answers", send, message(send, "stream")).await;
        check_message(&sent, ANSWER);
        // How a task is shown was fixed when it opened, wherever it is read.
        for path in ["/answers", "/"] {
            check_message(&call(&client, path, get, json!({"id": sent["id"]})).await, ANSWER);
        }
        let shown = stream(&client, "/", "tasks/resubscribe", json!({"id": sent["id"]})).await;
        check_message(shown[0].payload(), ANSWER);
    }
    let list = client.rpc("ListTasks", json!({"includeArtifacts": true})).await;
    let tasks = list["result"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 4);
    tasks.iter().for_each(|task| check_message(task, ANSWER));
    let plain = call(&client, "/", "SendMessage", message("m1", "stream")).await;
    assert_eq!(plain["artifacts"][0]["parts"][0]["text"], ANSWER, "the main interface is as it was");
}

/// The texts of the agent's messages in the history.
fn said_by_agent(task: &Value) -> Vec<&str> {
    let history = task["history"].as_array().expect("a history").iter();
    let of_agent =
        history.filter(|message| message["role"].as_str().unwrap().to_lowercase().contains("agent"));
    of_agent.map(|message| message["parts"][0]["text"].as_str().expect("a text")).collect()
}

#[tokio::test]
async fn a_whole_server_can_put_its_answers_into_messages_and_asks_as_before() {
    let write = json!({"file_path": "new.txt", "content": "new\n"});
    for [send, streaming, _] in VERSIONS {
        let model =
            ModelServer::with_responses([calls("write_file", write.clone()), says("Done."), says("Again.")]);
        let launch = launch_with(&model).options(answers_in_messages);
        let server = launch.start().await;
        let client = server.client();
        let asked = call(&client, "/", send, message("m1", "Write!")).await;
        assert!(state(&asked).to_lowercase().contains("input"), "{asked:#}");
        let question = asked["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(question.contains("new.txt"), "{question}");
        let yes = message_to(asked["id"].as_str().unwrap(), "m2", "yes");
        let done = call(&client, "/", send, yes).await;
        assert!(state(&done).to_lowercase().contains("completed"), "{done:#}");
        check_message(&done, "Done.");
        assert_eq!(
            said_by_agent(&done),
            ["Done."],
            "a client of this interface takes all of it for the answer"
        );
        let mut more = message("m3", "And now?");
        more["message"]["contextId"] = done["contextId"].clone();
        let frames = stream(&client, "/", streaming, more).await;
        assert!(frames.last().unwrap().raw.contains("Again."), "{frames:?}");
        let told = model.received().last().unwrap().json().to_string();
        assert_eq!(told.matches("Done.").count(), 1, "the model hears its answer once: {told}");
    }
}

#[tokio::test]
async fn a_client_that_mixes_both_versions_is_answered_in_the_envelope_it_reads() {
    let server = launch().options(answers_interface).start().await;
    let client = server.client();
    let message = |id: &str| json!({"role": "user", "messageId": id, "parts": [{"text": "stream"}]});
    let send =
        |id| json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message(id)}});
    let sent = client.post("/answers", &send("m1")).await.json();
    let task = &sent["result"]["task"];
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")), "{sent:#}");
    check_message(task, ANSWER);
    // Elsewhere 0.3 is what its schema says.
    let refused = client.post("/", &send("m2")).await.json();
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    // On its own path for clients that leave out the kind, the answer is that of 0.3.
    let server = launch().options(answers_in_messages).start().await;
    let sent = server.client().post("/a2a", &send("m4")).await.json();
    check_message(&sent["result"], ANSWER);
    let mut stream = send("m3");
    stream["method"] = json!("message/stream");
    let refused = client.post("/answers", &stream).await.text();
    assert!(refused.contains("-32602"), "{refused}");
}

#[tokio::test]
async fn why_a_turn_failed_is_told_after_what_it_said() {
    let server = launch().options(answers_in_messages).start().await;
    let task = call(&server.client(), "/", "SendMessage", message("m1", "fail")).await;
    let alone = launch().start().await;
    let usual = call(&alone.client(), "/", "SendMessage", message("m1", "fail")).await;
    let text = |task: &Value| task["status"]["message"]["parts"][0]["text"].as_str().unwrap().to_owned();
    let answer = usual["artifacts"][0]["parts"][0]["text"].as_str().unwrap_or_default();
    let expected = if answer.is_empty() { text(&usual) } else { format!("{answer}\n\n{}", text(&usual)) };
    assert_eq!(text(&task), expected, "{task:#}");
}
