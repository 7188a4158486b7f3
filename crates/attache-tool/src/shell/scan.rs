//! A lexer for words, quotes and operators of a bash line.
//!
//! It checks the grammar's result, so it is strict: it gives up on anything that it does not know exactly.

/// The class of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Blank,
    Newline,
    /// A backslash at the end of a line, and that end.
    Joined,
    /// One of `;&|()<>`, unquoted.
    Operator,
    Text,
    /// A backslash and the escaped byte.
    Escape,
    Single,
    Double,
    Ansi,
    /// `$x`, `${x}`, `$((1))`, and what opens and closes a substitution.
    Expansion,
    Comment,
    /// A here-document: its delimiters and its text.
    Heredoc,
}

/// The class of every byte; none when the line has something unknown.
pub(super) fn scan(line: &str) -> Option<Vec<Class>> {
    let mut scanner = Scanner {
        bytes: line.as_bytes(),
        classes: Vec::with_capacity(line.len()),
        pending: vec![],
        depth: 0,
    };
    scanner.commands(ScanEnd::End)?;
    (scanner.pending.is_empty() && scanner.classes.len() == line.len()).then_some(scanner.classes)
}

/// Nesting of substitutions.
const MAX_DEPTH: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScanEnd {
    End,
    /// The `)` that closes a substitution.
    Paren,
    /// The backtick at this place.
    Backtick(usize),
}

struct PendingHeredoc {
    delimiter: Vec<u8>,
    literal: bool,
    strip_tabs: bool,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    /// Of all bytes so far; its length is the position.
    classes: Vec<Class>,
    /// Here-documents whose text begins after the next newline.
    pending: Vec<PendingHeredoc>,
    depth: usize,
}

