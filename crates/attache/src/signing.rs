//! The keys that sign the agent's card, and the card signed with them.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, anyhow};
use attache_card::{ExistingSignatures, KeySet, SigningKey, sign};
use attache_config::Settings;
use attache_domain::AgentCard;
use attache_net::Url;
use attache_server::{SignedCard, SignedDocuments};
use attache_wire::card::{CardForm, write};
use jiff::Timestamp;

use crate::report::with_hint;

/// A key is not longer than this.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// Where the server shows its public keys.
const KEYS_PATH: &str = "/.well-known/jwks.json";

/// The documents of the public card and the extended one with the signatures of all configured keys, if there are any.
pub(crate) fn signed_card(
    settings: &Settings,
    public_card: &AgentCard,
    extended: Option<&AgentCard>,
    answers: Option<&AgentCard>,
    base_url: &str,
) -> anyhow::Result<Option<SignedCard>> {
    let keys = configured(settings)?;
    if keys.is_empty() {
        return Ok(None);
    }
    let jku = jku(settings.card.jku.as_deref(), base_url)?;
    let document = |card, form| -> anyhow::Result<Vec<u8>> {
        let document = attache_card::parse(&write(form, card)).context("cannot sign the card")?;
        let signed = sign(&document, &keys, jku.as_deref(), ExistingSignatures::Replace);
        Ok(serde_json::to_vec(&signed.context("cannot sign the card")?)?)
    };
    let documents = |card| -> anyhow::Result<SignedDocuments> {
        Ok(SignedDocuments {
            superset: document(card, CardForm::Superset)?,
            v1_0: document(card, CardForm::V1_0)?,
            v0_3: document(card, CardForm::V0_3)?,
        })
    };
    Ok(Some(SignedCard {
        public: documents(public_card)?,
        extended: extended.map(documents).transpose()?,
        answers: answers.map(documents).transpose()?,
        key_set: serde_json::to_vec(&public(&keys).to_json())?,
    }))
}

/// The keys of the settings.
pub(crate) fn configured(settings: &Settings) -> anyhow::Result<Vec<SigningKey>> {
    settings.card.signing_keys.iter().map(|path| read_key(path)).collect()
}

pub(crate) fn public(keys: &[SigningKey]) -> KeySet {
    KeySet::of(keys.iter().map(|key| key.public().clone()))
}

/// A private key that nobody but its owner can read, and that may be used now.
pub(crate) fn read_key(path: &Path) -> anyhow::Result<SigningKey> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("cannot read the key {shown}"))?;
    let mode = file.metadata().with_context(|| format!("cannot read the key {shown}"))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(with_hint(
            anyhow!("others may read the private key {shown} (its mode is {:o})", mode & 0o777),
            format!("chmod 600 {shown}"),
        ));
    }
    let mut text = String::new();
    file.take(MAX_KEY_BYTES)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read the key {shown}"))?;
    let key = SigningKey::read(&text).map_err(|error| {
        with_hint(anyhow!("cannot use the key {shown}: {error}"), "attache keys new --out FILE makes a key")
    })?;
    match key.public().lifetime.refusal(Timestamp::now()) {
        None => Ok(key),
        Some(why) => Err(with_hint(
            anyhow!("cannot sign with the key {shown}: {why}"),
            "make another one with attache keys new, and name it instead",
        )),
    }
}

/// Where the card says that its keys are: as configured, else at the server itself where clients may go there.
fn jku(configured: Option<&str>, base_url: &str) -> anyhow::Result<Option<String>> {
    match configured {
        Some("") => Ok(None),
        Some(url) if may_be_fetched(url) => Ok(Some(url.to_owned())),
        Some(url) => Err(with_hint(
            anyhow!("the setting `card.jku` is {url:?}, which no client would fetch keys from"),
            "write an https URL, or http on this machine; an empty text for none",
        )),
        None => Ok(Some(format!("{base_url}{KEYS_PATH}")).filter(|url| may_be_fetched(url))),
    }
}

/// Keys come over https, this machine apart.
pub(crate) fn may_be_fetched(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    match url.scheme() {
        "https" => url.has_host(),
        "http" => is_local(&url),
        _ => false,
    }
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(configured: Option<&str>, base_url: &str, expected: Result<Option<&str>, ()>) {
        let found = jku(configured, base_url);
        assert_eq!(found.as_ref().map(Option::as_deref).map_err(|_| ()), expected, "{found:?}");
    }

    #[test]
    fn the_place_of_the_keys_is_one_that_clients_may_fetch_from() {
        let public = "https://agent.example";
        check(None, public, Ok(Some("https://agent.example/.well-known/jwks.json")));
        check(None, "http://127.0.0.1:41242", Ok(Some("http://127.0.0.1:41242/.well-known/jwks.json")));
        check(None, "http://[::1]:1", Ok(Some("http://[::1]:1/.well-known/jwks.json")));
        check(None, "http://0.0.0.0:41242", Ok(None));
        check(Some(""), public, Ok(None));
        check(Some("https://keys.example/set"), public, Ok(Some("https://keys.example/set")));
        check(Some("http://keys.example/set"), public, Err(()));
        check(Some("keys.json"), public, Err(()));
    }
}
