//! Prints events: text and artifacts on stdout, everything else on stderr.

use std::io;

use attache_client::{
    Artifact, DevelopmentEvent, RemoteStatus, RemoteTask, StatusUpdate, StreamEvent, TaskState, ToolCall,
};

use super::FollowFormat;
use crate::call::CallEnd;
use crate::output_lines::OutputLines;
use crate::printable::{indented, printable};
use crate::shown_artifacts::ShownArtifacts;
use crate::standard_streams::{Stderr, Stdout, stderr, stdout};
use crate::tasks::printed_calls::{CallNotice, PrintedCalls};
use crate::tasks::show::{heading, how_to_answer, last_words, pieces};

pub(super) struct EventPrinter {
    form: FollowFormat,
    lines: OutputLines<Stdout, Stderr>,
    /// The stream shows the answer as events of the development-tool extension, and not as an artifact.
    development: bool,
    printed: ShownArtifacts,
    /// The artifact printed last.
    current: Option<String>,
    calls: PrintedCalls,
    last: Option<RemoteStatus>,
}

impl EventPrinter {
    pub(super) fn new(form: FollowFormat, development: bool) -> Self {
        Self {
            form,
            lines: OutputLines::new(stdout(), stderr()),
            development,
            printed: ShownArtifacts::default(),
            current: None,
            calls: PrintedCalls::default(),
            last: None,
        }
    }

    /// The status that was printed last.
    pub(super) fn last_status(&self) -> Option<&RemoteStatus> {
        self.last.as_ref()
    }

    /// Prints what the task has said before it is followed.
    pub(super) fn catch_up(&mut self, task: &RemoteTask) -> io::Result<()> {
        match self.form {
            FollowFormat::Text => task.artifacts.iter().try_for_each(|artifact| self.whole(artifact)),
            FollowFormat::Json => Ok(()),
        }
    }

    /// Prints a task to which nothing happens for now.
    pub(super) fn print_settled(&mut self, task: &RemoteTask) -> io::Result<()> {
        self.catch_up(task)?;
        self.print_event(&StreamEvent::Task(Box::new(task.clone())))
    }

    /// What the task has said so far is known and is not printed.
    pub(super) fn skip(&mut self, task: &RemoteTask) {
        for artifact in &task.artifacts {
            self.printed.replace(artifact.id.as_str(), &pieces(&artifact.parts));
        }
    }

    pub(super) fn print_event(&mut self, event: &StreamEvent) -> io::Result<()> {
        match event {
            StreamEvent::Task(task) => self.last = Some(task.status.clone()),
            StreamEvent::StatusUpdate(update) => self.last = Some(update.status.clone()),
            StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => {}
        }
        if self.form == FollowFormat::Json {
            return self.lines.json(&event.to_json());
        }
        match event {
            StreamEvent::Task(task) => {
                // The answer was printed piece by piece, unless pieces are missing.
                let all = !self.development || event.gap().is_some();
                let mut artifacts = task.artifacts.iter().filter(|artifact| all || !is_answer(artifact));
                artifacts.try_for_each(|artifact| self.whole(artifact))
            }
            StreamEvent::Message(message) => self.lines.answer(&pieces(&message.parts)),
            StreamEvent::ArtifactUpdate(update) if update.append => self.piece(&update.artifact),
            StreamEvent::ArtifactUpdate(update) => self.whole(&update.artifact),
            StreamEvent::StatusUpdate(update) => self.status(update),
        }
    }

    fn status(&mut self, update: &StatusUpdate) -> io::Result<()> {
        match update.development() {
            Some(DevelopmentEvent::Text(text)) => return self.print_answer(&text),
            Some(DevelopmentEvent::TextWithdrawn) => {
                return self.note("what was said before does not count; it starts again");
            }
            Some(DevelopmentEvent::Thought { subject, description }) => {
                let words = [subject, description].map(|words| words.trim().to_owned());
                let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
                return self.note(&format!("thought: {}", words.join(": ")));
            }
            Some(DevelopmentEvent::Call(call)) => return self.call(&call),
            Some(DevelopmentEvent::State) | None => {}
        }
        match (&update.status.message, update.status.state) {
            (Some(message), Some(TaskState::Submitted | TaskState::Working)) => self.note(&message.text()),
            // The last message of a task is printed at the end.
            _ => Ok(()),
        }
    }

    /// A piece of the answer, which belongs to no artifact here.
    fn print_answer(&mut self, text: &str) -> io::Result<()> {
        if self.current.take().is_some_and(|id| !id.starts_with(ANSWER)) {
            self.lines.end()?;
        }
        self.lines.answer(&printable(text))
    }

    fn call(&mut self, call: &ToolCall) -> io::Result<()> {
        self.calls.update(call).into_iter().try_for_each(|notice| match notice {
            CallNotice::Note(text) => self.note(&text),
            CallNotice::Output(text) => self.lines.command_output(&text),
        })
    }

    /// An artifact from its beginning; what is printed of it already is not printed again.
    fn whole(&mut self, artifact: &Artifact) -> io::Result<()> {
        let text = pieces(&artifact.parts);
        match self.printed.replace(artifact.id.as_str(), &text) {
            Some(more) => self.show(artifact, more),
            None => {
                self.note("what was said before does not count; it starts again")?;
                self.show(artifact, &text)
            }
        }
    }

    fn piece(&mut self, artifact: &Artifact) -> io::Result<()> {
        let text = pieces(&artifact.parts);
        self.printed.append(artifact.id.as_str(), &text);
        self.show(artifact, &text)
    }

    fn show(&mut self, artifact: &Artifact, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.current.as_deref() != Some(artifact.id.as_str()) {
            self.lines.end()?;
            if !is_answer(artifact) {
                self.lines.answer(&format!("{}\n", heading(artifact)))?;
            }
            self.current = Some(artifact.id.to_string());
        }
        self.lines.answer(text)
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.lines.note(text)
    }

    /// Says how the task has settled.
    pub(super) fn end(mut self, task: &RemoteTask) -> anyhow::Result<CallEnd> {
        let status = &task.status;
        if self.form == FollowFormat::Text {
            // The stream may leave out what the task holds at its end, such as the changes of a turn.
            for artifact in task.artifacts.iter().filter(|artifact| !is_answer(artifact)) {
                self.whole(artifact)?;
            }
            if let Some(message) = &task.status.message {
                self.lines.err_line(&indented(last_words(task, message).trim_end()))?;
            }
            self.lines.err_line(&format!("[{}]", status.state_name()))?;
            if status.is_interrupted() {
                self.lines.err_line(&how_to_answer(task.id.as_str(), status))?;
            }
        }
        Ok(CallEnd::of_task(status))
    }
}

impl Drop for EventPrinter {
    /// An error begins on a line of its own.
    fn drop(&mut self) {
        // A closed output has failed before.
        let _ = self.lines.end();
    }
}

/// How the ids of answers begin. Their text is printed without a heading.
const ANSWER: &str = "answer-";

fn is_answer(artifact: &Artifact) -> bool {
    artifact.id.as_str().starts_with(ANSWER)
}
