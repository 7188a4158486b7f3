//! After a restart a call goes on, and no message is sent twice to an agent that would take it for a new one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use attache_testkit::model_server::{PlannedResponse, ResponseEnd};
use attache_tool::{CallEnd, CallStart, PeerNotice, Tool};
use serde_json::{Value, json};

use crate::world::{
    World, answer, bare_task, card, extended_card, finished, input, piece, refusal, replaying_card, result,
    said, status, stream, stream_from, task, tool,
};

/// What a call has saved when the server is killed.
fn saved(world: &World, phase: &str, more: Value) -> CallStart {
    let mut saved = json!({
        "agent": "helper", "origin": world.agent.url(), "message": "m-1", "phase": phase, "continues": true,
    });
    saved.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    CallStart { saved: Some(saved), restarted: true, ..world.start() }
}

#[tokio::test]
async fn what_is_needed_is_saved_before_anything_depends_on_it() {
    let world =
        World::new([card(true), stream(&[task("WORKING"), piece("done"), status("COMPLETED", None)])]);
    world.call("Work!").await.unwrap();
    let saved = world.memory.saved.lock().unwrap().clone();
    let sent = world.requests()[0].json()["params"]["message"]["messageId"].clone();
    assert_eq!((&saved[0]["phase"], &saved[0]["message"]), (&json!("sending"), &sent));
    assert_eq!(
        (&saved[1]["phase"], &saved[1]["task"], &saved[1]["context"]),
        (&json!("following"), &json!("t-1"), &json!("c-1"))
    );
}

#[tokio::test]
async fn a_message_that_was_never_sent_is_sent() {
    let world =
        World::new([card(true), stream(&[task("WORKING"), piece("done"), status("COMPLETED", None)])]);
    let start = CallStart { restarted: true, ..world.start() };
    assert_eq!(finished(world.run("Work!", start).await.unwrap()), said("done"));
}

#[tokio::test]
async fn a_task_is_followed_again_and_its_output_is_whole_once() {
    let again = [task("WORKING"), piece("one "), piece("two"), status("COMPLETED", None)];
    let world = World::new([replaying_card(), stream_from(1, &again, ResponseEnd::Whole)]);
    let start = saved(&world, "following", json!({"task": "t-1", "context": "c-1", "cursor": "2"}));
    let start = CallStart { shown: "one ".to_owned(), ..start };
    assert_eq!(finished(world.run("Count!", start).await.unwrap()), said("one two"));
    assert_eq!(world.shown(), "two", "what was shown before is not shown again");
    assert_eq!(world.methods(), ["SubscribeToTask"]);
    assert_eq!(world.requests()[0].header("last-event-id"), Some("0"));
}

#[tokio::test]
async fn an_agent_without_cursors_tells_the_rest_when_it_is_done() {
    let later = [task("WORKING"), piece("two"), status("COMPLETED", None)];
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "one two"}]}]);
    let world = World::new([card(true), stream(&later), result(&done)]);
    let start = saved(&world, "following", json!({"task": "t-1", "context": "c-1"}));
    assert_eq!(finished(world.run("Count!", start).await.unwrap()), said("one two"));
    assert_eq!(world.methods(), ["SubscribeToTask", "GetTask"]);
}

/// The log has what people were shown, and the agent does not say it again. However short the pieces are, each is in the
/// result once.
#[tokio::test]
async fn what_statuses_said_before_the_restart_is_part_of_the_result() {
    let first = [
        task("WORKING"),
        status("WORKING", Some("OK. ")),
        piece("O"),
        status("WORKING", Some("K. ")),
        piece("K"),
    ];
    let later = [task("WORKING"), status("WORKING", Some("Reading. ")), status("COMPLETED", None)];
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "OK. Oh!"}]}]);
    for (events, words) in [(2, "OK. "), (3, "OK. "), (4, "OK. K. "), (5, "OK. K. ")] {
        let world = World::new([card(true), stream(&first[..events]).hold(), stream(&later), result(&done)]);
        until_shown(&world, events - 1).await;
        let shown = world.shown();
        let start =
            CallStart { saved: world.saved(), restarted: true, shown: shown.clone(), ..world.start() };
        let text = finished(world.run("Count!", start).await.unwrap());
        assert_eq!(text, said(&format!("{words}Reading. \n\nArtifact (a):\nOK. Oh!")));
        assert_eq!(world.shown(), format!("{shown}Reading. "), "what was shown before is not shown again");
    }
}

