//! Who may call (A4, A5), and the extended card (K3).

use http::Method;

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Strength, choice, ensure, fail, must, not_applicable, quality, should,
};
use crate::checks::card_contents;
use crate::error_response::{ErrorResponse, Reply};
use crate::expected_error::ExpectedError;
use crate::framing;
use crate::http::HttpRequest;
use crate::pair::Pair;
use crate::protocol::{Binding, PushConfig, Version};
use crate::request::{Operation, SendRequest};

pub(super) fn checks() -> Vec<Check> {
    let guarded = vec![
        must("A4", "a call without credentials is refused on every operation", without),
        must("A4-wrong", "a call with wrong credentials is refused", wrong),
        must("A4-scheme", "a call with a scheme that was not declared is refused", other_scheme),
        should("A4-challenge", "the refusal says which scheme is wanted", challenge)
            .on(&[Binding::JsonRpc, Binding::Rest]),
        must("A5", "credentials are looked at before tasks are looked up", before_lookup),
        quality("A4-stream", "a stream without credentials is not opened", stream)
            .needs(Requirement::Streaming),
        quality("A4-body", "credentials are looked at before the body", before_body)
            .on(&[Binding::JsonRpc, Binding::Rest]),
        must("K3-guarded", "the extended card is not shown without credentials", extended_without)
            .needs(Requirement::ExtendedCard),
    ];
    let apart = vec![
        must("A5-owner", "a task of one caller does not exist for another", not_found_for_others)
            .needs_behaviour(Behaviour::Slow),
        must("L1-owner", "a list tells only the caller's own tasks", not_listed_for_others)
            .needs_behaviour(Behaviour::Complete)
            .only_1_0(),
    ];
    let mut checks: Vec<Check> =
        guarded.into_iter().map(|check| check.needs(Requirement::Credentials)).collect();
    checks.extend(apart.into_iter().map(|check| check.needs(Requirement::OtherCaller)));
    checks.extend([
        must("K3", "the extended card is a whole card of the version", extended)
            .needs(Requirement::ExtendedCard),
        must("K3-absent", "without the capability the extended card is an unsupported operation", absent)
            .only_1_0(),
        choice("K3-absent-0.3", "without the capability the extended card is an error", absent_0_3)
            .only_0_3()
            .on(&[Binding::JsonRpc, Binding::Rest]),
        quality(
            "K3-grpc",
            "GetAgentCard tells the public card where there is no extended one",
            public_by_grpc,
        )
        .only_0_3()
        .on(&[Binding::Grpc])
        .in_0_3(Strength::Quality),
    ]);
    checks
}

fn is_unauthenticated(refusal: &ErrorResponse) -> bool {
    match refusal.binding {
        Binding::Grpc => refusal.status.as_deref() == Some("UNAUTHENTICATED"),
        _ => refusal.head.status == 401,
    }
}

fn expect<T>(what: &str, reply: Reply<T>) -> CheckResult {
    match reply {
        Reply::Done(..) => fail(format!("{what} was served")),
        Reply::Refused(refusal) if is_unauthenticated(&refusal) => Ok(()),
        Reply::Refused(refusal) => fail(format!("{what} was refused with {}", refusal.shown())),
    }
}

fn operations(pair: &Pair) -> Vec<(&'static str, Operation)> {
    let task = uuid::Uuid::new_v4().to_string();
    let url = "https://example.com/hook".to_owned();
    let config = PushConfig { id: Some("one".into()), url, ..PushConfig::default() };
    let params = crate::json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    let mut operations = vec![
        ("send", Operation::Send(params)),
        ("get", Operation::Get { task: task.clone(), history: None }),
        ("cancel", Operation::Cancel { task: task.clone() }),
        ("push create", Operation::PushCreate { task: task.clone(), config }),
        ("push get", Operation::PushGet { task: task.clone(), config: Some("one".into()) }),
        ("push list", Operation::PushList { task: task.clone() }),
        ("push delete", Operation::PushDelete { task, config: "one".into() }),
    ];
    if pair.version() == Version::V1_0 {
        operations.push(("list", Operation::List(Vec::new())));
    }
    operations
}

async fn without(pair: Pair) -> CheckResult {
    let stranger = pair.with_authorization(None);
    for (what, operation) in operations(&stranger) {
        expect(what, stranger.call(operation).await?)?;
    }
    Ok(())
}

