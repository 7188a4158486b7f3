//! Parses the arguments of a subcommand as git does: options, their values, and operands.

use super::table::{Operands, OptionTable, TABLES};

/// The words that can be paths, of a subcommand that only reads. None for other subcommands and for options that are not in
/// the table, including abbreviated long options.
pub(super) fn paths<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    let table = TABLES.iter().find(|table| words.starts_with(table.name))?;
    let mut reader = Reader { table, rest: &words[table.name.len()..], paths: Vec::new() };
    let mut operands = false;
    let mut behind = false;
    while let Some(word) = reader.next() {
        match word {
            "--" => {
                operands |= !reader.rest.is_empty();
                reader.paths.extend(std::mem::take(&mut reader.rest));
            }
            long if long.starts_with("--") => {
                behind |= matches!(table.operands, Operands::Behind(names) if is_one(long.split('=').next()?, names));
                reader.long(long)?;
            }
            "-l" if matches!(table.operands, Operands::Behind(_)) => behind = true,
            short if short.len() > 1 && short.starts_with('-') => reader.short(&short[1..])?,
            operand => {
                operands = true;
                reader.paths.push(operand);
            }
        }
    }
    let fitting = match table.operands {
        Operands::Any => true,
        Operands::None => !operands,
        Operands::Behind(_) => !operands || behind,
    };
    fitting.then_some(reader.paths)
}

struct Reader<'a, 'w> {
    table: &'static OptionTable,
    rest: &'w [&'a str],
    paths: Vec<&'a str>,
}

impl<'a> Reader<'a, '_> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// The next word, as the value of an option. In case git parses it differently, it must be neither an option nor a path
    /// outside.
    fn value(&mut self) -> Option<&'a str> {
        let value = self.next().filter(|value| !value.starts_with('-'))?;
        self.paths.push(value);
        Some(value)
    }

    fn long(&mut self, word: &'a str) -> Option<()> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let among = |lists: &[&str]| lists.iter().any(|names| is_one(name, names));
        let known = match value {
            None if among(self.table.long) || among(self.table.long_optional) => true,
            None => among(self.table.long_valued) && self.value().is_some(),
            Some(_) => among(self.table.long_valued) || among(self.table.long_optional),
        };
        known.then_some(())
    }

    /// `letters` may be several options at once, and the last may have its value joined.
    fn short(&mut self, letters: &'a str) -> Option<()> {
        if self.table.numbers && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(());
        }
        for (at, letter) in letters.char_indices() {
            let value = &letters[at + letter.len_utf8()..];
            if self.table.short_optional.contains(letter) {
                return Some(());
            }
            if self.table.short_valued.contains(letter) {
                let value = if value.is_empty() { self.value()? } else { value };
                // `-L1,5:file` names a file.
                self.paths.extend((letter == 'L').then_some(value));
                return Some(());
            }
            self.table.short.contains(letter).then_some(())?;
        }
        Some(())
    }
}

fn is_one(name: &str, names: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}
