//! Renders the events of a session as lines.

use std::collections::HashMap;
use std::sync::Arc;

use attache_domain::{
    APPROVAL, CallId, CallOutcome, CallPhase, CallRecord, Message, OPEN_CALLS, Preview, Role, TaskState,
    TaskView, TurnPhase, Verdict, visible, visible_again, visible_line,
};
use attache_wire::devtool::call_display;

use crate::line::{Line, Style, lines_of};
use crate::question::{diff_lines, question_lines};
use crate::session_event::{Participant, SessionEvent, prompt_text};
use crate::text_wrapper::{TextWrapper, wrapped};

/// Messages of a resumed session that are shown again, and lines of each.
const MAX_OLD_MESSAGES: usize = 12;
const MAX_OLD_LINES: usize = 30;
/// Lines of a change that was made unasked, and of what a call gave.
const MAX_DIFF_LINES: usize = 60;
const MAX_OUTCOME_LINES: usize = 3;
/// Output of a call without a line break is shown when it gets longer.
const MAX_PENDING_BYTES: usize = 8 << 10;

const NOTICE: &str = "! ";

/// Keeps what the next lines depend on.
#[derive(Debug, Default)]
pub(crate) struct SessionRenderer {
    text: TextWrapper,
    /// The unfinished last line of running calls.
    output: HashMap<CallId, String>,
    /// The same of agents that work for this session. Their text is broken like an answer.
    agent_output: HashMap<CallId, AgentOutput>,
    /// The open questions, in the order in which they are asked. The first one is shown.
    questions: Vec<Arc<CallRecord>>,
    /// How often a question was shown, also the same one with another content.
    questions_shown: u64,
    /// The calls that run or ask something, in the order in which they started.
    running: Vec<Arc<CallRecord>>,
    is_busy: bool,
}

/// What an agent says while its call runs.
#[derive(Debug, Default)]
struct AgentOutput {
    indent: String,
    text: TextWrapper,
}

impl SessionRenderer {
    /// The question that a typed line answers.
    pub(crate) fn question(&self) -> Option<&Arc<CallRecord>> {
        self.questions.first()
    }

    /// The question that is open, by a number that no other showing of a question has.
    pub(crate) fn shown_question(&self) -> Option<u64> {
        self.question().map(|_| self.questions_shown)
    }

    /// One line for each call under way, with the id by which it can be cancelled.
    pub(crate) fn running_calls(&self) -> Vec<Line> {
        if self.running.is_empty() {
            return vec![Line::styled(Style::Dim, "No call is running.")];
        }
        let line = |call: &Arc<CallRecord>| {
            let id = visible_line(&call.shown_id().0).into_owned();
            let described = call_display::description(call).unwrap_or_default();
            let first = described.lines().next().unwrap_or_default().to_owned();
            Line::styled(Style::Bold, format!("  {id}"))
                .and(Style::Plain, format!("  {}  {first}", visible_line(&call.call.name)))
        };
        self.running.iter().map(line).collect()
    }

    /// A prompt is worked on, or waits for an answer.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// The lines for an event on a terminal of so many columns.
    pub(crate) fn show(&mut self, event: SessionEvent, columns: usize) -> Vec<Line> {
        if let SessionEvent::Text(text) = event {
            return self.text.push(&text, columns).into_iter().map(answer_line).collect();
        }
        let mut lines: Vec<_> = self.text.finish().map(answer_line).into_iter().collect();
        match event {
            SessionEvent::Text(_) => {}
            SessionEvent::Prompt { from: Participant::Own, .. } => {}
            SessionEvent::Prompt { text, from: Participant::Other(name), is_queued } => {
                let queued = if is_queued { " (queued)" } else { "" };
                // A name cannot end before its prompt begins.
                let indent = format!("{}{queued}> ", visible_line(&name).replace('>', "\\u{3e}"));
                lines.extend(lines_of(Style::Cyan, &indent, &text));
            }
            SessionEvent::Working => self.is_busy = true,
            SessionEvent::Thought(text) => lines.extend(thought_lines(&text)),
            SessionEvent::TextWithdrawn => {
                let what = "! the answer was cut off; what was printed of it does not count";
                lines.push(Line::styled(Style::Yellow, what));
            }
            SessionEvent::CallStarted(call) => {
                lines.push(call_line(&call));
                self.running.retain(|known| known.call.id != call.call.id);
                self.running.push(call);
            }
            SessionEvent::CallOutput { call, text } => {
                lines.extend(self.output_lines(&call, &text, columns));
            }
            SessionEvent::CallFinished(call) => {
                lines.extend(self.rest_of_output(&call.call.id));
                lines.extend(outcome_lines(&call));
                self.running.retain(|known| known.call.id != call.call.id);
                lines.extend(self.close_question(&call));
            }
            SessionEvent::Asked(call) => {
                self.is_busy = true;
                lines.extend(self.rest_of_output(&call.call.id));
                lines.extend(self.ask(call));
            }
            SessionEvent::Answered { call, choice, by } => {
                if let Participant::Other(name) = by {
                    let (name, choice) = (visible_line(&name), visible_line(&choice));
                    let what = format!("! {name} answered for {}: {choice}", visible_line(&call.call.name));
                    lines.push(Line::styled(Style::Cyan, what));
                }
                lines.extend(self.close_question(&call));
            }
            SessionEvent::Notice(text) => lines.extend(notice_lines(&text, columns)),
            SessionEvent::Idle { message, is_problem } => {
                self.is_busy = false;
                self.questions.clear();
                self.running.clear();
                let message = message.unwrap_or_default();
                lines.extend(match is_problem {
                    true => notice_lines(&message, columns),
                    false => answer_lines(&wrapped(&message, columns)),
                });
            }
            SessionEvent::Over(state) => {
                self.is_busy = false;
                self.questions.clear();
                lines.push(Line::styled(Style::Yellow, format!("! the session is over: {}", ending(state))));
            }
        }
        lines
    }

