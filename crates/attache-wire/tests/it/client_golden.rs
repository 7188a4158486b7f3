//! What a client sends and reads, compared with files that were written by hand from the specifications.

use attache_domain::{
    Base64, Binding, CancelTask, CommandCall, GetTask, ListCommands, ListPushConfigs, ListTasks, Message,
    MessageAnswers, NewPushConfig, Operation, Part, PartContent, PushAuthentication, PushConfig,
    PushConfigOperation, PushShape, Role, SendConfiguration, SendMessage, SendOptions, SubscribeTask,
    TaskState,
};
use attache_proto::DESCRIPTORS;
use attache_wire::Version;
use attache_wire::client::{DecodeError, Protocol, Verb};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::{Map, Value, json};

use crate::golden;

const BINDINGS: [(&str, Binding); 3] =
    [("jsonrpc", Binding::JsonRpc), ("http", Binding::HttpJson), ("grpc", Binding::Grpc)];

fn send(parts: Vec<Part>) -> SendMessage {
    let message = Message {
        id: "m-1".into(),
        role: Role::User,
        parts,
        context: None,
        task: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
        requested: None,
        command: None,
        sender: None,
    };
    SendMessage {
        message,
        answers: MessageAnswers::default(),
        configuration: SendConfiguration::default(),
        metadata: None,
        options: SendOptions::default(),
    }
}

fn operation(name: &str) -> Operation {
    let task = || "t-1".into();
    let push = |operation| Operation::PushConfig(operation);
    match name {
        "send" => {
            let mut file = Part::new(PartContent::Raw(Base64("AAECAw==".into())));
            file.filename = Some("four.bin".into());
            file.media_type = Some("application/octet-stream".into());
            let mut send = send(vec![Part::text("hi"), file]);
            send.message.task = Some(task());
            send.message.context = Some("c-1".into());
            send.message.metadata = json!({"a": "b"}).as_object().cloned();
            send.configuration.return_immediately = true;
            send.configuration.history_length = Some(2);
            Operation::Send(send)
        }
        "stream" => Operation::Stream(send(vec![Part::text("hi")])),
        "get" | "get of a tenant" => {
            Operation::Get(GetTask { task: task(), history_length: Some(5), at: None })
        }
        "list" => Operation::List(ListTasks {
            context: Some("c-1".into()),
            state: Some(TaskState::Working),
            page_size: 7,
            page_token: "p".into(),
            history_length: Some(0),
            include_artifacts: true,
            ..ListTasks::default()
        }),
        "cancel" => Operation::Cancel(CancelTask { task: task(), metadata: None }),
        "subscribe" => Operation::Subscribe(SubscribeTask::to(task())),
        "push create" => {
            let authentication =
                Some(PushAuthentication { schemes: vec!["Bearer".into()], credentials: Some("c".into()) });
            let config = PushConfig {
                id: "p-1".into(),
                url: "https://hook.example/".into(),
                token: Some("s".into()),
                authentication,
            };
            let request = NewPushConfig { config, shape: PushShape::EachUpdate };
            push(PushConfigOperation::Create { task: task(), request })
        }
        "push get" => push(PushConfigOperation::Get { task: task(), config: Some("p-1".into()) }),
        "push list" => push(PushConfigOperation::List(ListPushConfigs {
            task: task(),
            page_size: None,
            page_token: String::new(),
        })),
        "push delete" => push(PushConfigOperation::Delete { task: task(), config: "p-1".into() }),
        "extended card" => Operation::ExtendedCard,
        "commands" => {
            Operation::Commands(ListCommands { context: Some("c-1".into()), task: None, settings: None })
        }
        "execute" => {
            let path = vec!["memory".to_owned(), "add".to_owned()];
            let command = CommandCall { path, arguments: "we test first".into() };
            let mut send = send(vec![Part::text(command.line())]);
            send.message.context = Some("c-1".into());
            send.message.command = Some(Box::new(command));
            Operation::Execute(send)
        }
        other => panic!("no operation {other}"),
    }
}

fn pool() -> DescriptorPool {
    DescriptorPool::decode(DESCRIPTORS).unwrap()
}

