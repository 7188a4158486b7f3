//! Reading and canceling a task (G1, C1, C2).

use std::time::Duration;

use http::Method;
use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, Requirement, choice, ensure, fail, must, not_applicable, quality};
use crate::error_response::Reply;
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::http::HttpRequest;
use crate::pair::Pair;
use crate::protocol::{Binding, State, StreamItem};
use crate::request::SendRequest;

pub(super) fn checks() -> Vec<Check> {
    vec![
        must("G1", "a task can be read: status, artifacts and history", read)
            .needs_behaviour(Behaviour::Complete),
        must("G1-unknown", "reading a task that does not exist is refused", unknown),
        quality("G1-empty", "reading a task without an id is refused as invalid params", without_id)
            .on(&[Binding::JsonRpc, Binding::Grpc]),
        quality("G1-encoded", "an id in a path may be percent-encoded", encoded)
            .needs_behaviour(Behaviour::Complete)
            .on(&[Binding::Rest]),
        must("C1", "a running task can be canceled, and the canceled task comes back", cancel)
            .needs_behaviour(Behaviour::Slow),
        must("C1-terminal", "a finished task cannot be canceled", cancel_finished)
            .needs_behaviour(Behaviour::Complete),
        must("C1-unknown", "canceling a task that does not exist is refused", cancel_unknown),
        choice("C1-again", "a canceled task cannot be canceled again", cancel_again)
            .needs_behaviour(Behaviour::Slow),
        must("C1-waiting", "a task that waits for input can be canceled", cancel_waiting)
            .needs_behaviour(Behaviour::Ask),
        must("C2-streams", "open streams get the canceled status and end", streams_end)
            .needs_behaviour(Behaviour::Slow)
            .needs(Requirement::Streaming),
        must("C2-quiet", "a canceled task stays canceled", stays_canceled).needs_behaviour(Behaviour::Brief),
        quality("C-body", "a cancel takes an empty body, `null` and metadata", bodies)
            .needs_behaviour(Behaviour::Slow)
            .on(&[Binding::Rest]),
        quality("C-metadata", "a cancel with metadata is served", metadata)
            .needs_behaviour(Behaviour::Slow)
            .on(&[Binding::JsonRpc]),
    ]
}

async fn read(pair: Pair) -> CheckResult {
    let send = SendRequest::behaving(Behaviour::Complete).waiting();
    let message_id = send.message_id.clone();
    let task = pair.send(send).await?.task()?;
    let read = pair.get(&task.id).await?.done()?;
    ensure!(read.meaning() == task.meaning(), "sent {:?}, read {:?}", task.meaning(), read.meaning());
    if read.history().is_empty() {
        return not_applicable("the agent keeps no history");
    }
    ensure!(
        read.history().iter().any(|message| message.id == message_id),
        "the user's message is not in the history"
    );
    Ok(())
}

async fn unknown(pair: Pair) -> CheckResult {
    pair.get(&uuid::Uuid::new_v4().to_string()).await?.expect(ExpectedError::TaskNotFound)
}

async fn without_id(pair: Pair) -> CheckResult {
    let refusal = pair.get("").await?.refused()?;
    // Both errors are correct: the id is missing, and no such task exists.
    ensure!(
        refusal.is(ExpectedError::InvalidParams) || refusal.is(ExpectedError::TaskNotFound),
        "expected InvalidParamsError, got {}",
        refusal.shown()
    );
    Ok(())
}

async fn encoded(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    let encoded: String = task.id.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let request = HttpRequest::new(Method::GET, framing::rest_url(&pair, &format!("/tasks/{encoded}")));
    pair.rest_reply(pair.raw(request).await?)?.done()?;
    Ok(())
}

async fn slow(pair: &Pair) -> CheckResult<String> {
    Ok(pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?.id)
}

async fn cancel(pair: Pair) -> CheckResult {
    let id = slow(&pair).await?;
    let task = pair.cancel(&id).await?.done()?;
    ensure!(task.id == id, "another task came back");
    ensure!(task.state() == State::Canceled, "it came back as {:?}", task.state());
    let read = pair.get(&id).await?.done()?;
    ensure!(read.state() == State::Canceled, "it reads as {:?}", read.state());
    Ok(())
}

async fn cancel_finished(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    pair.cancel(&task.id).await?.expect(ExpectedError::TaskNotCancelable)
}

async fn cancel_unknown(pair: Pair) -> CheckResult {
    pair.cancel(&uuid::Uuid::new_v4().to_string()).await?.expect(ExpectedError::TaskNotFound)
}

async fn cancel_again(pair: Pair) -> CheckResult {
    let id = slow(&pair).await?;
    pair.cancel(&id).await?.done()?;
    pair.cancel(&id).await?.expect(ExpectedError::TaskNotCancelable)
}

async fn cancel_waiting(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let canceled = pair.cancel(&task.id).await?.done()?;
    ensure!(canceled.state() == State::Canceled, "it came back as {:?}", canceled.state());
    Ok(())
}

async fn streams_end(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Slow)).await?.events()?;
    let id = match events.next().await? {
        Some(StreamItem::Task(task)) => task.id,
        Some(StreamItem::Status { task, .. } | StreamItem::Artifact { task, .. }) => task,
        other => return fail(format!("the stream began with {other:?}")),
    };
    pair.cancel(&id).await?.done()?;
    let items = events.rest().await?;
    let end = items.iter().rev().find_map(StreamItem::state);
    ensure!(end == Some(State::Canceled), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn stays_canceled(pair: Pair) -> CheckResult {
    let id = pair.send(SendRequest::behaving(Behaviour::Brief).at_once()).await?.task()?.id;
    if let Reply::Refused(refusal) = pair.cancel(&id).await? {
        return not_applicable(format!("it was not canceled in time: {}", refusal.shown()));
    }
    tokio::time::sleep(Duration::from_millis(700)).await;
    let read = pair.get(&id).await?.done()?;
    ensure!(read.state() == State::Canceled, "it is {:?} later", read.state());
    ensure!(read.artifacts().is_empty(), "it got an artifact after it was canceled");
    Ok(())
}

async fn bodies(pair: Pair) -> CheckResult {
    for body in ["", "null", "{}", r#"{"metadata":{"why":"conformance"}}"#] {
        let id = slow(&pair).await?;
        let url = framing::rest_url(&pair, &format!("/tasks/{id}:cancel"));
        let answer = pair.raw(HttpRequest::new(Method::POST, url).body(body)).await?;
        ensure!(answer.status() == 200, "body {body:?}: HTTP {} {}", answer.status(), answer.text());
    }
    Ok(())
}

async fn metadata(pair: Pair) -> CheckResult {
    let id = slow(&pair).await?;
    let method = if pair.is_1_0() { "CancelTask" } else { "tasks/cancel" };
    let params = json!({"id": id, "metadata": {"why": "conformance"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = pair.post(body.to_string()).await?;
    pair.json_rpc_reply(answer, &json!(1))?.done()?;
    Ok(())
}
