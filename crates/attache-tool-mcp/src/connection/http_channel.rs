//! Sends requests to a server's URL with its headers, over the one outbound client.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::{IgnorePoison, excerpt_in_bytes};
use attache_net::{HttpClient, HttpClientOptions, HttpRequest, HttpResponse, NetError, Secret, Url};

use super::redact::redact;
use crate::ConnectContext;
use crate::error::ConnectError;

/// A stream without data for this long is reopened. Every call has its own timeout.
const IDLE_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of bytes read from an error response.
const MAX_REFUSAL_BYTES: usize = 2_000;

#[derive(Clone)]
pub(super) struct HttpChannel {
    client: HttpClient,
    url: Url,
    headers: Arc<[(String, Secret)]>,
    /// Added because the library's errors do not contain it.
    failure: Arc<Mutex<Option<HttpError>>>,
}

/// Why an HTTP exchange failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HttpError {
    #[error("{0}")]
    Net(NetError),
    #[error("it answers {status}: {what}")]
    Status { status: u16, what: String },
    #[error("it answers with {0:?}, not with events or JSON")]
    Kind(String),
    #[error("the answer is no MCP message")]
    NoMessage,
    #[error("the server sent a message larger than 16 MiB")]
    TooLarge,
}

impl HttpError {
    /// Whether the same connection can send the next request.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Self::Status { status: 429 | 500.., .. })
    }

    /// Whether the request never reached the server.
    pub(super) fn never_arrived(&self) -> bool {
        matches!(self, Self::Net(NetError::Connect { .. } | NetError::Tls { .. }))
    }
}

impl From<HttpError> for ConnectError {
    fn from(failure: HttpError) -> Self {
        match failure {
            HttpError::Status { status: status @ (401 | 403), .. } => Self::SignIn { status },
            HttpError::Status { status, what } => Self::Refused { status, what },
            HttpError::Net(error @ (NetError::Address { .. } | NetError::Request { .. })) => {
                Self::Settings(error.to_string())
            }
            other => Self::Unreachable(other.to_string()),
        }
    }
}

impl HttpChannel {
    pub(super) fn new(
        url: &str,
        headers: &[(String, Secret)],
        context: &ConnectContext,
    ) -> Result<Self, ConnectError> {
        let wrong = |what: &str| Err(ConnectError::Settings(what.to_owned()));
        // The text is not shown, because it may contain a password.
        let Ok(url) = Url::parse(url.trim()) else {
            return wrong("`url` is not a URL such as https://example.com/mcp");
        };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("`url` must start with https:// or http://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("`url` holds a user name or password; give the credential in `headers`");
        }
        let options = HttpClientOptions {
            idle_timeout: IDLE_TIMEOUT,
            addresses: context.addresses.clone(),
            ..context.network.client_options()
        };
        let client = HttpClient::new(&options).map_err(HttpError::Net)?;
        Ok(Self { client, url, headers: headers.into(), failure: Arc::default() })
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) async fn get(&self, headers: &[(&str, &str)]) -> Result<HttpResponse, HttpError> {
        self.send(HttpRequest::get(self.url.clone()), headers).await
    }

    pub(super) async fn post(
        &self,
        url: Url,
        body: Vec<u8>,
        headers: &[(&str, &str)],
    ) -> Result<HttpResponse, HttpError> {
        self.send(HttpRequest::post_json(url, body), headers).await
    }

    /// The last failure, for error messages.
    pub(super) fn failure(&self) -> Option<HttpError> {
        self.failure.lock().ignore_poison().clone()
    }

    /// A successful response, or the error it stands for.
    pub(super) async fn successful(&self, answer: HttpResponse) -> Result<HttpResponse, HttpError> {
        let status = answer.status();
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let body = answer.read_prefix(MAX_REFUSAL_BYTES).await;
        let secrets = self.headers.iter().map(|(_, value)| value);
        self.note(Err(HttpError::Status { status, what: redact(&words(&body), secrets) }))
    }

    pub(super) fn note<T>(&self, result: Result<T, HttpError>) -> Result<T, HttpError> {
        if let Err(failure) = &result {
            *self.failure.lock().ignore_poison() = Some(failure.clone());
        }
        result
    }

    async fn send(&self, request: HttpRequest, headers: &[(&str, &str)]) -> Result<HttpResponse, HttpError> {
        let sending = async { self.client.send(self.with_headers(request, headers)?).await };
        self.note(sending.await.map_err(HttpError::Net))
    }

    fn with_headers(
        &self,
        mut request: HttpRequest,
        headers: &[(&str, &str)],
    ) -> Result<HttpRequest, NetError> {
        for (name, value) in self.headers.iter() {
            request = request.secret_header(name, "", value)?;
        }
        // Set after the configured headers, so that settings cannot remove what the protocol requires.
        for (name, value) in headers {
            request = request.header(name, value)?;
        }
        Ok(request)
    }
}

/// The text of an error response: the message of a JSON-RPC error, or a short plain text.
fn words(body: &[u8]) -> String {
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let message = json.as_ref().and_then(|json| {
        let error = json.get("error")?;
        error.get("message").or(Some(error))?.as_str().map(str::to_owned)
    });
    let text = message.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let text = text.replace(|character: char| character.is_control(), " ");
    excerpt_in_bytes(text.trim(), 300)
}

/// The media type without parameters.
pub(super) fn media_type(answer: &HttpResponse) -> String {
    let media_type = answer.header("content-type").unwrap_or_default();
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
