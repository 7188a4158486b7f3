//! One task on all pairs (M8): a task of one pair can be read, continued and canceled on the others.

use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, Stop, ensure, fail, must, not_applicable, quality};
use crate::json_form::{self, JsonForm};
use crate::pair::Pair;
use crate::protocol::State;
use crate::request::SendRequest;

pub(super) fn checks() -> Vec<Check> {
    vec![
        must("M8-read", "a task reads the same on every other pair", read).needs_behaviour(Behaviour::Chunks),
        must("M8-parts", "also one with every kind of part", read_parts).needs_behaviour(Behaviour::Parts),
        quality("M1", "data that 0.3 cannot hold is wrapped there, and said to be", wrapped).only_1_0(),
        must("M8-continue", "a task that waits is answered on another pair", go_on)
            .needs_behaviour(Behaviour::Ask),
        must("M8-cancel", "a task is canceled on another pair", cancel).needs_behaviour(Behaviour::Slow),
    ]
}

fn others(pair: &Pair) -> CheckResult<Vec<Pair>> {
    let others: Vec<Pair> =
        pair.subject.pairs().into_iter().filter(|other| other.interface != pair.interface).collect();
    if others.is_empty() {
        return not_applicable("no other pair is offered");
    }
    Ok(others)
}

fn on<T>(other: &Pair, outcome: CheckResult<T>) -> CheckResult<T> {
    outcome.or_else(|stop| match stop {
        Stop::Fail(why) => fail(format!("on {}: {why}", other.name())),
        Stop::NotApplicable(_) => Err(stop),
    })
}

async fn same(pair: &Pair, word: Behaviour) -> CheckResult {
    let others = others(pair)?;
    let made = pair.send(SendRequest::behaving(word).waiting()).await?.task()?;
    let task = pair.get(&made.id).await?.done()?;
    for other in &others {
        let read = on(other, other.get(&task.id).await?.done())?;
        let alike = normal(&task) == normal(&read);
        let shown = |task| crate::text::shortened(&format!("{:?}", crate::protocol::Task::artifacts(task)));
        ensure!(alike, "here it is {}, on {} it is {}", shown(&task), other.name(), shown(&read));
    }
    Ok(())
}

/// Protobuf does not distinguish integers from other numbers.
fn normal(task: &crate::protocol::Task) -> String {
    format!("{:?}", task.meaning()).replace("1.0", "1")
}

async fn read(pair: Pair) -> CheckResult {
    same(&pair, Behaviour::Chunks).await
}

async fn read_parts(pair: Pair) -> CheckResult {
    same(&pair, Behaviour::Parts).await
}

async fn wrapped(pair: Pair) -> CheckResult {
    let Some(old) = others(&pair)?.into_iter().find(|other| other.json_form() == JsonForm::Schema0_3) else {
        return not_applicable("0.3 is not offered on JSON-RPC");
    };
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete).waiting());
    if let Some(parts) = params["message"]["parts"].as_array_mut() {
        parts.push(pair.json_form().data_part(&json!(["text", true])));
    }
    let task = pair.send_raw(params).await?.task()?;
    let read = on(&old, old.get(&task.id).await?.done())?;
    let Some(part) = read.raw["history"][0]["parts"].get(1) else {
        return not_applicable("the agent keeps no history");
    };
    let good =
        part["data"] == json!({"value": ["text", true]}) && part["metadata"]["data_part_compat"] == true;
    ensure!(good, "the part is {part}");
    Ok(())
}

async fn go_on(pair: Pair) -> CheckResult {
    for other in others(&pair)? {
        let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
        let answer = SendRequest::text("that one").for_task(&waiting.id).waiting();
        let done = on(&other, other.send(answer).await?.task())?;
        ensure!(done.id == waiting.id, "on {} the answer opened another task", other.name());
        ensure!(done.state() == State::Completed, "on {} the task became {:?}", other.name(), done.state());
    }
    Ok(())
}

async fn cancel(pair: Pair) -> CheckResult {
    for other in others(&pair)? {
        let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?;
        let canceled = on(&other, other.cancel(&task.id).await?.done())?;
        ensure!(canceled.state() == State::Canceled, "on {} it became {:?}", other.name(), canceled.state());
    }
    Ok(())
}