impl Scanner<'_> {
    fn commands(&mut self, until: ScanEnd) -> Option<()> {
        let start = self.at();
        let mut parens = 0usize;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' => self.take(1, Class::Blank),
                b'\n' => {
                    self.take(1, Class::Newline);
                    self.bodies()?;
                }
                b'#' if self.word_starts(start) => self.comment(until)?,
                b'\'' => self.single()?,
                b'"' => self.double()?,
                b'`' => match until {
                    ScanEnd::Backtick(end) if end == self.at() && parens == 0 => return Some(()),
                    ScanEnd::End => self.backtick()?,
                    _ => return None,
                },
                b'\\' => self.escape(until)?,
                b'$' => self.dollar(false)?,
                b'(' if self.peek(1) == Some(b'(') => return None,
                b'(' => {
                    parens += 1;
                    self.take(1, Class::Operator);
                }
                b')' if parens == 0 && until == ScanEnd::Paren => return Some(()),
                b')' => {
                    parens = parens.saturating_sub(1);
                    self.take(1, Class::Operator);
                }
                b'<' => self.less(until)?,
                b';' | b'&' | b'|' | b'>' => self.take(1, Class::Operator),
                // Patterns of `case` hold a `)` that closes nothing.
                b'c' if until != ScanEnd::End
                    && self.word_starts(start)
                    && self.rest().starts_with(b"case") =>
                {
                    return None;
                }
                0..0x20 | 0x7f => return None,
                _ => self.take(1, Class::Text),
            }
        }
        (until == ScanEnd::End).then_some(())
    }

    /// Old shells end a comment in a substitution at the closing parenthesis, so there it is not known.
    fn comment(&mut self, until: ScanEnd) -> Option<()> {
        if until != ScanEnd::End || self.depth > 0 {
            return None;
        }
        let length = self.rest().iter().take_while(|byte| **byte != b'\n').count();
        self.take(length, Class::Comment);
        Some(())
    }

    fn single(&mut self) -> Option<()> {
        let length = self.rest()[1..].iter().position(|byte| *byte == b'\'')?;
        self.take(length + 2, Class::Single);
        Some(())
    }

    fn double(&mut self) -> Option<()> {
        self.take(1, Class::Double);
        loop {
            match self.peek(0)? {
                b'"' => {
                    self.take(1, Class::Double);
                    return Some(());
                }
                b'\\' => {
                    self.peek(1)?;
                    self.take(2, Class::Double);
                }
                b'`' => self.backtick()?,
                b'$' => self.dollar(true)?,
                _ => self.take(1, Class::Double),
            }
        }
    }

    fn escape(&mut self, until: ScanEnd) -> Option<()> {
        if matches!(until, ScanEnd::Backtick(_)) {
            return None;
        }
        if self.peek(1)? != b'\n' {
            self.take(2, Class::Escape);
            return Some(());
        }
        // In the middle of a word the two halves are one: the grammar would see two.
        let alone = self.classes.last().is_none_or(|class| *class == Class::Blank);
        alone.then(|| self.take(2, Class::Joined))
    }

    fn backtick(&mut self) -> Option<()> {
        let inside = self.rest()[1..].iter().position(|byte| *byte == b'`')?;
        let end = self.at() + 1 + inside;
        // Inside, backslashes mean something else once more.
        if self.bytes[self.at()..end].contains(&b'\\') {
            return None;
        }
        self.take(1, Class::Expansion);
        self.deeper(ScanEnd::Backtick(end))?;
        self.take(1, Class::Expansion);
        Some(())
    }

    fn deeper(&mut self, until: ScanEnd) -> Option<()> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let outer = std::mem::take(&mut self.pending);
        self.depth += 1;
        self.commands(until)?;
        self.depth -= 1;
        if !self.pending.is_empty() {
            return None;
        }
        self.pending = outer;
        Some(())
    }

    fn dollar(&mut self, quoted: bool) -> Option<()> {
        match self.peek(1) {
            Some(b'(') if self.peek(2) == Some(b'(') => self.arithmetic(),
            Some(b'(') => {
                self.take(2, Class::Expansion);
                self.deeper(ScanEnd::Paren)?;
                self.take(1, Class::Expansion);
                Some(())
            }
            Some(b'{') => self.braces(),
            Some(b'\'') if !quoted => self.ansi(),
            Some(b'"') if !quoted => None,
            Some(b'[') => None,
            Some(byte) if is_name(byte) => {
                let length = self.rest()[1..].iter().take_while(|byte| is_name(**byte)).count();
                self.take(length + 1, Class::Expansion);
                Some(())
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.take(2, Class::Expansion);
                Some(())
            }
            _ => {
                self.take(1, if quoted { Class::Double } else { Class::Text });
                Some(())
            }
        }
    }

    /// Only numbers: the value of a name would be evaluated again.
    fn arithmetic(&mut self) -> Option<()> {
        let sum = |byte: &u8| byte.is_ascii_digit() || b" +-*/%".contains(byte);
        let length = self.rest()[3..].iter().take_while(|byte| sum(byte)).count();
        self.rest()[3 + length..].starts_with(b"))").then(|| self.take(length + 5, Class::Expansion))
    }

    /// `${name}`, `${#name}`, and `${name:-plain}` with its kin.
    fn braces(&mut self) -> Option<()> {
        let end = self.rest().iter().position(|byte| *byte == b'}')?;
        let inside = &self.rest()[2..end];
        let inside = inside.strip_prefix(b"#").unwrap_or(inside);
        let name = inside.iter().take_while(|byte| is_name(**byte)).count();
        let after = &inside[name..];
        let operator =
            [&b":-"[..], b":+", b":?", b"-", b"+", b"?"].into_iter().find(|it| after.starts_with(it));
        let plain = |byte: &u8| is_name(*byte) || b"./-".contains(byte);
        let known = match operator {
            Some(operator) => after[operator.len()..].iter().all(plain),
            None => after.is_empty(),
        };
        (name > 0 && known).then(|| self.take(end + 1, Class::Expansion))
    }

    fn ansi(&mut self) -> Option<()> {
        let mut length = 2;
        loop {
            match self.peek(length)? {
                b'\'' => {
                    self.take(length + 1, Class::Ansi);
                    return Some(());
                }
                b'\\' => length += 2,
                _ => length += 1,
            }
        }
    }

    fn less(&mut self, until: ScanEnd) -> Option<()> {
        if self.rest().starts_with(b"<<<") {
            self.take(3, Class::Operator);
            return Some(());
        }
        if !self.rest().starts_with(b"<<") {
            self.take(1, Class::Operator);
            return Some(());
        }
        if matches!(until, ScanEnd::Backtick(_)) {
            return None;
        }
        let strip_tabs = self.peek(2) == Some(b'-');
        self.take(if strip_tabs { 3 } else { 2 }, Class::Operator);
        while matches!(self.peek(0)?, b' ' | b'\t') {
            self.take(1, Class::Blank);
        }
        let quote = self.peek(0).filter(|byte| matches!(byte, b'\'' | b'"'));
        let offset = usize::from(quote.is_some());
        let name: Vec<u8> = self.rest()[offset..].iter().copied().take_while(|byte| is_name(*byte)).collect();
        let length = name.len() + 2 * offset;
        let ends = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'>' | b'<');
        if name.is_empty()
            || (quote.is_some() && self.peek(name.len() + 1) != quote)
            || !ends(self.peek(length)?)
        {
            return None;
        }
        self.take(length, Class::Heredoc);
        self.pending.push(PendingHeredoc { delimiter: name, literal: quote.is_some(), strip_tabs });
        Some(())
    }

    fn bodies(&mut self) -> Option<()> {
        for pending in std::mem::take(&mut self.pending) {
            let (body, last) = self.body(&pending)?;
            while self.at() < body {
                match self.peek(0)? {
                    _ if pending.literal => self.take(body - self.at(), Class::Heredoc),
                    b'\\' if self.peek(1) == Some(b'\n') => return None,
                    b'\\' if self.at() + 2 <= body => self.take(2, Class::Heredoc),
                    b'`' => self.backtick()?,
                    b'$' => self.dollar(true)?,
                    _ => self.take(1, Class::Heredoc),
                }
            }
            // A substitution that runs over the end of the document.
            if self.at() != body {
                return None;
            }
            self.take(last - body, Class::Heredoc);
            if self.peek(0).is_some_and(|byte| byte == b'\n') {
                self.take(1, Class::Newline);
            }
        }
        Some(())
    }

    /// Where the text ends and where the line with the delimiter ends.
    fn body(&self, heredoc: &PendingHeredoc) -> Option<(usize, usize)> {
        let mut start = self.at();
        while start < self.bytes.len() {
            let length = self.bytes[start..].iter().take_while(|byte| **byte != b'\n').count();
            let line = &self.bytes[start..start + length];
            let tabs = line.iter().take_while(|byte| heredoc.strip_tabs && **byte == b'\t').count();
            if line[tabs..] == heredoc.delimiter {
                return Some((start, start + length));
            }
            start += length + 1;
        }
        None
    }

    fn word_starts(&self, start: usize) -> bool {
        let before = self.classes.last();
        self.at() == start
            || before.is_some_and(|class| {
                matches!(class, Class::Blank | Class::Newline | Class::Operator | Class::Joined)
            })
    }

    fn at(&self) -> usize {
        self.classes.len()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at().min(self.bytes.len())..]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at() + ahead).copied()
    }

    fn take(&mut self, count: usize, class: Class) {
        self.classes.extend(std::iter::repeat_n(class, count));
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
