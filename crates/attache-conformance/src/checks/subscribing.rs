//! Streams of an existing task (S3, S8, S9), also on another binding than the one that opened it.

use std::time::Duration;

use http::Method;
use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Stop, Strength, choice, ensure, fail, must, not_applicable,
};
use crate::checks::streaming::{ends_of, folded};
use crate::error_response::Reply;
use crate::events::{Events, NextItem};
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::http::{HttpRequest, StreamOrResponse};
use crate::pair::{Pair, first_task};
use crate::protocol::{Artifact, Binding, State, StreamItem};
use crate::request::SendRequest;

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("S8-first", "a subscription begins with the current task", task_first)
            .needs_behaviour(Behaviour::Burst)
            .in_0_3(Strength::Choice),
        must("S8-gapless", "a subscription in mid-stream misses nothing and repeats nothing", gapless)
            .needs_behaviour(Behaviour::Burst),
        must("S8-end", "a subscription closes when the task is terminal", closes)
            .needs_behaviour(Behaviour::Brief),
        must("S8-terminal", "subscribing to a finished task is an unsupported operation", terminal)
            .needs_behaviour(Behaviour::Complete)
            .only_1_0(),
        choice("S9-terminal", "subscribing to a finished task tells it and closes", terminal_0_3)
            .needs_behaviour(Behaviour::Complete)
            .only_0_3(),
        must("S8-unknown", "subscribing to a task that does not exist is refused", unknown),
        must(
            "S8-interrupted",
            "a task that waits for input can be subscribed to, and tells what comes",
            interrupted,
        )
        .needs_behaviour(Behaviour::Ask)
        .in_0_3(Strength::Quality),
        must("S3-equal", "several streams of one task tell the same", equal_streams)
            .needs_behaviour(Behaviour::Burst),
        must("S3-leaving", "a stream that is dropped leaves the others alone", leaving)
            .needs_behaviour(Behaviour::Burst),
        must("S8-across", "a task can be followed on every other pair than the one that opened it", across)
            .needs_behaviour(Behaviour::Burst),
        must("S8-get", "a subscription is opened by GET, as the protobuf file says", by_get)
            .needs_behaviour(Behaviour::Slow)
            .on(&[Binding::Rest]),
        must("S8-post", "a subscription is opened by POST, as the text says", by_post)
            .needs_behaviour(Behaviour::Slow)
            .on(&[Binding::Rest]),
    ];
    let mut checks: Vec<Check> =
        checks.into_iter().map(|check| check.needs(Requirement::Streaming)).collect();
    checks.push(
        must(
            "S1-subscribe",
            "without the capability a subscription is an unsupported operation",
            not_offered,
        )
        .in_0_3(Strength::Choice),
    );
    checks
}

async fn started(pair: &Pair, word: Behaviour) -> CheckResult<String> {
    let task = pair.send(SendRequest::behaving(word).at_once()).await?.task()?;
    Ok(task.id)
}

/// A stream of a task that is still running.
async fn following(pair: &Pair, id: &str) -> CheckResult<Events> {
    let refusal = match pair.subscribe(id).await? {
        Reply::Done(events, _) => return Ok(events),
        Reply::Refused(refusal) => refusal,
    };
    if pair.get(id).await?.done()?.state().is_terminal() {
        return not_applicable("the machine is so slow that the task was over");
    }
    fail(format!("the subscription was refused: {}", refusal.shown()))
}

async fn task_first(pair: Pair) -> CheckResult {
    let id = started(&pair, Behaviour::Burst).await?;
    let mut events = following(&pair, &id).await?;
    let task = first_task(events.next().await?)?;
    ensure!(task.id == id, "it is another task");
    Ok(())
}

async fn gapless(pair: Pair) -> CheckResult {
    let id = started(&pair, Behaviour::Burst).await?;
    tokio::time::sleep(Duration::from_millis(150)).await;
    let items = following(&pair, &id).await?.rest().await?;
    let text: String = folded(&items)?.artifacts().iter().map(Artifact::text).collect();
    let expected: String = (1..=30).map(|number| format!("{number} ")).collect();
    ensure!(text == expected, "snapshot and events add up to {text:?}");
    Ok(())
}

