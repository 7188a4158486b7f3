//! Push notifications as they arrive (P5 to P8, P11): their shape, their headers, their order.

use std::time::Duration;

use serde_json::Value;

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Stop, Strength, choice, ensure, fail, must, not_applicable, quality,
    should,
};
use crate::json_form::{self, JsonForm};
use crate::pair::Pair;
use crate::protocol::{PushConfig, State, StreamItem, Version};
use crate::receiver::{Delivery, Mailbox};
use crate::request::SendRequest;
use crate::shape;

/// How long a notification may take.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(8);

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("P8", "a registered receiver is notified when the task ends", arrives)
            .needs_behaviour(Behaviour::Ask),
        must("P8-inline", "so is one that was registered in the send", inline)
            .needs_behaviour(Behaviour::Brief),
        must("P6-shape", "a notification is one item of a stream, in 1.0", shape_1_0)
            .needs_behaviour(Behaviour::Brief)
            .only_1_0(),
        choice("P6-shape-0.3", "a notification is the whole task, in 0.3", shape_0_3)
            .needs_behaviour(Behaviour::Brief)
            .only_0_3(),
        must("P6-post", "it is posted", posted).needs_behaviour(Behaviour::Brief),
        should("P6-media-1.0", "as application/a2a+json", media_type)
            .needs_behaviour(Behaviour::Brief)
            .only_1_0(),
        choice("P6-media-0.3", "as application/json", media_type)
            .needs_behaviour(Behaviour::Brief)
            .only_0_3(),
        must("P7-authorization", "with the credentials of the configuration", authorization)
            .needs_behaviour(Behaviour::Brief),
        should("P7-token", "and with its token", token)
            .needs_behaviour(Behaviour::Brief)
            .in_0_3(Strength::Should),
        quality("P7-none", "and with neither when there is none", no_credentials)
            .needs_behaviour(Behaviour::Brief),
        quality("P8-order", "notifications come in the order of what happened", order)
            .needs_behaviour(Behaviour::Brief),
        should("P8-retry", "a receiver that is unavailable for a moment is notified again", retry)
            .needs_behaviour(Behaviour::Brief),
        must("P5-silence", "nothing is sent to a configuration that was deleted", silence)
            .needs_behaviour(Behaviour::Brief),
        must("P11-interrupted", "a receiver is notified when the task needs input", interrupted)
            .needs_behaviour(Behaviour::Ask)
            .in_0_3(Strength::Choice),
        must("P11-canceled", "and when it is canceled", canceled).needs_behaviour(Behaviour::Slow),
        quality("P8-all", "every receiver of a task is notified", several).needs_behaviour(Behaviour::Ask),
        must(
            "P8-stream",
            "the receiver of a task is notified although a stream follows the task",
            beside_a_stream,
        )
        .needs_behaviour(Behaviour::Brief)
        .needs(Requirement::Streaming),
    ];
    checks
        .into_iter()
        .map(|check| {
            check.needs(Requirement::Push).needs(Requirement::Receiver).needs_behaviour(Behaviour::Slow)
        })
        .collect()
}

fn mailbox(pair: &Pair) -> CheckResult<Mailbox> {
    match &pair.subject.receiver {
        Some(receiver) => Ok(receiver.mailbox()),
        None => not_applicable("no receiver"),
    }
}

fn config(mailbox: &Mailbox) -> PushConfig {
    PushConfig { id: Some("one".into()), url: mailbox.url.clone(), ..PushConfig::default() }
}

/// Starts `word` with a configuration in the send, and returns the notifications up to `state`.
async fn delivered_until(
    pair: &Pair,
    word: Behaviour,
    config: PushConfig,
    mailbox: &Mailbox,
    state: State,
) -> CheckResult<Vec<Delivery>> {
    let task = pair.send(SendRequest::behaving(word).at_once().push(config)).await?.task()?;
    match arrived(pair.version(), mailbox, state).await {
        Err(Stop::Fail(why)) => {
            // Says whether the delivery is still being retried.
            let kept = pair.push_list(&task.id).await?.done()?.len();
            let now = pair.get(&task.id).await?.done()?.state();
            fail(format!("{why}; the task is {now:?} and has {kept} configurations"))
        }
        other => other,
    }
}

