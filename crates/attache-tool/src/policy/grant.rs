//! What "always" would allow, in words.

use super::choice::rules;
use super::{Choice, Shape};
use crate::protected::protected_edit;
use crate::ruling::Judged;
use crate::{Access, Level, Shown};

/// What the answer would allow beyond this call, in a sentence. None when it allows nothing more.
pub fn grants(choice: Choice, judged: &Judged<'_>) -> Option<String> {
    let until = match choice {
        Choice::ProceedOnce | Choice::ModifyWithEditor | Choice::Cancel => return None,
        Choice::ProceedAlwaysAndSave => "also in later conversations",
        _ => "until this conversation ends",
    };
    let what = match &judged.proposal.shown {
        Shown::Questions { .. } => return None,
        Shown::Edit { .. } if protected_edit(judged.proposal, judged.roots).is_some() => return None,
        // The path is kept for good; the mode ends with the conversation.
        Shown::Edit { .. } if choice == Choice::ProceedAlwaysAndSave => {
            format!("{EDITS}, until this conversation ends, and make edits of this file")
        }
        Shown::Edit { .. } => EDITS.to_owned(),
        Shown::Exec { .. } => commands(choice, judged)?,
        Shown::Mcp { server, .. } if choice == Choice::ProceedAlwaysServer => {
            format!("use every tool of the server {server}, with any arguments")
        }
        Shown::Mcp { server, tool, .. } => format!("use {tool} of the server {server}, with any arguments"),
        Shown::Info { .. } | Shown::Plain { .. } => {
            let rules = rules(choice, judged);
            let narrow = rules.first()?.arguments.is_some();
            let arguments = if narrow { "for the same path" } else { "with any arguments" };
            format!("use {} {arguments}", judged.tool)
        }
    };
    Some(format!("Always: {what}, {until}."))
}

const EDITS: &str = "make edits of files in this workspace, except protected ones";

fn commands(choice: Choice, judged: &Judged<'_>) -> Option<String> {
    let rules = rules(choice, judged);
    let shapes: Vec<String> =
        rules.iter().filter_map(|rule| rule.shape.as_ref()).map(Shape::to_string).collect();
    let access = rules.first()?.access.as_ref()?;
    Some(format!("allow {}, in this workspace, {}", shapes.join("; "), reach(access)))
}

fn reach(access: &Access) -> String {
    let network = match access.network.as_slice() {
        [] => "without network".to_owned(),
        hosts => format!("with network to {}", hosts.join(", ")),
    };
    match access.level {
        Level::Open => "NOT confined".to_owned(),
        level => format!("confined ({}) {network}", level.name()),
    }
}
