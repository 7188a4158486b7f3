//! One chunk of a Gemini response.
//!
//! Every member is optional, and unknown members are ignored.

use std::borrow::Cow;
use std::fmt;

use attache_domain::Usage;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::text_or_value::TextOrValue;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) candidates: Vec<Candidate<'a>>,
    #[serde(deserialize_with = "if_understood")]
    pub(super) prompt_feedback: Option<Feedback>,
    /// Every chunk reports the usage so far; only the last report counts. [`usage_in`] decodes it.
    #[serde(borrow)]
    pub(super) usage_metadata: Option<&'a RawValue>,
    pub(super) error: Option<Value>,
    /// The same in all chunks of an answer.
    #[serde(deserialize_with = "if_understood")]
    pub(super) response_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Candidate<'a> {
    #[serde(borrow)]
    pub(super) content: Option<ResponseContent<'a>>,
    pub(super) finish_reason: Option<String>,
    pub(super) finish_message: Option<String>,
    pub(super) continuation_token: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseContent<'a> {
    #[serde(borrow, deserialize_with = "null_as_default")]
    pub(super) parts: Vec<ResponsePart<'a>>,
}

/// A piece of an answer.
#[derive(Debug)]
pub(super) enum ResponsePart<'a> {
    /// Only text, which is the usual case.
    Plain(PlainPart<'a>),
    /// The raw part: some parts are returned to Gemini unchanged.
    Other(Map<String, Value>),
}

#[derive(Debug)]
pub(super) struct PlainPart<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) thought: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for ResponsePart<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = ResponsePart<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a piece of an answer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut text, mut thought, mut others) = (None, None, Map::new());
        while let Some(name) = map.next_key::<TextOrValue<'_>>()? {
            match (name.text(), map.next_value::<TextOrValue<'_>>()?) {
                ("text", TextOrValue::Text(words)) => text = Some(words),
                ("thought", TextOrValue::Other(Value::Bool(is_thought))) => thought = Some(is_thought),
                (name, value) => drop(others.insert(name.to_owned(), value.into_value())),
            }
        }
        match text {
            Some(text) if others.is_empty() => {
                Ok(ResponsePart::Plain(PlainPart { text, thought: thought.unwrap_or(false) }))
            }
            text => {
                others.extend(text.map(|text| ("text".to_owned(), text.into())));
                others.extend(thought.map(|thought| ("thought".to_owned(), thought.into())));
                Ok(ResponsePart::Other(others))
            }
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Feedback {
    pub(super) block_reason: Option<String>,
    pub(super) block_reason_message: Option<String>,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UsageMetadata {
    prompt_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
}

impl UsageMetadata {
    fn usage(self) -> Usage {
        let thoughts = self.thoughts_token_count.unwrap_or(0);
        let fed_back = self.tool_use_prompt_token_count.unwrap_or(0);
        Usage {
            input: self.prompt_token_count.unwrap_or(0).saturating_add(fed_back),
            cached: self.cached_content_token_count.unwrap_or(0),
            output: self.candidates_token_count.unwrap_or(0).saturating_add(thoughts),
            thoughts,
        }
    }
}

/// `None` if the value has an unexpected shape.
pub(super) fn usage_in(usage_metadata: &str) -> Usage {
    serde_json::from_str::<UsageMetadata>(usage_metadata).unwrap_or_default().usage()
}

impl<'a> Chunk<'a> {
    /// All chunks of a JSON body: the body itself, or each item of a list. `None` for anything else.
    pub(super) fn all(json: &'a str) -> Option<Vec<Self>> {
        match json.trim_start().as_bytes().first() {
            Some(b'{') => Some(vec![serde_json::from_str(json).ok()?]),
            Some(b'[') => serde_json::from_str(json).ok(),
            _ => None,
        }
    }
}

pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Keeps the text even if a neighbouring member has an unexpected shape.
fn if_understood<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Option<&[(usize, u64)]>) {
        let found = Chunk::all(json).map(|chunks| {
            let output = |usage: &RawValue| usage_in(usage.get()).output;
            let shape = |chunk: &Chunk<'_>| (chunk.candidates.len(), chunk.usage_metadata.map_or(0, output));
            chunks.iter().map(shape).collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref(), expected, "{json}");
    }

    #[test]
    fn chunks_are_read_with_whatever_is_in_them() {
        check("{}", Some(&[(0, 0)]));
        check(r#"{"candidates": null, "usageMetadata": null, "promptFeedback": null}"#, Some(&[(0, 0)]));
        check(
            r#" {"candidates": [{}], "new": 1, "usageMetadata": {"thoughtsTokenCount": 3}}"#,
            Some(&[(1, 3)]),
        );
        check(r#"{"candidates": [{}], "usageMetadata": {"thoughtsTokenCount": "3"}}"#, Some(&[(1, 0)]));
        check(r#"{"candidates": [{}], "usageMetadata": [7]}"#, Some(&[(1, 0)]));
        check(r#"[{"candidates": [{"content": {"parts": null}}]}, {}]"#, Some(&[(1, 0), (0, 0)]));
        check("[DONE]", None);
        check("7", None);
        check("", None);
    }
}
