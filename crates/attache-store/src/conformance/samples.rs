//! Tasks, events and facts for the checks.

mod calls;

use std::sync::Arc;

use attache_domain::{
    Artifact, ArtifactId, Base64, ContextId, Digest, Event, Fact, Interface, Message, MessageId, Metadata,
    OpenedTask, Part, PartContent, Presentation, ReplyShape, Role, Scope, Sender, Seq, TaskEnding, TaskId,
    TaskKey, TaskState, TaskSummary, Timestamp, TurnOutcome,
};

use crate::{Append, EventLog, StoreError};

/// A task under construction, with the position of its next append.
#[derive(Debug, Clone)]
pub struct Sample {
    pub key: TaskKey,
    pub head: Seq,
    pub summary: TaskSummary,
}

impl Sample {
    /// A visible, finished task of the first caller in its own context, with its status at second zero.
    pub fn new(task: &str) -> Self {
        Self {
            key: TaskKey { scope: Scope::new("tenant", "owner"), task: TaskId::new(task) },
            head: Seq::START,
            summary: TaskSummary {
                context: ContextId::new(format!("context of {task}")),
                state: TaskState::Completed,
                status_at: at(0),
                hidden: false,
                unfinished: false,
            },
        }
    }

    pub fn of(mut self, scope: Scope) -> Self {
        self.key.scope = scope;
        self
    }

    pub fn in_context(mut self, context: &str) -> Self {
        self.summary.context = ContextId::new(context);
        self
    }

    pub fn in_state(mut self, state: TaskState) -> Self {
        self.summary.state = state;
        self
    }

    pub fn with_status_at(mut self, seconds: i64) -> Self {
        self.summary.status_at = at(seconds);
        self
    }

    pub fn hidden(mut self) -> Self {
        self.summary.hidden = true;
        self
    }

    pub fn unfinished(mut self, unfinished: bool) -> Self {
        self.summary.unfinished = unfinished;
        self
    }

    /// The append of `facts` at this sample's head.
    pub fn append_of(&self, facts: impl IntoIterator<Item = Fact>) -> Append {
        let events = (self.head.0 + 1..).zip(facts).map(|(seq, fact)| {
            let at = at(i64::try_from(seq).unwrap_or(0));
            Arc::new(Event { seq: Seq(seq), at, fact })
        });
        Append {
            key: self.key.clone(),
            expected: self.head,
            events: events.collect(),
            summary: self.summary.clone(),
        }
    }

    /// Appends `facts` and advances; returns the appended events.
    pub async fn append(
        &mut self,
        store: &(impl EventLog + ?Sized),
        facts: impl IntoIterator<Item = Fact>,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        let append = self.append_of(facts);
        let events = append.events.clone();
        store.append(append).await?;
        self.head = events.last().map_or(self.head, |event| event.seq);
        Ok(events)
    }

    /// Appends one short fact, which must succeed.
    pub async fn put(&mut self, store: &(impl EventLog + ?Sized)) {
        self.append(store, [said("text")]).await.expect("this append meets no conflict");
    }
}

/// The time `seconds` after the start of the samples.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(1_700_000_000_000 + seconds * 1_000).expect("within range")
}

pub(super) fn said(text: impl Into<String>) -> Fact {
    Fact::TextSaid { text: text.into(), last: false }
}

/// `count` short, distinct facts.
pub(super) fn numbered(count: usize) -> impl Iterator<Item = Fact> {
    (1..=count).map(|number| said(format!("piece {number}")))
}

