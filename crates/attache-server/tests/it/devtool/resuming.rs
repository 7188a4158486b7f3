//! A stream that was cut off goes on exactly where it was, and the log tells the same as was seen.

use attache_testkit::SseFrame;
use attache_testkit::editor::{Editor, Event, URI, chosen, header};
use attache_testkit::model_server::gemini::says;
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest, gemini};
use attache_tool::policy::PolicyMode;
use serde_json::json;

use super::world::World;
use crate::agent_world::{AgentLaunch, launch_with};
use attache_testkit::pairs::{Ask, Pair};

/// A bit of everything, told by what the model has seen already: thoughts, text, a call that is not asked about, one that
/// is, output while it runs, an edit.
fn next_answer(received: &ReceivedRequest) -> PlannedResponse {
    let contents = received.json()["contents"].clone();
    let parts = contents.as_array().unwrap().iter().flat_map(|content| content["parts"].as_array().unwrap());
    let results = parts.filter(|part| part.get("functionResponse").is_some()).count();
    let chunk = gemini::chunk;
    let calls = match results {
        0 => chunk().text(" first.").call("read_file", json!({"file_path": "hello.txt"})),
        1 => chunk().call("run_shell_command", json!({"command": "touch made; echo one; echo two"})),
        2 => chunk().call("write_file", json!({"file_path": "new.txt", "content": "new\n"})),
        _ => return says("All done."),
    };
    gemini::answer([
        chunk().thought("**Think** a bit"),
        chunk().text("I look"),
        calls.finish("STOP").usage(5, 1),
    ])
}

async fn world(more: impl FnOnce(AgentLaunch) -> AgentLaunch) -> World {
    let model = ModelServer::with_handler(next_answer);
    let launch = more(launch_with(&model));
    let server = launch.start().await;
    World { model, launch, server }
}

/// The whole task as it was seen live: every stream up to its end, approvals in between.
async fn lived(editor: &Editor, id: &str) -> Vec<Event> {
    let mut exchange = editor.ask(id, "Go!").await;
    let mut seen = exchange.events.clone();
    let task = exchange.task().to_owned();
    for round in 0.. {
        let Some(call) = exchange.asked().pop() else { break };
        let answer = format!("{id}-{round}");
        let before = exchange.events.last().unwrap().id;
        exchange = editor.answer(&task, &answer, &[chosen(&call, "proceed_once")]).await;
        // The answer's own stream begins after the answer.
        let mut others = editor.resubscribe(&task, Some(before)).await;
        let announced = others.until(|frame| frame.raw.contains("confirmation_answer")).await;
        seen.extend(announced[1..].iter().map(|frame| Event::read(editor.pair, frame.clone())));
        seen.extend(exchange.events.clone());
    }
    assert_eq!(seen.last().unwrap().state(), "completed");
    seen
}

/// A stream ends here.
fn closes(event: &Event) -> bool {
    matches!(event.state(), "input-required" | "completed")
}

/// To the byte.
fn as_sent(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.raw.as_str()).collect()
}

/// The rest of the log up to where a stream ends, by number and to the byte.
async fn bytes(editor: &Editor, task: &str, after: u64) -> Vec<(u64, String)> {
    let mut stream = editor.resubscribe(task, Some(after)).await;
    let frames = stream.rest().await;
    frames[1..].iter().map(|frame| (frame.id.unwrap(), frame.raw.clone())).collect()
}

