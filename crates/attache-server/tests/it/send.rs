//! Send: blocking and not, the same message again, and the rules of task and context.

use attache_domain::DuplicateWindow;
use serde_json::{Value, json};

use crate::world::{launch, message, message_to};

#[tokio::test]
async fn b1_a_send_waits_for_the_end_and_returns_answer_and_history() {
    let server = launch().start().await;
    let response = server.client().rpc("SendMessage", message("m1", "echo hello")).await;
    let task = &response["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{response:#}");
    assert!(task["status"].get("message").is_none(), "the terminal status carries no text");
    assert_eq!(task["artifacts"][0]["parts"], json!([{"text": "hello"}]));
    let said: Vec<_> = history(task);
    assert_eq!(said, [("ROLE_USER", "echo hello"), ("ROLE_AGENT", "hello")]);
}

#[tokio::test]
async fn b1_return_immediately_answers_before_the_work_is_done() {
    let server = launch().start().await;
    let client = server.client();
    let mut params = message("m1", "slow");
    params["configuration"] = json!({"returnImmediately": true});
    let response = client.rpc("SendMessage", params).await;
    let task = &response["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_SUBMITTED");
    let read = client.rpc("GetTask", json!({"id": task["id"]})).await;
    assert_ne!(read["result"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn b1_a_send_stops_waiting_at_a_question_and_the_answer_completes_the_task() {
    let server = launch().start().await;
    let client = server.client();
    let asked = client.rpc("SendMessage", message("m1", "ask")).await;
    let task = &asked["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(task["status"]["message"]["parts"][0]["text"], "What is your name?");
    let id = task["id"].as_str().unwrap();
    let done = client.rpc("SendMessage", message_to(id, "m2", "Ada")).await;
    let done = &done["result"]["task"];
    assert_eq!(done["id"], *id);
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(
        history(done),
        [
            ("ROLE_USER", "ask"),
            ("ROLE_AGENT", "What is your name?"),
            ("ROLE_USER", "Ada"),
            ("ROLE_AGENT", "Hello, Ada!")
        ]
    );
}

#[tokio::test]
async fn a_bare_reply_is_a_message_and_its_task_cannot_be_seen() {
    let server = launch().start().await;
    let client = server.client();
    let response = client.rpc("SendMessage", message("m1", "bare")).await;
    let reply = &response["result"]["message"];
    assert_eq!(reply["parts"][0]["text"], "Just a message.");
    assert_eq!(reply["role"], "ROLE_AGENT");
    assert!(reply["contextId"].is_string());
    let listed = client.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 0);
    let health = client.get("/health").await.json();
    assert_eq!(health["totalTasks"], 0);
}

/// Whenever it comes again, a message is the same.

#[tokio::test]
async fn d1_with_the_setting_always_the_same_message_is_the_same_task_for_ever() {
    let server = launch().session(|session| session.duplicate_sends = DuplicateWindow::Always).start().await;
    let client = server.client();
    let first = client.rpc("SendMessage", message("m1", "echo a")).await;
    let again = client.rpc("SendMessage", message("m1", "echo a")).await;
    let other = client.rpc("SendMessage", message("m1", "echo b")).await;
    assert_eq!(first["result"], again["result"]);
    assert_ne!(first["result"]["task"]["id"], other["result"]["task"]["id"]);
    let listed = client.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 2);
}

#[tokio::test]
async fn d1_a_message_to_a_task_sent_twice_counts_once_with_the_setting_always() {
    let server = launch().session(|session| session.duplicate_sends = DuplicateWindow::Always).start().await;
    let client = server.client();
    let asked = client.rpc("SendMessage", message("m1", "ask")).await;
    let id = asked["result"]["task"]["id"].as_str().unwrap().to_owned();
    let first = client.rpc("SendMessage", message_to(&id, "m2", "Ada")).await;
    let again = client.rpc("SendMessage", message_to(&id, "m2", "Ada")).await;
    assert_eq!(first["result"]["task"], again["result"]["task"], "though the task is over by now");
    let other = client.rpc("SendMessage", message_to(&id, "m2", "Bob")).await;
    assert_eq!(other["error"]["code"], -32004, "{other:#}");
}

#[tokio::test]
async fn d1_the_same_message_at_the_same_time_opens_one_task() {
    let server = launch().durable().start().await;
    let client = server.client();
    let params = message("m1", "stream");
    let calls = (0..16).map(|_| {
        let (client, params) = (client.clone(), params.clone());
        async move { client.rpc("SendMessage", params).await }
    });
    let mut ids = std::collections::BTreeSet::new();
    for response in join_all(calls).await {
        ids.insert(response["result"]["task"]["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 1);
}

#[tokio::test]
async fn d4_a_client_cannot_choose_the_id_of_a_new_task() {
    let server = launch().start().await;
    let response = server.client().rpc("SendMessage", message_to("mine", "m1", "echo a")).await;
    assert_eq!(response["error"]["code"], -32001);
}

#[tokio::test]
async fn a_context_of_the_clients_own_is_kept_and_one_of_another_task_is_refused() {
    let server = launch().start().await;
    let client = server.client();
    let mut params = message("m1", "ask");
    params["message"]["contextId"] = json!("my-context");
    let asked = client.rpc("SendMessage", params).await;
    let task = &asked["result"]["task"];
    assert_eq!(task["contextId"], "my-context");
    let id = task["id"].as_str().unwrap();
    let mut wrong = message_to(id, "m2", "Ada");
    wrong["message"]["contextId"] = json!("another");
    let refused = client.rpc("SendMessage", wrong).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    let mut right = message_to(id, "m3", "Ada");
    right["message"]["contextId"] = json!("my-context");
    let done = client.rpc("SendMessage", right).await;
    assert_eq!(done["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_message_to_a_working_task_is_answered_after_the_turn() {
    let script = "rules:
  - text: '^begin$'
    steps: [{say: first}, {wait: 300ms}]
  - steps: [{say: 'then {{text}}'}]
";
    let server = launch().script(script).start().await;
    let client = server.client();
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m1", "begin")).await;
    let first = stream.next().await.unwrap();
    let id = first.payload()["task"]["id"].as_str().unwrap().to_owned();
    stream.until(|frame| frame.payload().get("artifactUpdate").is_some()).await;
    let done = client.rpc("SendMessage", message_to(&id, "m2", "more")).await;
    let task = &done["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{done:#}");
    assert_eq!(
        history(task),
        [("ROLE_USER", "begin"), ("ROLE_AGENT", "first"), ("ROLE_USER", "more"), ("ROLE_AGENT", "then more")]
    );
    let ids: Vec<_> =
        task["artifacts"].as_array().unwrap().iter().map(|it| it["artifactId"].clone()).collect();
    assert_eq!(ids, ["answer-1", "answer-2"], "one artifact for each turn");
}

#[tokio::test]
async fn every_ending_of_a_script_is_seen_as_what_it_is() {
    let server = launch().start().await;
    let client = server.client();
    for (text, state, status) in [
        ("reject", "TASK_STATE_REJECTED", Some("Not for me.")),
        ("fail", "TASK_STATE_FAILED", Some("It did not work.")),
        ("auth", "TASK_STATE_AUTH_REQUIRED", Some("Sign in first.")),
        ("input", "TASK_STATE_INPUT_REQUIRED", None),
        ("status", "TASK_STATE_COMPLETED", Some("All done.")),
    ] {
        let response = client.rpc("SendMessage", message(text, text)).await;
        let task = &response["result"]["task"];
        assert_eq!(task["status"]["state"], state, "{text}: {response:#}");
        assert_eq!(task["status"]["message"]["parts"][0]["text"].as_str(), status, "{text}");
    }
}

#[tokio::test]
async fn c1_c2_cancel_stops_a_running_task_once() {
    let server = launch().durable().start().await;
    let client = server.client();
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m1", "slow")).await;
    let first = stream.next().await.unwrap();
    let id = first.payload()["task"]["id"].clone();
    stream.until(|frame| frame.payload().get("artifactUpdate").is_some()).await;
    let canceled = client.rpc("CancelTask", json!({"id": id})).await;
    assert_eq!(canceled["result"]["status"]["state"], "TASK_STATE_CANCELED");
    let rest = stream.rest().await;
    let last = rest.last().unwrap().payload();
    assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_CANCELED");
    let again = client.rpc("CancelTask", json!({"id": id})).await;
    assert_eq!(again["error"]["code"], -32002);
}

#[tokio::test]
async fn c1_a_waiting_task_can_be_canceled() {
    let server = launch().start().await;
    let client = server.client();
    let asked = client.rpc("SendMessage", message("m1", "ask")).await;
    let id = &asked["result"]["task"]["id"];
    let canceled = client.rpc("CancelTask", json!({"id": id})).await;
    assert_eq!(canceled["result"]["status"]["state"], "TASK_STATE_CANCELED");
}

#[tokio::test]
async fn b4_a_client_that_leaves_stops_nothing() {
    let script = "rules: [{steps: [{say: a}, {wait: 100ms}, {say: b}]}]";
    let server = launch().script(script).start().await;
    let client = server.client();
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m1", "x")).await;
    let id = stream.next().await.unwrap().payload()["task"]["id"].clone();
    drop(stream);
    let mut rest = client.rpc_stream("SubscribeToTask", json!({"id": id})).await;
    let frames = rest.rest().await;
    let last = frames.last().unwrap().payload();
    assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    let task = client.rpc("GetTask", json!({"id": id})).await;
    let text: String = parts(&task["result"]["artifacts"][0]);
    assert_eq!(text, "ab");
}

fn parts(holder: &Value) -> String {
    holder["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect()
}

fn history(task: &Value) -> Vec<(&str, &str)> {
    let messages = task["history"].as_array().unwrap();
    let said = messages.iter().map(|it| (it["role"].as_str(), it["parts"][0]["text"].as_str()));
    said.map(|(role, text)| (role.unwrap_or(""), text.unwrap_or(""))).collect()
}

async fn join_all<F>(calls: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let mut set = tokio::task::JoinSet::new();
    for call in calls {
        set.spawn(call);
    }
    set.join_all().await
}
