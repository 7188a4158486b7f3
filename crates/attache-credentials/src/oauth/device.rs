//! A sign-in on another device (RFC 8628).

use std::time::Duration;

use attache_net::Secret;
use tokio::time::{Instant, sleep};

use super::checked_plan::{FlowPlan, origin};
use super::token_endpoint::{TokenEndpoint, TokenError};
use super::token_set::{Fields, TokenSet};
use crate::CredentialError;

pub(super) struct DeviceSignIn {
    endpoint: TokenEndpoint,
    device_code: Secret,
    pub(super) user_code: String,
    pub(super) url: String,
    pub(super) complete_url: Option<String>,
    interval: Duration,
    until: Instant,
}

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const DEFAULT_INTERVAL: u64 = 5;
const MAX_INTERVAL: Duration = Duration::from_secs(60);
/// Added when the server asks for fewer questions.
const SLOW_DOWN_DELAY: Duration = Duration::from_secs(5);
const MAX_LIFETIME: u64 = 1_800;

impl DeviceSignIn {
    pub(super) async fn begin(endpoint: TokenEndpoint, plan: &FlowPlan) -> Result<Self, CredentialError> {
        let incomplete = || {
            CredentialError::unavailable(format!("{}: the server gives no code for a device", endpoint.agent))
        };
        let url = plan.authorization.as_ref().ok_or_else(incomplete)?;
        let scope = plan.scopes.join(" ");
        let fields: Vec<_> =
            Some(("scope", scope.as_str())).into_iter().filter(|(_, scope)| !scope.is_empty()).collect();
        let fields = Fields::parse(&endpoint.post(url, &fields).await?);
        let shown = |name: &str| fields.text(name).filter(|text| is_shown(text));
        // Some servers have the older name.
        let page = shown("verification_uri").or_else(|| shown("verification_url")).ok_or_else(incomplete)?;
        let complete_url = shown("verification_uri_complete").filter(|url| is_page(url));
        if !is_page(&page) {
            return Err(incomplete());
        }
        // A card could have a person enter a stranger's code at the page of a server that they know.
        let at = |page: &str| attache_net::Url::parse(page).is_ok_and(|page| origin(&page) == origin(url));
        if plan.is_named_by_card
            && ![Some(&page), complete_url.as_ref()].into_iter().flatten().all(|page| at(page))
        {
            return Err(CredentialError::Target {
                what: format!(
                    "{}: the server at {} leads to another server to enter the code; add device_authorization_url to its \
                     auth if that is right",
                    endpoint.agent,
                    origin(url)
                ),
            });
        }
        let interval = fields.number("interval").unwrap_or(DEFAULT_INTERVAL).max(1);
        let lifetime = fields.number("expires_in").unwrap_or(MAX_LIFETIME).min(MAX_LIFETIME);
        Ok(Self {
            device_code: Secret::new(fields.text("device_code").ok_or_else(incomplete)?),
            user_code: shown("user_code").ok_or_else(incomplete)?,
            url: page,
            complete_url,
            interval: Duration::from_secs(interval).min(MAX_INTERVAL),
            until: Instant::now() + Duration::from_secs(lifetime),
            endpoint,
        })
    }

    /// Asks until the person has signed in.
    pub(super) async fn finish(mut self) -> Result<TokenSet, CredentialError> {
        let agent = self.endpoint.agent.clone();
        let fields = [("grant_type", GRANT), ("device_code", self.device_code.expose())];
        while Instant::now() < self.until {
            sleep(self.interval).await;
            match self.endpoint.grant(&fields).await {
                Ok(tokens) => return Ok(tokens),
                Err(TokenError::Refused { code, what }) => match code.as_str() {
                    "authorization_pending" => {}
                    "slow_down" => self.interval = (self.interval + SLOW_DOWN_DELAY).min(MAX_INTERVAL),
                    "access_denied" => {
                        return Err(CredentialError::unavailable(format!(
                            "{agent}: the sign-in was refused"
                        )));
                    }
                    "expired_token" => break,
                    _ => return Err(CredentialError::unavailable(what)),
                },
                // The connection may come back while the person signs in.
                Err(TokenError::Failed(CredentialError::Net(error))) if error.is_transient() => {
                    self.interval = (self.interval + SLOW_DOWN_DELAY).min(MAX_INTERVAL);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(CredentialError::unavailable(format!(
            "{agent}: the sign-in was not finished before its code ended"
        )))
    }
}

/// A text of the server that a person is shown.
fn is_shown(text: &str) -> bool {
    text.len() <= 2048 && !text.chars().any(char::is_control)
}

fn is_page(url: &str) -> bool {
    attache_net::Url::parse(url).is_ok_and(|url| {
        url.scheme() == "https" || (url.scheme() == "http" && attache_net::is_loopback(&url))
    })
}
