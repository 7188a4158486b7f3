//! Texts with placeholders: `{{text}}`, `{{answer}}`, `{{turn}}`, `{{1}}`, `{{name}}`, `{{result}}`.

use attache_domain::Metadata;
use regex::Regex;
use serde_json::Value;

use super::keys::listed;
use super::placeholder_values::PlaceholderValues;

#[derive(Debug)]
pub(super) enum Template {
    Literal(String),
    Pieces(Vec<Piece>),
}

#[derive(Debug)]
pub(super) enum Piece {
    Literal(String),
    Text,
    Answer,
    Turn,
    /// A group of the rule's regular expression.
    Group(usize),
    LatestResult,
    /// The result of a call, by its position in the turn.
    Result(usize),
    Failed,
}

/// The names that the placeholders of a text can use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlaceholderScope<'a> {
    /// The regular expression of the rule, with its groups.
    pub(super) pattern: Option<&'a Regex>,
    /// The number of calls before the text in its turn.
    pub(super) calls: usize,
}

impl Template {
    pub(super) fn parse(text: &str, scope: PlaceholderScope<'_>) -> Result<Self, String> {
        if !text.contains("{{") {
            return Ok(Self::Literal(text.to_owned()));
        }
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            if let Some(before) = before.strip_suffix('\\') {
                literal.push_str(before);
                literal.push_str("{{");
                rest = after;
                continue;
            }
            let Some((name, tail)) = after.split_once("}}") else {
                return Err("`{{` without `}}`; for the two braces themselves write `\\{{`".into());
            };
            literal.push_str(before);
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(placeholder(name.trim(), scope)?);
            rest = tail;
        }
        literal.push_str(rest);
        if pieces.is_empty() {
            return Ok(Self::Literal(literal));
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self::Pieces(pieces))
    }

    /// The text with its placeholders filled in, cut off after `limit` bytes.
    pub(super) fn expand(&self, words: &PlaceholderValues, limit: usize) -> String {
        let mut text = match self {
            Self::Literal(text) => text.clone(),
            Self::Pieces(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        Piece::Literal(literal) => text.push_str(literal),
                        Piece::Text => text.push_str(words.matched.as_str()),
                        Piece::Answer => text.push_str(words.latest.as_str()),
                        Piece::Turn => text.push_str(&words.turn.to_string()),
                        Piece::Group(number) => text.push_str(words.group(*number)),
                        Piece::LatestResult => text.push_str(words.outcomes.latest()),
                        Piece::Result(place) => text.push_str(words.outcomes.text(*place)),
                        Piece::Failed => text.push_str(&words.outcomes.failed.to_string()),
                    }
                    if text.len() > limit {
                        break;
                    }
                }
                text
            }
        };
        if text.len() > limit {
            text.truncate(text.floor_char_boundary(limit));
        }
        text
    }

    pub(super) fn uses_groups(&self) -> bool {
        match self {
            Self::Literal(_) => false,
            Self::Pieces(pieces) => pieces.iter().any(|piece| matches!(piece, Piece::Group(_))),
        }
    }
}

fn placeholder(
    name: &str,
    PlaceholderScope { pattern, calls }: PlaceholderScope<'_>,
) -> Result<Piece, String> {
    match name {
        "text" => return Ok(Piece::Text),
        "answer" => return Ok(Piece::Answer),
        "turn" => return Ok(Piece::Turn),
        _ => {}
    }
    let groups = pattern.map_or(0, |pattern| pattern.captures_len() - 1);
    if let Ok(number) = name.parse::<usize>() {
        return if number <= groups && pattern.is_some() {
            Ok(Piece::Group(number))
        } else {
            Err(format!("`{{{{{name}}}}}` asks for group {number}, but the rule's `text` has {groups}"))
        };
    }
    let mut names = pattern.into_iter().flat_map(Regex::capture_names).enumerate();
    if let Some((number, _)) = names.find(|(_, found)| *found == Some(name)) {
        return Ok(Piece::Group(number));
    }
    // A group of this name takes precedence.
    if let Some(piece) = result_placeholder(name, calls) {
        return piece;
    }
    let mut known = vec!["text", "answer", "turn"];
    if calls > 0 {
        known.extend(["result", "results.0", "failed"]);
    }
    known.extend(pattern.into_iter().flat_map(Regex::capture_names).flatten());
    let shown: String = name.chars().take(60).collect();
    Err(format!(
        "unknown placeholder `{{{{{shown}}}}}`: there are {} and the rule's {groups} numbered groups; for the two \
         braces themselves write `\\{{{{`",
        listed(&known)
    ))
}

/// `None` if the name does not refer to a call.
fn result_placeholder(name: &str, calls: usize) -> Option<Result<Piece, String>> {
    let piece = match name {
        "result" => Piece::LatestResult,
        "failed" => Piece::Failed,
        _ => Piece::Result(name.strip_prefix("results.")?.parse().ok()?),
    };
    let wrong = match piece {
        _ if calls == 0 => Some("there is no `call` before it in its turn".to_owned()),
        Piece::Result(place) if place >= calls => {
            Some(format!("the calls before it in its turn are numbered 0 to {}", calls - 1))
        }
        _ => None,
    };
    Some(match wrong {
        Some(why) => Err(format!("`{{{{{name}}}}}` stands for the result of a call, but {why}")),
        None => Ok(piece),
    })
}

/// Any JSON value whose texts can contain placeholders.
#[derive(Debug)]
pub(super) enum DataTemplate {
    /// A value without placeholders.
    Fixed(Value),
    Text(Template),
    List(Vec<DataTemplate>),
    Map(Vec<(String, DataTemplate)>),
}

