//! A server's address with what has to be sent along, over the one outbound client.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use attache_net::{Answer, Client, ClientOptions, NetError, Request, Secret, Url};

use super::hide::hide;
use crate::ConnectContext;
use crate::failure::ConnectError;
use crate::shorten::cut;

/// A stream on which nothing has happened for so long is opened anew; every call has its own bound.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);
/// What is read of an answer that tells of a failure.
const LONGEST_REFUSAL: usize = 2_000;

#[derive(Clone)]
pub(super) struct Web {
    client: Client,
    url: Url,
    headers: Arc<[(String, Secret)]>,
    /// The library's errors do not say it, and people have to know.
    failure: Arc<Mutex<Option<WebFailure>>>,
}

/// Why an exchange over HTTP came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum WebFailure {
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

impl WebFailure {
    /// May the same connection serve the next request?
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Self::Status { status: 429 | 500.., .. })
    }

    /// Nobody can have acted on it.
    pub(super) fn never_arrived(&self) -> bool {
        matches!(self, Self::Net(NetError::Connect { .. } | NetError::Tls { .. }))
    }
}

impl From<WebFailure> for ConnectError {
    fn from(failure: WebFailure) -> Self {
        match failure {
            WebFailure::Status { status: status @ (401 | 403), .. } => Self::SignIn { status },
            WebFailure::Status { status, what } => Self::Refused { status, what },
            WebFailure::Net(error @ (NetError::Address { .. } | NetError::Request { .. })) => {
                Self::Settings(error.to_string())
            }
            other => Self::Unreachable(other.to_string()),
        }
    }
}

impl Web {
    pub(super) fn new(
        url: &str,
        headers: &[(String, Secret)],
        context: &ConnectContext,
    ) -> Result<Self, ConnectError> {
        let wrong = |what: &str| Err(ConnectError::Settings(what.to_owned()));
        // The text is not shown: it may hold a password.
        let Ok(url) = Url::parse(url.trim()) else {
            return wrong("`url` is not a URL such as https://example.com/mcp");
        };
        if !matches!(url.scheme(), "http" | "https") {
            return wrong("`url` must start with https:// or http://");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return wrong("`url` holds a user name or password; give the credential in `headers`");
        }
        let options = ClientOptions {
            idle_timeout: SILENCE,
            proxy: context.proxy,
            addresses: context.addresses.clone(),
            ..ClientOptions::default()
        };
        let client = Client::new(&options).map_err(WebFailure::Net)?;
        Ok(Self { client, url, headers: headers.into(), failure: Arc::default() })
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) async fn get(&self, headers: &[(&str, &str)]) -> Result<Answer, WebFailure> {
        self.send(Request::get(self.url.clone()), headers).await
    }

    pub(super) async fn post(
        &self,
        url: Url,
        body: Vec<u8>,
        headers: &[(&str, &str)],
    ) -> Result<Answer, WebFailure> {
        self.send(Request::post_json(url, body), headers).await
    }

    /// The last failure, for telling people.
    pub(super) fn failure(&self) -> Option<WebFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// An answer that tells of success, or what it tells instead.
    pub(super) async fn successful(&self, answer: Answer) -> Result<Answer, WebFailure> {
        let status = answer.status();
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let body = answer.beginning(LONGEST_REFUSAL).await;
        let secrets = self.headers.iter().map(|(_, value)| value);
        self.note(Err(WebFailure::Status { status, what: hide(&words(&body), secrets) }))
    }

    pub(super) fn note<T>(&self, result: Result<T, WebFailure>) -> Result<T, WebFailure> {
        if let Err(failure) = &result {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure.clone());
        }
        result
    }

    async fn send(&self, request: Request, headers: &[(&str, &str)]) -> Result<Answer, WebFailure> {
        let sending = async { self.client.send(self.with_headers(request, headers)?).await };
        self.note(sending.await.map_err(WebFailure::Net))
    }

    fn with_headers(&self, mut request: Request, headers: &[(&str, &str)]) -> Result<Request, NetError> {
        for (name, value) in self.headers.iter() {
            request = request.secret_header(name, "", value)?;
        }
        // After the configured ones: what the protocol needs cannot be taken away by a setting.
        for (name, value) in headers {
            request = request.header(name, value)?;
        }
        Ok(request)
    }
}

/// What a refusal says: the message of a JSON-RPC error, or a short text.
fn words(body: &[u8]) -> String {
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let told = json.as_ref().and_then(|json| {
        let error = json.get("error")?;
        error.get("message").or(Some(error))?.as_str().map(str::to_owned)
    });
    let text = told.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    let text = text.replace(|character: char| character.is_control(), " ");
    cut(text.trim(), 300)
}

/// Without its parameters.
pub(super) fn media_type(answer: &Answer) -> String {
    let told = answer.header("content-type").unwrap_or_default();
    told.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
