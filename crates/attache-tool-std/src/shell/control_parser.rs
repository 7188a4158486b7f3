//! Parses terminal output: text and cursor movements. Colours, titles and other sequences are dropped.

/// One change of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TerminalPiece<'a> {
    Text(&'a str),
    NewLine,
    Return,
    Up(usize),
    Down(usize),
    Right(usize),
    Left(usize),
    /// To this column, from 0.
    Column(usize),
    /// To this row and column of the screen, from 0.
    Place(usize, usize),
    EraseLine(EraseRange),
    EraseScreen(EraseRange),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EraseRange {
    After,
    Before,
    All,
}

/// Parses control sequences, also across reads.
#[derive(Debug, Default)]
pub(super) struct ControlParser {
    state: State,
    /// The last character was a carriage return. Before a line feed it has no meaning, because terminals add it to
    /// every line.
    returned: bool,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Text,
    Escape,
    /// After ESC and a character that is followed by one more.
    OneMore,
    /// In a sequence with these parameters so far.
    Sequence(String),
    /// In a title or another string, up to its end.
    Words {
        escape: bool,
    },
}

/// Longer sequences are dropped.
const MAX_PARAMETERS: usize = 64;

impl ControlParser {
    pub(super) fn read<'a>(&mut self, text: &'a str, put: &mut impl FnMut(TerminalPiece<'a>)) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Text {
                if std::mem::take(&mut self.returned) && !rest.starts_with('\n') {
                    put(TerminalPiece::Return);
                }
                let plain = rest.bytes().position(is_control).unwrap_or(rest.len());
                if plain > 0 {
                    put(TerminalPiece::Text(&rest[..plain]));
                    rest = &rest[plain..];
                    continue;
                }
            }
            let Some(character) = rest.chars().next() else { return };
            let (one, others) = rest.split_at(character.len_utf8());
            rest = others;
            self.step(character, one, put);
        }
    }

    fn step<'a>(&mut self, character: char, text: &'a str, put: &mut impl FnMut(TerminalPiece<'a>)) {
        self.state = match (std::mem::take(&mut self.state), character) {
            (State::Words { .. }, '\x07' | '\u{9c}') => State::Text,
            (State::Words { escape: true }, '\\') => State::Text,
            (State::Words { .. }, '\x1b') => State::Words { escape: true },
            (State::Words { .. }, _) => State::Words { escape: false },
            (_, '\x1b') => State::Escape,
            (State::Escape, '[') => State::Sequence(String::new()),
            (State::Escape, ']' | 'P' | '_' | '^' | 'X') => State::Words { escape: false },
            (State::Escape, ' '..='/') => State::OneMore,
            (State::Escape | State::OneMore, _) => State::Text,
            (State::Sequence(mut parameters), ' '..='?') => {
                if parameters.len() < MAX_PARAMETERS {
                    parameters.push(character);
                }
                State::Sequence(parameters)
            }
            (State::Sequence(parameters), '@'..='~') => {
                sequence(&parameters, character).into_iter().for_each(put);
                State::Text
            }
            (State::Sequence(_) | State::Text, '\r') => {
                self.returned = true;
                State::Text
            }
            (State::Sequence(_) | State::Text, _) => {
                single(character, text).into_iter().for_each(put);
                State::Text
            }
        };
    }
}

fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0a..=0x1f | 0x7f)
}

fn single(character: char, text: &str) -> Option<TerminalPiece<'_>> {
    match character {
        '\n' | '\x0b' | '\x0c' => Some(TerminalPiece::NewLine),
        '\x08' => Some(TerminalPiece::Left(1)),
        control if u8::try_from(control).is_ok_and(is_control) => None,
        _ => Some(TerminalPiece::Text(text)),
    }
}

fn sequence(parameters: &str, last: char) -> Option<TerminalPiece<'static>> {
    let number = |index: usize| parameters.split(';').nth(index).and_then(|text| text.parse::<usize>().ok());
    let count = number(0).unwrap_or(1).max(1);
    let erased = || match number(0).unwrap_or(0) {
        0 => EraseRange::After,
        1 => EraseRange::Before,
        _ => EraseRange::All,
    };
    Some(match last {
        'A' | 'F' => TerminalPiece::Up(count),
        'B' | 'E' => TerminalPiece::Down(count),
        'C' => TerminalPiece::Right(count),
        'D' => TerminalPiece::Left(count),
        'G' => TerminalPiece::Column(count - 1),
        'H' | 'f' => TerminalPiece::Place(count - 1, number(1).unwrap_or(1).max(1) - 1),
        'K' => TerminalPiece::EraseLine(erased()),
        'J' => TerminalPiece::EraseScreen(erased()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[TerminalPiece<'_>]) {
        let mut controls = ControlParser::default();
        let mut found = Vec::new();
        for text in pieces {
            controls.read(text, &mut |piece| found.push(piece));
        }
        assert_eq!(found, expected, "{pieces:?}");
    }

    #[test]
    fn colours_and_titles_are_dropped() {
        check(&["\x1b[1;31mred\x1b[0m"], &[TerminalPiece::Text("red")]);
        check(
            &["\x1b]0;title\x07a\x1b]8;;link\x1b\\b"],
            &[TerminalPiece::Text("a"), TerminalPiece::Text("b")],
        );
        check(&["\x1b(Ba\x1b=b"], &[TerminalPiece::Text("a"), TerminalPiece::Text("b")]);
    }

    #[test]
    fn a_cut_sequence_goes_on_in_the_next_piece() {
        check(&["a\x1b", "[3", "1mb"], &[TerminalPiece::Text("a"), TerminalPiece::Text("b")]);
    }

    #[test]
    fn movements_are_told() {
        check(
            &["\x1b[2A\x1b[K\r", "\n"],
            &[TerminalPiece::Up(2), TerminalPiece::EraseLine(EraseRange::After), TerminalPiece::NewLine],
        );
        check(&["\r", "a"], &[TerminalPiece::Return, TerminalPiece::Text("a")]);
        check(&["\x1b[2J\x1b[H"], &[TerminalPiece::EraseScreen(EraseRange::All), TerminalPiece::Place(0, 0)]);
    }

    #[test]
    fn tabs_are_text_and_bells_are_nothing() {
        check(&["a\tb\x07"], &[TerminalPiece::Text("a\tb")]);
    }
}
