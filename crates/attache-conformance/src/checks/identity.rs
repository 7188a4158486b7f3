//! Whose task a message belongs to, and in which conversation (section 2.3, D4).

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, Requirement, Strength, ensure, fail, must, not_applicable, quality};
use crate::error_response::Reply;
use crate::expected_error::ExpectedError;
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{Binding, Role, SendResult, State};
use crate::request::SendRequest;

pub(super) fn checks() -> Vec<Check> {
    vec![
        must("D4", "every new task has an id of its own", unique_ids).needs_behaviour(Behaviour::Complete),
        must(
            "D4-unknown",
            "a message to a task that does not exist is refused, and opens none",
            unknown_task,
        ),
        must("2.3-context", "a new task has a context, and the response names it", names_its_context)
            .needs_behaviour(Behaviour::Complete),
        must("2.3-message", "an answer that is a message tells its context", message_has_context)
            .needs_behaviour(Behaviour::Message)
            .in_0_3(Strength::Quality),
        must("2.3-same-context", "a message with only a context opens a new task in it", same_context)
            .needs_behaviour(Behaviour::Complete),
        must(
            "2.3-own-context",
            "a context that the client made up is kept verbatim or refused, never replaced",
            own_context,
        )
        .needs_behaviour(Behaviour::Complete)
        .in_0_3(Strength::Quality),
        must("2.3-infers", "a message with only a task belongs to that task's context", infers_context)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Quality),
        must("2.3-mismatch", "a task and a context that do not belong together are refused", mismatch)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Quality),
        must("2.3-finished", "a message to a finished task is refused", finished)
            .needs_behaviour(Behaviour::Complete),
        must(
            "2.3-finished-error",
            "a message to a finished task is an unsupported operation",
            finished_error,
        )
        .needs_behaviour(Behaviour::Complete)
        .in_0_3(Strength::Choice),
        must("2.3-final", "a finished task does not change", stays_finished)
            .needs_behaviour(Behaviour::Complete),
        quality(
            "2.3-running",
            "a message to a running task is taken into it or refused, never a second task",
            running,
        )
        .needs_behaviour(Behaviour::Slow),
        must("2.3-agent-message", "messages of the agent tell their context and task", agent_messages)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Quality),
        quality("2.3-references", "references to tasks that do not exist are ignored", references)
            .needs_behaviour(Behaviour::Complete)
            .on(&[Binding::JsonRpc, Binding::Rest]),
        quality(
            "D1-again",
            "the same message again is not worked on twice, or opens a task of its own",
            again,
        )
        .needs_behaviour(Behaviour::Complete),
        must("2.3-stream-unknown", "a stream to a task that does not exist is refused", unknown_stream)
            .needs(Requirement::Streaming),
    ]
}

fn made_up() -> String {
    uuid::Uuid::new_v4().to_string()
}

async fn unique_ids(pair: Pair) -> CheckResult {
    let one = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    let other = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    ensure!(one.id != other.id, "two tasks are both called {}", one.id);
    Ok(())
}

async fn unknown_task(pair: Pair) -> CheckResult {
    let chosen = made_up();
    pair.send(SendRequest::behaving(Behaviour::Complete).for_task(&chosen))
        .await?
        .expect(ExpectedError::TaskNotFound)?;
    match pair.get(&chosen).await? {
        Reply::Refused(_) => Ok(()),
        Reply::Done(..) => fail("the refused message opened a task with the client's id"),
    }
}

async fn unknown_stream(pair: Pair) -> CheckResult {
    pair.stream(SendRequest::behaving(Behaviour::Complete).for_task(&made_up()))
        .await?
        .expect(ExpectedError::TaskNotFound)
}

async fn names_its_context(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    ensure!(!task.context.is_empty(), "the task has no contextId");
    let read = pair.get(&task.id).await?.done()?;
    ensure!(read.context == task.context, "the task reads with context {:?}", read.context);
    Ok(())
}

