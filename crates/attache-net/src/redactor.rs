//! Takes secrets out of lines that leave the process.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is shorter stands in any text by chance.
const MIN_SECRET_CHARS: usize = 6;

const HIDDEN: &str = "(hidden)";

/// Names of values that are hidden: `apiKey=…`, `"token": "…"`.
const SECRET_NAMES: &[&str] =
    &["key", "token", "secret", "password", "passwd", "credential", "authorization", "cookie"];

/// What forms, addresses and the paths in them leave as it is.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &UNRESERVED.remove(b'/');

/// Words before a credential.
const SCHEMES: &[&str] = &["bearer", "basic"];

/// Knows the secrets that the program was given, and the forms in which others appear.
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// Hides `secrets`, unless they are too short, also as they stand in addresses, forms and JSON.
    pub fn of(secrets: impl IntoIterator<Item = String>) -> Self {
        let plain = secrets.into_iter().filter(|secret| secret.chars().count() >= MIN_SECRET_CHARS);
        let mut secrets: Vec<_> = plain.flat_map(encoded_forms).collect();
        // A secret that is part of another must not leave the rest of it.
        secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        secrets.dedup();
        Self { secrets }
    }

    /// `text` without secrets.
    pub fn redact(&self, text: &str) -> String {
        hide_forms(&self.hide_known(text))
    }

    /// `text` without the secrets that were given; others stay, whatever their form.
    pub fn hide_known<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), HIDDEN));
            }
        }
        text
    }
}

/// A secret and what becomes of it where some of its characters are written in another way.
fn encoded_forms(secret: String) -> Vec<String> {
    let percent = |set| utf8_percent_encode(&secret, set).to_string();
    let encoded = [
        percent(FORM).replace(' ', "+"),
        percent(UNRESERVED),
        percent(PATH),
        secret.replace('\\', "\\\\").replace('"', "\\\""),
    ];
    let mut forms: Vec<String> = encoded.into_iter().filter(|form| *form != secret).collect();
    forms.push(secret);
    forms
}

/// Hides credentials by their form, word by word: what follows a scheme or a secret's name, and in addresses the user and
/// the query.
fn hide_forms(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hides_next = false;
    for word in text.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        let blank = &word[bare.len()..];
        if bare.is_empty() {
            out.push_str(blank);
            continue;
        }
        let plain = bare.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let is_scheme = SCHEMES.iter().any(|scheme| plain.eq_ignore_ascii_case(scheme));
        if is_scheme {
            // The credential follows.
            out.push_str(bare);
        } else if hides_next {
            out.push_str(HIDDEN);
        } else {
            out.push_str(&hide_in_word(bare));
        }
        hides_next = is_scheme || (!hides_next && names_secret(bare));
        out.push_str(blank);
    }
    out
}

/// Whether the word is the name of a secret whose value follows after a blank: `token:` or `"apiKey":`, or with `=`.
fn names_secret(word: &str) -> bool {
    let name = word.strip_suffix([':', '=']);
    name.is_some_and(is_secret_name)
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.trim_matches(['"', '\'', '`']).ends_with(secret))
}

fn hide_in_word(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        return format!("{scheme}://{}", hide_in_address(rest));
    }
    match word.split_once(['=', ':']) {
        Some((name, value)) if !value.is_empty() && is_secret_name(name) => {
            format!("{}{HIDDEN}", &word[..=name.len()])
        }
        _ => word.to_owned(),
    }
}

/// An address after its scheme, without user and query.
fn hide_in_address(address: &str) -> String {
    let end = address.find(['/', '?', '#']).unwrap_or(address.len());
    let (authority, rest) = address.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match rest.split_once(['?', '#']) {
        Some((path, _)) => format!("{host}{path}?{HIDDEN}"),
        None => format!("{host}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let redactor = Redactor::of(["sesame-open".to_owned(), "sesame".to_owned(), "abc".to_owned()]);
        for (text, expected) in [
            ("nothing secret here", "nothing secret here"),
            ("it said sesame-open, twice: sesame-opensesame", "it said (hidden), twice: (hidden)(hidden)"),
            ("abc is too short to be one", "abc is too short to be one"),
            ("Authorization: Bearer x.y.z failed", "Authorization: Bearer (hidden) failed"),
            ("sent bearer x", "sent bearer (hidden)"),
            ("header \"Basic dXNlcg==\"", "header \"Basic (hidden)"),
            ("api_key=12 and more", "api_key=(hidden) and more"),
            ("{\"token\": \"12\", \"a\": 1}", "{\"token\": (hidden) \"a\": 1}"),
            ("password: 12 34", "password: (hidden) 34"),
            ("at https://user:pass@h.example:1/p?key=12#x now", "at https://h.example:1/p?(hidden) now"),
            ("at http://h.example now", "at http://h.example now"),
            ("monkey: 12", "monkey: (hidden)"),
            ("two  blanks\n and a line", "two  blanks\n and a line"),
            ("", ""),
        ] {
            assert_eq!(redactor.redact(text), expected, "{text}");
        }
        assert_eq!(redactor.hide_known("token: 12 sesame-open"), "token: 12 (hidden)");
    }

    #[test]
    fn a_secret_is_hidden_in_addresses_forms_and_json_too() {
        let redactor = Redactor::of(["1//a b+c=~".to_owned(), "x=\"p\\w\"".to_owned()]);
        for (text, expected) in [
            ("/rpc?k=1%2F%2Fa+b%2Bc%3D%7E&x", "/rpc?k=(hidden)&x"),
            ("/rpc?k=1%2F%2Fa%20b%2Bc%3D~", "/rpc?k=(hidden)"),
            ("/rpc/1//a%20b%2Bc%3D~", "/rpc/(hidden)"),
            (r#"{"a": "x=\"p\\w\""}"#, r#"{"a": "(hidden)"}"#),
            (r#"Digest x="p\w""#, "Digest (hidden)"),
        ] {
            assert_eq!(redactor.hide_known(text), expected, "{text}");
        }
    }
}
