//! What people are told about a call, in words; the same in every dialect.

use std::borrow::Cow;
use std::fmt::Write;

use attache_domain::{CallOutcome, CallPhase, CallRecord, Content, MOST_LIVE_BYTES, Shown, Verdict};
use serde_json::Value;

/// Bytes of a description: it is a headline, the input says the rest.
const MOST_DESCRIBED: usize = 1_000;

const LOST: &str = "The server stopped while this was running, and it is not known whether it took effect: ";

/// What the call is about, as far as that is known.
pub(super) fn description(record: &CallRecord) -> Option<Cow<'_, str>> {
    let described: Cow<'_, str> = match shown(record)? {
        Shown::Edit { path, .. } => path.to_string_lossy(),
        Shown::Exec { command, .. } => command.into(),
        Shown::Mcp { server, tool, .. } => format!("{server}/{tool}").into(),
        Shown::Info { prompt, .. } => prompt.into(),
        Shown::Questions { questions } => headlines(questions).into(),
        Shown::Plain { summary } => summary.into(),
    };
    let described = bounded(described, MOST_DESCRIBED);
    match record.lost && record.phase == CallPhase::Asked {
        true if described.is_empty() => Some(format!("{LOST}{}", record.call.name).into()),
        true => Some(format!("{LOST}{described}").into()),
        false => Some(described).filter(|described| !described.is_empty()),
    }
}

/// What came of a call that succeeded.
pub(super) fn outcome(record: &CallRecord) -> Cow<'_, str> {
    let shown = record.live.trim_end();
    let text: Cow<'_, str> = match (shown, record.summary.as_str()) {
        // What it has shown is what it is about, and takes the place of what was live.
        (shown, summary) if is_command(record) && !shown.is_empty() => format!("{shown}\n\n{summary}").into(),
        (_, "") => output_text(record),
        (_, summary) => summary.into(),
    };
    bounded(text, MOST_LIVE_BYTES)
}

/// Why a call that is over has not succeeded; never empty.
pub(super) fn failure(record: &CallRecord) -> Cow<'_, str> {
    let refused = record.answer.as_ref().filter(|answer| answer.verdict == Verdict::Refuse);
    let fallback = match (&record.outcome, refused) {
        (Some(CallOutcome::Canceled), Some(answer)) => {
            let by = answer.by.as_deref().unwrap_or("the user");
            return format!("It was cancelled by {by}.").into();
        }
        (Some(CallOutcome::Canceled), None) => "It was cancelled.",
        (Some(CallOutcome::Unknown), _) => "It is not known whether it took effect.",
        _ => "It failed and gave no reason.",
    };
    let told = if record.summary.trim().is_empty() { output_text(record) } else { (&record.summary).into() };
    if told.trim().is_empty() { fallback.into() } else { bounded(told, MOST_LIVE_BYTES) }
}

/// One question a line, each with the answers it suggests.
pub(super) fn questions(questions: &Value) -> String {
    let mut text = String::new();
    for question in questions.as_array().into_iter().flatten() {
        let separator = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{separator}{}", member(question, "question"));
        for option in question["options"].as_array().into_iter().flatten() {
            let _ = write!(text, "\n- {}", member(option, "label"));
            let described = member(option, "description");
            if !described.is_empty() {
                let _ = write!(text, ": {described}");
            }
        }
    }
    text
}

pub(super) fn shown(record: &CallRecord) -> Option<&Shown> {
    record.proposal.as_ref().map(|proposal| &proposal.shown)
}

/// A member that is text, or nothing.
pub(super) fn member<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn headlines(questions: &Value) -> String {
    let headers = questions.as_array().into_iter().flatten().map(|question| member(question, "header"));
    headers.filter(|header| !header.is_empty()).collect::<Vec<_>>().join(", ")
}

fn is_command(record: &CallRecord) -> bool {
    matches!(shown(record), Some(Shown::Exec { .. }))
}

/// What the model is told, as far as it is text.
fn output_text(record: &CallRecord) -> Cow<'_, str> {
    let contents = record.result.iter().flat_map(|result| &result.output);
    let words = contents.map(|content| match content {
        Content::Text(text) => Cow::Borrowed(text.as_str()),
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

fn bounded(text: Cow<'_, str>, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text;
    }
    let kept = &text[..text.floor_char_boundary(most)];
    format!("{kept}… ({} more bytes)", text.len() - kept.len()).into()
}
