//! Approvals as text and metadata: the calls a question is about, and who answered what.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    Answerer, CallAnswer, CallId, Event, Message, MessageId, Metadata, Part, Preview, Proposal, QuestionKind,
    RUN_AGAIN, Role, TaskView, ToolLoop, Verdict, terminal_safe, visible, visible_line,
};

/// Member of a question's metadata: the calls it is about, each with the id that an answer names and the choices that it
/// takes. A client that answers names the call it has shown, and so cannot answer another one by mistake. A call that was
/// lost is asked about under an id of its own; `lost` is then the call's. So is the question of a call that asks something
/// itself; then `asks` is the call's id, and `kind` says what for.
pub const OPEN_CALLS: &str = "attache/open-calls";

/// Member of the metadata of a message in a task's history: which call was answered, how, by whom and when.
pub const APPROVAL: &str = "attache/approval";

impl ToolLoop {
    /// The metadata of a message that asks about every open call.
    pub fn open_calls(&self) -> Metadata {
        let open = self.asked().map(|call| {
            let mut open = json!({ "call": call.question_id().0, "choices": call.choices });
            if call.lost {
                open["lost"] = call.id.0.clone().into();
            }
            if let Some(kind) = call.asks {
                open["asks"] = call.id.0.clone().into();
                open["kind"] = match kind {
                    QuestionKind::Input => "input".into(),
                    QuestionKind::Auth => "auth".into(),
                };
            }
            open
        });
        Metadata::from_iter([(OPEN_CALLS.to_owned(), open.collect())])
    }
}

impl Proposal {
    /// What would be done, for a person: on a few lines, with hidden characters written out. An edit is named and not
    /// shown.
    pub fn in_words(&self) -> String {
        let words = match &self.shown {
            Preview::Edit { path, .. } => format!("change {}", visible_line(&path.to_string_lossy())),
            Preview::Exec { command, directory, .. } => {
                let run =
                    format!("run in {}:\n{}", visible_line(&directory.to_string_lossy()), visible(command));
                run + &self.access_in_words()
            }
            Preview::Mcp { server, tool, address, .. } => {
                let used = format!("use {} of the server {}", visible_line(tool), visible_line(server));
                match address {
                    Some(address) => format!("{used} at {}, named by the client", visible_line(address)),
                    None => used,
                }
            }
            Preview::Info { prompt, urls } => {
                format!("{} {}", visible(prompt), visible_line(&urls.join(" ")))
            }
            Preview::Agent { agent, url, prompt, files } => {
                let sent = format!("ask the agent {} at {}:\n", visible_line(agent), visible_line(url));
                let files: String =
                    files.iter().map(|file| format!("\nwith {}", visible_line(file))).collect();
                sent + &visible(prompt) + &files
            }
            Preview::Questions { .. } => String::new(),
            Preview::Plain { summary } => visible(summary).into_owned(),
        };
        words + &self.input_in_words()
    }

    /// How far the command could reach, on a line of its own; empty where nothing runs.
    pub fn access_in_words(&self) -> String {
        self.access().map(|access| format!("\n{}", visible_line(&access.describe()))).unwrap_or_default()
    }

    /// What a tool of an MCP server is given, because nothing else says what it would do; empty for other tools.
    pub fn input_in_words(&self) -> String {
        if !matches!(self.shown, Preview::Mcp { .. }) || self.input.is_empty() {
            return String::new();
        }
        let input = serde_json::to_string_pretty(&self.input).unwrap_or_default();
        format!(" with\n{}", visible(&input))
    }
}

impl TaskView {
    /// Puts the question into the history and the answer in its place, so that the client that sent it reads at once
    /// what it has approved.
    pub(crate) fn record_answer(&mut self, event: &Event, call: &CallId, answer: &CallAnswer) {
        let message = Arc::new(self.answer_message(event, call, answer));
        self.history.extend(self.status.message.replace(message));
    }

    /// Does the status say how a question was answered?
    pub fn status_is_answer(&self) -> bool {
        self.status.message.as_deref().is_some_and(is_answer)
    }

    /// An answer that the status still shows moves into the history.
    pub fn keep_answer_message(&mut self) {
        self.history.extend(self.status.message.take_if(|message| is_answer(message)));
    }

    fn answer_message(&self, event: &Event, call: &CallId, answer: &CallAnswer) -> Message {
        let record = self.call_records.find(call);
        let tool = record.map_or("a tool", |record| record.call.name.as_str());
        let by = answer.by.as_ref().map_or_else(|| "the user".to_owned(), Answerer::to_string);
        let at = format!("{:.3}", event.at);
        let proposal = record.and_then(|record| record.proposal.as_ref());
        let mut text = format!(
            "{} by {}: {} ({}), {}",
            verb(answer),
            visible_line(&by),
            visible_line(tool),
            visible_line(&answer.question.as_ref().unwrap_or(call).0),
            visible_line(&answer.choice),
        );
        for words in [proposal.map(|proposal| proposal.in_words()), said(answer)].into_iter().flatten() {
            if !words.is_empty() {
                text.push('\n');
                text.push_str(&words);
            }
        }
        let id = MessageId::from(format!("approval-{}-{}", event.seq, self.task));
        let mut message = Message::from_agent(id, self.context.clone(), Some(self.task.clone()), "");
        message.parts = vec![Part::text(text)];
        let mut approval = json!({
            "call": call.0, "tool": tool, "choice": answer.choice, "by": by, "at": at,
            "message": answer.message.as_ref().map(|(message, _)| message.as_str()),
        });
        if let Some(question) = &answer.question {
            approval["question"] = question.0.clone().into();
        }
        message.metadata = Some(Metadata::from_iter([(APPROVAL.to_owned(), approval)]));
        message
    }
}

/// Whether this message of the agent says how a person answered a question.
pub(crate) fn is_answer(message: &Message) -> bool {
    message.metadata.as_ref().is_some_and(|metadata| metadata.contains_key(APPROVAL))
}

/// Does the agent ask for an approval in this message, or report an answer?
pub(crate) fn is_about_approval(message: &Message) -> bool {
    let asks = message.metadata.as_ref().is_some_and(|metadata| metadata.contains_key(OPEN_CALLS));
    message.role == Role::Agent && (asks || is_answer(message))
}

fn verb(answer: &CallAnswer) -> &'static str {
    match answer.verdict {
        Verdict::Proceed if answer.answers.is_some() => "Answered",
        Verdict::Proceed if answer.new_content.is_some() => "Approved with changed content",
        Verdict::Proceed if answer.choice == RUN_AGAIN => "Run again, as decided",
        Verdict::Proceed => "Approved",
        Verdict::Refuse => "Refused",
        Verdict::Skip => "Left out",
        Verdict::Modify => "Changed, to be asked about again,",
    }
}

/// What the person said to a question of a tool.
fn said(answer: &CallAnswer) -> Option<String> {
    match answer.answers.as_ref()? {
        Value::String(text) => Some(terminal_safe(text).into_owned()),
        other => Some(terminal_safe(&other.to_string()).into_owned()),
    }
}