async fn wrong(pair: Pair) -> CheckResult {
    for authorization in ["Bearer conformance-wrong", "Bearer", "Bearer ", "conformance"] {
        let stranger = pair.clone().with_authorization(Some(authorization));
        expect(authorization, stranger.send(SendRequest::behaving(Behaviour::Complete)).await?)?;
    }
    Ok(())
}

async fn other_scheme(pair: Pair) -> CheckResult {
    let token = pair.subject.token.clone().unwrap_or_default();
    let stranger = pair.with_authorization(Some(&format!("Conformance {token}")));
    expect("a call with another scheme", stranger.send(SendRequest::behaving(Behaviour::Complete)).await?)
}

async fn challenge(pair: Pair) -> CheckResult {
    let refusal =
        pair.with_authorization(None).send(SendRequest::behaving(Behaviour::Complete)).await?.refused()?;
    let challenge = refusal.head.header("www-authenticate").unwrap_or_default();
    ensure!(challenge.to_ascii_lowercase().starts_with("bearer"), "WWW-Authenticate is {challenge:?}");
    Ok(())
}

async fn before_lookup(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    let stranger = pair.with_authorization(None);
    let existing = stranger.get(&task.id).await?.refused()?;
    let missing = stranger.get(&uuid::Uuid::new_v4().to_string()).await?.refused()?;
    ensure!(
        is_unauthenticated(&existing) && is_unauthenticated(&missing),
        "{} and {}",
        existing.shown(),
        missing.shown()
    );
    Ok(())
}

async fn not_found_for_others(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?;
    let other = pair.clone().other_caller();
    other.get(&task.id).await?.expect(ExpectedError::TaskNotFound)?;
    other.cancel(&task.id).await?.expect(ExpectedError::TaskNotFound)?;
    other
        .send(SendRequest::behaving(Behaviour::Complete).for_task(&task.id))
        .await?
        .expect(ExpectedError::TaskNotFound)?;
    pair.cancel(&task.id).await?.done()?;
    Ok(())
}

async fn not_listed_for_others(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    for members in [vec![], vec![("contextId", serde_json::json!(task.context))]] {
        let page = pair.clone().unchecked().other_caller().list(&members).await?.done()?;
        ensure!(!page.ids().contains(&task.id.as_str()), "another caller's list has the task");
    }
    Ok(())
}

async fn stream(pair: Pair) -> CheckResult {
    expect(
        "the stream",
        pair.with_authorization(None).stream(SendRequest::behaving(Behaviour::Complete)).await?,
    )
}

async fn before_body(pair: Pair) -> CheckResult {
    let stranger = pair.with_authorization(None);
    let url = match stranger.binding() {
        Binding::Rest => framing::rest_url(&stranger, "/message:send"),
        _ => framing::url(&stranger, ""),
    };
    let answer = stranger.raw(HttpRequest::new(Method::POST, url).body("nonsense")).await?;
    ensure!(answer.status() == 401, "HTTP {} {}", answer.status(), answer.text());
    Ok(())
}

async fn extended_without(pair: Pair) -> CheckResult {
    expect("the extended card", pair.with_authorization(None).extended_card().await?)
}

async fn extended(pair: Pair) -> CheckResult {
    let card = pair.extended_card().await?.done()?;
    let faults = match (pair.version(), pair.binding()) {
        (Version::V1_0, _) => card_contents::faults_1_0(&card),
        (Version::V0_3, Binding::Grpc) => Vec::new(),
        (Version::V0_3, _) => card_contents::faults_0_3(&card),
    };
    ensure!(faults.is_empty(), "{}", faults.join("; "));
    ensure!(card["name"] == pair.subject.card["name"], "it is the card of {}", card["name"]);
    Ok(())
}

async fn absent(pair: Pair) -> CheckResult {
    if pair.subject.has_extended_card() {
        return not_applicable("there is an extended card");
    }
    pair.extended_card().await?.expect(ExpectedError::Unsupported)
}

async fn absent_0_3(pair: Pair) -> CheckResult {
    if pair.subject.has_extended_card() {
        return not_applicable("there is an extended card");
    }
    pair.extended_card().await?.refused()?;
    Ok(())
}

async fn public_by_grpc(pair: Pair) -> CheckResult {
    let card = pair.extended_card().await?.done()?;
    ensure!(card["name"] == pair.subject.card["name"], "it is the card of {}", card["name"]);
    Ok(())
}
