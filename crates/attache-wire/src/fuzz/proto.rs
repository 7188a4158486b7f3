//! Arbitrary bytes as protobuf.

use std::sync::Arc;

use attache_domain::{
    ContextId, Digest, Event, Fact, Fault, Message, OpenedTask, Operation, OperationKind, Presentation,
    ReplyShape, Scope, Seq, TaskEnding, TaskId, TaskView, Timestamp,
};
use attache_proto::{rpc, v0_3, v1_0};
use bytes::Bytes;
use prost::Message as _;
use serde_json::json;

use super::{WEIGHT, sent as read_json, written as written_json};
use crate::devtool::Dialect;
use crate::encode::{IncludeArtifacts, TaskShape};
use crate::replay::{self, ReplayMark};
use crate::{JsonForm, Version, proto};

/// Clients of gRPC accept no more than this in headers, including those of others.
const MAX_HEADER_BYTES: usize = 7 << 10;

/// The message of a request, as every operation of both versions.
pub(super) fn request(message: &[u8]) {
    for path in ["/a2a.v1.A2AService/SendMessage", "/lf.a2a.v1.A2AService/SendMessage"] {
        let _ = proto::check_decoded_size(path, message, WEIGHT);
    }
    let message = Bytes::copy_from_slice(message);
    for version in Version::ALL {
        for kind in OperationKind::ALL {
            let read = proto::decode(version, kind, message.clone());
            assert_eq!(read, proto::decode(version, kind, message.clone()), "read twice, read alike");
            match read {
                Err(fault) => check_status(version, &fault),
                Ok(read) => {
                    if let Operation::Send(send) = read.operation {
                        check_message(&send.message);
                        check_task(&send.message);
                    }
                }
            }
        }
    }
}

/// A decoded message that is encoded decodes to the same, in every encoding.
fn check_message(message: &Message) {
    for version in Version::ALL {
        let once = written(version, message);
        // The other version may refuse the message, but must not change it.
        let Some(again) = sent(version, &once) else { continue };
        assert_eq!(written(version, &again), once, "in {version:?}");
    }
    for json_form in JsonForm::ALL {
        let once = written_json(json_form, message);
        let Some(again) = read_json(json_form, json!({ "message": once })) else { continue };
        assert_eq!(written_json(json_form, &again), once, "in {json_form:?}");
    }
}

fn written(version: Version, message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    proto::write_message_item(version, message, &mut out);
    out
}

/// Decodes the message of an item like a sent one.
fn sent(version: Version, item: &[u8]) -> Option<Message> {
    let request = match version {
        Version::V0_3 => {
            let item = v0_3::StreamResponse::decode(item).expect("what is written can be read");
            let Some(v0_3::stream_response::Payload::Msg(message)) = item.payload else {
                panic!("a message is a message")
            };
            v0_3::SendMessageRequest { request: Some(message), ..Default::default() }.encode_to_vec()
        }
        Version::V1_0 => {
            let item = v1_0::StreamResponse::decode(item).expect("what is written can be read");
            let Some(v1_0::stream_response::Payload::Message(message)) = item.payload else {
                panic!("a message is a message")
            };
            v1_0::SendMessageRequest { message: Some(message), ..Default::default() }.encode_to_vec()
        }
    };
    match proto::decode(version, OperationKind::Send, request.into()).ok()?.operation {
        Operation::Send(send) => Some(send.message),
        _ => None,
    }
}

/// The task that a message opens can be encoded, with a replay mark.
fn check_task(message: &Message) {
    let view = opened(message);
    let shape =
        TaskShape { history_length: None, artifacts: IncludeArtifacts::WhenAny, dialect: Dialect::Plain };
    let mark = ReplayMark { epoch: "epoch", seq: Seq(1), gap: None };
    for version in Version::ALL {
        let mut out = Vec::new();
        proto::write_task_item(version, &view, shape, &mut out);
        proto::add_mark_to_item(version, &mark, &mut out, 0);
        let metadata = match version {
            Version::V0_3 => match v0_3::StreamResponse::decode(&*out).map(|item| item.payload) {
                Ok(Some(v0_3::stream_response::Payload::Task(task))) => task.metadata,
                other => panic!("a task is a task, not {other:?}"),
            },
            Version::V1_0 => match v1_0::StreamResponse::decode(&*out).map(|item| item.payload) {
                Ok(Some(v1_0::stream_response::Payload::Task(task))) => task.metadata,
                other => panic!("a task is a task, not {other:?}"),
            },
        };
        assert!(metadata.is_some_and(|metadata| metadata.fields.contains_key(replay::URI)));
    }
}

fn opened(message: &Message) -> TaskView {
    let fact = Fact::TaskOpened(Box::new(OpenedTask {
        task: TaskId::from("t"),
        scope: Scope::new("", "someone"),
        context: ContextId::from("c"),
        message: Arc::new(message.clone()),
        digest: Digest("00".into()),
        ending: TaskEnding::Completes,
        reply: ReplyShape::Task,
        continues: false,
        presentation: Presentation::default(),
        metadata: None,
    }));
    let event = Event { seq: Seq(1), at: Timestamp::UNIX_EPOCH, fact };
    TaskView::open(&event).expect("a task begins with its opening")
}

/// An error fits into headers.
fn check_status(version: Version, fault: &Fault) {
    let status = proto::status(version, fault);
    let details = rpc::Status::decode(&*status.details).expect("details are a status");
    assert_eq!(details.message, status.message);
    // Percent-encoded and in base64.
    let length = 3 * status.message.len() + status.details.len().div_ceil(3) * 4;
    assert!(length <= MAX_HEADER_BYTES, "{length} bytes: {fault}");
}
