//! What a tool wants to know from a person.

use std::borrow::Cow;

use attache_domain::terminal_safe;
use serde::Serialize;
use serde_json::Value;

use super::call_text::text_member;

#[derive(Debug, Serialize)]
pub(super) struct Question<'a> {
    question: Cow<'a, str>,
    header: Cow<'a, str>,
    /// `choice`, `text` or `yesno`.
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<QuestionOption<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    multi_select: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    placeholder: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct QuestionOption<'a> {
    label: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: Cow<'a, str>,
}

/// The questions in the input of a tool; what else a model has put there is left out.
pub(super) fn read(questions: &Value) -> Vec<Question<'_>> {
    let read = |question| {
        let option = |option| QuestionOption {
            label: terminal_safe(text_member(option, "label")),
            description: terminal_safe(text_member(option, "description")),
        };
        Question {
            question: terminal_safe(text_member(question, "question")),
            header: terminal_safe(text_member(question, "header")),
            kind: text_member(question, "type"),
            options: list(&question["options"]).map(option).collect(),
            multi_select: question["multiSelect"] == true,
            placeholder: question["placeholder"].as_str(),
        }
    };
    list(questions).map(read).collect()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
