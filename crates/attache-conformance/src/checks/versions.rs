//! The version of a request and of its response (section 7, V1 to V5).

use serde_json::json;

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, Strength, choice, ensure, fail, must, quality, should};
use crate::error_response::Reply;
use crate::expected_error::ExpectedError;
use crate::pair::Pair;
use crate::protocol::{Binding, SendResult, Version};
use crate::request::SendRequest;

const HTTP: &[Binding] = &[Binding::JsonRpc, Binding::Rest];

pub(super) fn checks() -> Vec<Check> {
    vec![
        must("V1-patch", "a patch number in the version is ignored", patch),
        must("V2-query", "the version may be in the query", query).on(HTTP).only_1_0(),
        choice("V2-both", "the header counts before the query", header_wins).on(HTTP),
        must("V3-empty", "an empty version is 0.3", empty).only_0_3(),
        must("V3-named", "0.3 is served when it is named, too", named).only_0_3(),
        choice(
            "V3-absent",
            "a 1.0 call without a version is taken for 0.3, which has none such, or for 1.0",
            absent,
        )
        .only_1_0(),
        must("V4-unknown", "a version that is not supported is refused as such", unknown)
            .in_0_3(Strength::Choice),
        must("V4-next", "also the next one", |pair| refused(pair, "1.1")).in_0_3(Strength::Choice),
        must("V4-old", "also one before 0.3", |pair| refused(pair, "0.2")).in_0_3(Strength::Choice),
        must("V4-query", "also in the query", unknown_in_query).on(HTTP).in_0_3(Strength::Choice),
        quality("V4-garbage", "also what is no version at all", |pair| refused(pair, "latest")),
        should("V4-list", "the refusal tells which versions are supported", supported_list).only_1_0(),
        must("V4-contradiction", "a call of one version that names the other fails", contradiction),
        choice("7-contradiction", "with method not found", contradiction_code).on(&[Binding::JsonRpc]),
        must("V4-get", "the version is looked at on every operation", on_get).in_0_3(Strength::Choice),
        quality("V4-stream", "also before a stream is opened", on_stream)
            .needs(crate::check::Requirement::Streaming),
    ]
}

async fn served(pair: &Pair) -> CheckResult {
    pair.send(SendRequest::behaving(Behaviour::Complete)).await?.done()?;
    Ok(())
}

async fn patch(pair: Pair) -> CheckResult {
    let version = if pair.is_1_0() { "1.0.1" } else { "0.3.0" };
    served(&pair.with_version(Some(version))).await
}

async fn query(pair: Pair) -> CheckResult {
    served(&pair.with_version(None).with_query("A2A-Version=1.0")).await
}

async fn header_wins(pair: Pair) -> CheckResult {
    let (own, other) = if pair.is_1_0() { ("1.0", "0.3") } else { ("0.3", "1.0") };
    served(&pair.with_version(Some(own)).with_query(&format!("A2A-Version={other}"))).await
}

async fn empty(pair: Pair) -> CheckResult {
    served(&pair.with_version(Some(""))).await
}

async fn named(pair: Pair) -> CheckResult {
    served(&pair.with_version(Some("0.3"))).await
}

async fn absent(pair: Pair) -> CheckResult {
    let has_0_3 = pair.subject.interface(Version::V0_3, pair.binding()).is_some();
    match pair.clone().with_version(None).send(SendRequest::behaving(Behaviour::Complete)).await? {
        Reply::Done(SendResult::Task(_) | SendResult::Message(_), _) => Ok(()),
        Reply::Refused(refusal) if refusal.is(ExpectedError::VersionNotSupported) => {
            ensure!(
                !has_0_3 || pair.binding() != Binding::JsonRpc,
                "0.3 is said to be unsupported, but the card offers it"
            );
            Ok(())
        }
        Reply::Refused(refusal) => refusal.expect(ExpectedError::MethodNotFound),
    }
}

async fn refused(pair: Pair, version: &'static str) -> CheckResult {
    let reply = pair.with_version(Some(version)).send(SendRequest::behaving(Behaviour::Complete)).await?;
    reply.expect(ExpectedError::VersionNotSupported)
}

async fn unknown(pair: Pair) -> CheckResult {
    refused(pair, "9.9").await
}

async fn unknown_in_query(pair: Pair) -> CheckResult {
    let pair = pair.with_version(None).with_query("A2A-Version=9.9");
    pair.send(SendRequest::behaving(Behaviour::Complete)).await?.expect(ExpectedError::VersionNotSupported)
}

async fn supported_list(pair: Pair) -> CheckResult {
    let refusal =
        pair.with_version(Some("9.9")).send(SendRequest::behaving(Behaviour::Complete)).await?.refused()?;
    let Some(info) = refusal.error_info() else {
        return fail(format!("there is no ErrorInfo: {}", refusal.shown()));
    };
    let list = info["metadata"]["supportedVersions"].as_str().unwrap_or_default();
    ensure!(list.contains("1.0"), "its metadata is {}", info["metadata"]);
    Ok(())
}

fn other(pair: &Pair) -> &'static str {
    if pair.is_1_0() { "0.3" } else { "1.0" }
}

async fn contradiction(pair: Pair) -> CheckResult {
    let version = other(&pair);
    pair.with_version(Some(version)).send(SendRequest::behaving(Behaviour::Complete)).await?.refused()?;
    Ok(())
}

async fn contradiction_code(pair: Pair) -> CheckResult {
    let version = other(&pair);
    if pair
        .subject
        .interface(if pair.is_1_0() { Version::V0_3 } else { Version::V1_0 }, pair.binding())
        .is_none()
    {
        return crate::check::not_applicable("the other version is not offered");
    }
    pair.with_version(Some(version))
        .send(SendRequest::behaving(Behaviour::Complete))
        .await?
        .expect(ExpectedError::MethodNotFound)
}

async fn on_get(pair: Pair) -> CheckResult {
    let task = uuid::Uuid::new_v4().to_string();
    let pair = pair.with_version(Some("9.9"));
    pair.get_with(&task, Some(json!(1))).await?.expect(ExpectedError::VersionNotSupported)
}

async fn on_stream(pair: Pair) -> CheckResult {
    pair.with_version(Some("9.9"))
        .stream(SendRequest::behaving(Behaviour::Complete))
        .await?
        .expect(ExpectedError::VersionNotSupported)
}
