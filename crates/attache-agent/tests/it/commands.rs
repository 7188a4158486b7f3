//! Commands in a conversation: what is recorded of them, when they run, and that no prompt has them.

use std::sync::Arc;

use attache_domain::{
    CancelTask, CommandCall, ListTasks, Message, ModelPart, ModelPartContent, Part, PartContent,
    SendConfiguration, TaskId, TaskState, TaskView,
};
use attache_model::{LanguageError, StopReason};
use serde_json::Value;

use crate::world::{World, calls, end, says, scope};

const NO_FILES: &str = "There are no context files.";

fn command(path: &[&str], arguments: &str) -> Message {
    let path = path.iter().map(|word| (*word).to_owned()).collect();
    let call = CommandCall { path, arguments: arguments.to_owned() };
    let parts = vec![Part::text(call.line())];
    Message { parts, command: Some(Box::new(call)), ..Message::from_agent("".into(), "c".into(), None, "") }
}

fn in_task(task: &TaskId, path: &[&str]) -> Message {
    Message { task: Some(task.clone()), ..command(path, "") }
}

fn at_once() -> SendConfiguration {
    SendConfiguration { return_immediately: true, ..SendConfiguration::default() }
}

impl World {
    async fn run(&self, message: Message) -> Arc<TaskView> {
        self.send_message(message, SendConfiguration::default()).await.unwrap()
    }

    /// The task once it is at rest.
    async fn settled(&self, task: &TaskId) -> Arc<TaskView> {
        loop {
            let list = ListTasks { page_size: 10, ..ListTasks::default() };
            let tasks = self.session.list(&scope(), &list).await.unwrap().tasks;
            let found = tasks.into_iter().find(|view| view.task == *task && view.progress.is_settled());
            if let Some(view) = found {
                return view;
            }
            tokio::task::yield_now().await;
        }
    }
}

fn last(view: &TaskView) -> String {
    view.history.last().unwrap().text()
}

fn texts(view: &TaskView) -> Vec<String> {
    view.history.iter().map(|message| message.text()).collect()
}