impl DataTemplate {
    pub(super) fn parse(value: Value, scope: PlaceholderScope<'_>) -> Result<Self, String> {
        let parsed = match value {
            Value::String(text) => match Template::parse(&text, scope)? {
                Template::Literal(text) => Self::Fixed(Value::String(text)),
                template @ Template::Pieces(_) => Self::Text(template),
            },
            Value::Array(values) => Self::List(
                values.into_iter().map(|value| Self::parse(value, scope)).collect::<Result<_, _>>()?,
            ),
            Value::Object(map) => {
                let entries = map.into_iter().map(|(key, value)| Ok((key, Self::parse(value, scope)?)));
                Self::Map(entries.collect::<Result<_, String>>()?)
            }
            other => Self::Fixed(other),
        };
        Ok(parsed)
    }

    pub(super) fn expand(&self, words: &PlaceholderValues, limit: usize) -> Value {
        match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(template) => Value::String(template.expand(words, limit)),
            Self::List(values) => values.iter().map(|value| value.expand(words, limit)).collect(),
            Self::Map(entries) => Value::Object(expand_map(entries, words, limit)),
        }
    }

    pub(super) fn uses_groups(&self) -> bool {
        match self {
            Self::Fixed(_) => false,
            Self::Text(template) => template.uses_groups(),
            Self::List(values) => values.iter().any(Self::uses_groups),
            Self::Map(entries) => entries.iter().any(|(_, value)| value.uses_groups()),
        }
    }
}

pub(super) fn expand_map(
    entries: &[(String, DataTemplate)],
    words: &PlaceholderValues,
    limit: usize,
) -> Metadata {
    entries.iter().map(|(key, value)| (key.clone(), value.expand(words, limit))).collect()
}

#[cfg(test)]
mod tests {
    use attache_domain::{CallId, Content, ToolResult};

    use super::super::placeholder_values::{CallResults, MessageText};
    use super::*;

    /// Two calls together, one that was passed over, and one that failed.
    fn outcomes() -> CallResults {
        let result = |text: &str, failed| ToolResult {
            call: CallId("c".into()),
            name: "tool".into(),
            output: vec![Content::Text(text.into()), Content::Text("x".into())],
            failed,
        };
        let mut outcomes = CallResults::default();
        outcomes.add(2, &[result("one", false), result("two", false)]);
        outcomes.pass_over(1);
        outcomes.add(1, &[result("four", true)]);
        outcomes
    }

    #[track_caller]
    fn check(template: &str, expected: &str) {
        let pattern = Regex::new(r"(?P<verb>\w+) (\w+)( .*)?").unwrap();
        let text = "greet Ada";
        let groups = pattern.captures(text).unwrap();
        let words = PlaceholderValues {
            matched: MessageText::Joined(text.into()),
            latest: MessageText::Joined("yes".into()),
            turn: 2,
            groups: groups.iter().map(|group| group.map(|group| group.range())).collect(),
            outcomes: outcomes(),
        };
        let scope = PlaceholderScope { pattern: Some(&pattern), calls: 4 };
        let template = Template::parse(template, scope).unwrap();
        assert_eq!(template.expand(&words, 30), expected);
    }

    #[test]
    fn placeholders_are_filled_in() {
        check("plain", "plain");
        check("{{text}}", "greet Ada");
        check("a{{ turn }}b", "a2b");
        check("{{answer}}, {{2}}: {{verb}}{{3}}!", "yes, Ada: greet!");
        check("{{0}}", "greet Ada");
        check(r"\{{text}} {{turn}} \{{", "{{text}} 2 {{");
        check("} { {x}", "} { {x}");
    }

    #[test]
    fn results_are_filled_in_by_their_place() {
        check("{{result}}|{{failed}}", "four\nx|true");
        check("{{results.0}}|{{results.1}}", "one\nx|two\nx");
        check("<{{results.2}}|{{ results.3 }}>", "<|four\nx>");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        check("{{text}}{{text}}{{text}}ääää", "greet Adagreet Adagreet Adaä");
    }

    #[test]
    fn a_placeholder_that_means_nothing_is_refused() {
        let pattern = Regex::new(r"(\d)(?<unit>s|m)").unwrap();
        let refuse = |template: &str, pattern| {
            Template::parse(template, PlaceholderScope { pattern, calls: 0 }).unwrap_err()
        };
        assert!(refuse("{{3}}", Some(&pattern)).contains("asks for group 3, but the rule's `text` has 2"));
        assert!(refuse("{{1}}", None).contains("has 0"));
        assert!(refuse("{{txt}}", Some(&pattern)).contains("`text`, `answer`, `turn`, `unit`"));
        assert!(refuse("{{text", None).contains("without `}}`"));
        for name in ["result", "results.0", "failed"] {
            let wrong = refuse(&format!("{{{{{name}}}}}"), None);
            assert!(wrong.contains(&format!("`{{{{{name}}}}}` stands for the result of a call")), "{wrong}");
            assert!(wrong.contains("there is no `call` before it"), "{wrong}");
        }
        let after_two =
            |template| Template::parse(template, PlaceholderScope { pattern: None, calls: 2 }).unwrap_err();
        assert!(after_two("{{results.2}}").contains("numbered 0 to 1"));
        assert!(after_two("{{results}}").contains("`turn`, `result`, `results.0`, `failed` and"));
        assert!(after_two("{{results.-1}}").contains("unknown placeholder"));
    }

    #[test]
    fn a_group_that_is_called_like_a_placeholder_of_calls_stays_a_group() {
        let pattern = Regex::new("(?<result>.)(?<failed>.)").unwrap();
        let template =
            Template::parse("{{result}}{{failed}}", PlaceholderScope { pattern: Some(&pattern), calls: 0 });
        assert!(template.unwrap().uses_groups());
    }
}
