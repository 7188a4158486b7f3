//! Runs the plan of a turn, as far as there are results.
//!
//! Every round plays the plan from its beginning: what is recorded is said again and left out by the caller, and
//! the first call without a result ends the round. So nothing has to be remembered between two rounds.

use attache_domain::{CallId, ToolCall, ToolResult};

use super::action::{Action, ToolUse, write};
use super::plan::{Plan, Step};
use super::reply::{Reply, word_groups};
use super::request::Request;
use super::result_summary::{ResultSummary, missing_text, summarize};
use crate::TurnFinish;

pub(super) fn play(plan: &Plan, number: u32, results: &[Vec<ToolResult>]) -> Reply {
    let mut rounds = CallRounds { number, results, done: 0 };
    let mut said = ParagraphPieces::default();
    for (place, step) in plan.steps.iter().enumerate() {
        match step {
            Step::Say(text) => said.add(Reply::to(&Request::understand(text)).pieces.collect()),
            Step::Act(actions) => {
                let account = match run_actions(actions, &mut rounds) {
                    Ok(account) => account,
                    Err(PendingCalls(calls)) => return said.until(TurnFinish::Calls(calls)),
                };
                said.add(word_groups(&account.text));
                let left = plan.steps.len() - place - 1;
                if !account.went_well && left > 0 {
                    let requests = if left == 1 { "request".into() } else { format!("{left} requests") };
                    said.add(word_groups(&format!("So I left out the {requests} after that.")));
                    break;
                }
            }
        }
    }
    said.until(TurnFinish::Completed { status: None })
}

/// These calls have to be made before there is more to say.
struct PendingCalls(Vec<ToolCall>);

fn run_actions(actions: &[Action], rounds: &mut CallRounds<'_>) -> Result<ResultSummary, PendingCalls> {
    if let [Action::Append { file, text }] = actions {
        return append(&actions[0], file, text, rounds);
    }
    let results = rounds.take(actions.iter().map(Action::first_use).collect())?;
    let accounts = actions.iter().enumerate().map(|(place, action)| summarize(action, results.get(place)));
    let accounts: Vec<ResultSummary> = accounts.collect();
    Ok(ResultSummary {
        went_well: accounts.iter().all(|account| account.went_well),
        text: accounts.into_iter().map(|account| account.text).collect::<Vec<_>>().join("\n\n"),
    })
}

/// Reads the file and writes it again with more at its end, unless what was read is not all of it.
fn append(
    action: &Action,
    file: &str,
    text: &str,
    rounds: &mut CallRounds<'_>,
) -> Result<ResultSummary, PendingCalls> {
    let [read] = rounds.take(vec![action.first_use()])? else { return Ok(summarize(action, None)) };
    if read.failed {
        return Ok(summarize(action, Some(read)));
    }
    let before = match super::result_summary::whole_text(read) {
        Ok(before) => before,
        Err(why) => return Ok(missing_text(file, why)),
    };
    let line_break = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let written = rounds.take(vec![write(file, &format!("{before}{line_break}{text}"))])?;
    Ok(summarize(action, written.first()))
}

struct CallRounds<'a> {
    /// Of the turn.
    number: u32,
    results: &'a [Vec<ToolResult>],
    /// How many of the results were looked at.
    done: usize,
}

impl<'a> CallRounds<'a> {
    fn take(&mut self, uses: Vec<ToolUse>) -> Result<&'a [ToolResult], PendingCalls> {
        if let Some(results) = self.results.get(self.done) {
            self.done += 1;
            return Ok(results);
        }
        let call = |(place, ToolUse { tool, input }): (usize, ToolUse)| ToolCall {
            // The turn, the round and the place in it: no other call of the task has all three.
            id: CallId(format!("offline-{}-{}-{place}", self.number, self.done)),
            name: tool.to_owned(),
            input,
        };
        Err(PendingCalls(uses.into_iter().enumerate().map(call).collect()))
    }
}

/// Paragraphs, in pieces.
#[derive(Default)]
struct ParagraphPieces {
    pieces: Vec<String>,
}

impl ParagraphPieces {
    fn add(&mut self, mut paragraph: Vec<String>) {
        if let Some(first) = paragraph.first_mut().filter(|_| !self.pieces.is_empty()) {
            first.insert_str(0, "\n\n");
        }
        self.pieces.append(&mut paragraph);
    }

    fn until(self, finish: TurnFinish) -> Reply {
        Reply { pieces: Box::new(self.pieces.into_iter()), finish }
    }
}
