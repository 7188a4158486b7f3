//! Asks for a token, by whatever proves who asks.

use std::time::Duration;

use attache_net::{HttpClient, HttpRequest, Secret, Url};
use serde_json::Value;

use super::Clock;
use super::account::{GoogleCredentials, Kind};
use super::assertion::{self, Claim, SCOPE};
use crate::endpoint::redacted;
use crate::retry::{RetryReason, RetryState};

pub(super) struct TokenGrant {
    pub(super) token: Secret,
    pub(super) lifetime: Duration,
}

/// A token with all its claims has a few thousand bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Why there was none.
struct TokenRefusal {
    what: String,
    may_pass: bool,
}

pub(super) async fn grant(
    credentials: &GoogleCredentials,
    client: &HttpClient,
    clock: &Clock,
    mut tries: RetryState,
) -> Result<TokenGrant, String> {
    loop {
        let refusal = match ask(credentials, client, clock).await {
            Ok(granted) => return Ok(granted),
            Err(refusal) => refusal,
        };
        let again = refusal.may_pass.then(|| tries.delay_after(RetryReason::NotAnswered { wanted: None }));
        match again.flatten() {
            Some(pause) => tokio::time::sleep(pause).await,
            None => {
                let what = redacted(&refusal.what, credentials.secrets().into_iter());
                return Err(format!("no token from Google: {what}"));
            }
        }
    }
}

async fn ask(
    credentials: &GoogleCredentials,
    client: &HttpClient,
    clock: &Clock,
) -> Result<TokenGrant, TokenRefusal> {
    let is_metadata = matches!(credentials.kind, Kind::Metadata { .. });
    let request = request(credentials, clock).map_err(|what| TokenRefusal { what, may_pass: false })?;
    let network = |error: attache_net::NetError| TokenRefusal {
        may_pass: error.is_transient(),
        what: error.to_string(),
    };
    let answer = client.send(request).await.map_err(network)?;
    let status = answer.status();
    let is_google = answer.header("metadata-flavor") == Some("Google");
    let body = answer.read(MAX_ANSWER_BYTES).await.map_err(network)?;
    if status != 200 {
        let may_pass = matches!(status, 408 | 429 | 500..);
        return Err(TokenRefusal { what: told(status, &body, credentials), may_pass });
    }
    if is_metadata && !is_google {
        let what = "whoever answered is not Google's metadata server".into();
        return Err(TokenRefusal { what, may_pass: false });
    }
    granted(&body).ok_or_else(|| TokenRefusal { what: "the answer holds no token".into(), may_pass: false })
}

pub(super) fn request(credentials: &GoogleCredentials, clock: &Clock) -> Result<HttpRequest, String> {
    match &credentials.kind {
        Kind::ServiceAccount { email, key_id, private_key, token_url } => {
            let claim =
                Claim { email, key_id: key_id.as_deref(), audience: token_url.as_str(), now: clock() };
            let assertion = assertion::signed(&claim, private_key)?;
            let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
            form(token_url, &[("grant_type", grant), ("assertion", assertion.expose())])
        }
        Kind::AuthorizedUser { client_id, client_secret, refresh_token, token_url } => form(
            token_url,
            &[
                ("grant_type", "refresh_token"),
                ("client_id", client_id),
                ("client_secret", client_secret.expose()),
                ("refresh_token", refresh_token.expose()),
            ],
        ),
        Kind::Metadata { token_url } => {
            let mut url = token_url.clone();
            url.query_pairs_mut().append_pair("scopes", SCOPE);
            HttpRequest::get(url).header("metadata-flavor", "Google").map_err(|error| error.to_string())
        }
    }
}

fn form(url: &Url, fields: &[(&str, &str)]) -> Result<HttpRequest, String> {
    // The query of a URL is spelled as a form is.
    let mut spelled = url.clone();
    spelled.query_pairs_mut().clear().extend_pairs(fields);
    let body = spelled.query().unwrap_or_default().to_owned();
    let request = HttpRequest::post_json(url.clone(), body);
    request.header("content-type", "application/x-www-form-urlencoded").map_err(|error| error.to_string())
}

pub(super) fn granted(body: &[u8]) -> Option<TokenGrant> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let token = answer["access_token"].as_str().filter(|token| !token.is_empty())?;
    let lifetime = Duration::from_secs(answer["expires_in"].as_u64().unwrap_or(0));
    // The server's number is bounded before it is added to a clock.
    Some(TokenGrant { token: Secret::new(token), lifetime: lifetime.min(Duration::from_secs(86_400)) })
}

/// Only what the error says of itself: a body may repeat what was sent.
pub(super) fn told(status: u16, body: &[u8], credentials: &GoogleCredentials) -> String {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |key: &str| {
        // Hidden before it is cut: nobody would know a secret by its beginning.
        let whole = redacted(answer[key].as_str()?, credentials.secrets().into_iter());
        Some(whole.chars().take(300).collect::<String>())
    };
    match (text("error"), text("error_description")) {
        (Some(error), Some(description)) => format!("{error}, {description} ({status})"),
        (Some(error), None) => format!("{error} ({status})"),
        _ => format!("it answers {status}"),
    }
}
