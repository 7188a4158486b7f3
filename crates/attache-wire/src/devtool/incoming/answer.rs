//! An answer about a call, as either dialect spells it.
//!
//! The RFC names `tool_call_id`, `selected_option_id` and perhaps `file_details.new_content`; Gemini CLI's clients say
//! `callId`, `outcome` and perhaps `newContent`. Both become the plain answer of the domain: `call`, `choice`,
//! `newContent`, `answers`. Outcomes are a fixed list, whatever a question offers, so the nearest choice is meant: `nearest`.

use serde_json::{Map, Value};

use super::Profile;

/// Puts an answer into the domain's words, in place; tells in whose words it was, or leaves everything else alone.
pub(super) fn normalize_answer(data: &mut Value) -> Option<Profile> {
    if let Value::Array(items) = data {
        return items.iter_mut().fold(None, |found, item| normalize_answer(item).or(found));
    }
    let members = data.as_object()?;
    let text = |names: &[&str]| names.iter().find_map(|name| members.get(*name)?.as_str()).map(str::to_owned);
    let developer =
        (text(&["tool_call_id", "toolCallId"]), text(&["selected_option_id", "selectedOptionId"]));
    let gemini = (text(&["callId"]), text(&["outcome"]));
    let (profile, call, choice) = match (developer, gemini) {
        ((Some(call), Some(choice)), _) => (Profile::Developer, call, choice),
        (_, (Some(call), Some(choice))) => (Profile::Gemini, call, choice),
        _ => return None,
    };
    let mut answer = Map::from_iter([("call".to_owned(), call.into()), ("choice".to_owned(), choice.into())]);
    if let Some(content) = new_content(members) {
        answer.insert("newContent".to_owned(), content);
    }
    if let Some(answers) = members.get("answers") {
        answer.insert("answers".to_owned(), answers.clone());
    }
    if profile == Profile::Gemini {
        answer.insert("nearest".to_owned(), true.into());
    }
    *data = Value::Object(answer);
    Some(profile)
}

/// What an edit should write instead, wherever it stands. Whatever stands there is handed on, text or not: a person's
/// change must not be lost because it cannot be read. An object without the content says that it is empty, because
/// protobuf's JSON leaves empty texts out.
fn new_content(members: &Map<String, Value>) -> Option<Value> {
    let member = |members: &Map<String, Value>, names: [&str; 2]| {
        names.iter().find_map(|name| members.get(*name)).filter(|value| !value.is_null()).cloned()
    };
    let details = ["file_details", "fileDetails"];
    if let Some(content) = member(members, ["newContent", "new_content"]) {
        return Some(content);
    }
    let found = match member(members, ["modified_details", "modifiedDetails"]) {
        Some(Value::Object(modified)) => member(&modified, details),
        Some(unreadable) => Some(unreadable),
        None => None,
    };
    match found.or_else(|| member(members, details))? {
        Value::Object(details) => {
            Some(member(&details, ["new_content", "newContent"]).unwrap_or_else(|| Value::from("")))
        }
        // Not even an object: whoever reads it refuses it, because it is no text.
        Value::String(_) => Some(Value::Bool(false)),
        unreadable => Some(unreadable),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(mut data: Value, expected: Option<Profile>, becomes: &Value) {
        let original = data.clone();
        assert_eq!(normalize_answer(&mut data), expected, "{original}");
        assert_eq!(data, *becomes, "{original}");
    }

    #[test]
    fn answers_of_both_dialects_become_one() {
        let plain = json!({"call": "k1", "choice": "proceed_once"});
        let developer = Some(Profile::Developer);
        check(json!({"tool_call_id": "k1", "selected_option_id": "proceed_once"}), developer, &plain);
        let wrapped =
            json!({"kind": "TOOL_CALL_CONFIRMATION", "toolCallId": "k1", "selectedOptionId": "proceed_once"});
        check(wrapped, developer, &plain);
        let nearest = json!({"call": "k1", "choice": "proceed_once", "nearest": true});
        check(json!({"callId": "k1", "outcome": "proceed_once"}), Some(Profile::Gemini), &nearest);
    }

    #[test]
    fn changed_content_is_found_wherever_it_stands() {
        let plain = json!({"call": "k1", "choice": "proceed_once", "newContent": "new\n"});
        let with = |name: &str, value: Value| {
            let mut data = json!({"tool_call_id": "k1", "selected_option_id": "proceed_once"});
            data[name] = value;
            data
        };
        let details = json!({"new_content": "new\n"});
        check(with("file_details", details.clone()), Some(Profile::Developer), &plain);
        check(with("modified_details", json!({"file_details": details})), Some(Profile::Developer), &plain);
        let gemini = json!({"callId": "k1", "outcome": "proceed_once", "newContent": "new\n"});
        let nearest = json!({"call": "k1", "choice": "proceed_once", "newContent": "new\n", "nearest": true});
        check(gemini, Some(Profile::Gemini), &nearest);
    }

    #[test]
    fn a_change_that_cannot_be_read_is_not_lost() {
        let given = |details: Value| {
            let mut data = json!({"tool_call_id": "k", "selected_option_id": "proceed_once"});
            data["file_details"] = details;
            normalize_answer(&mut data);
            data["newContent"].clone()
        };
        assert_eq!(given(json!({})), json!(""));
        assert_eq!(given(json!({"new_content": 7})), json!(7));
        assert!(!given(json!("text")).is_string());
        assert_eq!(given(Value::Null), Value::Null);
    }

    #[test]
    fn several_answers_in_one_part_are_all_read() {
        let both = json!([{"callId": "a", "outcome": "cancel"}, {"call": "b", "choice": "cancel"}]);
        let becomes =
            json!([{"call": "a", "choice": "cancel", "nearest": true}, {"call": "b", "choice": "cancel"}]);
        check(both, Some(Profile::Gemini), &becomes);
    }

    #[test]
    fn other_data_is_left_alone() {
        for other in
            [json!({"callId": "k1"}), json!({"outcome": "x"}), json!("callId"), json!(null), json!([])]
        {
            check(other.clone(), None, &other);
        }
    }
}
