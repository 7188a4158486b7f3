//! Runs the plan of a turn up to the first call without a result.
//!
//! Every run starts the plan from its beginning. The caller skips chunks that are recorded already. No state is kept
//! between two runs.

use attache_domain::{CallId, ToolCall, ToolResult};

use super::action::{Action, ToolUse, write};
use super::plan::{Plan, PlanStep};
use super::reply::{Reply, word_groups};
use super::request::Request;
use super::result_summary::{ResultSummary, missing_text, summarize};
use crate::TurnFinish;

pub(super) fn play(plan: &Plan, number: u32, results: &[Vec<ToolResult>]) -> Reply {
    let mut rounds = CallRounds { number, results, done: 0 };
    let mut paragraphs = ParagraphPieces::default();
    for (place, step) in plan.steps.iter().enumerate() {
        match step {
            PlanStep::Say(text) => paragraphs.add(Reply::to(&Request::understand(text)).pieces.collect()),
            PlanStep::Act(actions) => {
                let account = match run_actions(actions, &mut rounds) {
                    Ok(account) => account,
                    Err(PendingCalls(calls)) => return paragraphs.until(TurnFinish::Calls(calls)),
                };
                paragraphs.add(word_groups(&account.text));
                let left = plan.steps.len() - place - 1;
                if !account.went_well && left > 0 {
                    let requests = if left == 1 { "request".into() } else { format!("{left} requests") };
                    paragraphs.add(word_groups(&format!("So I left out the {requests} after that.")));
                    break;
                }
            }
        }
    }
    paragraphs.until(TurnFinish::Completed { status: None })
}

/// These calls must finish before the plan continues.
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

/// Reads the file and writes it again with more at its end, if it was read as a whole.
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
    /// The number of the turn.
    number: u32,
    results: &'a [Vec<ToolResult>],
    /// How many results were used.
    done: usize,
}

impl<'a> CallRounds<'a> {
    fn take(&mut self, uses: Vec<ToolUse>) -> Result<&'a [ToolResult], PendingCalls> {
        if let Some(results) = self.results.get(self.done) {
            self.done += 1;
            return Ok(results);
        }
        let call = |(place, ToolUse { tool, input }): (usize, ToolUse)| ToolCall {
            // The turn, the run and the position in it: unique within the task.
            id: CallId(format!("offline-{}-{}-{place}", self.number, self.done)),
            name: tool.to_owned(),
            input,
        };
        Err(PendingCalls(uses.into_iter().enumerate().map(call).collect()))
    }
}

/// Paragraphs, in chunks.
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
