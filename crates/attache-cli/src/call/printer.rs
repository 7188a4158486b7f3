//! Prints the answer of an agent on stdout, and everything else on stderr.
//!
//! Nothing that an agent sends reaches the terminal unescaped.

use std::io::{self, Write};

use attache_client::{
    Artifact, AskedCall, CallNews, DevelopmentEvent, Message, RemoteStatus, Role, StatusUpdate, StreamEvent,
    TaskState,
};
use attache_domain::{visible_again, visible_line};

use crate::output_lines::OutputLines;
use crate::printable::{indented, printable, with_line_breaks};
use crate::shown_artifacts::ShownArtifacts;
use crate::tasks::{CallNotice, PrintedCalls, parts, pieces};

pub(super) struct Printer<O, E> {
    lines: OutputLines<O, E>,
    json: bool,
    artifacts: ShownArtifacts,
    calls: PrintedCalls,
    /// The artifact printed last.
    current: Option<String>,
    /// Everything that was printed on standard output as an answer.
    said: String,
    answered: bool,
    /// The last note, which is not repeated.
    noted: String,
    /// What was said while the task worked, one piece after the other, for a task that says nothing else.
    progress: String,
    last_progress: String,
    /// The same as the history of the task has it.
    history: String,
}

/// What is kept of the answer to recognise a repetition.
const MAX_SAID: usize = 1 << 20;

impl<O: Write, E: Write> Printer<O, E> {
    pub(super) fn new(out: O, err: E, json: bool) -> Self {
        Self {
            lines: OutputLines::new(out, err),
            json,
            artifacts: ShownArtifacts::default(),
            calls: PrintedCalls::default(),
            current: None,
            said: String::new(),
            answered: false,
            noted: String::new(),
            progress: String::new(),
            last_progress: String::new(),
            history: String::new(),
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Something was printed on standard output, or as JSON, that may be the answer.
    pub(super) fn has_answer(&self) -> bool {
        self.answered
    }

    pub(super) fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        self.answered |= match event {
            StreamEvent::Task(task) => !task.artifacts.is_empty(),
            StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => true,
            StreamEvent::StatusUpdate(update) => match update.development() {
                Some(event) => matches!(event, DevelopmentEvent::Text(_)),
                None => update.status.is_terminal() && update.status.message.is_some(),
            },
        };
        if self.json {
            return self.lines.json(&event.to_json());
        }
        match event {
            StreamEvent::Task(task) => {
                let said = last_answer(&task.history);
                if !said.is_empty() {
                    self.history = said;
                }
                for artifact in &task.artifacts {
                    self.whole(artifact)?;
                }
                self.progress(&task.status)
            }
            StreamEvent::Message(message) => self.say(&pieces(&message.parts)),
            StreamEvent::ArtifactUpdate(update) if update.append => self.piece(&update.artifact),
            StreamEvent::ArtifactUpdate(update) => self.whole(&update.artifact),
            StreamEvent::StatusUpdate(update) => self.status(update),
        }
    }

    fn status(&mut self, update: &StatusUpdate) -> io::Result<()> {
        match update.development() {
            Some(DevelopmentEvent::Text(text)) => {
                // An artifact before it ends its line.
                if self.current.take().is_some() {
                    self.lines.end()?;
                }
                self.say(&printable(&text))
            }
            Some(DevelopmentEvent::TextWithdrawn) => {
                self.note("what was said before does not count; it starts again")
            }
            Some(DevelopmentEvent::Thought { subject, description }) => {
                self.note(&format!("thought: {subject} {description}"))
            }
            Some(DevelopmentEvent::Call(call)) => {
                self.calls.update(&call).into_iter().try_for_each(|notice| match notice {
                    CallNotice::Note(text) => self.note(&text),
                    CallNotice::Output(text) => self.lines.command_output(&text),
                })
            }
            Some(DevelopmentEvent::State) | None => self.progress(&update.status),
        }
    }

    /// What a task says while it works. What it says at its end comes at the end.
    fn progress(&mut self, status: &RemoteStatus) -> io::Result<()> {
        match (&status.message, status.state) {
            (Some(message), Some(TaskState::Submitted | TaskState::Working) | None) => {
                let words = parts(&message.parts);
                let is_new = message.role == Role::Agent && words != self.last_progress;
                if is_new && self.progress.len() < MAX_SAID {
                    self.progress.push_str(&words);
                    self.last_progress.clone_from(&words);
                }
                self.note(&words)
            }
            _ => Ok(()),
        }
    }

    /// An artifact from its beginning; what is printed of it already is not printed again.
    fn whole(&mut self, artifact: &Artifact) -> io::Result<()> {
        let text = pieces(&artifact.parts);
        match self.artifacts.replace(artifact.id.as_str(), &text) {
            Some(more) => self.show(artifact, more),
            None => {
                self.note("what was said before does not count; it starts again")?;
                self.show(artifact, &text)
            }
        }
    }

    fn piece(&mut self, artifact: &Artifact) -> io::Result<()> {
        let text = pieces(&artifact.parts);
        self.artifacts.append(artifact.id.as_str(), &text);
        self.show(artifact, &text)
    }

    fn show(&mut self, artifact: &Artifact, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.current.as_deref() != Some(artifact.id.as_str()) {
            self.lines.end()?;
            self.current = Some(artifact.id.to_string());
            if let Some(name) = artifact.name.as_deref().filter(|name| !name.is_empty()) {
                self.lines.err_line(&format!("[{}]", visible_line(name)))?;
            }
        }
        self.say(text)
    }

    /// A piece of the answer, made safe already.
    fn say(&mut self, text: &str) -> io::Result<()> {
        if self.said.len() < MAX_SAID {
            let is_open = !self.said.is_empty() && !self.said.ends_with('\n');
            self.said.push_str(&with_line_breaks(text, is_open));
        }
        self.lines.answer(text)
    }

    /// A remark beside the answer.
    pub(super) fn note(&mut self, text: &str) -> io::Result<()> {
        let text = text.trim();
        if text.is_empty() || text == self.noted || self.json {
            return Ok(());
        }
        self.noted = text.to_owned();
        self.lines.note(text)
    }

    /// Shows what is asked, with nothing of it hidden.
    pub(super) fn ask(&mut self, status: &RemoteStatus, asked: &[AskedCall]) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut told = status.message.as_ref().map(|message| message.parts.clone()).unwrap_or_default();
        told.retain(|part| CallNews::of(part).is_none());
        self.lines.err_line(&format!("[{}]", status.state_name()))?;
        let question = parts(&told);
        let question = visible_again(question.trim_end());
        if !question.is_empty() {
            self.lines.err_line(&indented(&question))?;
            // The answer goes to the calls that the question lists.
            if !status.open_calls().is_empty() {
                return Ok(());
            }
        }
        for AskedCall { call, title, details, choices, .. } in asked {
            let title = visible_again(&printable(title)).replace('\n', "\n  ");
            self.lines.err_line(&format!("{}: {title}", visible_line(call)))?;
            if !details.is_empty() {
                self.lines.err_line(&indented(&visible_again(&printable(details))))?;
            }
            let choices = if choices.is_empty() { "yes, no, always".to_owned() } else { choices.join(", ") };
            self.lines.err_line(&format!("  answers: {}", visible_line(&choices)))?;
        }
        Ok(())
    }

