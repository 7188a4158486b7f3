//! The form of errors (section 9): codes, statuses and bodies on each binding.

use serde_json::{Value, json};

use crate::behaviour::Behaviour;
use crate::check::{
    Check, CheckResult, Strength, choice, ensure, fail, must, not_applicable, quality, should,
};
use crate::error_response::{ErrorResponse, Reply};
use crate::expected_error::ExpectedError;
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{Binding, PushConfig};
use crate::request::{Operation, SendRequest};

pub(super) fn checks() -> Vec<Check> {
    let table = [
        ("9.1-TaskNotFoundError", ExpectedError::TaskNotFound),
        ("9.1-TaskNotCancelableError", ExpectedError::TaskNotCancelable),
        ("9.1-PushNotificationNotSupportedError", ExpectedError::PushNotSupported),
        ("9.1-UnsupportedOperationError", ExpectedError::Unsupported),
        ("9.1-ContentTypeNotSupportedError", ExpectedError::ContentType),
        ("9.1-ExtensionSupportRequiredError", ExpectedError::ExtensionRequired),
        ("9.1-VersionNotSupportedError", ExpectedError::VersionNotSupported),
        ("9.1-InvalidParamsError", ExpectedError::InvalidParams),
    ];
    let row = |(id, expected): (&'static str, ExpectedError)| {
        must(id, "the error has the code and the status of the table", move |pair| numbers(pair, expected))
            .in_0_3(Strength::Choice)
    };
    let mut checks: Vec<Check> = table.into_iter().map(row).collect();
    checks.extend([
        must("9.2-array", "the data of an error is a list of typed details", typed_details)
            .only_1_0()
            .on(&[Binding::JsonRpc]),
        should("9.2-info", "with an ErrorInfo that tells reason and domain", error_info)
            .only_1_0()
            .on(&[Binding::JsonRpc]),
        choice("9.2-data-0.3", "the data of an error is an object, or there is none", data_0_3)
            .only_0_3()
            .on(&[Binding::JsonRpc]),
        must("9.3-body", "the body of an error has code, status, message and details", rest_body)
            .only_1_0()
            .on(&[Binding::Rest]),
        must("9.3-info", "with an ErrorInfo that tells reason and domain", error_info)
            .only_1_0()
            .on(&[Binding::Rest]),
        choice("9.3-body-0.3", "the body of an error has type, code and message", rest_body_0_3)
            .only_0_3()
            .on(&[Binding::Rest]),
        must(
            "9.4-info",
            "the details of a status have an ErrorInfo that tells reason and domain",
            error_info,
        )
        .only_1_0()
        .on(&[Binding::Grpc]),
        choice("9.4-message", "the message of a status begins with the name of the error", grpc_message)
            .only_0_3()
            .on(&[Binding::Grpc]),
        choice(
            "11.1",
            "an error has the form of the method or path, whatever the version header says",
            own_words,
        )
        .on(&[Binding::JsonRpc, Binding::Rest]),
        quality("9-message", "every error says in words what was wrong", words),
    ]);
    checks
}

/// Makes the server return `expected`. Other checks cover whether it returns an error at all.
async fn provoke(pair: &Pair, expected: ExpectedError) -> CheckResult<ErrorResponse> {
    match attempt(pair, expected).await? {
        Reply::Refused(refusal) => Ok(refusal),
        Reply::Done(..) => not_applicable("the server does not refuse what would be refused so"),
    }
}

async fn attempt(pair: &Pair, expected: ExpectedError) -> CheckResult<Reply<Value>> {
    let nowhere = uuid::Uuid::new_v4().to_string();
    match expected {
        ExpectedError::TaskNotFound => pair.call(Operation::Get { task: nowhere, history: None }).await,
        ExpectedError::TaskNotCancelable => {
            let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
            pair.call(Operation::Cancel { task: task.id }).await
        }
        ExpectedError::PushNotSupported if pair.subject.capability("pushNotifications") => {
            not_applicable("push is offered")
        }
        ExpectedError::PushNotSupported => {
            let config = PushConfig {
                id: Some("one".into()),
                url: "https://example.com/".into(),
                ..PushConfig::default()
            };
            pair.call(Operation::PushCreate { task: nowhere, config }).await
        }
        ExpectedError::Unsupported => {
            let task = pair.send(SendRequest::behaving(Behaviour::Complete).waiting()).await?.task()?;
            let again = SendRequest::behaving(Behaviour::Complete).for_task(&task.id);
            pair.call(Operation::Send(json_form::send(pair.json_form(), &again))).await
        }
        ExpectedError::ContentType => {
            let json_form = pair.json_form();
            let mut params = json_form::send(json_form, &SendRequest::behaving(Behaviour::Complete));
            let part = json_form.bytes_part("AAECAw==", "application/x-conformance-unknown");
            params["message"][json_form.parts()] = json!([part]);
            pair.call(Operation::Send(params)).await
        }
        ExpectedError::ExtensionRequired => not_applicable("no extension is required"),
        ExpectedError::VersionNotSupported => {
            let pair = pair.clone().with_version(Some("9.9"));
            pair.call(Operation::Get { task: nowhere, history: None }).await
        }
        ExpectedError::InvalidParams => {
            let mut params = json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
            params["message"][pair.json_form().parts()] = json!([]);
            pair.call(Operation::Send(params)).await
        }
        _ => not_applicable("there is no way to provoke it"),
    }
}

