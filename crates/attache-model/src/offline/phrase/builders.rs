//! Builds an action from the groups of a phrase. None if they make no sense.

use super::super::action::Action;
use super::super::wording::{
    content, fenced, folder, looks_like_a_file, name, piece, quoted, quoted_sentence, without_full_stop,
};
use super::PhraseMatch;

pub(super) type ActionBuilder = fn(&PhraseMatch<'_>) -> Option<Action>;

pub(super) fn list(found: &PhraseMatch<'_>) -> Option<Action> {
    let folder = if found.has("folder") { folder(found.raw("folder"))? } else { ".".to_owned() };
    Some(Action::List { folder })
}

pub(super) fn read(found: &PhraseMatch<'_>) -> Option<Action> {
    Some(Action::Read { file: name(found.raw("file"))?, lines: None })
}

pub(super) fn read_what_looks_like_a_file(found: &PhraseMatch<'_>) -> Option<Action> {
    names_a_file(found, "file").then(|| read(found)).flatten()
}

pub(super) fn read_lines(found: &PhraseMatch<'_>) -> Option<Action> {
    let number = |group| found.raw(group).parse::<u32>().ok();
    let first = if found.has("first") { number("first")? } else { 1 };
    let last = if found.has("last") { number("last")? } else { first };
    (1 <= first && first <= last).then_some(())?;
    Some(Action::Read { file: name(found.raw("file"))?, lines: Some((first, last)) })
}

pub(super) fn find(found: &PhraseMatch<'_>) -> Option<Action> {
    let raw = found.raw("pattern");
    let pattern = pattern(raw, found.has("of_files"))?;
    let folder = if found.has("folder") { Some(folder(found.raw("folder"))?) } else { None };
    Some(Action::Find { pattern, folder: folder.filter(|folder| folder != ".") })
}

pub(super) fn find_what_looks_like_a_file(found: &PhraseMatch<'_>) -> Option<Action> {
    names_a_file(found, "pattern").then(|| find(found)).flatten()
}

/// A name is searched for in every folder, and a part of a name in every name.
fn pattern(raw: &str, of_files: bool) -> Option<String> {
    let pattern = quoted(raw).unwrap_or(raw);
    if ["files", "file", "everything"].iter().any(|all| pattern.eq_ignore_ascii_case(all)) {
        return Some("**/*".to_owned());
    }
    if pattern.contains(['/', '*', '?', '[', '{']) {
        return Some(if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") });
    }
    let name = name(raw).filter(|name| !name.is_empty())?;
    Some(match name.strip_prefix('.') {
        Some(ending) if of_files && !ending.contains('.') => format!("**/*.{ending}"),
        None if !name.contains('.') => format!("**/*{name}*"),
        _ => format!("**/{name}"),
    })
}

pub(super) fn search(found: &PhraseMatch<'_>) -> Option<Action> {
    let raw = found.raw("text");
    let text = piece(raw)?;
    if text.starts_with('-') {
        return None;
    }
    // All of these mean the whole workspace.
    let whole = ["code", "files", "everything", "everywhere", "."];
    let folder = if found.has("folder") { Some(folder(found.raw("folder"))?) } else { None };
    Some(Action::Search { text, folder: folder.filter(|folder| !whole.contains(&folder.as_str())) })
}

pub(super) fn write(found: &PhraseMatch<'_>) -> Option<Action> {
    if !names_a_file(found, "file") {
        return None;
    }
    Some(Action::Write { file: name(found.raw("file"))?, text: content(found.raw("text"))? })
}

pub(super) fn append(found: &PhraseMatch<'_>) -> Option<Action> {
    if !names_a_file(found, "file") {
        return None;
    }
    let text = found.raw("text");
    // "add a line to notes.txt" does not contain the line.
    let nothing = ["a line", "a new line", "the line", "line", "text", "some text", "something"];
    if nothing.iter().any(|nothing| text.trim().eq_ignore_ascii_case(nothing)) {
        return None;
    }
    Some(Action::Append { file: name(found.raw("file"))?, text: content(text)? })
}

pub(super) fn replace(found: &PhraseMatch<'_>) -> Option<Action> {
    Some(Action::Replace {
        file: name(found.raw("file"))?,
        old: piece(found.raw("old"))?,
        new: piece(found.raw("new"))?,
        all: found.has("all"),
    })
}

/// A command of several lines must be in a block, because words after it do not belong to the command.
pub(super) fn run(found: &PhraseMatch<'_>) -> Option<Action> {
    let raw = found.raw("command").trim();
    if let Some(command) = fenced(raw).or_else(|| quoted_sentence(raw)) {
        let command = command.trim();
        let folder = if found.has("folder") { Some(folder(found.raw("folder"))?) } else { None };
        let folder = folder.filter(|folder| folder != ".");
        return (!command.is_empty()).then(|| Action::Run { command: command.to_owned(), folder });
    }
    let command = without_full_stop(raw);
    let first = command.split_whitespace().next()?.to_lowercase();
    let words = ["the", "a", "an", "my", "our", "your", "some", "all", "it", "this", "that", "these", "away"];
    // A text that begins with a backtick is a quoted command with words after it. A shell would run the output of the
    // command.
    let is_command = !command.contains('\n') && !command.starts_with('`') && !words.contains(&first.as_str());
    is_command.then(|| Action::Run { command: command.to_owned(), folder: None })
}

fn names_a_file(found: &PhraseMatch<'_>, group: &str) -> bool {
    found.has("kind") || looks_like_a_file(found.raw(group))
}
