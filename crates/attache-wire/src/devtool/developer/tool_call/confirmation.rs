//! Encodes the question about a call.

use std::borrow::Cow;

use attache_domain::{CallRecord, Preview, visible, visible_line};
use serde::Serialize;

use super::call_text;
use super::file_diff::FileDiff;
use super::option::ConfirmationOption;
use super::question::{self, Question};

#[derive(Debug, Serialize)]
pub(super) struct ConfirmationRequest<'a> {
    options: Vec<ConfirmationOption<'a>>,
    #[serde(flatten)]
    details: Details<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Details<'a> {
    #[serde(rename = "execute_details")]
    Execute {
        command: Cow<'a, str>,
        working_directory: String,
        /// Ours: how far the command could reach.
        #[serde(skip_serializing_if = "Option::is_none")]
        access: Option<String>,
    },
    #[serde(rename = "file_edit_details")]
    FileEdit(FileDiff<'a>),
    #[serde(rename = "mcp_details")]
    Mcp { server_name: Cow<'a, str>, tool_name: Cow<'a, str> },
    #[serde(rename = "generic_details")]
    Generic {
        description: Cow<'a, str>,
        /// Ours: what a tool wants to know from the person, one by one.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        questions: Vec<Question<'a>>,
    },
}

impl<'a> ConfirmationRequest<'a> {
    pub(super) fn of(record: &'a CallRecord) -> Self {
        let options = record.choices.iter().map(|id| ConfirmationOption::of(id, record)).collect();
        Self { options, details: Details::of(record) }
    }
}

impl<'a> Details<'a> {
    fn of(record: &'a CallRecord) -> Self {
        if let Some(diff) = FileDiff::of(record) {
            return Self::FileEdit(diff);
        }
        let (description, questions): (Cow<'a, str>, _) = match call_text::preview(record) {
            Some(Preview::Exec { command, directory, .. }) => {
                let working_directory = visible_line(&directory.to_string_lossy()).into_owned();
                let access = call_text::access_text(record);
                return Self::Execute { command: visible(command), working_directory, access };
            }
            Some(Preview::Mcp { server, tool, .. }) => {
                return Self::Mcp { server_name: visible_line(server), tool_name: visible_line(tool) };
            }
            Some(Preview::Info { prompt, urls }) if urls.is_empty() => (visible(prompt), Vec::new()),
            Some(Preview::Info { prompt, urls }) => {
                (visible(&format!("{prompt}\n{}", urls.join("\n"))).into_owned().into(), Vec::new())
            }
            Some(Preview::Questions { questions }) => {
                (call_text::questions_text(questions).into(), question::read(questions))
            }
            Some(Preview::Agent { .. }) => (call_text::agent_text(record).into(), Vec::new()),
            Some(Preview::Plain { summary }) => (visible(summary), Vec::new()),
            Some(Preview::Edit { .. }) | None => (Cow::default(), Vec::new()),
        };
        let description = if description.is_empty() { (&record.call.name).into() } else { description };
        Self::Generic { description, questions }
    }
}
