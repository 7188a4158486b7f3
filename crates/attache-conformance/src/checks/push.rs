//! Push configurations (P1 to P5, P9, P12): made, read, listed, replaced and deleted.

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Strength, choice, ensure, fail, must, not_applicable, quality, should,
};
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::http::HttpRequest;
use crate::json_form::JsonForm;
use crate::pair::Pair;
use crate::protocol::{Binding, PushConfig};
use crate::request::{Operation, SendRequest};

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("P2-create", "a configuration is stored and comes back", create),
        must("P2-id", "a configuration without an id gets one", gets_an_id).in_0_3(Strength::Quality),
        quality("P2-replace", "the same id again replaces the configuration", replace),
        must("P2-unknown", "a configuration for a task that does not exist is refused", create_unknown),
        quality("P2-url", "a configuration without a URL is refused", without_url),
        quality("P2-lives", "several configurations of one task live side by side", several),
        must("P3-get", "a configuration can be read", get),
        must("P3-missing", "reading a configuration that does not exist is refused", get_missing),
        must("P3-unknown", "reading a configuration of a task that does not exist is refused", get_unknown),
        quality("P3-default", "without an id the task's only configuration is read", get_only)
            .only_0_3()
            .on(&[Binding::JsonRpc]),
        must("P4", "all configurations of a task are listed", list),
        quality("P4-empty", "a task without configurations has an empty list", list_empty),
        must(
            "P4-unknown",
            "listing the configurations of a task that does not exist is refused",
            list_unknown,
        )
        .in_0_3(Strength::Quality),
        must("P5", "a deleted configuration is gone", delete),
        must("P5-idempotent", "deleting a configuration that does not exist succeeds", delete_missing)
            .in_0_3(Strength::Quality),
        must(
            "P5-unknown",
            "deleting a configuration of a task that does not exist is refused",
            delete_unknown,
        )
        .in_0_3(Strength::Quality),
        should("P9-scheme", "a URL that is neither http nor https is refused", |pair| {
            refuses(pair, "ftp://example.com/hook")
        }),
        should("P9-metadata", "a link-local URL is refused", |pair| {
            refuses(pair, "http://169.254.169.254/latest")
        }),
        should("P9-private", "a private URL is refused", |pair| refuses(pair, "http://10.0.0.1/hook")),
        quality("P9-mapped", "a private address in the form of IPv6 is refused", |pair| {
            refuses(pair, "http://[::ffff:10.0.0.1]/hook")
        }),
        quality("P9-garbage", "a URL that is none is refused", |pair| refuses(pair, "not a url")),
        quality("P12", "token and credentials come back to their owner", secrets_come_back),
        quality("11.3-wrapped", "a configuration is taken in the form of the request", |pair| taken(pair, 0))
            .only_0_3()
            .on(&[Binding::Rest]),
        quality("11.3-bare", "a configuration is taken in the form of the configuration itself", |pair| {
            taken(pair, 1)
        })
        .only_0_3()
        .on(&[Binding::Rest]),
        must("P-across", "a configuration can be read on every other pair", across),
    ];
    let needs = |check: Check| {
        check.needs(Requirement::Push).needs(Requirement::Receiver).needs_behaviour(Behaviour::Slow)
    };
    let mut checks: Vec<Check> = checks.into_iter().map(needs).collect();
    checks.push(
        must("P1", "without the capability every push operation is refused as unsupported", unsupported)
            .in_0_3(Strength::Choice),
    );
    checks.push(choice(
        "P1-first",
        "also for a task that does not exist: the capability is looked at first",
        unsupported_first,
    ));
    checks
}

/// A running task, and a URL that this machine listens on.
async fn setting(pair: &Pair) -> CheckResult<(String, String)> {
    let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?;
    let Some(receiver) = &pair.subject.receiver else { return not_applicable("no receiver") };
    Ok((task.id, receiver.mailbox().url))
}

fn config(id: &str, url: &str) -> PushConfig {
    PushConfig { id: Some(id.into()), url: url.into(), ..PushConfig::default() }
}

