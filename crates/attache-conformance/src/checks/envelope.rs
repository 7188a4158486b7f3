//! The JSON-RPC envelope (section 9.2), valid and invalid.

use http::Method;
use serde_json::{Value, json};

use crate::behaviour::Behaviour;
use crate::check::{Check, CheckResult, ensure, must, quality, should};
use crate::framing;
use crate::http::HttpRequest;
use crate::pair::Pair;
use crate::protocol::Binding;
use crate::request::{Operation, SendRequest};

pub(super) fn checks() -> Vec<Check> {
    let checks = vec![
        must("9.2-id", "every answer repeats the id of its request, and says `jsonrpc` 2.0", |pair| {
            noted(pair, "9.2-id")
        })
        .last(),
        quality("9.2-200", "errors come with HTTP 200", |pair| noted(pair, "9.2-200")).last(),
        must("9.2-id-types", "an id may be a text, a number or null, and keeps its type", id_types),
        must("9.2-bad-ids", "an id of another type is an invalid request", bad_ids),
        quality("9.2-no-id", "a request without an id is served, and answered with null", no_id),
        must("9.2-parse", "what is no JSON is a parse error with id null", parse_errors),
        quality("9.2-utf8", "what is no UTF-8 is a parse error", not_utf8),
        quality("9.2-empty", "an empty body is a parse error or an invalid request", empty_body),
        must("9.2-version", "a request that is not JSON-RPC 2.0 is invalid", wrong_version),
        must("9.2-object", "a request that is no object is invalid", no_object),
        quality("9.2-batch", "a batch is an invalid request", batch),
        must("9.2-method", "a request without a method is invalid", no_method),
        must("9.2-unknown", "an unknown method is not found", unknown_method),
        should("9.2-params", "params that are no object are invalid params", bad_params),
        quality("9.2-no-params", "params may be left out where all members are optional", no_params)
            .only_1_0(),
        quality("9.2-empty-name", "params with an empty name are invalid params", empty_name),
        quality("9.2-deep", "a body nested too deep is refused and does no harm", deep),
        quality("9.2-verb", "another verb than POST is not allowed", wrong_verb),
        quality("9.2-media", "a body that is said not to be JSON is refused", wrong_media),
        quality(
            "9.2-unnamed-media",
            "a body of unknown media type is taken for JSON, or refused as such",
            unnamed_media,
        ),
    ];
    checks.into_iter().map(|check| check.on(&[Binding::JsonRpc])).collect()
}

/// A call that succeeds on every agent, as a whole body.
fn call(pair: &Pair, id: Value) -> CheckResult<Value> {
    let params = crate::json_form::send(pair.json_form(), &SendRequest::behaving(Behaviour::Complete));
    let (method, params) = framing::call(pair, &Operation::Send(params))?;
    Ok(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

async fn answered(pair: &Pair, body: impl Into<bytes::Bytes>) -> CheckResult<Value> {
    pair.post(body).await?.json()
}

async fn refused(pair: &Pair, body: &Value, code: i64) -> CheckResult {
    let answer = answered(pair, body.to_string()).await?;
    ensure!(
        answer["error"]["code"] == code,
        "{} was answered with {}",
        crate::text::shown(body),
        crate::text::shown(&answer)
    );
    Ok(())
}

async fn noted(pair: Pair, rule: &'static str) -> CheckResult {
    let noted = pair.subject.noted(pair.version(), pair.binding(), rule);
    ensure!(noted.is_empty(), "{}", noted.into_iter().take(3).collect::<Vec<_>>().join("; "));
    Ok(())
}

async fn id_types(pair: Pair) -> CheckResult {
    for id in [
        json!("text"),
        json!(""),
        json!(7),
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_991_i64),
        Value::Null,
    ] {
        let answer = answered(&pair, call(&pair, id.clone())?.to_string()).await?;
        ensure!(answer.get("id") == Some(&id), "id {id} came back as {:?}", answer.get("id"));
        ensure!(answer.get("result").is_some(), "with id {id} the answer is {}", crate::text::shown(&answer));
    }
    Ok(())
}

async fn bad_ids(pair: Pair) -> CheckResult {
    for id in [json!(true), json!(1.5), json!({}), json!([])] {
        refused(&pair, &call(&pair, id)?, -32600).await?;
    }
    Ok(())
}

async fn no_id(pair: Pair) -> CheckResult {
    let mut body = call(&pair, Value::Null)?;
    if let Some(members) = body.as_object_mut() {
        members.remove("id");
    }
    let answer = answered(&pair, body.to_string()).await?;
    let good = answer.get("id") == Some(&Value::Null) && answer.get("result").is_some();
    ensure!(good, "the answer is {}", crate::text::shown(&answer));
    Ok(())
}

async fn parse_errors(pair: Pair) -> CheckResult {
    for body in ["{", "nonsense", r#"{"jsonrpc":"2.0","id":1,"method":"#, "{\"a\":1,}"] {
        let answer = answered(&pair, body).await?;
        let good = answer["error"]["code"] == -32700 && answer.get("id") == Some(&Value::Null);
        ensure!(good, "{body:?} was answered with {}", crate::text::shown(&answer));
    }
    Ok(())
}

async fn not_utf8(pair: Pair) -> CheckResult {
    let answer = answered(&pair, &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}"[..]).await?;
    ensure!(answer["error"]["code"] == -32700, "the answer is {}", crate::text::shown(&answer));
    Ok(())
}

async fn empty_body(pair: Pair) -> CheckResult {
    let answer = answered(&pair, "").await?;
    let code = answer["error"]["code"].as_i64();
    ensure!(matches!(code, Some(-32700 | -32600)), "the answer is {}", crate::text::shown(&answer));
    Ok(())
}

async fn wrong_version(pair: Pair) -> CheckResult {
    let mut body = call(&pair, json!(1))?;
    for version in [json!("1.0"), json!(2.0), json!(""), Value::Null] {
        body["jsonrpc"] = version;
        refused(&pair, &body, -32600).await?;
    }
    if let Some(members) = body.as_object_mut() {
        members.remove("jsonrpc");
    }
    refused(&pair, &body, -32600).await
}

async fn no_object(pair: Pair) -> CheckResult {
    for body in [json!("text"), json!(1), json!(true), Value::Null] {
        refused(&pair, &body, -32600).await?;
    }
    Ok(())
}

async fn batch(pair: Pair) -> CheckResult {
    refused(&pair, &json!([call(&pair, json!(1))?, call(&pair, json!(2))?]), -32600).await?;
    refused(&pair, &json!([]), -32600).await
}

async fn no_method(pair: Pair) -> CheckResult {
    for method in [Value::Null, json!(1), json!({})] {
        let mut body = call(&pair, json!(1))?;
        body["method"] = method;
        refused(&pair, &body, -32600).await?;
    }
    let mut body = call(&pair, json!(1))?;
    if let Some(members) = body.as_object_mut() {
        members.remove("method");
    }
    refused(&pair, &body, -32600).await
}

async fn unknown_method(pair: Pair) -> CheckResult {
    let name = if pair.is_1_0() { "Conformance" } else { "conformance/unknown" };
    for method in [name, "SendMessages", "message/Send"] {
        refused(&pair, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}), -32601).await?;
    }
    Ok(())
}

