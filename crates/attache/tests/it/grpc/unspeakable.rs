//! What happens on a task and cannot be put into protobuf.

use attache_testkit::model_server::{ModelServer, openai};
use serde_json::json;
use tonic::Code;

use super::world::{Grpc, Speaks};
use crate::operations::until_logged;
use crate::support::launch;

/// Deeper than what our own reader of JSON takes once it stands in an event.
const LEVELS: usize = 124;

#[tokio::test]
async fn a_stream_that_cannot_show_an_event_ends_with_an_error() {
    let more = format!("{}{}", "[".repeat(LEVELS), "]".repeat(LEVELS));
    let input = format!("{{\"file_path\": \"hello.txt\", \"more\": {more}}}");
    for (speaks, name) in [(Speaks::V03, "x-a2a-extensions"), (Speaks::V10, "a2a-extensions")] {
        let call = openai::chunk().call(0, "call_1", "read_file", &input);
        let said = openai::chunk().text("Done.").finish("stop");
        let model = ModelServer::with_responses([
            openai::answer([call.finish("tool_calls")]),
            openai::answer([said, openai::usage(5, 2)]),
        ]);
        let launch = launch().in_memory().argument("--model").argument("openai:deep");
        let launch = launch.variable("OPENAI_API_KEY", "key-for-tests");
        let server = launch.variable("OPENAI_BASE_URL", &format!("{}/v1", model.url())).start().await;
        let grpc = Grpc::to(server.url(), speaks).await.with(name, attache_wire::devtool::URI);
        let mut items = grpc.stream("SendStreamingMessage", speaks.text("m1", "deep")).await.unwrap();
        let status = loop {
            match items.next().await {
                Ok(Some(item)) => assert_ne!(item, json!({}), "an empty item says nothing"),
                Ok(None) => panic!("the stream ended as if all had been shown: {}", server.log()),
                Err(status) => break status,
            }
        };
        assert_eq!(status.code(), Code::Internal, "{status:?}");
        until_logged(&server, |log| log.contains("an event cannot be encoded")).await;
        assert!(!server.log().contains("panicked"), "{}", server.log());
    }
}
