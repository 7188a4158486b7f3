//! What the client side encodes, the server side decodes, and the other way round.

use attache_domain::{
    Binding, CancelTask, Fault, GetTask, ListPushConfigs, ListTasks, Message, NewPushConfig, Operation,
    OperationKind, Part, PushAuthentication, PushConfig, PushConfigOperation, PushConfigPage, PushShape,
    PushStatus, StoredPushConfig, SubscribeTask, TaskId, TaskState, TaskStatus, TaskView, Update,
};
use attache_wire::client::{DecodeError, Protocol, RemotePushConfig, RemoteStatus, StreamEvent, Verb};
use attache_wire::devtool::Dialect;
use attache_wire::encode::{
    IncludeArtifacts, TaskPage, TaskShape, write_list, write_message_item, write_push_config,
    write_push_configs, write_task, write_task_item, write_update,
};
use attache_wire::jsonrpc::{self, RequestId};
use attache_wire::{JsonForm, Version, decode, proto, rest};
use base64::Engine as _;

use crate::fixture::{artifact, bare_view, full_message, full_send, full_view, lose, object, time};

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::HttpJson, Binding::Grpc];

fn json_form(version: Version, binding: Binding) -> JsonForm {
    match (version, binding) {
        (Version::V1_0, _) => JsonForm::V1_0,
        (Version::V0_3, Binding::HttpJson | Binding::Grpc) => JsonForm::V0_3Rest,
        (Version::V0_3, _) => JsonForm::V0_3Rpc,
    }
}