/// As servers of a2a-sdk do.
#[tokio::test]
async fn what_statuses_said_while_the_server_was_stopped_is_taken_from_the_history_of_the_task() {
    let message =
        |id: &str, role: &str, text: &str| json!({"messageId": id, "role": role, "parts": [{"text": text}]});
    let later = [task("WORKING"), status("WORKING", Some("four ")), status("COMPLETED", Some("five"))];
    for (last_known, expected) in [("two ", "one two three four five"), ("other ", "one other four five")] {
        let mut done = bare_task("COMPLETED");
        done["history"] = json!([
            message("m-0", "ROLE_USER", "Before"),
            message("a-0", "ROLE_AGENT", "zero "),
            message("m-1", "ROLE_USER", "Count!"),
            message("a-1", "ROLE_AGENT", "one "),
            message("a-2", "ROLE_AGENT", "two "),
            message("a-2", "ROLE_AGENT", "two "),
            message("a-3", "ROLE_AGENT", "three "),
            message("a-4", "ROLE_AGENT", "four "),
        ]);
        done["status"]["message"] = message("a-5", "ROLE_AGENT", "five");
        let world = World::new([card(true), stream(&later), result(&done)]);
        let shown = format!("one {last_known}");
        let start = saved(&world, "following", json!({"task": "t-1", "context": "c-1", "shown": [0]}));
        let text = finished(world.run("Count!", CallStart { shown, ..start }).await.unwrap());
        assert_eq!(text, said(expected));
    }
}

/// Runs the call until so many pieces were shown, and then kills it.
async fn until_shown(world: &World, pieces: usize) {
    let shown = async {
        while world.shown.1.load(Ordering::Relaxed) < pieces {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = world.run("Count!", world.start()) => panic!("{ended:?}"),
        () = shown => {}
    }
}

/// The log has only the end of it, so what is a word and what is an artifact cannot be told.
#[tokio::test]
async fn a_long_output_before_the_restart_is_not_repeated() {
    let later = [task("WORKING"), status("COMPLETED", None)];
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "x".repeat(30_000)}]}]);
    let world = World::new([card(true), stream(&later), result(&done)]);
    let start = saved(&world, "following", json!({"task": "t-1", "context": "c-1"}));
    let start = CallStart { shown: "x".repeat(16 << 10), ..start };
    assert_eq!(finished(world.run("Count!", start).await.unwrap()), said(&"x".repeat(30_000)));
}

/// The place in the stream is saved from time to time only.
#[tokio::test]
async fn an_agent_with_cursors_shows_nothing_twice_and_leaves_nothing_out() {
    let again = [task("WORKING"), piece("one "), piece("two "), piece("three"), status("COMPLETED", None)];
    for shown in ["", "one ", "one tw", "one (cannot reach the agent, trying again)\ntwo th", "one two three"]
    {
        let world = World::new([replaying_card(), stream_from(1, &again, ResponseEnd::Whole)]);
        let start = saved(&world, "following", json!({"task": "t-1", "context": "c-1", "cursor": "2"}));
        let start = CallStart { shown: shown.to_owned(), ..start };
        assert_eq!(finished(world.run("Count!", start).await.unwrap()), said("one two three"));
        let before = shown.replace("(cannot reach the agent, trying again)\n", "");
        assert_eq!(format!("{before}{}", world.shown()), "one two three", "{shown:?}");
    }
    // What the agent said before its question is not part of this run.
    let world = World::new([replaying_card(), stream_from(1, &again, ResponseEnd::Whole)]);
    let more = json!({"task": "t-1", "context": "c-1", "cursor": "3", "began_after": "2"});
    let start = CallStart { shown: "tw".to_owned(), ..saved(&world, "following", more) };
    finished(world.run("Count!", start).await.unwrap());
    assert_eq!(world.shown(), "o three");
}

