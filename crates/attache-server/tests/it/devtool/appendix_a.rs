//! The example of the RFC's appendix A, step by step.

use attache_testkit::editor::{Editor, URI, chosen};
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::json;

use super::world::World;
use crate::agent_world::work;
use attache_testkit::pairs::Pair;

async fn world() -> World {
    let write = calls("write_file", json!({"file_path": "greeting.txt", "content": "Good morning.\n"}));
    World::playing([write, says("I wrote the greeting."), says("You are welcome.")]).await
}

#[tokio::test]
async fn the_example_of_the_rfc_event_by_event() {
    let world = world().await;
    // Nothing but the settings says which dialect is spoken.
    let editor = Editor { pair: Pair::Rpc03, client: world.server.client() };

    // The client sends the prompt, and its settings in the metadata under the URI.
    let settings = json!({"workspace_path": work(&world.launch)});
    let first = editor.exchange(editor.text_with("m1", "Write a greeting.", &settings)).await;

    // The task; work begins; a call that has to be confirmed; the end of this exchange.
    first.check(&[
        "task submitted",
        "STATE_CHANGE working",
        "TOOL_CALL_UPDATE working write_file PENDING ?",
        "STATE_CHANGE input-required final",
    ]);
    let task = first.task();
    assert!(first.events.iter().skip(1).all(|event| event.payload["taskId"] == task));
    let history = &first.events[0].payload["history"];
    assert_eq!(history[0]["parts"], json!([{"kind": "text", "text": "Write a greeting."}]));
    assert!(first.last().message().is_null(), "the call has said what is asked");

    // The person sees what would be written, and approves.
    let call = first.only_asked();
    let change = &call["confirmation_request"]["file_edit_details"];
    let path = work(&world.launch).canonicalize().unwrap().join("greeting.txt");
    assert_eq!(change["file_name"], "greeting.txt");
    assert_eq!(change["file_path"], path.to_str().unwrap());
    assert_eq!(change["new_content"], "Good morning.\n");
    assert!(change.get("old_content").is_none(), "there is no such file: {change:#}");
    assert!(change["formatted_diff"].as_str().unwrap().contains("+Good morning."), "{change:#}");
    assert_eq!(world.file("greeting.txt"), None);
    let approval = json!({"tool_call_id": call["tool_call_id"], "selected_option_id": "proceed_once"});
    let mut params = editor.answers(task, "m2", &[approval]);
    params["message"]["contextId"] = json!(first.context());

    // A stream of its own: the call runs, has run; the answer; the end.
    let second = editor.exchange(params).await;
    second.check(&[
        "TOOL_CALL_UPDATE working write_file EXECUTING",
        "TOOL_CALL_UPDATE working write_file SUCCEEDED",
        "TEXT_CONTENT working I wrote the greeting.",
        "STATE_CHANGE completed final",
    ]);
    assert_eq!(second.task(), task);
    assert_eq!(world.file("greeting.txt").as_deref(), Some("Good morning.\n"));
    let written = &second.call("SUCCEEDED")["output"]["diff"];
    assert_eq!(written, change, "what was shown is what was done");
    let ids: Vec<_> = [&first, &second].iter().flat_map(|it| &it.events).map(|event| event.id).collect();
    assert!(ids.is_sorted_by(|before, after| before < after), "{ids:?}");

    // The task is complete and goes on all the same.
    let third = editor.ask_more(task, "m3", "Thank you!").await;
    third.check(&[
        "STATE_CHANGE working",
        "TEXT_CONTENT working You are welcome.",
        "STATE_CHANGE completed final",
    ]);
    assert_eq!(third.task(), task);
    assert!(world.told().contains("Good morning.") && world.told().contains("I wrote the greeting."));
}

#[tokio::test]
async fn every_pair_tells_the_same_in_its_own_envelopes() {
    for pair in [Pair::Rpc10, Pair::Rest03, Pair::Rest10] {
        let world = world().await;
        let editor = Editor { pair, client: world.server.client() };
        let settings = json!({"workspace_path": work(&world.launch)});
        let first = editor.exchange(editor.text_with("m1", "Write a greeting.", &settings)).await;
        first.check(&[
            "task submitted",
            "STATE_CHANGE working",
            "TOOL_CALL_UPDATE working write_file PENDING ?",
            "STATE_CHANGE input-required final",
        ]);
        let task = first.task();
        // Every stream of 1.0 begins with the task.
        let begins = |state: &'static str| pair.is_v1_0().then_some(state);
        let second = editor.answer(task, "m2", &[chosen(&first.only_asked(), "proceed_once")]).await;
        let goes_on = [
            "TOOL_CALL_UPDATE working write_file EXECUTING",
            "TOOL_CALL_UPDATE working write_file SUCCEEDED",
            "TEXT_CONTENT working I wrote the greeting.",
            "STATE_CHANGE completed final",
        ];
        second.check(&begins("task working").into_iter().chain(goes_on).collect::<Vec<_>>());
        let third = editor.ask_more(task, "m3", "Thank you!").await;
        let ends =
            ["STATE_CHANGE working", "TEXT_CONTENT working You are welcome.", "STATE_CHANGE completed final"];
        third.check(&begins("task submitted").into_iter().chain(ends).collect::<Vec<_>>());
        assert_eq!(third.task(), task, "{pair:?}");
    }
}

#[tokio::test]
async fn every_event_names_its_kind_and_its_model_under_the_uri_and_the_last_one_the_cost() {
    let world = world().await;
    let editor = world.editor();
    let first = editor.ask("m1", "Write a greeting.").await;
    let second = editor.answer(first.task(), "m2", &[chosen(&first.only_asked(), "proceed_once")]).await;
    for event in first.events[1..].iter().chain(&second.events) {
        assert_eq!(event.metadata()["model"], "gemini-2.5-pro", "{:#}", event.payload);
        let members: Vec<_> = event.payload["metadata"].as_object().unwrap().keys().cloned().collect();
        let usage = if event.state() == "completed" { vec![URI, "usage"] } else { vec![URI] };
        assert_eq!(members, usage, "{:#}", event.payload);
    }
    let usage = &second.last().payload["metadata"]["usage"];
    assert_eq!((&usage["inputTokens"], &usage["outputTokens"]), (&json!(200), &json!(20)));
}