/// Calls `check` with every protocol.
fn each(check: impl Fn(Protocol, Version, Binding)) {
    for version in Version::ALL {
        for binding in BINDINGS {
            check(Protocol::new(version, binding), version, binding);
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
        decode(jsonrpc::json_form(version), kind, envelope.params).unwrap()
    } else if binding == Binding::Grpc {
        let (version, kind) = proto::method(&format!("/{}", encoded.path)).unwrap();
        assert_eq!((version, encoded.verb), (protocol.version(), Verb::Post));
        proto::decode(version, kind, encoded.body.unwrap().into()).unwrap()
    } else {
        let verb = match encoded.verb {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Delete => "DELETE",
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
        let json_form = json_form(version, binding);
        // The names of resources in 0.3's protobuf cannot hold a slash.
        let is_resource = (version, binding) == (Version::V0_3, Binding::Grpc);
        let task = TaskId::from(if is_resource { "a task" } else { "a task/with:odd?characters" });
        let mut operations = vec![
            Operation::Send(full_send(json_form)),
            Operation::Stream(full_send(json_form)),
            Operation::Get(GetTask { task: task.clone(), history_length: Some(5), at: None }),
            Operation::Get(GetTask { task: task.clone(), history_length: None, at: None }),
            Operation::Subscribe(SubscribeTask::to(task.clone())),
            Operation::Cancel(CancelTask {
                task: task.clone(),
                metadata: (!is_resource).then(|| object(serde_json::json!({ "why": ["a", 1] }))),
            }),
            Operation::ExtendedCard,
        ];
        operations.extend(push_operations(version));
        let mut waiting = full_send(json_form);
        waiting.configuration = Default::default();
        operations.push(Operation::Send(waiting));
        if version == Version::V1_0 {
            operations.push(Operation::List(ListTasks::default()));
            operations.push(Operation::List(ListTasks {
                context: Some("c 1".into()),
                state: Some(TaskState::InputRequired),
                prompt: None,
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

fn push_operations(version: Version) -> Vec<Operation> {
    let task = TaskId::from("t 1");
    let shape = match version {
        Version::V0_3 => PushShape::WholeTask,
        Version::V1_0 => PushShape::EachUpdate,
    };
    let operations = [
        PushConfigOperation::Create { task: task.clone(), request: NewPushConfig { config: push(), shape } },
        PushConfigOperation::Get { task: task.clone(), config: Some("p-1".into()) },
        PushConfigOperation::List(ListPushConfigs {
            task: task.clone(),
            page_size: None,
            page_token: String::new(),
        }),
        PushConfigOperation::Delete { task, config: "p-1".into() },
    ];
    operations.map(Operation::PushConfig).to_vec()
}

fn push() -> PushConfig {
    PushConfig {
        id: "p-1".into(),
        url: "https://hook.example/a?b=c".into(),
        token: Some("t0ken".into()),
        authentication: Some(PushAuthentication {
            schemes: vec!["Bearer".into()],
            credentials: Some("s3cret".into()),
        }),
    }
}

#[test]
fn a_client_reads_push_configurations_as_they_are_stored() {
    let stored = StoredPushConfig { task: "t 1".into(), config: push(), status: PushStatus::default() };
    let page =
        PushConfigPage { configs: vec![stored.clone(), stored.clone()], next_page_token: String::new() };
    each(|protocol, version, binding| {
        let json_form = json_form(version, binding);
        let (mut one, mut all) = (Vec::new(), Vec::new());
        if binding == Binding::Grpc {
            proto::write_push_config(version, &stored, &mut one);
            proto::write_push_configs(version, &page, &mut all);
        } else {
            one = enveloped(binding, |out| write_push_config(json_form, &stored, out));
            all = enveloped(binding, |out| write_push_configs(json_form, &page, out));
        }
        let expected = RemotePushConfig { task: "t 1".into(), config: push() };
        assert_eq!(protocol.decode_push_config(200, &one).as_ref(), Ok(&expected), "{protocol:?}");
        let decoded = protocol.decode_push_configs(200, &all).unwrap();
        assert_eq!(decoded.configs, [expected.clone(), expected], "{protocol:?}");
        let missing = br#"{"jsonrpc":"2.0","id":1}"#.to_vec();
        for nothing in [enveloped(binding, |out| out.extend_from_slice(b"null")), Vec::new(), missing] {
            assert_eq!(protocol.decode_nothing(200, &nothing), Ok(()), "{protocol:?}");
        }
    });
}

#[test]
fn a_refusal_is_read_also_where_nothing_is_due() {
    each(|protocol, _, binding| {
        let refusal = br#"{"error":{"code":-32001,"message":"no such task"}}"#;
        let status = if binding == Binding::JsonRpc { 200 } else { 404 };
        assert!(protocol.decode_nothing(status, refusal).is_err(), "{protocol:?}");
    });
}

#[test]
fn some_agents_of_0_3_take_a_push_configuration_only_as_a_resource() {
    let protocol = Protocol::new(Version::V0_3, Binding::HttpJson);
    let encoded = protocol.encode_push_resource(&TaskId::from("t 1"), &push()).unwrap();
    let route = rest::route("POST", &format!("/{}", encoded.path)).unwrap();
    let body = serde_json::from_slice(&encoded.body.unwrap()).unwrap();
    let decoded = rest::decode(&route, "", Some(body)).unwrap().operation;
    assert_eq!(decoded, push_operations(Version::V0_3)[0]);
    let other = Protocol::new(Version::V1_0, Binding::HttpJson);
    assert_eq!(other.encode_push_resource(&TaskId::from("t"), &push()), None);
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
        if let Err(error) = list {
            assert_eq!(error.operation, OperationKind::List);
        }
    });
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

/// What a server sends for a task, alone or as an item of a stream.
fn task_bytes(version: Version, binding: Binding, view: &TaskView, is_item: bool) -> Vec<u8> {
    let json_form = json_form(version, binding);
    let mut out = Vec::new();
    match (binding, is_item) {
        (Binding::Grpc, true) => proto::write_task_item(version, view, SHAPE, &mut out),
        (Binding::Grpc, false) => proto::write_task(version, view, SHAPE, &mut out),
        (_, true) => return enveloped(binding, |out| write_task_item(json_form, view, SHAPE, out)),
        (_, false) => return enveloped(binding, |out| write_task(json_form, view, SHAPE, out)),
    }
    out
}

fn expected_message(json_form: JsonForm, message: &Message) -> Message {
    let mut message = message.clone();
    lose(json_form, &mut message);
    message
}

fn expected_parts(json_form: JsonForm, parts: &[Part]) -> Vec<Part> {
    let carrier = Message { parts: parts.to_vec(), ..full_message(json_form) };
    expected_message(json_form, &carrier).parts
}

fn expected_status(binding: Binding, status: &TaskStatus) -> RemoteStatus {
    // Protobuf holds numbers, which are written as short as they can be.
    let timestamp =
        if binding == Binding::Grpc { status.at.to_string() } else { format!("{:.3}", status.at) };
    RemoteStatus {
        state: Some(status.state),
        message: status.message.as_deref().cloned(),
        timestamp: Some(timestamp),
    }
}

const SHAPE: TaskShape =
    TaskShape { history_length: None, artifacts: IncludeArtifacts::WhenAny, dialect: Dialect::Plain };

#[test]
fn a_client_reads_every_task_as_it_was_meant() {
    each(|protocol, version, binding| {
        let json_form = json_form(version, binding);
        for view in [bare_view(), full_view()] {
            let bare = task_bytes(version, binding, &view, false);
            let task = protocol.decode_task(200, &bare).unwrap();
            assert_eq!((&task.id, &task.context), (&view.task, &view.context));
            assert_eq!(task.status, expected_status(binding, &view.status));
            let history = view.history.iter().map(|message| expected_message(json_form, message));
            assert_eq!(task.history, history.collect::<Vec<_>>());
            let mut artifacts = view.artifacts.clone();
            artifacts.iter_mut().for_each(|it| it.parts = expected_parts(json_form, &it.parts));
            assert_eq!(task.artifacts, artifacts);
            assert_eq!(task.metadata, view.metadata);
            let item = task_bytes(version, binding, &view, true);
            assert_eq!(protocol.decode_event(200, &item), Ok(StreamEvent::Task(Box::new(task))));
        }
    });
}

#[test]
fn a_client_reads_every_event_as_it_was_meant() {
    each(|protocol, version, binding| {
        let json_form = json_form(version, binding);
        let view = full_view();
        let decoded = |update: &Update<'_>| {
            if binding == Binding::Grpc {
                let mut out = Vec::new();
                proto::write_update(version, &view.task, &view.context, update, &mut out);
                return protocol.decode_event(200, &out).unwrap();
            }
            let write = |out: &mut Vec<u8>| write_update(json_form, &view.task, &view.context, update, out);
            protocol.decode_event(200, &enveloped(binding, write)).unwrap()
        };
        let status = Update::Status { status: view.status.clone(), closes: true, usage: None };
        let StreamEvent::StatusUpdate(update) = decoded(&status) else { panic!() };
        assert_eq!((&update.task, &update.context), (&view.task, &view.context));
        assert_eq!(update.status, expected_status(binding, &view.status));
        let piece = artifact("a-1", vec![Part::text("more")]);
        for (append, last_chunk) in [(true, false), (false, true)] {
            let artifact = std::borrow::Cow::Borrowed(&piece);
            let event = decoded(&Update::Artifact { artifact, append, last_chunk });
            let StreamEvent::ArtifactUpdate(update) = event else { panic!() };
            assert_eq!((update.append, update.last_chunk, &update.artifact), (append, last_chunk, &piece));
        }
        let message = full_message(json_form);
        let mut item = Vec::new();
        match binding {
            Binding::Grpc => proto::write_message_item(version, &message, &mut item),
            _ => item = enveloped(binding, |out| write_message_item(json_form, &message, out)),
        }
        assert_eq!(protocol.decode_event(200, &item), Ok(StreamEvent::Message(Box::new(message))));
    });
}

#[test]
fn a_client_reads_a_page() {
    for binding in BINDINGS {
        let protocol = Protocol::new(Version::V1_0, binding);
        let page = TaskPage {
            tasks: vec![full_view().into(), bare_view().into()],
            next_page_token: "p2".into(),
            page_size: 2,
            total_size: 9,
        };
        let mut body = Vec::new();
        match binding {
            Binding::Grpc => proto::write_list(&page, SHAPE, &mut body),
            _ => body = enveloped(binding, |out| write_list(&page, SHAPE, out)),
        }
        let page = protocol.decode_page(200, &body).unwrap();
        assert_eq!((page.tasks.len(), page.next_page_token.as_str(), page.total_size), (2, "p2", 9));
        if binding == Binding::Grpc {
            assert_eq!(protocol.decode_page(200, b"").unwrap().tasks, []);
            continue;
        }
        let empty = enveloped(binding, |out| out.extend_from_slice(b"{}"));
        assert_eq!(protocol.decode_page(200, &empty).unwrap().tasks, []);
    }
}

#[test]
fn a_client_reads_a_fault_with_its_name() {
    let fault = Fault::TaskNotFound { task: "t-1".into() };
    each(|protocol, version, binding| {
        let error = if binding == Binding::Grpc {
            let status = proto::status(version, &fault);
            let details = base64::engine::general_purpose::STANDARD.encode(&status.details);
            protocol.decode_grpc_status(&(status.code as i32).to_string(), &status.message, &details)
        } else if binding == Binding::JsonRpc {
            let mut out = Vec::new();
            jsonrpc::write_error(version, &RequestId::Number(1), &fault, &mut out);
            protocol.decode_task(200, &out).unwrap_err()
        } else {
            let reply = rest::error(version, &fault);
            protocol.decode_task(reply.status, &reply.body).unwrap_err()
        };
        let DecodeError::Remote(error) = error else { panic!("{protocol:?}: {error:?}") };
        assert!(error.message.ends_with(&fault.to_string()), "{error}");
        assert_eq!(error.reason.as_deref(), Some("TASK_NOT_FOUND"), "{protocol:?}");
    });
}

#[test]
fn a_status_of_grpc_is_known_by_its_details_its_text_or_its_code() {
    let protocol = Protocol::new(Version::V1_0, Binding::Grpc);
    for (code, message, reason, number) in [
        ("5", "no such thing", Some("TASK_NOT_FOUND"), -32001),
        ("9", "TaskNotCancelableError: it is over", Some("TASK_NOT_CANCELABLE"), -32002),
        ("12", "", Some("METHOD_NOT_FOUND"), -32601),
        ("14", "later", Some("UNAVAILABLE"), 14),
        ("13", "broken", None, 13),
    ] {
        let error = protocol.decode_grpc_status(code, message, "not a status");
        let DecodeError::Remote(error) = error else { panic!("{error:?}") };
        assert_eq!((error.reason.as_deref(), error.code), (reason, number), "{message}");
    }
    let locked = protocol.decode_grpc_status("16", "who%20are you?", "");
    assert_eq!(locked, DecodeError::Unauthenticated { message: "who are you?".into() });
}

#[test]
fn bytes_that_are_no_message_are_malformed() {
    let protocol = Protocol::new(Version::V1_0, Binding::Grpc);
    let error = protocol.decode_task(200, b"\xff\xff").unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error:?}");
}

#[test]
fn a_foreign_agent_may_leave_out_what_is_not_needed() {
    let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
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
    let protocol = Protocol::new(Version::V1_0, Binding::JsonRpc);
    let page = protocol.decode_task(502, b"<h1>Bad gateway</h1>").unwrap_err();
    assert_eq!(page, DecodeError::Status { status: 502, text: "Bad gateway".into() });
    let limited = protocol.decode_task(429, br#"{"detail":"slow down"}"#).unwrap_err();
    assert_eq!(limited, DecodeError::Status { status: 429, text: "slow down".into() });
    let locked = protocol.decode_task(401, br#"{"error":{"message":"who are you?"}}"#).unwrap_err();
    assert_eq!(locked, DecodeError::Unauthenticated { message: "who are you?".into() });
    let locked = protocol.decode_task(401, br#"{"error":"invalid_token"}"#).unwrap_err();
    assert_eq!(locked, DecodeError::Unauthenticated { message: "invalid_token".into() });
    let error = protocol.decode_task(200, br#"{"id":1,"error":"it broke"}"#).unwrap_err();
    assert!(matches!(&error, DecodeError::Remote(error) if error.message == "it broke"), "{error:?}");
    for (body, part) in [(&b" "[..], "it is empty"), (b"<!doctype html>", "begins with \"<!doctype html>\"")]
    {
        let error = protocol.decode_task(200, body).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_refusal_says_what_was_wrong_with_the_request() {
    let protocol = Protocol::new(Version::V1_0, Binding::JsonRpc);
    let body = br#"{"error":{"code":-32602,"message":"Invalid params","data":[{"reason":"INVALID_PARAMS"},
        {"fieldViolations":[{"field":"message.parts","description":"must not be empty"}]}]}}"#;
    let error = protocol.decode_task(200, body).unwrap_err();
    let DecodeError::Remote(error) = error else { panic!("{error:?}") };
    assert_eq!(error.message, "Invalid params: message.parts must not be empty");
    assert_eq!((error.code, error.reason.as_deref()), (-32602, Some("INVALID_PARAMS")));
}

#[test]
fn an_event_that_is_not_known_is_told_apart_from_one_that_is_wrong() {
    let event = |version, body: &str| {
        Protocol::new(version, Binding::JsonRpc).decode_event(200, body.as_bytes()).unwrap_err()
    };
    for error in [
        event(Version::V0_3, r#"{"result":{"kind":"weather"}}"#),
        event(Version::V1_0, r#"{"result":{"weather":{}}}"#),
    ] {
        assert!(matches!(error, DecodeError::UnknownEvent { .. }), "{error:?}");
    }
    for error in [
        event(Version::V0_3, r#"{"result":{"kind":"task"}}"#),
        event(Version::V0_3, r#"{"result":{}}"#),
        event(Version::V1_0, r#"{"result":{"task":{}}}"#),
        event(Version::V1_0, r#"{"result":7}"#),
    ] {
        assert!(matches!(error, DecodeError::Malformed { .. }), "{error:?}");
    }
}

#[test]
fn a_text_that_was_cut_within_a_character_is_read() {
    let protocol = Protocol::new(Version::V1_0, Binding::HttpJson);
    let body = br#"{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"a\ud83d"}]}}"#;
    let StreamEvent::Message(message) = protocol.decode_event(200, body).unwrap() else { panic!() };
    assert_eq!(message.parts[0].as_text(), Some("a\u{fffd}"));
}
