//! Parses a person's answers in all forms that clients send.

use attache_tool::ToolError;
use serde_json::{Map, Value};

use super::{Question, QuestionKind};

/// Characters of one answer.
const MAX_ANSWER: usize = 20_000;
/// Characters of an unclear answer that the model gets.
const MAX_REPEATED: usize = 2_000;
const YES: &[&str] = &["yes", "y", "true", "ok", "okay", "sure", "yep", "yeah"];
const NO: &[&str] = &["no", "n", "false", "nope"];

/// The answers by question number, from 0. Questions without an answer are missing; empty means dismissed.
pub(super) fn read(questions: &[Question], given: &Value) -> Result<Map<String, Value>, ToolError> {
    let lines = line_by_line(questions, given);
    let mut answers = Map::new();
    for (number, given) in by_number(questions, lines.as_ref().unwrap_or(given))? {
        let question = questions.get(number).ok_or_else(|| {
            let message = format!(
                "an answer is for question {number}, and there are only {}, counted from 0",
                questions.len()
            );
            ToolError::bad_input(message)
        })?;
        if let Some(answer) = answer(question, number, given)? {
            answers.insert(number.to_string(), answer);
        }
    }
    Ok(answers)
}

/// Assigns answers to questions.
fn by_number<'a>(questions: &[Question], given: &'a Value) -> Result<Vec<(usize, &'a Value)>, ToolError> {
    match given {
        Value::Null => Ok(Vec::new()),
        Value::Object(members) => {
            members.iter().map(|(name, answer)| Ok((number_of(questions, name)?, answer))).collect()
        }
        // With one question, a list is several choices.
        Value::Array(items) => match questions {
            [only] if only.multiple && !items.iter().any(Value::is_array) => Ok(vec![(0, given)]),
            _ => Ok(items.iter().enumerate().collect()),
        },
        _ if questions.len() == 1 => Ok(vec![(0, given)]),
        other => {
            let repeated: String = word(other).unwrap_or_default().chars().take(MAX_REPEATED).collect();
            Err(ToolError::bad_input(format!(
                "there is one answer for {} questions: {repeated:?}; take from it what is clear, and ask again for the \
                 rest, one question at a time",
                questions.len()
            )))
        }
    }
}

/// A text for several questions has one line for each.
fn line_by_line(questions: &[Question], given: &Value) -> Option<Value> {
    let text = given.as_str().filter(|_| questions.len() > 1)?;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    (lines.len() == questions.len()).then(|| lines.into())
}

/// Finds a question by its number or its unique header.
fn number_of(questions: &[Question], name: &str) -> Result<usize, ToolError> {
    let header = |question: &Question| question.header.trim().eq_ignore_ascii_case(name.trim());
    let named = || questions.iter().position(header);
    name.trim().parse().ok().or_else(named).ok_or_else(|| {
        ToolError::bad_input(format!(
            "{name:?} is no question; answers are named by number, the first is \"0\""
        ))
    })
}

/// None if it is empty.
fn answer(question: &Question, number: usize, given: &Value) -> Result<Option<Value>, ToolError> {
    let wrong = |what: String| Err(ToolError::bad_input(format!("the answer to question {number}: {what}")));
    let given = match given {
        Value::Array(items) if question.kind == QuestionKind::Choice && question.multiple => {
            items.iter().filter_map(word).collect()
        }
        Value::Array(items) if items.len() == 1 => word(&items[0]).into_iter().collect(),
        Value::Array(_) | Value::Object(_) => {
            return wrong("it is a list or an object, and text was expected".into());
        }
        text => Vec::from_iter(word(text)),
    };
    let Some(first) = given.first() else { return Ok(None) };
    if given.iter().any(|text| text.chars().count() > MAX_ANSWER) {
        return wrong(format!("it is longer than {MAX_ANSWER} characters"));
    }
    match question.kind {
        QuestionKind::Text => Ok(Some(first.as_str().into())),
        QuestionKind::Yesno => {
            let lower = first.trim_end_matches(['.', '!']).to_lowercase();
            match (YES.contains(&lower.as_str()), NO.contains(&lower.as_str())) {
                (true, _) => Ok(Some("Yes".into())),
                (_, true) => Ok(Some("No".into())),
                _ => wrong(format!(
                    "{first:?} is neither yes nor no; ask again, as text if more is to be said"
                )),
            }
        }
        QuestionKind::Choice => match chosen(question, &given) {
            Ok(labels) if question.multiple => Ok(Some(labels.into())),
            Ok(labels) if labels.len() == 1 => Ok(Some(labels[0].into())),
            Ok(_) => wrong("only one option can be chosen".into()),
            Err(unknown) => {
                let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
                wrong(format!("{unknown:?} is none of the options, which are {}", labels.join(", ")))
            }
        },
    }
}