fn nowhere() -> String {
    uuid::Uuid::new_v4().to_string()
}

async fn create(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    let made = pair.push_create(&task, config("one", &url)).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(made.url == url, "the URL came back as {:?}", made.url);
    ensure!(made.id.as_deref() == Some("one"), "the id came back as {:?}", made.id);
    ensure!(made.task.as_deref() == Some(&*task), "the task came back as {:?}", made.task);
    Ok(())
}

async fn gets_an_id(pair: Pair) -> CheckResult {
    if pair.json_form() == JsonForm::Proto0_3 {
        return not_applicable("the 0.3 protobuf requires an id");
    }
    let (task, url) = setting(&pair).await?;
    let made = pair.push_create(&task, PushConfig { url, ..PushConfig::default() }).await?.done()?;
    let listed = pair.push_list(&task).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(made.id.is_some(), "it has none");
    ensure!(listed.iter().any(|config| config.id == made.id), "it is listed as {listed:?}");
    Ok(())
}

async fn replace(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    let other = format!("{url}/other");
    pair.push_create(&task, config("one", &other)).await?.done()?;
    let listed = pair.push_list(&task).await?.done()?;
    let _ = pair.cancel(&task).await;
    let urls: Vec<_> = listed.iter().map(|config| config.url.as_str()).collect();
    ensure!(urls == [other.as_str()], "the URLs are {urls:?}");
    Ok(())
}

async fn create_unknown(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    let _ = pair.cancel(&task).await;
    pair.push_create(&nowhere(), config("one", &url)).await?.expect(ExpectedError::TaskNotFound)
}

async fn without_url(pair: Pair) -> CheckResult {
    let (task, _) = setting(&pair).await?;
    let create = Operation::PushCreate { task: task.clone(), config: config("one", "") };
    let reply = pair.call(create).await;
    let _ = pair.cancel(&task).await;
    reply?.expect(ExpectedError::InvalidParams)
}

async fn several(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    pair.push_create(&task, config("two", &url)).await?.done()?;
    let one = pair.push_get(&task, Some("one")).await?.done()?;
    let two = pair.push_get(&task, Some("two")).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(one.id.as_deref() == Some("one") && two.id.as_deref() == Some("two"), "{one:?} and {two:?}");
    Ok(())
}

async fn get(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    let read = pair.push_get(&task, Some("one")).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(read.url == url, "its URL is {:?}", read.url);
    Ok(())
}

async fn get_missing(pair: Pair) -> CheckResult {
    let (task, _) = setting(&pair).await?;
    let reply = pair.push_get(&task, Some("missing")).await;
    let _ = pair.cancel(&task).await;
    reply?.expect(ExpectedError::TaskNotFound)
}

async fn get_unknown(pair: Pair) -> CheckResult {
    pair.push_get(&nowhere(), Some("one")).await?.expect(ExpectedError::TaskNotFound)
}

async fn get_only(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    let read = pair.push_get(&task, None).await;
    let _ = pair.cancel(&task).await;
    ensure!(read?.done()?.url == url, "it is another one");
    Ok(())
}

async fn list(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    for id in ["one", "two"] {
        pair.push_create(&task, config(id, &url)).await?.done()?;
    }
    let listed = pair.push_list(&task).await?.done()?;
    let _ = pair.cancel(&task).await;
    let mut ids: Vec<_> = listed.iter().filter_map(|config| config.id.as_deref()).collect();
    ids.sort_unstable();
    ensure!(ids == ["one", "two"], "the list is {ids:?}");
    Ok(())
}

async fn list_empty(pair: Pair) -> CheckResult {
    let (task, _) = setting(&pair).await?;
    let listed = pair.push_list(&task).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(listed.is_empty(), "the list is {listed:?}");
    Ok(())
}

async fn list_unknown(pair: Pair) -> CheckResult {
    pair.push_list(&nowhere()).await?.expect(ExpectedError::TaskNotFound)
}

