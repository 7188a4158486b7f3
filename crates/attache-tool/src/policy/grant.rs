//! Describes what an "always" answer allows.

use super::choice::rules;
use super::{ApprovalChoice, CommandShape};
use crate::protected::protected_edit;
use crate::ruling::CallFacts;
use crate::{Access, AccessLevel, Preview};

/// One sentence about what the answer allows beyond this call. None when it allows nothing more.
pub fn grants(choice: ApprovalChoice, call: &CallFacts<'_>) -> Option<String> {
    let until = match choice {
        ApprovalChoice::ProceedOnce | ApprovalChoice::ModifyWithEditor | ApprovalChoice::Cancel => {
            return None;
        }
        ApprovalChoice::ProceedAlwaysAndSave => "also in later conversations",
        _ => "until this conversation ends",
    };
    let what = match &call.proposal.shown {
        Preview::Questions { .. } => return None,
        Preview::Edit { .. } if protected_edit(call.proposal, call.roots).is_some() => return None,
        // The path is kept for good; the mode ends with the conversation.
        Preview::Edit { .. } if choice == ApprovalChoice::ProceedAlwaysAndSave => {
            format!("{EDITS}, until this conversation ends, and make edits of this file")
        }
        Preview::Edit { .. } => EDITS.to_owned(),
        Preview::Exec { .. } => commands(choice, call)?,
        Preview::Mcp { server, .. } if choice == ApprovalChoice::ProceedAlwaysServer => {
            format!("use every tool of the server {server}, with any arguments")
        }
        Preview::Mcp { server, tool, .. } => format!("use {tool} of the server {server}, with any arguments"),
        Preview::Agent { .. } => {
            let (agent, origin) = call.proposal.agent()?;
            format!("ask the agent {agent} at {origin} and nowhere else, with any text")
        }
        Preview::Info { .. } | Preview::Plain { .. } => {
            let rules = rules(choice, call);
            let narrow = rules.first()?.arguments.is_some();
            let arguments = if narrow { "for the same path" } else { "with any arguments" };
            format!("use {} {arguments}", call.tool)
        }
    };
    Some(format!("Always: {what}, {until}."))
}

const EDITS: &str = "make edits of files in this workspace, except protected ones";

fn commands(choice: ApprovalChoice, call: &CallFacts<'_>) -> Option<String> {
    let rules = rules(choice, call);
    let shapes: Vec<String> =
        rules.iter().filter_map(|rule| rule.shape.as_ref()).map(CommandShape::to_string).collect();
    let access = rules.first()?.access.as_ref()?;
    Some(format!("allow {}, in this workspace, {}", shapes.join("; "), reach(access)))
}

fn reach(access: &Access) -> String {
    let network = match access.network.as_slice() {
        [] => "without network".to_owned(),
        hosts => format!("with network to {}", hosts.join(", ")),
    };
    match access.level {
        AccessLevel::Open => "NOT confined".to_owned(),
        level => format!("confined ({}) {network}", level.name()),
    }
}
