//! Removes the quotes of a word.

use super::ShellWord;

/// The value of one word of a line.
pub(super) fn decode(raw: &str) -> ShellWord {
    let mut decoder = Decoder { rest: raw, text: String::new(), pattern: false };
    if raw.starts_with('~') || braces_expand(raw) {
        return ShellWord::Unknown;
    }
    match decoder.word() {
        None => ShellWord::Unknown,
        Some(()) if decoder.pattern => ShellWord::Pattern(decoder.text),
        Some(()) => ShellWord::Text(decoder.text),
    }
}

/// Whether unquoted braces make several words of this one.
fn braces_expand(raw: &str) -> bool {
    raw.contains('{') && (raw.contains(',') || raw.contains("..")) && raw != "{}"
}

struct Decoder<'a> {
    rest: &'a str,
    text: String,
    pattern: bool,
}

impl Decoder<'_> {
    /// None when a part is known only at run time.
    fn word(&mut self) -> Option<()> {
        while let Some(letter) = self.next() {
            match letter {
                '\'' => self.single()?,
                '"' => self.double()?,
                '\\' => match self.next()? {
                    '\n' => {}
                    letter => self.text.push(letter),
                },
                '$' if self.rest.starts_with('\'') => {
                    self.next();
                    self.ansi()?;
                }
                '$' if self.expands() || self.rest.starts_with('"') => return None,
                '`' => return None,
                // No part of a word: the grammar took too much for one.
                '<' | '>' | '(' | ')' | ';' | '&' | '|' | ' ' | '\t' | '\n' => return None,
                '*' | '?' | '[' => {
                    self.pattern |= !(letter == '[' && self.rest.is_empty() && self.text.is_empty());
                    self.text.push(letter);
                }
                letter => self.text.push(letter),
            }
        }
        Some(())
    }

    fn single(&mut self) -> Option<()> {
        let end = self.rest.find('\'')?;
        self.text.push_str(&self.rest[..end]);
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    fn double(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                '"' => return Some(()),
                '`' => return None,
                '$' if self.expands() => return None,
                '\\' => match self.next()? {
                    '\n' => {}
                    letter @ ('$' | '`' | '"' | '\\') => self.text.push(letter),
                    letter => self.text.extend(['\\', letter]),
                },
                letter => self.text.push(letter),
            }
        }
    }

    fn ansi(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                '\'' => return Some(()),
                '\\' => {
                    let letter = self.ansi_escape()?;
                    self.text.push(letter);
                }
                letter => self.text.push(letter),
            }
        }
    }

    fn ansi_escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            letter @ ('\\' | '\'' | '"' | '?') => letter,
            'x' => self.digits(16, 2, 0)?,
            'u' => self.digits(16, 4, 0)?,
            'U' => self.digits(16, 8, 0)?,
            letter @ '0'..='7' => self.digits(8, 2, letter.to_digit(8)?)?,
            _ => return None,
        })
    }

    /// None for NUL, which would end the word early, and for invalid code points.
    fn digits(&mut self, radix: u32, most: usize, first: u32) -> Option<char> {
        let mut value = first;
        for _ in 0..most {
            let Some(digit) = self.rest.chars().next().and_then(|letter| letter.to_digit(radix)) else {
                break;
            };
            value = value * radix + digit;
            self.next();
        }
        char::from_u32(value).filter(|letter| *letter != '\0' && (most > 2 || letter.is_ascii()))
    }

    fn expands(&self) -> bool {
        self.rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || "_({[@*#?$!-".contains(letter))
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }
}