    /// There is text that no line shows yet.
    pub(crate) fn has_unfinished_line(&self) -> bool {
        self.text.has_pending() || self.has_unfinished_output()
    }

    /// The same of running calls.
    pub(crate) fn has_unfinished_output(&self) -> bool {
        self.output.values().any(|pending| !pending.is_empty())
            || self.agent_output.values().any(|output| output.text.has_pending())
    }

    /// Shows the text that no line shows yet, because nothing follows for a while.
    pub(crate) fn finish_line(&mut self) -> Vec<Line> {
        let mut lines: Vec<_> = self.text.flush().map(answer_line).into_iter().collect();
        for pending in self.output.values_mut() {
            lines.extend(lines_of(Style::Dim, "  | ", &std::mem::take(pending)));
        }
        for AgentOutput { indent, text } in self.agent_output.values_mut() {
            lines.extend(lines_of(Style::Dim, indent, &text.flush().unwrap_or_default()));
        }
        lines
    }

    /// What a resumed session shows first: the end of the conversation, and what is open.
    pub(crate) fn resume(&mut self, view: &TaskView) -> Vec<Line> {
        let mut lines = Vec::new();
        let said: Vec<_> = view.history.iter().filter(|message| !is_about_approval(message)).collect();
        let skipped = said.len().saturating_sub(MAX_OLD_MESSAGES);
        if skipped > 0 {
            lines.push(Line::styled(Style::Dim, format!("({skipped} earlier messages)")));
        }
        for message in said.into_iter().skip(skipped) {
            let text = prompt_text(message);
            let shown = match message.role {
                Role::User => lines_of(Style::Dim, "> ", &text),
                Role::Agent => answer_lines(&text),
            };
            lines.extend(limited(shown, MAX_OLD_LINES));
        }
        let turn = view.progress.turn;
        self.is_busy = turn.phase != TurnPhase::Over && !view.history.is_empty();
        if self.is_busy {
            lines.extend(self.show(SessionEvent::Text(view.answer_text()), usize::MAX));
        }
        let is_running = |call: &CallRecord| call.phase == CallPhase::Started || call.asks.is_some();
        self.running = view.call_records.calls.iter().filter(|call| is_running(call)).cloned().collect();
        let waits = view.progress.waits_for_person();
        for call in view.call_records.asked().filter(|call| waits || call.asks.is_some()) {
            lines.extend(self.ask(call.clone()));
        }
        lines
    }

    /// Adds the question, and shows it if no other is open.
    fn ask(&mut self, call: Arc<CallRecord>) -> Vec<Line> {
        if let Some(known) = self.questions.iter_mut().find(|known| known.shown_id() == call.shown_id()) {
            let is_changed = known.proposal != call.proposal || known.asks != call.asks;
            *known = call;
            return if is_changed { self.first_question() } else { Vec::new() };
        }
        self.questions.push(call);
        if self.questions.len() == 1 { self.first_question() } else { Vec::new() }
    }

    /// Shows the next question if the one about this call was shown.
    fn close_question(&mut self, call: &CallRecord) -> Vec<Line> {
        let was_first = self.question().is_some_and(|first| first.call.id == call.call.id);
        self.questions.retain(|known| known.call.id != call.call.id);
        if was_first { self.first_question() } else { Vec::new() }
    }

    fn first_question(&mut self) -> Vec<Line> {
        let Some(call) = self.questions.first() else { return Vec::new() };
        self.questions_shown += 1;
        question_lines(call)
    }

    fn output_lines(&mut self, call: &CallRecord, text: &str, columns: usize) -> Vec<Line> {
        if let Some((agent, _)) = call.proposal.as_ref().and_then(|proposal| proposal.agent()) {
            let is_alone = self.running.iter().all(|running| running.call.id == call.call.id);
            let output = self.agent_output.entry(call.call.id.clone()).or_default();
            // Of several, the reader wants to know which one speaks.
            output.indent =
                if is_alone { "  | ".to_owned() } else { format!("  {} | ", visible_line(agent)) };
            let lines = output.text.push(text, columns.saturating_sub(output.indent.len()));
            return lines.iter().flat_map(|line| lines_of(Style::Dim, &output.indent, line)).collect();
        }
        let pending = self.output.entry(call.call.id.clone()).or_default();
        pending.push_str(text);
        let end = match pending.rfind('\n') {
            Some(end) => end + 1,
            None if pending.len() > MAX_PENDING_BYTES => pending.len(),
            None => return Vec::new(),
        };
        let whole: String = pending.drain(..end).collect();
        lines_of(Style::Dim, "  | ", &whole)
    }

