//! The answers of the offline model.

use attache_domain::{Message, Part, PartContent};

use super::fraction::FractionError;
use super::request::{MAX_COUNT, Request};
use super::result_summary::inline;
use crate::TurnFinish;

/// Text in chunks, then a finish.
pub(super) struct Reply {
    pub(super) pieces: Box<dyn Iterator<Item = String> + Send>,
    pub(super) finish: TurnFinish,
}

const HELP: &str = "I am the offline model. I understand plain requests.

With the files of the workspace (depending on your settings you are asked before anything is changed or run):
- list files in src (or just: list files)
- read README.md (or: show lines 1 to 20 of README.md)
- find *.rs (files by name; or: find files named README in docs)
- search for main in src (text in files; or: grep main)
- create notes.txt with Buy milk (or: write Buy milk to notes.txt; longer text after a colon or in a code block)
- replace milk with bread in notes.txt (or: change all milk to bread in notes.txt)
- append Call mum to notes.txt
- run `cargo test`
- @cli_help how do I add an MCP server? (asks another agent; cli_help knows attache)
Join several with \"then\", or write one on each line, or number them: each waits for the one before, and the first \
that fails is the last. Reading can be joined with \"and\": read README.md and LICENSE.

With words and numbers:
- help
- hello
- who are you
- echo TEXT (or: repeat, say)
- count words in TEXT, count characters in TEXT, count lines in TEXT
- reverse TEXT, upper TEXT, lower TEXT
- sort ITEM, ITEM, ITEM
- count to NUMBER
- what is 12 * 7 (with + - * / and parentheses, or: add 3 and 4)
- ask me something";

const INTRODUCTION: &str = "I am attache's offline model: built in, always the same, and good for trying things \
out. I am not a language model, but I can use the tools: files, searches and commands. Say \"help\" to see what I \
understand.";

const UNKNOWN: &str = "I am the offline model, which is built in and no language model, and I did not understand this. \
I can list, read, find, search, write and edit files, run commands, count and do sums; say \"help\" for the whole \
list. For a language model set GEMINI_API_KEY, or another provider's key, where attache runs, and name no other model \
or that one with `--model`; `--model script:FILE` plays answers that you write yourself.";

/// The minimum number of words of a chunk.
const WORDS_IN_A_PIECE: usize = 6;
/// The maximum number of chunks of an answer.
const MAX_PIECES: usize = 50;
/// Longer texts are cut, because a task's log is bounded.
const MAX_TEXT_BYTES: usize = 256 * 1024;

impl Reply {
    pub(super) fn to(request: &Request<'_>) -> Self {
        match request {
            Request::Help => Self::text(HELP),
            Request::Greet => {
                Self::text("Hello! I am the offline model. Say \"help\" to see what I understand.")
            }
            Request::Introduce => Self::text(INTRODUCTION),
            Request::Thank => Self::text("You are welcome."),
            Request::Echo(text) => Self::text(bounded(text)),
            Request::CountWords(text) => Self::count(text.split_whitespace().count(), "word"),
            Request::CountCharacters(text) => Self::count(text.chars().count(), "character"),
            Request::CountLines(text) => Self::count(text.lines().count(), "line"),
            Request::Reverse(text) => Self::text(&bounded(text).chars().rev().collect::<String>()),
            Request::Upper(text) => Self::text(&bounded(text).to_uppercase()),
            Request::Lower(text) => Self::text(&bounded(text).to_lowercase()),
            Request::Sort(items) => Self::text(&sorted(items)),
            Request::CountTo(None) => Self::text(&format!("I count to any number from 1 to {MAX_COUNT}.")),
            Request::CountTo(Some(most)) => Self::counting(*most),
            Request::Calculate(Ok(value)) => Self::text(&format!("That is {value}.")),
            Request::Calculate(Err(FractionError::DivisionByZero)) => {
                Self::text("That divides by zero, so it has no value.")
            }
            Request::Calculate(Err(FractionError::Overflow)) => {
                Self::text("Those numbers are too large for me.")
            }
            Request::AskMe => Self {
                pieces: Box::new(std::iter::empty()),
                finish: TurnFinish::InputRequired { question: Some("What is your favourite colour?".into()) },
            },
            Request::Answer(text) => Self::text(&format!(
                "You answered: {}. Thank you, that is all I wanted to know.",
                bounded(text)
            )),
            Request::Unknown => Self::text(UNKNOWN),
        }
    }

