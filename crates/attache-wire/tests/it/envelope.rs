//! The JSON-RPC envelope: what is taken, what is refused, and with which id.

use attache_domain::Fault;
use attache_wire::Version;
use attache_wire::jsonrpc::{
    Envelope, RequestId, http_status, parse, write_error, write_result_close, write_result_open,
};
use serde_json::{Value, json};

fn read(body: &str) -> Result<Envelope, (RequestId, Fault)> {
    parse(body.as_bytes(), 64)
}

fn encoded(id: &RequestId) -> Value {
    let mut out = Vec::new();
    write_result_open(id, &mut out);
    out.extend_from_slice(b"[1]");
    write_result_close(&mut out);
    let response: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(response["jsonrpc"], "2.0");
    assert_eq!(response["result"], json!([1]));
    response["id"].clone()
}

#[test]
fn the_id_is_echoed_with_its_type() {
    for id in [
        json!("text"),
        json!(""),
        json!("with \"quotes\" \\"),
        json!(7),
        json!(-7),
        json!(0),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(null),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "GetTask" });
        assert_eq!(encoded(&read(&body.to_string()).unwrap().id), id);
    }
}

#[test]
fn a_request_without_an_id_is_answered_with_null() {
    let envelope = read(r#"{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t"}}"#).unwrap();
    assert_eq!(envelope.id, RequestId::Null);
    assert_eq!(envelope.params, Some(json!({ "id": "t" })));
}

#[test]
fn params_are_not_looked_at_yet_and_null_is_none() {
    for (params, expected) in [("[1]", Some(json!([1]))), ("\"x\"", Some(json!("x"))), ("null", None)] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
        assert_eq!(read(&body).unwrap().params, expected);
    }
}

#[track_caller]
fn check_refused(body: &str, id: RequestId, code: i64, what: &str) {
    let (found, fault) = read(body).unwrap_err();
    assert_eq!(found, id, "{body}");
    assert!(fault.to_string().contains(what), "{fault}");
    let mut out = Vec::new();
    write_error(Version::V1_0, &found, &fault, &mut out);
    let response: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(response["error"]["code"], code, "{body}");
    assert_eq!(http_status(&fault), 200);
}

#[test]
fn bad_json_is_a_parse_error_without_an_id() {
    check_refused("{\"jsonrpc\":\"2.0\",\"id\":1", RequestId::Null, -32700, "line 1 column");
    check_refused("", RequestId::Null, -32700, "line 1 column 0");
    check_refused("\u{feff}{}", RequestId::Null, -32700, "line 1 column 1");
}

#[test]
fn what_is_no_request_is_refused_without_an_id() {
    check_refused("[]", RequestId::Null, -32600, "batch");
    check_refused(r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, RequestId::Null, -32600, "batch");
    for body in ["1", "\"x\"", "null", "true"] {
        check_refused(body, RequestId::Null, -32600, "must be an object");
    }
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{}{}}}"#, "[".repeat(65), "]".repeat(65));
    check_refused(&deep, RequestId::Null, -32600, "64 levels");
}

#[test]
fn an_id_of_another_type_is_refused() {
    for (id, found) in
        [("1.5", "number"), ("true", "boolean"), ("{}", "object"), ("[1]", "array"), ("1e400", "")]
    {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let (echoed, fault) = read(&body).unwrap_err();
        assert_eq!(echoed, RequestId::Null);
        assert!(fault.to_string().contains(found), "{fault}");
        // The last one is not even a number that JSON readers here can hold.
        let is_expected = matches!(fault, Fault::InvalidRequest { .. }) || id == "1e400";
        assert!(is_expected, "{fault:?}");
    }
}

#[test]
fn a_wrong_envelope_is_refused_with_its_id() {
    let id = || RequestId::Text("a".into());
    check_refused(r#"{"id":"a","method":"m"}"#, id(), -32600, "jsonrpc is missing");
    check_refused(r#"{"id":"a","jsonrpc":"1.0","method":"m"}"#, id(), -32600, "jsonrpc must be \"2.0\"");
    check_refused(r#"{"id":"a","jsonrpc":2.0,"method":"m"}"#, id(), -32600, "jsonrpc must be \"2.0\"");
    check_refused(r#"{"id":"a","jsonrpc":"2.0"}"#, id(), -32600, "method is missing");
    check_refused(r#"{"id":"a","jsonrpc":"2.0","method":7}"#, id(), -32600, "method must be a string");
}