    fn rest_of_output(&mut self, call: &CallId) -> Vec<Line> {
        let mut lines = lines_of(Style::Dim, "  | ", &self.output.remove(call).unwrap_or_default());
        if let Some(AgentOutput { indent, mut text }) = self.agent_output.remove(call) {
            lines.extend(lines_of(Style::Dim, &indent, &text.finish().unwrap_or_default()));
        }
        lines
    }
}

/// Questions about calls and their answers are part of the history, for clients that show only messages.
fn is_about_approval(message: &Message) -> bool {
    let metadata = message.metadata.as_ref();
    metadata.is_some_and(|metadata| metadata.contains_key(OPEN_CALLS) || metadata.contains_key(APPROVAL))
}

/// A line of the agent's words. It cannot look like a line of the session itself, such as a question: those begin with a
/// mark in the first column.
fn answer_line(text: String) -> Line {
    let has_mark = ["? ", "! ", "> ", "* "].iter().any(|mark| text.starts_with(mark));
    Line::plain(if has_mark { format!(" {text}") } else { text })
}

/// A notice of the session itself.
pub(crate) fn notice_lines(text: &str, columns: usize) -> Vec<Line> {
    lines_of(Style::Yellow, NOTICE, &wrapped(text, columns.saturating_sub(NOTICE.len())))
}

fn answer_lines(text: &str) -> Vec<Line> {
    text.lines().map(|line| answer_line(line.trim_end_matches('\r').to_owned())).collect()
}

fn thought_lines(text: &str) -> Option<Line> {
    let (subject, description) = call_display::thought_parts(text);
    let shown = if subject.is_empty() { description.lines().next().unwrap_or_default() } else { subject };
    (!shown.is_empty()).then(|| Line::styled(Style::Dim, format!("(thinks: {shown})")))
}

fn call_line(call: &CallRecord) -> Line {
    let line = Line::styled(Style::Bold, format!("* {}", visible_line(&call.call.name)));
    let described = call_display::description(call).unwrap_or_default();
    let mut described = described.lines();
    match described.next() {
        Some(first) if described.next().is_some() => line.and(Style::Plain, format!("  {first} …")),
        Some(first) => line.and(Style::Plain, format!("  {first}")),
        None => line,
    }
}

/// How the call ended. A change that needed no approval is shown.
fn outcome_lines(call: &CallRecord) -> Vec<Line> {
    let outcome = call_display::outcome(call);
    let is_refused = call.answer.as_ref().is_some_and(|answer| answer.verdict == Verdict::Refuse);
    if is_refused && call.outcome == Some(CallOutcome::Canceled) {
        return vec![Line::styled(Style::Dim, "  rejected")];
    }
    if call.outcome != Some(CallOutcome::Succeeded) {
        let text = format!("failed: {}", outcome.trim_end());
        return limited(lines_of(Style::Red, "  ", &text), MAX_OUTCOME_LINES);
    }
    // The output was shown while it ran.
    let is_command = call.proposal.as_ref().is_some_and(|it| matches!(it.shown, Preview::Exec { .. }));
    let agent = call.proposal.as_ref().and_then(|proposal| proposal.agent());
    let outcome = match agent {
        Some(_) if was_shown(&outcome, call) => "",
        _ if is_command && !call.live.is_empty() => call.summary.as_str(),
        _ => &*outcome,
    };
    // What an agent said was made visible where it came in.
    let outcome =
        if agent.is_some() { visible_again(outcome.trim_end()) } else { visible(outcome.trim_end()) };
    let mut lines = limited(lines_of(Style::Dim, "  ", &outcome), MAX_OUTCOME_LINES);
    if let Some(diff) = call.diff.as_ref().filter(|_| call.answer.is_none()) {
        lines.extend(limited(diff_lines("  ", &visible(diff)), MAX_DIFF_LINES));
    }
    lines
}

/// Whether the person has read all that `outcome` says of an agent's words, but for the names of artifacts.
fn was_shown(outcome: &str, call: &CallRecord) -> bool {
    let mut lines = outcome.lines().map(|line| line.trim_end_matches('…').trim());
    let live = call.live.as_str();
    !live.is_empty() && lines.all(|line| line.starts_with("Artifact (") || live.contains(line))
}

fn limited(mut lines: Vec<Line>, most: usize) -> Vec<Line> {
    if lines.len() > most {
        let more = lines.len() - most;
        lines.truncate(most);
        lines.push(Line::styled(Style::Dim, format!("  ({more} more lines)")));
    }
    lines
}

fn ending(state: TaskState) -> &'static str {
    match state {
        TaskState::Canceled => "it was cancelled",
        TaskState::Rejected => "it was rejected",
        TaskState::Failed => "it failed",
        _ => "it is complete",
    }
}

#[cfg(test)]
#[path = "session_renderer_tests.rs"]
mod tests;
