//! Clients disconnect at any point: a resumed stream has every event once, even from a restarted server.

use std::time::Duration;

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{SseFrame, SseStream, TestClient};
use serde_json::json;

use crate::agent_world::{answer_text, calls, says, start, state};
use crate::support::{message, message_to};
use crate::watching::{asked, is_final, is_question, lines, open, reaches, replay, stuck};

/// A task of many events, with a question in it. The same however often the model is asked.
fn model(pause: Duration) -> ModelServer {
    ModelServer::with_handler(move |received| {
        let told = received.json()["contents"].to_string();
        let piece = |text: &str| gemini::answer([gemini::chunk().text(text)]).pause(pause);
        let whole = |chunk: gemini::Chunk| gemini::answer([chunk.finish("STOP").usage(9, 1)]);
        match told.matches("\"functionResponse\"").count() {
            0 => {
                let read = gemini::chunk().call("read_file", json!({"file_path": "hello.txt"}));
                piece("I ").then(piece("look. ")).then(whole(read))
            }
            1 => {
                let write = json!({"file_path": "new.txt", "content": "fresh\n"});
                piece("I write. ").then(whole(gemini::chunk().call("write_file", write)))
            }
            _ => piece("It ").then(piece("is ")).then(whole(gemini::chunk().text("done."))),
        }
    })
}

async fn follow(client: &TestClient, id: &str, after: &SseFrame) -> SseStream {
    let cursor = after.id.unwrap().to_string();
    let mut stream =
        client.with("last-event-id", &cursor).rpc_stream("SubscribeToTask", json!({"id": id})).await;
    let first = stream.next().await.unwrap();
    assert_eq!(first.id, after.id, "the task as of the cursor comes first");
    stream
}

/// Answers on the other binding, as another program would. A kill may have hit the call itself, which is asked about then.
async fn approve(client: &TestClient, id: &str, question: &SseFrame) {
    let is_lost = question.payload().to_string().contains("run_again");
    let words = if is_lost { "run_again" } else { "yes" };
    let mut params = message_to(id, &format!("answer-to-{}", question.id.unwrap()), words);
    params["configuration"] = json!({"returnImmediately": true});
    let answer = client.with("a2a-version", "1.0").post("/message:send", &params).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_client_that_leaves_after_every_event_misses_none() {
    let model = model(Duration::ZERO);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let mut stream = client.rpc_stream("SendStreamingMessage", message("m1", "Go!")).await;
    let mut seen = vec![stream.next().await.unwrap()];
    let id = seen[0].payload()["task"]["id"].as_str().unwrap().to_owned();
    drop(stream);
    while !is_final(seen.last().unwrap()) {
        if is_question(seen.last().unwrap()) {
            approve(&client, &id, seen.last().unwrap()).await;
        }
        let mut stream = follow(&client, &id, seen.last().unwrap()).await;
        seen.push(stream.next().await.unwrap());
    }
    let whole = replay(&client, &id).await;
    assert_eq!(lines(&seen), lines(&whole));
    assert_eq!(seen, whole, "to the byte");
    assert!(seen.iter().any(is_question) && seen.len() > 10, "{:#?}", lines(&seen));
}

#[tokio::test]
async fn a_client_that_leaves_while_nothing_happens_misses_nothing() {
    let model = ModelServer::with_responses([stuck("One ").then(says("two."))]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Go!").await;
    let mut seen = stream.until(|frame| frame.raw.contains("One ")).await;
    drop(stream);
    let mut back = follow(&client, &id, seen.last().unwrap()).await;
    let mut other = follow(&client, &id, &seen[0]).await;
    model.release();
    seen.extend(back.rest().await);
    assert_eq!(other.rest().await, seen[1..], "whoever comes later sees the same");
    assert_eq!(replay(&client, &id).await[1..], seen);
}

#[tokio::test]
async fn across_kill_9_after_every_event_a_client_misses_none() {
    let model = model(Duration::from_millis(5));
    let (launch, mut server) = start(&model).await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "Go!")).await;
    let mut seen = vec![stream.next().await.unwrap()];
    let id = seen[0].payload()["task"]["id"].as_str().unwrap().to_owned();
    let mut kills = 0;
    while !is_final(seen.last().unwrap()) {
        if kills < 12 {
            server.kill().await;
            server = launch.start().await;
            kills += 1;
        }
        if is_question(seen.last().unwrap()) {
            approve(&server.client(), &id, seen.last().unwrap()).await;
        }
        let mut stream = follow(&server.client(), &id, seen.last().unwrap()).await;
        seen.push(stream.next().await.unwrap());
    }
    let whole = replay(&server.client(), &id).await;
    assert_eq!(seen, whole, "what was shown before a crash is what is stored: {:#?}", lines(&seen));
    assert_eq!(kills, 12, "{:#?}", lines(&seen));
}

