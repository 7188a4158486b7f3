//! Refusals: each has its code, status, reason and shape on every pair, names what was wrong, and costs nothing.

mod body;
mod duplicate_keys;
mod envelope;
mod ids;
mod params;

use attache_testkit::{ServerProcess, TestClient};
use serde_json::json;

use crate::pairs::driver::{Ask, Pair, REQUEST_ID, Refusal};
use crate::pairs::task_of;
use crate::support::{SCRIPT, launch};

/// One row of the tables of errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    code: i64,
    http: u16,
    status: &'static str,
    reason: &'static str,
    name: &'static str,
    /// HTTP itself was the matter, so JSON-RPC does not answer 200 either.
    at_http_level: bool,
}

const fn row(code: i64, http: u16, status: &'static str, reason: &'static str, name: &'static str) -> Row {
    Row { code, http, status, reason, name, at_http_level: false }
}

pub(crate) const TASK_NOT_FOUND: Row = row(-32001, 404, "NOT_FOUND", "TASK_NOT_FOUND", "TaskNotFoundError");
const NOT_CANCELABLE: Row =
    row(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE", "TaskNotCancelableError");
const NO_PUSH: Row = row(
    -32003,
    400,
    "FAILED_PRECONDITION",
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "PushNotificationNotSupportedError",
);
const UNSUPPORTED: Row =
    row(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION", "UnsupportedOperationError");
const CONTENT_TYPE: Row =
    row(-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");
pub(crate) const EXTENSION_REQUIRED: Row =
    row(-32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError");
pub(crate) const VERSION: Row =
    row(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED", "VersionNotSupportedError");
const PARSE: Row = row(-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "JSONParseError");
const INVALID_REQUEST: Row = row(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError");
const METHOD_NOT_FOUND: Row = row(-32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError");
const VERB: Row = row(-32601, 405, "UNIMPLEMENTED", "METHOD_NOT_FOUND", "MethodNotFoundError");
pub(crate) const INVALID_PARAMS: Row =
    row(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS", "InvalidParamsError");
const MEDIA_TYPE: Row = Row {
    http: 415,
    at_http_level: true,
    ..row(-32005, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError")
};
const TOO_LARGE: Row = Row {
    at_http_level: true,
    ..row(-32600, 413, "INVALID_ARGUMENT", "INVALID_REQUEST", "InvalidRequestError")
};

impl Row {
    #[track_caller]
    pub(crate) fn check(&self, pair: Pair, refusal: &Refusal) {
        let Self { code, http, status, reason, name, at_http_level } = *self;
        let http = if pair.is_rest() || at_http_level { http } else { 200 };
        assert_eq!(refusal.http, http, "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.code, (pair != Pair::Rest10).then_some(code), "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.reason.as_deref(), pair.is_v1_0().then_some(reason), "{pair:?}: {refusal:#?}");
        assert_eq!(refusal.status.as_deref(), (pair == Pair::Rest10).then_some(status), "{pair:?}");
        assert_eq!(refusal.name.as_deref(), (pair == Pair::Rest03).then_some(name), "{pair:?}");
        assert!(!refusal.message.is_empty(), "{pair:?}");
    }

    /// Checks the refusal of `ask`, the echo of its id, and that the message names `what`.
    pub(crate) async fn refuses(&self, pair: Pair, client: &TestClient, ask: &Ask, what: &str) -> Refusal {
        let refusal = pair.call(client, ask).await.refusal();
        self.check(pair, &refusal);
        if !pair.is_rest() {
            assert_eq!(refusal.id, REQUEST_ID, "{pair:?} {ask:?}");
        }
        assert!(refusal.message.contains(what), "{what:?} is not in {:?} ({pair:?})", refusal.message);
        refusal
    }
}

async fn start() -> ServerProcess {
    launch().in_memory().script(SCRIPT).start().await
}

async fn start_with(settings: &str) -> ServerProcess {
    launch().in_memory().script(SCRIPT).settings(settings).start().await
}

/// Nothing was lost: the server goes on answering on every pair.
async fn still_answers(server: &ServerProcess) {
    for pair in Pair::ALL {
        let task = task_of(pair, &server.client(), &format!("after-{pair:?}"), "echo still here").await;
        assert!(!task.is_empty());
    }
}

#[tokio::test]
async fn a_task_nobody_knows_is_not_found_by_any_operation() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let unknown = || "no-such-task".to_owned();
        for ask in [
            Ask::Get(unknown()),
            Ask::Cancel(unknown()),
            Ask::Subscribe(unknown()),
            Ask::Send(pair.text_to("no-such-task", "m1", "x")),
            Ask::Stream(pair.text_to("no-such-task", "m1", "x")),
        ] {
            let refusal = TASK_NOT_FOUND.refuses(pair, &client, &ask, "no-such-task").await;
            assert_eq!(refusal.metadata["taskId"], "no-such-task", "{pair:?}");
        }
    }
    still_answers(&server).await;
}

#[tokio::test]
async fn c1_a_finished_task_cannot_be_canceled() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        for (text, state) in [("echo x", "completed"), ("fail", "failed"), ("reject", "rejected")] {
            let task = task_of(pair, &client, &format!("{pair:?}-{text}"), text).await;
            let refusal = NOT_CANCELABLE.refuses(pair, &client, &Ask::Cancel(task.clone()), state).await;
            assert_eq!(refusal.metadata["taskId"], task);
        }
        let task = task_of(pair, &client, &format!("{pair:?}-ask"), "ask").await;
        pair.result(&client, &Ask::Cancel(task.clone())).await;
        NOT_CANCELABLE.refuses(pair, &client, &Ask::Cancel(task), "canceled").await;
    }
}

#[tokio::test]
async fn p1_push_is_refused_before_the_task_is_looked_for() {
    let server = start_with("[push]\nenabled = false\n").await;
    let client = server.client();
    let task = task_of(Pair::Rpc10, &client, "m1", "echo x").await;
    for pair in Pair::ALL {
        for task in [&task, "no-such-task"] {
            let task = || task.to_owned();
            for ask in [
                Ask::PushCreate(task()),
                Ask::PushGet(task()),
                Ask::PushList(task()),
                Ask::PushDelete(task()),
            ] {
                NO_PUSH.refuses(pair, &client, &ask, "push").await;
            }
        }
        let member = match pair {
            Pair::Rpc03 => "pushNotificationConfig",
            Pair::Rest03 => "pushNotification",
            Pair::Rpc10 | Pair::Rest10 => "taskPushNotificationConfig",
        };
        let mut params = pair.text(&format!("{pair:?}"), "echo x");
        params["configuration"] = json!({ member: {"url": "https://example.com/hook"} });
        NO_PUSH.refuses(pair, &client, &Ask::Send(params.clone()), "push").await;
        NO_PUSH.refuses(pair, &client, &Ask::Stream(params), "push").await;
    }
    let listed = client.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 1, "a refused message opens no task");
}

#[tokio::test]
async fn a_finished_task_takes_no_message() {
    let server = start().await;
    let client = server.client();
    let task = task_of(Pair::Rest10, &client, "m1", "echo x").await;
    for pair in Pair::ALL {
        for ask in
            [Ask::Send(pair.text_to(&task, "m2", "more")), Ask::Stream(pair.text_to(&task, "m2", "more"))]
        {
            let refusal = UNSUPPORTED.refuses(pair, &client, &ask, "completed").await;
            assert_eq!(refusal.metadata["taskId"], task, "{pair:?}");
        }
    }
}

#[tokio::test]
async fn k3_there_is_no_extended_card() {
    let server = start().await;
    for pair in Pair::ALL {
        UNSUPPORTED.refuses(pair, &server.client(), &Ask::ExtendedCard, "extended card").await;
    }
}

#[tokio::test]
async fn s1_an_agent_that_does_not_stream_says_so() {
    let server = start_with("[card]\nstreaming = false\n").await;
    let client = server.client();
    let card = client.get("/.well-known/agent-card.json").await.json();
    assert_eq!(card["capabilities"]["streaming"], false);
    for pair in Pair::ALL {
        let task = task_of(pair, &client, &format!("{pair:?}"), "ask").await;
        UNSUPPORTED.refuses(pair, &client, &Ask::Stream(pair.text("m2", "stream")), "stream").await;
        UNSUPPORTED.refuses(pair, &client, &Ask::Subscribe(task), "stream").await;
        // Capability comes before parameters and resource.
        UNSUPPORTED.refuses(pair, &client, &Ask::Stream(json!({})), "stream").await;
        UNSUPPORTED.refuses(pair, &client, &Ask::Subscribe("no-such-task".into()), "stream").await;
    }
}

#[tokio::test]
async fn b5_b6_media_types_the_card_does_not_list_are_refused() {
    let server = start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let mut params = pair.text(&format!("in-{pair:?}"), "echo x");
        params["message"][pair.parts()] = json!([match pair {
            Pair::Rpc03 =>
                json!({"kind": "file", "file": {"uri": "https://example.com/a", "mimeType": "video/mp4"}}),
            Pair::Rest03 =>
                json!({"file": {"fileWithUri": "https://example.com/a", "mimeType": "video/mp4"}}),
            Pair::Rpc10 | Pair::Rest10 => json!({"url": "https://example.com/a", "mediaType": "video/mp4"}),
        }]);
        CONTENT_TYPE.refuses(pair, &client, &Ask::Send(params.clone()), "video/mp4").await;
        CONTENT_TYPE.refuses(pair, &client, &Ask::Stream(params), "video/mp4").await;
        let mut params = pair.text(&format!("out-{pair:?}"), "echo x");
        params["configuration"] = json!({"acceptedOutputModes": ["image/png", "audio/*"], "blocking": true});
        CONTENT_TYPE.refuses(pair, &client, &Ask::Send(params.clone()), "image/png").await;
        params["configuration"]["acceptedOutputModes"] = json!(["image/png", "text/*"]);
        pair.result(&client, &Ask::Send(params)).await;
    }
}
