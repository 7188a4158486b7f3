//! Finds and reads an agent's card.

use attache_card::{CardDocument, MAX_BYTES};
use attache_credentials::CardSecurity;
use attache_net::{HttpClient, HttpRequest, HttpResponse, NetError, Url};
use attache_wire::client::{CARD_PATH, RemoteCard, RemoteInterface};
use attache_wire::{Version, version};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::time::timeout;

use crate::authentication::{Authentication, check_may_hold_credential};
use crate::origin::{NamedOrigins, Origin, excerpt};
use crate::sent_secrets::SentSecrets;
use crate::{ClientError, ClientOptions, SignaturePolicy, card_cache};

/// Where a card is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardSource {
    /// An agent's address, or the URL of its card.
    Address(String),
    /// The exact URL of a card.
    CardUrl(String),
    /// The card itself, as JSON. The origins that it names have to be allowed.
    Inline(String),
}

impl CardSource {
    /// The origin of the agent: of its address, or of the first interface that an inline card names.
    pub fn origin(&self) -> Result<Origin, ClientError> {
        match self {
            Self::Address(url) | Self::CardUrl(url) => Origin::parse(url),
            Self::Inline(json) => {
                let card = read(&parse(json.as_bytes())?)?;
                let url = card.supported_interfaces.first().map(|interface| interface.url.as_str());
                Origin::parse(url.unwrap_or_default())
            }
        }
    }

    /// Where the card may be.
    pub(crate) fn urls(&self) -> Vec<Url> {
        match self {
            Self::Address(text) => parse_address(text).map(|url| candidates(&url)).unwrap_or_default(),
            Self::CardUrl(text) => parse_address(text).into_iter().collect(),
            Self::Inline(_) => Vec::new(),
        }
    }
}

/// A card, and what has to be known about it.
#[derive(Debug)]
pub(crate) struct FoundCard {
    pub(crate) card: RemoteCard,
    pub(crate) security: CardSecurity,
    /// `None` for an inline card.
    pub(crate) url: Option<Url>,
    /// The address that the caller gave.
    pub(crate) given: Option<Url>,
    /// What the caller should be told.
    pub(crate) notices: Vec<String>,
}

/// Where agents older than 0.3 have their card.
const OLD_CARD_PATH: &str = ".well-known/agent.json";

pub(crate) async fn find(
    net: &HttpClient,
    source: &CardSource,
    options: &ClientOptions,
    secrets: &SentSecrets,
) -> Result<FoundCard, ClientError> {
    let found = find_card(net, source, options, secrets).await.map_err(|error| secrets.hide(error))?;
    Ok(FoundCard { card: secrets.hide(found.card), ..found })
}

async fn find_card(
    net: &HttpClient,
    source: &CardSource,
    options: &ClientOptions,
    secrets: &SentSecrets,
) -> Result<FoundCard, ClientError> {
    let may_ask = |given: &Url| match &options.credential {
        Some(_) => check_may_hold_credential(given),
        None => Ok(()),
    };
    let (given, document, url) = match source {
        CardSource::Inline(json) => (None, parse(json.as_bytes())?, None),
        CardSource::CardUrl(text) => {
            let given = parse_address(text)?;
            may_ask(&given)?;
            let (document, url) = Fetch { net, options, secrets, given: &given }.card(&given).await?;
            (Some(given), document, Some(url))
        }
        CardSource::Address(text) => {
            let given = parse_address(text)?;
            may_ask(&given)?;
            let (document, url) = discover(&Fetch { net, options, secrets, given: &given }).await?;
            (Some(given), document, Some(url))
        }
    };
    let notices = check_signatures(&document, options)?.into_iter().collect();
    let card = read(&document)?;
    let security = CardSecurity::of_card(&attache_card::to_v1_0(&document));
    Ok(FoundCard { card, security, url, given, notices })
}

