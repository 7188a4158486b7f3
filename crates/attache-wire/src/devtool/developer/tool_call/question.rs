//! What a tool wants to know from a person.

use serde::Serialize;
use serde_json::Value;

use super::words::member;

#[derive(Debug, Serialize)]
pub(super) struct Question<'a> {
    question: &'a str,
    header: &'a str,
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
    label: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
}

/// The questions in the input of a tool; what else a model has put there is left out.
pub(super) fn read(questions: &Value) -> Vec<Question<'_>> {
    let read = |question| {
        let option = |option| QuestionOption {
            label: member(option, "label"),
            description: member(option, "description"),
        };
        Question {
            question: member(question, "question"),
            header: member(question, "header"),
            kind: member(question, "type"),
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
