//! Reads JSON values by type and collects violations with their paths.

use std::fmt;

use attache_domain::{Fault, Violation};
use serde_json::{Map, Value};

use super::{DecodeOptions, PartKinds};
use crate::JsonForm;
use crate::devtool::Dialect;

/// The path of a value in a request: a chain on the stack, formatted only for violations.
#[derive(Clone, Copy)]
pub(crate) enum FieldPath<'a> {
    Root,
    Member(&'a FieldPath<'a>, &'a str),
    Item(&'a FieldPath<'a>, usize),
}

impl<'a> FieldPath<'a> {
    pub(crate) fn member(&'a self, name: &'a str) -> FieldPath<'a> {
        FieldPath::Member(self, name)
    }

    pub(crate) fn item(&'a self, index: usize) -> FieldPath<'a> {
        FieldPath::Item(self, index)
    }
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(FieldPath::Root, name) => formatter.write_str(name),
            Self::Member(parent, name) => write!(formatter, "{parent}.{name}"),
            Self::Item(parent, index) => write!(formatter, "{parent}[{index}]"),
        }
    }
}

/// Decodes one request. A reader records a violation here and returns `None`.
pub(crate) struct Decoder {
    json_form: JsonForm,
    options: DecodeOptions,
    lenient: bool,
    violations: Vec<Violation>,
    dialect: Option<Dialect>,
}

/// Further violations are not listed, so the response stays small.
const MAX_VIOLATIONS: usize = 16;

impl Decoder {
    pub(crate) fn new(json_form: JsonForm) -> Self {
        Self {
            json_form,
            options: DecodeOptions::default(),
            lenient: false,
            violations: Vec::new(),
            dialect: None,
        }
    }

    /// For responses: an agent may leave out what a client has to send.
    pub(crate) fn lenient(json_form: JsonForm) -> Self {
        let options = DecodeOptions { part_kinds: PartKinds::Inferred, ..DecodeOptions::default() };
        Self { options, lenient: true, ..Self::new(json_form) }
    }

    pub(crate) fn is_lenient(&self) -> bool {
        self.lenient
    }

    pub(crate) fn with_options(self, options: DecodeOptions) -> Self {
        Self { options, ..self }
    }

    pub(crate) fn options(&self) -> DecodeOptions {
        self.options
    }

    pub(crate) fn json_form(&self) -> JsonForm {
        self.json_form
    }

    /// The dialect that the request shows, if any.
    pub(crate) fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    pub(crate) fn set_dialect(&mut self, dialect: Option<Dialect>) {
        self.dialect = dialect.or(self.dialect);
    }

    /// Returns the result, or all violations.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Fault> {
        match read {
            Some(read) if self.violations.is_empty() => Ok(read),
            _ => Err(Fault::InvalidParams { violations: self.violations }),
        }
    }

    /// Records a violation at `path`. Returns `None`, so that a reader can return it.
    pub(crate) fn refuse<T>(&mut self, path: FieldPath<'_>, description: impl Into<String>) -> Option<T> {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(Violation { field: path.to_string(), description: description.into() });
        }
        None
    }

    fn refuse_kind<T>(&mut self, path: FieldPath<'_>, wanted: &str, found: &Value) -> Option<T> {
        self.refuse(path, format!("must be {wanted}, not {}", kind_of(found)))
    }

    pub(crate) fn text(&mut self, value: Value, path: FieldPath<'_>) -> Option<String> {
        match value {
            Value::String(text) => Some(text),
            other => self.refuse_kind(path, "a string", &other),
        }
    }

    /// An id chosen by a client. It is stored, compared and displayed, so it must be short and printable.
    pub(crate) fn id(&mut self, text: String, path: FieldPath<'_>) -> Option<String> {
        match invalid_id_reason(&text).filter(|_| !self.lenient) {
            None => Some(text),
            Some(problem) => self.refuse(path, problem),
        }
    }

    pub(crate) fn array(&mut self, value: Value, path: FieldPath<'_>) -> Option<Vec<Value>> {
        match value {
            Value::Array(items) => Some(items),
            other => self.refuse_kind(path, "an array", &other),
        }
    }

    pub(crate) fn object(&mut self, value: Value, path: FieldPath<'_>) -> Option<Map<String, Value>> {
        match value {
            Value::Object(members) => Some(members),
            other => self.refuse_kind(path, "an object", &other),
        }
    }

    pub(crate) fn members<'p>(&mut self, value: Value, path: FieldPath<'p>) -> Option<Members<'p>> {
        self.object(value, path).map(|map| Members::new(map, path))
    }

    fn integer(&mut self, value: &Value, path: FieldPath<'_>) -> Option<i64> {
        let read = match value {
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) if self.json_form.is_proto_json() => text.parse().ok(),
            other => return self.refuse_kind(path, "an integer", other),
        };
        match read {
            Some(integer) => Some(integer),
            None => self.refuse(path, format!("must be an integer, not {}", excerpt(&value.to_string()))),
        }
    }
}

