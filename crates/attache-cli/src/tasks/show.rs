//! `attache tasks show`: prints one task.

mod transcript;

use std::io::Write;

use attache_client::{
    Artifact, Message, OpenCall, Part, PartContent, RemoteStatus, RemoteTask, Role, approval_in,
    artifact_text,
};
use attache_domain::{Base64, visible_again, visible_line};

use self::transcript::{TranscriptEntry, transcript};
use super::arguments::ShowArguments;
use super::call::{description, is_call, result, title};
use super::server::ServerConnection;
use super::time::utc;
use crate::printable::{LINE_BREAK, printable, with_line_breaks};
use crate::shell_word::shell_word;
use crate::standard_streams::stdout;

pub(crate) async fn run(server: &ServerConnection, arguments: ShowArguments) -> anyhow::Result<()> {
    let task = server.find(&arguments.id).await?;
    let events = match arguments.json || !server.shows_development() {
        true => None,
        false => Some(server.events_until(&task).await?),
    };
    let mut out = stdout().lock();
    if arguments.json {
        crate::printable::write_pretty_json(&mut out, &task.to_json())?;
        writeln!(out)?;
    } else {
        let entries = match events {
            Some(events) => transcript(&task, &events),
            None => history(&task),
        };
        let how_to_answer = how_to_answer(task.id.as_str(), &task.status);
        out.write_all(page(&task, &entries, &how_to_answer).as_bytes())?;
    }
    Ok(out.flush()?)
}

/// The transcript of an agent without the development-tool extension: its messages.
fn history(task: &RemoteTask) -> Vec<TranscriptEntry> {
    task.history.iter().cloned().map(TranscriptEntry::Message).collect()
}

/// A task without the events of the development-tool extension.
pub(crate) fn page_of(task: &RemoteTask, how_to_answer: &str) -> String {
    page(task, &history(task), how_to_answer)
}

fn page(task: &RemoteTask, entries: &[TranscriptEntry], how_to_answer: &str) -> String {
    let mut text = format!(
        "task     {}\ncontext  {}\n",
        visible_line(task.id.as_str()),
        visible_line(task.context.as_str())
    );
    let updated = task.status.timestamp.as_deref().map(|at| format!(", {}", utc(at))).unwrap_or_default();
    text.push_str(&format!("state    {}{updated}\n", task.status.state_name()));
    for entry in entries {
        text.push_str(&format!("\n{}", section(entry)));
    }
    for artifact in task.artifacts.iter().filter(|artifact| !is_said(artifact, entries)) {
        text.push_str(&format!("\n{}\n{}", heading(artifact), block(&parts(&artifact.parts))));
    }
    if let Some(message) = task.status.message.as_ref().filter(|message| approval_in(message).is_none()) {
        let label = if task.status.is_interrupted() { "it asks" } else { "it says" };
        text.push_str(&format!("\n{label}:\n{}", block(&last_words(task, message))));
    }
    if task.status.is_interrupted() {
        text.push_str(&format!("\n{how_to_answer}\n"));
    }
    text
}

fn section(entry: &TranscriptEntry) -> String {
    match entry {
        TranscriptEntry::Message(message) => {
            let speaker = match message.role {
                Role::User => "user",
                Role::Agent => "agent",
            };
            format!("{speaker}:\n{}", block(&parts(&message.parts)))
        }
        TranscriptEntry::Thought(thought) => format!("thought:\n{}", block(&printable(thought))),
        TranscriptEntry::Text(text) => format!("agent:\n{}", block(printable(text).trim_start_matches('\n'))),
        TranscriptEntry::Note(note) => format!("note:\n{}", block(&printable(note))),
        TranscriptEntry::Call(call, approvals) => {
            let mut text = format!("call {}, {}:\n", title(call), call.status.name());
            text.push_str(&block(&description(call)));
            for approval in approvals {
                let words = printable(&approval.text());
                text.push_str(&block(words.lines().next().unwrap_or_default()));
            }
            if let Some(live) = call.live_content.as_deref().filter(|_| call.output.is_none()) {
                text.push_str(&block(&printable(live)));
            }
            text + &block(&result(call))
        }
    }
}

/// What a task says last. If it asks, nothing of that is hidden.
pub(crate) fn last_words(task: &RemoteTask, message: &Message) -> String {
    let mut shown_parts = message.parts.clone();
    if message.parts.iter().any(|part| part.as_text().is_some()) {
        shown_parts.retain(|part| !is_call(part));
    }
    let words = parts(&shown_parts);
    if task.status.is_interrupted() { visible_again(&words).into_owned() } else { words }
}

/// The command that answers exactly what is shown: it names the calls.
pub(crate) fn how_to_answer(id: &str, status: &RemoteStatus) -> String {
    let id = shell_word(id);
    let open = status.open_calls();
    let calls: Vec<_> = open.iter().map(|open| shell_word(&open.call)).collect();
    let (answer, or) = match &calls[..] {
        [only] if open[0].is_lost() => {
            (format!("{only}=skip"), format!(" (or {only}=run_again, or {only}=cancel)"))
        }
        [only] if !open[0].takes_text() => {
            (format!("{only}=yes"), format!(" (or {only}=no, or {only}=CHOICE)"))
        }
        [_, _, ..] => {
            let word = |open: &OpenCall| match (open.is_lost(), open.takes_text()) {
                (true, _) => "skip",
                (_, true) => "'YOUR ANSWER'",
                _ => "yes",
            };
            let each = calls.iter().zip(&open).map(|(call, open)| format!("{call}={}", word(open)));
            let or = " (or =no, or =CHOICE, for each; all=no refuses all of them)";
            (each.collect::<Vec<_>>().join(" "), or.to_owned())
        }
        _ => ("'YOUR ANSWER'".to_owned(), String::new()),
    };
    format!("answer with: attache tasks answer {id} {answer}{or}")
}