/// The events come again from the beginning, and the question is among them.
#[tokio::test]
async fn a_question_before_the_restart_is_in_the_result_once() {
    let asks = [task("WORKING"), piece("half "), status("INPUT_REQUIRED", Some("Which one?"))];
    let again =
        [asks.as_slice(), &[status("WORKING", None), piece("done"), status("COMPLETED", None)]].concat();
    let world = World::new([
        replaying_card(),
        stream_from(1, &asks, ResponseEnd::Whole),
        stream_from(4, &[status("WORKING", None)], ResponseEnd::Whole).hold(),
        stream_from(1, &again, ResponseEnd::Whole),
    ]);
    world.run("Work!", world.start()).await.unwrap();
    tokio::select! {
        ended = world.run("Work!", world.answered("red")) => panic!("{ended:?}"),
        () = async { while world.saved().unwrap()["phase"] != "following" { tokio::task::yield_now().await } } => {}
    }
    let start = CallStart { saved: world.saved(), restarted: true, ..world.answered("red") };
    let text = finished(world.run("Work!", start).await.unwrap());
    let dialog = format!("The agent asked:\n{}\nThe person answered: red\n\n", said("Which one?"));
    assert_eq!(text, format!("{dialog}{}", said("half done")));
    assert_eq!(world.shown(), "half done");
}

#[tokio::test]
async fn a_task_that_ended_meanwhile_is_fetched() {
    let over = answer(&json!({"error": {"code": -32004, "message": "it is over"}}));
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "done"}]}]);
    let world = World::new([card(true), over, result(&done), result(&done)]);
    let start = saved(&world, "following", json!({"task": "t-1", "context": "c-1"}));
    assert_eq!(finished(world.run("Work!", start).await.unwrap()), said("done"));
}

#[tokio::test]
async fn an_agent_that_recognises_it_gets_the_same_message_again() {
    let events = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let world = World::new([replaying_card(), stream(&events)]);
    let start = saved(&world, "sending", json!({}));
    assert_eq!(finished(world.run("Work!", start).await.unwrap()), said("done"));
    assert_eq!(world.methods(), ["SendStreamingMessage"]);
    let sent = &world.requests()[0];
    assert_eq!(sent.json()["params"]["message"]["messageId"], "m-1");
    assert_eq!(sent.header("last-event-id"), Some("0"), "it says that it resumes");
}

#[tokio::test]
async fn an_agent_with_idempotent_sends_gets_the_same_message_again() {
    const URI: &str = "urn:attache:extension:idempotent-send:v1";
    let events = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    for restarted in [true, false] {
        let world = World::new([extended_card(URI), stream(&events)]);
        let start = CallStart { restarted, ..saved(&world, "sending", json!({})) };
        assert_eq!(finished(world.run("Work!", start).await.unwrap()), said("done"));
        let sent = &world.requests()[0];
        assert_eq!(sent.json()["params"]["message"]["messageId"], "m-1", "also if a person runs it again");
        assert_eq!((sent.header("a2a-extensions"), sent.header("last-event-id")), (Some(URI), None));
    }
}

#[tokio::test]
async fn the_task_of_a_message_is_looked_for_where_it_cannot_be_sent_again() {
    let with_history = |id: &str, message: &str| {
        json!({"id": id, "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}, "history": [
            {"messageId": message, "role": "ROLE_USER", "parts": [{"text": "Work!"}]},
        ]})
    };
    let page =
        json!({"tasks": [with_history("t-0", "m-0"), with_history("t-1", "m-1")], "nextPageToken": ""});
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "done"}]}]);
    let events = [task("WORKING"), status("COMPLETED", None)];
    let world = World::new([card(true), result(&page), stream(&events), result(&done)]);
    let start = saved(&world, "sending", json!({}));
    assert_eq!(finished(world.run("Work!", start).await.unwrap()), said("done"));
    assert_eq!(world.methods(), ["ListTasks", "SubscribeToTask", "GetTask"]);
}