/// At least one fact of every kind, in all stored shapes.
pub fn every_kind_of_fact() -> Vec<Fact> {
    let digest = || Digest("0a1b".into());
    let mut facts = vec![
        Fact::TaskOpened(Box::new(OpenedTask {
            task: TaskId::new("task-1"),
            scope: Scope::new("tenant", "owner"),
            context: ContextId::new("context-1"),
            message: message_with_everything().into(),
            digest: digest(),
            ending: TaskEnding::Completes,
            reply: ReplyShape::Task,
            continues: false,
            presentation: Presentation::default(),
            metadata: Some(metadata()),
        })),
        Fact::MessageReceived { message: short_message("message-2").into(), digest: digest() },
        Fact::PromptQueued { message: short_message("message-3").into(), digest: digest() },
        Fact::PromptTaken { said: None, message: None },
        Fact::PromptTaken { said: Some(short_message("message-4").into()), message: None },
        Fact::TurnStarted { turn: 1, model: None },
        Fact::ThoughtShared { text: "Hm.".into() },
        Fact::TextSaid { text: "Hello".into(), last: false },
        Fact::TextSaid { text: ", world".into(), last: true },
        Fact::TextWithdrawn,
        Fact::TextEnded,
        Fact::ArtifactAdded { artifact: artifact_with_everything().into(), append: false, last: false },
        Fact::ArtifactAdded { artifact: small_artifact().into(), append: true, last: true },
        Fact::CredentialAsked { message: short_message("message-5").into() },
        Fact::WorkResumed,
        Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None },
        Fact::TurnEnded {
            outcome: TurnOutcome::InputRequired,
            message: Some(short_message("message-6").into()),
            usage: None,
        },
        Fact::TurnEnded { outcome: TurnOutcome::AuthRequired, message: None, usage: None },
        Fact::TurnEnded { outcome: TurnOutcome::Failed, message: None, usage: None },
        Fact::TurnEnded { outcome: TurnOutcome::Rejected, message: None, usage: None },
        Fact::CancelRequested,
        Fact::TaskCanceled,
        Fact::TaskOpened(Box::new(OpenedTask {
            task: TaskId::new("task-2"),
            scope: Scope::new("", "owner"),
            context: ContextId::new("context-1"),
            message: short_message("message-7").into(),
            digest: digest(),
            ending: TaskEnding::Completes,
            reply: ReplyShape::Message,
            continues: false,
            presentation: Presentation::default(),
            metadata: None,
        })),
        Fact::Replied { message: short_message("message-8").into() },
    ];
    facts.extend(calls::every_kind());
    facts.push(Fact::PersonAsked { message: short_message("message-9").into(), auth: false });
    facts.push(Fact::Noticed { message: short_message("message-10").into() });
    facts.extend(calls::later_kinds());
    facts.push(Fact::MessageReceived { message: message_with_sender().into(), digest: digest() });
    facts.push(Fact::PromptTaken { said: None, message: Some(MessageId::new("message-3")) });
    facts.extend(calls::delegated());
    facts.push(Fact::PersonAsked { message: short_message("message-13").into(), auth: true });
    facts.push(calls::kept());
    facts.push(calls::answered_in_message());
    let (prompt, outcome) = (Some(MessageId::new("message-3")), TurnOutcome::Failed);
    facts.push(Fact::PromptSettled { prompt, outcome, message: Some(short_message("message-14").into()) });
    facts.push(Fact::PromptSettled { prompt: None, outcome: TurnOutcome::Completed, message: None });
    let (message, state) = (short_message("message-15").into(), TaskState::Canceled);
    facts.push(Fact::NoticedLater { message, state });
    facts
}

fn message_with_sender() -> Message {
    let (client, interface) = (Some("wscat".into()), Some(Interface::WebSocket));
    let sender = Box::new(Sender { by: "owner".into(), client, interface });
    Message { sender: Some(sender), ..short_message("message-12") }
}

