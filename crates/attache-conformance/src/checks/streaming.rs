//! Streams that a message opens (S1 to S7, S11), and how they are framed (section 4.1).

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::check::{Check, Need, Outcome, Strength, choice, ensure, fail, must, not_applicable, quality};
use crate::events::Waited;
use crate::fault::Fault;
use crate::pair::{Pair, first_task};
use crate::request::{Operation, Send};
use crate::steering::Word;
use crate::words::{Artifact, Binding, Item, State, Task, text_of};

/// The bindings whose streams are server-sent events.
const SSE: &[Binding] = &[Binding::JsonRpc, Binding::Rest];

pub(super) fn checks() -> Vec<Check> {
    let streaming = vec![
        must("S2-task", "a stream of a task begins with the task", task_first)
            .word(Word::Complete)
            .in_0_3(Strength::Quality),
        must("S2-continued", "so does a stream that goes on with a task", continued_task_first)
            .word(Word::Ask)
            .in_0_3(Strength::Quality),
        must("S2-message", "a stream that is answered with a message holds just that", one_message)
            .word(Word::Message)
            .in_0_3(Strength::Quality),
        must("S2-mixed", "after the task come only status and artifact events", no_mixture)
            .word(Word::Chunks),
        must("S3-order", "events come in the order in which they were made", order).word(Word::Burst),
        must("S3-ids", "every event names the stream's task and context", ids).word(Word::Chunks),
        must("S4", "the stream closes when the task is terminal", closes_at_the_end).word(Word::Complete),
        must("S4-fail", "also when it fails", closes_on_failure).word(Word::Fail),
        choice("S4-input", "the stream closes when the task wants input", closes_on_input).word(Word::Ask),
        choice("S4-auth", "the stream closes when the task wants a credential by message", closes_on_auth)
            .word(Word::Auth),
        choice(
            "2.2",
            "a task goes from state to state only as it may, and nothing comes after its end",
            transitions,
        )
        .word(Word::Burst)
        .word(Word::Ask)
        .word(Word::Fail),
        must("S5-final", "the last status of a terminal task is final, and no other", final_once)
            .word(Word::Burst)
            .only_0_3(),
        choice("S5-input", "the status that asks for input is final", final_on_input)
            .word(Word::Ask)
            .only_0_3(),
        must("S7-fold", "the stored task equals what its events add up to", fold).word(Word::Chunks),
        must("S7-append", "pieces of an artifact after the first are appended", appended).word(Word::Chunks),
        quality("S7-last", "the last piece of an artifact is marked", last_chunk).word(Word::Chunks),
        quality("S-live", "events come while the task is running, not at its end", live).word(Word::Burst),
        quality("S-again", "a stream may be opened on a task that waits for input", answered_by_stream)
            .word(Word::Ask),
        quality("S11", "an error known beforehand opens no stream", errors_open_nothing).on(SSE),
        // Over JSON-RPC the clients of 0.3 expect it so.
        quality("S11-any", "no error was told as the first event of a stream", no_late_errors)
            .on(&[Binding::Rest])
            .last(),
        quality("4.1-headers", "a stream is not cached and not buffered", headers)
            .word(Word::Complete)
            .on(SSE),
        quality("4.1-one-line", "every event is one `data` line without a name", one_line)
            .word(Word::Burst)
            .on(SSE),
        quality("4.1-accept", "a stream is opened without `Accept`, too", without_accept)
            .word(Word::Complete)
            .on(SSE),
        must("S3-drop", "a stream that is dropped leaves the task alone", dropping).word(Word::Brief),
    ];
    let mut checks: Vec<Check> = streaming.into_iter().map(|check| check.needs(Need::Streaming)).collect();
    checks.push(
        must("S1", "without the capability a stream is an unsupported operation", not_offered)
            .in_0_3(Strength::Choice),
    );
    checks
}

