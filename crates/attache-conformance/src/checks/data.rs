//! Messages and their parts: which are refused, which are accepted, and the encoding of responses (section 2, D1 to
//! D9).

use serde_json::{Value, json};

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Strength, choice, ensure, fail, must, not_applicable, quality, should,
};
use crate::expected_error::ExpectedError;
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{Binding, Part, State};
use crate::request::{Operation, SendRequest};

/// The bindings with requests in JSON.
const JSON: &[Binding] = &[Binding::JsonRpc, Binding::Rest];

pub(super) fn checks() -> Vec<Check> {
    vec![
        must("D1", "a message without `messageId` is refused", |pair| refused_without(pair, "messageId"))
            .in_0_3(Strength::Quality),
        must("D2", "a message without parts is refused", |pair| refused(pair, no_parts))
            .in_0_3(Strength::Quality),
        should("D8-role", "a message without a role is refused", |pair| refused_without(pair, "role"))
            .in_0_3(Strength::Quality),
        should("D8-parts", "a message whose parts are missing is refused", |pair| {
            let member = pair.json_form().parts();
            refused_without(pair, member)
        })
        .in_0_3(Strength::Quality),
        should("D8-message", "a send without a message is refused", without_message)
            .in_0_3(Strength::Quality),
        quality("M3", "an unspecified role is refused", |pair| refused(pair, unspecified_role)),
        quality("D8-content", "a part without content is refused", |pair| refused(pair, empty_part)),
        quality("D8-two-contents", "a part with two contents is refused", |pair| refused(pair, double_part))
            .on(JSON)
            .only_1_0(),
        quality("D8-violations", "a refusal of a bad member names the member", names_the_member).only_1_0(),
        quality("D7-type", "a member of the wrong type is refused as invalid params", |pair| {
            refused(pair, |_, params| params["message"]["messageId"] = json!({"a": 1}))
        })
        .on(JSON),
        should("D7-unknown", "members that the protocol does not know are ignored", unknown_members).on(JSON),
        quality("D7-null", "`null` for a member is the same as leaving it out", null_members).on(JSON),
        must("D7-snake", "members may be spelled as in the protobuf file", snake_case).on(JSON).only_1_0(),
        must("D7-numbers", "enums may be given as numbers", numbered_enum).on(JSON).only_1_0(),
        quality("D7-base64", "bytes are taken in URL-safe base64 without padding", url_safe_bytes)
            .on(JSON)
            .only_1_0(),
        must("D7-data", "a data part may hold any JSON value", any_data).only_1_0(),
        must(
            "D8-shape",
            "answers have the members of the data model, spelled as it says, and no others",
            shapes,
        )
        .on(JSON)
        .last(),
        must("D6", "timestamps are UTC and end in Z", timestamps)
            .on(JSON)
            .only_1_0()
            .needs_behaviour(Behaviour::Complete),
        should("D6-milliseconds", "timestamps have milliseconds", milliseconds)
            .on(JSON)
            .only_1_0()
            .needs_behaviour(Behaviour::Complete),
        must("11.2-parts", "text, bytes, URLs and data come back as parts of the dialect", parts_come_back)
            .needs_behaviour(Behaviour::Parts),
        quality("M9-kind", "a message without `kind` is taken", without_kind)
            .only_0_3()
            .on(&[Binding::JsonRpc]),
        quality("M9-unknown-kind", "a part of an unknown kind is refused", |pair| {
            refused(pair, |_, params| {
                params["message"]["parts"][0] = json!({"kind": "smell", "smell": "rose"})
            })
        })
        .only_0_3()
        .on(&[Binding::JsonRpc]),
        quality(
            "11.3-request",
            "`request` is taken for `message`, as the protobuf file calls it",
            as_request,
        )
        .only_0_3()
        .on(&[Binding::Rest]),
        quality("11.3-snake", "snake_case members are taken", snake_case_0_3).only_0_3().on(&[Binding::Rest]),
        choice("11.3-schema", "the spelling of the JSON Schema is taken too", schema_names)
            .only_0_3()
            .on(&[Binding::Rest]),
        quality("D5", "the metadata of a message comes back with it", metadata_comes_back)
            .needs_behaviour(Behaviour::Complete),
        quality("D-unicode", "text outside ASCII comes back as it was", unicode)
            .needs_behaviour(Behaviour::Complete),
    ]
}

