//! The text of a turn's answer: its artifact while the turn runs, its message in the history afterwards.

use std::sync::Arc;

use crate::{Artifact, ArtifactId, Message, MessageId, Part, Role, TaskView, TextPhase};

impl TaskView {
    /// The answer of this turn so far.
    pub fn answer_text(&self) -> String {
        let parts = self.answer.map(|index| self.artifacts[index].parts.iter());
        parts.into_iter().flatten().filter_map(Part::as_text).collect()
    }

    /// The text of this turn's whole answers: it stays even if the current answer fails.
    pub fn certain_text(&self) -> String {
        let mut text = self.answer_text();
        text.truncate(self.text_bytes.whole);
        text
    }

    /// The text since the last whole answer of this turn.
    pub fn uncertain_text(&self) -> String {
        let mut text = self.answer_text();
        text.drain(..self.text_bytes.whole.min(text.len()));
        text
    }

    /// There is text of an answer that is not whole yet.
    pub fn is_amid_answer(&self) -> bool {
        self.text_bytes.bytes > self.text_bytes.whole
    }

    pub(super) fn add_answer_text(&mut self, text: &str) {
        self.text_bytes.bytes += text.len();
        let part = Part::text(text);
        match self.answer {
            Some(index) if self.progress.turn.text == TextPhase::Withdrawn => {
                self.artifacts[index].parts = vec![part];
            }
            Some(index) => self.artifacts[index].append([part]),
            None => {
                self.answer = Some(self.artifacts.len());
                let id = self.progress.update_context().answer_id();
                self.add_artifact(&answer_artifact(id, vec![part]), false);
            }
        }
    }

    /// The whole answer of the turn is in the history once. If the message that ends the turn holds it as well, it is
    /// the same message: some clients read a finished task by its history.
    pub(super) fn keep_answer(&mut self) {
        self.keep_answer_message();
        let text = self.answer_text();
        if text.is_empty() {
            return;
        }
        self.history.push(Arc::new(Message {
            id: MessageId::from(format!("{}-{}", self.progress.update_context().answer_id(), self.task)),
            role: Role::Agent,
            parts: vec![Part::text(text)],
            context: Some(self.context.clone()),
            task: Some(self.task.clone()),
            requested: None,
            command: None,
            sender: None,
            reference_tasks: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
        }));
    }
}

/// The artifact with a turn's answer, or a piece of it.
pub(crate) fn answer_artifact(id: ArtifactId, parts: Vec<Part>) -> Artifact {
    Artifact {
        id,
        name: Some("Answer".into()),
        description: None,
        parts,
        metadata: None,
        extensions: Vec::new(),
    }
}
