//! Quotes arguments for shell commands, so that each stays one word.
//!
//! The quotes that a place stands in are followed as far as that is simple. Where it is not (in a comment, behind a here
//! document, inside of what is expanded in double quotes), there is no place for arguments.

/// How a place is quoted by the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    Bare,
    InDouble,
    InSingle,
}

/// The word, with quotes that fit its place; nothing for no word.
pub(crate) fn quoted(word: &str, place: Quoting) -> String {
    if word.is_empty() {
        return String::new();
    }
    let bare = format!("'{}'", word.replace('\'', r"'\''"));
    // Quotes around are closed before the word and opened again behind it.
    match place {
        Quoting::Bare => bare,
        Quoting::InDouble => format!("\"{bare}\""),
        Quoting::InSingle => format!("'{bare}'"),
    }
}

/// Follows the quotes of a command from its beginning.
#[derive(Debug)]
pub(crate) struct QuoteTracker {
    state: State,
    /// The letter before, or a blank at the beginning.
    before: char,
    /// Something came by that is not followed.
    lost: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Bare,
    BareEscape,
    Single,
    /// `$'…'`, which has escapes of its own.
    DollarSingle,
    DollarSingleEscape,
    Double,
    DoubleEscape,
    Comment,
    /// `${name}`, and whether it stands in double quotes.
    Name {
        in_double: bool,
    },
}

impl Default for QuoteTracker {
    fn default() -> Self {
        Self { state: State::Bare, before: ' ', lost: None }
    }
}

impl QuoteTracker {
    pub(crate) fn read(&mut self, text: &str) {
        for letter in text.chars() {
            self.step(letter);
        }
    }

    /// The arguments stand here: a word that does not change the quoting.
    pub(crate) fn read_word(&mut self) {
        self.before = '\'';
    }

    /// How a word is quoted here, or why none can be.
    pub(crate) fn quoting(&self) -> Result<Quoting, String> {
        let place = match (self.lost, self.state) {
            (Some(what), _) => Err(what),
            (None, State::Bare | State::Double) if self.before == '$' => Err("right behind a `$`"),
            (None, State::Bare) => Ok(Quoting::Bare),
            (None, State::Double) => Ok(Quoting::InDouble),
            (None, State::Single) => Ok(Quoting::InSingle),
            (None, State::BareEscape | State::DoubleEscape) => Err("right behind a backslash"),
            (None, State::DollarSingle | State::DollarSingleEscape) => Err("inside of `$'…'`"),
            (None, State::Comment) => Err("in a comment"),
            (None, State::Name { .. }) => Err("inside of `${…}`"),
        };
        place.map_err(|what| {
            format!(
                "`{{{{args}}}}` stands {what}, where what people write could run as a command; \
                 put it earlier, as a word of its own without quotes"
            )
        })
    }

    fn step(&mut self, letter: char) {
        let before = std::mem::replace(&mut self.before, letter);
        self.state = match self.state {
            State::Bare => self.bare(before, letter),
            State::Double => self.double(before, letter),
            State::BareEscape => {
                // An escaped line end continues the line; any other escaped letter is literal.
                self.before = if letter == '\n' { before } else { 'x' };
                State::Bare
            }
            State::DoubleEscape => {
                self.before = 'x';
                State::Double
            }
            State::Single if letter == '\'' => State::Bare,
            State::DollarSingle if letter == '\'' => State::Bare,
            State::DollarSingle if letter == '\\' => State::DollarSingleEscape,
            State::DollarSingleEscape => State::DollarSingle,
            State::Comment if letter == '\n' => State::Bare,
            State::Name { in_double } => self.name(in_double, letter),
            unchanged => unchanged,
        };
    }

    fn bare(&mut self, before: char, letter: char) -> State {
        match (before, letter) {
            (_, '\\') => {
                // The letter before the backslash counts if the backslash only continues the line.
                self.before = before;
                return State::BareEscape;
            }
            ('$', '$') => self.before = 'x',
            ('$', '\'') => return State::DollarSingle,
            (_, '\'') => return State::Single,
            (_, '"') => return State::Double,
            ('$', '{') => return State::Name { in_double: false },
            (' ' | '\t' | '\n' | ';', '#') => return State::Comment,
            // Such as `$(x)#`, which goes on, and `(x)#`, which does not.
            (before, '#') if !before.is_alphanumeric() && !"$'\"".contains(before) => {
                self.lost = Some("behind what may be a comment");
            }
            (_, '`') => self.lost = Some("behind a backtick"),
            ('<', '<') => self.lost = Some("behind `<<`"),
            ('(', '(') | ('$', '[') => self.lost = Some("behind something that is calculated"),
            _ => {}
        }
        State::Bare
    }

    fn double(&mut self, before: char, letter: char) -> State {
        match (before, letter) {
            (_, '\\') => return State::DoubleEscape,
            (_, '"') => return State::Bare,
            ('$', '$') => self.before = 'x',
            ('$', '{') => return State::Name { in_double: true },
            ('$', '(' | '[') | (_, '`') => self.lost = Some("behind a command in double quotes"),
            _ => {}
        }
        State::Double
    }

    /// Only plain names are followed: `${name:-…}` holds words with quotes of their own.
    fn name(&mut self, in_double: bool, letter: char) -> State {
        match letter {
            '}' if in_double => return State::Double,
            '}' => return State::Bare,
            letter if letter.is_ascii_alphanumeric() || letter == '_' => {}
            _ => self.lost = Some("behind a `${…}` that is more than a name"),
        }
        State::Name { in_double }
    }
}
