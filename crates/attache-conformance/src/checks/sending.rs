//! Sending: when a send returns, and what it returns (B1 to B8).

use std::time::{Duration, Instant};

use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Strength, choice, ensure, fail, must, not_applicable, should,
};
use crate::expected_error::ExpectedError;
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{Binding, PushConfig, Role, SendResult, State};
use crate::request::SendRequest;

pub(super) fn checks() -> Vec<Check> {
    vec![
        must(
            "B1-terminal",
            "a send waits until the task is terminal, and tells all artifacts",
            waits_for_the_end,
        )
        .needs_behaviour(Behaviour::Brief)
        .in_0_3(Strength::Choice),
        must("B1-input", "a send that waits comes back when the task wants input", waits_for_input)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Choice),
        must(
            "B1-auth",
            "a send that waits comes back when the task wants a credential",
            waits_for_a_credential,
        )
        .needs_behaviour(Behaviour::Auth)
        .in_0_3(Strength::Choice),
        must("B1-at-once", "a send that does not wait returns while the task is running", comes_at_once)
            .needs_behaviour(Behaviour::Slow),
        must("B1-fails", "a send whose task fails comes back with the failed task", tells_a_failure)
            .needs_behaviour(Behaviour::Fail)
            .in_0_3(Strength::Choice),
        must(
            "B1-rejects",
            "a send whose task is rejected comes back with the rejected task",
            tells_a_rejection,
        )
        .needs_behaviour(Behaviour::Reject)
        .in_0_3(Strength::Choice),
        must(
            "B2-message",
            "not waiting has no effect on an answer that is a message",
            a_message_is_not_hurried,
        )
        .needs_behaviour(Behaviour::Message),
        must("B2-stream", "not waiting has no effect on a stream", a_stream_is_not_hurried)
            .needs(Requirement::Streaming)
            .needs_behaviour(Behaviour::Brief)
            .only_1_0(),
        must("B3-waits", "`blocking: true` waits", blocking_waits)
            .needs_behaviour(Behaviour::Brief)
            .only_0_3(),
        choice("B3-absent", "without a configuration a 0.3 send waits", absent_waits)
            .needs_behaviour(Behaviour::Brief)
            .only_0_3(),
        choice(
            "B3-proto",
            "a configuration without `blocking` means not to wait, as protobuf reads it",
            proto_absent,
        )
        .needs_behaviour(Behaviour::Slow)
        .only_0_3()
        .on(&[Binding::Rest, Binding::Grpc]),
        choice("B4", "a caller that leaves while a send waits does not stop the task", leaving_stops_nothing)
            .needs_behaviour(Behaviour::Brief)
            .only_1_0()
            .on(&[Binding::JsonRpc, Binding::Rest]),
        choice("B5", "output modes that the agent cannot produce are refused", impossible_modes)
            .needs_behaviour(Behaviour::Complete),
        should("B5-possible", "output modes that the agent can produce are served", possible_modes)
            .needs_behaviour(Behaviour::Complete),
        should("B6", "an input of a media type that the card does not name is refused", unknown_input)
            .in_0_3(Strength::Choice),
        must("B7", "a push configuration in a send is registered with the task", inline_push)
            .needs(Requirement::Push)
            .needs(Requirement::Receiver)
            .needs_behaviour(Behaviour::Slow),
        choice(
            "B7-unsupported",
            "a push configuration in a send is refused where push is not offered",
            push_unsupported,
        ),
        must("B8", "an answer to an interrupted task is in its history, and the task continues", going_on)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Choice),
        should("B8-auth", "a message to a task that wants a credential is taken", going_on_after_auth)
            .needs_behaviour(Behaviour::Auth),
        should("D3", "results are artifacts of a task", results_are_artifacts)
            .needs_behaviour(Behaviour::Complete),
        must("A6", "a task that wants a credential says what is needed", auth_is_explained)
            .needs_behaviour(Behaviour::Auth)
            .in_0_3(Strength::Quality),
    ]
}

async fn waits_for_the_end(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Brief)).await?.task()?;
    ensure!(task.state().is_terminal(), "the send came back with the task in {:?}", task.state());
    ensure!(!task.artifacts().is_empty(), "the task came back without its artifact");
    Ok(())
}

