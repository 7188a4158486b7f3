//! Arbitrary JSON as questions and answers.

use super::*;

/// Every answer belongs to a question, fits its kind, and decodes to the same value when it is encoded again.
pub(crate) fn answered(text: &[u8]) {
    let Ok(Value::Object(input)) = serde_json::from_slice(text) else { return };
    let Ok(questions) = check(&input) else { return };
    let given = input.get(ANSWERS).cloned().unwrap_or_default();
    let Ok(answers) = answers::read(&questions, &given) else { return };
    for (number, answer) in &answers {
        let number: usize = number.parse().expect("answers have the number of their question");
        let question = questions.get(number).expect("there is such a question");
        let labels: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
        let fits = match (question.kind, answer) {
            (QuestionKind::Yesno, Value::String(answer)) => answer == "Yes" || answer == "No",
            (QuestionKind::Text, Value::String(answer)) => !answer.is_empty(),
            (QuestionKind::Choice, Value::String(answer)) => labels.contains(&answer.as_str()),
            (QuestionKind::Choice, Value::Array(chosen)) => {
                question.multiple
                    && chosen.iter().all(|it| it.as_str().is_some_and(|it| labels.contains(&it)))
            }
            _ => false,
        };
        assert!(fits, "{answer} to {question:?}");
    }
    let again = answers::read(&questions, &Value::Object(answers.clone()));
    assert_eq!(again.expect("what was read is read again"), answers);
}
