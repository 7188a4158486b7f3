//! Conversations that outgrow the model's window.

use attache_agent::ConversationLimits;
use attache_domain::{ModelPart, ModelPartContent, TaskState};
use attache_model::{LanguageError, StopReason};

use crate::world::{Script, Setup, World, calls, end, says, status_text};

fn patient() -> Setup {
    Setup {
        limits: ConversationLimits { turn_requests: 10_000, ..ConversationLimits::default() },
        opening: "You are in a test.",
        ..Setup::default()
    }
}

/// Says something long, as the scripted model's window goes, and looks at something.
fn rambles(number: usize) -> Script {
    let text = format!("Part {number}. ");
    let mut script = calls(&text, &[&format!("c{number} look")]);
    if let Some(Ok(attache_model::AnswerEvent::End { parts, usage, .. })) = script.last_mut() {
        parts[0] = ModelPart { what: ModelPartContent::Text("x".repeat(60_000)), opaque: None };
        usage.input = 0;
        usage.output = 0;
    }
    script
}

#[tokio::test]
async fn a_long_conversation_is_summarised_and_goes_on() {
    let scripts =
        [rambles(1), rambles(2), rambles(3), rambles(4), says("<state_snapshot>All of it</state_snapshot>")];
    let world = World::with(patient(), scripts.into_iter().chain([says("Done.")])).await;
    let view = world.send("Go on for long!").await;
    assert_eq!(view.status.state, TaskState::Completed, "{}", status_text(&view));
    assert!(view.compacted.summary.as_ref().unwrap().contains("All of it"));
    let heard = world.model.heard();
    assert!(heard[0].starts_with("user: You are in a test."), "{}", heard[0]);
    assert!(heard[0].contains("All of it"), "{}", heard[0]);
    assert!(heard.len() < 6, "{} items", heard.len());
    assert!(heard[1].starts_with("model: x"), "what is kept begins with an answer");
    let log = world.log(&view).await;
    assert!(log.contains("context_reduced noticed"), "{log}");
    assert!(view.history[0].text().contains("Go on for long!"), "people still see everything");
}

#[tokio::test]
async fn the_summary_is_made_of_a_plain_transcript_without_tools() {
    let scripts = [
        rambles(1),
        rambles(2),
        rambles(3),
        rambles(4),
        says("<state_snapshot>s</state_snapshot>"),
        says("Done."),
    ];
    let world = World::with(patient(), scripts).await;
    world.send("Go!").await;
    let prompts = world.model.prompts.lock().unwrap();
    let asked = &prompts[4];
    assert!(asked.tools.is_empty());
    assert_eq!(asked.exchanges.len(), 1);
    assert!(asked.instructions.as_ref().unwrap().contains("state_snapshot"));
}

#[tokio::test]
async fn later_tasks_of_the_conversation_begin_with_the_summary() {
    let scripts = [
        rambles(1),
        rambles(2),
        rambles(3),
        rambles(4),
        says("<state_snapshot>s1</state_snapshot>"),
        says("Done."),
    ];
    let world = World::with(patient(), scripts.into_iter().chain([says("Hello.")])).await;
    world.send("Go!").await;
    let world = world.restart().await;
    world.send("And now?").await;
    let heard = world.model.heard();
    assert!(heard[0].contains("s1"), "{}", heard[0]);
    assert_eq!(heard.last().unwrap(), "user: And now?");
}

#[tokio::test]
async fn a_conversation_that_cannot_be_shortened_stops_before_the_window_is_full() {
    let empty = vec![Ok(end(StopReason::Done, Vec::new()))];
    let scripts = (1..9).map(rambles).take(4).chain([empty]).chain((5..20).map(rambles));
    let world = World::with(patient(), scripts).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("no room left"), "{}", status_text(&view));
}

#[tokio::test]
async fn what_the_person_mentions_is_told_once() {
    let world = World::new([says("Ok."), says("Ok.")]).await;
    let view = world.send("look at @this and @that").await;
    assert_eq!(world.model.heard(), ["user: look at @this and @that", "user: THIS|THAT"]);
    assert_eq!(world.log(&view).await.matches("context_given").count(), 1);
}

#[tokio::test]
async fn the_workplace_speaks_first() {
    let setup = Setup { opening: "Today is a day.", ..Setup::default() };
    let world = World::with(setup, [says("Ok."), says("Ok.")]).await;
    world.send("Hello").await;
    world.send("Again").await;
    assert_eq!(world.model.heard(), ["user: Today is a day.|Hello", "model: Ok.", "user: Again"]);
}

fn too_long() -> Script {
    vec![Err(LanguageError::TooLong { what: "9 tokens > 8".into() })]
}

#[tokio::test]
async fn a_provider_that_takes_less_than_it_should_gets_less() {
    let summary = says("<state_snapshot>In short</state_snapshot>");
    let scripts = [rambles(1), rambles(2), too_long(), summary, says("Done.")];
    let world = World::with(patient(), scripts).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::Completed, "{}", status_text(&view));
    let heard = world.model.heard();
    assert!(heard[0].contains("In short"), "{}", heard[0]);
    let sizes: Vec<usize> = {
        let prompts = world.model.prompts.lock().unwrap();
        let size = |prompt: &attache_model::Prompt| format!("{:?}", prompt.exchanges).len();
        prompts.iter().map(size).collect()
    };
    assert!(sizes[3] < sizes[2] / 2, "the summary is made of less, too: {sizes:?}");
    assert!(sizes[4] < sizes[2], "{sizes:?}");
}

#[tokio::test]
async fn what_is_too_long_twice_is_told() {
    let summary = says("<state_snapshot>In short</state_snapshot>");
    let scripts = [rambles(1), rambles(2), too_long(), summary, too_long()];
    let world = World::with(patient(), scripts).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("larger than the model takes"), "{}", status_text(&view));
}

#[tokio::test]
async fn a_first_word_that_is_too_long_cannot_be_made_shorter() {
    let world = World::with(patient(), [too_long()]).await;
    let view = world.send("Go!").await;
    assert_eq!(view.status.state, TaskState::InputRequired);
    assert!(status_text(&view).contains("larger than the model takes"), "{}", status_text(&view));
    assert_eq!(world.model.prompts.lock().unwrap().len(), 1);
}