async fn refused(pair: Pair, spoil: impl Fn(&Pair, &mut Value)) -> CheckResult {
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    spoil(&pair, &mut params);
    // If the server accepts it, the response does not matter.
    pair.call(Operation::Send(params)).await?.expect(ExpectedError::InvalidParams)
}

async fn refused_without(pair: Pair, member: &'static str) -> CheckResult {
    refused(pair, |_, params| {
        if let Some(message) = params["message"].as_object_mut() {
            message.remove(member);
        }
    })
    .await
}

fn no_parts(pair: &Pair, params: &mut Value) {
    params["message"][pair.json_form().parts()] = json!([]);
}

fn unspecified_role(pair: &Pair, params: &mut Value) {
    let role = if pair.json_form() == json_form::JsonForm::Schema0_3 { "nobody" } else { "ROLE_UNSPECIFIED" };
    params["message"]["role"] = role.into();
}

fn empty_part(pair: &Pair, params: &mut Value) {
    let part =
        if pair.json_form() == json_form::JsonForm::Schema0_3 { json!({"kind": "text"}) } else { json!({}) };
    params["message"][pair.json_form().parts()] = json!([part]);
}

fn double_part(_: &Pair, params: &mut Value) {
    params["message"]["parts"] = json!([{"text": "conformance complete", "url": "https://example.com/"}]);
}

async fn without_message(pair: Pair) -> CheckResult {
    pair.call(Operation::Send(json!({}))).await?.expect(ExpectedError::InvalidParams)
}

async fn names_the_member(pair: Pair) -> CheckResult {
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    params["message"]["parts"] = json!([]);
    let refusal = pair.send_raw(params).await?.refused()?;
    let violation = refusal.details.iter().find_map(|detail| detail["fieldViolations"].as_array()?.first());
    let Some(violation) = violation else {
        return fail(format!("there is no BadRequest with field violations: {}", refusal.shown()));
    };
    let field = violation["field"].as_str().unwrap_or_default();
    ensure!(field.contains("parts"), "the violation is about {field:?}");
    Ok(())
}

async fn served(pair: &Pair, change: impl Fn(&mut Value)) -> CheckResult {
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    change(&mut params);
    pair.send_raw(params).await?.done()?;
    Ok(())
}

async fn unknown_members(pair: Pair) -> CheckResult {
    served(&pair, |params| {
        params["conformanceUnknown"] = json!({"a": [1]});
        params["message"]["conformanceUnknown"] = json!(true);
    })
    .await
}

async fn null_members(pair: Pair) -> CheckResult {
    served(&pair.unchecked(), |params| {
        params["metadata"] = Value::Null;
        params["message"]["contextId"] = Value::Null;
        params["message"]["metadata"] = Value::Null;
    })
    .await
}

async fn snake_case(pair: Pair) -> CheckResult {
    let params = json!({
        "message": {"message_id": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER",
                    "parts": [{"text": Behaviour::Complete.text(), "media_type": "text/plain"}]},
        "configuration": {"return_immediately": false},
    });
    pair.send_raw(params).await?.done()?;
    Ok(())
}

async fn numbered_enum(pair: Pair) -> CheckResult {
    served(&pair, |params| params["message"]["role"] = json!(1)).await
}

async fn url_safe_bytes(pair: Pair) -> CheckResult {
    if !takes_bytes(&pair) {
        return not_applicable("the card takes no application/octet-stream");
    }
    served(&pair, |params| {
        if let Some(parts) = params["message"]["parts"].as_array_mut() {
            parts.push(json!({"raw": "_-8", "mediaType": "application/octet-stream"}));
        }
    })
    .await
}

fn takes_bytes(pair: &Pair) -> bool {
    let modes = pair.subject.card["defaultInputModes"].as_array();
    modes.into_iter().flatten().any(|mode| mode == "application/octet-stream" || mode == "*/*")
}

async fn any_data(pair: Pair) -> CheckResult {
    let modes = pair.subject.card["defaultInputModes"].as_array();
    if !modes.into_iter().flatten().any(|mode| mode == "application/json" || mode == "*/*") {
        return not_applicable("the card takes no application/json");
    }
    for data in [json!([1, "two", null]), json!("text"), json!(1.5), json!({"a": {"b": []}})] {
        let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
        if let Some(parts) = params["message"]["parts"].as_array_mut() {
            parts.push(pair.json_form().data_part(&data));
        }
        let task = pair.send_raw(params).await?.task()?;
        let read = pair.get(&task.id).await?.done()?;
        let Some(kept) = read.history().first() else { return not_applicable("the agent keeps no history") };
        let sent = Part::Data(data.clone());
        ensure!(kept.parts.iter().any(|part| same(part, &sent)), "{data} came back as {:?}", kept.parts);
    }
    Ok(())
}