    /// Reports that a message was not understood, with a similar example.
    pub(super) fn unknown(part: Option<&str>, example: Option<&str>) -> Self {
        let mut text = UNKNOWN.to_owned();
        if let Some(part) = part {
            let part = inline(part);
            text = format!("I did not understand this part of your list, so I did nothing: {part}\n\n{text}");
        }
        if let Some(example) = example {
            text.push_str(&format!(" What I do understand looks like this: {example}"));
        }
        Self::text(&text)
    }

    /// Mentions files and data of the message first, if there are any.
    pub(super) fn acknowledging(self, message: &Message) -> Self {
        let Some(note) = attachments(&message.parts) else { return self };
        Self { pieces: Box::new(std::iter::once(note).chain(self.pieces)), ..self }
    }

    fn text(text: &str) -> Self {
        Self {
            pieces: Box::new(word_groups(text).into_iter()),
            finish: TurnFinish::Completed { status: None },
        }
    }

    fn count(number: usize, thing: &str) -> Self {
        let plural = if number == 1 { "" } else { "s" };
        Self::text(&format!("{number} {thing}{plural}."))
    }

    fn counting(most: u32) -> Self {
        let piece = move |number: u32| if number == most { number.to_string() } else { format!("{number} ") };
        Self { pieces: Box::new((1..=most).map(piece)), finish: TurnFinish::Completed { status: None } }
    }
}

fn sorted(items: &[&str]) -> String {
    let mut items = items.to_vec();
    // Sorts letters before their case, as a dictionary does.
    items.sort_by_cached_key(|item| (item.to_lowercase(), item.to_string()));
    bounded(&items.join(", ")).to_owned()
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// Splits between words. The pieces joined are the text.
pub(super) fn word_groups(text: &str) -> Vec<String> {
    let words = text.split_inclusive(char::is_whitespace).count();
    let size = WORDS_IN_A_PIECE.max(words.div_ceil(MAX_PIECES));
    let mut pieces = Vec::new();
    for (place, word) in text.split_inclusive(char::is_whitespace).enumerate() {
        match pieces.last_mut() {
            Some(piece) if place % size != 0 => String::push_str(piece, word),
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}

fn attachments(parts: &[Part]) -> Option<String> {
    let mut files = Vec::new();
    let mut data = 0;
    for part in parts {
        match &part.content {
            PartContent::Text(_) => {}
            PartContent::Raw(_) | PartContent::Url(_) => {
                files.push(part.filename.as_deref().unwrap_or("unnamed"))
            }
            PartContent::Data(_) => data += 1,
        }
    }
    let mut seen = Vec::new();
    if let Some(first) = files.first() {
        let name: String = first.chars().take(100).collect();
        seen.push(match files.len() {
            1 => format!("your file ({name})"),
            more => format!("your {more} files ({name} and others)"),
        });
    }
    match data {
        0 => {}
        1 => seen.push("your data".to_owned()),
        more => seen.push(format!("your {more} pieces of data")),
    }
    (!seen.is_empty())
        .then(|| format!("Thank you for {}; the offline model cannot look inside. ", seen.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_put_together_are_the_text() {
        let long = "word ".repeat(5000);
        for text in ["", "one", " a  b\nc d e f g h ", HELP, &long] {
            let pieces = word_groups(text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() <= MAX_PIECES + 1);
            assert!(pieces.iter().all(|piece| !piece.is_empty()));
        }
    }
}