#[tokio::test]
async fn where_nothing_tells_whether_it_arrived_the_outcome_is_unknown() {
    let empty = result(&json!({"tasks": [], "nextPageToken": ""}));
    let world = World::new([card(true), empty]);
    let start = saved(&world, "sending", json!({}));
    assert_eq!(world.run("Work!", start).await.unwrap(), CallEnd::Unknown);
    assert_eq!(world.methods(), ["ListTasks"], "nothing is sent");
    // A person may decide that it runs again.
    let again =
        World::new([card(true), stream(&[task("WORKING"), piece("done"), status("COMPLETED", None)])]);
    let start = CallStart { restarted: false, ..saved(&again, "sending", json!({})) };
    assert_eq!(finished(again.run("Work!", start).await.unwrap()), said("done"));
}

/// A call whose answer was being sent when the server was killed.
fn saved_answer(world: &World) -> CallStart {
    let more = json!({
        "task": "t-1", "context": "c-1", "sent": 1, "question": "Which one?", "answer": "red",
        "asked_in": "another",
    });
    saved(world, "sending", more)
}

fn task_in(state: &str, question: &str) -> Value {
    let message = json!({"messageId": question, "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}]});
    json!({"id": "t-1", "contextId": "c-1", "status": {"state": format!("TASK_STATE_{state}"), "message": message}})
}

#[tokio::test]
async fn a_task_that_went_on_has_got_the_answer_that_was_being_sent() {
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "done"}]}]);
    for runs_again in [false, true] {
        let events = stream(&[task("WORKING"), status("COMPLETED", None)]);
        let world = World::new([card(true), result(&bare_task("WORKING")), events, result(&done)]);
        let start = CallStart { restarted: !runs_again, ..saved_answer(&world) };
        let text = finished(world.run("Work!", start).await.unwrap());
        assert!(text.ends_with(&said("done")) && text.contains("answered: red"), "{text}");
        assert_eq!(world.methods(), ["GetTask", "SubscribeToTask", "GetTask"], "nothing is sent");
    }
}

#[tokio::test]
async fn another_question_is_asked_after_an_answer_that_was_being_sent() {
    let asks = task_in("INPUT_REQUIRED", "q-2");
    let world = World::new([card(true), result(&asks), stream(&[json!({"task": asks})])]);
    let end = world.run("Work!", saved_answer(&world)).await.unwrap();
    assert!(matches!(&end, CallEnd::Asks(question) if question.text == "Which one?"), "{end:?}");
}

/// a2a-sdk 1.3 writes neither the message nor another status before the agent says something.
#[tokio::test]
async fn a_person_decides_about_an_answer_that_may_not_have_arrived() {
    let asks = task_in("INPUT_REQUIRED", "q-1");
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let world = World::new([
        card(true),
        stream(&[json!({"task": asks})]),
        result(&asks),
        // The person answers once more, and it is as before.
        result(&asks),
        stream(&done),
    ]);
    world.run("Work!", world.start()).await.unwrap();
    let mut saved = world.saved().unwrap();
    let more = json!({"phase": "sending", "message": "m-1", "sent": 1, "answer": "red"});
    saved.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let start = CallStart { saved: Some(saved), restarted: true, ..world.start() };
    let CallEnd::Asks(question) = world.run("Work!", start).await.unwrap() else { panic!() };
    assert!(question.text.starts_with("Which one?\n\n(The server stopped while the answer \"red\""));
    let text = finished(world.run("Work!", world.answered("blue")).await.unwrap());
    assert!(text.contains("The person answered: blue\n") && text.ends_with(&said("done")), "{text}");
    assert_eq!(world.methods()[1..], ["GetTask", "GetTask", "SendStreamingMessage"]);
    let message = world.requests()[3].json()["params"]["message"].clone();
    assert_eq!((&message["taskId"], &message["parts"]), (&json!("t-1"), &json!([{"text": "blue"}])));
}

/// The agent had the first answer, and went on while the person read the question again.
#[tokio::test]
async fn an_answer_that_had_arrived_after_all_is_not_sent_again() {
    let asks = task_in("INPUT_REQUIRED", "q-1");
    let mut done = bare_task("COMPLETED");
    done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "done"}]}]);
    let over = answer(&json!({"error": {"code": -32004, "message": "it is over"}}));
    let world = World::new([card(true), result(&asks), result(&done), over, result(&done), result(&done)]);
    let start = CallStart { saved: saved_answer(&world).saved, restarted: true, ..world.start() };
    let mut saved = start.saved.clone().unwrap();
    saved["asked_in"].take();
    let CallEnd::Asks(_) = world.run("Work!", CallStart { saved: Some(saved), ..start }).await.unwrap()
    else {
        panic!()
    };
    let text = finished(world.run("Work!", world.answered("blue")).await.unwrap());
    assert!(text.ends_with(&said("done")), "{text}");
    assert!(!world.methods().contains(&"SendStreamingMessage".to_owned()), "{:?}", world.methods());
}

