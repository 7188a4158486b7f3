//! Streams that a message opens (S1 to S7, S11), and how they are framed (section 4.1).

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Strength, choice, ensure, fail, must, not_applicable, quality,
};
use crate::events::NextItem;
use crate::expected_error::ExpectedError;
use crate::pair::{Pair, first_task};
use crate::protocol::{Artifact, Binding, State, StreamItem, Task, text_of};
use crate::request::{Operation, SendRequest};

/// The bindings whose streams are server-sent events.
const SSE: &[Binding] = &[Binding::JsonRpc, Binding::Rest];

pub(super) fn checks() -> Vec<Check> {
    let streaming = vec![
        must("S2-task", "a stream of a task begins with the task", task_first)
            .needs_behaviour(Behaviour::Complete)
            .in_0_3(Strength::Quality),
        must("S2-continued", "so does a stream that continues a task", continued_task_first)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Quality),
        must("S2-message", "a stream that is answered with a message holds just that", one_message)
            .needs_behaviour(Behaviour::Message)
            .in_0_3(Strength::Quality),
        must("S2-mixed", "after the task come only status and artifact events", no_mixture)
            .needs_behaviour(Behaviour::Chunks),
        must("S3-order", "events come in the order in which they were made", order)
            .needs_behaviour(Behaviour::Burst),
        must("S3-ids", "every event names the stream's task and context", ids)
            .needs_behaviour(Behaviour::Chunks),
        must("S4", "the stream closes when the task is terminal", closes_at_the_end)
            .needs_behaviour(Behaviour::Complete),
        must("S4-fail", "also when it fails", closes_on_failure).needs_behaviour(Behaviour::Fail),
        choice("S4-input", "the stream closes when the task wants input", closes_on_input)
            .needs_behaviour(Behaviour::Ask),
        choice("S4-auth", "the stream closes when the task wants a credential by message", closes_on_auth)
            .needs_behaviour(Behaviour::Auth),
        choice(
            "2.2",
            "a task goes from state to state only as it may, and nothing comes after its end",
            transitions,
        )
        .needs_behaviour(Behaviour::Burst)
        .needs_behaviour(Behaviour::Ask)
        .needs_behaviour(Behaviour::Fail),
        must("S5-final", "the last status of a terminal task is final, and no other", final_once)
            .needs_behaviour(Behaviour::Burst)
            .only_0_3(),
        choice("S5-input", "the status that asks for input is final", final_on_input)
            .needs_behaviour(Behaviour::Ask)
            .only_0_3(),
        must("S7-fold", "the stored task equals what its events add up to", fold)
            .needs_behaviour(Behaviour::Chunks),
        must("S7-append", "pieces of an artifact after the first are appended", appended)
            .needs_behaviour(Behaviour::Chunks),
        quality("S7-last", "the last piece of an artifact is marked", last_chunk)
            .needs_behaviour(Behaviour::Chunks),
        quality("S-live", "events come while the task is running, not at its end", live)
            .needs_behaviour(Behaviour::Burst),
        quality("S-again", "a stream may be opened on a task that waits for input", answered_by_stream)
            .needs_behaviour(Behaviour::Ask),
        quality("S11", "an error known beforehand opens no stream", errors_open_nothing).on(SSE),
        // Clients of 0.3 over JSON-RPC expect this.
        quality("S11-any", "no error was the first event of a stream", no_late_errors)
            .on(&[Binding::Rest])
            .last(),
        quality("4.1-headers", "a stream is not cached and not buffered", headers)
            .needs_behaviour(Behaviour::Complete)
            .on(SSE),
        quality("4.1-one-line", "every event is one `data` line without a name", one_line)
            .needs_behaviour(Behaviour::Burst)
            .on(SSE),
        quality("4.1-accept", "a stream is opened without `Accept`, too", without_accept)
            .needs_behaviour(Behaviour::Complete)
            .on(SSE),
        must("S3-drop", "a stream that is dropped leaves the task alone", dropping)
            .needs_behaviour(Behaviour::Brief),
    ];
    let mut checks: Vec<Check> =
        streaming.into_iter().map(|check| check.needs(Requirement::Streaming)).collect();
    checks.push(
        must("S1", "without the capability a stream is an unsupported operation", not_offered)
            .in_0_3(Strength::Choice),
    );
    checks
}

pub(super) async fn all(pair: &Pair, word: Behaviour) -> CheckResult<Vec<StreamItem>> {
    pair.stream(SendRequest::behaving(word)).await?.events()?.rest().await
}

async fn task_first(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Complete)).await?.events()?;
    first_task(events.next().await?)?;
    Ok(())
}

async fn continued_task_first(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let mut events = pair.stream(SendRequest::text("that one").for_task(&waiting.id)).await?.events()?;
    let task = first_task(events.next().await?)?;
    ensure!(task.id == waiting.id, "it is another task");
    Ok(())
}

async fn one_message(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Message).await?;
    let names: Vec<_> = items.iter().map(StreamItem::name).collect();
    ensure!(names == ["a message"], "the stream held {names:?}");
    Ok(())
}