#[tokio::test]
async fn an_approval_is_given_by_another_client_on_the_other_binding_while_the_first_is_gone() {
    let run = calls("run_shell_command", json!({"command": "touch made"}));
    let model = ModelServer::with_handler(move |received| {
        let ran = received.json()["contents"].to_string().contains("functionResponse");
        if ran { says("It ran.") } else { run.clone() }
    });
    let (launch, server) = start(&model).await;
    let (id, mut stream) = open(&server.client(), "m1", "Run!").await;
    let first = stream.next().await.unwrap();
    drop(stream);
    server.kill().await;
    let server = launch.start().await;
    let other = server.client().with("a2a-version", "1.0");
    // It knows nothing but the server: it finds the task that waits, and what for.
    reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    let listed = other.get("/tasks?status=TASK_STATE_INPUT_REQUIRED").await.json();
    let waiting = &listed["tasks"];
    assert_eq!(waiting[0]["id"], id, "{listed:#}");
    let question = waiting[0]["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("touch made") && question.contains("proceed_once"), "{question}");
    let data = json!([{"data": {"choice": "proceed_once"}}]);
    let mut params = message_to(&id, "m2", "");
    params["message"]["parts"] = data;
    let done = other.post("/message:send", &params).await.json();
    assert_eq!(state(&done["task"]), "TASK_STATE_COMPLETED", "{done:#}");
    // The first client comes back and gets the rest, the question included.
    let whole = replay(&server.client(), &id).await;
    assert_eq!(whole[1], first);
    assert_eq!(
        lines(&whole),
        [
            "task SUBMITTED",
            "WORKING",
            "INPUT_REQUIRED I need your answer before I go on:",
            "WORKING",
            "answer-1 = It ran.",
            "answer-1 +  (.)",
            "COMPLETED"
        ]
    );
}

#[tokio::test]
async fn a_task_without_a_reader_is_done_all_the_same() {
    let slow: PlannedResponse = stuck("One ").then(says("two."));
    let model = ModelServer::with_responses([slow]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, stream) = open(&client, "m1", "Go!").await;
    drop(stream);
    model.release();
    let done = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "One two.");
    // A client that lost the answer to its message sends it again, says where it was, and gets all of it.
    let client = client.with("last-event-id", "1");
    let again = client.rpc_stream("SendStreamingMessage", message("m1", "Go!")).await.rest().await;
    assert_eq!(again, replay(&client, &id).await);
}

#[tokio::test]
async fn a_client_that_waits_for_its_answer_and_leaves_finds_it_later() {
    let model = ModelServer::with_responses([stuck("One ").then(says("two."))]);
    let (_launch, server) = start(&model).await;
    let client = server.client().with("A2A-Extensions", "urn:attache:extension:idempotent-send:v1");
    tokio::select! {
        answer = client.rpc("SendMessage", message("m1", "Go!")) => panic!("nothing can be answered yet: {answer}"),
        () = asked(&model, 1) => {}
    }
    model.release();
    // The same message again is the same task, and its answer.
    let again = client.rpc("SendMessage", message("m1", "Go!")).await["result"]["task"].clone();
    assert_eq!(answer_text(&again), "One two.");
    assert_eq!(model.received().len(), 1);
}