/// What a command gives to programs.
#[track_caller]
fn result(view: &TaskView) -> &Value {
    let found = view.artifacts.iter().find(|artifact| artifact.name.as_deref() == Some("Result")).unwrap();
    match &found.parts[0].content {
        PartContent::Data(data) => data,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn figures_are_those_of_the_conversation() {
    let world = World::new([calls("", &["a look"]), says("Two lines.")]).await;
    world.send("What is in it?").await;
    let view = world.run(command(&["stats"], "")).await;
    let figures = result(&view);
    assert_eq!(
        (&figures["tasks"], &figures["answers"], &figures["calls"]),
        (&2.into(), &2.into(), &1.into())
    );
    assert_eq!(figures["usage"]["totalTokens"], 22);
    let another = Message { context: Some("another".into()), ..command(&["stats"], "") };
    let elsewhere = world.run(another).await;
    assert_eq!(result(&elsewhere)["answers"], 0);
}

#[tokio::test]
async fn the_model_never_hears_of_commands() {
    let world = World::new([says("One."), says("Two.")]).await;
    world.run(command(&["tools", "desc"], "")).await;
    world.send("Hello").await;
    world.run(command(&["stats"], "")).await;
    let asked = world.run(command(&["memory", "add"], "secret-fact-7")).await;
    assert_eq!(asked.status.state, TaskState::InputRequired);
    world.reply(&asked.task, "no").await.unwrap();
    world.send("Hello again").await;
    assert_eq!(world.model.heard(), ["user: Hello", "model: One.", "user: Hello again"]);
}

#[tokio::test]
async fn a_command_within_a_task_is_part_of_its_history_and_not_of_the_prompt() {
    let cut = ModelPart { what: ModelPartContent::Text("On".into()), opaque: None };
    let world = World::new([vec![Ok(end(StopReason::Length, vec![cut]))], says("e.")]).await;
    let opened = world.send("Hello").await;
    let told = world.run(in_task(&opened.task, &["memory", "list"])).await;
    assert_eq!((&told.task, last(&told).as_str()), (&opened.task, NO_FILES));
    let history = texts(&told);
    assert_eq!(
        (history[0].as_str(), history[2].as_str(), history[3].as_str()),
        ("Hello", "/memory list", NO_FILES)
    );
    world.send("Go on").await;
    assert_eq!(world.model.heard(), ["user: Hello", "model: On", "user: Go on"]);
}

#[tokio::test]
async fn a_conversation_is_summed_up_and_the_next_prompt_is_shorter() {
    let long: String = (0..400).map(|number| format!("Fox {number} has {} hairs. ", number * 71)).collect();
    let summary = "<state_snapshot>The person likes foxes.</state_snapshot>";
    let world = World::new([says(&long), says(summary), says("Yes, foxes.")]).await;
    world.send("Tell me about foxes").await;
    let told = world.run(command(&["compress"], "")).await;
    assert_eq!(told.status.state, TaskState::Completed);
    assert!(last(&told).starts_with("Our conversation took about "), "{}", last(&told));
    world.send("Which animals?").await;
    let heard = world.model.heard().join("\n");
    assert!(heard.contains("The person likes foxes."), "{heard}");
    assert!(!heard.contains("hairs") && !heard.contains("compress"), "{heard}");
}

#[tokio::test]
async fn a_summary_that_cannot_be_had_changes_nothing() {
    let refusal = vec![Err(LanguageError::Request { what: "no".into() })];
    let world = World::new([says("Foxes are fine."), refusal, says("Still here.")]).await;
    world.send("Tell me about foxes").await;
    let told = world.run(command(&["compress"], "")).await;
    assert_eq!(told.status.state, TaskState::Completed);
    assert!(last(&told).contains("stays unchanged"), "{}", last(&told));
    world.send("And?").await;
    assert!(world.model.heard().contains(&"model: Foxes are fine.".to_owned()), "{:?}", world.model.heard());
}

#[tokio::test]
async fn a_command_waits_for_the_turn_under_way() {
    let world = World::new([calls("", &["a slow"]), says("Two.")]).await;
    world.send_until("Count", "begin a").await;
    let task = world.newest().await.task.clone();
    let queued = world.send_message(in_task(&task, &["memory", "list"]), at_once()).await.unwrap();
    assert_eq!((queued.status.state, texts(&queued)), (TaskState::Working, vec!["Count".to_owned()]));
    world.tools.go.add_permits(1);
    let view = world.newest_when(|view| view.history.len() == 4).await;
    assert_eq!(texts(&view), ["Count", "Two.", "/memory list", NO_FILES]);
}

#[tokio::test]
async fn a_command_is_no_answer_to_a_question() {
    let world = World::new([calls("", &["a write"]), says("Made.")]).await;
    let asked = world.send("Make it").await;
    let queued = world.send_message(in_task(&asked.task, &["memory", "list"]), at_once()).await.unwrap();
    assert_eq!(queued.status.state, TaskState::InputRequired);
    assert!(world.tools.done().is_empty());
    world.reply(&asked.task, "yes").await.unwrap();
    assert_eq!(world.tools.done(), ["write a proposed"]);
    let view = world.newest_when(|view| texts(view).contains(&NO_FILES.to_owned())).await;
    assert!(texts(&view).contains(&"Made.".to_owned()), "{:?}", texts(&view));
}

#[tokio::test]
async fn a_command_waits_for_the_other_turns_of_its_conversation() {
    let world = World::new([calls("", &["a slow"]), says("Two.")]).await;
    world.send_until("Count", "begin a").await;
    let waiting = world.send_message(command(&["stats"], ""), at_once()).await.unwrap();
    assert_eq!(waiting.status.state, TaskState::Submitted);
    world.tools.go.add_permits(1);
    let view = world.settled(&waiting.task).await;
    assert_eq!(result(&view)["answers"], 2);
}

#[tokio::test]
async fn a_command_can_be_cancelled() {
    let world = World::new([]).await;
    let asked = world.run(command(&["memory", "add"], "tabs")).await;
    assert_eq!(asked.status.state, TaskState::InputRequired);
    let cancel = CancelTask { task: asked.task.clone(), metadata: None };
    let cancelled = world.session.cancel(&scope(), &cancel).await.unwrap();
    assert_eq!(cancelled.status.state, TaskState::Canceled);
    assert!(world.tools.done().is_empty());
}

#[tokio::test]
async fn a_refusal_after_a_restart_counts() {
    let world = World::new([]).await;
    let asked = world.run(command(&["memory", "add"], "tabs")).await;
    let world = world.restart().await;
    let told = world.reply(&asked.task, "no").await.unwrap();
    assert_eq!((told.status.state, &result(&told)["saved"]), (TaskState::Completed, &false.into()));
    assert!(last(&told).starts_with("Nothing was remembered: "), "{}", last(&told));
    assert!(world.tools.done().is_empty());
}
