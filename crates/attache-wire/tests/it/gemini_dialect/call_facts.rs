//! The facts of a call's life, shortly.

use std::sync::Arc;

use attache_domain::{
    CallAnswer, CallId, CallOutcome, Content, Digest, Effect, Fact, FinishedCall, ModelAnswer, ModelPart,
    ModelPartContent, Preview, Proposal, ProposedCall, QUESTION_CHOICES, QuestionKind, ResponseEnd, ToolCall,
    ToolQuestion, Usage, Verdict,
};
use serde_json::{Value, json};

use crate::fixture::object;

/// The model wants these done: `k1`, `k2` and so on.
pub(super) fn wanted(calls: &[(&str, Value)]) -> Fact {
    let said = calls.iter().zip(1..).map(|((name, input), number)| {
        let (id, input) = (CallId(format!("k{number}")), object(input.clone()));
        ModelPart { what: ModelPartContent::Call(ToolCall { id, name: (*name).into(), input }), opaque: None }
    });
    let (model, usage) = ("gemini-2.5-pro".into(), Usage::default());
    Fact::ModelAnswered(Box::new(ModelAnswer { model, parts: said.collect(), usage, end: ResponseEnd::Done }))
}

pub(super) fn allowed(call: &str, shown: Preview) -> Fact {
    proposed(call, shown, &[])
}

pub(super) fn asked(call: &str, shown: Preview) -> Fact {
    proposed(call, shown, &["proceed_once", "cancel"])
}

fn proposed(call: &str, shown: Preview, choices: &[&str]) -> Fact {
    let proposal = Proposal { input: object(json!({})), effects: vec![Effect::AskPerson], shown };
    Fact::CallProposed(Box::new(ProposedCall {
        call: CallId(call.into()),
        proposal: Arc::new(proposal),
        alone: false,
        choices: choices.iter().map(|choice| (*choice).into()).collect(),
        grants: Default::default(),
        why: "the default rule".into(),
    }))
}

pub(super) fn answered(call: &str, choice: &str, new_content: Option<&str>) -> Fact {
    let verdict = match choice {
        "cancel" => Verdict::Refuse,
        "skip" => Verdict::Skip,
        "modify_with_editor" => Verdict::Modify,
        _ => Verdict::Proceed,
    };
    let answer = CallAnswer {
        choice: choice.into(),
        question: None,
        verdict,
        new_content: new_content.map(Into::into),
        answers: None,
        message: None,
        by: None,
    };
    Fact::CallAnswered { call: CallId(call.into()), answer: Box::new(answer) }
}

pub(super) fn started(call: &str) -> Fact {
    Fact::CallStarted { call: CallId(call.into()), digest: Digest("00".into()), mark: None }
}

/// The call, which has asked another agent, ends its run with that agent's question.
pub(super) fn asks(call: &str, text: &str) -> Fact {
    Fact::CallAsked(Box::new(ToolQuestion {
        call: CallId(call.into()),
        question: CallId(format!("ask-9-{call}")),
        kind: QuestionKind::Input,
        text: text.into(),
        url: None,
        choices: QUESTION_CHOICES.map(str::to_owned).to_vec(),
    }))
}

pub(super) fn lost(call: &str) -> Fact {
    let question = Some(CallId(format!("lost-9-{call}")));
    Fact::CallLost { call: CallId(call.into()), choices: vec!["run_again".into(), "cancel".into()], question }
}

pub(super) fn showed(call: &str, text: &str) -> Fact {
    Fact::CallShowed { call: CallId(call.into()), text: text.into() }
}

pub(super) fn succeeded(call: &str, output: &str, summary: &str) -> Fact {
    finished(call, CallOutcome::Succeeded, vec![Content::Text(output.into())], summary, None)
}

pub(super) fn edited(call: &str, output: &str, diff: &str) -> Fact {
    let output = vec![Content::Text(output.into())];
    finished(call, CallOutcome::Succeeded, output, "Edited.", Some(diff.into()))
}

pub(super) fn failed(call: &str, kind: &str, text: &str) -> Fact {
    finished(call, CallOutcome::Failed { kind: kind.into() }, vec![Content::Text(text.into())], text, None)
}

pub(super) fn canceled(call: &str, text: &str) -> Fact {
    finished(call, CallOutcome::Canceled, vec![Content::Text(text.into())], text, None)
}

pub(super) fn finished(
    call: &str,
    outcome: CallOutcome,
    output: Vec<Content>,
    summary: &str,
    diff: Option<String>,
) -> Fact {
    let call = CallId(call.into());
    Fact::CallFinished(Box::new(FinishedCall { call, outcome, output, summary: summary.into(), diff }))
}

pub(super) fn plain(summary: &str) -> Preview {
    Preview::Plain { summary: summary.into() }
}

pub(super) fn exec(command: &str, programs: &[&str]) -> Preview {
    let programs = programs.iter().map(|program| (*program).into()).collect();
    Preview::Exec { command: command.into(), directory: "/w".into(), programs }
}

/// `original` is none where the file is new; the diff is one of a whole line.
pub(super) fn edit(path: &str, original: Option<&str>, new_content: &str) -> Preview {
    Preview::Edit {
        path: path.into(),
        diff: diff(path, original, new_content),
        original: original.map(Into::into),
        original_digest: original.map(|_| "00".into()),
        new_content: new_content.into(),
    }
}

pub(super) fn diff(path: &str, original: Option<&str>, new_content: &str) -> String {
    // As tools do it: a name is one line.
    let path = if path.contains('\n') { format!("{path:?}") } else { path.to_owned() };
    match original {
        Some(old) => format!("--- a{path}\n+++ b{path}\n@@ -1 +1 @@\n-{old}+{new_content}"),
        None => format!("--- /dev/null\n+++ b{path}\n@@ -0,0 +1 @@\n+{new_content}"),
    }
}

/// The head of a diff as these clients know it.
pub(super) fn head(name: &str, old: &str, new: &str) -> String {
    format!("Index: {name}\n{}\n--- {name}\t{old}\n+++ {name}\t{new}\n", "=".repeat(67))
}
