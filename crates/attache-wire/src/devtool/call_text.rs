//! Texts about a call for people, the same in every dialect.

use std::borrow::Cow;
use std::fmt::Write;

use attache_domain::{
    Answerer, CallOutcome, CallPhase, CallRecord, Content, MAX_LIVE_BYTES, Preview, Verdict, quoted,
    terminal_safe, visible, visible_line, visible_value,
};
use serde_json::{Map, Value};

/// A description is a headline; the input has the details.
const MAX_DESCRIPTION_BYTES: usize = 1_000;

const LOST_CALL_PREFIX: &str =
    "The server stopped while this was running, and it is not known whether it took effect: ";

/// Warns about a call with hidden characters.
const HIDDEN_CHARACTERS_WARNING: &str = r" (has hidden characters; they are written out as \u{…})";

/// Describes the call as far as it is known.
pub(super) fn description(record: &CallRecord) -> Option<Cow<'_, str>> {
    let described: Cow<'_, str> = match preview(record)? {
        Preview::Edit { path, .. } => visible_line(&path.to_string_lossy()).into_owned().into(),
        Preview::Exec { command, .. } => visible(command),
        Preview::Mcp { server, tool, address: Some(address), .. } => {
            visible_line(&format!("{server}/{tool} at {address}, named by the client")).into_owned().into()
        }
        Preview::Mcp { server, tool, .. } => visible_line(&format!("{server}/{tool}")).into_owned().into(),
        Preview::Info { prompt, .. } => visible(prompt),
        Preview::Agent { agent, url, prompt, .. } => {
            visible(&format!("{agent} at {url}: {prompt}")).into_owned().into()
        }
        Preview::Questions { questions } => terminal_safe(&headlines(questions)).into_owned().into(),
        Preview::Plain { summary } => visible(summary),
    };
    let mut described = truncate_text(described, MAX_DESCRIPTION_BYTES);
    if has_hidden_characters(record) {
        described.to_mut().push_str(HIDDEN_CHARACTERS_WARNING);
    }
    match record.lost && record.phase == CallPhase::Asked {
        true if described.is_empty() => Some(format!("{LOST_CALL_PREFIX}{}", record.call.name).into()),
        true => Some(format!("{LOST_CALL_PREFIX}{described}").into()),
        false => Some(described).filter(|described| !described.is_empty()),
    }
}

/// The call's input as the tool understood it. While the call waits for an answer, hidden characters are escaped,
/// except in the content of an edit, which editors show and change.
pub(super) fn call_input(record: &CallRecord) -> Cow<'_, Map<String, Value>> {
    let proposed = record.proposal.as_ref().map(|proposal| &proposal.input);
    displayed_input(record, proposed.unwrap_or(&record.call.input))
}

/// `input` of `record` as people see it.
pub(super) fn displayed_input<'a>(
    record: &CallRecord,
    input: &'a Map<String, Value>,
) -> Cow<'a, Map<String, Value>> {
    let is_asked = record.phase == CallPhase::Asked && record.outcome.is_none();
    if !is_asked || matches!(preview(record), Some(Preview::Edit { .. } | Preview::Questions { .. })) {
        return Cow::Borrowed(input);
    }
    let member = |(name, value): (&String, &Value)| (visible_line(name).into_owned(), visible_value(value));
    Cow::Owned(input.iter().map(member).collect())
}

/// Follows the title of a question about `record`.
pub(super) fn hidden_characters_warning(record: &CallRecord) -> &'static str {
    if has_hidden_characters(record) { HIDDEN_CHARACTERS_WARNING } else { "" }
}

fn has_hidden_characters(record: &CallRecord) -> bool {
    record.proposal.as_ref().is_some_and(|proposal| proposal.has_hidden_characters())
}

/// The result of a successful call.
pub(super) fn success_text(record: &CallRecord) -> Cow<'_, str> {
    let shown = record.live.trim_end();
    let text: Cow<'_, str> = match (shown, record.summary.as_str()) {
        // A command's output is its result, and replaces the live output.
        (shown, summary) if is_command(record) && !shown.is_empty() => format!("{shown}\n\n{summary}").into(),
        (_, "") => output_text(record),
        (_, summary) => summary.into(),
    };
    truncate_text(text, MAX_LIVE_BYTES)
}

/// Why a call did not succeed; never empty.
pub(super) fn failure_text(record: &CallRecord) -> Cow<'_, str> {
    let refused = record.answer.as_ref().filter(|answer| answer.verdict == Verdict::Refuse);
    let fallback = match (&record.outcome, refused) {
        (Some(CallOutcome::Canceled), Some(answer)) => {
            let by = answer.by.as_ref().map_or_else(|| "the user".to_owned(), Answerer::to_string);
            return format!("It was cancelled by {by}.").into();
        }
        (Some(CallOutcome::Canceled), None) => "It was cancelled.",
        (Some(CallOutcome::Unknown), _) => "It is not known whether it took effect.",
        _ => "It failed and gave no reason.",
    };
    let summary =
        if record.summary.trim().is_empty() { output_text(record) } else { (&record.summary).into() };
    if summary.trim().is_empty() { fallback.into() } else { truncate_text(summary, MAX_LIVE_BYTES) }
}

/// One question per line, each with its suggested answers.
pub(super) fn questions_text(questions: &Value) -> String {
    let mut text = String::new();
    for question in questions.as_array().into_iter().flatten() {
        let separator = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{separator}{}", text_member(question, "question"));
        for option in question["options"].as_array().into_iter().flatten() {
            let _ = write!(text, "\n- {}", text_member(option, "label"));
            let described = text_member(option, "description");
            if !described.is_empty() {
                let _ = write!(text, ": {described}");
            }
        }
    }
    terminal_safe(&text).into_owned()
}

/// Which agent would be asked, where, and what would be sent.
pub(super) fn agent_text(record: &CallRecord) -> String {
    record.proposal.as_ref().map(|proposal| proposal.in_words()).unwrap_or_default()
}

/// Describes the access of the call's command.
pub(crate) fn access_text(record: &CallRecord) -> Option<String> {
    let access = record.proposal.as_ref()?.access()?;
    Some(visible_line(&access.describe()).into_owned())
}

pub(super) fn preview(record: &CallRecord) -> Option<&Preview> {
    record.preview()
}

/// A text member, or an empty text.
pub(super) fn text_member<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn headlines(questions: &Value) -> String {
    let headers = questions.as_array().into_iter().flatten().map(|question| text_member(question, "header"));
    headers.filter(|header| !header.is_empty()).collect::<Vec<_>>().join(", ")
}

fn is_command(record: &CallRecord) -> bool {
    matches!(preview(record), Some(Preview::Exec { .. }))
}

/// The text that the model sees, for people.
fn output_text(record: &CallRecord) -> Cow<'_, str> {
    let contents = record.result.iter().flat_map(|result| &result.output);
    let words = contents.map(|content| match content {
        Content::Text(text) => quoted(text),
        Content::Bytes { media_type, name, .. } => format!(
            "({media_type}{}{})",
            if name.is_some() { " " } else { "" },
            name.as_deref().unwrap_or_default()
        )
        .into(),
        Content::Link { url, .. } => url.as_str().into(),
    });
    let mut words: Vec<_> = words.collect();
    match words.len() {
        1 => words.swap_remove(0),
        _ => words.join("\n").into(),
    }
}

fn truncate_text(text: Cow<'_, str>, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text;
    }
    let kept = &text[..text.floor_char_boundary(most)];
    format!("{kept}… ({} more bytes)", text.len() - kept.len()).into()
}
