//! Sample answers and calls.

use std::sync::Arc;

use attache_domain::{
    Access, AccessLevel, Answerer, Base64, CallAnswer, CallId, CallOutcome, CommandCall, Compaction, Content,
    ContextReason, Digest, Effect, Fact, FinishedCall, GivenContext, Message, MessageId, ModelAnswer,
    ModelPart, ModelPartContent, Preview, Proposal, ProposedCall, ProviderData, QuestionKind,
    RequestedSettings, ResponseEnd, ToolCall, ToolQuestion, TurnOutcome, Usage, Verdict,
};
use serde_json::{Map, Value};

use super::short_message;

/// In chronological order.
pub(super) fn every_kind() -> Vec<Fact> {
    vec![
        Fact::ModelAnswered(Box::new(model_answer())),
        Fact::CallProposed(Box::new(edit())),
        Fact::CallProposed(Box::new(command())),
        Fact::CallProposed(Box::new(look())),
        Fact::CallAnswered { call: id("call-1"), answer: Box::new(changed()) },
        Fact::CallAnswered { call: id("call-2"), answer: Box::new(refused()) },
        Fact::CallStarted { call: id("call-1"), digest: Digest("0c2d".into()), mark: None },
        Fact::CallShowed { call: id("call-1"), text: "half way\n".into() },
        finished("call-1", CallOutcome::Succeeded, Some("--- a\n+++ b\n")),
        finished("call-2", CallOutcome::Canceled, None),
        finished("call-3", CallOutcome::Failed { kind: "file_not_found".into() }, None),
        finished("call-4", CallOutcome::Unknown, None),
    ]
}

/// Newer kinds and members, which old logs lack.
pub(super) fn later_kinds() -> Vec<Fact> {
    let given = |reason| {
        let contents = vec![Content::Text("Look at this.".into())];
        Fact::ContextGiven(Box::new(GivenContext { reason, contents }))
    };
    let reduced = |summary: Option<&str>| {
        let summary = summary.map(str::to_owned);
        let cost = Usage { input: 9, ..Usage::default() };
        let reduction = Compaction { summary, dropped: 4, masked: 9, before: 60_000, after: 9000, cost };
        Fact::ContextReduced(Box::new(reduction))
    };
    let skipped = CallAnswer { choice: "skip".into(), verdict: Verdict::Skip, ..refused() };
    let me = Answerer { client: "me".into(), message: None };
    let usage = Usage { input: 5, cached: 4, output: 3, thoughts: 2 };
    vec![
        Fact::TextReplaced { text: "So far".into() },
        given(ContextReason::Mention),
        given(ContextReason::Loop),
        given(ContextReason::Lost),
        reduced(Some("What we did.")),
        reduced(None),
        Fact::CallLost {
            call: id("call-1"),
            choices: vec!["proceed_once".into(), "skip".into()],
            question: None,
        },
        Fact::CallAnswered { call: id("call-1"), answer: Box::new(skipped) },
        Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: Some(Box::new(usage)) },
        Fact::CallDeferred { call: id("call-2"), until: id("call-1") },
        ended(ResponseEnd::Length),
        ended(ResponseEnd::Refused { why: "SAFETY".into() }),
        Fact::TurnStarted { turn: 2, model: Some("gemini-x".into()) },
        Fact::ModelChosen { model: "gemini-y".into() },
        given(ContextReason::Command),
        Fact::CallAnswered { call: id("call-1"), answer: Box::new(CallAnswer { by: Some(me), ..changed() }) },
        Fact::MessageReceived { message: commanding().into(), digest: Digest("0f4a".into()) },
        Fact::CallProposed(Box::new(confined_command())),
        Fact::CallStarted { call: id("call-5"), digest: Digest("0c2d".into()), mark: Some("5f3c".into()) },
        Fact::CallLost {
            call: id("call-1"),
            choices: vec!["run_again".into(), "skip".into()],
            question: Some(id("lost-57-1")),
        },
        Fact::CallAnswered {
            call: id("call-1"),
            answer: Box::new(CallAnswer {
                choice: "run_again".into(),
                question: Some(id("lost-57-1")),
                verdict: Verdict::Proceed,
                ..refused()
            }),
        },
        Fact::ModelResponded { id: "response-1".into() },
    ]
}

/// A call to another agent, which asks a question; the newest kinds.
pub(super) fn delegated() -> Vec<Fact> {
    let (agent, origin) = (String::from("weather"), String::from("https://agents.example"));
    let shown = Preview::Agent {
        agent: agent.clone(),
        url: "https://agents.example/a2a".into(),
        prompt: "Will it rain?".into(),
        files: vec!["map.png".into()],
    };
    let proposed = proposed("call-6", vec![Effect::Delegate { agent, origin }], shown, &[]);
    let asked = |question: &str, kind, url: Option<&str>| {
        Fact::CallAsked(Box::new(ToolQuestion {
            call: id("call-6"),
            question: id(question),
            kind,
            text: "Where?".into(),
            url: url.map(str::to_owned),
            choices: vec!["answer".into(), "skip".into(), "cancel".into()],
        }))
    };
    let state = Value::Object(input());
    vec![
        Fact::CallProposed(Box::new(proposed)),
        Fact::CallStateSaved { call: id("call-6"), state: Arc::new(state) },
        asked("ask-60-1", QuestionKind::Input, None),
        asked("ask-64-1", QuestionKind::Auth, Some("https://agents.example/login")),
        Fact::CallCancelRequested {
            call: id("call-6"),
            by: Some(Answerer { client: "me".into(), message: None }),
        },
        Fact::CallCancelRequested { call: id("call-6"), by: None },
    ]
}

/// The state that a tool saves for the conversation.
pub(super) fn kept() -> Fact {
    Fact::ConversationStateSaved { key: "agent:weather".into(), state: Arc::new(Value::Object(input())) }
}

