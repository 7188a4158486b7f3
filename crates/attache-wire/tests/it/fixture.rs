//! Domain words that the golden files spell.

use std::sync::Arc;

use attache_domain::{
    Artifact, ArtifactId, Base64, ContextId, Digest, Event, Fact, Message, MessageId, Metadata,
    NewPushConfig, OpenedTask, Part, PartContent, Presentation, PushAuthentication, PushConfig, PushShape,
    ReplyShape, Role, Scope, SendConfiguration, SendMessage, Seq, TaskEnding, TaskId, TaskState, TaskStatus,
    TaskView, Timestamp,
};
use attache_wire::{JsonForm, Version};
use serde_json::{Value, json};

/// 2025-10-28T10:30:00Z and some milliseconds.
pub(crate) fn time(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(1_761_647_400_000 + millisecond).unwrap()
}

pub(crate) fn object(value: Value) -> Metadata {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

pub(crate) fn user_text(text: &str) -> Message {
    Message {
        id: MessageId::from("m-1"),
        role: Role::User,
        parts: vec![Part::text(text)],
        context: None,
        task: None,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    }
}

/// A message that uses everything `json_form` has a place for.
pub(crate) fn full_message(json_form: JsonForm) -> Message {
    let file = |content, filename: &str, media_type: &str| Part {
        filename: Some(filename.into()),
        media_type: Some(media_type.into()),
        ..Part::new(content)
    };
    let mut message = Message {
        parts: vec![
            Part {
                filename: Some("note.md".into()),
                media_type: Some("text/markdown".into()),
                metadata: Some(object(json!({ "lang": "en" }))),
                ..Part::text("Look at this")
            },
            file(PartContent::Raw(Base64("AAEC/w==".into())), "a.bin", "application/octet-stream"),
            file(PartContent::Url("https://example.com/b.png".into()), "b.png", "image/png"),
            Part::new(PartContent::Data(json!({ "n": 1 }))),
            Part::new(PartContent::Data(json!([1, null, "x"]))),
        ],
        context: Some(ContextId::from("c-1")),
        task: Some(TaskId::from("t-1")),
        requested: None,
        command: None,
        sender: None,
        reference_tasks: vec![TaskId::from("t-0")],
        extensions: vec!["https://example.com/ext".into()],
        metadata: Some(object(json!({ "https://example.com/ext": { "snake_key": true } }))),
        ..user_text("")
    };
    lose(json_form, &mut message);
    message
}

/// Takes from `message` what `json_form` cannot say.
pub(crate) fn lose(json_form: JsonForm, message: &mut Message) {
    if json_form == JsonForm::V1_0 {
        return;
    }
    for part in &mut message.parts {
        if matches!(part.content, PartContent::Text(_) | PartContent::Data(_)) {
            part.filename = None;
            part.media_type = None;
        }
    }
    if json_form == JsonForm::V0_3Rest {
        message.reference_tasks.clear();
    }
}

/// A configuration with everything that one can have.
pub(crate) fn push_request(json_form: JsonForm) -> NewPushConfig {
    let authentication =
        PushAuthentication { schemes: vec!["Bearer".into()], credentials: Some("hook-secret".into()) };
    let shape = match json_form.version() {
        Version::V0_3 => PushShape::WholeTask,
        Version::V1_0 => PushShape::EachUpdate,
    };
    let config = PushConfig {
        id: "hook-1".into(),
        url: "https://hooks.example.com/a2a".into(),
        token: Some("hook-token".into()),
        authentication: Some(authentication),
    };
    NewPushConfig { config, shape }
}

pub(crate) fn full_send(json_form: JsonForm) -> SendMessage {
    let message = full_message(json_form);
    SendMessage {
        answers: attache_wire::read_answers(&message),
        message,
        configuration: SendConfiguration {
            accepted_output_modes: vec!["text/plain".into(), "application/json".into()],
            history_length: Some(5),
            return_immediately: true,
            push: Some(Box::new(push_request(json_form))),
        },
        metadata: Some(object(json!({ "origin": "golden" }))),
        options: Default::default(),
    }
}

/// A task of which nothing is known but that it is there.
pub(crate) fn bare_view() -> TaskView {
    let fact = Fact::TaskOpened(Box::new(OpenedTask {
        task: TaskId::from("t-1"),
        scope: Scope::new("", "someone"),
        context: ContextId::from("c-1"),
        message: user_text("hello").into(),
        digest: Digest("00".into()),
        ending: TaskEnding::Completes,
        reply: ReplyShape::Task,
        continues: false,
        presentation: Presentation::default(),
        metadata: None,
    }));
    let mut view = TaskView::open(&Event { seq: Seq(1), at: time(0), fact }).unwrap();
    view.history.clear();
    view
}

/// A task that has everything a task can have.
pub(crate) fn full_view() -> TaskView {
    let mut view = bare_view();
    view.metadata = Some(object(json!({ "origin": "golden" })));
    view.status = TaskStatus {
        state: TaskState::InputRequired,
        message: Some(
            Message::from_agent(
                MessageId::from("m-2"),
                view.context.clone(),
                Some(view.task.clone()),
                "Which one?\n\"A\" or \"B\"",
            )
            .into(),
        ),
        at: time(7),
    };
    view.history = vec![Arc::new(full_message(JsonForm::V1_0))];
    let link = Part {
        filename: Some("out.txt".into()),
        ..Part::new(PartContent::Url("https://example.com/out".into()))
    };
    view.artifacts = vec![
        Artifact {
            name: Some("Answer".into()),
            description: Some("What came out".into()),
            metadata: Some(object(json!({ "pages": 2 }))),
            extensions: vec!["https://example.com/ext".into()],
            ..artifact("a-1", vec![Part::text(""), link])
        },
        artifact("a-2", vec![Part::new(PartContent::Data(json!("just text")))]),
    ];
    view
}

pub(crate) fn artifact(id: &str, parts: Vec<Part>) -> Artifact {
    Artifact {
        id: ArtifactId::from(id),
        name: None,
        description: None,
        parts,
        metadata: None,
        extensions: Vec::new(),
    }
}