async fn delete(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    pair.push_delete(&task, "one").await?.done()?;
    let listed = pair.push_list(&task).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(listed.is_empty(), "the list is {listed:?}");
    Ok(())
}

async fn delete_missing(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    pair.push_delete(&task, "missing").await?.done()?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    pair.push_delete(&task, "one").await?.done()?;
    let again = pair.push_delete(&task, "one").await;
    let _ = pair.cancel(&task).await;
    again?.done()
}

async fn delete_unknown(pair: Pair) -> CheckResult {
    pair.push_delete(&nowhere(), "one").await?.expect(ExpectedError::TaskNotFound)
}

async fn refuses(pair: Pair, url: &'static str) -> CheckResult {
    let (task, _) = setting(&pair).await?;
    let reply = pair.push_create(&task, config("one", url)).await;
    let _ = pair.push_delete(&task, "one").await;
    let _ = pair.cancel(&task).await;
    reply?.expect(ExpectedError::InvalidParams)
}

async fn secrets_come_back(pair: Pair) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    let wanted = PushConfig {
        token: Some("conformance-token".into()),
        authentication: Some(("Bearer".into(), "conformance-credentials".into())),
        ..config("one", &url)
    };
    pair.push_create(&task, wanted.clone()).await?.done()?;
    let read = pair.push_get(&task, Some("one")).await?.done()?;
    let _ = pair.cancel(&task).await;
    ensure!(read.token == wanted.token, "the token came back as {:?}", read.token);
    ensure!(
        read.authentication == wanted.authentication,
        "the credentials came back as {:?}",
        read.authentication
    );
    Ok(())
}

async fn taken(pair: Pair, form: usize) -> CheckResult {
    let (task, url) = setting(&pair).await?;
    let body = &framing::push_bodies(&pair, &task, &config("one", &url))[form];
    let url =
        framing::rest_url(&pair, &format!("/tasks/{}/pushNotificationConfigs", framing::encoded(&task)));
    let answer = pair.raw(HttpRequest::new(http::Method::POST, url).body(body.to_string())).await;
    let _ = pair.cancel(&task).await;
    let answer = answer?;
    ensure!(answer.status() == 200, "HTTP {} {}", answer.status(), answer.text());
    Ok(())
}

async fn across(pair: Pair) -> CheckResult {
    let others: Vec<Pair> =
        pair.subject.pairs().into_iter().filter(|other| other.interface != pair.interface).collect();
    if others.is_empty() {
        return not_applicable("no other pair is offered");
    }
    let (task, url) = setting(&pair).await?;
    pair.push_create(&task, config("one", &url)).await?.done()?;
    for other in others {
        match other.push_get(&task, Some("one")).await?.done() {
            Ok(read) => ensure!(read.url == url, "on {} its URL is {:?}", other.name(), read.url),
            Err(stop) => {
                let _ = pair.cancel(&task).await;
                return match stop {
                    crate::check::Stop::Fail(why) => fail(format!("on {}: {why}", other.name())),
                    other => Err(other),
                };
            }
        }
    }
    let _ = pair.cancel(&task).await;
    Ok(())
}

async fn unsupported(pair: Pair) -> CheckResult {
    if pair.subject.capability("pushNotifications") {
        return not_applicable("push is offered");
    }
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?.id;
    refused_everywhere(&pair, &task).await
}

async fn unsupported_first(pair: Pair) -> CheckResult {
    if pair.subject.capability("pushNotifications") {
        return not_applicable("push is offered");
    }
    refused_everywhere(&pair, &nowhere()).await
}

async fn refused_everywhere(pair: &Pair, task: &str) -> CheckResult {
    let expected = ExpectedError::PushNotSupported;
    pair.push_create(task, config("one", "https://example.com/hook")).await?.expect(expected)?;
    pair.push_get(task, Some("one")).await?.expect(expected)?;
    pair.push_list(task).await?.expect(expected)?;
    pair.push_delete(task, "one").await?.expect(expected)
}
