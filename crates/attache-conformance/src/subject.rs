//! The server under test: its card, its interfaces, and the results so far.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::Method;
use serde_json::Value;

use crate::behaviour::{self, Behaviour};
use crate::check::{Requirement, Stop};
use crate::http::{HttpClient, HttpRequest, ResponseHead};
use crate::pair::Pair;
use crate::protocol::{Binding, Version};
use crate::receiver::Receiver;

/// One interface of the card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardInterface {
    pub(crate) version: Version,
    pub(crate) binding: Binding,
    pub(crate) url: String,
    pub(crate) tenant: Option<String>,
}

type Notes = BTreeMap<(Version, Binding, &'static str), BTreeSet<String>>;

pub(crate) struct Subject {
    pub(crate) http: HttpClient,
    /// Without a slash at its end.
    pub(crate) base: String,
    pub(crate) card: Value,
    pub(crate) card_head: ResponseHead,
    pub(crate) offers: Vec<CardInterface>,
    pub(crate) token: Option<String>,
    pub(crate) other_token: Option<String>,
    pub(crate) receiver: Option<Receiver>,
    /// Whether the agent supports each behaviour, or what it does instead.
    words: OnceLock<BTreeMap<Behaviour, Result<(), String>>>,
    notes: Mutex<Notes>,
}

impl Subject {
    /// Fetches the card of the server at `base`.
    pub(crate) async fn discover(
        base: &str,
        token: Option<String>,
        other_token: Option<String>,
    ) -> Result<Arc<Self>, String> {
        let base = base.trim_end_matches('/').to_owned();
        let parsed = url::Url::parse(&base).map_err(|error| format!("`{base}` is no URL: {error}"))?;
        let is_here = match parsed.host() {
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost",
            None => return Err(format!("`{base}` names no host")),
        };
        let http = HttpClient::new(is_here)?;
        let request = HttpRequest::new(Method::GET, card_url(&base));
        let words = |stop| match stop {
            Stop::Fail(why) | Stop::NotApplicable(why) => format!("fetching the card: {why}"),
        };
        let answer = http.call(request).await.map_err(words)?;
        if answer.status() != 200 {
            return Err(format!("{} answered HTTP {} {}", card_url(&base), answer.status(), answer.text()));
        }
        let card = answer.json().map_err(words)?;
        let receiver = match is_here {
            true => Some(Receiver::start().await?),
            false => None,
        };
        Ok(Arc::new(Self {
            http,
            offers: interfaces(&card),
            base,
            card,
            card_head: answer.head,
            token,
            other_token,
            receiver,
            words: OnceLock::new(),
            notes: Mutex::default(),
        }))
    }

    pub(crate) fn card_url(&self) -> String {
        card_url(&self.base)
    }

    pub(crate) fn interface(&self, version: Version, binding: Binding) -> Option<&CardInterface> {
        self.offers.iter().find(|offer| offer.version == version && offer.binding == binding)
    }

    pub(crate) fn pair(self: &Arc<Self>, version: Version, binding: Binding) -> Option<Pair> {
        self.interface(version, binding).map(|offer| Pair::new(self, offer))
    }

    /// Every offered pair.
    pub(crate) fn pairs(self: &Arc<Self>) -> Vec<Pair> {
        self.offers.iter().map(|offer| Pair::new(self, offer)).collect()
    }

    pub(crate) fn capability(&self, name: &str) -> bool {
        self.card["capabilities"][name] == true
    }

    pub(crate) fn has_extended_card(&self) -> bool {
        self.capability("extendedAgentCard") || self.card["supportsAuthenticatedExtendedCard"] == true
    }

    /// Whether the card requires authentication.
    pub(crate) fn asks_for_credentials(&self) -> bool {
        let stated = |member: &str| self.card[member].as_array().is_some_and(|list| !list.is_empty());
        stated("securityRequirements") || stated("security")
    }

    /// The URIs of the extensions on the card.
    pub(crate) fn extensions(&self) -> Vec<&Value> {
        let extensions = self.card["capabilities"]["extensions"].as_array();
        extensions.map(|list| list.iter().collect()).unwrap_or_default()
    }

    /// Why a requirement is not met; none if it is.
    pub(crate) fn lacks(&self, need: Requirement) -> Option<String> {
        let (met, why) = match need {
            Requirement::Streaming => (self.capability("streaming"), "the card declares no streaming"),
            Requirement::Push => {
                (self.capability("pushNotifications"), "the card declares no push notifications")
            }
            Requirement::Receiver => {
                (self.receiver.is_some(), "the server cannot reach a receiver on this machine")
            }
            Requirement::ExtendedCard => (self.has_extended_card(), "the card declares no extended card"),
            Requirement::OtherCaller => {
                (self.other_token.is_some(), "we were given no second caller's credentials")
            }
            Requirement::Credentials => (
                self.asks_for_credentials() && self.token.is_some(),
                "the card asks for no credentials, or we were given none",
            ),
        };
        (!met).then(|| why.to_owned())
    }

    /// Why the agent does not support a behaviour; none if it does.
    pub(crate) fn lacks_behaviour(&self, word: Behaviour) -> Option<String> {
        let known = self.words.get()?.get(&word)?;
        let why = known.as_ref().err()?;
        Some(format!("the agent does not obey `{}`: {why}", word.text()))
    }

    /// The behaviours that the agent does not support.
    pub(crate) fn missing_behaviours(&self) -> Vec<(String, String)> {
        let words = self.words.get().into_iter().flatten();
        words.filter_map(|(word, known)| Some((word.text(), known.as_ref().err()?.clone()))).collect()
    }

    /// Tries every behaviour on the offered pairs until one supports it.
    pub(crate) async fn probe_behaviours(self: &Arc<Self>) {
        let pairs = self.pairs();
        let tried = futures_util::future::join_all(Behaviour::ALL.map(|word| {
            let pairs = &pairs;
            async move {
                let mut last = Err("no pair is offered".to_owned());
                for pair in pairs {
                    match behaviour::supports(pair, word).await {
                        Ok(()) => return (word, Ok(())),
                        Err(Stop::Fail(why) | Stop::NotApplicable(why)) => last = Err(why),
                    }
                }
                (word, last)
            }
        }));
        // Tried once; a second attempt would find the same.
        let _ = self.words.set(tried.await.into_iter().collect());
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(crate) fn note(&self, version: Version, binding: Binding, rule: &'static str, what: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.entry((version, binding, rule)).or_default().insert(what);
    }

    /// The violations of `rule` that were recorded on one pair.
    pub(crate) fn noted(&self, version: Version, binding: Binding, rule: &'static str) -> Vec<String> {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.get(&(version, binding, rule)).into_iter().flatten().cloned().collect()
    }
}

fn card_url(base: &str) -> String {
    format!("{base}/.well-known/agent-card.json")
}

/// The interfaces of the card: the list of 1.0, and those in members of 0.3 only.
fn interfaces(card: &Value) -> Vec<CardInterface> {
    let mut offers: Vec<CardInterface> = Vec::new();
    let mut add = |version: Option<&str>, binding: Option<&str>, url: Option<&str>, tenant: Option<&str>| {
        let version = match version.unwrap_or("0.3") {
            "0.3" | "0.3.0" => Version::V0_3,
            "1.0" | "1.0.0" | "1.0.1" => Version::V1_0,
            _ => return,
        };
        let binding = binding.unwrap_or("JSONRPC");
        let binding = Binding::ALL.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(binding));
        let (Some(binding), Some(url)) = (binding, url) else { return };
        if !offers.iter().any(|offer| offer.version == version && offer.binding == binding) {
            let tenant = tenant.filter(|tenant| !tenant.is_empty()).map(str::to_owned);
            offers.push(CardInterface { version, binding, url: url.to_owned(), tenant });
        }
    };
    for interface in card["supportedInterfaces"].as_array().into_iter().flatten() {
        let text = |member: &str| interface[member].as_str();
        add(text("protocolVersion"), text("protocolBinding"), text("url"), text("tenant"));
    }
    let version = card["protocolVersion"].as_str();
    add(version, card["preferredTransport"].as_str(), card["url"].as_str(), None);
    for interface in card["additionalInterfaces"].as_array().into_iter().flatten() {
        add(version, interface["transport"].as_str(), interface["url"].as_str(), None);
    }
    offers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_halves_of_a_card_are_read_and_nothing_twice() {
        let card = json!({
            "supportedInterfaces": [
                {"url": "http://a/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"},
                {"url": "http://a/", "protocolBinding": "jsonrpc", "protocolVersion": "0.3"},
                {"url": "x", "protocolBinding": "https://example.org/own", "protocolVersion": "1.0"},
            ],
            "protocolVersion": "0.3.0", "url": "http://b/", "preferredTransport": "JSONRPC",
            "additionalInterfaces": [{"url": "http://b/", "transport": "HTTP+JSON"}],
        });
        let found: Vec<_> =
            interfaces(&card).into_iter().map(|it| (it.version, it.binding, it.url)).collect();
        assert_eq!(
            found,
            [
                (Version::V1_0, Binding::JsonRpc, "http://a/".to_owned()),
                (Version::V0_3, Binding::JsonRpc, "http://a/".to_owned()),
                (Version::V0_3, Binding::Rest, "http://b/".to_owned()),
            ]
        );
    }
}
