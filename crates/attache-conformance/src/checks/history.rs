//! `historyLength` on send, get and list (section 3.1).

use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, Strength, choice, ensure, must, not_applicable, quality, should};
use crate::expected_error::ExpectedError;
use crate::json_form::{self, JsonForm};
use crate::pair::Pair;
use crate::protocol::{Binding, StreamItem, Task};
use crate::request::SendRequest;

pub(super) fn checks() -> Vec<Check> {
    vec![
        must("3.1-most", "get with a history length tells at most that many messages", at_most)
            .needs_behaviour(Behaviour::Ask),
        quality("3.1-recent", "and the most recent ones, the oldest first", most_recent)
            .needs_behaviour(Behaviour::Ask),
        must("3.1-zero", "a history length of 0 tells no messages", zero)
            .needs_behaviour(Behaviour::Ask)
            .only_1_0(),
        should("3.1-zero-omitted", "and leaves `history` out", zero_is_omitted)
            .needs_behaviour(Behaviour::Ask)
            .only_1_0()
            .on(&[Binding::JsonRpc, Binding::Rest]),
        choice("3.1-zero-0.3", "0 means none on JSON-RPC and all of it in the protobuf dialect", zero_0_3)
            .needs_behaviour(Behaviour::Ask)
            .only_0_3(),
        must("3.1-negative", "a negative history length is refused on get", negative_get)
            .needs_behaviour(Behaviour::Complete)
            .in_0_3(Strength::Quality),
        must("3.1-negative-send", "a negative history length is refused on send", negative_send)
            .in_0_3(Strength::Quality),
        quality("3.1-nonsense", "a history length that is no number is refused", nonsense)
            .needs_behaviour(Behaviour::Complete)
            .on(&[Binding::JsonRpc, Binding::Rest]),
        must("3.1-send", "a send tells at most as many messages as it was asked to", on_send)
            .needs_behaviour(Behaviour::Ask),
        must("3.1-stream", "so does the task at the beginning of a stream", on_stream)
            .needs_behaviour(Behaviour::Ask)
            .needs(crate::check::Requirement::Streaming),
        must("3.1-kept", "a short reading does not shorten what is kept", kept)
            .needs_behaviour(Behaviour::Ask),
        quality("3.1-large", "a length larger than the history is all of it", large)
            .needs_behaviour(Behaviour::Ask),
        must("3.1-list", "a list tells at most as many messages of each task as it was asked to", on_list)
            .needs_behaviour(Behaviour::Ask)
            .only_1_0(),
    ]
}

/// A task with two messages of the user.
async fn conversation(pair: &Pair) -> CheckResult<Task> {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    pair.send(SendRequest::text("that one").for_task(&waiting.id).waiting()).await?.task()?;
    let task = pair.get(&waiting.id).await?.done()?;
    if task.history().len() < 2 {
        return not_applicable(format!("the agent keeps only {} messages", task.history().len()));
    }
    Ok(task)
}

async fn at_most(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let short = pair.get_with(&task.id, Some(json!(1))).await?.done()?;
    ensure!(short.history().len() <= 1, "asked for 1, got {}", short.history().len());
    Ok(())
}

async fn most_recent(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let ids = |task: &Task| task.history().iter().map(|message| message.id.clone()).collect::<Vec<_>>();
    let (all, short) = (ids(&task), ids(&pair.get_with(&task.id, Some(json!(2))).await?.done()?));
    ensure!(!short.is_empty() && all.ends_with(&short), "of {all:?} came {short:?}");
    Ok(())
}

async fn zero(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let none = pair.get_with(&task.id, Some(json!(0))).await?.done()?;
    ensure!(none.history().is_empty(), "{} messages came", none.history().len());
    Ok(())
}

async fn zero_is_omitted(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let none = pair.get_with(&task.id, Some(json!(0))).await?.done()?;
    ensure!(none.history.is_none(), "`history` is there");
    Ok(())
}

async fn zero_0_3(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let read = pair.get_with(&task.id, Some(json!(0))).await?.done()?;
    let expected = if pair.json_form() == JsonForm::Schema0_3 { 0 } else { task.history().len() };
    ensure!(read.history().len() == expected, "{} messages came instead of {expected}", read.history().len());
    Ok(())
}

async fn negative_get(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    pair.get_with(&task.id, Some(json!(-1))).await?.expect(ExpectedError::InvalidParams)
}

async fn negative_send(pair: Pair) -> CheckResult {
    pair.send(SendRequest::behaving(Behaviour::Complete).history(-1))
        .await?
        .expect(ExpectedError::InvalidParams)
}

async fn nonsense(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    pair.get_with(&task.id, Some(json!("many"))).await?.expect(ExpectedError::InvalidParams)
}

async fn on_send(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let answer = SendRequest::text("that one").for_task(&waiting.id).waiting().history(1);
    let done = pair.send(answer).await?.task()?;
    ensure!(done.history().len() <= 1, "asked for 1, got {}", done.history().len());
    Ok(())
}

async fn on_stream(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let params = SendRequest::text("that one").for_task(&waiting.id).history(1);
    let mut events = pair.stream(params).await?.events()?;
    let Some(StreamItem::Task(task)) = events.next().await? else {
        return not_applicable("the stream does not begin with the task");
    };
    ensure!(task.history().len() <= 1, "asked for 1, got {}", task.history().len());
    Ok(())
}

async fn kept(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    pair.get_with(&task.id, Some(json!(1))).await?.done()?;
    let read = pair.get(&task.id).await?.done()?;
    ensure!(read.history().len() == task.history().len(), "{} messages are left", read.history().len());
    Ok(())
}

async fn large(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let read = pair.get_with(&task.id, Some(json!(1000))).await?.done()?;
    ensure!(read.history().len() == task.history().len(), "{} messages came", read.history().len());
    let params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete).history(1000));
    pair.send_raw(params).await?.done()?;
    Ok(())
}

async fn on_list(pair: Pair) -> CheckResult {
    let task = conversation(&pair).await?;
    let members = [("contextId", json!(task.context)), ("historyLength", json!(1))];
    let page = pair.list(&members).await?.done()?;
    let lengths: Vec<_> = page.tasks.iter().map(|task| task.history().len()).collect();
    ensure!(lengths.iter().all(|length| *length <= 1), "asked for 1, got {lengths:?}");
    Ok(())
}