/// A card of any form.
pub(crate) fn read(document: &CardDocument) -> Result<RemoteCard, ClientError> {
    let mut document = document.clone();
    drop_nulls(&mut document);
    let mut document = attache_card::to_v1_0(&document);
    keep_readable_interfaces(&mut document);
    let card: Result<RemoteCard, _> = serde_path_to_error::deserialize(Value::Object(document));
    card.map_err(|error| ClientError::Malformed {
        what: match error.path().iter().next() {
            Some(_) => format!(
                "its card: {}: {}",
                excerpt(&error.path().to_string()),
                excerpt(&error.inner().to_string())
            ),
            None => format!("its card: {}", excerpt(&error.inner().to_string())),
        },
    })
}

/// In the JSON of protobuf `null` is a value that is not set.
fn drop_nulls(members: &mut CardDocument) {
    members.retain(|_, value| !value.is_null());
    members.values_mut().for_each(drop_nulls_below);
}

fn drop_nulls_below(value: &mut Value) {
    match value {
        Value::Object(members) => drop_nulls(members),
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(drop_nulls_below);
        }
        _ => {}
    }
}

/// Leaves out interfaces without a URL, if others have one.
fn keep_readable_interfaces(document: &mut CardDocument) {
    let Some(Value::Array(interfaces)) = document.get_mut("supportedInterfaces") else { return };
    let is_readable = |interface: &Value| RemoteInterface::deserialize(interface).is_ok();
    if interfaces.iter().any(is_readable) {
        interfaces.retain(is_readable);
    }
}

fn parse(body: &[u8]) -> Result<CardDocument, ClientError> {
    attache_card::parse(body).map_err(|error| ClientError::Malformed {
        what: format!("its card: {}", excerpt(&error.to_string())),
    })
}

fn parse_address(text: &str) -> Result<Url, ClientError> {
    let refuse = |what: &str| Err(ClientError::Address { what: what.into() });
    // Does not show the text, which may hold a password.
    let Ok(url) = Url::parse(text.trim()) else {
        return refuse("it is not a URL such as https://agent.example");
    };
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("it holds a user name or password; give the credential on its own");
    }
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => refuse("it must start with https:// or http://"),
    }
}

/// The URLs where the card of `address` may be, likely ones first.
fn candidates(address: &Url) -> Vec<Url> {
    let path = address.path();
    if path.ends_with(".json") || path.contains("/.well-known/") || address.query().is_some() {
        return vec![address.clone()];
    }
    let below = |name: &str| {
        let mut url = address.clone();
        url.set_path(&format!("{}/{name}", path.trim_end_matches('/')));
        url
    };
    let itself = Some(address.clone()).filter(|_| path != "/");
    [below(CARD_PATH), below(OLD_CARD_PATH)].into_iter().chain(itself).collect()
}

/// A document of something else has none of these.
fn looks_like_card(document: &CardDocument) -> bool {
    let members = ["supportedInterfaces", "url", "additionalInterfaces", "capabilities", "skills"];
    members.iter().any(|member| document.contains_key(*member))
}

