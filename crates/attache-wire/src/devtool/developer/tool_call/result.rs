//! Encodes the result of a call.

use std::borrow::Cow;

use attache_domain::{CallOutcome, CallRecord, Content, Preview};
use serde::Serialize;
use serde_json::{Map, Value};

use super::call_text;
use super::file_diff::FileDiff;

/// The tool whose result is a list that its input holds.
const PLAN: (&str, &str) = ("write_todos", "todos");

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallResult<'a> {
    Output(ToolOutput<'a>),
    Error(ErrorDetails<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolOutput<'a> {
    Text(Cow<'a, str>),
    Diff(FileDiff<'a>),
    StructuredData(Map<String, Value>),
}

#[derive(Debug, Serialize)]
pub(super) struct ErrorDetails<'a> {
    /// Never empty.
    message: Cow<'a, str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
}

impl<'a> CallResult<'a> {
    /// None: the call is not over.
    pub(super) fn of(record: &'a CallRecord) -> Option<Self> {
        let kind = match record.outcome.as_ref()? {
            CallOutcome::Succeeded => return Some(Self::Output(ToolOutput::of(record))),
            CallOutcome::Failed { kind } => Some(kind.as_str()).filter(|kind| !kind.is_empty()),
            CallOutcome::Unknown => Some("outcome_unknown"),
            CallOutcome::Canceled => None,
        };
        Some(Self::Error(ErrorDetails { message: call_text::failure_text(record), kind }))
    }
}

impl<'a> ToolOutput<'a> {
    fn of(record: &'a CallRecord) -> Self {
        if let Some(diff) = FileDiff::of(record) {
            return Self::Diff(diff);
        }
        match structured(record) {
            Some(data) => Self::StructuredData(data),
            None => Self::Text(call_text::success_text(record)),
        }
    }
}

/// A result that is an object, as far as that can be told. Output of a command that looks like one stays text.
fn structured(record: &CallRecord) -> Option<Map<String, Value>> {
    let proposal = record.proposal.as_ref()?;
    let (tool, list) = PLAN;
    match &proposal.shown {
        Preview::Questions { .. } => match record.result.as_ref()?.output.as_slice() {
            [Content::Text(text)] => serde_json::from_str(text).ok(),
            _ => None,
        },
        // The model's copy is marked as foreign text; people get the same without the mark, shortened.
        Preview::Mcp { .. } if record.summary.starts_with('{') => serde_json::from_str(&record.summary).ok(),
        Preview::Plain { .. } if record.call.name == tool => {
            let todos = proposal.input.get(list).filter(|todos| todos.is_array())?;
            Some(Map::from_iter([(list.to_owned(), todos.clone())]))
        }
        _ => None,
    }
}
