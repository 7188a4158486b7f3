//! Takes sent credentials out of what an agent says, should it repeat them.
//!
//! Errors, texts and data are covered, each by itself: a credential that an agent splits over two events is not recognised.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use attache_credentials::Credential;
use attache_domain::{Artifact, IgnorePoison, Message, Metadata, Part, PartContent};
use attache_net::Redactor;
use attache_wire::client::{
    CommandExecution, RemoteCard, RemoteCommand, RemoteError, RemotePushConfig, RemotePushConfigPage,
    RemoteStatus, RemoteTask, RemoteTaskPage, StreamEvent,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::ClientError;

/// How many secrets are remembered: the current credential, and a few that it replaced.
const MAX_SECRETS: usize = 64;

/// The credentials that were sent to an agent.
#[derive(Default)]
pub struct SentSecrets(Mutex<State>);

#[derive(Default)]
struct State {
    secrets: VecDeque<String>,
    redactor: Option<Arc<Redactor>>,
}

impl fmt::Debug for SentSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SentSecrets(…)")
    }
}

impl SentSecrets {
    pub(crate) fn note(&self, credential: &Credential) {
        self.note_forms(forms(credential));
    }

    /// A credential that was sent as a text.
    pub fn note_text(&self, credential: &str) {
        self.note_forms(vec![credential.to_owned()]);
    }

    fn note_forms(&self, forms: Vec<String>) {
        let mut state = self.0.lock().ignore_poison();
        if forms.iter().all(|form| state.secrets.contains(form)) {
            return;
        }
        for form in forms {
            if !state.secrets.contains(&form) {
                state.secrets.push_back(form);
            }
        }
        let excess = state.secrets.len().saturating_sub(MAX_SECRETS);
        state.secrets.drain(..excess);
        state.redactor = Some(Arc::new(Redactor::of(state.secrets.iter().cloned())));
    }

    /// `text` without the credentials, for texts that are put together from several events.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let redactor = self.0.lock().ignore_poison().redactor.clone();
        match redactor.map(|redactor| redactor.hide_known(text).into_owned()) {
            Some(hidden) if hidden != text => Cow::Owned(hidden),
            _ => Cow::Borrowed(text),
        }
    }

    /// What `decode` makes of a body. Its error may quote the beginning of the body, and so a part of a credential, by which
    /// it would not be recognised; so an error is made of a body without credentials.
    pub(crate) fn decode<T, E>(&self, body: &[u8], decode: impl Fn(&[u8]) -> Result<T, E>) -> Result<T, E> {
        decode(body).or_else(|error| match self.redact(&String::from_utf8_lossy(body)) {
            Cow::Borrowed(_) => Err(error),
            Cow::Owned(hidden) => decode(hidden.as_bytes()),
        })
    }

    /// `value` without the credentials.
    pub(crate) fn hide<T: Hide>(&self, mut value: T) -> T {
        let redactor = self.0.lock().ignore_poison().redactor.clone();
        if let Some(redactor) = redactor {
            value.hide(&redactor);
        }
        value
    }
}

/// The texts by which a credential would be recognised.
fn forms(credential: &Credential) -> Vec<String> {
    let value = match credential {
        Credential::Header { value, .. }
        | Credential::Query { value, .. }
        | Credential::Cookie { value, .. } => value.expose(),
    };
    let mut forms = vec![value.to_owned()];
    if let (Credential::Header { .. }, Some((scheme, rest))) = (credential, value.split_once(' ')) {
        let rest = rest.trim();
        forms.push(rest.to_owned());
        let pair = STANDARD.decode(rest).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"));
        if let Some(pair) = pair.and_then(|pair| String::from_utf8(pair).ok()) {
            forms.extend(pair.split_once(':').map(|(_, password)| password.to_owned()));
            forms.push(pair);
        }
    }
    forms
}

/// Can be freed from secrets.
pub(crate) trait Hide {
    fn hide(&mut self, redactor: &Redactor);
}

impl Hide for String {
    fn hide(&mut self, redactor: &Redactor) {
        if let Cow::Owned(hidden) = redactor.hide_known(self) {
            *self = hidden;
        }
    }
}

impl<T: Hide> Hide for Option<T> {
    fn hide(&mut self, redactor: &Redactor) {
        self.iter_mut().for_each(|inner| inner.hide(redactor));
    }
}

impl<T: Hide> Hide for Vec<T> {
    fn hide(&mut self, redactor: &Redactor) {
        self.iter_mut().for_each(|item| item.hide(redactor));
    }
}

impl<T: Hide> Hide for Box<T> {
    fn hide(&mut self, redactor: &Redactor) {
        (**self).hide(redactor);
    }
}

impl Hide for Value {
    fn hide(&mut self, redactor: &Redactor) {
        match self {
            Self::String(text) => text.hide(redactor),
            Self::Array(items) => items.iter_mut().for_each(|item| item.hide(redactor)),
            Self::Object(members) => members.hide(redactor),
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
        }
    }
}

impl Hide for Metadata {
    fn hide(&mut self, redactor: &Redactor) {
        self.values_mut().for_each(|value| value.hide(redactor));
    }
}

impl Hide for Part {
    fn hide(&mut self, redactor: &Redactor) {
        match &mut self.content {
            PartContent::Text(text) | PartContent::Url(text) => text.hide(redactor),
            PartContent::Data(data) => data.hide(redactor),
            PartContent::Raw(_) => {}
        }
        self.filename.hide(redactor);
        self.metadata.hide(redactor);
    }
}

