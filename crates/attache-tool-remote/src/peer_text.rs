//! The words of an agent, before they reach a person, a model or a log: sent credentials are removed, hidden characters are
//! written out.
//!
//! Every text of an agent passes [`SentSecrets::clean`] where it enters this crate. Zero-width characters, tags and direction
//! marks are shown as `\u{…}`, as in `attache_domain::visible_again`. What harmless text needs stays: blanks of any width, and
//! single joiners and variation selectors beside letters and emoji.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_client::{Credential, CredentialError, CredentialRequest, CredentialSource};
use attache_domain::{IgnorePoison, is_hidden};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Credentials that are remembered. An agent repeats the one of the request that it answers, or one shortly before.
const MAX_SECRETS: usize = 16;
/// Bytes. A shorter secret may be an ordinary word.
const MIN_SECRET: usize = 6;
const REDACTED: &str = "…";

/// The credentials that an agent was sent. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentSecrets(Arc<Mutex<VecDeque<Secret>>>);

/// Never shown in debug text.
#[derive(Clone, PartialEq, Eq)]
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(REDACTED)
    }
}

impl SentSecrets {
    /// The same source; what it gives is remembered.
    pub(crate) fn watch(&self, source: Arc<dyn CredentialSource>) -> Arc<dyn CredentialSource> {
        Arc::new(WatchedSource { source, secrets: self.clone() })
    }

    /// `text` of the agent, without the credentials that it was sent and with hidden characters written out.
    pub(crate) fn clean(&self, text: &str) -> String {
        visible_words(&self.redacted(text)).into_owned()
    }

    /// `text` without the credentials.
    pub(crate) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secrets = self.0.lock().ignore_poison();
        let mut text = Cow::Borrowed(text);
        for Secret(secret) in secrets.iter() {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REDACTED).into();
            }
        }
        text
    }

    fn add(&self, credential: &Credential) {
        let (Credential::Header { value, .. }
        | Credential::Query { value, .. }
        | Credential::Cookie { value, .. }) = credential;
        let mut secrets = self.0.lock().ignore_poison();
        for secret in forms(value.expose()) {
            if !secrets.contains(&secret) {
                secrets.push_back(secret);
            }
        }
        while secrets.len() > MAX_SECRETS {
            secrets.pop_front();
        }
    }
}

/// The whole value, what follows the scheme of a header, and the password in it; long ones first.
fn forms(value: &str) -> Vec<Secret> {
    let mut forms = vec![value];
    forms.extend(value.split_once(' ').map(|(_, rest)| rest.trim()));
    let basic = value.strip_prefix("Basic ").and_then(|encoded| STANDARD.decode(encoded.trim()).ok());
    let basic = basic.and_then(|bytes| String::from_utf8(bytes).ok());
    forms.extend(basic.as_deref());
    forms.extend(basic.as_deref().and_then(|text| text.split_once(':')).map(|(_, password)| password));
    let forms = forms.into_iter().filter(|form| form.len() >= MIN_SECRET);
    forms.map(|form| Secret(form.to_owned())).collect()
}

#[derive(Debug)]
struct WatchedSource {
    source: Arc<dyn CredentialSource>,
    secrets: SentSecrets,
}

#[async_trait]
impl CredentialSource for WatchedSource {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Credential>, CredentialError> {
        let credential = self.source.credential(request).await?;
        if let Some(credential) = &credential {
            self.secrets.add(credential);
        }
        Ok(credential)
    }
}

/// `text` with every character written out that could hide something. Text that was written out before stays unchanged.
fn visible_words(text: &str) -> Cow<'_, str> {
    let hides = |character: char| is_hidden(character) && !is_layout(character);
    // Most texts are plain, and some are long.
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if is_plain || !text.contains(hides) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let next = rest.peek().copied();
        match character {
            '\r' if next == Some('\n') => continue,
            _ if hides(character) && !is_needed(before, character, next) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
        before = Some(character);
    }
    shown.into()
}

/// Lines, tabs and blanks. A blank of another width says nothing that a blank does not say.
fn is_layout(character: char) -> bool {
    matches!(
        character,
        '\n' | '\t' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// A joiner between letters of a script that has joined forms, or a variation selector after an emoji.
fn is_needed(before: Option<char>, character: char, next: Option<char>) -> bool {
    const EMOJI_STYLE: char = '\u{fe0f}';
    let is_drawn = |other: Option<char>| other.is_some_and(|it| !it.is_ascii() && !is_hidden(it));
    match character {
        '\u{200c}' | '\u{200d}' => (is_drawn(before) || before == Some(EMOJI_STYLE)) && is_drawn(next),
        '\u{fe0e}' | EMOJI_STYLE => is_drawn(before) || (before.is_some() && next == Some('\u{20e3}')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = visible_words(text);
        assert_eq!(shown, expected);
        assert_eq!(visible_words(&shown), expected, "a second time nothing changes");
    }

    #[test]
    fn what_hides_something_is_written_out() {
        check("a\u{200b}b\u{1b}[2J\u{202e}c\r", r"a\u{200b}b\u{1b}[2J\u{202e}c\u{d}");
        check("hi\u{e0041}\u{e0042}", r"hi\u{e0041}\u{e0042}");
        check("a\u{200d}b\u{fe0f}\u{feff}", r"a\u{200d}b\u{fe0f}\u{feff}");
        check("é\u{200d}\u{200d}é", r"é\u{200d}\u{200d}é");
        check("\u{fe0f}\u{fe00}\u{2028}", r"\u{fe0f}\u{fe00}\u{2028}");
    }

    #[test]
    fn what_harmless_text_needs_stays() {
        for text in [
            "one\n\ttwo",
            "⚠\u{fe0f} 1\u{fe0f}\u{20e3}",
            "👩\u{200d}💻",
            "می\u{200c}خواهم",
            "5\u{a0}€\u{202f}!",
        ] {
            check(text, text);
        }
        check("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥");
        check("one\r\ntwo", "one\ntwo");
    }

    fn sent(credentials: &[Credential]) -> SentSecrets {
        let secrets = SentSecrets::default();
        credentials.iter().for_each(|credential| secrets.add(credential));
        secrets
    }

    #[test]
    fn a_credential_is_removed_in_all_its_forms() {
        let basic = Credential::authorization("Basic", "YWRhOnBhc3N3b3Jk");
        let key = Credential::authorization("Bearer", "s3cret-key");
        let secrets = sent(&[basic, key]);
        let text = "Bearer s3cret-key, s3cret-key, YWRhOnBhc3N3b3Jk, ada:password, password, Basic";
        assert_eq!(secrets.clean(text), "…, …, …, …, …, Basic");
        assert!(!format!("{secrets:?}").contains("s3cret"));
    }

    #[test]
    fn only_the_newest_credentials_are_remembered() {
        let all: Vec<_> =
            (0..50).map(|number| Credential::authorization("Bearer", &format!("token-{number}"))).collect();
        let secrets = sent(&all);
        assert_eq!(secrets.clean("token-1, token-49"), "token-1, …");
    }
}