async fn shapes(pair: Pair) -> CheckResult {
    let noted = pair.subject.noted(pair.version(), pair.binding(), "D8-shape");
    ensure!(noted.is_empty(), "{}", noted.join("; "));
    Ok(())
}

async fn timestamp(pair: &Pair) -> CheckResult<String> {
    let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
    match task.status.timestamp {
        Some(timestamp) => Ok(timestamp),
        None => not_applicable("the status has no timestamp"),
    }
}

async fn timestamps(pair: Pair) -> CheckResult {
    let timestamp = timestamp(&pair).await?;
    ensure!(timestamp.ends_with('Z') && timestamp.parse::<jiff::Timestamp>().is_ok(), "it is {timestamp:?}");
    Ok(())
}

async fn milliseconds(pair: Pair) -> CheckResult {
    let timestamp = timestamp(&pair).await?;
    let digits = timestamp.rsplit_once('.').map(|(_, rest)| rest.trim_end_matches('Z').len());
    ensure!(digits == Some(3), "it is {timestamp:?}");
    Ok(())
}

async fn parts_come_back(pair: Pair) -> CheckResult {
    let task = pair.send(SendRequest::behaving(Behaviour::Parts).waiting()).await?.task()?;
    let parts: Vec<_> = task.artifacts().iter().flat_map(|artifact| artifact.parts.clone()).collect();
    let expected = [
        Part::Text("words".into()),
        Part::Bytes("AAECAw==".into()),
        Part::Url("https://example.com/file.txt".into()),
        Part::Data(json!({"number": 1, "list": [true, null]})),
    ];
    for part in expected {
        let found = parts.iter().any(|found| same(found, &part));
        ensure!(found, "{part:?} is not among {parts:?}");
    }
    Ok(())
}

/// ProtoJSON does not distinguish integers from other numbers.
fn same(left: &Part, right: &Part) -> bool {
    match (left, right) {
        (Part::Data(left), Part::Data(right)) => {
            left == right || left.to_string().replace("1.0", "1") == right.to_string().replace("1.0", "1")
        }
        _ => left == right,
    }
}

async fn without_kind(pair: Pair) -> CheckResult {
    served(&pair, |params| {
        if let Some(message) = params["message"].as_object_mut() {
            message.remove("kind");
        }
    })
    .await
}

async fn as_request(pair: Pair) -> CheckResult {
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    params["request"] = params["message"].take();
    if let Some(members) = params.as_object_mut() {
        members.remove("message");
    }
    pair.send_raw(params).await?.done()?;
    Ok(())
}

async fn snake_case_0_3(pair: Pair) -> CheckResult {
    let message = json!({"message_id": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER",
                         "content": [{"text": Behaviour::Complete.text()}]});
    pair.send_raw(json!({"message": message})).await?.done()?;
    Ok(())
}

async fn schema_names(pair: Pair) -> CheckResult {
    let params = json_form::send(json_form::JsonForm::Schema0_3, &SendRequest::behaving(Behaviour::Complete));
    pair.send_raw(params).await?.done()?;
    Ok(())
}

async fn metadata_comes_back(pair: Pair) -> CheckResult {
    let metadata = json!({"https://example.org/conformance": {"list": ["a", true]}});
    let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete).waiting());
    params["message"]["metadata"] = metadata.clone();
    let task = pair.send_raw(params).await?.task()?;
    let read = pair.get(&task.id).await?.done()?;
    if read.history().is_empty() {
        return not_applicable("the agent keeps no history");
    }
    let found = &read.raw["history"][0]["metadata"];
    ensure!(*found == metadata, "it came back as {found}");
    Ok(())
}

async fn unicode(pair: Pair) -> CheckResult {
    let text = "conformance complete Ä漢字🦀\u{0301}";
    let task = pair.send(SendRequest::text(text).waiting()).await?.task()?;
    ensure!(task.state() == State::Completed, "the task is {:?}", task.state());
    let read = pair.get(&task.id).await?.done()?;
    let Some(kept) = read.history().first() else { return not_applicable("the agent keeps no history") };
    ensure!(kept.parts == [Part::Text(text.into())], "it came back as {:?}", kept.parts);
    Ok(())
}