pub(super) async fn all(pair: &Pair, word: Word) -> Outcome<Vec<Item>> {
    pair.stream(Send::word(word)).await?.events()?.rest().await
}

async fn task_first(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Complete)).await?.events()?;
    first_task(events.next().await?)?;
    Ok(())
}

async fn continued_task_first(pair: Pair) -> Outcome {
    let asked = pair.send(Send::word(Word::Ask).waiting()).await?.task()?;
    let mut events = pair.stream(Send::text("that one").for_task(&asked.id)).await?.events()?;
    let task = first_task(events.next().await?)?;
    ensure!(task.id == asked.id, "it is another task");
    Ok(())
}

async fn one_message(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Message).await?;
    let names: Vec<_> = items.iter().map(Item::name).collect();
    ensure!(names == ["a message"], "the stream held {names:?}");
    Ok(())
}

async fn no_mixture(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Chunks).await?;
    let message = items.iter().any(|item| matches!(item, Item::Message(_)));
    ensure!(!message, "there is a message among the events");
    Ok(())
}

async fn order(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Burst).await?;
    let text = artifact_texts(&items);
    let expected: String = (1..=30).map(|number| format!("{number} ")).collect();
    ensure!(text == expected, "the pieces add up to {text:?}");
    Ok(())
}

/// What the artifact events say, one after the other; the snapshot at the beginning counts.
fn artifact_texts(items: &[Item]) -> String {
    let mut text = String::new();
    for item in items {
        match item {
            Item::Task(task) if text.is_empty() => text.extend(task.artifacts().iter().map(Artifact::text)),
            Item::Artifact { artifact, append, .. } => {
                if !append {
                    text.clear();
                }
                text.push_str(&artifact.text());
            }
            _ => {}
        }
    }
    text
}

async fn ids(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Chunks).await?;
    let mut known = None;
    for item in &items {
        let found = match item {
            Item::Task(task) => (task.id.clone(), task.context.clone()),
            Item::Status { task, context, .. } | Item::Artifact { task, context, .. } => {
                (task.clone(), context.clone())
            }
            Item::Message(_) => continue,
        };
        let expected = known.get_or_insert_with(|| found.clone());
        ensure!(*expected == found, "{} is about {found:?}, not {expected:?}", item.name());
    }
    Ok(())
}

async fn closes_at_the_end(pair: Pair) -> Outcome {
    ends(&pair, Word::Complete, State::Completed).await
}

async fn closes_on_failure(pair: Pair) -> Outcome {
    ends(&pair, Word::Fail, State::Failed).await
}

async fn ends(pair: &Pair, word: Word, state: State) -> Outcome {
    let items = all(pair, word).await?;
    let end = items.iter().rev().find_map(Item::state);
    ensure!(end == Some(state), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn closes_on_input(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Ask)).await?.events()?;
    events.until(|item| item.state() == Some(State::InputRequired)).await?;
    match events.within(Duration::from_secs(2)).await? {
        Waited::Ended => Ok(()),
        Waited::Silence => fail("the stream stays open"),
        Waited::Item(item) if matches!(*item, Item::Task(_)) => Ok(()),
        Waited::Item(item) => fail(format!("{} came after the question", item.name())),
    }
}

async fn closes_on_auth(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Auth)).await?.events()?;
    events.until(|item| item.state() == Some(State::AuthRequired)).await?;
    match events.within(Duration::from_secs(2)).await? {
        Waited::Silence => fail("the stream stays open"),
        _ => Ok(()),
    }
}

async fn transitions(pair: Pair) -> Outcome {
    for word in [Word::Burst, Word::Ask, Word::Fail] {
        let mut events = pair.stream(Send::word(word)).await?.events()?;
        let items = match word {
            Word::Ask => events.until(|item| item.state() == Some(State::InputRequired)).await?,
            _ => events.rest().await?,
        };
        let states: Vec<State> = items.iter().filter_map(Item::state).collect();
        let wrong = states.windows(2).find(|pair| !may_follow(pair[0], pair[1]));
        ensure!(wrong.is_none(), "{wrong:?} among {states:?}");
        let end = items.iter().position(|item| item.state().is_some_and(State::is_terminal));
        let after = end.and_then(|end| items[end + 1..].iter().find(|item| !matches!(item, Item::Task(_))));
        ensure!(after.is_none(), "{:?} came after the end", after.map(Item::name));
    }
    Ok(())
}

