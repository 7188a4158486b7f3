//! Rebuilds the text and files of an agent from its stream of events.
//!
//! Texts of statuses are joined as they come; an artifact is replaced or grows. All of it is bounded, and what does not fit
//! is counted.

use attache_client::{Artifact, Base64, Message, Part, PartContent, RemoteTask, Role, StreamEvent};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::peer_text::TextCleaner;

/// Bytes of text that are kept of one call.
const MAX_TEXT: usize = 1 << 20;
const MAX_ARTIFACTS: usize = 256;
/// Bytes of files in base64 that are kept of one call.
const MAX_FILE_TEXT: usize = 64 << 20;
const MAX_FILES: usize = 64;
/// Characters of a name or media type.
const MAX_NAME: usize = 200;
/// Bytes of an artifact's id. A longer one is known by its hash.
const MAX_ARTIFACT_ID: usize = 200;
/// Questions of one call that its result tells about.
const MAX_DIALOG: usize = 64;
/// Bytes of a question or an answer in the result.
const MAX_WORDS: usize = 4_000;

/// It is kept while a person answers what the agent asked; files are saved before that.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AgentOutput {
    /// What no text may hold.
    #[serde(skip)]
    cleaner: TextCleaner,
    /// What statuses and messages said.
    log: String,
    /// An interrupted run has shown what the log ends with.
    #[serde(skip)]
    has_words_before: bool,
    /// The hash of the status text that came last, which is not repeated.
    last_status: String,
    artifacts: Vec<ArtifactText>,
    /// The last message of the agent that a task holds, for a task that says nothing else.
    last_message: String,
    /// Files outside artifacts.
    #[serde(skip)]
    files: Vec<ReceivedFile>,
    /// A line about each file that was saved before.
    saved_files: Vec<String>,
    dialog: Vec<DialogTurn>,
    kept_text: usize,
    left_out_text: usize,
    /// Bytes of text and files that came, whether they are kept or not.
    received: usize,
    kept_files: usize,
    left_out_files: usize,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ArtifactText {
    id: String,
    name: Option<String>,
    text: String,
    #[serde(skip)]
    files: Vec<ReceivedFile>,
}

/// What the agent asked, and what the person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DialogTurn {
    pub(crate) question: String,
    pub(crate) answer: Option<String>,
}

/// A file that the agent sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceivedFile {
    pub(crate) name: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) bytes: Base64,
}

/// The text in an event that is new.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) artifacts: String,
    /// Of a status or a message. They come after the artifacts.
    pub(crate) words: String,
}

/// Text and files of some parts.
#[derive(Debug, Default)]
struct Content {
    text: String,
    files: Vec<ReceivedFile>,
}

impl AgentOutput {
    pub(crate) fn new(cleaner: TextCleaner) -> Self {
        Self { cleaner, ..Self::default() }
    }

    /// The same output; later texts are cleaned by `cleaner`.
    pub(crate) fn with_cleaner(self, cleaner: TextCleaner) -> Self {
        Self { cleaner, ..self }
    }

    /// Takes an event, and returns the text in it that is new.
    pub(crate) fn add(&mut self, event: &StreamEvent) -> News {
        let of_artifact = |artifacts| News { artifacts, words: String::new() };
        let of_words = |words| News { artifacts: String::new(), words };
        match event {
            StreamEvent::Task(task) => {
                let last = task.history.iter().rev().find(|message| message.role == Role::Agent);
                if let Some(message) = last {
                    self.last_message = shortened(self.content(&message.parts).text, MAX_TEXT);
                }
                let artifacts = task.artifacts.iter().map(|artifact| self.replace(artifact)).collect();
                let message = task.status.message.as_ref();
                let words = message.map(|message| self.status(message)).unwrap_or_default();
                News { artifacts, words }
            }
            StreamEvent::Message(message) => {
                let Content { text, files } = self.content(&message.parts);
                self.keep_files(files);
                of_words(self.append_log(text))
            }
            StreamEvent::ArtifactUpdate(update) if update.append => {
                of_artifact(self.append(&update.artifact))
            }
            StreamEvent::ArtifactUpdate(update) => of_artifact(self.replace(&update.artifact)),
            StreamEvent::StatusUpdate(update) => match &update.status.message {
                Some(message) => of_words(self.status(message)),
                None => News::default(),
            },
        }
    }

    fn status(&mut self, message: &Message) -> String {
        let Content { text, files } = self.content(&message.parts);
        let hash = hash(&text);
        if message.role == Role::User || text.is_empty() || hash == self.last_status {
            return String::new();
        }
        self.last_status = hash;
        let is_dialog = self.dialog.iter().any(|turn| turn.question == text);
        // The status that an interrupted run has shown last, or a question that the dialog has.
        if is_dialog || (std::mem::take(&mut self.has_words_before) && self.log.ends_with(&text)) {
            return String::new();
        }
        self.keep_files(files);
        // Some agents repeat at the end what an artifact holds already.
        if self.artifacts.iter().any(|artifact| artifact.text.trim() == text.trim()) {
            return String::new();
        }
        self.append_log(text)
    }

