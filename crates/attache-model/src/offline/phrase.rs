//! The ways to ask for something that needs a tool.
//!
//! Phrases are patterns, tried from the top. A space stands for any white space within a line, and a name in braces
//! for the pattern of that name in [`FRAGMENTS`].

mod builders;
mod table;

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::action::Action;
use super::wording::without_full_stop;
use builders::ActionBuilder;
use table::TABLE;

/// Parses one request.
pub(super) fn understand(text: &str) -> Option<Action> {
    // A full stop at the end of a sentence does not belong to a name. It may belong to a text.
    let sentence = without_full_stop(text);
    PHRASES.iter().find_map(|phrase| {
        let text = if phrase.ends_the_sentence { sentence } else { text };
        (phrase.make)(&PhraseMatch(phrase.pattern.captures(text)?))
    })
}

/// An example for the verb that a text begins with.
pub(super) fn example(text: &str) -> Option<&'static str> {
    let verb: String = text.chars().take_while(|letter| letter.is_alphabetic()).take(20).collect();
    let verb = verb.to_lowercase();
    EXAMPLES.iter().find(|(verbs, _)| verbs.contains(&verb.as_str())).map(|(_, example)| *example)
}

const EXAMPLES: &[(&[&str], &str)] = &[
    (&["list", "ls"], "list files in src"),
    (&["read", "show", "open", "cat", "view", "display", "print"], "read README.md"),
    (&["find", "locate"], "find *.rs"),
    (&["search", "grep", "look"], "search for main in src"),
    (&["write", "create", "make", "save", "put", "generate"], "create notes.txt with Buy milk"),
    (&["replace", "change", "edit", "substitute", "swap", "rename"], "replace milk with bread in notes.txt"),
    (&["append", "add"], "append Call mum to notes.txt"),
    (
        // Commands, and words that introduce one.
        &[
            "run", "execute", "exec", "cargo", "git", "npm", "python", "mkdir", "rm", "mv", "cp", "touch",
            "delete", "remove", "move", "copy",
        ],
        "run `cargo test`",
    ),
];

/// The groups of a phrase that matched.
struct PhraseMatch<'a>(Captures<'a>);

impl PhraseMatch<'_> {
    fn has(&self, group: &str) -> bool {
        self.0.name(group).is_some()
    }

    fn raw(&self, group: &str) -> &str {
        self.0.name(group).map(|found| found.as_str()).unwrap_or_default()
    }
}

/// A name is one word or quoted. A text is one line or quoted.
const NAME: &str = r#"(?:"[^"\n]+"|'[^'\n]+'|`[^`\n]+`|“[^”\n]+”|[^\s"'`“”]\S*?)"#;
const TEXT: &str = r#"(?:"[^"]+"|'[^']+'|`[^`]+`|“[^”]+”|.+?)"#;

const FRAGMENTS: &[(&str, &str)] = &[
    ("{show}", "(?:read|show|display|print|give|open|view|see)"),
    ("{create}", "(?:write|create|make|save|generate)"),
    ("{run}", "(?:run|execute|exec)"),
    ("{me}", "(?: me)?"),
    ("{which files}", "(?:which|what) (?:files and folders|files|folders)"),
    ("{what is}", "(?:(?:show|tell)(?: me)? )?what(?:'s| is) (?:in|inside)"),
    (
        "{files}",
        "(?:files(?: and (?:folders|directories))?|folders|directories|contents?|directory|folder|entries|everything)",
    ),
    (
        "{anywhere}",
        "(?: (?:in|across|of) (?:all )?(?:the |my )?(?:files|code)| {in}(?:the )?(?:file )?{the folder})?",
    ),
    ("{the folder}", "(?:the )?(?:folder |directory )?{folder}(?: folder| directory)?"),
    ("{in}", "(?:in|inside|under|below|within|from|of) "),
    ("{to}", "(?: )?(?:-|–|to|through|and)(?: )?"),
    ("{the end of}", "(?:the (?:end|bottom) of )?"),
    ("{the text}", "(?:the )?(?:(?:text|string|word|phrase) )?"),
    ("{all}", "(?<all>(?:all|every) (?:of )?(?:the )?(?:occurrences? of )?)?"),
    ("{thing}", "(?:the (?:text|word|line|string|phrase) )?"),
    ("{a file}", "(?:(?:a|an|the|my) )?(?:new )?(?:text )?(?<kind>file )?(?:(?:named|called) )?{file}"),
    ("{the file}", "(?:(?:the|my) )?(?<kind>file )?(?:(?:named|called) )?{file}(?: file)?"),
    ("{number}", "(?<first>[0-9]{1,6})"),
    ("{end}", r"(?:,? (?:please|for me))?\s*[?!]*$"),
    (" ", r"[ \t]+"),
    ("{file}", "(?<file>NAME)"),
    ("{folder}", "(?<folder>NAME)"),
    ("{pattern}", "(?<pattern>NAME)"),
    ("{text}", "(?<text>TEXT)"),
    ("{old}", "(?<old>TEXT)"),
    ("{new}", "(?<new>TEXT)"),
    ("{anything}", "(?<text>(?s:.+))"),
    ("{block}", r"[\x20\t]*\n?(?<text>(?s:.+))$"),
    ("NAME", NAME),
    ("TEXT", TEXT),
];

struct Phrase {
    pattern: Regex,
    make: ActionBuilder,
    ends_the_sentence: bool,
}

static PHRASES: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let compile = |phrase: &str| {
        let filled = FRAGMENTS
            .iter()
            .fold(phrase.to_owned(), |phrase, (name, fragment)| phrase.replace(name, fragment));
        Regex::new(&format!("(?i)^{filled}")).expect("the phrases are written down, and a test compiles them")
    };
    let phrase = |(phrase, make): &(&str, ActionBuilder)| Phrase {
        pattern: compile(phrase),
        make: *make,
        ends_the_sentence: phrase.ends_with("{end}"),
    };
    TABLE.iter().map(phrase).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_understood() {
        for (verbs, asked) in EXAMPLES {
            assert!(understand(asked).is_some(), "{asked}");
            assert_eq!(example(asked), Some(*asked));
            assert!(verbs.iter().all(|verb| example(&format!("{verb} x")) == Some(*asked)), "{asked}");
        }
        assert_eq!(example("Écrire x"), None);
    }
}