fn may_follow(before: State, after: State) -> bool {
    match before {
        _ if before.is_terminal() => before == after,
        State::Submitted => true,
        _ => after != State::Submitted,
    }
}

async fn final_once(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Burst).await?;
    let mut statuses = items.iter().filter_map(|item| match item {
        Item::Status { status, last, .. } => Some((status.state, last.unwrap_or_default())),
        _ => None,
    });
    let wrong = statuses.find(|(state, last)| state.is_terminal() != *last);
    ensure!(wrong.is_none(), "state and `final` of a status event: {wrong:?}");
    let end = items.iter().rev().find_map(Item::state);
    ensure!(end.is_some_and(State::is_terminal), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn final_on_input(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Ask)).await?.events()?;
    let items = events.until(|item| item.state() == Some(State::InputRequired)).await?;
    match items.last() {
        Some(Item::Status { last: Some(true), .. }) | Some(Item::Task(_)) => Ok(()),
        Some(Item::Status { last, .. }) => fail(format!("its `final` is {last:?}")),
        other => fail(format!("it is {:?}", other.map(Item::name))),
    }
}

/// The task that the items add up to.
pub(super) fn folded(items: &[Item]) -> Outcome<Task> {
    let mut folded = first_task(items.first().cloned())?;
    for item in &items[1..] {
        match item {
            Item::Task(task) => folded = task.clone(),
            Item::Status { status, .. } => folded.status = status.clone(),
            Item::Artifact { artifact, append, .. } => {
                let artifacts = folded.artifacts.get_or_insert_default();
                match artifacts.iter_mut().find(|known| known.id == artifact.id) {
                    Some(known) if *append => known.parts.extend(artifact.parts.iter().cloned()),
                    Some(known) => *known = artifact.clone(),
                    None => artifacts.push(artifact.clone()),
                }
            }
            Item::Message(_) => return fail("a message among the events of a task"),
        }
    }
    Ok(folded)
}

async fn fold(pair: Pair) -> Outcome {
    let folded = folded(&all(&pair, Word::Chunks).await?)?;
    let stored = pair.get(&folded.id).await?.done()?;
    ensure!(
        stored.state() == folded.state(),
        "stored as {:?}, streamed as {:?}",
        stored.state(),
        folded.state()
    );
    // Whether neighbouring texts are one part or several is a matter of storing.
    let texts = |task: &Task| {
        task.artifacts()
            .iter()
            .map(|artifact| (artifact.id.clone(), text_of(&artifact.parts)))
            .collect::<Vec<_>>()
    };
    ensure!(texts(&stored) == texts(&folded), "stored {:?}, streamed {:?}", texts(&stored), texts(&folded));
    Ok(())
}

async fn appended(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Chunks).await?;
    let pieces: Vec<(bool, String)> = items
        .iter()
        .filter_map(|item| match item {
            Item::Artifact { append, artifact, .. } => Some((*append, artifact.text())),
            _ => None,
        })
        .collect();
    if pieces.len() < 2 {
        return not_applicable("the artifact came in one piece");
    }
    ensure!(
        pieces[1..].iter().all(|(append, _)| *append),
        "the pieces and whether they are appended: {pieces:?}"
    );
    Ok(())
}

async fn last_chunk(pair: Pair) -> Outcome {
    let items = all(&pair, Word::Chunks).await?;
    let marks: Vec<bool> = items
        .iter()
        .filter_map(
            |item| if let Item::Artifact { last_chunk, .. } = item { Some(*last_chunk) } else { None },
        )
        .collect();
    ensure!(marks.last() == Some(&true), "the marks of the pieces are {marks:?}");
    Ok(())
}