#[tokio::test]
async fn after_every_event_the_rest_is_exactly_what_was_seen() {
    for pair in Pair::ALL {
        let world = world(|launch| launch).await;
        let editor = world.editor_on(pair);
        let seen = lived(&editor, "m1").await;
        let task = seen[0].payload.get("task").unwrap_or(&seen[0].payload)["id"].as_str().unwrap().to_owned();
        // Streams of 1.0 begin with the task each, which is no event of its own.
        let is_event = |event: &&Event| !event.kind().is_empty();
        let events: Vec<_> = seen.iter().filter(is_event).cloned().collect();
        assert!(events.len() > 15, "{pair:?}: {}", events.len());
        let cursors = [seen[0].id].into_iter().chain(events.iter().map(|event| event.id));
        for (place, cursor) in cursors.enumerate() {
            let rest = &events[place..];
            if rest.is_empty() {
                break;
            }
            let end = rest.iter().position(closes).map_or(rest.len(), |place| place + 1);
            let mut stream = editor.resubscribe(&task, Some(cursor)).await;
            let replayed = editor.rest(&mut stream).await.events;
            assert_eq!(replayed[0].id, cursor, "{pair:?}: the task as of the cursor comes first");
            assert_eq!(as_sent(&replayed[1..]), as_sent(&rest[..end]), "{pair:?}: after {cursor}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_after_any_event_goes_on_while_the_task_is_at_work() {
    let world = world(|launch| launch.mode(PolicyMode::Yolo)).await;
    let editor = world.editor();
    let whole = lived(&editor, "whole").await;
    for cut in 1..whole.len() {
        let mut stream = editor.stream(editor.text(&format!("cut-{cut}"), "Go!")).await;
        let mut seen = Vec::new();
        while seen.len() < cut {
            seen.push(Event::read(editor.pair, stream.next().await.unwrap()));
        }
        drop(stream);
        let task = seen[0].payload["id"].as_str().unwrap().to_owned();
        let mut stream = editor.resubscribe(&task, Some(seen[cut - 1].id)).await;
        let rest = editor.rest(&mut stream).await;
        seen.extend_from_slice(&rest.events[1..]);
        assert_eq!(seen.last().unwrap().state(), "completed", "cut after {cut}");
        let mut again = editor.resubscribe(&task, Some(seen[0].id)).await;
        let again = editor.rest(&mut again).await.events;
        assert_eq!(as_sent(&seen[1..]), as_sent(&again[1..]), "cut after {cut}");
    }
}

#[tokio::test]
async fn the_log_tells_the_same_to_the_byte_also_after_kill_9() {
    let world = world(|launch| launch).await;
    let editor = world.editor();
    let seen = lived(&editor, "m1").await;
    let task = seen[0].payload["id"].as_str().unwrap().to_owned();
    let mut before = Vec::new();
    let mut cursor = 1;
    while cursor < seen.last().unwrap().id {
        before.extend(bytes(&editor, &task, cursor).await);
        cursor = before.last().unwrap().0;
    }
    let told: Vec<_> = seen[1..].iter().map(|event| event.id).collect();
    assert_eq!(before.iter().map(|(id, _)| *id).collect::<Vec<_>>(), told);
    let world = world.crash().await;
    let editor = world.editor();
    let mut after = Vec::new();
    let mut cursor = 1;
    while cursor < before.last().unwrap().0 {
        after.extend(bytes(&editor, &task, cursor).await);
        cursor = after.last().unwrap().0;
    }
    assert_eq!(after, before);
}

#[tokio::test]
async fn side_by_side_everybody_is_told_in_the_own_words_live_and_later_alike() {
    let begins =
        gemini::answer([gemini::chunk().thought("**Think** a bit"), gemini::chunk().text("I look.")]);
    let reads = gemini::chunk().text(" Now.").call("read_file", json!({"file_path": "hello.txt"}));
    let reads = gemini::answer([reads.finish("STOP").usage(5, 1)]);
    let world = World::playing([begins.hold().then(reads), says("All done.")]).await;
    let editor = world.editor();
    let mut opened = editor.stream(editor.text("m1", "Go!")).await;
    let begun = editor.until(&mut opened, |event| event.kind() == "TEXT_CONTENT").await;
    let ask = Ask::Subscribe(begun.task().to_owned());
    let mut watching = Vec::new();
    for (pair, extension) in
        Pair::ALL.into_iter().flat_map(|pair| [(pair, URI), (pair, "https://example.com/x")])
    {
        let client = world.server.client().with(header(pair), extension);
        let mut stream = pair.stream(&client, &ask).await;
        let first = stream.next().await.unwrap().id.unwrap();
        watching.push((pair, extension, client, first, stream));
    }
    world.model.release();
    for (pair, extension, client, first, mut stream) in watching {
        let live = raw(&stream.rest().await);
        let replaying = client.with("last-event-id", &first.to_string());
        let later = raw(&pair.stream(&replaying, &ask).await.rest().await[1..]);
        assert_eq!(live, later, "{pair:?} {extension}");
        let speaks = live.iter().filter(|frame| frame.contains(URI)).count();
        assert_eq!(speaks, if extension == URI { live.len() } else { 0 }, "{pair:?}: {live:#?}");
        assert!(live.len() > 2, "{pair:?}: {live:#?}");
    }
}

fn raw(frames: &[SseFrame]) -> Vec<String> {
    frames.iter().map(|frame| frame.raw.clone()).collect()
}
