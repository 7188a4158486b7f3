//! Google's Gemini, over the Developer API or Vertex, and compatible servers.

mod answer;
mod arguments;
mod chain;
mod contents;
mod endpoint;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod models;
mod request;
mod request_error;
mod response;
mod schema;
mod search;
mod text_or_value;

use std::fmt;
use std::sync::Arc;

use attache_model::{LanguageError, Prompt};
use attache_net::{BaseUrl, HttpClient, HttpRequest, Secret};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::answer_request::{Provider, RequestVariation, ResponseHead};
use crate::failed_attempt::FailedAttempt;
use crate::http_model::HttpModel;
use crate::retry::RetryOptions;
use answer::GeminiAssembler;
use endpoint::GeminiEndpoint;
use models::Model;

pub use crate::BadOptions;
pub use crate::token::{TokenRenewal, TokenSource};
pub use chain::with_fallback;
pub use models::model_id;
pub use search::{GeminiSearch, SearchAnswer, SearchSource, SearchSupport};

/// The options of a Gemini model.
#[derive(Debug, Clone)]
pub struct GeminiOptions {
    /// A model's id, or one of `auto`, `pro`, `flash` and `flash-lite`.
    pub model: String,
    pub credential: GeminiCredential,
    pub backend: Backend,
    /// The version in the path; by default `v1beta`, for Vertex `v1beta1`.
    pub version: Option<String>,
    /// Sent with every request. Treated as secret, because gateways put their own keys there.
    pub headers: Vec<(String, Secret)>,
    /// The size of the context window, if the table of known models is wrong or has no entry.
    pub window: Option<u64>,
    /// Streams the input of calls. Vertex only.
    pub stream_arguments: bool,
    pub retry: RetryOptions,
}

impl GeminiOptions {
    /// Google's own Developer API.
    pub fn developer(model: impl Into<String>, key: Secret) -> Self {
        Self::new(model, GeminiCredential::ApiKey(key), Backend::Developer { base_url: None })
    }

    pub fn new(model: impl Into<String>, credential: GeminiCredential, backend: Backend) -> Self {
        Self {
            model: model.into(),
            credential,
            backend,
            version: None,
            headers: Vec::new(),
            window: None,
            stream_arguments: false,
            retry: RetryOptions::default(),
        }
    }
}

/// How requests are authenticated.
#[derive(Clone)]
pub enum GeminiCredential {
    ApiKey(Secret),
    /// A token is requested before each request, and a new one once after a refusal.
    Bearer(Arc<TokenSource>),
}

impl fmt::Debug for GeminiCredential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ApiKey(_) => "ApiKey(…)",
            Self::Bearer(_) => "Bearer(…)",
        })
    }
}

/// The service; Google's by default.
#[derive(Debug, Clone, PartialEq)]
pub enum Backend {
    Developer { base_url: Option<BaseUrl> },
    Vertex { base_url: Option<BaseUrl>, project: String, location: String },
    VertexExpress { base_url: Option<BaseUrl> },
}

/// A Gemini model.
///
/// ```
/// use attache_domain::{Content, Exchange};
/// use attache_model::{AnswerEvent, AnswerPiece, LanguageModel, Prompt};
/// use attache_model_http::gemini::{Backend, GeminiCredential, GeminiModel, GeminiOptions};
/// use attache_net::{BaseUrl, HttpClient, HttpClientOptions, Secret};
/// use attache_testkit::model_server::{ModelServer, gemini};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ModelServer::with_responses([gemini::answer([gemini::chunk().text("Hello.").finish("STOP")])]);
/// let backend = Backend::Developer { base_url: Some(BaseUrl::parse(&server.url())?) };
/// let options = GeminiOptions::new("flash", GeminiCredential::ApiKey(Secret::new("key")), backend);
/// let model = GeminiModel::new(options, HttpClient::new(&HttpClientOptions::default())?)?;
/// let said = Exchange::User(vec![Content::Text("Hi".into())]);
/// let mut answer = model.stream(Prompt { exchanges: vec![said.into()].into(), ..Prompt::default() });
/// let first = answer.next().await.expect("something")?;
/// assert_eq!(first, AnswerEvent::Piece(AnswerPiece::Text("Hello.".into())));
/// # Ok(())
/// # }
/// ```
pub type GeminiModel = HttpModel<Gemini>;

/// The parts that all answers of one model share.
#[derive(Debug)]
pub struct Gemini {
    model: Model,
    endpoint: GeminiEndpoint,
    stream_arguments: bool,
    declared: request::DeclarationCache,
    prefixes: contents::PrefixCache,
    retry: RetryOptions,
    client: HttpClient,
}

impl GeminiModel {
    pub fn new(options: GeminiOptions, client: HttpClient) -> Result<Self, BadOptions> {
        let mut model = Model::named(&options.model);
        model.window = options.window.unwrap_or(model.window);
        let stream_arguments =
            options.stream_arguments && !matches!(options.backend, Backend::Developer { .. });
        let retry = options.retry.clone();
        let endpoint = GeminiEndpoint::new(options, &model)?;
        Ok(Self::of(Gemini {
            model,
            endpoint,
            stream_arguments,
            declared: request::DeclarationCache::default(),
            prefixes: contents::PrefixCache::default(),
            retry,
            client,
        }))
    }
}

impl Provider for Gemini {
    type Assembler = GeminiAssembler;

    fn model_id(&self) -> &str {
        &self.model.id
    }

    fn window(&self) -> u64 {
        self.model.window
    }

    fn client(&self) -> &HttpClient {
        &self.client
    }

    fn retry(&self) -> &RetryOptions {
        &self.retry
    }

    fn server_name(&self) -> String {
        self.endpoint.place()
    }

    fn redacted(&self, text: &str) -> String {
        self.endpoint.redacted(text)
    }

    fn renews(&self) -> bool {
        self.endpoint.renews()
    }

    fn body(&self, prompt: &Prompt, variation: &RequestVariation) -> Result<Bytes, LanguageError> {
        request::body(self, prompt, variation)
    }

    fn request(&self, body: Bytes, renew: TokenRenewal) -> BoxFuture<'_, Result<HttpRequest, LanguageError>> {
        self.endpoint.request(body, renew).boxed()
    }

    fn assembler(&self, prompt: &Prompt) -> GeminiAssembler {
        GeminiAssembler::new(self, prompt)
    }

    fn classify_response(&self, head: &ResponseHead, body: &str) -> FailedAttempt {
        request_error::of_status(head.status, head.retry_after.as_deref(), body.as_bytes(), &self.model.id)
    }

    fn classify_event(&self, error: &Value) -> FailedAttempt {
        request_error::of_event(error, &self.model.id)
    }
}
