//! What was heard without what differs from run to run and from machine to machine.
//!
//! Ids become `t1`, `c1`, `m1` and `call1` in the order of their appearance. Descriptions and schemas become `…`: they
//! are long and not ours to keep. Of live output the last event counts, which is what a client shows at the end, because
//! how many there are is chance; for the same reason a tool call that is told again unchanged is left out.

mod events;
mod names;

use serde_json::{Value, json};

pub(super) struct Normal<'a> {
    /// Texts of this run and what to say in their place, the longer ones first.
    pub(super) places: &'a [(String, &'static str)],
}

/// Under these keys stands a text or a schema that is left out.
const LONG: &[&str] = &["description", "schema", "parameterSchema", "examples", "tags"];

impl Normal<'_> {
    pub(super) fn of(&self, heard: &mut Value) {
        for step in heard["steps"].as_array_mut().into_iter().flatten() {
            if let Some(Value::Array(events)) = step.pointer_mut("/heard/events") {
                events::without_repetition(events);
                events::with_latest_output(events);
            }
        }
        self.shorten(heard);
        names::given(heard);
    }

    fn shorten(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (place, name) in self.places {
                    *text = text.replace(place, name);
                }
                *text = without_process(text);
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.shorten(item)),
            Value::Object(_) => self.shorten_object(value),
            _ => {}
        }
    }

    fn shorten_object(&self, object: &mut Value) {
        if object.get("artifactId").is_some() {
            events::join_parts(&mut object["parts"]);
        }
        if length_is_right(object) {
            object["contentLength"] = json!("$LENGTH");
        }
        let is_thought = object.get("subject").is_some();
        for (key, value) in object.as_object_mut().into_iter().flatten() {
            match key.as_str() {
                "timestamp" => *value = json!("$TIME"),
                "checkpoint" => *value = json!("$CHECKPOINT"),
                key if LONG.contains(&key) && !is_thought && !value.is_null() => *value = json!("…"),
                _ => self.shorten(value),
            }
        }
    }
}

/// The length of a tool's answer depends on where the workspace is; that it is the right one does not.
fn length_is_right(response: &Value) -> bool {
    let answer = &response["responseParts"][0]["functionResponse"]["response"];
    let text = answer.get("output").or_else(|| answer.get("error")).and_then(Value::as_str);
    text.is_some_and(|text| response["contentLength"] == text.encode_utf16().count())
}

/// Without the number of the process that a command ran as.
fn without_process(text: &str) -> String {
    let label = "Process Group PGID: ";
    let Some((before, after)) = text.split_once(label) else { return text.to_owned() };
    format!("{before}{label}$PID{}", after.trim_start_matches(|character: char| character.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(events: Value, expected: Value) {
        let mut heard = json!({"steps": [{"heard": {"events": events}}]});
        Normal { places: &[("/tmp/x".to_owned(), "$WORKSPACE")] }.of(&mut heard);
        assert_eq!(heard["steps"][0]["heard"]["events"], expected);
    }

    #[test]
    fn ids_are_named_wherever_they_stand() {
        let event =
            json!({"taskId": "abc", "contextId": "def", "prompt": "abc########0", "timestamp": "now"});
        let named = json!({"taskId": "t1", "contextId": "c1", "prompt": "t1########0", "timestamp": "$TIME"});
        check(json!([event]), json!([named]));
    }

    #[test]
    fn paths_and_processes_are_of_no_machine() {
        let event = json!({"a": "in /tmp/x/b", "b": "Process Group PGID: 12\nEnd"});
        let named = json!({"a": "in $WORKSPACE/b", "b": "Process Group PGID: $PID\nEnd"});
        check(json!([event]), json!([named]));
    }

    #[test]
    fn a_tool_is_described_without_its_texts_and_a_thought_with_them() {
        let event =
            json!({"tool": {"description": "long", "schema": {}}, "t": {"subject": "A", "description": "B"}});
        let named =
            json!({"tool": {"description": "…", "schema": "…"}, "t": {"subject": "A", "description": "B"}});
        check(json!([event]), json!([named]));
    }

    #[test]
    fn output_is_what_a_client_shows_at_the_end() {
        let piece = |text: &str| {
            let artifact = json!({"artifactId": "a", "parts": [{"kind": "text", "text": text}]});
            json!({"kind": "artifact-update", "artifact": artifact, "lastChunk": false})
        };
        check(json!([piece("a   \n  "), piece("a  \nb \n ")]), json!([piece("a\nb")]));
    }

    #[test]
    fn a_length_is_compared_with_its_text() {
        let response = |length: Value, text: &str| {
            let parts = json!([{"functionResponse": {"response": {"output": text}}}]);
            json!({"contentLength": length, "responseParts": parts})
        };
        check(json!([response(json!(3), "one")]), json!([response(json!("$LENGTH"), "one")]));
        check(json!([response(json!(4), "one")]), json!([response(json!(4), "one")]));
    }
}