impl Hide for Message {
    fn hide(&mut self, redactor: &Redactor) {
        self.parts.hide(redactor);
        self.metadata.hide(redactor);
    }
}

impl Hide for Artifact {
    fn hide(&mut self, redactor: &Redactor) {
        self.name.hide(redactor);
        self.description.hide(redactor);
        self.parts.hide(redactor);
        self.metadata.hide(redactor);
    }
}

impl Hide for RemoteStatus {
    fn hide(&mut self, redactor: &Redactor) {
        self.message.hide(redactor);
    }
}

impl Hide for RemoteTask {
    fn hide(&mut self, redactor: &Redactor) {
        self.status.hide(redactor);
        self.artifacts.hide(redactor);
        self.history.hide(redactor);
        self.metadata.hide(redactor);
    }
}

impl Hide for RemoteTaskPage {
    fn hide(&mut self, redactor: &Redactor) {
        self.tasks.hide(redactor);
    }
}

impl Hide for StreamEvent {
    fn hide(&mut self, redactor: &Redactor) {
        match self {
            Self::Task(task) => task.hide(redactor),
            Self::Message(message) => message.hide(redactor),
            Self::StatusUpdate(update) => {
                update.status.hide(redactor);
                update.metadata.hide(redactor);
            }
            Self::ArtifactUpdate(update) => {
                update.artifact.hide(redactor);
                update.metadata.hide(redactor);
            }
        }
    }
}

impl Hide for RemoteCard {
    fn hide(&mut self, redactor: &Redactor) {
        self.name.hide(redactor);
        self.description.hide(redactor);
        for skill in &mut self.skills {
            skill.name.hide(redactor);
            skill.description.hide(redactor);
        }
    }
}

impl Hide for CommandExecution {
    fn hide(&mut self, redactor: &Redactor) {
        self.message.hide(redactor);
    }
}

impl Hide for RemoteCommand {
    fn hide(&mut self, redactor: &Redactor) {
        self.name.hide(redactor);
        self.description.hide(redactor);
        for argument in &mut self.arguments {
            argument.name.hide(redactor);
            argument.description.hide(redactor);
        }
        self.sub_commands.hide(redactor);
    }
}

impl Hide for RemotePushConfig {
    fn hide(&mut self, redactor: &Redactor) {
        self.config.url.hide(redactor);
    }
}

impl Hide for RemotePushConfigPage {
    fn hide(&mut self, redactor: &Redactor) {
        self.configs.hide(redactor);
    }
}

impl Hide for () {
    fn hide(&mut self, _: &Redactor) {}
}

impl Hide for RemoteError {
    fn hide(&mut self, redactor: &Redactor) {
        self.message.hide(redactor);
        self.reason.hide(redactor);
    }
}

impl Hide for ClientError {
    fn hide(&mut self, redactor: &Redactor) {
        match self {
            Self::Unauthenticated { message: text }
            | Self::Status { text, .. }
            | Self::Malformed { what: text }
            | Self::StreamLost { why: text, .. }
            | Self::NoCommands { why: text }
            | Self::CommandNotStarted { why: text }
            | Self::OtherOrigin { named: text, .. }
            | Self::UnnamedOrigin { named: text }
            | Self::UnusableInterface { url: text }
            | Self::NoInterface { offered: text, .. } => text.hide(redactor),
            Self::Refused(error) => error.hide(redactor),
            Self::Net(_)
            | Self::Address { .. }
            | Self::NoCard { .. }
            | Self::Unsigned { .. }
            | Self::Credential(_)
            | Self::Unsupported(_)
            | Self::OtherTask { .. }
            | Self::Deadline { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use attache_net::Secret;

    use super::*;

    #[track_caller]
    fn check(credential: &Credential, text: &str, expected: &str) {
        let secrets = SentSecrets::default();
        secrets.note(credential);
        assert_eq!(secrets.hide(text.to_owned()), expected);
        assert!(!format!("{secrets:?}").contains("s3cret"));
    }

    #[test]
    fn a_credential_is_hidden_in_every_form_in_which_it_was_sent() {
        let bearer = Credential::bearer(&Secret::new("s3cretTOKEN"));
        check(&bearer, "bad Bearer s3cretTOKEN, s3cretTOKEN", "bad (hidden), (hidden)");
        let pair = STANDARD.encode("me:s3cretWORD");
        let basic = Credential::authorization("Basic", &pair);
        check(&basic, &format!("Basic {pair} {pair}"), "(hidden) (hidden)");
        check(&basic, "me:s3cretWORD, s3cretWORD", "(hidden), (hidden)");
        let value = Secret::new("s3cretKEY");
        for credential in [
            Credential::Header { name: "x-api-key".into(), value: value.clone() },
            Credential::Query { name: "key".into(), value: value.clone() },
            Credential::Cookie { name: "key".into(), value },
        ] {
            check(&credential, "key s3cretKEY", "key (hidden)");
        }
        check(&bearer, "Bearer of news", "Bearer of news");
    }

    #[test]
    fn only_the_latest_credentials_are_remembered() {
        let secrets = SentSecrets::default();
        for number in 0..200 {
            secrets.note(&Credential::bearer(&Secret::new(format!("s3cret-{number:03}"))));
        }
        assert_eq!(secrets.0.lock().ignore_poison().secrets.len(), MAX_SECRETS);
        assert_eq!(secrets.hide("s3cret-199 s3cret-000".to_owned()), "(hidden) s3cret-000");
    }
}