/// The chosen labels, in the order of the options, or the first text that matches none.
fn chosen<'a>(question: &'a Question, given: &[String]) -> Result<Vec<&'a str>, String> {
    let place = |word: &str| {
        let named = question.options.iter().position(|option| option.label.trim().eq_ignore_ascii_case(word));
        // People count from one.
        let counted =
            word.parse::<usize>().ok().filter(|number| (1..=question.options.len()).contains(number));
        named.or(counted.map(|number| number - 1))
    };
    let mut places = Vec::new();
    for text in given {
        match place(text) {
            Some(place) => places.push(place),
            // Several choices in one line.
            None => {
                for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    places.push(place(word).ok_or_else(|| word.to_owned())?);
                }
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places.into_iter().map(|place| question.options[place].label.as_str()).collect())
}

/// The value as text; none if it is empty.
fn word(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question(kind: &str, options: &[&str], multiple: bool) -> Value {
        let options: Vec<Value> =
            options.iter().map(|label| json!({ "label": label, "description": "" })).collect();
        json!({ "question": "q", "header": kind, "type": kind, "options": options, "multiSelect": multiple })
    }

    fn text() -> Value {
        question("text", &[], false)
    }

    fn choice(multiple: bool) -> Value {
        question("choice", &["Red", "Green", "Blue, dark"], multiple)
    }

    #[track_caller]
    fn check(questions: &[Value], given: Value, expected: Result<Value, &str>) {
        let parsed: Vec<Question> = serde_json::from_value(questions.to_vec().into()).unwrap();
        match (read(&parsed, &given), expected) {
            (Ok(answers), Ok(expected)) => assert_eq!(Value::Object(answers), expected, "{given}"),
            (Err(error), Err(part)) => assert!(error.message.contains(part), "{error}"),
            (found, expected) => panic!("{given}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn one_question_is_answered_in_any_shape() {
        for given in [json!("  blue "), json!(["blue"]), json!({ "0": "blue" }), json!({ "TEXT": "blue" })] {
            check(&[text()], given, Ok(json!({ "0": "blue" })));
        }
        check(&[text()], json!(7), Ok(json!({ "0": "7" })));
        check(&[text()], json!({ "0": { "a": 1 } }), Err("text was expected"));
        check(&[text()], json!("x".repeat(20_001)), Err("longer than"));
    }

    #[test]
    fn no_answer_is_none() {
        for given in [json!(null), json!({}), json!([]), json!(""), json!({ "0": " " }), json!([null, ""])] {
            check(
                &[text(), text()],
                given.clone(),
                match given {
                    Value::String(_) => Err("one answer for 2"),
                    _ => Ok(json!({})),
                },
            );
        }
    }

    #[test]
    fn several_questions_are_answered_by_number() {
        let questions = [text(), question("yesno", &[], false), choice(false)];
        check(&questions, json!({ "2": "green", "0": "a" }), Ok(json!({ "0": "a", "2": "Green" })));
        check(&questions, json!(["a", "Yes!", "3"]), Ok(json!({ "0": "a", "1": "Yes", "2": "Blue, dark" })));
        check(&questions, json!("a\n\n no \nred"), Ok(json!({ "0": "a", "1": "No", "2": "Red" })));
        check(&questions, json!("a, and no"), Err("\"a, and no\"; take from it"));
        check(&questions, json!({ "3": "a" }), Err("only 3"));
        check(&questions, json!({ "colour": "a" }), Err("is no question"));
    }

    #[test]
    fn yes_and_no_have_many_words() {
        for (given, expected) in
            [(json!(true), "Yes"), (json!("OK."), "Yes"), (json!("n"), "No"), (json!(false), "No")]
        {
            check(&[question("yesno", &[], false)], given, Ok(json!({ "0": expected })));
        }
        check(&[question("yesno", &[], false)], json!("perhaps"), Err("\"perhaps\" is neither"));
    }

    #[test]
    fn only_what_was_offered_can_be_chosen() {
        check(&[choice(false)], json!(" red"), Ok(json!({ "0": "Red" })));
        check(&[choice(false)], json!("blue, dark"), Ok(json!({ "0": "Blue, dark" })));
        check(&[choice(false)], json!("pink"), Err("Red, Green, Blue, dark"));
        check(&[choice(false)], json!("red, green"), Err("only one"));
        check(&[choice(false)], json!("0"), Err("none of the options"));
        check(&[choice(true)], json!("green, 1"), Ok(json!({ "0": ["Red", "Green"] })));
        check(&[choice(true)], json!(["Green", "Blue, dark"]), Ok(json!({ "0": ["Green", "Blue, dark"] })));
        check(&[choice(true)], json!({ "0": ["green"] }), Ok(json!({ "0": ["Green"] })));
        check(&[choice(true)], json!([["red", "pink"]]), Err("\"pink\""));
    }
}
