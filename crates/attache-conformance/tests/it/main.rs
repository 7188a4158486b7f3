//! The suite on servers that are wrong on purpose: what is broken has to be seen.

mod server;

use attache_conformance::{CheckOutcome, Options, Report, run};
use serde_json::{Value, json};

use server::WrongServer;

/// JSON-RPC with what every well-behaved client would choke on.
fn nonsense(request: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": {"answer": 42}})
}

/// Every call is refused with the same error.
fn refusing(request: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "no"}})
}

/// Every call comes to the same finished task.
fn obliging(request: &Value) -> Value {
    let task = json!({
        "id": "t", "contextId": "c",
        "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-01T00:00:00+01:00"},
        "artifacts": [{"artifactId": "result", "parts": [{"text": "done"}]}],
    });
    let result = if request["method"] == "SendMessage" { json!({"task": task}) } else { task };
    json!({"jsonrpc": "2.0", "id": 7, "result": result})
}

async fn checked(answer: fn(&Value) -> Value, only: &[&str]) -> Report {
    let server = WrongServer::start(answer).await;
    let only = only.iter().map(|id| (*id).to_owned()).collect();
    let options = Options { base: server.url.clone(), token: None, other_token: None, only, jobs: 4 };
    run(&options).await.expect("a server that can be checked")
}

/// Did `id` fail on JSON-RPC 1.0, the only pair that the server offers?
#[track_caller]
fn fails(report: &Report, id: &str) {
    let row = report.rows.iter().find(|row| row.id == id).unwrap_or_else(|| panic!("there is no check {id}"));
    assert!(matches!(row.cells[0], CheckOutcome::Failed(_)), "{id}: {:?}", row.cells[0]);
}

#[tokio::test]
async fn nonsense_is_seen_everywhere() {
    let report = checked(nonsense, &["D", "G1", "C1", "V4", "L3", "9.2", "K"]).await;
    for id in ["D1", "D2", "G1-unknown", "C1-unknown", "V4-unknown", "L3-zero", "9.2-parse", "K2-etag"] {
        fails(&report, id);
    }
    assert!(report.breaks_a_must());
}

#[tokio::test]
async fn a_refusal_with_the_wrong_error_is_no_right_refusal() {
    let report = checked(refusing, &["D", "G1", "V", "9.2"]).await;
    for id in ["D2", "G1-unknown", "V4-unknown", "V1-patch", "9.2-unknown", "9.2-id-types"] {
        fails(&report, id);
    }
}

#[tokio::test]
async fn what_the_agent_does_not_do_is_not_applicable_and_never_failed() {
    let report = checked(refusing, &["B1", "S", "P", "3.1"]).await;
    assert_eq!(report.disobeyed.len(), 11, "{:?}", report.disobeyed);
    for row in report.rows.iter().filter(|row| row.id.starts_with("B1") || row.id.starts_with('P')) {
        assert!(
            !matches!(row.cells[0], CheckOutcome::Passed | CheckOutcome::Failed(_)),
            "{}: {:?}",
            row.id,
            row.cells[0]
        );
    }
}

#[tokio::test]
async fn a_server_that_never_says_no_breaks_the_rules_about_refusals_and_shapes() {
    let report = checked(obliging, &["D", "2.3", "C1", "9.2-id", "G1"]).await;
    for id in ["D2", "D4", "D4-unknown", "2.3-finished", "C1-terminal", "9.2-id", "D6", "D8-shape"] {
        fails(&report, id);
    }
}

#[tokio::test]
async fn a_report_tells_what_was_not_offered_and_why_something_failed() {
    let report = checked(nonsense, &["G1-unknown"]).await;
    assert_eq!(report.offered, [true, false, false, false, false, false]);
    let text = report.to_text();
    assert!(text.contains("not offered: grpc 1.0"), "{text}");
    assert!(text.contains("MUST G1-unknown on JSONRPC 1.0"), "{text}");
    let check = &report.to_json()["checks"][0];
    assert_eq!(check["results"]["JSONRPC 1.0"]["result"], "fail");
    assert_eq!(check["results"]["GRPC 0.3"]["result"], "not offered");
}

#[tokio::test]
async fn a_server_without_a_card_cannot_be_checked() {
    let server = WrongServer::start(nonsense).await;
    let base = format!("{}/elsewhere", server.url);
    let options = Options { base, token: None, other_token: None, only: Vec::new(), jobs: 1 };
    let message = run(&options).await.unwrap_err();
    assert!(message.contains("/elsewhere/.well-known/agent-card.json"), "{message}");
}
