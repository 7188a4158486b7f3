//! Values that an agent file need not hold itself: taken from a variable, or printed by a command.

use attache_config::SecretText;

/// A secret, or where to get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DynamicValue {
    Literal(SecretText),
    /// `$NAME`: a variable of the environment.
    Variable(String),
    /// `!line`: what a shell prints for the line.
    Command(String),
}

impl DynamicValue {
    /// `$$` and `!!` at the beginning stand for the sign itself. The error says what the value must be.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if let Some(rest) = text.strip_prefix("$$") {
            return Ok(Self::Literal(SecretText::new(format!("${rest}"))));
        }
        if let Some(rest) = text.strip_prefix("!!") {
            return Ok(Self::Literal(SecretText::new(format!("!{rest}"))));
        }
        if let Some(name) = text.strip_prefix('$') {
            let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            let wrong = "must name a variable after $, or begin with $$ for a value that begins with $";
            return is_name.then(|| Self::Variable(name.to_owned())).ok_or(wrong);
        }
        if let Some(line) = text.strip_prefix('!').map(str::trim) {
            let wrong = "must have a command after !, or begin with !! for a value that begins with !";
            return (!line.is_empty()).then(|| Self::Command(line.to_owned())).ok_or(wrong);
        }
        Ok(Self::Literal(SecretText::new(text)))
    }

    /// The command that is run for it.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Command(line) => Some(line),
            Self::Literal(_) | Self::Variable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sign_says_where_a_value_comes_from() {
        let literal = |text: &str| Ok(DynamicValue::Literal(SecretText::new(text)));
        for (text, expected) in [
            ("sk-abc", literal("sk-abc")),
            ("two words", literal("two words")),
            ("$$FOO", literal("$FOO")),
            ("!!run", literal("!run")),
            ("$$", literal("$")),
            ("a$B", literal("a$B")),
            ("$MY_KEY", Ok(DynamicValue::Variable("MY_KEY".into()))),
            ("$_x9", Ok(DynamicValue::Variable("_x9".into()))),
            ("!print-token --now", Ok(DynamicValue::Command("print-token --now".into()))),
        ] {
            assert_eq!(DynamicValue::parse(text), expected, "{text}");
        }
        for text in ["$", "$1", "$a-b", "${A}", "$A B", "!", "!  "] {
            assert!(DynamicValue::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert!(!format!("{:?}", DynamicValue::parse("sk-abc")).contains("sk-abc"));
    }
}
