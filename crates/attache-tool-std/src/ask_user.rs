//! `ask_user`: the model asks a person. The client that shows the questions puts the answers into the approved
//! proposal.

mod answers;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;

use async_trait::async_trait;
use attache_tool::{
    Effect, Preview, Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::read_only::text_output;

const NAME: &str = "ask_user";
/// The member of the input that holds the answers: an object by the number of the question from 0, a list, or for a
/// single question the answer itself.
const ANSWERS: &str = "answers";
const MAX_QUESTIONS: usize = 4;
const MIN_OPTIONS: usize = 2;

#[derive(Debug)]
pub struct AskUser {
    spec: ToolSpec,
}

#[derive(Debug, Deserialize)]
struct Input {
    questions: Vec<Question>,
}

#[derive(Debug, Deserialize)]
struct Question {
    question: String,
    header: String,
    #[serde(rename = "type")]
    kind: QuestionKind,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(rename = "multiSelect", default)]
    multiple: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum QuestionKind {
    Choice,
    Text,
    Yesno,
}

#[derive(Debug, Deserialize)]
struct Choice {
    label: String,
    #[expect(dead_code, reason = "shown to the person, and has to be there")]
    description: String,
}

impl Default for AskUser {
    fn default() -> Self {
        Self { spec: spec() }
    }
}

#[async_trait]
impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        check(input)?;
        let mut input = input.clone();
        // Answers come from a person. The model must not provide them.
        input.remove(ANSWERS);
        let questions = input.get("questions").cloned().unwrap_or_default();
        Ok(Proposal { input, effects: vec![Effect::AskPerson], shown: Preview::Questions { questions } })
    }

    async fn run(&self, proposal: Proposal, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let questions = check(&proposal.input)?;
        let answers = match proposal.input.get(ANSWERS) {
            Some(given) => answers::read(&questions, given)?,
            None => Map::new(),
        };
        let (text, summary) = if answers.is_empty() {
            ("The user dismissed the questions without answering.".into(), "dismissed")
        } else {
            (json!({ ANSWERS: answers }).to_string(), "answered")
        };
        Ok(text_output(text, summary.into()))
    }
}

fn check(input: &ToolInput) -> Result<Vec<Question>, ToolError> {
    let Input { questions } = serde_json::from_value(Value::Object(input.clone()))
        .map_err(|error| ToolError::bad_input(format!("{NAME}: {error}")))?;
    if questions.is_empty() || questions.len() > MAX_QUESTIONS {
        return Err(ToolError::bad_input(format!(
            "`questions` has {} items; ask 1 to {MAX_QUESTIONS} questions",
            questions.len()
        )));
    }
    questions.iter().zip(1..).try_for_each(|(question, number)| check_question(question, number))?;
    Ok(questions)
}

fn check_question(question: &Question, number: usize) -> Result<(), ToolError> {
    let wrong = |what: &str| Err(ToolError::bad_input(format!("question {number}: {what}")));
    if question.question.trim().is_empty() {
        return wrong("`question` is empty");
    }
    if question.header.trim().is_empty() {
        return wrong("`header` is empty; give one or two words that name the question");
    }
    if question.kind == QuestionKind::Choice && question.options.len() < MIN_OPTIONS {
        return wrong("a choice needs at least 2 `options`; ask with the type text if there are none");
    }
    let labels: Vec<&str> = question.options.iter().map(|option| option.label.trim()).collect();
    if labels.iter().any(|label| label.is_empty()) {
        return wrong("an option has an empty `label`");
    }
    if labels.iter().enumerate().any(|(index, label)| labels[..index].contains(label)) {
        return wrong("two options have the same `label`");
    }
    Ok(())
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.into(),
        title: "Ask User".into(),
        description: "Asks the user up to 4 questions and waits for the answers. For decisions that are the user's \
            to make; do not ask what you can find out yourself. The answers come as JSON, by the number of the \
            question from 0."
            .into(),
        kind: ToolKind::Communicate,
        parameters: json!({
            "type": "object",
            "properties": {
                "questions": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_QUESTIONS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "question": { "type": "string", "description": "The whole question." },
                            "header": { "type": "string", "description": "One or two words that name it." },
                            "type": { "type": "string", "enum": ["choice", "text", "yesno"] },
                            "options": {
                                "type": "array",
                                "description": "What can be chosen from; needed for the type choice.",
                                "items": {
                                    "type": "object",
                                    "properties": {
                                        "label": { "type": "string" },
                                        "description": { "type": "string" }
                                    },
                                    "required": ["label", "description"]
                                }
                            },
                            "multiSelect": {
                                "type": "boolean",
                                "description": "More than one option may be chosen."
                            },
                            "placeholder": {
                                "type": "string",
                                "description": "An example of an answer, for the type text."
                            }
                        },
                        "required": ["question", "header", "type"]
                    }
                }
            },
            "required": ["questions"]
        }),
        repeatable: true,
        parallel: false,
        origin: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(questions: Value, part: &str) {
        let input = json!({ "questions": questions }).as_object().cloned().unwrap();
        let error = check(&input).unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }

    #[test]
    fn questions_that_cannot_be_shown_are_refused() {
        let text = |question: &str| json!({ "question": question, "header": "h", "type": "text" });
        let choice =
            |options: Value| json!({ "question": "q", "header": "h", "type": "choice", "options": options });
        let option = |label: &str| json!({ "label": label, "description": "" });
        refused(json!([]), "1 to 4");
        refused(json!(vec![text("q"); 5]), "1 to 4");
        refused(json!([text("q"), text(" ")]), "question 2");
        refused(json!([{ "question": "q", "header": "", "type": "yesno" }]), "header");
        refused(json!([{ "question": "q", "header": "h", "type": "number" }]), "yesno");
        refused(json!([choice(json!([]))]), "at least 2");
        refused(json!([choice(json!([option("a"), option("a")]))]), "same");
        refused(json!([choice(json!([option("a"), option("")]))]), "empty");
        refused(json!([choice(json!([{ "label": "a" }, option("b")]))]), "description");
    }
}
