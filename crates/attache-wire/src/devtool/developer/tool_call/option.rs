//! The possible answers to a confirmation, and the effect of each.

use std::borrow::Cow;

use attache_domain::{CallRecord, Preview, visible_line};
use serde::Serialize;

use super::call_text;

/// What the RFC calls the choice `cancel`.
const REJECT: &str = "Reject";

/// What the documents of the live endpoint and of the REST API call it.
const CANCEL: &str = "Cancel";

#[derive(Debug, Serialize)]
pub struct ConfirmationOption<'a> {
    pub id: &'a str,
    pub name: &'a str,
    /// The effect of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Cow<'static, str>>,
}

impl<'a> ConfirmationOption<'a> {
    /// An unknown answer can still be given by its id.
    pub(crate) fn of(id: &'a str, record: &CallRecord) -> Self {
        let granted = record.grants.get(id).map(|sentence| Cow::Owned(format!("Does this. {sentence}")));
        match name_and_effect(id, record) {
            Some((name, description)) => Self { id, name, description: granted.or(Some(description)) },
            None => Self { id, name: id, description: None },
        }
    }
}

/// The name of an option outside the RFC's dialect.
pub(crate) fn plain_name(name: &str) -> &str {
    if name == REJECT { CANCEL } else { name }
}

/// Name and effect.
fn name_and_effect(id: &str, record: &CallRecord) -> Option<(&'static str, Cow<'static, str>)> {
    let asks = matches!(call_text::preview(record), Some(Preview::Questions { .. }));
    let (name, effect) = match id {
        // In older logs, the question about a lost call had no choices of its own.
        "run_again" | "proceed_once" if record.lost => {
            ("Do It Again", "Does this once more; nothing is undone before.")
        }
        "proceed_once" => ("Allow Once", "Does this, and asks again the next time."),
        "proceed_always" => return Some(always_option(record)),
        "proceed_always_tool" | "proceed_always_server" => return Some(mcp_option(id, record)),
        "proceed_always_and_save" => (
            "Allow for Good",
            "Does this, and does not ask about the like any more, in later conversations too.",
        ),
        "modify_with_editor" => (
            "Change First",
            "Takes what file_details.new_content holds in place of the change, and asks about that.",
        ),
        "skip" if asks => ("Go On Without It", "Answers nothing; this call ends, and the agent goes on."),
        "answer" if record.asks.is_some() => {
            ("Answer", "Gives what answers holds to the call, which goes on.")
        }
        "cancel" if asks => ("Dismiss", "Answers nothing; the agent stops here."),
        "cancel" if record.lost => {
            ("Stop", "Does not do this again; the agent stops here if nothing else is to run.")
        }
        "cancel" => (REJECT, "Does not do this; other calls that were allowed still run."),
        "skip" => (
            "Go On Without It",
            "Does not do this again; the agent goes on and knows that it may have happened.",
        ),
        "answer" => {
            ("Answer", "Gives what answers holds, by the number of the question from 0 or as a list.")
        }
        _ => return None,
    };
    Some((name, effect.into()))
}

fn always_option(record: &CallRecord) -> (&'static str, Cow<'static, str>) {
    match call_text::preview(record) {
        Some(Preview::Edit { .. }) => (
            "Allow All Edits",
            "Does this, and makes further edits of this conversation without asking.".into(),
        ),
        // The record says what "like this" means; older records do not.
        Some(Preview::Exec { .. }) => (
            "Always Allow Commands Like This",
            "Does this, and runs commands like this one without asking for the rest of this conversation."
                .into(),
        ),
        _ => {
            let tool = &record.call.name;
            let effect =
                format!("Does this, and lets {tool} do the like without asking in this conversation.");
            ("Always Allow", effect.into())
        }
    }
}

fn mcp_option(id: &str, record: &CallRecord) -> (&'static str, Cow<'static, str>) {
    let (server, tool) = match call_text::preview(record) {
        Some(Preview::Mcp { server, tool, .. }) => (server.as_str(), tool.as_str()),
        _ => ("the server", record.call.name.as_str()),
    };
    let (name, what) = match id {
        "proceed_always_server" => ("Always Allow This Server", format!("all tools of {server}")),
        _ => ("Always Allow This Tool", format!("{tool} of {server}")),
    };
    let effect = format!("Does this, and lets {what} be used without asking in this conversation.");
    (name, visible_line(&effect).into_owned().into())
}
