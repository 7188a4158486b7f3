//! Requests of many tiny values, which would take a hundred times their length in memory.

use prost::Message as _;
use tonic::Code;

use attache_proto::v1_0;

use super::world::{World, request};
use crate::grpc::world::{Grpc, Speaks};

const LENGTH: usize = 2_000_000;

fn list(item: &str) -> String {
    format!("[{}]", vec![item; LENGTH / (item.len() + 1)].join(","))
}

#[tokio::test]
async fn json_of_tiny_values_is_refused_before_it_is_read() {
    let world = World::start_with_time_for_bodies().await;
    for item in ["{\"\":0}", "[0]", "[]", "{}", "1", "[{\"\":[{}]}]"] {
        let params = format!(
            "{{\"message\":{{\"messageId\":\"m2\",\"role\":\"ROLE_USER\",\"parts\":[{{\"data\":{}}}]}}}}",
            list(item)
        );
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{params}}}");
        for (path, body) in [("/", &call), ("/message:send", &params), ("/executeCommand", &params)] {
            let bytes = request("connection: close\r\na2a-version: 1.0\r\n", body);
            let mut connection = world.connect().await;
            assert!(connection.say(bytes.replacen("POST /", &format!("POST {path}"), 1).as_bytes()).await);
            let answer = connection.text_until_closed().await;
            assert!(answer.contains("so many values") && answer.contains("16 MiB"), "{item}: {answer}");
        }
        world.holds_little();
    }
    assert_eq!(world.tasks().await, 1, "nothing was taken for a message");
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_long_list_of_ordinary_length_is_taken() {
    let world = World::start_with_time_for_bodies().await;
    let rows = format!("[{}]", vec!["{\"id\":17,\"name\":\"a row of a table\"}"; 10_000].join(","));
    let call = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{{\"message\":{{\"messageId\":\"m2\",\
         \"role\":\"ROLE_USER\",\"parts\":[{{\"text\":\"echo x\"}},{{\"data\":{rows}}}]}}}}}}"
    );
    let mut connection = world.connect().await;
    assert!(connection.say(request("connection: close\r\na2a-version: 1.0\r\n", &call).as_bytes()).await);
    let answer = connection.text_until_closed().await;
    assert!(answer.contains("\"result\""), "{}", &answer[..answer.len().min(500)]);
}

#[tokio::test]
async fn protobuf_of_tiny_values_is_refused_before_it_is_read() {
    let world = World::start_with_time_for_bodies().await;
    let method = Grpc::to(world.server().url(), Speaks::V10).await.method("SendMessage");
    let value = prost_types::Value::default();
    let values = vec![value; LENGTH / 2 - 1000];
    let kind = Some(prost_types::value::Kind::ListValue(prost_types::ListValue { values }));
    let data = v1_0::part::Content::Data(prost_types::Value { kind });
    let of_values = vec![v1_0::Part { content: Some(data), ..Default::default() }];
    for parts in [of_values, vec![v1_0::Part::default(); LENGTH / 2 - 1000]] {
        let message = v1_0::Message { message_id: "m2".into(), role: 1, parts, ..Default::default() };
        let request = v1_0::SendMessageRequest { message: Some(message), ..Default::default() };
        // To put it together takes seconds on a busy machine, and a connection that says nothing for so long is closed.
        let bytes = request.encode_to_vec();
        assert!(bytes.len() < 2 << 20);
        let grpc = Grpc::to(world.server().url(), Speaks::V10).await;
        let status = grpc.bytes(&method, bytes).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(status.message().contains("so many values"), "{status:?}");
    }
    world.holds_little();
    world.is_unharmed().await;
}
