//! What is new about tool calls, in the order in which it is printed.

use attache_client::{CallStatus, ToolCall};
use attache_domain::BoundedCache;

use super::call::{added, description, result, title};
use crate::printable::printable;

/// Calls whose output is remembered, and its bytes. The output of a forgotten call is printed again.
const MAX_CALLS: usize = 1024;
const MAX_OUTPUT_BYTES: usize = 16 << 20;

/// What was printed of each call.
pub(crate) struct PrintedCalls(BoundedCache<String, PrintedCall>);

#[derive(Default)]
struct PrintedCall {
    live: String,
    is_over: bool,
}

/// A piece of the progress, made safe for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallNotice {
    /// A remark of its own.
    Note(String),
    /// More of what the call writes.
    Output(String),
}

impl Default for PrintedCalls {
    fn default() -> Self {
        Self(BoundedCache::new(MAX_CALLS, MAX_OUTPUT_BYTES))
    }
}

impl PrintedCalls {
    /// What has not been printed of `call`.
    pub(crate) fn update(&mut self, call: &ToolCall) -> Vec<CallNotice> {
        let mut notices = Vec::new();
        let known = self.0.remove(&call.id);
        if known.is_none() {
            let words = format!("{}: {}", title(call), description(call));
            notices.push(CallNotice::Note(words.trim_end_matches([':', ' ']).to_owned()));
        }
        let mut printed = known.unwrap_or_default();
        let is_final = call.status.is_final();
        let is_over = is_final && !std::mem::replace(&mut printed.is_over, is_final);
        let live = printable(call.live_content.as_deref().unwrap_or_default());
        let mut output = if live.is_empty() { String::new() } else { added(&printed.live, &live).to_owned() };
        if !live.is_empty() {
            printed.live = live;
        }
        if is_over {
            let result = result(call);
            // The result of a command repeats what the command has shown.
            let more = added(printed.live.trim_end(), &result);
            output.push_str(match printed.live.ends_with('\n') {
                true => more.strip_prefix('\n').unwrap_or(more),
                false => more,
            });
        }
        if is_over && printed.live.is_empty() && !output.contains('\n') {
            let words = format!("{}: {}: {output}", title(call), call.status.name());
            notices.push(CallNotice::Note(words.trim_end_matches([':', ' ']).to_owned()));
        } else {
            if !output.is_empty() {
                notices.push(CallNotice::Output(output));
            }
            if is_over || call.status == CallStatus::Unknown {
                notices.push(CallNotice::Note(format!("{}: {}", title(call), call.status.name())));
            }
        }
        let weight = printed.live.len();
        self.0.insert(call.id.clone(), printed, weight);
        notices
    }
}
