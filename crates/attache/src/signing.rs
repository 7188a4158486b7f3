//! Signs the agent's cards with the configured keys.

use anyhow::{Context, anyhow};
use attache_card::{ExistingSignatures, sign};
use attache_cli::report::with_hint;
use attache_cli::signing_keys::{configured, may_be_fetched, public};
use attache_config::Settings;
use attache_domain::AgentCard;
use attache_server::{SignedCard, SignedDocuments};
use attache_wire::card::{CardForm, write};

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
