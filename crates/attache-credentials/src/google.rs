//! Tokens for Google's services, from Application Default Credentials.
//!
//! The key of a service account, what signing in as a person left behind, an identity of another cloud (workload identity
//! federation), a service account that one of these acts as, and the metadata server of the machine. A token is kept until
//! five minutes before it ends, and many callers that need one at once wait for one request.

mod account;
mod assertion;
mod aws;
mod environment;
mod exchange;
mod executable;
mod external;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod source;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use attache_net::{HttpClient, HttpClientOptions, NetError, ProxySettings, Secret};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::Clock;
use crate::renewal::renewal_margin;
pub use account::{BadCredentials, GoogleCredentials};
pub use aws::AwsEnvironment;
pub use environment::GoogleEnvironment;
pub use source::GoogleSource;

/// What a token may be used for unless another scope is named.
pub const CLOUD_PLATFORM: &str = "https://www.googleapis.com/auth/cloud-platform";

/// What a token is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TokenPurpose {
    /// Calls to Google's services, with these scopes.
    Access { scopes: Vec<String> },
    /// Proves to a service who calls it; the audience is its host.
    Identity { audience: String },
}

impl TokenPurpose {
    pub fn cloud_platform() -> Self {
        Self::Access { scopes: vec![CLOUD_PLATFORM.to_owned()] }
    }
}

/// Gets tokens and keeps the last of each purpose.
///
/// ```
/// use attache_credentials::google::{GoogleCredentials, GoogleTokens, TokenPurpose};
/// use attache_net::HttpClientOptions;
/// use attache_testkit::model_server::{ModelServer, PlannedResponse};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answer = r#"{"access_token": "t", "expires_in": 3600}"#;
/// let server = ModelServer::with_responses([
///     PlannedResponse::text(200, "application/json", answer).header("metadata-flavor", "Google"),
/// ]);
/// let credentials = GoogleCredentials::metadata(&server.url())?;
/// let tokens = GoogleTokens::new(credentials, &HttpClientOptions::default())?;
/// assert_eq!(tokens.token(&TokenPurpose::cloud_platform()).await?.expose(), "t");
/// # Ok(())
/// # }
/// ```
pub struct GoogleTokens {
    credentials: GoogleCredentials,
    connections: Connections,
    clock: Clock,
    first_delay: Duration,
    /// Held while a new one is got, so that others wait for it and do not ask as well.
    kept: Mutex<HashMap<TokenPurpose, CachedToken>>,
}

struct Connections {
    client: HttpClient,
    /// The machine's own server is never behind a proxy.
    direct: HttpClient,
}

struct CachedToken {
    token: Secret,
    until: Instant,
}

/// More purposes than an agent has. The cache is emptied when it is full.
const MAX_PURPOSES: usize = 64;
/// A token comes quickly, or not at all.
const TOKEN_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Where there is no metadata server, a connection to it never comes about.
const METADATA_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

impl GoogleTokens {
    pub fn new(credentials: GoogleCredentials, options: &HttpClientOptions) -> Result<Self, NetError> {
        let options = &HttpClientOptions {
            idle_timeout: options.idle_timeout.min(TOKEN_IDLE_TIMEOUT),
            ..options.clone()
        };
        let direct = HttpClientOptions {
            proxy: ProxySettings::none(),
            connect_timeout: options.connect_timeout.min(METADATA_CONNECT_TIMEOUT),
            ..options.clone()
        };
        let connections =
            Connections { client: HttpClient::new(options)?, direct: HttpClient::new(&direct)? };
        let first_delay = Duration::from_secs(1);
        Ok(Self {
            credentials,
            connections,
            clock: Arc::new(SystemTime::now),
            first_delay,
            kept: Mutex::default(),
        })
    }

    /// With another clock, which service accounts need to date their requests.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// With another pause before the first of two retries.
    pub fn with_first_delay(self, first_delay: Duration) -> Self {
        Self { first_delay, ..self }
    }

    pub fn credentials(&self) -> &GoogleCredentials {
        &self.credentials
    }

    /// A token that is good for some minutes at least. The error holds no secret.
    pub async fn token(&self, purpose: &TokenPurpose) -> Result<Secret, String> {
        self.token_unless(purpose, |_| false).await
    }

    /// Another token than the one that was refused.
    pub async fn token_after(&self, purpose: &TokenPurpose, refused: &Secret) -> Result<Secret, String> {
        self.token_unless(purpose, |kept| kept == refused).await
    }

    /// A new token, whatever is kept.
    pub async fn new_token(&self, purpose: &TokenPurpose) -> Result<Secret, String> {
        self.token_unless(purpose, |_| true).await
    }

    async fn token_unless(
        &self,
        purpose: &TokenPurpose,
        is_refused: impl Fn(&Secret) -> bool,
    ) -> Result<Secret, String> {
        let mut kept = self.kept.lock().await;
        let good = |cached: &&CachedToken| cached.until > Instant::now() && !is_refused(&cached.token);
        if let Some(cached) = kept.get(purpose).filter(good) {
            return Ok(cached.token.clone());
        }
        let granted = exchange::grant(self, purpose).await?;
        let lifetime = granted.lifetime.saturating_sub(renewal_margin(granted.lifetime));
        if kept.len() >= MAX_PURPOSES {
            kept.clear();
        }
        let until = Instant::now() + lifetime;
        kept.insert(purpose.clone(), CachedToken { token: granted.token.clone(), until });
        Ok(granted.token)
    }
}

impl fmt::Debug for GoogleTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GoogleTokens").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}
