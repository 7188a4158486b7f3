//! Summarizes the result of an action in a few sentences.

mod command;
mod excerpt;

use attache_domain::{Content, ToolResult, quoted};

use super::action::Action;
use excerpt::block;
pub(super) use excerpt::inline;

pub(super) struct ResultSummary {
    pub(super) text: String,
    /// Whether the next steps of the plan may run.
    pub(super) went_well: bool,
}

pub(super) fn summarize(action: &Action, result: Option<&ToolResult>) -> ResultSummary {
    let Some(result) = result else {
        return ResultSummary {
            text: format!("I was not told the result of {}.", aim(action)),
            went_well: false,
        };
    };
    let text = text_of(result);
    if result.failed {
        return ResultSummary { text: failure(action, &text), went_well: false };
    }
    let text = match action {
        Action::Run { command, .. } => return command::summarize(command, &text),
        Action::List { folder } => listing(folder, &text),
        Action::Read { file, .. } => reading(file, result, &text),
        Action::Find { .. } | Action::Search { .. } => finding(action, &text),
        Action::Write { .. } | Action::Replace { .. } | Action::Append { .. } => change(&text),
        Action::Ask { .. } => quoted(&text).into_owned(),
    };
    ResultSummary { text, went_well: true }
}

/// A file that cannot be written, because it was not read as a whole.
pub(super) fn missing_text(file: &str, why: &str) -> ResultSummary {
    let text = format!("I did not change {}: {why}.", inline(file));
    ResultSummary { text, went_well: false }
}

/// The whole text of a file that was read, or why it is incomplete.
pub(super) fn whole_text(result: &ToolResult) -> Result<&str, &'static str> {
    let [Content::Text(text)] = result.output.as_slice() else { return Err("it is no text") };
    let cut = |line: &str| line.trim_end_matches('\r').ends_with(" more characters in this line]");
    if text == EMPTY {
        Ok("")
    } else if text.starts_with("[Lines ") {
        Err("it is longer than I can read at once")
    } else if text.starts_with("[Some bytes of this file ") {
        Err("some of its bytes are no valid text")
    } else if text.split('\n').any(cut) {
        Err("it has longer lines than I can read")
    } else if text.contains(" is a binary file of ") && text.ends_with(BINARY) {
        Err("it is no text")
    } else {
        Ok(text)
    }
}

/// The wording of `read_file` for such files.
const EMPTY: &str = "[The file is empty.]";
const BINARY: &str = "cannot be shown as text.";

fn text_of(result: &ToolResult) -> String {
    let texts = result.output.iter().filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Bytes { .. } | Content::Link { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn failure(action: &Action, text: &str) -> String {
    if text.starts_with("[Operation Cancelled] The user cancelled this call") {
        return "You cancelled that, so it was stopped.".to_owned();
    }
    if text.starts_with("[Operation Cancelled] The user did not answer") {
        return "You did not answer the question, so it was stopped.".to_owned();
    }
    if text.starts_with("[Operation Cancelled]") {
        let rest = match action {
            Action::Write { .. } | Action::Replace { .. } | Action::Append { .. } => "nothing was changed",
            Action::Run { .. } => "nothing was run",
            Action::Ask { .. } => "the agent was not asked",
            _ => "I did not look",
        };
        return format!("You declined, so {rest}.");
    }
    if let Some(message) = not_once(action, text) {
        return message;
    }
    let (verb, what) = match action {
        Action::List { folder } => ("list", folder),
        Action::Read { file, .. } => ("read", file),
        Action::Find { pattern, .. } => ("look for", pattern),
        Action::Search { text, .. } => ("search for", text),
        Action::Write { file, .. } => ("write", file),
        Action::Replace { file, .. } => ("change", file),
        Action::Append { file, .. } => ("append to", file),
        Action::Run { command, .. } => ("run", command),
        Action::Ask { agent, .. } => ("ask", agent),
    };
    let text = quoted(text);
    let why: String = text.trim().chars().take(1_000).collect();
    let why = if why.is_empty() { "no reason was given".to_owned() } else { why };
    let stop = if why.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("I could not {verb} {}: {why}{stop}", inline(what))
}

/// The number of replaced places, from the message of `replace` to a model.
fn not_once(action: &Action, text: &str) -> Option<String> {
    let Action::Replace { file, old, .. } = action else { return None };
    let (number, _) = text.split_once(" occurrences of `old_string`")?;
    let (file, old) = (inline(file), inline(old));
    Some(match number.parse::<usize>().ok()? {
        0 => format!("{file} does not contain {old}, so nothing was changed."),
        more => format!(
            "{file} contains {old} {more} times, so nothing was changed. To change all of them, say: replace all …"
        ),
    })
}

fn aim(action: &Action) -> String {
    let Action::Run { command, .. } = action else { return format!("`{}`", action.first_use().tool) };
    inline(command)
}

fn listing(folder: &str, text: &str) -> String {
    let Some((_, entries)) = text.split_once(":\n").filter(|(header, _)| header.starts_with("In ")) else {
        return text.to_owned();
    };
    let lines = || entries.lines().filter(|line| !line.is_empty());
    let folders = lines().filter(|line| line.starts_with("[DIR] ")).count();
    let remarks = lines().filter(|line| line.starts_with('(')).count();
    let files = lines().count() - folders - remarks;
    let place = if folder == "." { "The workspace".to_owned() } else { inline(folder) };
    let (folders, files) = (count(folders, "folder"), count(files, "file"));
    format!("{place} has {folders} and {files}:\n\n{}", block(entries, "", (40, 0)))
}

fn reading(file: &str, result: &ToolResult, text: &str) -> String {
    let file = inline(file);
    if let Some(Content::Bytes { media_type, .. }) = result.output.first() {
        return format!("{file} is no text but {media_type}, so I cannot show it.");
    }
    if text == EMPTY {
        return format!("{file} is empty.");
    }
    if text.ends_with(BINARY) && !text.contains('\n') {
        return text.to_owned();
    }
    // "[Lines 1-2000 of 5000 are shown. ...]"
    let partial = text.strip_prefix("[Lines ").and_then(|rest| rest.split_once(" are shown."));
    if let Some((lines, rest)) = partial {
        let (_, body) = rest.split_once('\n').unwrap_or_default();
        return format!("{file}, lines {lines}:\n\n{}", block(body, "", (40, 0)));
    }
    format!("{file} has {}:\n\n{}", count(text.lines().count(), "line"), block(text, "", (40, 0)))
}

fn finding(action: &Action, text: &str) -> String {
    if let Some((header, found)) = text.split_once('\n') {
        let found = found.strip_prefix("---\n").unwrap_or(found);
        return format!("{}\n\n{}", header.trim_end(), block(found, "", (40, 0)));
    }
    match action {
        Action::Find { pattern, .. } => {
            let name = pattern.trim_start_matches("**/").trim_matches('*');
            format!("{text} That was about names; to look inside of files, say: search for {}", inline(name))
        }
        _ => text.to_owned(),
    }
}

fn change(text: &str) -> String {
    let (message, diff) = text.split_once("\n\n").unwrap_or((text, ""));
    // The message is for the model that made the edit; the reader here is a person.
    let message = message.replace("A person changed your edit", "You changed my edit");
    if diff.trim().is_empty() { message } else { format!("{message}\n\n{}", block(diff, "diff", (40, 0))) }
}

fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}
