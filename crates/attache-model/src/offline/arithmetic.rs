//! Sums as people write them: `12 * 7`, `3 plus 4`, `(1 + 2) / 0.5`.

use super::fraction::{Fraction, FractionError};

/// `None` if the text is not a sum.
pub(super) fn calculate(text: &str) -> Option<Result<Fraction, FractionError>> {
    let tokens = tokens(text)?;
    if !tokens.iter().any(|token| matches!(token, Token::Number(_))) {
        return None;
    }
    let mut parser = Parser { tokens: &tokens, depth: 0 };
    let value = parser.sum();
    match value {
        Err(ExpressionError::NotASum) => None,
        Err(ExpressionError::Impossible(why)) => Some(Err(why)),
        Ok(value) => parser.tokens.is_empty().then_some(Ok(value)),
    }
}

/// Longer texts are not parsed as sums.
const MAX_TOKENS: usize = 500;
/// The maximum nesting of parentheses; the parser recurses.
const MAX_DEPTH: u32 = 50;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Number(&'a str),
    Plus,
    Minus,
    Times,
    Over,
    Open,
    Close,
}

enum ExpressionError {
    NotASum,
    Impossible(FractionError),
}

impl From<FractionError> for ExpressionError {
    fn from(why: FractionError) -> Self {
        Self::Impossible(why)
    }
}

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len())
        } else if first.is_alphabetic() {
            rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, tail) = rest.split_at(length);
        match token(word)? {
            // "divided by" and "multiplied by" are one operator each.
            TokenOrFiller::Nothing => {}
            TokenOrFiller::Token(token) => tokens.push(token),
        }
        if tokens.len() > MAX_TOKENS {
            return None;
        }
        rest = tail.trim_start();
    }
    Some(tokens)
}

enum TokenOrFiller<'a> {
    Token(Token<'a>),
    Nothing,
}

fn token(word: &str) -> Option<TokenOrFiller<'_>> {
    let token = match word.to_ascii_lowercase().as_str() {
        "+" | "plus" => Token::Plus,
        "-" | "−" | "minus" => Token::Minus,
        "*" | "×" | "·" | "x" | "times" | "multiplied" => Token::Times,
        "/" | "÷" | ":" | "over" | "divided" => Token::Over,
        "(" => Token::Open,
        ")" => Token::Close,
        "by" => return Some(TokenOrFiller::Nothing),
        number if number.starts_with(|digit: char| digit.is_ascii_digit()) => {
            let fits = number.matches('.').count() <= 1 && !number.ends_with('.');
            return fits.then_some(TokenOrFiller::Token(Token::Number(word)));
        }
        _ => return None,
    };
    Some(TokenOrFiller::Token(token))
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    depth: u32,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Fraction, ExpressionError> {
        let mut value = self.product()?;
        loop {
            value = match self.tokens.first() {
                Some(Token::Plus) => value.add(self.after_operator(Self::product)?)?,
                Some(Token::Minus) => value.subtract(self.after_operator(Self::product)?)?,
                _ => return Ok(value),
            };
        }
    }

    fn product(&mut self) -> Result<Fraction, ExpressionError> {
        let mut value = self.operand()?;
        loop {
            value = match self.tokens.first() {
                Some(Token::Times) => value.multiply(self.after_operator(Self::operand)?)?,
                Some(Token::Over) => value.divide(self.after_operator(Self::operand)?)?,
                _ => return Ok(value),
            };
        }
    }

    fn after_operator(
        &mut self,
        operand: fn(&mut Self) -> Result<Fraction, ExpressionError>,
    ) -> Result<Fraction, ExpressionError> {
        self.tokens = &self.tokens[1..];
        operand(self)
    }

    fn operand(&mut self) -> Result<Fraction, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExpressionError::NotASum);
        }
        let (token, rest) = self.tokens.split_first().ok_or(ExpressionError::NotASum)?;
        self.tokens = rest;
        let value = match token {
            Token::Number(digits) => Fraction::parse(digits)?,
            Token::Minus => self.operand()?.negated(),
            Token::Plus => self.operand()?,
            Token::Open => {
                let value = self.sum()?;
                if self.tokens.first() != Some(&Token::Close) {
                    return Err(ExpressionError::NotASum);
                }
                self.tokens = &self.tokens[1..];
                value
            }
            Token::Times | Token::Over | Token::Close => return Err(ExpressionError::NotASum),
        };
        self.depth -= 1;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match calculate(text) {
            None => "no sum".to_owned(),
            Some(Ok(value)) => value.to_string(),
            Some(Err(why)) => format!("{why:?}"),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn sums_are_exact() {
        check("12 * 7", "84");
        check("2 + 3 * 4 - 1", "13");
        check("(2 + 3) * -4", "-20");
        check("0.1 + 0.2", "0.3");
        check("7 / 2", "3.5");
        check("-7/2", "-3.5");
        check("1 / 3", "1/3, about 0.333333");
        check("3 plus 4 times 2", "11");
        check("10 divided by 4", "2.5");
        check("6 × 7", "42");
        check("6x7", "42");
        check("--3", "3");
    }

    #[test]
    fn what_cannot_be_worked_out_says_why() {
        check("1 / 0", "DivisionByZero");
        check("1 / (2 - 2)", "DivisionByZero");
        check("0/0", "DivisionByZero");
        check(&"9".repeat(60), "Overflow");
        check(&format!("{0} * {0}", i128::MAX), "Overflow");
        check(&format!("-{} - 2", i128::MAX), "Overflow");
        check(&format!("0.{}1", "0".repeat(60)), "Overflow");
    }

    #[test]
    fn other_texts_are_no_sums() {
        for text in ["", "the weather", "1 +", "(1", "1)", "* 2", "1 2", "1.2.3", "5.", "-"] {
            check(text, "no sum");
        }
        check(&("(".repeat(5000) + "1" + &")".repeat(5000)), "no sum");
        check(&("-".repeat(400) + "1"), "no sum");
    }
}
