//! Edits JSON with comments in place: sets or removes one member, and keeps the rest of the text.

use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use crate::json::{OPTIONS, unreadable};
use crate::{Node, ParseError};

/// A JSON object as text.
#[derive(Debug)]
pub struct JsonDocument {
    text: String,
    value: Value,
}

/// Why a document cannot be read or edited.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    #[error("it is not valid JSON: {} at line {}", .0.message, .0.line)]
    Invalid(ParseError),
    #[error("it holds no JSON object")]
    NoObject,
    #[error("its {0:?} is not an object")]
    MemberNoObject(String),
    #[error("it has {0:?} twice, so it is not clear which one counts")]
    Duplicate(String),
    #[error("the change would damage it")]
    Damage,
}

impl JsonDocument {
    /// An empty text is an empty object.
    pub fn parse(text: &str) -> Result<Self, EditError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let value = Node::from_json(text).map_err(EditError::Invalid)?.to_json();
        if !value.is_object() || object(&root(text)?).is_none() {
            return Err(EditError::NoObject);
        }
        Ok(Self { text: text.to_owned(), value })
    }

    /// The members of the object `table`, which is a member of the document.
    pub fn table(&self, table: &str) -> Result<Option<&Map<String, Value>>, EditError> {
        match self.value.get(table) {
            None => Ok(None),
            Some(value) => {
                value.as_object().map(Some).ok_or_else(|| EditError::MemberNoObject(table.to_owned()))
            }
        }
    }

    /// The value at `path`, member by member.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, name| value.get(name))
    }

    /// The text in which `name` in the object `table` is `value`. Creates the table if it is missing.
    pub fn with(&self, table: &str, name: &str, value: &Value) -> Result<String, EditError> {
        self.with_at(&[table, name], value)
    }

    /// The text in which the member at `path` is `value`. Creates the objects that are missing on the way.
    pub fn with_at(&self, path: &[&str], value: &Value) -> Result<String, EditError> {
        let Some((name, tables)) = path.split_last() else { return Err(EditError::NoObject) };
        let root = root(&self.text)?;
        let mut members = object(&root).ok_or(EditError::NoObject)?;
        let mut expected = self.value.clone();
        let mut place = &mut expected;
        for table in tables {
            members = match member(&members, table)? {
                Some(property) => {
                    property.object_value().ok_or_else(|| EditError::MemberNoObject((*table).to_owned()))?
                }
                None => members.append(table, CstInputValue::Object(Vec::new())).object_value_or_set(),
            };
            place = &mut place[*table];
        }
        match member(&members, name)? {
            Some(property) => property.set_value(input(value)),
            None => drop(members.append(name, input(value))),
        }
        place[*name] = value.clone();
        verified(root.to_string(), &expected)
    }

    /// The text without `name` in the object `table`; `None` if it is not there.
    pub fn without(&self, table: &str, name: &str) -> Result<Option<String>, EditError> {
        let root = root(&self.text)?;
        let document = object(&root).ok_or(EditError::NoObject)?;
        let Some(property) = member(&document, table)? else { return Ok(None) };
        let members = property.object_value().ok_or_else(|| EditError::MemberNoObject(table.to_owned()))?;
        let Some(property) = member(&members, name)? else { return Ok(None) };
        property.remove();
        let mut expected = self.value.clone();
        if let Some(members) = expected[table].as_object_mut() {
            members.remove(name);
        }
        verified(root.to_string(), &expected).map(Some)
    }
}

fn root(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| EditError::Invalid(unreadable(&error)))
}

fn object(root: &CstRootNode) -> Option<CstObject> {
    root.object_value()
}

fn member(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, EditError> {
    let is_it = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    let mut found = object.properties().into_iter().filter(is_it);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(EditError::Duplicate(name.to_owned())),
        (property, None) => Ok(property),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Returns an edited text only if it parses to the expected value.
fn verified(text: String, expected: &Value) -> Result<String, EditError> {
    match JsonDocument::parse(&text) {
        Ok(document) if document.value == *expected => Ok(text),
        _ => Err(EditError::Damage),
    }
}

#[cfg(test)]
#[path = "json_edit_tests.rs"]
mod tests;
