//! The form of commands that an "always" answer allows, narrow enough for one sentence.

use std::fmt;

/// Which commands a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandShape {
    /// Exactly these words.
    Line(Vec<String>),
    /// The same program and subcommand with the same options.
    Like(CommandPattern),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandPattern {
    /// The program and its subcommand, as they are written.
    pub words: Vec<String>,
    /// All options as written, sorted, each once. A command must have exactly these.
    pub options: Vec<String>,
    /// Arguments that mean more than a name, such as addresses: only these are allowed; all of them where no others are.
    pub fixed: Vec<String>,
    /// Whether other arguments are allowed, as long as they stay inside the workspace.
    pub inside: bool,
}

/// The question itself shows the whole line.
const MAX_SHOWN: usize = 200;

/// The word quoted for a shell, on one line.
fn in_quotes(word: &str) -> String {
    let word = word.replace('\n', "\\n").replace('\t', "\\t");
    if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word }
}

/// What is allowed, as a noun phrase for people.
impl fmt::Display for CommandShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let like = match self {
            Self::Line(words) => {
                let line = words.iter().map(|word| in_quotes(word)).collect::<Vec<_>>().join(" ");
                return match line.len() {
                    ..=MAX_SHOWN => write!(formatter, "exactly `{line}`"),
                    _ => formatter.write_str("exactly this command"),
                };
            }
            Self::Like(like) => like,
        };
        write!(formatter, "`{}`", like.words.join(" "))?;
        match like.options.as_slice() {
            [] => formatter.write_str(" without options")?,
            [option] => write!(formatter, " with the option {option}")?,
            options => write!(formatter, " with the options {}", options.join(", "))?,
        }
        if !like.fixed.is_empty() {
            let fixed: Vec<String> = like.fixed.iter().map(|word| in_quotes(word)).collect();
            write!(formatter, ", for {}", fixed.join(", "))?;
        }
        match (like.inside, like.fixed.is_empty()) {
            (true, _) => formatter.write_str(" and any arguments that stay in this workspace"),
            (false, true) => formatter.write_str(" and without arguments"),
            (false, false) => Ok(()),
        }
    }
}
