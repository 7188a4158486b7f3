//! The choices that a question about a call may offer, by the ids under which they are stored and sent.

use crate::Verdict;

/// Approves this one call.
pub const PROCEED_ONCE: &str = "proceed_once";
/// Approves this call and others like it.
pub const PROCEED_ALWAYS: &str = "proceed_always";
/// Approves every call of this MCP tool.
pub const PROCEED_ALWAYS_TOOL: &str = "proceed_always_tool";
/// Approves every call of this MCP server.
pub const PROCEED_ALWAYS_SERVER: &str = "proceed_always_server";
/// Approves this call and others like it, also in later sessions.
pub const PROCEED_ALWAYS_AND_SAVE: &str = "proceed_always_and_save";
/// Replaces the content of an edit and asks about the edit again.
pub const MODIFY: &str = "modify_with_editor";
/// Runs a lost call a second time.
pub const RUN_AGAIN: &str = "run_again";
/// Goes on without a lost call.
pub const SKIP: &str = "skip";
/// Refuses the call.
pub const CANCEL: &str = "cancel";
/// Answers a question that a tool asks the person.
pub const ANSWER: &str = "answer";

/// The choices after a call was lost. The choices from before are not among them: they were offered for a call that had
/// not run.
pub const LOST_CHOICES: [&str; 3] = [RUN_AGAIN, SKIP, CANCEL];

/// The choices when a running call asks. `skip` ends the call and the turn goes on, `cancel` ends it like a refusal.
pub const QUESTION_CHOICES: [&str; 3] = [ANSWER, SKIP, CANCEL];

/// What a choice decides about its call.
pub(crate) fn verdict_of(choice: &str) -> Verdict {
    match choice {
        CANCEL => Verdict::Refuse,
        SKIP => Verdict::Skip,
        MODIFY => Verdict::Modify,
        _ => Verdict::Proceed,
    }
}