    /// Words that an interrupted run has shown.
    pub(crate) fn was_shown(&mut self, words: String) {
        self.has_words_before = !words.is_empty();
        self.append_log(words);
    }

    /// Some agents keep in the history of `task` what their statuses said, also while nothing followed them. It counts from the
    /// message `begin` on, if everything that is known is in it.
    pub(crate) fn fill_words(&mut self, task: &RemoteTask, begin: &str) {
        let Some(begin) = task.history.iter().position(|message| message.id.as_str() == begin) else {
            return;
        };
        let later = task.history[begin + 1..].iter().chain(&task.status.message);
        let (mut filled, mut last, mut rest) = (String::new(), String::new(), self.log.as_str());
        for message in later.filter(|message| message.role == Role::Agent) {
            let text = self.words(message);
            let is_artifact = self.artifacts.iter().any(|artifact| artifact.text.trim() == text.trim());
            if text.is_empty() || text == last || is_artifact {
                continue;
            }
            rest = rest.strip_prefix(text.as_str()).unwrap_or(rest);
            filled.push_str(&text);
            last = text;
        }
        let added = filled.len().saturating_sub(self.log.len());
        if rest.is_empty() && added > 0 && self.kept_text + added <= MAX_TEXT {
            self.kept_text += added;
            (self.log, self.last_status) = (filled, hash(&last));
        }
    }

    fn append_log(&mut self, text: String) -> String {
        let text = self.bounded(text);
        self.log.push_str(&text);
        text
    }

    fn append(&mut self, artifact: &Artifact) -> String {
        let Some(at) = self.place(artifact) else { return String::new() };
        let Content { text, files } = self.content(&artifact.parts);
        let (text, files) = (self.bounded(text), self.bounded_files(files));
        let known = &mut self.artifacts[at];
        known.text.push_str(&text);
        known.files.extend(files);
        text
    }

    fn replace(&mut self, artifact: &Artifact) -> String {
        let Some(at) = self.place(artifact) else { return String::new() };
        let before = std::mem::take(&mut self.artifacts[at].text);
        let files_before = std::mem::take(&mut self.artifacts[at].files);
        self.kept_text -= before.len();
        self.kept_files -= files_before.iter().map(|file| file.bytes.0.len()).sum::<usize>();
        let Content { text, files } = self.content(&artifact.parts);
        let (text, files) = (self.bounded(text), self.bounded_files(files));
        let is_repeated = before.is_empty() && text.trim() == self.log.trim();
        let new = text.strip_prefix(before.as_str()).unwrap_or(&text);
        let new = if is_repeated { String::new() } else { new.to_owned() };
        let known = &mut self.artifacts[at];
        (known.text, known.files) = (text, files);
        new
    }

    /// Where the artifact is; none when there are too many.
    fn place(&mut self, artifact: &Artifact) -> Option<usize> {
        let id = artifact.id.as_str();
        let id = if id.len() <= MAX_ARTIFACT_ID { id.to_owned() } else { hash(id) };
        let known = self.artifacts.iter().position(|known| known.id == id);
        if known.is_none() {
            if self.artifacts.len() == MAX_ARTIFACTS {
                self.left_out_text += self.content(&artifact.parts).text.len();
                return None;
            }
            self.artifacts.push(ArtifactText { id, ..ArtifactText::default() });
        }
        let at = known.unwrap_or(self.artifacts.len() - 1);
        let name = artifact.name.as_deref().filter(|name| !name.is_empty());
        if let Some(name) = name {
            let name: String = name.chars().take(MAX_NAME).collect();
            self.artifacts[at].name = Some(self.cleaner.clean(&on_one_line(&name)));
        }
        Some(at)
    }

    fn bounded(&mut self, mut text: String) -> String {
        let room = text.floor_char_boundary(MAX_TEXT - self.kept_text);
        self.left_out_text += text.len() - room;
        text.truncate(room);
        self.kept_text += room;
        text
    }

    fn bounded_files(&mut self, files: Vec<ReceivedFile>) -> Vec<ReceivedFile> {
        let mut kept = Vec::new();
        let count = self.saved_files.len() + self.files().count();
        for file in files {
            if count + kept.len() >= MAX_FILES || file.bytes.0.len() > MAX_FILE_TEXT - self.kept_files {
                self.left_out_files += 1;
                continue;
            }
            self.kept_files += file.bytes.0.len();
            kept.push(file);
        }
        kept
    }

    fn keep_files(&mut self, files: Vec<ReceivedFile>) {
        let files = self.bounded_files(files);
        self.files.extend(files);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.log.trim().is_empty() && self.artifacts.iter().all(|it| it.text.trim().is_empty())
    }