/// Nothing could be known while the agent was away, and the person decided that the call goes on.
#[tokio::test]
async fn a_call_that_runs_again_sends_its_answer_and_not_its_prompt() {
    let asks = task_in("INPUT_REQUIRED", "q-1");
    let done = [task("WORKING"), piece("done"), status("COMPLETED", None)];
    let world = World::new([card(true), result(&asks), stream(&done)]);
    let mut start = CallStart { restarted: false, ..saved_answer(&world) };
    start.saved.as_mut().unwrap()["asked_in"].take();
    finished(world.run("Work!", start).await.unwrap());
    let message = world.requests()[1].json()["params"]["message"].clone();
    assert_eq!((&message["taskId"], &message["parts"]), (&json!("t-1"), &json!([{"text": "red"}])));
}

#[tokio::test]
async fn an_agent_that_has_moved_meanwhile_gets_nothing() {
    let world = World::new([card(true)]);
    let start = saved(&world, "following", json!({"task": "t-1", "origin": "https://elsewhere.example"}));
    assert_eq!(world.run("Work!", start).await.unwrap(), CallEnd::Unknown);
    assert!(world.requests().is_empty());
}

/// Its file was removed while the server was stopped.
#[tokio::test]
async fn a_call_to_an_agent_that_is_gone_is_unknown_and_says_why_when_it_runs_again() {
    let world = World::new([card(true)]);
    let proposal = world.tool.propose(&input("helper", "Work!"), &world.context).await.unwrap();
    let others = tool(&world.agent.url(), &["other"], true, None);
    let run =
        |start: CallStart| others.resumable().unwrap().run_from(proposal.clone(), start, &world.context);
    let start = saved(&world, "following", json!({"task": "t-1"}));
    assert_eq!(run(start.clone()).await, Ok(CallEnd::Unknown));
    let error = run(CallStart { restarted: false, ..start }).await.unwrap_err();
    assert!(error.message.contains("there is no agent \"helper\""), "{error}");
    assert!(world.requests().is_empty());
}

#[tokio::test]
async fn an_agent_that_cannot_be_told_of_a_cancel_is_named_with_its_task() {
    let world = World::new([
        card(true),
        refusal(-32001, "it is over"),
        card(true),
        PlannedResponse::text(401, "text/plain", "no"),
    ]);
    let proposal = world.tool.propose(&input("helper", "Work!"), &world.context).await.unwrap();
    let others = tool(&world.agent.url(), &["other"], true, None);
    let cancel = async |tool: &Arc<dyn Tool>, more: Value, phase: &str| {
        let saved = saved(&world, phase, more).saved;
        tool.resumable().unwrap().cancel(&proposal, saved, &world.context).await
    };
    let never = |notice: PeerNotice, why: &str| {
        let PeerNotice::Never(told) = notice else { panic!("{notice:?}") };
        let expected = "was not told that its call is over, and may still work on its task t-1: ";
        assert!(
            told.starts_with("The agent helper at http") && told.contains(&format!("{expected}{why}")),
            "{told}"
        );
    };
    never(cancel(&others, json!({"task": "t-1"}), "following").await, "there is no agent \"helper\"");
    assert_eq!(cancel(&others, json!({}), "unsent").await, PeerNotice::Told, "nothing was sent");
    let moved = json!({"task": "t-1", "origin": "http://elsewhere.example"});
    never(cancel(&world.tool, moved, "following").await, "its file says ");
    assert_eq!(cancel(&world.tool, json!({"task": "t-1"}), "following").await, PeerNotice::Told);
    let again = tool(&world.agent.url(), &["helper"], true, None);
    never(cancel(&again, json!({"task": "t-1"}), "following").await, "it refuses the credential");
}