async fn message_has_context(pair: Pair) -> CheckResult {
    match pair.send(SendRequest::behaving(Behaviour::Message)).await?.done()? {
        SendResult::Message(message) => {
            ensure!(message.context.is_some(), "the message has no contextId");
            ensure!(message.role == Role::Agent, "its role is {:?}", message.role);
            Ok(())
        }
        SendResult::Task(_) => fail("a task came instead of a message"),
    }
}

async fn same_context(pair: Pair) -> CheckResult {
    let one = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    let other =
        pair.send(SendRequest::behaving(Behaviour::Complete).in_context(&one.context)).await?.task()?;
    ensure!(one.id != other.id, "the second message did not open a task");
    ensure!(one.context == other.context, "{:?} became {:?}", one.context, other.context);
    Ok(())
}

async fn own_context(pair: Pair) -> CheckResult {
    let context = format!("client-made {}", made_up());
    match pair.send(SendRequest::behaving(Behaviour::Complete).in_context(&context)).await? {
        Reply::Refused(_) => Ok(()),
        Reply::Done(SendResult::Message(_), _) => not_applicable("the answer is a message"),
        Reply::Done(SendResult::Task(task), _) => {
            ensure!(task.context == context, "{context:?} became {:?}", task.context);
            Ok(())
        }
    }
}

async fn infers_context(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let done = pair.send(SendRequest::text("that one").for_task(&waiting.id).waiting()).await?.task()?;
    ensure!(done.id == waiting.id, "the message opened another task");
    ensure!(done.context == waiting.context, "the context is {:?} now", done.context);
    Ok(())
}

async fn mismatch(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let send = SendRequest::text("that one").for_task(&waiting.id).in_context(&made_up());
    pair.send(send).await?.expect(ExpectedError::InvalidParams)
}

async fn finished(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    pair.send(SendRequest::behaving(Behaviour::Complete).for_task(&task.id)).await?.refused()?;
    Ok(())
}

async fn finished_error(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    pair.send(SendRequest::behaving(Behaviour::Complete).for_task(&task.id))
        .await?
        .expect(ExpectedError::Unsupported)
}

async fn stays_finished(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    let _ = pair.send(SendRequest::behaving(Behaviour::Ask).for_task(&task.id)).await?;
    let _ = pair.cancel(&task.id).await?;
    let read = pair.get(&task.id).await?.done()?;
    ensure!(read.state() == State::Completed, "it is {:?} now", read.state());
    ensure!(read.artifacts() == task.artifacts(), "its artifacts changed");
    Ok(())
}

async fn running(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?;
    let reply = pair.send(SendRequest::text("hurry up").for_task(&task.id).at_once()).await?;
    let _ = pair.cancel(&task.id).await;
    match reply {
        Reply::Refused(_) | Reply::Done(SendResult::Message(_), _) => Ok(()),
        Reply::Done(SendResult::Task(answered), _) => {
            ensure!(answered.id == task.id, "the message opened a second task");
            Ok(())
        }
    }
}

async fn agent_messages(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let Some(message) = &task.status.message else { return not_applicable("the status has no message") };
    ensure!(message.role == Role::Agent, "the question's role is {:?}", message.role);
    ensure!(message.context.as_deref() == Some(&*task.context), "its contextId is {:?}", message.context);
    ensure!(message.task.as_deref() == Some(&*task.id), "its taskId is {:?}", message.task);
    Ok(())
}

async fn references(pair: Pair) -> CheckResult {
    if pair.json_form() == json_form::JsonForm::Proto0_3 {
        return not_applicable("the 0.3 protobuf has no references");
    }
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    params["message"]["referenceTaskIds"] = serde_json::json!([made_up()]);
    pair.send_raw(params).await?.task()?;
    Ok(())
}

async fn again(pair: Pair) -> CheckResult {
    let send = SendRequest::behaving(Behaviour::Complete).waiting();
    let one = pair.send(send.clone()).await?.task()?;
    match pair.send(send).await? {
        Reply::Refused(_) => Ok(()),
        Reply::Done(SendResult::Task(task), _) if task.id == one.id => {
            ensure!(task.artifacts() == one.artifacts(), "the task was worked on again");
            Ok(())
        }
        Reply::Done(..) => Ok(()),
    }
}
