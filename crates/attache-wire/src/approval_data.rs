//! Answers about calls that clients give as data, in every dialect.
//!
//! Plain A2A: an object with `call`, `choice` and perhaps `newContent` or `answers`, or a list of such objects. `call` may be
//! left out when only one question is open. The RFC says `tool_call_id`, `selected_option_id` and perhaps
//! `file_details.new_content`. Gemini CLI's clients say `callId`, `outcome` and perhaps `newContent`; their outcomes are a
//! fixed list, whatever a question offers, so the nearest choice is meant. A plain answer says so with `nearest`.

use attache_domain::{CallId, DataAnswer, NewContent};
use serde_json::{Map, Value};

use crate::approval_words::{read_choice, read_nearest_choice};
use crate::devtool::Dialect;

/// The answers in the data of one part, and the dialect that one of them is in, unless it is plain A2A.
pub(crate) fn read_data(data: &Value) -> (Vec<DataAnswer>, Option<Dialect>) {
    let items = match data {
        Value::Array(items) => items.as_slice(),
        item => std::slice::from_ref(item),
    };
    let mut answers = Vec::with_capacity(items.len());
    let mut found = None;
    for item in items {
        let (answer, dialect) = read_item(item);
        answers.push(answer);
        found = dialect.or(found);
    }
    (answers, found)
}

fn read_item(item: &Value) -> (DataAnswer, Option<Dialect>) {
    let Some(members) = item.as_object() else { return Default::default() };
    let text = |names: &[&str]| names.iter().find_map(|name| members.get(*name)?.as_str());
    let developer =
        (text(&["tool_call_id", "toolCallId"]), text(&["selected_option_id", "selectedOptionId"]));
    let gemini = (text(&["callId"]), text(&["outcome"]));
    let (dialect, call, choice) = match (developer, gemini) {
        ((Some(call), Some(choice)), _) => (Some(Dialect::Developer), Some(call), Some(choice)),
        (_, (Some(call), Some(choice))) => (Some(Dialect::Gemini), Some(call), Some(choice)),
        _ => (None, text(&["call"]), text(&["choice"])),
    };
    let is_nearest = dialect == Some(Dialect::Gemini)
        || (dialect.is_none() && members.get("nearest") == Some(&true.into()));
    let content = match dialect {
        Some(_) => dialect_content(members),
        None => members.get("newContent").cloned(),
    };
    let answer = DataAnswer {
        call: call.map(|call| CallId(call.to_owned())),
        choice: choice.map(if is_nearest { read_nearest_choice } else { read_choice }),
        new_content: match content {
            None | Some(Value::Null) => NewContent::Unchanged,
            Some(Value::String(content)) => NewContent::Text(content),
            Some(_) => NewContent::NotText,
        },
        answers: members.get("answers").cloned(),
    };
    (answer, dialect)
}

/// What an edit should write instead, wherever a dialect puts it. Content that is no text is kept as such: a person's
/// change must not be lost because it cannot be read. An object without the content means that it is empty, because
/// protobuf's JSON leaves empty texts out.
fn dialect_content(members: &Map<String, Value>) -> Option<Value> {
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
        // A text in place of the object is not the content.
        Value::String(_) => Some(Value::Bool(false)),
        unreadable => Some(unreadable),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn read_one(data: Value) -> (DataAnswer, Option<Dialect>) {
        let (mut answers, dialect) = read_data(&data);
        assert_eq!(answers.len(), 1, "{data}");
        (answers.remove(0), dialect)
    }

    fn plain(more: Value) -> DataAnswer {
        let mut data = json!({"call": "k1", "choice": "proceed_once"});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read_one(data).0
    }

    #[test]
    fn answers_of_every_dialect_become_one() {
        let developer = Some(Dialect::Developer);
        let snake = json!({"tool_call_id": "k1", "selected_option_id": "proceed_once"});
        assert_eq!(read_one(snake), (plain(json!({})), developer));
        let wrapped =
            json!({"kind": "TOOL_CALL_CONFIRMATION", "toolCallId": "k1", "selectedOptionId": "proceed_once"});
        assert_eq!(read_one(wrapped), (plain(json!({})), developer));
        let gemini = json!({"callId": "k1", "outcome": "proceed_once"});
        assert_eq!(read_one(gemini), (plain(json!({"nearest": true})), Some(Dialect::Gemini)));
    }

    #[test]
    fn changed_content_is_found_wherever_it_stands() {
        let expected = plain(json!({"newContent": "new\n"}));
        assert_eq!(expected.new_content, NewContent::Text("new\n".into()));
        let with = |name: &str, value: Value| {
            let mut data = json!({"tool_call_id": "k1", "selected_option_id": "proceed_once"});
            data[name] = value;
            read_one(data).0
        };
        let details = json!({"new_content": "new\n"});
        assert_eq!(with("file_details", details.clone()), expected);
        assert_eq!(with("modified_details", json!({"file_details": details})), expected);
        let gemini = json!({"callId": "k1", "outcome": "proceed_once", "newContent": "new\n"});
        assert_eq!(read_one(gemini).0, plain(json!({"newContent": "new\n", "nearest": true})));
    }

    #[test]
    fn a_change_that_cannot_be_read_is_not_lost() {
        let given = |details: Value| {
            let mut data = json!({"tool_call_id": "k", "selected_option_id": "proceed_once"});
            data["file_details"] = details;
            read_one(data).0.new_content
        };
        assert_eq!(given(json!({})), NewContent::Text(String::new()));
        assert_eq!(given(json!({"new_content": 7})), NewContent::NotText);
        assert_eq!(given(json!("text")), NewContent::NotText);
        assert_eq!(given(Value::Null), NewContent::Unchanged);
        assert_eq!(plain(json!({"newContent": 7})).new_content, NewContent::NotText);
    }

    #[test]
    fn several_answers_in_one_part_are_all_read() {
        let both = json!([{"callId": "a", "outcome": "cancel"}, {"call": "b", "choice": "cancel"}]);
        let (answers, dialect) = read_data(&both);
        let calls: Vec<_> = answers.iter().map(|answer| answer.call.clone().unwrap().0).collect();
        assert_eq!((calls, dialect), (vec!["a".to_owned(), "b".to_owned()], Some(Dialect::Gemini)));
    }

    #[test]
    fn other_data_answers_nothing() {
        for other in [json!({"callId": "k1"}), json!({"outcome": "x"}), json!("callId"), json!(null)] {
            assert_eq!(read_one(other.clone()), (DataAnswer::default(), None), "{other}");
        }
        assert_eq!(read_data(&json!([])), (Vec::new(), None));
    }
}