async fn live(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Burst)).await?.events()?;
    let mut task = None;
    while let Some(item) = events.next().await? {
        if let Item::Task(found) = &item {
            task = Some(found.id.clone());
        }
        if let (Item::Artifact { .. }, Some(task)) = (&item, &task) {
            let read = pair.get(task).await?.done()?;
            ensure!(!read.state().is_terminal(), "the first piece came when the task was {:?}", read.state());
            return Ok(());
        }
    }
    fail("no artifact event came")
}

async fn answered_by_stream(pair: Pair) -> Outcome {
    let asked = pair.send(Send::word(Word::Ask).waiting()).await?.task()?;
    let mut events = pair.stream(Send::text("that one").for_task(&asked.id)).await?.events()?;
    let items = events.rest().await?;
    let end = items.iter().rev().find_map(Item::state);
    ensure!(end == Some(State::Completed), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn errors_open_nothing(pair: Pair) -> Outcome {
    let mut params = crate::dialect::send(pair.dialect(), &Send::word(Word::Complete));
    params["message"][pair.dialect().parts()] = serde_json::json!([]);
    pair.quietly().follow(Operation::Stream(params)).await?.expect(Fault::InvalidParams)
}

async fn no_late_errors(pair: Pair) -> Outcome {
    let noted = pair.subject.noted(pair.version(), pair.binding(), "S11-any");
    ensure!(noted.is_empty(), "{}", noted.join("; "));
    Ok(())
}

async fn headers(pair: Pair) -> Outcome {
    let events = pair.stream(Send::word(Word::Complete)).await?.events()?;
    let cache = events.head.header("cache-control").unwrap_or_default();
    ensure!(cache.contains("no-cache") || cache.contains("no-store"), "Cache-Control is {cache:?}");
    let buffering = events.head.header("x-accel-buffering");
    ensure!(buffering == Some("no"), "X-Accel-Buffering is {buffering:?}");
    ensure!(events.head.header("content-length").is_none(), "there is a Content-Length");
    Ok(())
}

async fn one_line(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Burst)).await?.events()?;
    events.rest().await?;
    for frame in &events.frames {
        ensure!(frame.lines.len() == 1, "an event of {} data lines", frame.lines.len());
        let named = frame.event.as_deref().is_some_and(|name| name != "message");
        ensure!(!named, "an event is named {:?}", frame.event);
    }
    Ok(())
}

async fn without_accept(pair: Pair) -> Outcome {
    let pair = pair.with_header("accept", "*/*");
    all(&pair, Word::Complete).await?;
    Ok(())
}

async fn dropping(pair: Pair) -> Outcome {
    let mut events = pair.stream(Send::word(Word::Brief)).await?.events()?;
    let task = match events.next().await? {
        Some(Item::Task(task)) => task.id,
        Some(Item::Status { task, .. } | Item::Artifact { task, .. }) => task,
        other => return fail(format!("the stream began with {other:?}")),
    };
    drop(events);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(5);
    loop {
        let state = pair.get(&task).await?.done()?.state();
        if state == State::Completed {
            return Ok(());
        }
        let over = tokio::time::Instant::now() > deadline || state.is_terminal();
        ensure!(!over, "the task is {state:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn not_offered(pair: Pair) -> Outcome {
    if pair.subject.capability("streaming") {
        return not_applicable("streaming is offered");
    }
    pair.stream(Send::word(Word::Complete)).await?.expect(Fault::Unsupported)
}

/// Reads several streams to their ends at the same time.
pub(super) async fn ends_of(streams: Vec<crate::events::Events>) -> Outcome<Vec<Vec<Item>>> {
    try_join_all(streams.into_iter().map(|mut events| async move { events.rest().await })).await
}