async fn no_mixture(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Chunks).await?;
    let message = items.iter().any(|item| matches!(item, StreamItem::Message(_)));
    ensure!(!message, "there is a message among the events");
    Ok(())
}

async fn order(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Burst).await?;
    let text = artifact_texts(&items);
    let expected: String = (1..=30).map(|number| format!("{number} ")).collect();
    ensure!(text == expected, "the pieces add up to {text:?}");
    Ok(())
}

/// The contents of the artifact events in order, including those of the first snapshot.
fn artifact_texts(items: &[StreamItem]) -> String {
    let mut text = String::new();
    for item in items {
        match item {
            StreamItem::Task(task) if text.is_empty() => {
                text.extend(task.artifacts().iter().map(Artifact::text))
            }
            StreamItem::Artifact { artifact, append, .. } => {
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

async fn ids(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Chunks).await?;
    let mut known = None;
    for item in &items {
        let found = match item {
            StreamItem::Task(task) => (task.id.clone(), task.context.clone()),
            StreamItem::Status { task, context, .. } | StreamItem::Artifact { task, context, .. } => {
                (task.clone(), context.clone())
            }
            StreamItem::Message(_) => continue,
        };
        let expected = known.get_or_insert_with(|| found.clone());
        ensure!(*expected == found, "{} is about {found:?}, not {expected:?}", item.name());
    }
    Ok(())
}

async fn closes_at_the_end(pair: Pair) -> CheckResult {
    ends(&pair, Behaviour::Complete, State::Completed).await
}

async fn closes_on_failure(pair: Pair) -> CheckResult {
    ends(&pair, Behaviour::Fail, State::Failed).await
}

async fn ends(pair: &Pair, word: Behaviour, state: State) -> CheckResult {
    let items = all(pair, word).await?;
    let end = items.iter().rev().find_map(StreamItem::state);
    ensure!(end == Some(state), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn closes_on_input(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Ask)).await?.events()?;
    events.until(|item| item.state() == Some(State::InputRequired)).await?;
    match events.within(Duration::from_secs(2)).await? {
        NextItem::Ended => Ok(()),
        NextItem::Silence => fail("the stream stays open"),
        NextItem::Item(item) if matches!(*item, StreamItem::Task(_)) => Ok(()),
        NextItem::Item(item) => fail(format!("{} came after the question", item.name())),
    }
}

async fn closes_on_auth(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Auth)).await?.events()?;
    events.until(|item| item.state() == Some(State::AuthRequired)).await?;
    match events.within(Duration::from_secs(2)).await? {
        NextItem::Silence => fail("the stream stays open"),
        _ => Ok(()),
    }
}

async fn transitions(pair: Pair) -> CheckResult {
    for word in [Behaviour::Burst, Behaviour::Ask, Behaviour::Fail] {
        let mut events = pair.stream(SendRequest::behaving(word)).await?.events()?;
        let items = match word {
            Behaviour::Ask => events.until(|item| item.state() == Some(State::InputRequired)).await?,
            _ => events.rest().await?,
        };
        let states: Vec<State> = items.iter().filter_map(StreamItem::state).collect();
        let wrong = states.windows(2).find(|pair| !may_follow(pair[0], pair[1]));
        ensure!(wrong.is_none(), "{wrong:?} among {states:?}");
        let end = items.iter().position(|item| item.state().is_some_and(State::is_terminal));
        let after =
            end.and_then(|end| items[end + 1..].iter().find(|item| !matches!(item, StreamItem::Task(_))));
        ensure!(after.is_none(), "{:?} came after the end", after.map(StreamItem::name));
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

async fn final_once(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Burst).await?;
    let mut statuses = items.iter().filter_map(|item| match item {
        StreamItem::Status { status, last, .. } => Some((status.state, last.unwrap_or_default())),
        _ => None,
    });
    let wrong = statuses.find(|(state, last)| state.is_terminal() != *last);
    ensure!(wrong.is_none(), "state and `final` of a status event: {wrong:?}");
    let end = items.iter().rev().find_map(StreamItem::state);
    ensure!(end.is_some_and(State::is_terminal), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn final_on_input(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Ask)).await?.events()?;
    let items = events.until(|item| item.state() == Some(State::InputRequired)).await?;
    match items.last() {
        Some(StreamItem::Status { last: Some(true), .. }) | Some(StreamItem::Task(_)) => Ok(()),
        Some(StreamItem::Status { last, .. }) => fail(format!("its `final` is {last:?}")),
        other => fail(format!("it is {:?}", other.map(StreamItem::name))),
    }
}

/// The task that the items describe together.
pub(super) fn folded(items: &[StreamItem]) -> CheckResult<Task> {
    let mut folded = first_task(items.first().cloned())?;
    for item in &items[1..] {
        match item {
            StreamItem::Task(task) => folded = task.clone(),
            StreamItem::Status { status, .. } => folded.status = status.clone(),
            StreamItem::Artifact { artifact, append, .. } => {
                let artifacts = folded.artifacts.get_or_insert_default();
                match artifacts.iter_mut().find(|known| known.id == artifact.id) {
                    Some(known) if *append => known.parts.extend(artifact.parts.iter().cloned()),
                    Some(known) => *known = artifact.clone(),
                    None => artifacts.push(artifact.clone()),
                }
            }
            StreamItem::Message(_) => return fail("a message among the events of a task"),
        }
    }
    Ok(folded)
}

async fn fold(pair: Pair) -> CheckResult {
    let folded = folded(&all(&pair, Behaviour::Chunks).await?)?;
    let stored = pair.get(&folded.id).await?.done()?;
    ensure!(
        stored.state() == folded.state(),
        "stored as {:?}, streamed as {:?}",
        stored.state(),
        folded.state()
    );
    // The server may store neighbouring texts as one part or several.
    let texts = |task: &Task| {
        task.artifacts()
            .iter()
            .map(|artifact| (artifact.id.clone(), text_of(&artifact.parts)))
            .collect::<Vec<_>>()
    };
    ensure!(texts(&stored) == texts(&folded), "stored {:?}, streamed {:?}", texts(&stored), texts(&folded));
    Ok(())
}

async fn appended(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Chunks).await?;
    let pieces: Vec<(bool, String)> = items
        .iter()
        .filter_map(|item| match item {
            StreamItem::Artifact { append, artifact, .. } => Some((*append, artifact.text())),
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

async fn last_chunk(pair: Pair) -> CheckResult {
    let items = all(&pair, Behaviour::Chunks).await?;
    let marks: Vec<bool> = items
        .iter()
        .filter_map(
            |item| if let StreamItem::Artifact { last_chunk, .. } = item { Some(*last_chunk) } else { None },
        )
        .collect();
    ensure!(marks.last() == Some(&true), "the marks of the pieces are {marks:?}");
    Ok(())
}

async fn live(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Burst)).await?.events()?;
    let mut task = None;
    while let Some(item) = events.next().await? {
        if let StreamItem::Task(found) = &item {
            task = Some(found.id.clone());
        }
        if let (StreamItem::Artifact { .. }, Some(task)) = (&item, &task) {
            let read = pair.get(task).await?.done()?;
            ensure!(!read.state().is_terminal(), "the first piece came when the task was {:?}", read.state());
            return Ok(());
        }
    }
    fail("no artifact event came")
}

async fn answered_by_stream(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let mut events = pair.stream(SendRequest::text("that one").for_task(&waiting.id)).await?.events()?;
    let items = events.rest().await?;
    let end = items.iter().rev().find_map(StreamItem::state);
    ensure!(end == Some(State::Completed), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn errors_open_nothing(pair: Pair) -> CheckResult {
    let mut params = crate::json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    params["message"][pair.json_form().parts()] = serde_json::json!([]);
    pair.unchecked().follow(Operation::Stream(params)).await?.expect(ExpectedError::InvalidParams)
}

async fn no_late_errors(pair: Pair) -> CheckResult {
    let noted = pair.subject.noted(pair.version(), pair.binding(), "S11-any");
    ensure!(noted.is_empty(), "{}", noted.join("; "));
    Ok(())
}

async fn headers(pair: Pair) -> CheckResult {
    let events = pair.stream(SendRequest::behaving(Behaviour::Complete)).await?.events()?;
    let cache = events.head.header("cache-control").unwrap_or_default();
    ensure!(cache.contains("no-cache") || cache.contains("no-store"), "Cache-Control is {cache:?}");
    let buffering = events.head.header("x-accel-buffering");
    ensure!(buffering == Some("no"), "X-Accel-Buffering is {buffering:?}");
    ensure!(events.head.header("content-length").is_none(), "there is a Content-Length");
    Ok(())
}

async fn one_line(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Burst)).await?.events()?;
    events.rest().await?;
    for frame in &events.frames {
        ensure!(frame.lines.len() == 1, "an event of {} data lines", frame.lines.len());
        let named = frame.event.as_deref().is_some_and(|name| name != "message");
        ensure!(!named, "an event is named {:?}", frame.event);
    }
    Ok(())
}

async fn without_accept(pair: Pair) -> CheckResult {
    let pair = pair.with_header("accept", "*/*");
    all(&pair, Behaviour::Complete).await?;
    Ok(())
}

async fn dropping(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Brief)).await?.events()?;
    let task = match events.next().await? {
        Some(StreamItem::Task(task)) => task.id,
        Some(StreamItem::Status { task, .. } | StreamItem::Artifact { task, .. }) => task,
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

async fn not_offered(pair: Pair) -> CheckResult {
    if pair.subject.capability("streaming") {
        return not_applicable("streaming is offered");
    }
    pair.stream(SendRequest::behaving(Behaviour::Complete)).await?.expect(ExpectedError::Unsupported)
}

/// Reads several streams to their ends at the same time.
pub(super) async fn ends_of(streams: Vec<crate::events::Events>) -> CheckResult<Vec<Vec<StreamItem>>> {
    try_join_all(streams.into_iter().map(|mut events| async move { events.rest().await })).await
}