/// An answer whose message is shown to other clients.
pub(super) fn answered_in_message() -> Fact {
    let by = Answerer { client: "me (editor)".into(), message: Some(MessageId::from("message-11")) };
    Fact::CallAnswered { call: id("call-1"), answer: Box::new(CallAnswer { by: Some(by), ..changed() }) }
}

/// A message with more members than its parts.
fn commanding() -> Message {
    let requested = RequestedSettings {
        model: Some("gemini-y".into()),
        workspace: Some("/work".into()),
        approval_mode: Some("plan".into()),
        mcp_servers: input(),
        local_servers: Vec::new(),
        allowed_tools: vec!["read_file".into()],
        auto_execute: true,
        api_key_name: None,
        api_key_model: None,
        api_key: None,
        metadata_key: "attache".into(),
    };
    let command = CommandCall { path: vec!["memory".into(), "add".into()], arguments: "blue".into() };
    Message {
        requested: Some(Box::new(requested)),
        command: Some(Box::new(command)),
        ..short_message("message-12")
    }
}

fn ended(end: ResponseEnd) -> Fact {
    Fact::ModelAnswered(Box::new(ModelAnswer { parts: Vec::new(), end, ..model_answer() }))
}

fn id(text: &str) -> CallId {
    CallId(text.into())
}

fn input() -> Map<String, Value> {
    Map::from_iter([("file_path".to_owned(), Value::from("src/main.rs"))])
}

fn model_answer() -> ModelAnswer {
    let opaque =
        ProviderData { provider: "gemini".into(), model: "gemini-x".into(), data: Value::from("c2ln") };
    let call = ToolCall { id: id("call-1"), name: "replace".into(), input: input() };
    ModelAnswer {
        model: "gemini-x".into(),
        parts: vec![
            ModelPart { what: ModelPartContent::Thought("Hm.".into()), opaque: None },
            ModelPart { what: ModelPartContent::Text("I shall look.".into()), opaque: None },
            ModelPart { what: ModelPartContent::Call(call), opaque: Some(opaque.clone()) },
            ModelPart { what: ModelPartContent::Hidden, opaque: Some(opaque) },
        ],
        usage: Usage { input: 100, cached: 20, output: 30, thoughts: 10 },
        end: ResponseEnd::Done,
    }
}

fn proposed(call: &str, effects: Vec<Effect>, shown: Preview, choices: &[&str]) -> ProposedCall {
    ProposedCall {
        call: id(call),
        proposal: Arc::new(Proposal { input: input(), effects, shown }),
        alone: !choices.is_empty(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        grants: Default::default(),
        why: "a rule".into(),
    }
}

fn edit() -> ProposedCall {
    let shown = Preview::Edit {
        path: "src/main.rs".into(),
        diff: "--- a\n+++ b\n".into(),
        original: Some("old".into()),
        original_digest: Some("0a1b".into()),
        new_content: "new".into(),
    };
    let effects = vec![Effect::Write { path: "src/main.rs".into() }];
    proposed("call-1", effects, shown, &["proceed_once", "cancel"])
}

fn command() -> ProposedCall {
    let directory = || "src".into();
    let access = Access::open;
    let shown = Preview::Exec { command: "ls".into(), directory: directory(), programs: vec!["ls".into()] };
    let effects = vec![
        Effect::Run { command: "ls".into(), directory: directory(), access: access() },
        Effect::Fetch { url: "https://example.org/".into() },
        Effect::UseServer { server: "files".into(), tool: "read".into() },
        Effect::AskPerson,
    ];
    proposed("call-2", effects, shown, &["proceed_once"])
}

/// With newer members: the access, and what an answer would allow.
fn confined_command() -> ProposedCall {
    let (command, directory) = (String::from("make"), "src".into());
    let access = Access {
        network: vec!["example.org".into()],
        writes: vec!["src/.env".into()],
        gap: Some("nothing".into()),
        ..Access::new(AccessLevel::Work)
    };
    let shown = Preview::Mcp {
        server: "files".into(),
        tool: "read".into(),
        title: "Read".into(),
        address: Some("http://127.0.0.1:1/".into()),
    };
    let grants = [("proceed_always".to_owned(), "Always: allow it".to_owned())].into();
    let effects = vec![Effect::Run { command, directory, access }];
    ProposedCall { grants, ..proposed("call-5", effects, shown, &["proceed_always"]) }
}

fn look() -> ProposedCall {
    let effects = vec![Effect::Read { path: "src".into() }];
    proposed("call-3", effects, Preview::Plain { summary: "src".into() }, &[])
}

fn changed() -> CallAnswer {
    CallAnswer {
        choice: "proceed_once".into(),
        question: None,
        verdict: Verdict::Proceed,
        new_content: Some("newer".into()),
        answers: Some(Value::from("blue")),
        message: Some((MessageId::from("message-11"), Digest("0e3f".into()))),
        by: None,
    }
}

fn refused() -> CallAnswer {
    CallAnswer {
        choice: "cancel".into(),
        question: None,
        verdict: Verdict::Refuse,
        new_content: None,
        answers: None,
        message: None,
        by: None,
    }
}

fn finished(call: &str, outcome: CallOutcome, diff: Option<&str>) -> Fact {
    let output = vec![
        Content::Text("done".into()),
        Content::Bytes { media_type: "image/png".into(), bytes: Base64("AAAA".into()), name: None },
        Content::Link { media_type: None, url: "https://example.org/".into() },
    ];
    let diff = diff.map(str::to_owned);
    Fact::CallFinished(Box::new(FinishedCall {
        call: id(call),
        outcome,
        output,
        summary: "Done".into(),
        diff,
    }))
}
