//! What the client side encodes, the server side decodes, and the other way round.

use attache_domain::{
    Binding, CancelTask, Fault, GetTask, ListTasks, Message, Operation, OperationKind, Part, SubscribeTask,
    TaskId, TaskState, TaskStatus, Update,
};
use attache_wire::client::{DecodeError, Protocol, RemoteStatus, StreamEvent, Verb};
use attache_wire::devtool::Profile;
use attache_wire::encode::{
    IncludeArtifacts, TaskPage, TaskShape, write_list, write_message_item, write_task, write_task_item,
    write_update,
};
use attache_wire::jsonrpc::{self, RequestId};
use attache_wire::{Dialect, Version, decode, rest};

use crate::fixture::{artifact, bare_view, full_message, full_send, full_view, lose, object, time};

const JSON: [Binding; 2] = [Binding::JsonRpc, Binding::HttpJson];

fn dialect(version: Version, binding: Binding) -> Dialect {
    match (version, binding) {
        (Version::V1_0, _) => Dialect::V1_0,
        (Version::V0_3, Binding::HttpJson) => Dialect::V0_3Rest,
        (Version::V0_3, _) => Dialect::V0_3Rpc,
    }
}

/// Calls `check` with every protocol.
fn each(check: impl Fn(Protocol, Version, Binding)) {
    for version in Version::ALL {
        for binding in JSON {
            check(Protocol::new(version, binding).unwrap(), version, binding);
        }
    }
}

/// What a server reads from the encoded operation, and the tenant.
fn served(
    protocol: Protocol,
    binding: Binding,
    tenant: Option<&str>,
    operation: &Operation,
) -> (Operation, Option<String>) {
    let encoded = protocol.encode(tenant, operation).unwrap();
    let decoded = if binding == Binding::JsonRpc {
        assert_eq!((encoded.verb, encoded.path.as_str(), encoded.query.as_str()), (Verb::Post, "", ""));
        let envelope = jsonrpc::parse(&encoded.body.unwrap(), 64).unwrap();
        let (version, kind) = jsonrpc::method(&envelope.method).unwrap();
        assert_eq!(version, protocol.version());
        decode(jsonrpc::dialect(version), kind, envelope.params).unwrap()
    } else {
        let verb = match encoded.verb {
            Verb::Get => "GET",
            Verb::Post => "POST",
        };
        let route = rest::route(verb, &format!("/{}", encoded.path)).unwrap();
        let body = encoded.body.map(|body| serde_json::from_slice(&body).unwrap());
        rest::decode(&route, &encoded.query, body).unwrap()
    };
    (decoded.operation, decoded.tenant)
}

#[test]
fn a_server_reads_every_request_as_it_was_meant() {
    each(|protocol, version, binding| {
        let dialect = dialect(version, binding);
        let task = TaskId::from("a task/with:odd?characters");
        let mut operations = vec![
            Operation::Send(full_send(dialect)),
            Operation::Stream(full_send(dialect)),
            Operation::Get(GetTask { task: task.clone(), history_length: Some(5), at: None }),
            Operation::Get(GetTask { task: task.clone(), history_length: None, at: None }),
            Operation::Subscribe(SubscribeTask::to(task.clone())),
            Operation::Cancel(CancelTask {
                task: task.clone(),
                metadata: Some(object(serde_json::json!({ "why": ["a", 1] }))),
            }),
        ];
        let mut waiting = full_send(dialect);
        waiting.configuration = Default::default();
        operations.push(Operation::Send(waiting));
        if version == Version::V1_0 {
            operations.push(Operation::List(ListTasks::default()));
            operations.push(Operation::List(ListTasks {
                context: Some("c 1".into()),
                state: Some(TaskState::InputRequired),
                status_since: Some(time(5)),
                page_size: 7,
                page_token: "a+b&c=d".into(),
                history_length: Some(0),
                include_artifacts: true,
            }));
        }
        for operation in operations {
            assert_eq!(served(protocol, binding, None, &operation), (operation, None), "{protocol:?}");
        }
    });
}