async fn closes(pair: Pair) -> CheckResult {
    let id = started(&pair, Behaviour::Brief).await?;
    let items = following(&pair, &id).await?.rest().await?;
    let end = items.iter().rev().find_map(StreamItem::state);
    ensure!(end == Some(State::Completed), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn terminal(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    pair.subscribe(&task.id).await?.expect(ExpectedError::Unsupported)
}

async fn terminal_0_3(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    let items = pair.subscribe(&task.id).await?.events()?.rest().await?;
    let names: Vec<_> = items.iter().map(StreamItem::name).collect();
    ensure!(names == ["a task"], "the stream held {names:?}");
    Ok(())
}

async fn unknown(pair: Pair) -> CheckResult {
    pair.subscribe(&uuid::Uuid::new_v4().to_string()).await?.expect(ExpectedError::TaskNotFound)
}

async fn interrupted(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let mut events = pair.subscribe(&waiting.id).await?.events()?;
    let task = first_task(events.next().await?)?;
    ensure!(task.state() == State::InputRequired, "the snapshot is {:?}", task.state());
    match events.within(Duration::from_millis(200)).await? {
        NextItem::Silence => {}
        NextItem::Ended => return not_applicable("the stream closes after the snapshot"),
        NextItem::Item(item) => return fail(format!("{} came although nothing happened", item.name())),
    }
    pair.send(SendRequest::text("that one").for_task(&waiting.id).waiting()).await?.task()?;
    let items = events.rest().await?;
    let end = items.iter().rev().find_map(StreamItem::state);
    ensure!(end == Some(State::Completed), "the stream ended with the task in {end:?}");
    Ok(())
}

/// The contents, independent of the split into events, which may differ between the two parts of a stream.
fn contents(items: &[StreamItem]) -> CheckResult<(Option<State>, String)> {
    let task = folded(items)?;
    Ok((Some(task.state()), task.artifacts().iter().map(Artifact::text).collect()))
}

async fn equal_streams(pair: Pair) -> CheckResult {
    let id = started(&pair, Behaviour::Burst).await?;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(following(&pair, &id).await?);
    }
    let ends = ends_of(streams).await?;
    // The streams began at different times. The latest has the fewest events: the others must end with the same ones.
    let events: Vec<Vec<&StreamItem>> = ends
        .iter()
        .map(|items| items.iter().filter(|item| !matches!(item, StreamItem::Task(_))).collect())
        .collect();
    let shortest = events.iter().min_by_key(|events| events.len()).cloned().unwrap_or_default();
    if shortest.is_empty() {
        return not_applicable("the machine is so slow that the task was over");
    }
    let equal = events.iter().all(|events| events.ends_with(&shortest));
    ensure!(
        equal,
        "the streams tell different events: {:?}",
        events.iter().map(Vec::len).collect::<Vec<_>>()
    );
    Ok(())
}

async fn leaving(pair: Pair) -> CheckResult {
    let id = started(&pair, Behaviour::Burst).await?;
    let mut staying = following(&pair, &id).await?;
    let mut leaving = following(&pair, &id).await?;
    leaving.next().await?;
    drop(leaving);
    let (state, _) = contents(&staying.rest().await?)?;
    ensure!(state == Some(State::Completed), "the other stream ended with the task in {state:?}");
    Ok(())
}

async fn across(pair: Pair) -> CheckResult {
    let others: Vec<Pair> =
        pair.subject.pairs().into_iter().filter(|other| other.interface != pair.interface).collect();
    if others.is_empty() {
        return not_applicable("no other pair is offered");
    }
    let id = started(&pair, Behaviour::Burst).await?;
    let mut streams = vec![following(&pair, &id).await?];
    let mut names = vec![pair.name()];
    for other in &others {
        match following(other, &id).await {
            Ok(events) => {
                streams.push(events);
                names.push(other.name());
            }
            Err(Stop::Fail(why)) => return fail(format!("on {}: {why}", other.name())),
            Err(stop) => return Err(stop),
        }
    }
    let ends = ends_of(streams).await?;
    let first = contents(&ends[0])?;
    for (name, items) in names.iter().zip(&ends).skip(1) {
        let other = contents(items)?;
        ensure!(other == first, "here it is told as {first:?}, on {name} as {other:?}");
    }
    Ok(())
}

async fn by_verb(pair: &Pair, method: Method) -> CheckResult {
    let id = started(pair, Behaviour::Slow).await?;
    let url = framing::rest_url(pair, &format!("/tasks/{}:subscribe", framing::encoded(&id)));
    let mut request = HttpRequest::new(method.clone(), url);
    if method == Method::POST {
        request = request.body(json!({}).to_string());
    }
    let opened = pair.subject.http.open(framing::apply_options(pair, request)).await?;
    let _ = pair.cancel(&id).await;
    match opened {
        StreamOrResponse::Stream(_) => Ok(()),
        StreamOrResponse::Response(answer) => fail(format!("HTTP {} {}", answer.status(), answer.text())),
    }
}

async fn by_get(pair: Pair) -> CheckResult {
    by_verb(&pair, Method::GET).await
}

async fn by_post(pair: Pair) -> CheckResult {
    by_verb(&pair, Method::POST).await
}

async fn not_offered(pair: Pair) -> CheckResult {
    if pair.subject.capability("streaming") {
        return not_applicable("streaming is offered");
    }
    let task = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    pair.subscribe(&task.id).await?.expect(ExpectedError::Unsupported)
}
