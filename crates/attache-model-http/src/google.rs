//! Tokens for Google's services, from application-default credentials.
//!
//! Three kinds: the key of a service account, what signing in as a person left behind, and the metadata server of
//! the machine. A token is kept until shortly before it ends, and many who want one at once wait for one request.
//! Not here: where the file is, and what is in the environment.

mod account;
mod assertion;
mod exchange;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use attache_net::{HttpClient, Secret};
use futures_util::FutureExt;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::retry::{RetryOptions, RetryState};
use crate::token::{TokenRenewal, TokenSource};
pub use account::{BadCredentials, GoogleCredentials};

/// Tells what time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Gets tokens and keeps the last.
///
/// ```
/// use attache_model_http::TokenRenewal;
/// use attache_model_http::google::{GoogleCredentials, GoogleTokens};
/// use attache_net::{HttpClient, HttpClientOptions};
/// use attache_testkit::model_server::{ModelServer, PlannedResponse};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answer = r#"{"access_token": "t", "expires_in": 3600}"#;
/// let server = ModelServer::with_responses([
///     PlannedResponse::text(200, "application/json", answer).header("metadata-flavor", "Google"),
/// ]);
/// let credentials = GoogleCredentials::metadata(&server.url())?;
/// let tokens = GoogleTokens::new(credentials, HttpClient::new(&HttpClientOptions::default())?);
/// assert_eq!(tokens.into_source()(TokenRenewal::IfNeeded).await?.expose(), "t");
/// # Ok(())
/// # }
/// ```
pub struct GoogleTokens {
    credentials: GoogleCredentials,
    client: HttpClient,
    clock: Clock,
    retry: RetryOptions,
    /// Held while a new one is got, so that others wait for it and do not ask as well.
    kept: Mutex<Option<CachedToken>>,
}

struct CachedToken {
    token: Secret,
    until: Instant,
}

/// A token that ends sooner than this is as good as ended: a request takes its time.
const RENEWAL_MARGIN: Duration = Duration::from_secs(300);

impl GoogleTokens {
    pub fn new(credentials: GoogleCredentials, client: HttpClient) -> Self {
        let clock = Arc::new(SystemTime::now);
        // A person waits for the answer.
        let retry =
            RetryOptions { attempts: 3, first_delay: Duration::from_secs(1), ..RetryOptions::default() };
        Self { credentials, client, clock, retry, kept: Mutex::default() }
    }

    /// With another clock, which service accounts need to date their requests.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    pub fn with_retry(self, retry: RetryOptions) -> Self {
        Self { retry, ..self }
    }

    /// As a model's credential wants it.
    pub fn into_source(self) -> Arc<TokenSource> {
        let shared = Arc::new(self);
        Arc::new(move |renew| {
            let tokens = Arc::clone(&shared);
            async move { tokens.token(renew).await }.boxed()
        })
    }

    async fn token(&self, renew: TokenRenewal) -> Result<Secret, String> {
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.until > Instant::now())
            && renew == TokenRenewal::IfNeeded
        {
            return Ok(kept.token.clone());
        }
        let tries = RetryState::new(self.retry.clone());
        let granted = exchange::grant(&self.credentials, &self.client, &self.clock, tries).await?;
        // One that hardly lives at all is used once rather than never.
        let lifetime = granted.lifetime.saturating_sub(RENEWAL_MARGIN);
        *kept = Some(CachedToken { token: granted.token.clone(), until: Instant::now() + lifetime });
        Ok(granted.token)
    }
}

impl fmt::Debug for GoogleTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GoogleTokens").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}
