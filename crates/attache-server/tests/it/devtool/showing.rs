//! What an editor sees while the agent works: thoughts, output as it comes, what does not count, what went wrong.

use std::time::Instant;

use attache_testkit::editor::{Event, Exchange, chosen};
use attache_testkit::model_server::gemini::{batch, calls, says};
use attache_testkit::model_server::{PlannedResponse, ResponseEnd, gemini};
use attache_tool::policy::PolicyMode;
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::AgentLaunch;

/// Without approvals.
fn careless(launch: AgentLaunch) -> AgentLaunch {
    launch.mode(PolicyMode::Yolo)
}

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}

/// The live output of a call in each of its events.
fn live(exchange: &Exchange) -> Vec<String> {
    let calls = exchange.events.iter().filter(|event| event.has_call("EXECUTING")).filter_map(Event::call);
    calls.filter_map(|call| call["live_content"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn output_is_told_a_few_times_a_second_each_time_as_it_is_so_far() {
    let command = "for i in $(seq 40); do echo line $i; sleep 0.05; done";
    let world = World::with([runs(command), says("Done.")], careless).await;
    let begun = Instant::now();
    let exchange = world.editor().ask("m1", "Run!").await;
    let seconds = begun.elapsed().as_secs_f64();
    let live = live(&exchange);
    // The first comes at once, and the last when the call ends.
    let most = (seconds * 4.0) as usize + 2;
    assert!((3..=most).contains(&live.len()), "{} updates in {seconds} seconds", live.len());
    for pair in live.windows(2) {
        let grows = pair[1].starts_with(&pair[0]) && pair[1].len() > pair[0].len();
        assert!(grows, "{:?} is not the beginning of {:?}", pair[0], pair[1]);
    }
    assert!(live[0].starts_with("line 1"), "{live:#?}");
    let output = exchange.call("SUCCEEDED")["output"]["text"].as_str().unwrap();
    assert!(output.starts_with(live.last().unwrap().trim_end()) && output.contains("line 40"), "{output}");
    let ids: Vec<_> = exchange.events.iter().filter_map(Event::call).map(|it| &it["tool_call_id"]).collect();
    assert!(ids.windows(2).all(|two| two[0] == two[1]), "{ids:?}");
}

#[tokio::test]
async fn of_much_output_the_end_is_shown() {
    // Of several bytes each, so that a cut may fall into one.
    let command = "seq -f 'Zähler %g' 1 20000; sleep 0.6; echo the end; sleep 0.6";
    let world = World::with([runs(command), says("Done.")], careless).await;
    let exchange = world.editor().ask("m1", "Run!").await;
    let live = live(&exchange);
    assert!(live.iter().all(|shown| shown.len() <= 16 << 10), "at most 16 KiB");
    let last = live.last().unwrap();
    assert!(last.len() > 15 << 10, "{} bytes", last.len());
    // A slow reader has less of the middle: a note about what was left out may stand between them.
    assert!(last.contains("Zähler 20000\n") && last.trim_end().ends_with("\nthe end"), "{last}");
    let output = exchange.call("SUCCEEDED")["output"]["text"].as_str().unwrap();
    assert!(output.len() < 17 << 10 && output.contains("the end"), "{} bytes", output.len());
}

#[tokio::test]
async fn what_commands_show_side_by_side_does_not_mix() {
    let prints = |what: &str| {
        let command = format!("for i in 1 2 3 4 5 6; do echo {what} $i; sleep 0.1; done");
        ("run_shell_command", json!({"command": command}))
    };
    let world = World::with([batch([prints("left"), prints("right")]), says("Done.")], careless).await;
    let exchange = world.editor().ask("m1", "Run!").await;
    let mut shown = [0, 0];
    for call in exchange.events.iter().filter_map(Event::call) {
        let Some(live) = call["live_content"].as_str() else { continue };
        let is_left = call["input_parameters"]["command"].as_str().unwrap().contains("left");
        let (own, other) = if is_left { ("left", "right") } else { ("right", "left") };
        assert!(live.starts_with(own) && !live.contains(other), "{call:#}");
        shown[usize::from(is_left)] += 1;
    }
    assert!(shown.iter().all(|times| *times > 0), "{shown:?}");
}

#[tokio::test]
async fn thoughts_have_a_subject_and_a_description() {
    let world = World::playing([gemini::answer([
        gemini::chunk().thought("**Musing** about greetings"),
        gemini::chunk().thought("No subject at all"),
        gemini::chunk().text("Hello.").finish("STOP").usage(7, 3),
    ])])
    .await;
    world.editor().ask("m1", "Hi!").await.check(&[
        "task submitted",
        "STATE_CHANGE working",
        "THOUGHT working Musing / about greetings",
        "THOUGHT working  / No subject at all",
        "TEXT_CONTENT working Hello.",
        "STATE_CHANGE completed final",
    ]);
}

/// What was said, by the names of its messages, in order.
fn by_message(exchange: &Exchange) -> Vec<(String, String)> {
    let mut said: Vec<(String, String)> = Vec::new();
    for event in exchange.events.iter().filter(|event| event.kind() == "TEXT_CONTENT") {
        let id = event.message()["id"].as_str().unwrap();
        let text = event.text().unwrap();
        match said.iter_mut().find(|(known, _)| known == id) {
            Some((_, before)) => before.push_str(text),
            None => said.push((id.to_owned(), text.to_owned())),
        }
    }
    said
}

#[tokio::test]
async fn pieces_of_one_answer_are_one_message_and_a_cut_one_does_not_count() {
    let chunk = gemini::chunk;
    let reads = chunk().text("look.").call("read_file", json!({"file_path": "hello.txt"}));
    let first = gemini::answer([chunk().text("I "), reads.finish("STOP").usage(1, 1)]);
    let cut = gemini::answer([chunk().text("Half "), chunk().text("an ans")]).ending(ResponseEnd::Cut);
    let world = World::playing([first, cut, says("Whole.")]).await;
    let exchange = world.editor().ask("m1", "Hi!").await;
    let withdrawn: Vec<_> = exchange
        .events
        .iter()
        .filter_map(|event| event.metadata()["withdrawn_message_id"].as_str())
        .collect();
    let said = by_message(&exchange);
    let texts: Vec<_> = said.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["I look.", "Half an ans", "Whole."], "{:#?}", exchange.lines());
    assert_eq!(withdrawn, [said[1].0.as_str()], "{:#?}", exchange.lines());
    let task = world.editor().task(exchange.task()).await;
    let history = task["history"].to_string();
    assert!(history.contains("I look.Whole.") && !history.contains("Half"), "{history}");
}

#[tokio::test]
async fn a_model_that_is_waited_for_is_no_error() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "0.05s");
    let world = World::playing([busy, says("Here I am.")]).await;
    let exchange = world.editor().ask("m1", "Hi!").await;
    exchange.check(&[
        "task submitted",
        "STATE_CHANGE working",
        "STATE_CHANGE working …",
        "TEXT_CONTENT working Here I am.",
        "STATE_CHANGE completed final",
    ]);
    let notice = exchange.events[2].text().unwrap();
    assert!(notice.contains("trying again in"), "{notice}");
    assert!(exchange.events.iter().all(|event| event.metadata().get("error").is_none()));
}