    /// Ends the line of the answer.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.lines.end()
    }

    /// Says how the task ended. An answer that stands only in its last message goes to standard output; so does what was said
    /// while it worked, if there is nothing else.
    pub(super) fn end(&mut self, status: Option<&RemoteStatus>) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let message = status.and_then(|status| status.message.as_ref());
        let words = match message.map(|message| parts(&message.parts)) {
            Some(words) => words,
            None if !self.said.is_empty() => String::new(),
            None if self.progress.trim().is_empty() => std::mem::take(&mut self.history),
            None => std::mem::take(&mut self.progress),
        };
        let is_completed = status.is_none_or(|status| status.state == Some(TaskState::Completed));
        let is_new = !words.trim().is_empty() && !self.said.trim_end().ends_with(words.trim_end());
        if is_new && is_completed && self.said.is_empty() {
            self.say(&words)?;
        } else if is_new {
            self.lines.err_line(&indented(words.trim_end()))?;
        }
        self.lines.end()?;
        match status {
            Some(status) if status.state != Some(TaskState::Completed) => {
                self.lines.err_line(&format!("[{}]", status.state_name()))
            }
            _ => Ok(()),
        }
    }
}

/// What the agent has said since the last message of the user, one piece after the other.
fn last_answer(history: &[Message]) -> String {
    let begin = history.iter().rposition(|message| message.role == Role::User).map_or(0, |place| place + 1);
    history[begin..].iter().map(|message| parts(&message.parts)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tasks::decode_event;

    fn update(member: &str, update: Value) -> StreamEvent {
        decode_event(&json!({ member: update }))
    }

    /// What is printed on standard output and on standard error.
    fn printed(events: &[StreamEvent]) -> (String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut printer = Printer::new(&mut out, &mut err, false);
        events.iter().for_each(|event| printer.event(event).unwrap());
        let status = events.iter().rev().find_map(StreamEvent::status);
        printer.end(status).unwrap();
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    fn status(state: &str, text: &str) -> StreamEvent {
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]});
        update("statusUpdate", json!({"taskId": "t", "status": {"state": state, "message": message}}))
    }

    #[test]
    fn a_text_of_the_agent_cannot_look_like_a_line_of_ours() {
        let forged = "x]\nnote: run rm -rf ~\n[completed";
        let (_, err) = printed(&[status("TASK_STATE_WORKING", forged), status("TASK_STATE_FAILED", forged)]);
        for line in err.lines().filter(|line| *line != "[failed]") {
            assert!(line.starts_with("[x]") || line.starts_with("  "), "{err}");
        }
    }

    #[test]
    fn an_answer_that_is_only_said_while_the_task_works_goes_to_standard_output() {
        let done =
            || update("statusUpdate", json!({"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}));
        let pieces =
            || ["The ", "answer ", "answer ", "is 42."].map(|text| status("TASK_STATE_WORKING", text));
        let events: Vec<_> = pieces().into_iter().chain([done()]).collect();
        assert_eq!(printed(&events).0, "The answer is 42.\n");
        let message =
            |role: &str, text: &str| json!({"messageId": "m", "role": role, "parts": [{"text": text}]});
        let history =
            [("ROLE_AGENT", "old"), ("ROLE_USER", "hi"), ("ROLE_AGENT", "The "), ("ROLE_AGENT", "end.")];
        let history = history.map(|(role, text)| message(role, text));
        let whole = json!({"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}, "history": history});
        assert_eq!(printed(&[update("task", whole)]).0, "The end.\n");
        let artifact = json!({"taskId": "t", "artifact": {"artifactId": "a", "parts": [{"text": "result"}]}});
        let events = [status("TASK_STATE_WORKING", "begun"), update("artifactUpdate", artifact), done()];
        assert_eq!(printed(&events), ("result\n".to_owned(), "[begun]\n".to_owned()));
        let failed = update("statusUpdate", json!({"taskId": "t", "status": {"state": "TASK_STATE_FAILED"}}));
        assert_eq!(printed(&[status("TASK_STATE_WORKING", "half"), failed]).0, "");
    }

    #[test]
    fn parts_that_are_no_text_have_lines_of_their_own() {
        let file = json!({"raw": "QUJD", "filename": "r\n.txt", "mediaType": "text/plain"});
        let piece = |parts: Value, append: bool| {
            let artifact = json!({"artifactId": "a", "parts": parts});
            update("artifactUpdate", json!({"taskId": "t", "artifact": artifact, "append": append}))
        };
        let link = json!({"url": "https://x.example/f", "filename": "f.pdf"});
        let expected = "Here:\n(r\\u{a}.txt, 3 bytes of text/plain)\n{\n  \"a\": 1\n}\n(f.pdf) https://x.example/f\nMore.\n";
        let all = json!([{"text": "Here:"}, file, {"data": {"a": 1}}, link, {"text": "More."}]);
        assert_eq!(printed(&[piece(all.clone(), false)]).0, expected);
        let pieces: Vec<_> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|part| piece(json!([part]), true))
            .chain([piece(all.clone(), false)])
            .collect();
        assert_eq!(printed(&pieces), (expected.to_owned(), String::new()));
    }

    #[test]
    fn what_an_answer_approves_is_shown_before_it_is_asked_for() {
        let call = json!({
            "tool_call_id": "k1", "status": "PENDING", "tool_name": "write_file", "description": "d.txt",
            "confirmation_request": {
                "options": [{"id": "proceed_once"}],
                "file_edit_details": {"file_path": "/w/d.txt", "formatted_diff": "-a\n+b\u{200b}\n"},
            },
        });
        let message = |parts: Value| json!({"messageId": "m", "role": "ROLE_AGENT", "parts": parts});
        let asked = |parts: Value| {
            let status = json!({"state": "TASK_STATE_INPUT_REQUIRED", "message": message(parts)});
            let event = update("statusUpdate", json!({"taskId": "t", "status": status}));
            let part = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"data": call}]});
            let part = update("message", part);
            let StreamEvent::Message(holder) = &part else { panic!("{part:?}") };
            let Some(CallNews::Asked(asked)) = CallNews::of(&holder.parts[0]) else { panic!("{part:?}") };
            let mut err = Vec::new();
            let mut printer = Printer::new(io::sink(), &mut err, false);
            printer.ask(event.status().unwrap(), &[asked]).unwrap();
            String::from_utf8(err).unwrap()
        };
        let shown = "k1: write_file: d.txt\n  file_path: /w/d.txt\n  formatted_diff:\n  -a\n  +b\\u{200b}\n  answers: proceed_once\n";
        for parts in [json!([]), json!([{"data": call}]), json!([{"text": "May I?"}, {"data": call}])] {
            let err = asked(parts.clone());
            assert!(err.ends_with(shown), "{parts}: {err}");
            assert!(!err.contains("tool_call_id"), "{err}");
        }
    }

    #[test]
    fn an_endless_artifact_is_printed_and_not_kept() {
        let piece = |append: bool| {
            let artifact = json!({"artifactId": "a", "parts": [{"text": "x".repeat(1000)}]});
            update("artifactUpdate", json!({"taskId": "t", "artifact": artifact, "append": append}))
        };
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, io::sink(), false);
        printer.event(&piece(false)).unwrap();
        let again = piece(true);
        for _ in 0..3000 {
            printer.event(&again).unwrap();
        }
        assert!(printer.said.len() <= MAX_SAID + 1000);
        drop(printer);
        assert_eq!(out.len(), 3_001_000);
    }
}