#[test]
fn a_tenant_is_named_where_the_version_has_tenants() {
    each(|protocol, version, binding| {
        let get = Operation::Get(GetTask { task: "t-1".into(), history_length: None, at: None });
        let expected = (version == Version::V1_0).then(|| "a/b".to_owned());
        assert_eq!(served(protocol, binding, Some("a/b"), &get), (get, expected), "{protocol:?}");
    });
}

#[test]
fn what_a_version_cannot_ask_is_refused() {
    each(|protocol, version, _| {
        let list = protocol.encode(None, &Operation::List(ListTasks::default()));
        assert_eq!(list.is_ok(), version == Version::V1_0);
        let error = protocol.encode(None, &Operation::ExtendedCard).unwrap_err();
        assert_eq!(error.operation, OperationKind::ExtendedCard);
    });
    assert_eq!(Protocol::new(Version::V1_0, Binding::Grpc), None);
}

/// What a server sends around `result`.
fn enveloped(binding: Binding, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    if binding == Binding::JsonRpc {
        jsonrpc::write_result_open(&RequestId::Number(1), &mut out);
    }
    write(&mut out);
    if binding == Binding::JsonRpc {
        jsonrpc::write_result_close(&mut out);
    }
    out
}

fn expected_message(dialect: Dialect, message: &Message) -> Message {
    let mut message = message.clone();
    lose(dialect, &mut message);
    message
}

fn expected_parts(dialect: Dialect, parts: &[Part]) -> Vec<Part> {
    let carrier = Message { parts: parts.to_vec(), ..full_message(dialect) };
    expected_message(dialect, &carrier).parts
}

fn expected_status(status: &TaskStatus) -> RemoteStatus {
    RemoteStatus {
        state: Some(status.state),
        message: status.message.as_deref().cloned(),
        timestamp: Some(format!("{:.3}", status.at)),
    }
}

const SHAPE: TaskShape =
    TaskShape { history_length: None, artifacts: IncludeArtifacts::WhenAny, profile: Profile::Plain };

#[test]
fn a_client_reads_every_task_as_it_was_meant() {
    each(|protocol, version, binding| {
        let dialect = dialect(version, binding);
        for view in [bare_view(), full_view()] {
            let bare = enveloped(binding, |out| write_task(dialect, &view, SHAPE, out));
            let task = protocol.decode_task(200, &bare).unwrap();
            assert_eq!((&task.id, &task.context), (&view.task, &view.context));
            assert_eq!(task.status, expected_status(&view.status));
            let history = view.history.iter().map(|message| expected_message(dialect, message));
            assert_eq!(task.history, history.collect::<Vec<_>>());
            let mut artifacts = view.artifacts.clone();
            artifacts.iter_mut().for_each(|it| it.parts = expected_parts(dialect, &it.parts));
            assert_eq!(task.artifacts, artifacts);
            assert_eq!(task.metadata, view.metadata);
            let item = enveloped(binding, |out| write_task_item(dialect, &view, SHAPE, out));
            assert_eq!(protocol.decode_event(200, &item), Ok(StreamEvent::Task(Box::new(task))));
        }
    });
}

#[test]
fn a_client_reads_every_event_as_it_was_meant() {
    each(|protocol, version, binding| {
        let dialect = dialect(version, binding);
        let view = full_view();
        let decoded = |update: &Update<'_>| {
            let write = |out: &mut Vec<u8>| write_update(dialect, &view.task, &view.context, update, out);
            protocol.decode_event(200, &enveloped(binding, write)).unwrap()
        };
        let status = Update::Status { status: view.status.clone(), closes: true, usage: None };
        let StreamEvent::StatusUpdate(update) = decoded(&status) else { panic!() };
        assert_eq!((&update.task, &update.context), (&view.task, &view.context));
        assert_eq!(update.status, expected_status(&view.status));
        let piece = artifact("a-1", vec![Part::text("more")]);
        for (append, last_chunk) in [(true, false), (false, true)] {
            let artifact = std::borrow::Cow::Borrowed(&piece);
            let event = decoded(&Update::Artifact { artifact, append, last_chunk });
            let StreamEvent::ArtifactUpdate(update) = event else { panic!() };
            assert_eq!((update.append, update.last_chunk, &update.artifact), (append, last_chunk, &piece));
        }
        let message = full_message(dialect);
        let item = enveloped(binding, |out| write_message_item(dialect, &message, out));
        assert_eq!(protocol.decode_event(200, &item), Ok(StreamEvent::Message(Box::new(message))));
    });
}