pub(crate) fn heading(artifact: &Artifact) -> String {
    let name = artifact.name.as_deref().unwrap_or_default();
    let filename = artifact.parts.iter().find_map(|part| part.filename.as_deref());
    let name =
        [name, filename.unwrap_or_default(), artifact.id.as_str()].into_iter().find(|name| !name.is_empty());
    format!("artifact {}:", visible_line(name.unwrap_or("without a name")))
}

/// Whether the transcript contains the artifact as well: a complete answer is in both.
fn is_said(artifact: &Artifact, entries: &[TranscriptEntry]) -> bool {
    let text = artifact_text(artifact);
    entries.iter().any(|entry| match entry {
        TranscriptEntry::Message(message) => message.role == Role::Agent && message.text() == text,
        TranscriptEntry::Text(said) => {
            text.contains(said.as_str()) && artifact.id.as_str().starts_with("answer-")
        }
        _ => false,
    })
}

/// Every part in a form that can be read, those that are no text in lines of their own.
pub(crate) fn parts(parts: &[Part]) -> String {
    let pieces = pieces(parts);
    with_line_breaks(pieces.trim_end_matches(LINE_BREAK), false)
}

/// The same with [`LINE_BREAK`] around parts that are no text. The pieces of an artifact make up the whole.
pub(crate) fn pieces(parts: &[Part]) -> String {
    let name = |part: &Part| part.filename.as_deref().map(|name| visible_line(name).into_owned());
    let shown = parts.iter().map(|part| {
        let text = match &part.content {
            PartContent::Text(text) => return printable(text),
            PartContent::Data(data) => printable(&serde_json::to_string_pretty(data).unwrap_or_default()),
            PartContent::Url(url) => match name(part) {
                Some(name) => format!("({name}) {}", printable(url)),
                None => printable(url),
            },
            PartContent::Raw(Base64(raw)) => {
                // Some agents leave out the padding.
                let bytes = raw.trim_end_matches('=').len() * 3 / 4;
                let name = name(part).map(|name| format!("{name}, ")).unwrap_or_default();
                format!("({name}{bytes} bytes of {})", media_type(part))
            }
        };
        format!("{LINE_BREAK}{text}{LINE_BREAK}")
    });
    shown.collect()
}

fn media_type(part: &Part) -> String {
    printable(part.media_type.as_deref().unwrap_or("something"))
}

fn block(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tasks::test_values::decode_task;

    #[test]
    fn the_size_of_a_file_is_that_of_its_bytes_with_padding_or_without() {
        for (raw, expected) in
            [("YWJjZGVm", 6), ("YWJjZGVmZw==", 7), ("YWJjZGVmZw", 7), ("WVdKalpHVm0=", 8), ("", 0)]
        {
            let part = Part::new(PartContent::Raw(Base64(raw.into())));
            assert_eq!(parts(&[part]), format!("({expected} bytes of something)"));
        }
    }

    #[test]
    fn a_page_has_what_was_said_made_and_asked() {
        let message =
            |role: &str, text: &str| json!({"messageId": "m", "role": role, "parts": [{"text": text}]});
        let task = decode_task(&json!({
            "id": "t-1",
            "contextId": "c-1",
            "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": message("ROLE_AGENT", "May I?")},
            "history": [message("ROLE_USER", "Do it"), message("ROLE_AGENT", "Half done.")],
            "artifacts": [
                {"artifactId": "answer-1", "name": "Answer", "parts": [{"text": "Half "}, {"text": "done."}]},
                {"artifactId": "changes-1", "name": "Changes", "parts": [{"text": "--- a/x\n+++ b/x\n"}]},
                {"artifactId": "image", "parts": [{"raw": "QUJD", "mediaType": "image/png"}]},
            ],
        }));
        let expected = "\
task     t-1
context  c-1
state    input-required

user:
Do it

agent:
Half done.

artifact Changes:
--- a/x
+++ b/x

artifact image:
(3 bytes of image/png)

it asks:
May I?

answer with: attache tasks answer t-1 'YOUR ANSWER'
";
        assert_eq!(page_of(&task, &how_to_answer("t-1", &task.status)), expected);
    }

    #[test]
    fn the_command_that_answers_names_the_question_and_runs_nothing_again_by_itself() {
        let how = |open: serde_json::Value| {
            let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [],
                "metadata": {"attache/open-calls": open}});
            let status = json!({"state": "TASK_STATE_INPUT_REQUIRED", "message": message});
            how_to_answer("t-1", &decode_task(&json!({"id": "t-1", "status": status})).status)
        };
        let call = json!({"call": "c-1", "choices": ["proceed_once", "cancel"]});
        let lost = json!({"call": "lost-5-1", "lost": "c-1", "choices": ["run_again", "skip", "cancel"]});
        let expected = "answer with: attache tasks answer t-1 c-1=yes (or c-1=no, or c-1=CHOICE)";
        assert_eq!(how(json!([call])), expected);
        let expected =
            "answer with: attache tasks answer t-1 lost-5-1=skip (or lost-5-1=run_again, or lost-5-1=cancel)";
        assert_eq!(how(json!([lost])), expected);
        let expected = "answer with: attache tasks answer t-1 lost-5-1=skip c-1=yes (or =no, or =CHOICE, for each; all=no refuses all of them)";
        assert_eq!(how(json!([lost, call])), expected);
    }
}