async fn numbers(pair: Pair, expected: ExpectedError) -> CheckResult {
    let refusal = provoke(&pair, expected).await?;
    let names = expected.names();
    let seen = refusal.shown();
    match pair.binding() {
        Binding::JsonRpc => ensure!(refusal.code == Some(names.code), "expected {}, got {seen}", names.code),
        Binding::Rest => {
            ensure!(refusal.head.status == names.http, "expected HTTP {}, got {seen}", names.http);
            if pair.is_1_0() {
                let error = &refusal.body["error"];
                ensure!(error["code"] == names.http, "`error.code` is {}, not {}", error["code"], names.http);
                ensure!(
                    error["status"] == names.grpc,
                    "`error.status` is {}, not {}",
                    error["status"],
                    names.grpc
                );
            }
        }
        Binding::Grpc => {
            ensure!(refusal.status.as_deref() == Some(names.grpc), "expected {}, got {seen}", names.grpc);
        }
    }
    Ok(())
}

async fn typed_details(pair: Pair) -> CheckResult {
    for expected in [ExpectedError::TaskNotFound, ExpectedError::InvalidParams] {
        let refusal = provoke(&pair, expected).await?;
        let data = &refusal.body["error"]["data"];
        let Some(details) = data.as_array() else { return fail(format!("the data is {data}")) };
        let typed = details.iter().all(|detail| detail["@type"].is_string());
        ensure!(typed, "not every detail has `@type`: {data}");
    }
    Ok(())
}

async fn error_info(pair: Pair) -> CheckResult {
    for expected in
        [ExpectedError::TaskNotFound, ExpectedError::TaskNotCancelable, ExpectedError::VersionNotSupported]
    {
        let refusal = provoke(&pair, expected).await?;
        if !refusal.is(expected) {
            // Other checks cover whether the error is the right one.
            continue;
        }
        let Some(info) = refusal.error_info() else {
            return fail(format!("there is no ErrorInfo: {}", refusal.shown()));
        };
        ensure!(
            info["reason"] == expected.names().reason,
            "the reason is {}, not {}",
            info["reason"],
            expected.names().reason
        );
        ensure!(info["domain"] == "a2a-protocol.org", "the domain is {}", info["domain"]);
        let metadata = &info["metadata"];
        let strings = metadata.as_object().is_none_or(|members| members.values().all(Value::is_string));
        ensure!(strings, "its metadata holds more than strings: {metadata}");
    }
    Ok(())
}

async fn data_0_3(pair: Pair) -> CheckResult {
    for expected in [ExpectedError::TaskNotFound, ExpectedError::InvalidParams] {
        let data = &provoke(&pair, expected).await?.body["error"]["data"];
        ensure!(data.is_null() || data.is_object(), "the data is {data}");
    }
    Ok(())
}

async fn rest_body(pair: Pair) -> CheckResult {
    for expected in [ExpectedError::TaskNotFound, ExpectedError::InvalidParams] {
        let refusal = provoke(&pair, expected).await?;
        let error = &refusal.body["error"];
        let good = error["code"] == refusal.head.status
            && error["status"].is_string()
            && error["message"].is_string()
            && error["details"].is_array();
        ensure!(good, "the body is {}", crate::text::shown(&refusal.body));
    }
    Ok(())
}

async fn rest_body_0_3(pair: Pair) -> CheckResult {
    for expected in [ExpectedError::TaskNotFound, ExpectedError::TaskNotCancelable] {
        let refusal = provoke(&pair, expected).await?;
        let body = &refusal.body;
        let names = expected.names();
        let good = body["type"] == names.name && body["code"] == names.code && body["message"].is_string();
        ensure!(good, "the body is {}", crate::text::shown(body));
    }
    Ok(())
}

async fn grpc_message(pair: Pair) -> CheckResult {
    let refusal = provoke(&pair, ExpectedError::TaskNotFound).await?;
    ensure!(refusal.message.starts_with("TaskNotFoundError: "), "it is {:?}", refusal.message);
    Ok(())
}

async fn own_words(pair: Pair) -> CheckResult {
    let other = pair.clone().with_version(Some(if pair.is_1_0() { "0.3" } else { "1.0" }));
    let task = uuid::Uuid::new_v4().to_string();
    let Reply::Refused(refusal) = other.call(Operation::Get { task, history: None }).await? else {
        return not_applicable("the contradiction is served");
    };
    let body = &refusal.body;
    let is_new = match pair.binding() {
        Binding::JsonRpc => body["error"]["data"].is_array(),
        _ => body["error"]["status"].is_string(),
    };
    ensure!(is_new == pair.is_1_0(), "the error is {}", crate::text::shown(body));
    Ok(())
}

async fn words(pair: Pair) -> CheckResult {
    for expected in
        [ExpectedError::TaskNotFound, ExpectedError::TaskNotCancelable, ExpectedError::InvalidParams]
    {
        let refusal = provoke(&pair, expected).await?;
        ensure!(!refusal.message.trim().is_empty(), "there is no message: {}", refusal.shown());
    }
    Ok(())
}
