//! Asks the authorization server for tokens.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use attache_net::{HttpClient, HttpRequest, NetError, Secret, Url};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::time::timeout;

use super::settings::SecretValue;
use super::token_set::{Fields, TokenSet};
use crate::redact::redacted;
use crate::{Clock, CredentialError};

/// Sends the token requests of one OAuth client.
#[derive(Clone)]
pub(super) struct TokenEndpoint {
    pub(super) agent: String,
    pub(super) net: HttpClient,
    pub(super) url: Url,
    pub(super) client_id: String,
    pub(super) client_secret: Option<Arc<dyn SecretValue>>,
    pub(super) clock: Clock,
    /// The server takes the client's secret in a header rather than in the form.
    pub(super) uses_basic: Arc<AtomicBool>,
}

/// Why there are no tokens.
#[derive(Debug)]
pub(super) enum TokenError {
    /// The server refused: its word for it, and a sentence.
    Refused {
        code: String,
        what: String,
    },
    Failed(CredentialError),
}

impl From<CredentialError> for TokenError {
    fn from(error: CredentialError) -> Self {
        Self::Failed(error)
    }
}

impl From<TokenError> for CredentialError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Refused { what, .. } => Self::unavailable(what),
            TokenError::Failed(error) => error,
        }
    }
}

const MAX_ANSWER_BYTES: usize = 64 << 10;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25);
/// The fields of a form that an answer must not repeat.
const SECRET_FIELDS: &[&str] = &["client_secret", "code", "code_verifier", "device_code", "refresh_token"];

impl TokenEndpoint {
    pub(super) fn now(&self) -> SystemTime {
        (self.clock)()
    }

    /// Asks for tokens with the fields of one grant.
    pub(super) async fn grant(&self, fields: &[(&str, &str)]) -> Result<TokenSet, TokenError> {
        let body = self.post(&self.url, fields).await?;
        TokenSet::parse(&body, self.now()).map_err(|what| self.failed(&what).into())
    }

    pub(super) async fn refresh(&self, tokens: &TokenSet, refresh: &Secret) -> Result<TokenSet, TokenError> {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        let mut granted = self.grant(&fields).await?;
        // The old one stays good unless the server replaces it.
        granted.refresh = granted.refresh.or_else(|| Some(refresh.clone()));
        granted.scope = granted.scope.or_else(|| tokens.scope.clone());
        Ok(granted)
    }

    /// Posts a form of this client to an address of the server. The body of a success.
    pub(super) async fn post(&self, url: &Url, fields: &[(&str, &str)]) -> Result<Vec<u8>, TokenError> {
        let secret = match &self.client_secret {
            None => None,
            Some(value) => {
                let secret = value.get().await;
                Some(secret.map_err(|what| self.failed(&format!("auth.client_secret: {what}")))?)
            }
        };
        let basic = self.uses_basic.load(Ordering::Relaxed);
        match self.post_once(url, fields, secret.as_ref(), basic).await {
            Err(TokenError::Refused { code, .. })
                if code == "invalid_client" && secret.is_some() && !basic =>
            {
                let posted = self.post_once(url, fields, secret.as_ref(), true).await;
                if posted.is_ok() {
                    self.uses_basic.store(true, Ordering::Relaxed);
                }
                posted
            }
            posted => posted,
        }
    }

    async fn post_once(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        secret: Option<&Secret>,
        basic: bool,
    ) -> Result<Vec<u8>, TokenError> {
        let mut form = fields.to_vec();
        if let Some(secret) = secret.filter(|_| !basic) {
            form.push(("client_secret", secret.expose()));
        }
        let is_named = secret.is_some() && basic;
        if !is_named {
            form.push(("client_id", &self.client_id));
        }
        let mut request = HttpRequest::post_form(url.clone(), &form)
            .header("accept", "application/json")
            .map_err(CredentialError::from)?;
        if let Some(secret) = secret.filter(|_| basic) {
            let pair = format!("{}:{}", encoded(&self.client_id), encoded(secret.expose()));
            let pair = Secret::new(STANDARD.encode(pair));
            request =
                request.secret_header("authorization", "Basic ", &pair).map_err(CredentialError::from)?;
        }
        let asking = async {
            let answer = self.net.send(request).await?;
            Ok::<_, NetError>((answer.status(), answer.read(MAX_ANSWER_BYTES).await?))
        };
        // Other processes wait for the token file meanwhile.
        let answered = timeout(REQUEST_TIMEOUT, asking).await;
        let answered = answered.unwrap_or(Err(NetError::IdleTimeout { after: REQUEST_TIMEOUT }));
        let (status, body) = answered.map_err(CredentialError::from)?;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let secrets = form.iter().filter(|(name, _)| SECRET_FIELDS.contains(name));
        let sent: Vec<Secret> =
            secrets.map(|(_, value)| Secret::new(*value)).chain(secret.cloned()).collect();
        Err(self.refusal(status, &body, &sent))
    }

    /// What the server says about it, without what was sent to it.
    fn refusal(&self, status: u16, body: &[u8], sent: &[Secret]) -> TokenError {
        let fields = Fields::parse(body);
        let text = |name: &str| {
            let text = redacted(&fields.text(name)?, sent);
            Some(text.chars().filter(|letter| !letter.is_control()).take(300).collect::<String>())
        };
        let place = self.url.origin().ascii_serialization();
        match (text("error"), text("error_description")) {
            (Some(code), description) => {
                let more = description.map(|text| format!(", {text}")).unwrap_or_default();
                let what = format!("{}: {place} gives no token: {code}{more} ({status})", self.agent);
                TokenError::Refused { code, what }
            }
            _ => self.failed(&format!("{place} gives no token: it answers {status}")).into(),
        }
    }

    fn failed(&self, what: &str) -> CredentialError {
        CredentialError::unavailable(format!("{}: {what}", self.agent))
    }
}

/// As a form has it, which RFC 6749 asks for. Some servers know a blank as `%20` only, and none knows it as `+` only.
fn encoded(text: &str) -> String {
    let mut url = Url::parse("http://form/").unwrap_or_else(|_| unreachable!("a constant URL"));
    url.query_pairs_mut().append_pair("", text);
    url.query().unwrap_or_default().trim_start_matches('=').replace('+', "%20")
}
