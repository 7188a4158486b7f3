//! Running it: logs and disks; starting and stopping are apart. Health and metrics are tested in `attache-server`.

mod broken_store;
mod disk_faults;
mod full_disk;
mod starting;
mod stopping;

use attache_testkit::ServerProcess;
use serde_json::{Value, json};

use crate::support::{SCRIPT, launch, message};

#[tokio::test]
async fn json_logs_parse_and_carry_the_number_of_the_request_and_its_task() {
    let launch = launch().in_memory().script(SCRIPT).argument("--log-format").argument("json");
    let server = launch.argument("--log").argument("debug").start().await;
    let client = server.client();
    let sent = client.rpc("SendMessage", message("m1", "echo \"quoted\"\nline")).await;
    let task = sent["result"]["task"]["id"].clone();
    client.rpc("GetTask", json!({"id": "no-such-task"})).await;
    let last = client.get("/tasks").await;
    let number: u64 = last.header("x-request-id").expect("a number").parse().expect("a number");
    let is_last = |line: &Value| line["request"] == number && line["path"] == "/tasks";
    let log = until_logged(&server, |log| parsed(log).iter().any(is_last)).await;
    let lines = parsed(&log);
    for line in &lines {
        for member in ["timestamp", "level", "target", "message"] {
            assert!(line[member].is_string(), "{member} in {line}");
        }
    }
    let answered = lines.iter().find(|line| is_last(line)).expect("as above");
    assert_eq!((&answered["method"], &answered["status"]), (&json!("GET"), &json!(200)));
    let refused = lines.iter().find(|line| line["message"] == "a call was refused").expect("the refusal");
    assert_eq!(refused["request"], number - 1, "both lines of one request bear one number");
    assert_eq!(refused["operation"], "get");
    let about_task = lines.iter().any(|line| line["task"] == task && line["request"].is_u64());
    assert!(about_task, "no line has both the request and its task:\n{log}");
}

#[tokio::test]
async fn text_logs_have_no_colour_codes_outside_a_terminal() {
    let server = launch().in_memory().script(SCRIPT).argument("--log").argument("debug").start().await;
    let number = server.client().get("/tasks").await.header("x-request-id").expect("a number").to_owned();
    let log = until_logged(&server, |log| log.contains(&format!("request={number}"))).await;
    assert!(!log.contains('\u{1b}'), "{log:?}");
}

fn parsed(log: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    log.lines().map(parse).collect()
}

/// What was logged, once `enough` holds. Each look is a call of its own, so there is time between them.
pub(crate) async fn until_logged(server: &ServerProcess, enough: impl Fn(&str) -> bool) -> String {
    for _ in 0..2000 {
        let log = server.log();
        if enough(&log) {
            return log;
        }
        server.client().get("/health").await;
    }
    panic!("not logged:\n{}", server.log());
}