/// The integer value of a whole floating-point number, clamped to the range.
fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "a fraction was ruled out and `as` saturates")]
    (number.fract() == 0.0).then_some(number as i64)
}

/// The members of one object; readers take them out.
pub(crate) struct Members<'p> {
    map: Map<String, Value>,
    path: FieldPath<'p>,
}

impl<'p> Members<'p> {
    pub(crate) fn new(map: Map<String, Value>, path: FieldPath<'p>) -> Self {
        let map = if map.keys().any(|name| name.contains('_')) { keys_to_camel_case(map) } else { map };
        Self { map, path }
    }

    pub(crate) fn path(&self) -> FieldPath<'p> {
        self.path
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn into_map(self) -> Map<String, Value> {
        self.map
    }

    /// The first member that was not taken.
    pub(crate) fn first_name(&self) -> Option<&str> {
        self.map.iter().find(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str())
    }

    /// Takes a member out; `null` counts as absent.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a member out, including `null`.
    pub(crate) fn take_even_null(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name)
    }

    pub(crate) fn text(&mut self, decoder: &mut Decoder, name: &str) -> Option<String> {
        let value = self.take(name)?;
        decoder.text(value, self.path.member(name))
    }

    /// An empty string counts as absent.
    pub(crate) fn nonempty_text(&mut self, decoder: &mut Decoder, name: &str) -> Option<String> {
        self.text(decoder, name).filter(|text| !text.is_empty())
    }

    pub(crate) fn required_text(&mut self, decoder: &mut Decoder, name: &str) -> Option<String> {
        let Some(value) = self.take(name) else {
            return decoder.refuse(self.path.member(name), "is required");
        };
        let text = decoder.text(value, self.path.member(name))?;
        if text.is_empty() {
            return decoder.refuse(self.path.member(name), "must not be empty");
        }
        Some(text)
    }

    /// An id; an empty one counts as absent.
    pub(crate) fn id(&mut self, decoder: &mut Decoder, name: &str) -> Option<String> {
        let text = self.nonempty_text(decoder, name)?;
        decoder.id(text, self.path.member(name))
    }

    pub(crate) fn required_id(&mut self, decoder: &mut Decoder, name: &str) -> Option<String> {
        let text = self.required_text(decoder, name)?;
        decoder.id(text, self.path.member(name))
    }

    pub(crate) fn ids(&mut self, decoder: &mut Decoder, name: &str) -> Vec<String> {
        let texts = self.texts(decoder, name);
        let path = self.path.member(name);
        let ids = texts.into_iter().enumerate();
        ids.filter_map(|(index, id)| decoder.id(id, path.item(index))).collect()
    }

    pub(crate) fn texts(&mut self, decoder: &mut Decoder, name: &str) -> Vec<String> {
        let Some(value) = self.take(name) else { return Vec::new() };
        let path = self.path.member(name);
        let items = decoder.array(value, path).unwrap_or_default();
        let texts = items.into_iter().enumerate();
        texts.filter_map(|(index, item)| decoder.text(item, path.item(index))).collect()
    }

    pub(crate) fn object(&mut self, decoder: &mut Decoder, name: &str) -> Option<Map<String, Value>> {
        let value = self.take(name)?;
        decoder.object(value, self.path.member(name))
    }

    pub(crate) fn boolean(&mut self, decoder: &mut Decoder, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(boolean) => Some(boolean),
            other => decoder.refuse_kind(self.path.member(name), "true or false", &other),
        }
    }

    /// An integer from `least` to `most`, neither of which may be negative.
    pub(crate) fn integer(
        &mut self,
        decoder: &mut Decoder,
        name: &str,
        least: i64,
        most: i64,
    ) -> Option<usize> {
        let value = self.take(name)?;
        let path = self.path.member(name);
        let integer = decoder.integer(&value, path)?;
        if (least..=most).contains(&integer) {
            return usize::try_from(integer).ok();
        }
        decoder.refuse(
            path,
            match least {
                0 if integer < 0 => format!("must not be negative, but is {integer}"),
                0 => format!("must be at most {most}, but is {integer}"),
                _ => format!("must be between {least} and {most}, but is {integer}"),
            },
        )
    }
}

