//! A model that repeats itself, or never comes to an end.

use attache_agent::ConversationLimits;
use attache_domain::{Content, Exchange, TaskState};

use crate::world::{Script, Setup, World, calls, says, status_text};

fn patient() -> Setup {
    Setup {
        limits: ConversationLimits { turn_requests: 100, ..ConversationLimits::default() },
        ..Setup::default()
    }
}

fn looks(times: usize) -> impl Iterator<Item = Script> {
    (0..times).map(|_| calls("", &["same look"]))
}

#[tokio::test]
async fn a_model_in_circles_is_told_once_and_may_go_on() {
    let world = World::with(patient(), looks(5).chain([says("Right.")])).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert!(world.model.heard().last().unwrap().contains("repeating yourself"));
}

#[tokio::test]
async fn a_model_that_stays_in_circles_is_stopped() {
    let world = World::with(patient(), looks(20)).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("keep repeating myself"), "{}", status_text(&view));
    let metadata = view.status.message.as_ref().unwrap().metadata.as_ref().unwrap();
    assert_eq!(metadata["reason"], "loop");
    assert_eq!(world.model.prompts.lock().unwrap().len(), 10);
}

#[tokio::test]
async fn loops_are_let_be_where_that_is_wanted() {
    let limits =
        ConversationLimits { turn_requests: 12, detects_loops: false, ..ConversationLimits::default() };
    let world = World::with(Setup { limits, ..Setup::default() }, looks(20)).await;
    let view = world.send("Go!").await;
    assert!(status_text(&view).contains("12 times"), "{}", status_text(&view));
}

#[tokio::test]
async fn an_answer_that_says_the_same_again_and_again_is_taken_back() {
    let again = "And then I shall look at the very same thing once more. ".repeat(15);
    let world = World::with(patient(), [says(&again), says("Right.")]).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::Completed);
    assert_eq!(view.history.last().unwrap().text(), "Right.");
    let prompts = world.model.prompts.lock().unwrap();
    let Exchange::User(contents) = prompts[1].exchanges.last().unwrap().as_ref() else {
        panic!("a reminder")
    };
    assert!(matches!(&contents[0], Content::Text(text) if text.contains("repeating yourself")));
}

#[tokio::test]
async fn a_conversation_may_have_its_own_limit() {
    let limits = ConversationLimits { conversation_requests: Some(2), ..ConversationLimits::default() };
    let world = World::with(Setup { limits, ..Setup::default() }, [says("One."), says("Two.")]).await;
    world.send("a").await;
    world.send("b").await;
    let view = world.send("c").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("the 2 answers"), "{}", status_text(&view));
}

#[tokio::test]
async fn its_limit_counts_answers_that_only_ask_for_calls() {
    let limits = ConversationLimits { conversation_requests: Some(2), ..ConversationLimits::default() };
    let scripts = [calls("", &["a look"]), calls("", &["c look"]), says("Three.")];
    let world = World::with(Setup { limits, ..Setup::default() }, scripts).await;
    let view = world.send("Look!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("the 2 answers"), "{}", status_text(&view));
}