#[tokio::test]
async fn an_error_of_the_model_ends_the_task_and_is_in_the_metadata() {
    let bad = gemini::error(400, "INVALID_ARGUMENT", "Please use a valid role.", json!([]));
    let world = World::playing([bad]).await;
    let exchange = world.editor().ask("m1", "Hi!").await;
    exchange.check(&["task submitted", "STATE_CHANGE working", "STATE_CHANGE failed …"]);
    let last = exchange.last();
    assert!(last.metadata()["error"].as_str().unwrap().contains("Please use a valid role."), "{last:#?}");
    assert_eq!(last.metadata()["error"].as_str(), last.text());
}

/// The error of the one call that `planned` makes, which is not carried out.
async fn failure(planned: PlannedResponse, more: impl FnOnce(AgentLaunch) -> AgentLaunch) -> Value {
    let world = World::with([planned, says("I see.")], more).await;
    let exchange = world.editor().ask("m1", "Go!").await;
    assert_eq!(exchange.last().state(), "completed", "{:#?}", exchange.lines());
    assert!(exchange.asked().is_empty());
    exchange.call("FAILED")["error"].clone()
}

#[tokio::test]
async fn a_call_that_fails_says_why_and_of_which_kind() {
    let missing = calls("read_file", json!({"file_path": "missing.txt"}));
    let error = failure(missing, |launch| launch).await;
    assert_eq!(error["type"], "file_not_found", "{error:#}");
    assert!(error["message"].as_str().unwrap().contains("missing.txt"), "{error:#}");
    let unknown = calls("no_such_tool", json!({}));
    let error = failure(unknown, |launch| launch).await;
    assert!(error["message"].as_str().unwrap().contains("no_such_tool"), "{error:#}");
    assert!(error["type"].is_string(), "{error:#}");
    let forbidden = calls("write_file", json!({"file_path": "new.txt", "content": "x"}));
    let error = failure(forbidden, |launch| launch.mode(PolicyMode::Plan)).await;
    assert_eq!(error["type"], "policy_violation", "{error:#}");
    assert!(error["message"].as_str().unwrap().to_lowercase().contains("plan"), "{error:#}");
}

