//! Text that a person approves, with every character that could hide or disguise something written out.
//!
//! A hidden character is shown as `\u{…}` with its number in hexadecimal, as Rust writes it: an escape character is
//! `\u{1b}`, a carriage return `\u{d}`. Nothing is removed, because a shell still runs what a terminal does not draw.
//! Backslashes are left alone, except directly before an escape or before the letters `u{`: there every backslash is
//! doubled, so that a text with a written escape differs from one with the character itself. Two different texts are
//! therefore never shown alike.
//!
//! [`visible`] is for text in lines and keeps line feeds and tabs; [`visible_line`] is for names and keeps neither.
//! [`terminal_safe`] is for the words of a model, which are read and not approved: it leaves out the joiners and spaces
//! that some languages and emoji need, and may be applied piece by piece.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::Value;

use crate::hidden_characters::turns_direction;
use crate::{Preview, Proposal, is_hidden};

/// `text` in lines, with all that is not plainly visible written out.
///
/// ```
/// use attache_domain::visible;
///
/// assert_eq!(visible("ls src\u{1b}]; touch P; :\u{7}"), r"ls src\u{1b}]; touch P; :\u{7}");
/// assert_eq!(visible("a\tb\nc"), "a\tb\nc");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    escape_hidden(text, |character| is_hidden(character) && !matches!(character, '\n' | '\t'))
}

/// The same on one line: line feeds and tabs are written out, too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escape_hidden(text, is_hidden)
}

/// Text that a terminal prints without being steered by it. Every character is written by itself, so the pieces of a text
/// may be given one after the other.
pub fn terminal_safe(text: &str) -> Cow<'_, str> {
    let steers = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t')) || turns_direction(character)
    };
    escape_each(text, steers)
}

/// `text` in lines, which the program that sent it may have made [`visible`] before: what is hidden is written out, and
/// what is written out stays unchanged.
pub fn visible_again(text: &str) -> Cow<'_, str> {
    escape_each(text, |character| is_hidden(character) && !matches!(character, '\n' | '\t'))
}

/// Every text in `value`, also the names of members, as [`visible`] shows it.
pub fn visible_value(value: &Value) -> Value {
    each_text(value, visible)
}

/// Every text in `value`, also the names of members, as [`terminal_safe`] shows it.
pub fn terminal_safe_value(value: &Value) -> Value {
    each_text(value, terminal_safe)
}

fn each_text(value: &Value, show: fn(&str) -> Cow<'_, str>) -> Value {
    match value {
        Value::String(text) => show(text).into_owned().into(),
        Value::Array(items) => items.iter().map(|item| each_text(item, show)).collect(),
        Value::Object(members) => {
            let shown = members.iter().map(|(name, value)| (show(name).into_owned(), each_text(value, show)));
            Value::Object(shown.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

impl Proposal {
    /// What a person is shown of it holds hidden characters, so that it can only be approved once and unchanged.
    pub fn has_hidden_characters(&self) -> bool {
        let line = |text: &str| text.contains(is_hidden);
        let lines = |text: &str| text.contains(|it| is_hidden(it) && !matches!(it, '\n' | '\t'));
        match &self.shown {
            // A file may end its lines as Windows does; its diff shows that, and "always" says nothing about content.
            Preview::Edit { path, diff, .. } => {
                line(&path.to_string_lossy())
                    || diff.split('\n').any(|it| lines(it.strip_suffix('\r').unwrap_or(it)))
            }
            Preview::Exec { command, directory, .. } => lines(command) || line(&directory.to_string_lossy()),
            Preview::Mcp { server, tool, title, address } => {
                [server, tool, title].into_iter().chain(address).any(|text| line(text))
                    || self.input.iter().any(|(name, value)| line(name) || value_hides(value))
            }
            Preview::Info { prompt, urls } => lines(prompt) || urls.iter().any(|url| line(url)),
            Preview::Agent { agent, url, prompt, files } => {
                lines(prompt) || [agent, url].into_iter().chain(files).any(|text| line(text))
            }
            Preview::Plain { summary } => lines(summary),
            Preview::Questions { .. } => false,
        }
    }
}

fn value_hides(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(|it| is_hidden(it) && !matches!(it, '\n' | '\t')),
        Value::Array(items) => items.iter().any(value_hides),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains(is_hidden) || value_hides(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn escape_hidden(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hides) && !text.contains(r"\u{") {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    // Backslashes that were read and not written yet.
    let mut backslashes = 0;
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character == '\\' {
            backslashes += 1;
            continue;
        }
        let hidden = hides(character);
        let looks_written_out = character == 'u' && rest.as_str().starts_with('{');
        let each = if hidden || looks_written_out { 2 } else { 1 };
        shown.extend(std::iter::repeat_n('\\', backslashes * each));
        backslashes = 0;
        if hidden { push_escape(character, &mut shown) } else { shown.push(character) }
    }
    shown.extend(std::iter::repeat_n('\\', backslashes));
    shown.into()
}

fn escape_each(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hides) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hides(character) { push_escape(character, &mut shown) } else { shown.push(character) }
    }
    shown.into()
}

fn push_escape(character: char, shown: &mut String) {
    let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
}

#[cfg(test)]
mod tests;