async fn waits_for_input(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    ensure!(task.state() == State::InputRequired, "the task came back in {:?}", task.state());
    Ok(())
}

async fn waits_for_a_credential(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Auth).waiting()).await?.task()?;
    ensure!(task.state() == State::AuthRequired, "the task came back in {:?}", task.state());
    Ok(())
}

async fn comes_at_once(pair: Pair) -> CheckResult {
    let start = Instant::now();
    let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?;
    let taken = start.elapsed();
    // The outcome does not matter: the check is about the send.
    let _ = pair.cancel(&task.id).await;
    ensure!(!task.state().is_terminal(), "the task was {:?}", task.state());
    ensure!(taken < Duration::from_secs(5), "the send took {:.1} s", taken.as_secs_f64());
    Ok(())
}

async fn ends_in(pair: &Pair, word: Behaviour, state: State) -> CheckResult {
    let task = pair.send(SendRequest::behaving(word).waiting()).await?.task()?;
    ensure!(task.state() == state, "the task came back in {:?}", task.state());
    let read = pair.get(&task.id).await?.done()?;
    ensure!(read.state() == state, "the task reads as {:?} afterwards", read.state());
    Ok(())
}

async fn tells_a_failure(pair: Pair) -> CheckResult {
    ends_in(&pair, Behaviour::Fail, State::Failed).await
}

async fn tells_a_rejection(pair: Pair) -> CheckResult {
    ends_in(&pair, Behaviour::Reject, State::Rejected).await
}

async fn a_message_is_not_hurried(pair: Pair) -> CheckResult {
    match pair.send(SendRequest::behaving(Behaviour::Message).at_once()).await?.done()? {
        SendResult::Message(message) => {
            ensure!(!message.parts.is_empty(), "the message has no parts");
            Ok(())
        }
        SendResult::Task(_) => fail("a task came instead of the message"),
    }
}

async fn a_stream_is_not_hurried(pair: Pair) -> CheckResult {
    let mut events = pair.stream(SendRequest::behaving(Behaviour::Brief).at_once()).await?.events()?;
    let items = events.rest().await?;
    let end = items.iter().rev().find_map(crate::protocol::StreamItem::state);
    ensure!(end == Some(State::Completed), "the stream ended with the task in {end:?}");
    Ok(())
}

async fn blocking_waits(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Brief).waiting()).await?.task()?;
    ensure!(task.state() == State::Completed, "the send came back with the task in {:?}", task.state());
    Ok(())
}

async fn absent_waits(pair: Pair) -> CheckResult {
    let params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Brief));
    let task = pair.send_raw(params).await?.task()?;
    ensure!(task.state() == State::Completed, "the send came back with the task in {:?}", task.state());
    Ok(())
}

async fn proto_absent(pair: Pair) -> CheckResult {
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Slow));
    params["configuration"] = json!({"historyLength": 5});
    let task = pair.send_raw(params).await?.task()?;
    let _ = pair.cancel(&task.id).await;
    ensure!(!task.state().is_terminal(), "the task was {:?}", task.state());
    Ok(())
}