async fn discover(fetch: &Fetch<'_>) -> Result<(CardDocument, Url), ClientError> {
    let candidates = candidates(fetch.given);
    let mut reason = None;
    for url in &candidates {
        match fetch.card(url).await {
            Ok((document, url)) if looks_like_card(&document) => return Ok((document, url)),
            Ok(_) => {
                let what = "its card: it has none of the members of a card".into();
                reason.get_or_insert(ClientError::Malformed { what });
            }
            // Something else may be here: a page for people, or nothing.
            Err(
                error @ (ClientError::Status { status: 400 | 403 | 404 | 405 | 410, .. }
                | ClientError::Malformed { .. }),
            ) => {
                reason.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    let tried: Vec<&str> = candidates.iter().map(Url::path).collect();
    match reason {
        Some(error @ (ClientError::Malformed { .. } | ClientError::Status { status: 400 | 403, .. })) => {
            Err(error)
        }
        _ => Err(ClientError::NoCard { tried: tried.join(", ") }),
    }
}

struct Fetch<'a> {
    net: &'a HttpClient,
    options: &'a ClientOptions,
    secrets: &'a SentSecrets,
    /// The address that the caller gave; the credential may go to its origin.
    given: &'a Url,
}

impl Fetch<'_> {
    /// Reads a card, from the cache while it is fresh, and where it comes from after redirects.
    async fn card(&self, url: &Url) -> Result<(CardDocument, Url), ClientError> {
        let version = self.options.version.unwrap_or(Version::V1_0);
        let key = card_cache::key(version, url);
        let known = self.options.cards.get(&key);
        if let Some(known) = known.as_ref().filter(|known| known.is_fresh()) {
            return Ok((known.document.clone(), known.url.clone()));
        }
        let etag = known.as_ref().and_then(|known| known.etag.as_deref());
        let (response, came_from) = self.response(url, version, etag).await?;
        let header = |name: &str| response.header(name).map(str::to_owned);
        let (etag, control) = (header("etag"), header("cache-control"));
        let document = match (response.status(), known) {
            (304, Some(known)) => known.document,
            (200, _) => {
                let body = self.in_time(response.read(MAX_BYTES)).await?;
                self.secrets.decode(&body, parse)?
            }
            (status, _) => {
                let body = response.read_prefix(4096).await;
                return self.secrets.decode(&body, |body| Err(ClientError::from_status(status, body)));
            }
        };
        let found = (document, came_from);
        self.options.cards.keep(&key, found.clone(), etag.as_deref(), control.as_deref());
        Ok(found)
    }

    /// Asks without the credential first: cards are public as a rule, and some servers refuse one that they do not expect.
    async fn response(
        &self,
        url: &Url,
        version: Version,
        etag: Option<&str>,
    ) -> Result<(HttpResponse, Url), ClientError> {
        let request = |url: &Url| -> Result<HttpRequest, ClientError> {
            let request = HttpRequest::get(url.clone())
                .header("accept", "application/json, application/a2a+json")?
                .header(version::HEADER_NAME, version.as_str())?;
            Ok(match etag {
                Some(etag) => request.header("if-none-match", etag)?,
                None => request,
            })
        };
        let (response, end) = self.follow(request(url)?).await?;
        // Secrets do not go along with a redirect to another origin, so that origin is asked itself.
        let target = if end.origin() == url.origin() { url } else { &end };
        let source = self.options.credential.as_deref().filter(|_| self.named().contains(target));
        match source.filter(|_| is_refused(&response)) {
            None => Ok((response, end)),
            Some(source) => {
                let mut authentication = Authentication::new(source, self.secrets, target, None).await?;
                loop {
                    let (response, end) = self.follow(authentication.add_to(request(target)?)?).await?;
                    if !is_refused(&response) || !authentication.renew().await? {
                        return Ok((response, end));
                    }
                }
            }
        }
    }

    /// The origins that the caller named.
    fn named(&self) -> NamedOrigins {
        let mut named = NamedOrigins(self.options.allowed_origins.clone());
        named.0.push(Origin::of(self.given));
        named
    }

    /// A card is small, so sending it takes no longer than this.
    async fn in_time<T>(&self, work: impl Future<Output = Result<T, NetError>>) -> Result<T, ClientError> {
        let after = self.options.card_timeout;
        Ok(timeout(after, work).await.map_err(|_| ClientError::Deadline { after })??)
    }

    /// Follows redirects within the origin, and to origins that the caller named.
    async fn follow(&self, request: HttpRequest) -> Result<(HttpResponse, Url), ClientError> {
        let named = self.named();
        let may = |from: &Url, to: &Url| from.origin() == to.origin() || named.contains(to);
        let end = self.in_time(self.net.get_with_redirects(request, may)).await?;
        match end.next_url {
            None => Ok((end.response, end.url)),
            Some(next) => Err(ClientError::OtherOrigin {
                what: "a redirect of its card leads to",
                named: Origin::of(&next).to_string(),
                came_from: Origin::of(&end.url).to_string(),
            }),
        }
    }
}

fn is_refused(response: &HttpResponse) -> bool {
    matches!(response.status(), 401 | 403)
}

/// What to tell the caller, if anything.
fn check_signatures(document: &CardDocument, options: &ClientOptions) -> Result<Option<String>, ClientError> {
    let check = &options.signatures;
    if check.policy == SignaturePolicy::Ignore {
        return Ok(None);
    }
    let verification = attache_card::verify(document, &check.keys, check.now);
    if verification.is_valid() {
        return Ok(None);
    }
    let what = match verification.signatures.len() {
        0 => "the card has no signature".to_owned(),
        1 => "the card's signature is not valid, or its key is not one of those that count".to_owned(),
        more => format!("none of the card's {more} signatures is valid and made with a key that counts"),
    };
    match check.policy {
        SignaturePolicy::Require => Err(ClientError::Unsigned { what }),
        _ => Ok(Some(what)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_card_is_looked_for_where_it_may_be() {
        let found = |text: &str| -> Vec<String> {
            candidates(&Url::parse(text).unwrap()).iter().map(|url| url.path().to_owned()).collect()
        };
        let well_known = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
        assert_eq!(found("https://a.example"), well_known);
        assert_eq!(
            found("https://a.example/agents/one/"),
            ["/agents/one/.well-known/agent-card.json", "/agents/one/.well-known/agent.json", "/agents/one/"]
        );
        for exact in ["/cards/a.json", "/.well-known/agent-card", "/x?y=z"] {
            let url = format!("https://a.example{exact}");
            assert_eq!(candidates(&Url::parse(&url).unwrap())[0].as_str(), url);
        }
    }

    #[test]
    fn an_interface_without_a_url_does_not_spoil_the_others() {
        let interface =
            |url: Value| json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
        let card =
            |interfaces: Value| read(json!({ "supportedInterfaces": interfaces }).as_object().unwrap());
        let bare = json!({"protocolBinding": "GRPC", "protocolVersion": "1.0"});
        let found = card(json!([bare, interface(json!(7)), 7, interface(json!("/rpc"))])).unwrap();
        assert_eq!(found.supported_interfaces.len(), 1);
        assert_eq!(found.supported_interfaces[0].url, "/rpc");
        let error = card(json!([bare])).unwrap_err().to_string();
        assert!(error.contains("missing field `url`"), "{error}");
    }

    #[test]
    fn a_member_that_is_null_counts_as_not_set_and_a_wrong_one_is_named() {
        let card = |card: Value| read(card.as_object().unwrap());
        let found = card(json!({
            "name": null, "description": null, "version": null, "skills": null, "capabilities": null,
            "defaultInputModes": null, "additionalInterfaces": null,
            "supportedInterfaces": [{"url": "/", "protocolBinding": null, "tenant": null}, null],
        }));
        assert_eq!(found.unwrap().supported_interfaces.len(), 1);
        let error =
            card(json!({"capabilities": {"extensions": ["https://x.example"]}})).unwrap_err().to_string();
        assert!(error.ends_with("expected an object with a uri"), "{error}");
        for (wrong, path) in [
            (json!({"skills": [{"name": "a"}, {"name": 7}]}), "skills[1].name"),
            (json!({"capabilities": {"streaming": "yes"}}), "capabilities.streaming"),
        ] {
            let error = card(wrong).unwrap_err().to_string();
            assert!(error.contains(&format!("its card: {path}: invalid type")), "{error}");
        }
    }

    #[test]
    fn an_address_is_http_and_holds_no_password() {
        for (text, part) in [
            ("a.example", "not a URL"),
            ("ftp://a.example", "must start with"),
            ("https://me:s3cret@a.example", "user name or password"),
        ] {
            let error = parse_address(text).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("s3cret"), "{error}");
        }
    }
}