async fn bad_params(pair: Pair) -> CheckResult {
    let mut body = call(&pair, json!(1))?;
    body["params"] = json!([]);
    refused(&pair, &body, -32602).await?;
    for params in [json!("text"), json!(1), json!(true)] {
        body["params"] = params;
        let answer = answered(&pair, body.to_string()).await?;
        // Params of a type that JSON-RPC does not allow make the request invalid as well.
        let code = answer["error"]["code"].as_i64();
        ensure!(matches!(code, Some(-32602 | -32600)), "the answer is {}", crate::text::shown(&answer));
    }
    Ok(())
}

async fn no_params(pair: Pair) -> CheckResult {
    let answer =
        answered(&pair, json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}).to_string()).await?;
    ensure!(answer.get("result").is_some(), "the answer is {}", crate::text::shown(&answer));
    Ok(())
}

async fn empty_name(pair: Pair) -> CheckResult {
    let mut body = call(&pair, json!(1))?;
    body["params"] = json!({"": "value"});
    refused(&pair, &body, -32602).await
}

async fn deep(pair: Pair) -> CheckResult {
    let nested = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{nested}}}"#);
    let answer = pair.post(body).await?;
    ensure!(answer.status() < 500, "HTTP {} {}", answer.status(), answer.text());
    let answer = answer.json()?;
    ensure!(answer.get("error").is_some(), "the answer is {}", crate::text::shown(&answer));
    let alive = answered(&pair, call(&pair, json!(1))?.to_string()).await?;
    ensure!(alive.get("result").is_some(), "afterwards the server answers {}", crate::text::shown(&alive));
    Ok(())
}

async fn wrong_verb(pair: Pair) -> CheckResult {
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let answer = pair.raw(HttpRequest::new(method.clone(), framing::url(&pair, ""))).await?;
        ensure!(answer.status() == 405, "{method} was answered with HTTP {}", answer.status());
    }
    Ok(())
}

async fn wrong_media(pair: Pair) -> CheckResult {
    let answer =
        pair.clone().with_content_type("text/plain").post(call(&pair, json!(1))?.to_string()).await?;
    let code = answer.json().ok().and_then(|body| body["error"]["code"].as_i64());
    ensure!(
        answer.status() == 415 || matches!(code, Some(-32005 | -32600)),
        "HTTP {} {}",
        answer.status(),
        answer.text()
    );
    Ok(())
}

async fn unnamed_media(pair: Pair) -> CheckResult {
    let mut request = framing::apply_options(&pair, HttpRequest::new(Method::POST, framing::url(&pair, "")));
    request = request.body(call(&pair, json!(1))?.to_string());
    let answer = pair.subject.http.call(request).await?;
    let body = answer.json()?;
    // Browsers send such bodies across origins without a preflight request: a server may refuse them.
    let refused = answer.status() == 415 || body["error"]["code"] == -32005;
    ensure!(refused || body.get("result").is_some(), "the answer is {}", crate::text::shown(&body));
    Ok(())
}