async fn arrived(version: Version, mailbox: &Mailbox, state: State) -> CheckResult<Vec<Delivery>> {
    let is_it = |delivery: &Delivery| state_of(version, delivery) == Some(state);
    let delivered = mailbox.wait(DELIVERY_TIMEOUT, |delivered| delivered.iter().any(is_it)).await;
    let states: Vec<_> = delivered.iter().map(|delivery| state_of(version, delivery)).collect();
    ensure!(states.contains(&Some(state)), "within {} s came {states:?}", DELIVERY_TIMEOUT.as_secs());
    Ok(delivered)
}

/// The state in a notification, in any format.
fn state_of(version: Version, delivery: &Delivery) -> Option<State> {
    let body: Value = serde_json::from_slice(&delivery.body).ok()?;
    let json_forms = match version {
        Version::V1_0 => [JsonForm::V1_0, JsonForm::Schema0_3, JsonForm::Proto0_3],
        Version::V0_3 => [JsonForm::Schema0_3, JsonForm::Proto0_3, JsonForm::V1_0],
    };
    json_forms.iter().find_map(|json_form| {
        let item = json_form::as_item(*json_form, &body).ok();
        let task = || json_form::as_task(*json_form, &body).ok().map(StreamItem::Task);
        item.or_else(task)?.state()
    })
}

async fn last_of_brief(pair: &Pair, config: PushConfig, mailbox: &Mailbox) -> CheckResult<Delivery> {
    let delivered = delivered_until(pair, Behaviour::Brief, config, mailbox, State::Completed).await?;
    match delivered.into_iter().last() {
        Some(delivery) => Ok(delivery),
        None => not_applicable("nothing arrived"),
    }
}

async fn arrives(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let task = pair.send(SendRequest::behaving(Behaviour::Ask).waiting()).await?.task()?;
    pair.push_create(&task.id, config(&mailbox)).await?.done()?;
    pair.send(SendRequest::text("that one").for_task(&task.id)).await?.task()?;
    arrived(pair.version(), &mailbox, State::Completed).await?;
    Ok(())
}

async fn inline(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    delivered_until(&pair, Behaviour::Brief, config(&mailbox), &mailbox, State::Completed).await?;
    Ok(())
}

async fn shape_1_0(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    for delivery in
        delivered_until(&pair, Behaviour::Brief, config(&mailbox), &mailbox, State::Completed).await?
    {
        let body = delivery.json()?;
        json_form::as_item(JsonForm::V1_0, &body)?;
        let faults = shape::item(JsonForm::V1_0, &body)
            .map(|(object, inner)| shape::faults(JsonForm::V1_0, object, inner))
            .unwrap_or_default();
        ensure!(faults.is_empty(), "{}", faults.join("; "));
    }
    Ok(())
}

async fn shape_0_3(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    for delivery in
        delivered_until(&pair, Behaviour::Brief, config(&mailbox), &mailbox, State::Completed).await?
    {
        let body = delivery.json()?;
        ensure!(body["kind"] == "task", "a notification is {}", crate::text::shown(&body));
        let faults = shape::faults(JsonForm::Schema0_3, "Task", &body);
        ensure!(faults.is_empty(), "{}", faults.join("; "));
    }
    Ok(())
}

async fn posted(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let delivery = last_of_brief(&pair, config(&mailbox), &mailbox).await?;
    ensure!(delivery.method == "POST", "it came by {}", delivery.method);
    Ok(())
}

async fn media_type(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let delivery = last_of_brief(&pair, config(&mailbox), &mailbox).await?;
    let expected = if pair.is_1_0() { "application/a2a+json" } else { "application/json" };
    let found = delivery.header("content-type").unwrap_or_default();
    ensure!(found.split(';').next() == Some(expected), "its Content-Type is {found:?}");
    Ok(())
}

