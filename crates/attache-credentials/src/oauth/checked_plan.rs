//! Decides which addresses of an authorization server may be used, alone and together.
//!
//! A code, a device code, a refresh token and a client secret go to the origins that the file names. What only the agent's
//! card names must not take them elsewhere: addresses of the file and of the card have to be at one server, those of a card
//! too, and a client secret goes to no address of a card but to the agent's own origin.

use attache_net::{Url, is_loopback};

use super::settings::{OAuthSettings, SignInFlow};
use crate::CredentialError;

/// How tokens are requested, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlowPlan {
    pub(super) flow: SignInFlow,
    /// Where a person signs in, or a device asks for a code.
    pub(super) authorization: Option<Url>,
    pub(super) token: Url,
    pub(super) scopes: Vec<String>,
    pub(super) issuer: Option<ExpectedIssuer>,
    /// The configuration does not name all of its addresses.
    pub(super) is_named_by_card: bool,
    /// One of them is at an origin that neither the configuration names nor the agent has.
    pub(super) is_elsewhere: bool,
}

/// The name of the server, which it repeats when the browser comes back (RFC 9207).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpectedIssuer {
    pub(super) text: String,
    /// The server has announced that it always sends it.
    pub(super) is_always_sent: bool,
}

impl ExpectedIssuer {
    pub(super) fn is(&self, other: &str) -> bool {
        let trimmed = |text: &str| text.trim().trim_end_matches('/').to_owned();
        trimmed(&self.text) == trimmed(other)
    }
}

/// A plan whose addresses are texts.
pub(super) struct DraftPlan {
    pub(super) flow: SignInFlow,
    pub(super) authorization: Option<Address>,
    pub(super) token: Address,
    pub(super) scopes: Vec<String>,
    pub(super) issuer: Option<ExpectedIssuer>,
}

#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) text: String,
    pub(super) by: NamedBy,
}

/// Who named an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NamedBy {
    /// The agent's file, or the server that its `issuer` names.
    File,
    Card,
    /// A server at this origin describes itself, and the card named it.
    Document(String),
}

/// An address that may be used alone.
struct Place<'a> {
    url: Url,
    by: &'a NamedBy,
    role: Role,
}

#[derive(Clone, Copy)]
enum Role {
    Authorization(SignInFlow),
    Token,
}

pub(super) fn checked(draft: DraftPlan, settings: &OAuthSettings) -> Result<FlowPlan, CredentialError> {
    let place = |address: &'_ Address| checked_url(address, settings);
    let authorization = draft.authorization.as_ref().map(place).transpose()?;
    let token = place(&draft.token)?;
    let first = authorization.iter().zip(&draft.authorization).map(|(url, address)| Place {
        url: url.clone(),
        by: &address.by,
        role: Role::Authorization(draft.flow),
    });
    let second = Place { url: token.clone(), by: &draft.token.by, role: Role::Token };
    let places: Vec<Place<'_>> = first.chain([second]).collect();
    check_together(&places, settings)?;
    let is_elsewhere = |place: &Place<'_>| {
        *place.by != NamedBy::File
            && !may_have_secret(settings, &place.url)
            && !is_at_agent(settings, &place.url)
    };
    Ok(FlowPlan {
        flow: draft.flow,
        is_named_by_card: places.iter().any(|place| *place.by != NamedBy::File),
        is_elsewhere: places.iter().any(is_elsewhere),
        authorization,
        token,
        scopes: draft.scopes,
        issuer: draft.issuer,
    })
}

/// Whether the secret of the client may go there although the file does not name this very address.
pub(super) fn may_have_secret(settings: &OAuthSettings, url: &Url) -> bool {
    let named = file_origins(settings);
    match named.is_empty() {
        true => is_at_agent(settings, url),
        false => named.contains(&origin(url)),
    }
}

pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn is_at_agent(settings: &OAuthSettings, url: &Url) -> bool {
    settings.agent_url.as_ref().is_some_and(|agent| origin(agent) == origin(url))
}

/// The origins that the file names for OAuth. It means one server by them.
fn file_origins(settings: &OAuthSettings) -> Vec<String> {
    let OAuthSettings { authorization_url, device_authorization_url, token_url, issuer, .. } = settings;
    let named = [authorization_url, device_authorization_url, token_url, issuer].into_iter().flatten();
    named.filter_map(|text| Url::parse(text.trim()).ok()).map(|url| origin(&url)).collect()
}

fn check_together(places: &[Place<'_>], settings: &OAuthSettings) -> Result<(), CredentialError> {
    let named = file_origins(settings);
    let origin_of_first = places.first().map(|place| origin(&place.url));
    for place in places.iter().filter(|place| *place.by != NamedBy::File) {
        // What a server says of itself counts as much as its own origin.
        let stands_at = |known: &String| {
            origin(&place.url) == *known || matches!(place.by, NamedBy::Document(at) if at == known)
        };
        if !named.is_empty() {
            if !named.iter().any(stands_at) {
                return Err(place.refused(settings, places, "which is not the server that its auth names"));
            }
            continue;
        }
        if settings.client_secret.is_some() && !may_have_secret(settings, &place.url) {
            return Err(place.refused(settings, places, "which is not where the agent is"));
        }
        if !origin_of_first.iter().any(stands_at) {
            return Err(place.refused(settings, places, "and another server to sign in"));
        }
    }
    Ok(())
}

impl Place<'_> {
    fn refused(&self, settings: &OAuthSettings, all: &[Place<'_>], why: &str) -> CredentialError {
        let role = match self.role {
            Role::Authorization(SignInFlow::DeviceCode) => "for the codes of devices",
            Role::Authorization(_) => "to sign in",
            Role::Token => "for tokens",
        };
        let of_card: Vec<&Place<'_>> = all.iter().filter(|place| *place.by != NamedBy::File).collect();
        // One address in the file stands for all that the card has at its origin.
        let stands_for_all =
            |one: &&&Place<'_>| of_card.iter().all(|other| origin(&other.url) == origin(&one.url));
        let fields: Vec<&str> = match of_card.iter().rev().find(stands_for_all) {
            Some(one) => vec![one.field()],
            None => of_card.iter().map(|place| place.field()).collect(),
        };
        let what = if settings.client_secret.is_some() { "the client secret" } else { "a sign-in" };
        let (agent, place, fields) = (&settings.agent, origin(&self.url), fields.join(" and "));
        CredentialError::Target {
            what: format!(
                "{agent}: its card names {place} {role}, {why}; add {fields} to its auth if {what} may go there"
            ),
        }
    }

    fn field(&self) -> &'static str {
        match self.role {
            Role::Authorization(SignInFlow::DeviceCode) => "device_authorization_url",
            Role::Authorization(_) => "authorization_url",
            Role::Token => "token_url",
        }
    }
}

/// https, or this machine; a card names this machine only if it comes from there.
pub(super) fn checked_url(address: &Address, settings: &OAuthSettings) -> Result<Url, CredentialError> {
    let refused = |what: &str| {
        let place: String = address.text.chars().filter(|letter| !letter.is_control()).take(200).collect();
        CredentialError::Target {
            what: format!("{}: {place} cannot be used for OAuth: {what}", settings.agent),
        }
    };
    let url = Url::parse(address.text.trim()).map_err(|_| refused("it is not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it holds a user name or password"));
    }
    let is_local = address.by == NamedBy::File || settings.agent_url.as_ref().is_some_and(is_loopback);
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) && is_local => Ok(url),
        _ => Err(refused("it does not begin with https://")),
    }
}
