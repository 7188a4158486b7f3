//! A tool call in the REST API, and what a person is asked about it.

use std::borrow::Cow;

use attache_domain::{
    Answerer, CallOutcome, CallPhase, CallRecord, Preview, TaskView, TurnPhase, terminal_safe, visible,
    visible_line,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::devtool::call_text::text_member;
use crate::devtool::{call_text, developer};

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Requested,
    Executing,
    Completed,
    Error,
}

/// A tool call whose state has changed. While `options` are there, a person is asked about it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ToolCallUpdate<'a> {
    pub(super) tool_call_id: &'a str,
    pub(super) status: CallStatus,
    pub(super) tool_name: &'a str,
    /// What the call does, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<Cow<'a, str>>,
    /// The input of the tool, while the call is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Cow<'a, Map<String, Value>>>,
    /// The next piece of the output of a running call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Cow<'a, str>>,
    /// The possible answers of `POST /tasks/{taskId}/confirmations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) options: Option<Vec<ConfirmationOption<'a>>>,
    /// What the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<ConfirmationDetails<'a>>,
    /// How the question about the call was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<GivenAnswer<'a>>,
}

/// A call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingConfirmation<'a> {
    tool_call_id: &'a str,
    tool_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    arguments: Cow<'a, Map<String, Value>>,
    options: Vec<ConfirmationOption<'a>>,
    details: ConfirmationDetails<'a>,
}

/// One possible answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfirmationOption<'a> {
    id: &'a str,
    name: &'a str,
    /// The effect of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'static, str>>,
}

/// The answer that counts, and the client that gave it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenAnswer<'a> {
    option_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ConfirmationDetails<'a> {
    /// Runs a command.
    Execute {
        command: Cow<'a, str>,
        working_directory: String,
        /// How far the command could reach.
        #[serde(skip_serializing_if = "Option::is_none")]
        access: Option<String>,
    },
    /// Writes a file. An answer may bring other content.
    Edit {
        file_path: String,
        diff: Cow<'a, str>,
        /// Absent if the file does not exist yet.
        #[serde(skip_serializing_if = "Option::is_none")]
        original_content: Option<&'a str>,
        new_content: &'a str,
    },
    /// Uses a tool of an MCP server.
    Mcp {
        server_name: Cow<'a, str>,
        tool_name: Cow<'a, str>,
    },
    /// Asks the person something. An answer brings `answers`.
    Questions {
        questions: Vec<Question<'a>>,
    },
    Other {
        text: Cow<'a, str>,
    },
}

/// One question of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question<'a> {
    question: Cow<'a, str>,
    header: Cow<'a, str>,
    /// `choice`, `text` or `yesno`.
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<QuestionOption<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    multi_select: bool,
}

/// A suggested answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct QuestionOption<'a> {
    label: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: Cow<'a, str>,
}

impl<'a> ToolCallUpdate<'a> {
    /// `answered`: the question about the call has just been answered.
    pub(super) fn of(record: &'a CallRecord, answered: bool) -> Self {
        let is_asked = record.phase == CallPhase::Asked && record.outcome.is_none();
        let (status, result, error) = match (&record.outcome, record.phase) {
            (Some(CallOutcome::Succeeded), _) => {
                (CallStatus::Completed, Some(call_text::success_text(record)), None)
            }
            (Some(_), _) => (CallStatus::Error, None, Some(call_text::failure_text(record))),
            (None, CallPhase::Started) => (CallStatus::Executing, None, None),
            (None, _) => (CallStatus::Requested, None, None),
        };
        let is_requested = status == CallStatus::Requested && !answered;
        let answer = record.answer.as_ref().filter(|_| answered);
        Self {
            tool_call_id: &record.shown_id().0,
            status,
            tool_name: &record.call.name,
            description: is_requested.then(|| call_text::description(record)).flatten(),
            arguments: is_requested.then(|| call_text::call_input(record)),
            output: None,
            result,
            error,
            options: is_asked.then(|| ConfirmationOption::all_of(record)),
            details: is_asked.then(|| ConfirmationDetails::of(record)),
            answer: answer.map(|answer| GivenAnswer {
                option_id: &answer.choice,
                by: answer.by.as_ref().map(Answerer::to_string),
            }),
        }
    }
}

impl<'a> PendingConfirmation<'a> {
    /// The open questions of a task. A call asks a moment before the task waits for the answer.
    pub(super) fn of_view(view: &'a TaskView) -> Vec<Self> {
        if view.progress.turn.phase != TurnPhase::Running {
            return Vec::new();
        }
        view.call_records.asked().map(|call| Self::of(call)).collect()
    }

    pub(super) fn of(record: &'a CallRecord) -> Self {
        Self {
            tool_call_id: &record.shown_id().0,
            tool_name: &record.call.name,
            description: call_text::description(record),
            arguments: call_text::call_input(record),
            options: ConfirmationOption::all_of(record),
            details: ConfirmationDetails::of(record),
        }
    }
}

impl<'a> ConfirmationOption<'a> {
    fn all_of(record: &'a CallRecord) -> Vec<Self> {
        let options = record.choices.iter().map(|id| {
            let developer::ConfirmationOption { id, name, description } =
                developer::ConfirmationOption::of(id, record);
            let description = match id {
                "modify_with_editor" => {
                    Some("Takes newContent in place of the change, and asks about that.".into())
                }
                _ => description,
            };
            Self { id, name: developer::plain_name(name), description }
        });
        options.collect()
    }
}

impl<'a> ConfirmationDetails<'a> {
    fn of(record: &'a CallRecord) -> Self {
        let text: Cow<'a, str> = match call_text::preview(record) {
            Some(Preview::Exec { command, directory, .. }) => {
                return Self::Execute {
                    command: visible(command),
                    working_directory: visible_line(&directory.to_string_lossy()).into_owned(),
                    access: call_text::access_text(record),
                };
            }
            Some(Preview::Edit { path, diff, original, new_content, .. }) => {
                return Self::Edit {
                    file_path: visible_line(&path.to_string_lossy()).into_owned(),
                    diff: visible(diff),
                    original_content: original.as_deref(),
                    new_content,
                };
            }
            Some(Preview::Mcp { server, tool, .. }) => {
                return Self::Mcp { server_name: visible_line(server), tool_name: visible_line(tool) };
            }
            Some(Preview::Questions { questions }) => {
                let questions = questions.as_array().into_iter().flatten().map(Question::of);
                return Self::Questions { questions: questions.collect() };
            }
            Some(Preview::Info { prompt, urls }) if urls.is_empty() => visible(prompt),
            Some(Preview::Info { prompt, urls }) => {
                visible(&format!("{prompt}\n{}", urls.join("\n"))).into_owned().into()
            }
            Some(Preview::Agent { .. }) => call_text::agent_text(record).into(),
            Some(Preview::Plain { summary }) => visible(summary),
            None => Cow::default(),
        };
        let text = if text.is_empty() { visible_line(&record.call.name) } else { text };
        Self::Other { text }
    }
}

impl<'a> Question<'a> {
    fn of(question: &'a Value) -> Self {
        let option = |option| QuestionOption {
            label: terminal_safe(text_member(option, "label")),
            description: terminal_safe(text_member(option, "description")),
        };
        Self {
            question: terminal_safe(text_member(question, "question")),
            header: terminal_safe(text_member(question, "header")),
            kind: text_member(question, "type"),
            options: question["options"].as_array().into_iter().flatten().map(option).collect(),
            multi_select: question["multiSelect"] == true,
        }
    }
}
