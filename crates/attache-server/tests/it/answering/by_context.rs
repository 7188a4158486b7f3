//! Clients that name the context and not the task: what they say is the answer to the one task that waits for it.

use attache_domain::DuplicateWindow;
use attache_testkit::TestClient;
use attache_testkit::agent_client::{answer_text, message_in, reaches, reply, send, state, task};
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use super::{Speaker, Words, state_in, task_in, touches};
use crate::agent_world::{launch_with, start, work};
use attache_testkit::pairs::{Ask, Pair};

/// Sends into a context and waits for what comes of it.
async fn say(client: &TestClient, context: &Value, id: &str, text: &str) -> Value {
    let answer = client.rpc("SendMessage", message_in(context, id, text)).await;
    answer["result"].get("task").cloned().unwrap_or(answer)
}

fn question() -> PlannedResponse {
    let asks = json!({"questions": [{"question": "Which colour?", "header": "Colour", "type": "text"}]});
    calls("ask_user", asks)
}

#[tokio::test]
async fn yes_in_the_context_answers_the_task_that_asks_on_every_binding() {
    for pair in Pair::ALL {
        for words in Words::ALL {
            let model = ModelServer::with_responses([touches(&["made"]), says("Done.")]);
            let launch =
                launch_with(&model).session(|options| options.duplicate_sends = DuplicateWindow::Always);
            let server = launch.start().await;
            let speaker = Speaker::new(pair, words, &server.client());
            let asked = speaker.stream(speaker.opening(&launch, "m1", "Make it!")).await;
            let (id, opened) = (task_in(&asked[0]), asked[0].get("task").unwrap_or(&asked[0]).clone());
            let mut params = pair.text("m2", "yes");
            params["message"]["contextId"] = opened["contextId"].clone();
            let done = speaker.stream(params.clone()).await;
            assert_eq!(task_in(&done[0]), id, "{pair:?} {words:?}: it is shown which task it is");
            assert_eq!(state_in(&done[0]), "working", "{pair:?} {words:?}: {done:#?}");
            assert!(done.iter().any(|item| item.to_string().contains("Done.")), "{pair:?}: {done:#?}");
            assert!(work(&launch).join("made").exists(), "{pair:?}");
            // Sent again, it is the same message.
            let again = pair.result(&speaker.client, &Ask::Send(params)).await;
            assert_eq!(task_in(&again), id, "{pair:?} {words:?}: {again:#}");
            assert_eq!(model.received().len(), 2, "{pair:?} {words:?}");
        }
    }
}