async fn authorization(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let authentication = Some(("Bearer".to_owned(), "conformance-credentials".to_owned()));
    let config = PushConfig { authentication, ..config(&mailbox) };
    let delivery = last_of_brief(&pair, config, &mailbox).await?;
    let found = delivery.header("authorization");
    ensure!(found == Some("Bearer conformance-credentials"), "Authorization is {found:?}");
    Ok(())
}

async fn token(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let config = PushConfig { token: Some("conformance-token".into()), ..config(&mailbox) };
    let delivery = last_of_brief(&pair, config, &mailbox).await?;
    let found = delivery.header("x-a2a-notification-token");
    ensure!(found == Some("conformance-token"), "X-A2A-Notification-Token is {found:?}");
    Ok(())
}

async fn no_credentials(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let delivery = last_of_brief(&pair, config(&mailbox), &mailbox).await?;
    ensure!(delivery.header("authorization").is_none(), "there is an Authorization header");
    ensure!(delivery.header("x-a2a-notification-token").is_none(), "there is a token");
    Ok(())
}

async fn order(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let delivered =
        delivered_until(&pair, Behaviour::Brief, config(&mailbox), &mailbox, State::Completed).await?;
    let states: Vec<_> = delivered.iter().filter_map(|it| state_of(pair.version(), it)).collect();
    let rank = |state: &State| match state {
        State::Submitted => 0,
        State::Working => 1,
        _ => 2,
    };
    ensure!(states.is_sorted_by_key(rank), "the states came as {states:?}");
    Ok(())
}

async fn retry(pair: Pair) -> CheckResult {
    let Some(receiver) = &pair.subject.receiver else { return not_applicable("no receiver") };
    let mailbox = receiver.mailbox_refusing(1);
    delivered_until(&pair, Behaviour::Brief, config(&mailbox), &mailbox, State::Completed).await?;
    Ok(())
}

async fn silence(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let task = pair.send(SendRequest::behaving(Behaviour::Brief).at_once()).await?.task()?;
    pair.push_create(&task.id, config(&mailbox)).await?.done()?;
    pair.push_delete(&task.id, "one").await?.done()?;
    let before = mailbox.wait(Duration::from_millis(100), |_| false).await.len();
    let after = mailbox.wait(Duration::from_millis(1200), |_| false).await.len();
    ensure!(before == after, "{} notifications came after the deletion", after - before);
    Ok(())
}

async fn interrupted(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    delivered_until(&pair, Behaviour::Ask, config(&mailbox), &mailbox, State::InputRequired).await?;
    Ok(())
}

async fn canceled(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    let task =
        pair.send(SendRequest::behaving(Behaviour::Slow).at_once().push(config(&mailbox))).await?.task()?;
    pair.cancel(&task.id).await?.done()?;
    arrived(pair.version(), &mailbox, State::Canceled).await?;
    Ok(())
}

async fn several(pair: Pair) -> CheckResult {
    let (one, two) = (mailbox(&pair)?, mailbox(&pair)?);
    let task = pair.send(SendRequest::behaving(Behaviour::Ask).waiting().push(config(&one))).await?.task()?;
    pair.push_create(&task.id, PushConfig { id: Some("two".into()), ..config(&two) }).await?.done()?;
    pair.send(SendRequest::text("that one").for_task(&task.id)).await?.task()?;
    arrived(pair.version(), &one, State::Completed).await?;
    arrived(pair.version(), &two, State::Completed).await?;
    Ok(())
}

async fn beside_a_stream(pair: Pair) -> CheckResult {
    let mailbox = mailbox(&pair)?;
    pair.stream(SendRequest::behaving(Behaviour::Brief).push(config(&mailbox)))
        .await?
        .events()?
        .rest()
        .await?;
    arrived(pair.version(), &mailbox, State::Completed).await?;
    Ok(())
}
