//! Extensions (section 8, E1 to E7).

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Requirement, Strength, choice, ensure, must, not_applicable, quality, should,
};
use crate::expected_error::ExpectedError;
use crate::http::ResponseHead;
use crate::pair::{Pair, head_of};
use crate::request::SendRequest;

const UNKNOWN: &str = "https://example.org/conformance/unknown/v1";

pub(super) fn checks() -> Vec<Check> {
    vec![
        should("E3", "an extension that the agent does not know is ignored", unknown),
        must("E3-fallback", "another version of an extension is never taken for it", no_fallback),
        should("E4", "an answer lists the extensions that are active", echo)
            .needs_behaviour(Behaviour::Complete),
        should("E4-stream", "so does a stream", echo_on_stream)
            .needs(Requirement::Streaming)
            .needs_behaviour(Behaviour::Complete),
        quality("E4-inactive", "an answer to a call that asked for none lists none", none_asked),
        quality("E2-several", "several are asked for in one header, with blanks, and in several", several),
        choice("E2-names", "0.3 takes the name without X-, too", both_names).only_0_3(),
        must("E5", "a call without an extension that is required is refused", required)
            .in_0_3(Strength::Choice),
    ]
}

fn header(pair: &Pair) -> &'static str {
    if pair.is_1_0() { "A2A-Extensions" } else { "X-A2A-Extensions" }
}

fn declared(pair: &Pair) -> CheckResult<String> {
    let uri =
        pair.subject.extensions().iter().find_map(|extension| extension["uri"].as_str().map(str::to_owned));
    match uri {
        Some(uri) => Ok(uri),
        None => not_applicable("the card declares no extension"),
    }
}

fn listed(pair: &Pair, head: &ResponseHead) -> Vec<String> {
    let values = head.headers.get_all(header(pair)).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(|uri| uri.trim().to_owned())
        .filter(|uri| !uri.is_empty())
        .collect()
}

async fn asking(pair: &Pair, name: &str, value: &str) -> CheckResult<Vec<String>> {
    let head = head_of(
        pair.clone().with_header(name, value).send(SendRequest::behaving(Behaviour::Complete)).await?,
    )?;
    Ok(listed(pair, &head))
}

async fn unknown(pair: Pair) -> CheckResult {
    let active = asking(&pair, header(&pair), UNKNOWN).await?;
    ensure!(!active.iter().any(|uri| uri == UNKNOWN), "the answer says that it is active");
    Ok(())
}

async fn no_fallback(pair: Pair) -> CheckResult {
    let uri = declared(&pair)?;
    let active = asking(&pair, header(&pair), &format!("{uri}/v999")).await?;
    ensure!(active.is_empty(), "asked for {uri}/v999, active is {active:?}");
    Ok(())
}

async fn echo(pair: Pair) -> CheckResult {
    let uri = declared(&pair)?;
    let active = asking(&pair, header(&pair), &uri).await?;
    ensure!(active == [uri.clone()], "asked for {uri}, the answer lists {active:?}");
    Ok(())
}

async fn echo_on_stream(pair: Pair) -> CheckResult {
    let uri = declared(&pair)?;
    let asking = pair.clone().with_header(header(&pair), &uri);
    let events = asking.stream(SendRequest::behaving(Behaviour::Complete)).await?.events()?;
    let active = listed(&pair, &events.head);
    ensure!(active == [uri.clone()], "asked for {uri}, the stream lists {active:?}");
    Ok(())
}

async fn none_asked(pair: Pair) -> CheckResult {
    if pair.subject.extensions().iter().any(|extension| extension["required"] == true) {
        return not_applicable("an extension is required");
    }
    let head = head_of(pair.send(SendRequest::behaving(Behaviour::Complete)).await?)?;
    let active = listed(&pair, &head);
    ensure!(active.is_empty(), "the answer lists {active:?}");
    Ok(())
}

async fn several(pair: Pair) -> CheckResult {
    let uri = declared(&pair)?;
    let active = asking(&pair, header(&pair), &format!(" {UNKNOWN} ,  {uri} ")).await?;
    ensure!(active == [uri.clone()], "in one header: {active:?}");
    let asking = pair.clone().with_header(header(&pair), UNKNOWN).with_header(header(&pair), &uri);
    let head = head_of(asking.send(SendRequest::behaving(Behaviour::Complete)).await?)?;
    let active = listed(&pair, &head);
    ensure!(active == [uri], "in two headers: {active:?}");
    Ok(())
}

async fn both_names(pair: Pair) -> CheckResult {
    let uri = declared(&pair)?;
    let active = asking(&pair, "A2A-Extensions", &uri).await?;
    ensure!(active == [uri], "the answer lists {active:?}");
    Ok(())
}

async fn required(pair: Pair) -> CheckResult {
    if !pair.subject.extensions().iter().any(|extension| extension["required"] == true) {
        return not_applicable("no extension is required");
    }
    let bare = pair.clone().with_header(header(&pair), "");
    bare.send(SendRequest::behaving(Behaviour::Complete)).await?.expect(ExpectedError::ExtensionRequired)
}