async fn leaving_stops_nothing(pair: Pair) -> CheckResult {
    let context = uuid::Uuid::new_v4().to_string();
    let send = SendRequest::behaving(Behaviour::Brief).in_context(&context);
    let impatient = Duration::from_millis(150);
    // Dropping the call closes its connection.
    if tokio::time::timeout(impatient, pair.send(send)).await.is_ok() {
        return not_applicable("the send did not wait");
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let page = pair.list(&[("contextId", json!(context))]).await?.done()?;
        let states: Vec<_> = page.tasks.iter().map(crate::protocol::Task::state).collect();
        if states.is_empty() && Instant::now() > deadline {
            return not_applicable("the call was dropped before the server had it");
        }
        if states == [State::Completed] {
            return Ok(());
        }
        let settled = states.iter().any(|state| state.is_terminal());
        ensure!(!settled && Instant::now() < deadline, "the tasks of the context are {states:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn impossible_modes(pair: Pair) -> CheckResult {
    let send = SendRequest::behaving(Behaviour::Complete).accepting(&["application/x-conformance-nothing"]);
    pair.send(send).await?.expect(ExpectedError::ContentType)
}

async fn possible_modes(pair: Pair) -> CheckResult {
    let modes = pair.subject.card["defaultOutputModes"].as_array();
    let modes: Vec<&str> = modes.into_iter().flatten().filter_map(|mode| mode.as_str()).collect();
    if modes.is_empty() {
        return not_applicable("the card names no output modes");
    }
    let task =
        pair.send(SendRequest::behaving(Behaviour::Complete).accepting(&modes).waiting()).await?.task()?;
    ensure!(task.state() == State::Completed, "the task is {:?}", task.state());
    Ok(())
}

async fn unknown_input(pair: Pair) -> CheckResult {
    let card = &pair.subject.card;
    let skills = card["skills"].as_array().into_iter().flatten().map(|skill| &skill["inputModes"]);
    let modes = skills.chain([&card["defaultInputModes"]]).filter_map(|modes| modes.as_array()).flatten();
    if modes
        .into_iter()
        .any(|mode| mode.as_str().is_some_and(|mode| mode.starts_with("*") || mode == "application/*"))
    {
        return not_applicable("the card takes any media type");
    }
    let json_form = pair.json_form();
    let mut params = json_form::send(json_form, &SendRequest::behaving(Behaviour::Complete));
    let part = json_form.bytes_part("AAECAw==", "application/x-conformance-unknown");
    if let Some(parts) = params["message"][json_form.parts()].as_array_mut() {
        parts.push(part);
    }
    pair.send_raw(params).await?.expect(ExpectedError::ContentType)
}

async fn inline_push(pair: Pair) -> CheckResult {
    let Some(receiver) = &pair.subject.receiver else { return not_applicable("no receiver") };
    let mailbox = receiver.mailbox();
    let config = PushConfig { id: Some("inline".into()), url: mailbox.url.clone(), ..PushConfig::default() };
    let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once().push(config)).await?.task()?;
    let configs = pair.push_list(&task.id).await?.done()?;
    let _ = pair.cancel(&task.id).await;
    ensure!(
        configs.iter().any(|config| config.url == mailbox.url),
        "the task's push configurations are {configs:?}"
    );
    Ok(())
}

async fn push_unsupported(pair: Pair) -> CheckResult {
    if pair.subject.capability("pushNotifications") {
        return not_applicable("push is offered");
    }
    let config = PushConfig { url: "https://example.com/hook".into(), ..PushConfig::default() };
    pair.send(SendRequest::behaving(Behaviour::Complete).push(config))
        .await?
        .expect(ExpectedError::PushNotSupported)
}

async fn going_on(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    let answer = SendRequest::text("that one").for_task(&waiting.id).in_context(&waiting.context).waiting();
    let message_id = answer.message_id.clone();
    let done = pair.send(answer).await?.task()?;
    ensure!(done.id == waiting.id, "the answer opened another task");
    ensure!(done.state() == State::Completed, "the task is {:?} after the answer", done.state());
    let read = pair.get(&waiting.id).await?.done()?;
    let kept = read.history().iter().any(|message| message.id == message_id && message.role == Role::User);
    ensure!(kept, "the answer is not in the task's history");
    Ok(())
}

async fn going_on_after_auth(pair: Pair) -> CheckResult {
    let waiting = pair.send(SendRequest::behaving(Behaviour::Auth).waiting()).await?.task()?;
    let reply = pair.send(SendRequest::text("signed in").for_task(&waiting.id).waiting()).await?;
    let done = reply.task()?;
    ensure!(done.id == waiting.id, "the message opened another task");
    Ok(())
}

async fn results_are_artifacts(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    ensure!(task.state() == State::Completed, "the task is {:?}", task.state());
    ensure!(
        task.artifacts().iter().any(|artifact| artifact.text() == "done"),
        "the artifacts are {:?}",
        task.artifacts
    );
    Ok(())
}

async fn auth_is_explained(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Auth).waiting()).await?.task()?;
    let explained =
        task.status.message.is_some_and(|message| !crate::protocol::text_of(&message.parts).is_empty());
    ensure!(explained, "the status has no message that says what is needed");
    Ok(())
}
