//! Names for ids, in the order of their appearance.

use serde_json::Value;

/// Gives every id its name, wherever it stands.
pub(super) fn given(heard: &mut Value) {
    let mut names = Names::default();
    names.collect(heard);
    // An id may be the beginning of another.
    names.0.sort_by_key(|(id, _)| std::cmp::Reverse(id.len()));
    names.give(heard);
}

#[derive(Default)]
struct Names(Vec<(String, String)>);

impl Names {
    fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(fields) => {
                let is_task = value["kind"] == "task" || fields.contains_key("taskState");
                for (key, field) in fields {
                    match (key.as_str(), field.as_str()) {
                        ("id", Some(id)) if is_task => self.add("t", id),
                        ("taskId", Some(id)) => self.add("t", id),
                        ("contextId" | "_contextId", Some(id)) => self.add("c", id),
                        ("messageId", Some(id)) => self.add("m", id),
                        ("callId", Some(id)) => self.add("call", id),
                        _ => self.collect(field),
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, kind: &str, id: &str) {
        if self.0.iter().any(|(known, _)| known == id) {
            return;
        }
        let is_of_kind = |name: &str| name.trim_end_matches(|digit: char| digit.is_ascii_digit()) == kind;
        let number = self.0.iter().filter(|(_, name)| is_of_kind(name)).count() + 1;
        self.0.push((id.to_owned(), format!("{kind}{number}")));
    }

    fn give(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (id, name) in &self.0 {
                    if text.contains(id.as_str()) {
                        *text = text.replace(id.as_str(), name);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.give(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.give(field)),
            _ => {}
        }
    }
}