fn protobuf_to_json(name: &str, bytes: &[u8]) -> Value {
    let message = DynamicMessage::decode(pool().get_message_by_name(name).unwrap(), bytes).unwrap();
    serde_json::to_value(message).unwrap()
}

fn json_to_protobuf(name: &str, json: Value) -> Vec<u8> {
    let message = DynamicMessage::deserialize(pool().get_message_by_name(name).unwrap(), json).unwrap();
    message.encode_to_vec()
}

/// The encoded request in the form of the golden files.
fn encoded(version: Version, binding: Binding, name: &str, expected: &Value) -> Value {
    let tenant = name.ends_with("of a tenant").then_some("a cme");
    let request = Protocol::new(version, binding).encode(tenant, &operation(name)).unwrap();
    let body = request.body.as_deref();
    let json = || body.map(|body| serde_json::from_slice::<Value>(body).unwrap());
    match binding {
        Binding::JsonRpc => {
            let mut body: Map<String, Value> = serde_json::from_value(json().unwrap()).unwrap();
            assert_eq!((body.remove("jsonrpc"), body.remove("id")), (Some(json!("2.0")), Some(json!(1))));
            Value::Object(body)
        }
        Binding::HttpJson => {
            let verb = match request.verb {
                Verb::Get => "GET",
                Verb::Post => "POST",
                Verb::Delete => "DELETE",
            };
            let mut query: Vec<&str> = request.query.split('&').filter(|pair| !pair.is_empty()).collect();
            query.sort_unstable();
            let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
            let mut found = json!({"request": format!("{verb} {}{query}", request.path)});
            if let Some(body) = json() {
                found["body"] = body;
            }
            found
        }
        Binding::Grpc => {
            let name = expected["type"].as_str().unwrap();
            let message = protobuf_to_json(name, body.unwrap());
            json!({"method": request.path, "type": name, "message": message})
        }
    }
}

#[test]
fn requests_are_written_as_the_specifications_say() {
    for (version, file) in
        [(Version::V1_0, "client/requests_1_0.json"), (Version::V0_3, "client/requests_0_3.json")]
    {
        let golden = golden::value(file);
        for (name, by_binding) in golden.as_object().unwrap() {
            for (title, binding) in BINDINGS {
                let expected = &by_binding[title];
                let found = encoded(version, binding, name, expected);
                assert_eq!(&found, expected, "\n{name}, {} {title}: {found:#}", version.as_str());
            }
        }
    }
}

#[test]
fn responses_are_read_as_the_specifications_say() {
    for case in golden::value("client/responses.json").as_array().unwrap() {
        for answer in case["answers"].as_array().unwrap() {
            let about = format!("{}, {}", case["about"], answer[0]);
            let (version, title) = answer[0].as_str().unwrap().split_once(' ').unwrap();
            let version = if version == "1.0" { Version::V1_0 } else { Version::V0_3 };
            let (_, binding) = BINDINGS.into_iter().find(|(name, _)| *name == title).unwrap();
            let protocol = Protocol::new(version, binding);
            let (status, body) = match answer[1].as_str() {
                Some(name) => (200, json_to_protobuf(name, answer[2].clone())),
                None => (answer[1].as_u64().unwrap() as u16, answer[2].to_string().into_bytes()),
            };
            let read = match case["read_as"].as_str().unwrap() {
                "task" => protocol.decode_task(status, &body).map(|task| task.to_json()),
                _ => protocol.decode_event(status, &body).map(|event| event.to_json()),
            };
            match (read, case.get("expected")) {
                (Ok(found), Some(expected)) => {
                    assert_eq!(same_times(&found), same_times(expected), "{about}")
                }
                (Err(DecodeError::Remote(error)), None) => {
                    let found = json!({"reason": error.reason, "message": error.message});
                    assert_eq!(found, case["error"], "{about}");
                }
                (found, _) => panic!("{about}: {found:?}"),
            }
        }
    }
}

/// Protobuf writes a whole second without its zeros.
fn same_times(value: &Value) -> String {
    value.to_string().replace(".000Z", "Z")
}
