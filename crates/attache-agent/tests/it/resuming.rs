//! Calls that continue after a restart, ask people while they run, and are cancelled one by one.

use std::sync::Arc;

use attache_domain::{
    CALL_TO_CANCEL, CallId, CallOutcome, CancelTask, Fault, Message, Metadata, Part, SendConfiguration,
    TaskState, TaskView,
};
use serde_json::json;

use crate::world::{Setup, World, calls, says, scope, status_text};

/// The result that the model gets for a call that was cancelled while it ran.
const CANCELED: &str = "![Operation Cancelled] The user cancelled this call while it ran.";

/// The id of the open question of `call`.
fn question_of(view: &TaskView, call: &str) -> String {
    let call = view.progress.work.asked().find(|asked| asked.id.0 == call).expect("it asks");
    call.question_id().0.clone()
}

fn is_asked(call: &str) -> impl Fn(&TaskView) -> bool {
    move |view| view.progress.work.asked().any(|asked| asked.id.0 == call)
}

fn is_over(view: &TaskView) -> bool {
    view.status.state == TaskState::Completed
}

async fn cancel_call(world: &World, view: &TaskView, call: &str) -> Result<Arc<TaskView>, Fault> {
    let metadata = Some(Metadata::from_iter([(CALL_TO_CANCEL.to_owned(), json!(call))]));
    world.session.cancel(&scope(), &CancelTask { task: view.task.clone(), metadata }).await
}

fn outcome(view: &TaskView, call: &str) -> Option<CallOutcome> {
    view.call_records.find(&CallId(call.into()))?.outcome.clone()
}

#[tokio::test]
async fn a_call_may_ask_and_goes_on_with_the_answer() {
    let world = World::new([calls("", &["ask remote"]), says("Done.")]).await;
    world.tools.go.add_permits(1);
    let view = world.send("Will it rain?").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    let text = status_text(&view);
    assert!(text.contains("the agent weather asks:\n> Which city?"), "{text}");
    assert!(text.contains("Answer in your own words, or with one of: answer, skip, cancel"), "{text}");
    let view = world.reply(&view.task, "Berlin, please").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(
        world.tools.done(),
        ["run ask", r#"saved {"sent":"ask"}"#, r#"run ask, saved {"sent":"ask"}, answered Berlin, please"#]
    );
    assert_eq!(world.model.heard()[2], "results: ask says Berlin, please");
    let log = world.log(&view).await;
    let asked = "call_started call_state_saved call_asked person_asked call_answered work_resumed call_started call_finished";
    assert!(log.contains(asked), "{log}");
}

#[tokio::test]
async fn a_call_that_needs_a_credential_says_so_in_the_state_of_the_task() {
    let world = World::new([calls("", &["sign-in remote"]), says("Done.")]).await;
    let view = world.send("Will it rain?").await;
    assert_eq!(view.status.state, TaskState::AuthRequired);
    assert!(
        status_text(&view).contains("> Which city?\n> https://agents.example/login"),
        "{}",
        status_text(&view)
    );
    let world = world.restart().await;
    let view = world.reply(&view.task, "done").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.model.heard()[2], "results: sign-in says done");
}

