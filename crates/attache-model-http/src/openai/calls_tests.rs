//! Calls in every kind of pieces.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn collected(pieces: &[Value]) -> Vec<Option<(String, String, Value)>> {
    let mut calls = Calls::default();
    pieces.iter().for_each(|piece| drop(calls.take(piece)));
    let shown = |call: AssembledCall| (call.id, call.name, Value::Object(call.input));
    calls.finish().into_iter().map(|call| call.map(shown)).collect()
}

#[track_caller]
fn check(pieces: Value, expected: &[(&str, &str, Value)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(id, name, input)| Some(((*id).to_owned(), (*name).to_owned(), input.clone())))
        .collect();
    assert_eq!(collected(pieces.as_array().unwrap()), expected, "{pieces}");
}

#[test]
fn pieces_with_numbers_go_together() {
    check(
        json!([
            {"index": 0, "id": "a", "type": "function", "function": {"name": "x", "arguments": ""}},
            {"index": 1, "id": "b", "function": {"name": "y", "arguments": "{\"q\""}},
            {"index": 0, "function": {"arguments": "{\"p\":"}},
            {"index": 1, "function": {"arguments": ":2}"}},
            {"index": 0, "function": {"arguments": "1}"}},
        ]),
        &[("a", "x", json!({"p": 1})), ("b", "y", json!({"q": 2}))],
    );
}

#[test]
fn what_others_leave_out_or_repeat_is_made_out() {
    // Whole calls without a number, with and without ids.
    check(
        json!([
            {"id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"id": "b", "function": {"name": "x", "arguments": "{\"p\":1}"}},
        ]),
        &[("a", "x", json!({})), ("b", "x", json!({"p": 1}))],
    );
    check(
        json!([{"function": {"name": "x", "arguments": "{}"}}, {"function": {"name": "x"}}]),
        &[("", "x", json!({})), ("", "x", json!({}))],
    );
    // The same number for all.
    check(
        json!([
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}},
            {"index": 0, "id": "b", "function": {"name": "y", "arguments": "{}"}},
        ]),
        &[("a", "x", json!({})), ("b", "y", json!({}))],
    );
    // Ids and names that are repeated or empty.
    check(
        json!([
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"p\""}},
            {"index": 0, "id": "a", "function": {"name": "x", "arguments": ":1"}},
            {"index": 0, "id": "", "function": {"name": null, "arguments": "}"}},
        ]),
        &[("a", "x", json!({"p": 1}))],
    );
    // Without a number, in pieces.
    check(
        json!([
            {"id": "a", "function": {"name": "x", "arguments": "{\"p\""}},
            {"function": {"arguments": ":1}"}},
        ]),
        &[("a", "x", json!({"p": 1}))],
    );
    // The input as an object, or as nothing.
    check(json!([{"function": {"name": "x", "arguments": {"p": 1}}}]), &[("", "x", json!({"p": 1}))]);
    check(json!([{"function": {"name": "x", "arguments": "null"}}]), &[("", "x", json!({}))]);
}

#[test]
fn what_cannot_be_read_is_no_call() {
    for piece in [
        json!({"function": {"name": "x", "arguments": "{\"p\":"}}),
        json!({"function": {"name": "x", "arguments": "[1]"}}),
        json!({"function": {"arguments": "{}"}}),
        json!({"index": 0}),
        json!(7),
    ] {
        assert_eq!(collected(std::slice::from_ref(&piece)), [None], "{piece}");
    }
}

#[test]
fn calls_without_end_are_not_collected_without_end() {
    let mut calls = Calls::default();
    for index in 0..2_000 {
        calls.take(
            &json!({"index": index, "id": format!("c{index}"), "function": {"name": "x", "arguments": "{}"}}),
        );
    }
    let calls = calls.finish();
    assert_eq!(calls.len(), MAX_CALLS);
    assert_eq!(calls.last(), Some(&None), "the last one holds what is too much and cannot be read");
}

#[test]
fn a_call_begins_once_and_keeps_what_belongs_to_it() {
    let mut calls = Calls::default();
    let first = json!({"index": 0, "id": "a", "function": {"name": "x"}, "extra_content": {"google": 1}});
    assert_eq!(calls.take(&first), Some("x".into()));
    assert_eq!(calls.take(&json!({"index": 0, "function": {"name": "x", "arguments": "{}"}})), None);
    assert_eq!(calls.finish()[0].as_ref().unwrap().extra, Some(json!({"google": 1})));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_input_arrives_whole_in_any_pieces(
        value in "\\PC{0,20}",
        places in proptest::collection::vec(any::<usize>(), 0..8),
    ) {
        let input = json!({"text": value, "n": [1, {"x": null}]});
        let text: Vec<char> = input.to_string().chars().collect();
        let mut places: Vec<usize> = places.iter().map(|place| place % (text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let mut pieces = vec![json!({"index": 3, "id": "a", "function": {"name": "x"}})];
        for pair in places.windows(2) {
            let piece: String = text[pair[0]..pair[1]].iter().collect();
            pieces.push(json!({"index": 3, "function": {"arguments": piece}}));
        }
        prop_assert_eq!(collected(&pieces), [Some(("a".to_owned(), "x".to_owned(), input))]);
    }
}
