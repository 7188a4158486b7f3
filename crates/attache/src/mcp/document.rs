//! A settings file as text: one server's entry is put in, exchanged or taken out, and all else stays as it was.

use serde_json::{Map, Value, json};

use super::blank::{Blanked, blank};
use super::spans::{Member, Object};

const SERVERS: &str = "mcpServers";
const INDENTATION: &str = "  ";

pub(super) struct Document {
    text: String,
    blanked: Blanked,
    value: Value,
}

/// Why a settings file is not touched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DocumentError {
    #[error("it is not valid JSON: {what} at line {line}, column {column}")]
    Invalid { what: String, line: usize, column: usize },
    #[error("it holds no JSON object")]
    NoObject,
    #[error("its \"mcpServers\" is not an object")]
    ServersNoObject,
    #[error("it has {0:?} twice, so nobody can tell which one counts")]
    Twice(String),
    #[error("the change would damage it")]
    Damage,
}

impl Document {
    /// An empty text is an empty object.
    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        let blanked = blank(text);
        let value: Value = serde_json::from_str(&blanked.plain).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line").next().unwrap_or_default().to_owned();
            DocumentError::Invalid { what, line: error.line(), column: error.column() }
        })?;
        if !value.is_object() {
            return Err(DocumentError::NoObject);
        }
        Ok(Self { text: text.to_owned(), blanked, value })
    }

    pub(super) fn servers(&self) -> Result<Option<&Map<String, Value>>, DocumentError> {
        match self.value.get(SERVERS) {
            None => Ok(None),
            Some(Value::Object(servers)) => Ok(Some(servers)),
            Some(_) => Err(DocumentError::ServersNoObject),
        }
    }

    /// The text with this entry for this server.
    pub(super) fn with_server(&self, name: &str, entry: &Value) -> Result<String, DocumentError> {
        let root = self.root()?;
        let text = match self.servers_object(&root)? {
            None => {
                let outer = self.indentation(&root, "");
                self.insert(&root, SERVERS, &json!({ name: entry }), &outer, "")
            }
            Some((holder, servers)) => {
                let outer = self.line_indentation(holder.start);
                let inner = self.indentation(&servers, &outer);
                match unique(&servers, name)? {
                    Some(member) => {
                        let at = self.line_indentation(member.start);
                        let (before, after) =
                            (&self.text[..member.value.start], &self.text[member.value.end..]);
                        format!("{before}{}{after}", self.render(entry, &at))
                    }
                    None => self.insert(&servers, name, entry, &inner, &outer),
                }
            }
        };
        let mut expected = self.value.clone();
        expected[SERVERS][name] = entry.clone();
        verified(text, &expected)
    }

    /// The text without this server; none when it is not there.
    pub(super) fn without_server(&self, name: &str) -> Result<Option<String>, DocumentError> {
        let root = self.root()?;
        let Some((_, servers)) = self.servers_object(&root)? else { return Ok(None) };
        let Some(member) = unique(&servers, name)?.cloned() else { return Ok(None) };
        let text = self.take_out(&servers, &member);
        let mut expected = self.value.clone();
        if let Some(servers) = expected[SERVERS].as_object_mut() {
            servers.remove(name);
        }
        verified(text, &expected).map(Some)
    }

    fn root(&self) -> Result<Object, DocumentError> {
        Object::at(&self.blanked.plain, 0).ok_or(DocumentError::NoObject)
    }

    fn servers_object<'a>(&self, root: &'a Object) -> Result<Option<(&'a Member, Object)>, DocumentError> {
        let Some(holder) = unique(root, SERVERS)? else { return Ok(None) };
        let servers = Object::at(&self.blanked.plain, holder.value.start);
        Ok(Some((holder, servers.ok_or(DocumentError::ServersNoObject)?)))
    }

    fn insert(&self, object: &Object, key: &str, value: &Value, inner: &str, outer: &str) -> String {
        let end = object.members.last().map_or(object.open + 1, |last| last.value.end);
        // Whoever ends the last line with a comma finds one there again.
        let (comma, trailing) = match (object.members.is_empty(), self.comma(end, object.close)) {
            (true, _) => ("", ""),
            (false, Some(_)) => ("", ","),
            (false, None) => (",", ""),
        };
        // After comments that follow the last member, so that they stay with it.
        let at = self.text[..object.close].trim_end().len().max(end);
        let newline = self.newline();
        let after = &self.text[at..object.close];
        let after = if after.contains('\n') { after.to_owned() } else { format!("{newline}{outer}") };
        let (before, between, rest) = (&self.text[..end], &self.text[end..at], &self.text[object.close..]);
        let member = format!("{}: {}", json!(key), self.render(value, inner));
        format!("{before}{comma}{between}{newline}{inner}{member}{trailing}{after}{rest}")
    }

    fn take_out(&self, object: &Object, member: &Member) -> String {
        let place = object.members.iter().position(|known| known == member).unwrap_or_default();
        let next = object.members.get(place + 1).map_or(object.close, |next| next.start);
        let before = place.checked_sub(1).and_then(|before| object.members.get(before));
        let comma = self
            .comma(member.value.end, next)
            .or_else(|| before.and_then(|before| self.comma(before.value.end, member.start)));
        let mut start = member.start;
        // With the member goes the line it began on, if it was the first thing there.
        let line = self.text[..member.start].trim_end_matches([' ', '\t']);
        if let Some(line) = line.strip_suffix('\n') {
            start = line.strip_suffix('\r').unwrap_or(line).len();
        }
        let mut gone: Vec<_> = comma.map(|comma| comma..comma + 1).into_iter().collect();
        gone.push(start..member.value.end);
        gone.sort_by_key(|range| range.start);
        let mut text = self.text.clone();
        gone.into_iter().rev().for_each(|range| text.replace_range(range, ""));
        text
    }

    /// A comma between two places, be it a trailing one.
    fn comma(&self, from: usize, to: usize) -> Option<usize> {
        let trailing = self.blanked.commas.iter().copied().find(|comma| (from..to).contains(comma));
        self.blanked.plain[from..to].find(',').map(|at| from + at).or(trailing)
    }

    /// How members of `object` are indented.
    fn indentation(&self, object: &Object, outer: &str) -> String {
        let first = object.members.first().map(|member| self.line_indentation(member.start));
        let deeper = first.filter(|indentation| indentation.len() > outer.len());
        deeper.unwrap_or_else(|| format!("{outer}{INDENTATION}"))
    }

    /// The blanks at the beginning of the line of `at`.
    fn line_indentation(&self, at: usize) -> String {
        let line = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[line..at].chars().take_while(|character| [' ', '\t'].contains(character)).collect()
    }

    fn render(&self, value: &Value, indentation: &str) -> String {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        text.replace('\n', &format!("{}{indentation}", self.newline()))
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }
}

fn unique<'a>(object: &'a Object, key: &str) -> Result<Option<&'a Member>, DocumentError> {
    match object.all(key)[..] {
        [] => Ok(None),
        [member] => Ok(Some(member)),
        _ => Err(DocumentError::Twice(key.to_owned())),
    }
}

/// A text is handed out only if it says what it should.
fn verified(text: String, expected: &Value) -> Result<String, DocumentError> {
    match Document::parse(&text) {
        Ok(document) if document.value == *expected => Ok(text),
        _ => Err(DocumentError::Damage),
    }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
