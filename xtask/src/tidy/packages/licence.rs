//! Reads a crate's licence expression: names with `AND`, `OR`, `WITH` and parentheses.

use std::collections::BTreeSet;

/// Can `expression` be met with the `allowed` licences alone? What cannot be read is not allowed.
pub(super) fn allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // Old manifests write `MIT/Apache-2.0` for a choice.
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    reader.choice() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn choice(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.choice()?;
            return self.take(")").then_some(met);
        }
        let name = self.word()?;
        if self.take("WITH") {
            let exception = self.word()?;
            return Some(self.allowed.contains(&format!("{name} WITH {exception}")));
        }
        Some(self.allowed.contains(name))
    }

    fn word(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let list = ["MIT", "BSD-3-Clause", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        assert_eq!(allowed(expression, &list.into()), expected, "{expression}");
    }

    #[test]
    fn an_expression_is_met_by_the_list_or_not() {
        check("MIT", true);
        check("GPL-3.0", false);
        check("GPL-3.0 OR MIT", true);
        check("GPL-3.0/MIT", true);
        check("MIT AND GPL-3.0", false);
        check("(GPL-3.0 OR MIT) AND BSD-3-Clause", true);
        check("GPL-3.0 OR MIT AND GPL-2.0", false);
        check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
        check("Apache-2.0", false);
    }

    #[test]
    fn what_cannot_be_read_is_not_allowed() {
        check("", false);
        check("MIT OR", false);
        check("(MIT", false);
        check("MIT MIT", false);
    }
}