#[tokio::test]
async fn a_question_is_answered_while_other_calls_run() {
    let world = World::new([calls("", &["ask remote", "wait remote"]), says("Done.")]).await;
    world.send_until("Go!", r#"saved {"sent":"wait"}"#).await;
    let view = world.newest_when(is_asked("ask")).await;
    assert_eq!(view.status.state, TaskState::Working);
    // Other words are a prompt for later.
    let queued = world.reply_at_once(&view.task, "Berlin").await.unwrap();
    assert_eq!(queued.progress.queue.len(), 1);
    let answer = format!("{}: Paris", question_of(&view, "ask"));
    world.reply_at_once(&view.task, &answer).await.unwrap();
    world.tools.until(r#"run ask, saved {"sent":"ask"}, answered Paris"#).await;
    assert!(outcome(world.newest().await.as_ref(), "wait").is_none(), "it still runs");
    world.tools.go.add_permits(2);
    world.newest_when(|view| view.exchanges.len() >= 3).await;
    assert_eq!(world.model.heard()[2], "results: ask says Paris, wait says yes");
}

#[tokio::test]
async fn clients_of_plain_a2a_are_told_of_a_question_while_other_calls_run() {
    let world = World::new([calls("", &["ask remote", "wait remote"]), says("Done.")]).await;
    world.send_until("Go!", r#"saved {"sent":"wait"}"#).await;
    let view = world.newest_when(is_asked("ask")).await;
    let id = question_of(&view, "ask");
    let log = loop {
        let log = world.log(&view).await;
        if log.contains("noticed") {
            break log;
        }
        tokio::task::yield_now().await;
    };
    assert!(!log.contains("person_asked"), "{log}");
    // The question stays open when the other call is over.
    world.tools.go.add_permits(1);
    let view = world.newest_at_rest().await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert_eq!(question_of(&view, "ask"), id);
    world.tools.go.add_permits(1);
    let answer = json!({"call": "ask", "choice": "answer", "answers": {"0": "Rome"}});
    let view = world.reply_data(&view.task, answer).await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.model.heard()[2], "results: ask says Rome, wait says yes");
}

#[tokio::test]
async fn a_question_that_is_skipped_ends_its_call_and_the_turn_goes_on() {
    let world = World::new([calls("", &["ask remote"]), says("Then not.")]).await;
    let view = world.send("Go!").await;
    let view = world.reply(&view.task, "skip").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done().last().unwrap(), r#"peer of ask told, {"sent":"ask"}"#);
    let heard = world.model.heard()[2].clone();
    assert!(
        heard.contains("[Operation Cancelled] The user did not answer the question of this call"),
        "{heard}"
    );
}

#[tokio::test]
async fn a_question_that_is_refused_ends_the_turn_and_the_peer_is_told() {
    let world = World::new([calls("", &["ask remote"])]).await;
    let view = world.send("Go!").await;
    let view = world.reply(&view.task, "cancel").await.unwrap();
    assert!(status_text(&view).contains("What shall I do instead"), "{}", status_text(&view));
    assert_eq!(world.tools.done().last().unwrap(), r#"peer of ask told, {"sent":"ask"}"#);
}

#[tokio::test]
async fn what_is_saved_is_durable() {
    let world = World::new([calls("", &["wait remote"])]).await;
    world.send_until("Go!", r#"saved {"sent":"wait"}"#).await;
    let log = world.log(world.newest().await.as_ref()).await;
    assert!(log.ends_with("call_started call_state_saved"), "{log}");
}

#[tokio::test]
async fn a_state_that_is_too_large_is_refused() {
    let world = World::new([calls("", &["large remote"]), says("Hm.")]).await;
    world.send("Go!").await;
    assert_eq!(world.model.heard()[2], "results: !the state of a call may have 16384 bytes, not 20002");
}

#[tokio::test]
async fn a_running_call_continues_after_a_restart() {
    let world = World::new([calls("", &["wait remote"]), says("Done.")]).await;
    world.send_until("Go!", r#"saved {"sent":"wait"}"#).await;
    let world = world.restart().await;
    world.tools.go.add_permits(1);
    let view = world.newest_when(is_over).await;
    let again = r#"run wait, saved {"sent":"wait"}, restarted"#;
    assert_eq!(world.tools.done()[2], again);
    assert_eq!(world.model.heard()[2], "results: wait says yes");
    let log = world.log(&view).await;
    assert!(!log.contains("call_lost") && !log.contains("cancel"), "{log}");
}

#[tokio::test]
async fn an_open_question_survives_a_restart_beside_a_running_call() {
    let world = World::new([calls("", &["ask remote", "wait remote"]), says("Done.")]).await;
    world.send_until("Go!", r#"saved {"sent":"wait"}"#).await;
    let view = world.newest_when(is_asked("ask")).await;
    let world = world.restart().await;
    world.tools.until(r#"run wait, saved {"sent":"wait"}, restarted"#).await;
    world.reply_at_once(&view.task, "ask: Oslo").await.unwrap();
    world.tools.go.add_permits(2);
    world.newest_when(is_over).await;
    assert_eq!(world.model.heard()[2], "results: ask says Oslo, wait says yes");
}

#[tokio::test]
async fn an_answer_is_given_again_to_a_call_that_was_interrupted() {
    let world = World::new([calls("", &["ask remote"]), says("Done.")]).await;
    let view = world.send("Go!").await;
    world.reply_at_once(&view.task, "Bonn").await.unwrap();
    world.tools.until(r#"run ask, saved {"sent":"ask"}, answered Bonn"#).await;
    let world = world.restart().await;
    world.tools.go.add_permits(1);
    world.newest_when(is_over).await;
    let again = r#"run ask, saved {"sent":"ask"}, answered Bonn, restarted"#;
    assert_eq!(world.tools.done().last().unwrap(), again);
}

#[tokio::test]
async fn a_call_that_cannot_tell_whether_it_took_effect_is_asked_about() {
    let world = World::new([calls("", &["unknown remote"]), says("I see.")]).await;
    world.send_until("Go!", r#"saved {"sent":"unknown"}"#).await;
    let world = world.restart().await;
    let view = world.newest_at_rest().await;
    assert!(status_text(&view).contains("not known whether it took effect"), "{}", status_text(&view));
    let view = world.reply(&view.task, "skip").await.unwrap();
    assert_eq!(view.status.state, TaskState::Completed);
    assert!(world.model.heard()[2].contains("It is not known whether it took effect"));
}

#[tokio::test]
async fn one_call_is_cancelled_and_the_others_go_on() {
    let world = World::new([calls("", &["wait1 remote", "wait2 remote", "s slow"]), says("Done.")]).await;
    world.send_until("Go!", "begin s").await;
    world.tools.until(r#"saved {"sent":"wait1"}"#).await;
    let view = world.newest().await;
    let view = cancel_call(&world, &view, "wait1").await.unwrap();
    assert_eq!(outcome(&view, "wait1"), Some(CallOutcome::Canceled));
    assert_eq!(view.status.state, TaskState::Working);
    assert!(world.tools.done().contains(&"wait1 tells its peer".to_owned()));
    let fault = cancel_call(&world, &view, "wait1").await.unwrap_err().to_string();
    assert!(fault.contains("under way are: wait2, s"), "{fault}");
    // Any tool's call can be cancelled.
    cancel_call(&world, &view, "s").await.unwrap();
    let view = world.newest_when(|view| outcome(view, "s").is_some()).await;
    assert_eq!(outcome(&view, "wait2"), None);
    world.tools.go.add_permits(1);
    world.newest_when(is_over).await;
    assert_eq!(world.model.heard()[2], format!("results: {CANCELED}, wait2 says yes, {CANCELED}"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_stop_is_dropped_after_a_while() {
    let world = World::new([calls("", &["stubborn remote"]), says("Done.")]).await;
    world.send_until("Go!", "run stubborn").await;
    cancel_call(&world, world.newest().await.as_ref(), "stubborn").await.unwrap();
    world.newest_when(is_over).await;
    assert_eq!(world.model.heard()[2], format!("results: {CANCELED}"));
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_a_crash_does_not_run_again() {
    let world = World::new([calls("", &["stubborn remote"]), says("Done.")]).await;
    world.send_until("Go!", "run stubborn").await;
    let view = world.newest().await;
    tokio::select! {
        _ = cancel_call(&world, &view, "stubborn") => panic!("it does not stop"),
        _ = world.newest_when(|view| view.progress.work.calls[0].canceled) => {}
    }
    let world = world.restart().await;
    world.newest_when(is_over).await;
    assert_eq!(world.model.heard()[2], "results: ![Operation Cancelled] The user cancelled this call.");
    assert_eq!(world.tools.done(), ["run stubborn", "peer of stubborn told, "]);
}

#[tokio::test]
async fn a_call_that_asks_is_cancelled_like_a_skipped_question() {
    let world = World::new([calls("", &["ask remote"]), says("Then not.")]).await;
    let view = world.send("Go!").await;
    cancel_call(&world, &view, &question_of(&view, "ask")).await.unwrap();
    world.newest_when(is_over).await;
    assert_eq!(world.tools.done().last().unwrap(), r#"peer of ask told, {"sent":"ask"}"#);
}

#[tokio::test]
async fn the_peers_of_a_cancelled_task_are_told() {
    let world = World::new([calls("", &["ask remote", "wait remote"])]).await;
    world.send_until("Go!", r#"saved {"sent":"wait"}"#).await;
    world.newest_when(is_asked("ask")).await;
    let view = world.cancel_newest().await;
    assert_eq!(view.status.state, TaskState::Canceled);
    world.tools.until(r#"peer of ask told, {"sent":"ask"}"#).await;
    world.tools.until(r#"peer of wait told, {"sent":"wait"}"#).await;
}

#[tokio::test]
async fn people_read_in_a_cancelled_task_which_peer_can_never_be_told() {
    let world = World::new([calls("", &["wait8 remote"])]).await;
    world.send_until("Go!", r#"saved {"sent":"wait8"}"#).await;
    world.cancel_newest().await;
    let is_told =
        |view: &TaskView| view.status.message.as_ref().is_some_and(|it| it.text().contains("was not told"));
    let view = world.newest_when(is_told).await;
    assert_eq!(
        (view.status.state, status_text(&view).as_str()),
        (TaskState::Canceled, "The agent weather was not told.")
    );
    let log = world.log(&view).await;
    assert!(log.ends_with("task_canceled noticed_later"), "{log}");
}

#[tokio::test]
async fn a_peer_that_was_not_reached_is_told_after_a_restart() {
    let world = World::new([calls("", &["wait9 remote"])]).await;
    world.send_until("Go!", r#"saved {"sent":"wait9"}"#).await;
    world.cancel_newest().await;
    world.tools.until("peer of wait9 not reached").await;
    let world = world.restart().await;
    world.tools.until(r#"peer of wait9 told, {"sent":"wait9"}"#).await;
    let world = world.restart().await;
    let told = world.tools.done().iter().filter(|note| note.contains("wait9 told")).count();
    assert_eq!(told, 1, "and once");
}

#[tokio::test]
async fn without_a_person_a_question_fails_the_call_with_what_was_asked() {
    let setup = Setup { attended: false, ..Setup::default() };
    let world = World::with(setup, [calls("", &["ask remote"]), says("Then not.")]).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(world.tools.done().last().unwrap(), r#"peer of ask told, {"sent":"ask"}"#);
    assert_eq!(
        world.model.heard()[2],
        "results: !It needs an answer of a person, and this run has no person to ask. The question was:\n\
         <untrusted_context>\nWhich city?\n</untrusted_context>"
    );
}

#[tokio::test]
async fn calls_know_how_many_agents_delegated_before() {
    let world = World::new([calls("", &["deep remote"]), says("Done.")]).await;
    let message = |depth: u32| Message {
        metadata: Some(Metadata::from_iter([("attache/delegation".to_owned(), json!({"depth": depth}))])),
        parts: vec![Part::text("Go!")],
        ..Message::from_agent("".into(), "c".into(), None, "")
    };
    let far = world.send_message(message(4), SendConfiguration::default()).await.unwrap_err().to_string();
    assert!(far.contains("message.metadata.attache/delegation says that 4 agents delegated this"), "{far}");
    world.send_message(message(2), SendConfiguration::default()).await.unwrap();
    assert!(world.tools.done().contains(&"depth 2".to_owned()), "{:?}", world.tools.done());
}