    /// The whole text: what statuses said, then each artifact.
    pub(crate) fn text(&self) -> String {
        if self.is_empty() {
            return self.last_message.clone();
        }
        let mut blocks = Vec::new();
        let filled: Vec<_> = self.artifacts.iter().filter(|it| !it.text.trim().is_empty()).collect();
        // Some agents put into an artifact what their statuses said already.
        let log = self.log.trim();
        let is_repeated = filled.iter().any(|artifact| artifact.text.trim() == log);
        if !log.is_empty() && !is_repeated {
            blocks.push(self.log.clone());
        }
        let is_all = blocks.is_empty() && filled.len() == 1;
        for artifact in filled {
            match &artifact.name {
                None if is_all => blocks.push(artifact.text.clone()),
                name => {
                    let name = name.clone().unwrap_or_else(|| self.cleaner.clean(&artifact.id));
                    blocks.push(format!("Artifact ({name}):\n{}", artifact.text));
                }
            }
        }
        if self.left_out_text > 0 {
            blocks.push(format!("[{} bytes of its text are left out]", self.left_out_text));
        }
        if self.left_out_files > 0 {
            blocks.push(format!("[{} of its files are left out]", self.left_out_files));
        }
        // A credential may have come in pieces.
        self.cleaner.redacted(&blocks.join("\n\n")).into_owned()
    }

    /// Bytes of text and files that came so far.
    pub(crate) fn received(&self) -> usize {
        self.received
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = &ReceivedFile> {
        self.files.iter().chain(self.artifacts.iter().flat_map(|artifact| &artifact.files))
    }

    /// The files are saved; `lines` tell about them.
    pub(crate) fn files_saved(&mut self, lines: Vec<String>) {
        self.files.clear();
        self.artifacts.iter_mut().for_each(|artifact| artifact.files.clear());
        for line in lines {
            if !self.saved_files.contains(&line) {
                self.saved_files.push(line);
            }
        }
    }

    /// A line about each file that is saved.
    pub(crate) fn saved_files(&self) -> &[String] {
        &self.saved_files
    }

    /// The agent asks. What the stream said last was the question.
    pub(crate) fn ask(&mut self, question: &str) {
        if self.log.ends_with(question) {
            self.log.truncate(self.log.len() - question.len());
            self.kept_text -= question.len();
        }
        if self.dialog.len() == MAX_DIALOG {
            self.dialog.remove(0);
        }
        self.dialog.push(DialogTurn { question: shortened(question.to_owned(), MAX_WORDS), answer: None });
    }

    pub(crate) fn answer(&mut self, answer: &str) {
        if let Some(turn) = self.dialog.last_mut() {
            turn.answer = Some(shortened(answer.to_owned(), MAX_WORDS));
        }
    }

    pub(crate) fn dialog(&self) -> &[DialogTurn] {
        &self.dialog
    }

    /// The agent tells everything again from the beginning of its task.
    pub(crate) fn begin_again(&mut self) {
        let Self { cleaner, saved_files, dialog, .. } = std::mem::take(self);
        *self = Self { cleaner, saved_files, dialog, ..Self::default() };
    }

    /// The words of a message, for a question.
    pub(crate) fn words(&self, message: &Message) -> String {
        self.cleaner.clean(&content(&message.parts).text)
    }

    fn content(&mut self, parts: &[Part]) -> Content {
        let Content { text, files } = content(parts);
        self.received += text.len() + files.iter().map(|file| file.bytes.0.len()).sum::<usize>();
        Content { text: self.cleaner.clean(&text), files }
    }
}

fn hash(text: &str) -> String {
    use std::fmt::Write;
    Sha256::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn shortened(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text.shrink_to_fit();
    text
}

fn content(parts: &[Part]) -> Content {
    let mut content = Content::default();
    for part in parts {
        let name = || part.filename.as_deref().map(file_name);
        match &part.content {
            PartContent::Text(text) => content.text.push_str(text),
            PartContent::Data(data) => content.text.push_str(&format!("Data: {data}\n")),
            PartContent::Url(url) => {
                let url: String = url.chars().take(2000).collect();
                let named = name().map(|name| format!("{name} at ")).unwrap_or_default();
                content.text.push_str(&format!("File: {named}{url}\n"));
            }
            PartContent::Raw(bytes) => {
                content.text.push_str(&format!("File: {}\n", name().as_deref().unwrap_or("without a name")));
                let media_type = part.media_type.as_deref().map(|it| it.chars().take(MAX_NAME).collect());
                let bytes = bytes.clone();
                content.files.push(ReceivedFile { name: name(), media_type, bytes });
            }
        }
    }
    content
}

/// A name cannot pass for other lines.
fn on_one_line(name: &str) -> String {
    name.replace(['\n', '\r'], " ")
}

/// The last part of a path. The middle of a long one is left out, so that its extension stays.
fn file_name(path: &str) -> String {
    let name = on_one_line(path.rsplit(['/', '\\']).next().unwrap_or_default());
    let length = name.chars().count();
    if length <= MAX_NAME {
        return name;
    }
    let end = name.chars().skip(length - MAX_NAME / 2);
    name.chars().take(MAX_NAME / 2).chain(end).collect()
}

#[cfg(test)]
#[path = "agent_output_tests.rs"]
mod tests;
