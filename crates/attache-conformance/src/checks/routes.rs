//! The HTTP+JSON binding itself: paths, verbs, bodies (sections 1.2 and 9.3), and media types on both HTTP bindings.

use http::Method;
use serde_json::{Value, json};

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, Requirement, Stop, Strength, choice, ensure, must, quality, should};
use crate::framing;
use crate::http::{HttpRequest, HttpResponse};
use crate::json_form;
use crate::pair::{Pair, head_of};
use crate::protocol::Binding;
use crate::request::{Operation, SendRequest};

const REST: &[Binding] = &[Binding::Rest];
const HTTP: &[Binding] = &[Binding::JsonRpc, Binding::Rest];

pub(super) fn checks() -> Vec<Check> {
    vec![
        should("9.3-route", "an unknown path is not found", unknown_route).on(REST).in_0_3(Strength::Quality),
        quality("9.3-route-body", "with an error body like any other", unknown_route_body)
            .on(REST)
            .only_1_0(),
        quality("9.3-verb", "a wrong verb is not allowed", wrong_verb).on(REST),
        quality("9.3-allow", "and the answer names the right ones", allow).on(REST),
        must("9.3-parse", "what is no JSON is a bad request", bad_json).on(REST).in_0_3(Strength::Quality),
        quality("9.3-object", "a body that is no object is a bad request", no_object).on(REST),
        quality("9.3-empty", "an empty body of a send is a bad request", empty_body).on(REST),
        quality("9.3-media", "a body that is said not to be JSON is refused", wrong_media).on(REST),
        quality("9.3-head", "HEAD is answered like GET", head).on(REST).needs_behaviour(Behaviour::Complete),
        must("10-json-rpc", "answers on JSON-RPC are application/json", json_media).on(&[Binding::JsonRpc]),
        must("10-rest-0.3", "answers on HTTP+JSON are application/json", json_media).on(REST).only_0_3(),
        should("10-rest-1.0", "answers on HTTP+JSON are application/a2a+json", a2a_media).on(REST).only_1_0(),
        quality("10-error", "error bodies on HTTP+JSON are JSON, and said to be", error_media).on(REST),
        must("10-accepts", "bodies are taken as application/json and as application/a2a+json", both_media)
            .on(REST)
            .only_1_0(),
        quality("10-charset", "a media type may have parameters", charset).on(HTTP),
        must("10-stream", "streams are text/event-stream", stream_media)
            .on(HTTP)
            .needs(Requirement::Streaming)
            .needs_behaviour(Behaviour::Complete),
        quality("10-extended", "the extended card on HTTP+JSON is application/a2a+json", extended_media)
            .on(REST)
            .only_1_0()
            .needs(Requirement::ExtendedCard),
        quality("P5-body", "a deletion is answered with 200 and `{}`", deletion)
            .on(REST)
            .needs(Requirement::Push)
            .needs(Requirement::Receiver)
            .needs_behaviour(Behaviour::Slow),
        choice("1.2-success", "a success is HTTP 200", success).on(REST),
        quality("A7-large", "a body of 24 MiB is refused and does no harm", large).on(HTTP).last(),
    ]
}

async fn at(pair: &Pair, method: Method, path: &str) -> CheckResult<HttpResponse> {
    pair.raw(HttpRequest::new(method, framing::rest_url(pair, path))).await
}

async fn posted(pair: &Pair, body: impl Into<bytes::Bytes>) -> CheckResult<HttpResponse> {
    pair.raw(HttpRequest::new(Method::POST, framing::rest_url(pair, "/message:send")).body(body)).await
}

fn expect(answer: &HttpResponse, status: u16) -> CheckResult {
    ensure!(answer.status() == status, "expected HTTP {status}, got {} {}", answer.status(), answer.text());
    Ok(())
}

async fn unknown_route(pair: Pair) -> CheckResult {
    expect(&at(&pair, Method::GET, "/conformance/unknown/route").await?, 404)?;
    expect(&at(&pair, Method::POST, "/message:unknown").await?, 404)
}

async fn unknown_route_body(pair: Pair) -> CheckResult {
    let body = at(&pair, Method::GET, "/conformance/unknown/route").await?.json()?;
    ensure!(body["error"]["code"] == 404 && body["error"]["message"].is_string(), "the body is {body}");
    Ok(())
}

async fn wrong_verb(pair: Pair) -> CheckResult {
    expect(&at(&pair, Method::GET, "/message:send").await?, 405)?;
    expect(&at(&pair, Method::DELETE, "/tasks/conformance").await?, 405)?;
    expect(&at(&pair, Method::PUT, "/tasks/conformance:cancel").await?, 405)
}

async fn allow(pair: Pair) -> CheckResult {
    let answer = at(&pair, Method::GET, "/message:send").await?;
    let allow = answer.head.header("allow").unwrap_or_default();
    ensure!(
        allow.split(',').any(|verb| verb.trim() == "POST"),
        "HTTP {} with Allow {allow:?}",
        answer.status()
    );
    Ok(())
}

async fn bad_json(pair: Pair) -> CheckResult {
    for body in ["{", "nonsense", "{\"message\":"] {
        expect(&posted(&pair, body).await?, 400)?;
    }
    Ok(())
}

