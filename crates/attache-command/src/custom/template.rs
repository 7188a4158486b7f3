//! Prompts with placeholders: `{{args}}`, `!{command}` and `@{path}`.
//!
//! Pure. Braces inside a place have to balance.

use super::quoting::{QuoteTracker, Quoting, quoted};

pub(crate) const ARGUMENTS: &str = "{{args}}";
const MAX_COMMANDS: usize = 32;
const MAX_FILES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<TemplatePart>,
    /// Do the arguments have a place? If not, they go to the end.
    pub(crate) places_arguments: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplatePart {
    Text(String),
    /// As they were written.
    Arguments,
    /// What is in this file.
    File(String),
    /// What this command writes.
    Command(ShellLine),
}

/// A command with places for the arguments, each with the quotes it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellLine {
    first: String,
    others: Vec<(Quoting, String)>,
}

impl Template {
    /// What is wrong comes back as words, with what would be right.
    pub(crate) fn parse(prompt: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = prompt;
        while let Some((at, opening)) = next_place(rest) {
            push_text(&mut pieces, &rest[..at]);
            let from = &rest[at..];
            let inside = &from[opening.len()..];
            if opening == ARGUMENTS {
                pieces.push(TemplatePart::Arguments);
                rest = inside;
                continue;
            }
            let end = closing(inside).ok_or_else(|| {
                let what = format!("`{opening}` is not closed; every `{{` after it needs its `}}`");
                at_line(prompt, from, &what)
            })?;
            let piece = place(opening, &inside[..end]).map_err(|what| at_line(prompt, from, &what))?;
            pieces.extend(piece);
            rest = &inside[end + 1..];
        }
        push_text(&mut pieces, rest);
        let template = Self { places_arguments: prompt.contains(ARGUMENTS), pieces };
        template.check()?;
        Ok(template)
    }

    /// The commands to run, in order.
    pub(crate) fn commands(&self, arguments: &str) -> Vec<String> {
        let fill = |piece: &TemplatePart| match piece {
            TemplatePart::Command(line) => Some(line.fill(arguments)),
            _ => None,
        };
        self.pieces.iter().filter_map(fill).collect()
    }

    /// The commands as written in the file.
    pub(crate) fn programs(&self) -> Vec<String> {
        let written = |piece: &TemplatePart| match piece {
            TemplatePart::Command(line) => Some(line.written()),
            _ => None,
        };
        self.pieces.iter().filter_map(written).collect()
    }

    fn check(&self) -> Result<(), String> {
        let commands = self.pieces.iter().filter(|piece| matches!(piece, TemplatePart::Command(_))).count();
        let files = self.pieces.iter().filter(|piece| matches!(piece, TemplatePart::File(_))).count();
        if commands > MAX_COMMANDS {
            return Err(format!("there are {commands} places `!{{…}}`; have at most {MAX_COMMANDS}"));
        }
        if files > MAX_FILES {
            return Err(format!("there are {files} places `@{{…}}`; have at most {MAX_FILES}"));
        }
        Ok(())
    }
}

impl ShellLine {
    fn parse(line: &str) -> Result<Self, String> {
        let mut quotes = QuoteTracker::default();
        let mut pieces = line.split(ARGUMENTS);
        let first = pieces.next().unwrap_or_default();
        quotes.read(first);
        let mut others = Vec::new();
        for piece in pieces {
            others.push((quotes.quoting()?, piece.to_owned()));
            quotes.read_word();
            quotes.read(piece);
        }
        Ok(Self { first: first.to_owned(), others })
    }

    fn written(&self) -> String {
        let others = self.others.iter().flat_map(|(_, text)| [ARGUMENTS, text.as_str()]);
        std::iter::once(self.first.as_str()).chain(others).collect()
    }

    pub(crate) fn fill(&self, arguments: &str) -> String {
        let mut line = self.first.clone();
        for (place, text) in &self.others {
            line.push_str(&quoted(arguments, *place));
            line.push_str(text);
        }
        line
    }
}

/// An empty placeholder is replaced by nothing.
fn place(opening: &str, content: &str) -> Result<Option<TemplatePart>, String> {
    let trimmed = content.trim();
    // The blank at the end may be one that a backslash keeps.
    let content = if trimmed.ends_with('\\') { content } else { trimmed };
    match opening {
        _ if trimmed.is_empty() => Ok(None),
        "@{" => Ok(Some(TemplatePart::File(trimmed.to_owned()))),
        _ => ShellLine::parse(content).map(|line| Some(TemplatePart::Command(line))),
    }
}

/// What is wrong where `from`, the end of the prompt, begins.
fn at_line(prompt: &str, from: &str, what: &str) -> String {
    let line = prompt[..prompt.len() - from.len()].matches('\n').count() + 1;
    format!("line {line}: {what}")
}

fn push_text(pieces: &mut Vec<TemplatePart>, text: &str) {
    if !text.is_empty() {
        pieces.push(TemplatePart::Text(text.to_owned()));
    }
}

/// The first place, and how it begins.
fn next_place(text: &str) -> Option<(usize, &'static str)> {
    let mut braces = text.match_indices('{');
    braces.find_map(|(at, _)| {
        if text[at..].starts_with(ARGUMENTS) {
            return Some((at, ARGUMENTS));
        }
        match text[..at].chars().next_back() {
            Some('!') => Some((at - 1, "!{")),
            Some('@') => Some((at - 1, "@{")),
            _ => None,
        }
    })
}

/// Where the brace is that closes what was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