/// Far longer than any client's ids: the SDKs use UUIDs.
pub(crate) const MAX_ID_BYTES: usize = 1024;

/// Why an id chosen by a client is invalid.
pub(crate) fn invalid_id_reason(id: &str) -> Option<String> {
    if id.len() > MAX_ID_BYTES {
        return Some(format!("must have at most {MAX_ID_BYTES} bytes, but has {}", id.len()));
    }
    let control = id.chars().find(|character| character.is_control())?;
    Some(format!("must have no control characters, but has {control:?}"))
}

/// Renames `message_id` to `messageId` and so on. A member that is there in both spellings keeps the
/// value of the camelCase one.
fn keys_to_camel_case(map: Map<String, Value>) -> Map<String, Value> {
    let (renamed, mut kept): (Map<_, _>, Map<_, _>) =
        map.into_iter().partition(|(name, _)| name.contains('_'));
    for (name, value) in renamed {
        kept.entry(to_camel_case(&name)).or_insert(value);
    }
    kept
}

/// Underscores at the ends of a name, or before anything but a small letter or digit, are part of it.
pub(crate) fn to_camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().filter(|next| next.is_ascii_lowercase() || next.is_ascii_digit());
        match next.copied() {
            Some(next) if letter == '_' && !camel.is_empty() => {
                camel.push(next.to_ascii_uppercase());
                letters.next();
            }
            _ => camel.push(letter),
        }
    }
    camel
}

/// The name of a value's type, for violations.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The beginning of `text`, to quote a caller's input at bounded length.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    attache_domain::excerpt(text, MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_put_into_camel_case() {
        for (name, expected) in [
            ("message_id", "messageId"),
            ("status_timestamp_after", "statusTimestampAfter"),
            ("kind_", "kind_"),
            ("_kind", "_kind"),
            ("a__b", "a_B"),
            ("A_B", "A_B"),
            ("oauth_2", "oauth2"),
        ] {
            assert_eq!(to_camel_case(name), expected);
        }
    }

    #[test]
    fn a_field_is_named_by_its_path() {
        let (root, mut text) = (FieldPath::Root, String::new());
        let message = root.member("message");
        let parts = message.member("parts");
        let part = parts.item(3);
        fmt::Write::write_fmt(&mut text, format_args!("{}", part.member("kind"))).unwrap();
        assert_eq!(text, "message.parts[3].kind");
    }

    #[test]
    fn the_list_of_what_is_wrong_is_bounded() {
        let mut decoder = Decoder::new(JsonForm::V1_0);
        for _ in 0..1000 {
            decoder.refuse::<()>(FieldPath::Root, "is wrong");
        }
        let Err(Fault::InvalidParams { violations }) = decoder.finish(Some(())) else { panic!() };
        assert_eq!(violations.len(), MAX_VIOLATIONS);
    }
}