async fn no_object(pair: Pair) -> CheckResult {
    for body in [json!([]), json!("text"), json!(1)] {
        expect(&posted(&pair, body.to_string()).await?, 400)?;
    }
    Ok(())
}

async fn empty_body(pair: Pair) -> CheckResult {
    expect(&posted(&pair, "").await?, 400)
}

fn body(pair: &Pair) -> Value {
    json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete))
}

async fn wrong_media(pair: Pair) -> CheckResult {
    let answer = posted(&pair.clone().with_content_type("text/plain"), body(&pair).to_string()).await?;
    ensure!(matches!(answer.status(), 400 | 415), "HTTP {} {}", answer.status(), answer.text());
    Ok(())
}

async fn head(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete)).await?.task()?;
    let answer = at(&pair, Method::HEAD, &format!("/tasks/{}", framing::encoded(&task.id))).await?;
    expect(&answer, 200)?;
    ensure!(answer.body.is_empty(), "there is a body");
    Ok(())
}

async fn media(pair: &Pair, expected: &str) -> CheckResult {
    let found = head_of(pair.send(SendRequest::behaving(Behaviour::Complete)).await?)?.media_type();
    ensure!(found == expected, "a success is {found:?}");
    Ok(())
}

async fn json_media(pair: Pair) -> CheckResult {
    media(&pair, "application/json").await?;
    let found = pair.get(&uuid::Uuid::new_v4().to_string()).await?.refused()?.head.media_type();
    ensure!(found == "application/json", "an error is {found:?}");
    Ok(())
}

async fn a2a_media(pair: Pair) -> CheckResult {
    media(&pair, "application/a2a+json").await
}

async fn error_media(pair: Pair) -> CheckResult {
    let refusal = pair.get(&uuid::Uuid::new_v4().to_string()).await?.refused()?;
    let found = refusal.head.media_type();
    ensure!(matches!(&*found, "application/json" | "application/a2a+json"), "it is {found:?}");
    ensure!(refusal.body.is_object(), "the body is {}", refusal.body);
    Ok(())
}

async fn both_media(pair: Pair) -> CheckResult {
    for media in ["application/json", "application/a2a+json"] {
        let answer = posted(&pair.clone().with_content_type(media), body(&pair).to_string()).await?;
        ensure!(answer.status() == 200, "{media}: HTTP {} {}", answer.status(), answer.text());
    }
    Ok(())
}

async fn charset(pair: Pair) -> CheckResult {
    let pair = pair.with_content_type("application/json; charset=utf-8");
    pair.send(SendRequest::behaving(Behaviour::Complete)).await?.done()?;
    Ok(())
}

async fn stream_media(pair: Pair) -> CheckResult {
    let events = pair.stream(SendRequest::behaving(Behaviour::Complete)).await?.events()?;
    ensure!(events.head.media_type() == "text/event-stream", "it is {:?}", events.head.media_type());
    Ok(())
}

async fn extended_media(pair: Pair) -> CheckResult {
    let found = head_of(pair.extended_card().await?)?.media_type();
    ensure!(found == "application/a2a+json", "it is {found:?}");
    Ok(())
}

async fn deletion(pair: Pair) -> CheckResult {
    let Some(receiver) = &pair.subject.receiver else { return crate::check::not_applicable("no receiver") };
    let task = pair.send(SendRequest::behaving(Behaviour::Slow).at_once()).await?.task()?;
    let config = crate::protocol::PushConfig {
        id: Some("one".into()),
        url: receiver.mailbox().url,
        ..crate::protocol::PushConfig::default()
    };
    pair.push_create(&task.id, config).await?.done()?;
    let path = format!("/tasks/{}/pushNotificationConfigs/one", framing::encoded(&task.id));
    let answer = at(&pair, Method::DELETE, &path).await;
    let _ = pair.cancel(&task.id).await;
    let answer = answer?;
    expect(&answer, 200)?;
    ensure!(answer.json()? == json!({}), "the body is {}", answer.text());
    Ok(())
}

async fn success(pair: Pair) -> CheckResult {
    let head = head_of(pair.send(SendRequest::behaving(Behaviour::Complete)).await?)?;
    ensure!(head.status == 200, "HTTP {}", head.status);
    Ok(())
}

async fn large(pair: Pair) -> CheckResult {
    let operation = Operation::Send(json_form::send(
        pair.json_form(),
        &SendRequest::text("conformance complete FILLING"),
    ));
    let mut request = match pair.binding() {
        Binding::JsonRpc => framing::json_rpc(&pair, &operation)?.0,
        _ => framing::rest(&pair, &operation)?,
    };
    let body = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default()).into_owned();
    request.body = Some(body.replacen("FILLING", &"x".repeat(24 * 1024 * 1024), 1).into());
    match pair.subject.http.call(request).await {
        // A server may also close the connection during a refused body.
        Err(Stop::Fail(_)) => {}
        Err(stop) => return Err(stop),
        Ok(answer) => {
            let refused = answer.status() >= 400 || answer.json()?.get("error").is_some();
            ensure!(refused, "it was served");
        }
    }
    pair.send(SendRequest::behaving(Behaviour::Complete)).await?.done()?;
    Ok(())
}