/// The name of a fact's kind. A new kind does not compile here: add a sample above as well.
pub fn name_of(fact: &Fact) -> &'static str {
    match fact {
        Fact::TaskOpened(_) => "task_opened",
        Fact::MessageReceived { .. } => "message_received",
        Fact::PromptQueued { .. } => "prompt_queued",
        Fact::PromptSettled { .. } => "prompt_settled",
        Fact::PromptTaken { .. } => "prompt_taken",
        Fact::TurnStarted { .. } => "turn_started",
        Fact::ThoughtShared { .. } => "thought_shared",
        Fact::TextSaid { .. } => "text_said",
        Fact::TextWithdrawn => "text_withdrawn",
        Fact::TextReplaced { .. } => "text_replaced",
        Fact::TextEnded => "text_ended",
        Fact::ArtifactAdded { .. } => "artifact_added",
        Fact::CredentialAsked { .. } => "credential_asked",
        Fact::WorkResumed => "work_resumed",
        Fact::TurnEnded { .. } => "turn_ended",
        Fact::ModelChosen { .. } => "model_chosen",
        Fact::ModelResponded { .. } => "model_responded",
        Fact::ModelAnswered(_) => "model_answered",
        Fact::ContextGiven(_) => "context_given",
        Fact::ContextReduced(_) => "context_reduced",
        Fact::CallLost { .. } => "call_lost",
        Fact::CallProposed(_) => "call_proposed",
        Fact::CallDeferred { .. } => "call_deferred",
        Fact::CallAnswered { .. } => "call_answered",
        Fact::CallStarted { .. } => "call_started",
        Fact::CallShowed { .. } => "call_showed",
        Fact::CallStateSaved { .. } => "call_state_saved",
        Fact::ConversationStateSaved { .. } => "conversation_state_saved",
        Fact::CallAsked(_) => "call_asked",
        Fact::CallCancelRequested { .. } => "call_cancel_requested",
        Fact::CallFinished(_) => "call_finished",
        Fact::PersonAsked { .. } => "person_asked",
        Fact::Noticed { .. } => "noticed",
        Fact::NoticedLater { .. } => "noticed_later",
        Fact::CancelRequested => "cancel_requested",
        Fact::TaskCanceled => "task_canceled",
        Fact::Replied { .. } => "replied",
    }
}

fn short_message(id: &str) -> Message {
    Message {
        id: MessageId::new(id),
        role: Role::User,
        parts: vec![Part::text("Hello")],
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

fn message_with_everything() -> Message {
    Message {
        id: MessageId::new("message-1"),
        role: Role::Agent,
        parts: every_kind_of_part(),
        context: Some(ContextId::new("context-1")),
        task: Some(TaskId::new("task-1")),
        requested: None,
        command: None,
        sender: None,
        reference_tasks: vec![TaskId::new("task-0"), TaskId::new("task-00")],
        extensions: vec!["https://example.com/extension".into()],
        metadata: Some(metadata()),
    }
}

fn every_kind_of_part() -> Vec<Part> {
    let described = Part {
        content: PartContent::Text("Grüße \u{1F980}\n".into()),
        media_type: Some("text/markdown".into()),
        filename: Some("greeting.md".into()),
        metadata: Some(metadata()),
    };
    let data = r#"{"list":[1,-2,0.5,true,null],"nested":{"text":"\u0000"}}"#;
    vec![
        described,
        Part::new(PartContent::Raw(Base64("AAEC/w==".into()))),
        Part::new(PartContent::Url("https://example.com/file".into())),
        Part::new(PartContent::Data(data.parse().expect("valid JSON"))),
    ]
}

fn artifact_with_everything() -> Artifact {
    Artifact {
        id: ArtifactId::new("artifact-1"),
        name: Some("report".into()),
        description: Some("what was found".into()),
        parts: every_kind_of_part(),
        metadata: Some(metadata()),
        extensions: vec!["https://example.com/extension".into()],
    }
}

fn small_artifact() -> Artifact {
    Artifact {
        id: ArtifactId::new("artifact-1"),
        name: None,
        description: None,
        parts: vec![Part::text("more")],
        metadata: None,
        extensions: Vec::new(),
    }
}

fn metadata() -> Metadata {
    [("https://example.com/extension".to_owned(), "on".into()), ("weight".to_owned(), 0.1.into())]
        .into_iter()
        .collect()
}