#[tokio::test]
async fn a_list_of_things_to_do_is_told_as_one() {
    let todos = json!([{"description": "look", "status": "in_progress"}, {"description": "write", "status": "pending"}]);
    let world = World::playing([calls("write_todos", json!({"todos": todos})), says("So be it.")]).await;
    let exchange = world.editor().ask("m1", "Plan!").await;
    assert_eq!(exchange.call("SUCCEEDED")["output"]["structured_data"]["todos"], todos);
}

#[tokio::test]
async fn a_file_that_is_handed_over_is_an_artifact() {
    let shares = calls("share_file", json!({"file_path": "hello.txt"}));
    let world = World::playing([shares, says("Here it is.")]).await;
    world.editor().ask("m1", "Give me hello.txt").await.check(&[
        "task submitted",
        "STATE_CHANGE working",
        "TOOL_CALL_UPDATE working share_file PENDING",
        "TOOL_CALL_UPDATE working share_file EXECUTING",
        "artifact file-…",
        "TOOL_CALL_UPDATE working share_file SUCCEEDED",
        "TEXT_CONTENT working Here it is.",
        "STATE_CHANGE completed final",
    ]);
}

#[tokio::test]
async fn a_task_that_is_cancelled_in_the_middle_of_a_call_ends_its_stream_and_the_call() {
    let world = World::with([runs("echo begun; sleep 321")], careless).await;
    let editor = world.editor();
    let mut stream = editor.stream(editor.text("m1", "Run!")).await;
    let shows = |event: &Event| event.call().is_some_and(|call| call["live_content"].is_string());
    let begun = editor.until(&mut stream, shows).await;
    let canceled = editor.cancel(begun.task()).await;
    assert_eq!(canceled["status"]["state"], "canceled");
    let rest = editor.rest(&mut stream).await;
    assert_eq!(rest.lines().last().unwrap(), "STATE_CHANGE canceled final", "{:#?}", rest.lines());
    assert_eq!(world.model.received().len(), 1, "the model is not asked again");
}

#[tokio::test]
async fn a_task_that_is_cancelled_while_a_person_is_asked_asks_no_more() {
    let world = World::playing([runs("touch made")]).await;
    let editor = world.editor();
    let asked = editor.ask("m1", "Run!").await;
    let mut following = editor.resubscribe(asked.task(), None).await;
    following.next().await.unwrap();
    let canceled = editor.cancel(asked.task()).await;
    assert_eq!(canceled["status"]["state"], "canceled");
    assert!(!canceled["status"].to_string().contains("confirmation_request"), "{canceled:#}");
    let rest = editor.rest(&mut following).await;
    assert_eq!(rest.lines().last().unwrap(), "STATE_CHANGE canceled final", "{:#?}", rest.lines());
    let late = editor.answers(asked.task(), "m2", &[chosen(&asked.only_asked(), "proceed_once")]);
    let refused = editor.refused(late).await;
    assert_eq!(refused.code, Some(-32004), "{refused:#?}");
    assert_eq!(world.file("made"), None);
}