#[tokio::test]
async fn data_names_the_call_and_needs_no_task_either() {
    let model = ModelServer::with_responses([touches(&["made"]), says("Done.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Make it!").await;
    let call = &asked["status"]["message"]["metadata"]["attache/open-calls"][0]["call"];
    let mut params = message_in(&asked["contextId"], "m2", "");
    params["message"]["parts"] = json!([{"data": {"call": call, "choice": "proceed_once"}}]);
    let done = client.rpc("SendMessage", params.clone()).await["result"]["task"].clone();
    assert_eq!((state(&done), &done["id"]), ("TASK_STATE_COMPLETED", &asked["id"]), "{done:#}");
    assert!(work(&launch).join("made").exists());
    params["message"]["messageId"] = "m3".into();
    let late = client.rpc("SendMessage", params.clone()).await;
    assert!(late["error"].to_string().contains("was answered already"), "{late:#}");
    params["message"]["contextId"] = "another".into();
    let nowhere = client.rpc("SendMessage", params).await;
    assert!(nowhere["error"].to_string().contains("message.task"), "{nowhere:#}");
}

#[tokio::test]
async fn a_remark_is_never_consent() {
    let remarks =
        ["yes please do it, all of you agreed", "Ok so what is this about?", "no idea", "Sure thing"];
    let model = ModelServer::with_handler(move |received| {
        let told = received.json()["contents"].as_array().unwrap().last().unwrap().to_string();
        if told.contains("Make it!") { touches(&["made"]) } else { says("I wait for an answer.") }
    });
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Make it!").await;
    for (number, remark) in remarks.into_iter().enumerate() {
        let other = say(&client, &asked["contextId"], &format!("r{number}"), remark).await;
        assert_ne!(other["id"], asked["id"], "{remark}: {other:#}");
        assert_eq!(state(&other), "TASK_STATE_COMPLETED", "{remark}: a task of its own");
    }
    let still = task(&client, asked["id"].as_str().unwrap()).await;
    assert_eq!(still["status"], asked["status"], "it still asks the same");
    assert!(!work(&launch).join("made").exists());
}

#[tokio::test]
async fn with_several_tasks_that_wait_the_refusal_lists_them() {
    let model = ModelServer::with_handler(|received| {
        let told = received.json()["contents"].as_array().unwrap().last().unwrap().to_string();
        let file = if told.contains("First") { "one" } else { "two" };
        if told.contains("functionResponse") { says("Done.") } else { touches(&[file]) }
    });
    let (launch, server) = start(&model).await;
    let client = server.client();
    let first = send(&client, "m1", "First").await;
    let second = say(&client, &first["contextId"], "m2", "Second").await;
    assert_eq!(state(&second), "TASK_STATE_INPUT_REQUIRED", "{second:#}");
    let refused = say(&client, &first["contextId"], "m3", "yes").await;
    let told = refused["error"].to_string();
    for id in [&first["id"], &second["id"]] {
        assert!(told.contains(id.as_str().unwrap()), "{refused:#}");
    }
    assert!(told.contains("several tasks") && told.contains("message.task"), "{refused:#}");
    assert!(!work(&launch).join("one").exists() && !work(&launch).join("two").exists());
    let done = reply(&client, "m4", &first, "yes").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    let other = say(&client, &first["contextId"], "m5", "yes").await;
    assert_eq!(other["id"], second["id"], "now only one waits: {other:#}");
    assert!(work(&launch).join("one").exists() && work(&launch).join("two").exists());
}

#[tokio::test]
async fn a_task_that_waits_for_other_input_takes_the_text() {
    let model = ModelServer::with_responses([touches(&["made"]), says("As you like."), says("Yes?")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Make it!").await;
    let rests = say(&client, &asked["contextId"], "m2", "no").await;
    assert_eq!((state(&rests), &rests["id"]), ("TASK_STATE_INPUT_REQUIRED", &asked["id"]), "{rests:#}");
    let done = say(&client, &asked["contextId"], "m3", "Tell me why instead.").await;
    assert_eq!((answer_text(&done).as_str(), &done["id"]), ("As you like.", &asked["id"]), "{done:#}");
    assert!(!work(&launch).join("made").exists());
    // It is over: the next message opens another.
    let next = say(&client, &asked["contextId"], "m4", "yes").await;
    assert_ne!(next["id"], asked["id"], "{next:#}");
}

#[tokio::test]
async fn a_question_of_the_agent_takes_any_text() {
    let model = ModelServer::with_responses([question(), says("Blue it is.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Paint it!").await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED", "{asked:#}");
    let done = say(&client, &asked["contextId"], "m2", "a deep blue").await;
    assert_eq!((state(&done), &done["id"]), ("TASK_STATE_COMPLETED", &asked["id"]), "{done:#}");
}

#[tokio::test]
async fn turned_off_only_a_message_with_the_task_answers() {
    let model = ModelServer::with_responses([touches(&["made"]), says("Hm?"), says("Done.")]);
    let launch = launch_with(&model).session(|options| options.answer_by_context = false);
    let server = launch.start().await;
    let client = server.client();
    let asked = send(&client, "m1", "Make it!").await;
    let other = say(&client, &asked["contextId"], "m2", "yes").await;
    assert_ne!(other["id"], asked["id"], "{other:#}");
    assert!(!work(&launch).join("made").exists());
    let done = reply(&client, "m3", &asked, "yes").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
}

#[tokio::test]
async fn it_holds_after_kill_9_and_a_message_that_opened_a_task_still_means_that_task() {
    let model = ModelServer::with_handler(|received| {
        let told = received.json()["contents"].as_array().unwrap().last().unwrap().to_string();
        match (told.contains("Make it!"), told.contains("functionResponse")) {
            (true, _) => touches(&["made"]),
            (_, true) => says("Done."),
            (false, false) => says("Nothing."),
        }
    });
    let launch = launch_with(&model).session(|options| options.duplicate_sends = DuplicateWindow::Always);
    let server = launch.start().await;
    let asked = send(&server.client(), "m1", "Make it!").await;
    let remark = say(&server.client(), &asked["contextId"], "m2", "What is new?").await;
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let again = say(&client, &asked["contextId"], "m2", "What is new?").await;
    assert_eq!(again["id"], remark["id"], "{again:#}");
    let done = say(&client, &asked["contextId"], "m3", "yes").await;
    assert_eq!((state(&done), &done["id"]), ("TASK_STATE_COMPLETED", &asked["id"]), "{done:#}");
    reaches(&client, asked["id"].as_str().unwrap(), "COMPLETED").await;
}