#[test]
fn a_client_reads_a_page() {
    for binding in JSON {
        let protocol = Protocol::new(Version::V1_0, binding).unwrap();
        let page = TaskPage {
            tasks: vec![full_view().into(), bare_view().into()],
            next_page_token: "p2".into(),
            page_size: 2,
            total_size: 9,
        };
        let page =
            protocol.decode_page(200, &enveloped(binding, |out| write_list(&page, SHAPE, out))).unwrap();
        assert_eq!((page.tasks.len(), page.next_page_token.as_str(), page.total_size), (2, "p2", 9));
        let empty = enveloped(binding, |out| out.extend_from_slice(b"{}"));
        assert_eq!(protocol.decode_page(200, &empty).unwrap().tasks, []);
    }
}

#[test]
fn a_client_reads_a_fault_with_its_name() {
    let fault = Fault::TaskNotFound { task: "t-1".into() };
    each(|protocol, version, binding| {
        let (status, body) = if binding == Binding::JsonRpc {
            let mut out = Vec::new();
            jsonrpc::write_error(version, &RequestId::Number(1), &fault, &mut out);
            (200, out)
        } else {
            let reply = rest::error(version, &fault);
            (reply.status, reply.body)
        };
        let error = protocol.decode_task(status, &body).unwrap_err();
        if binding == Binding::HttpJson && version == Version::V0_3 {
            assert_ne!(status, 200, "its body has no form of its own");
            return;
        }
        let DecodeError::Remote(error) = error else { panic!("{protocol:?}: {error:?}") };
        assert_eq!(error.message, fault.to_string());
        if version == Version::V1_0 {
            assert_eq!(error.reason.as_deref(), Some("TASK_NOT_FOUND"));
        }
    });
}

#[test]
fn a_foreign_agent_may_leave_out_what_is_not_needed() {
    let protocol = Protocol::new(Version::V1_0, Binding::HttpJson).unwrap();
    let body =
        br#"{"id":"t","status":{"state":"TASK_STATE_DREAMING","message":{"messageId":"m"},"x":1},"y":[]}"#;
    let task = protocol.decode_task(200, body).unwrap();
    assert_eq!((task.status.state, task.status.state_name()), (None, "unknown"));
    assert_eq!((task.context.as_str(), task.history.len(), task.artifacts.len()), ("", 0, 0));
    assert_eq!(task.status.message.unwrap().parts, []);
    for wrong in [&b"[]"[..], b"{}", b"{", br#"{"id":"t"}"#, br#"{"id":"t","status":{"state":[]}}"#] {
        let error = protocol.decode_task(200, wrong).unwrap_err();
        assert!(matches!(error, DecodeError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn an_answer_that_is_no_a2a_is_told_apart() {
    let protocol = Protocol::new(Version::V1_0, Binding::JsonRpc).unwrap();
    let page = protocol.decode_task(502, b"<h1>Bad gateway</h1>").unwrap_err();
    assert_eq!(page, DecodeError::Status { status: 502, text: "<h1>Bad gateway</h1>".into() });
    let locked = protocol.decode_task(401, br#"{"error":{"message":"who are you?"}}"#).unwrap_err();
    assert_eq!(locked, DecodeError::Unauthenticated { message: "who are you?".into() });
    let error = protocol.decode_error(200, br#"{"result":{}}"#);
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error:?}");
}
