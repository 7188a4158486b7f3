//! Anthropic's Claude, over the Messages API, and compatible servers.

mod answer;
mod block;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod messages;
mod models;
mod request;

use std::future::ready;

use attache_model::{LanguageError, Prompt};
use attache_net::{BaseUrl, HttpClient, HttpRequest, Secret};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::answer_request::{Provider, RequestVariation};
use crate::endpoint::{ApiKey, BadOptions, EndpointOptions, ProviderEndpoint, checked_model};
use crate::http_model::HttpModel;
use crate::retry::RetryOptions;
use crate::token::TokenRenewal;
use answer::AnthropicAssembler;
use models::Model;

const OFFICIAL: &str = "https://api.anthropic.com";

/// The options of a model.
#[derive(Debug, Clone)]
pub struct AnthropicOptions {
    pub model: String,
    pub key: Option<Secret>,
    /// The server; none: Anthropic's.
    pub base_url: Option<BaseUrl>,
    pub version: ApiVersion,
    /// Sent with every request. Treated as secret, because gateways put their own keys there.
    pub headers: Vec<(String, Secret)>,
    /// The size of the context window, if the table of known models is wrong or has no entry.
    pub window: Option<u64>,
    /// The maximum length of an answer if the prompt names none; Anthropic requires a number.
    pub max_output_tokens: Option<u64>,
    pub retry: RetryOptions,
}

/// The version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApiVersion {
    /// `2023-06-01`, with the key in `x-api-key`.
    #[default]
    June2023,
    /// `2026-10-21`, with the key as a bearer token and without a temperature.
    October2026,
}

impl AnthropicOptions {
    /// Anthropic itself.
    pub fn official(model: impl Into<String>, key: Secret) -> Self {
        Self { key: Some(key), ..Self::new(model, None) }
    }

    pub fn new(model: impl Into<String>, base_url: Option<BaseUrl>) -> Self {
        Self {
            model: model.into(),
            key: None,
            base_url,
            version: ApiVersion::default(),
            headers: Vec::new(),
            window: None,
            max_output_tokens: None,
            retry: RetryOptions::default(),
        }
    }
}

/// A Claude model.
///
/// ```
/// use attache_domain::{Content, Exchange};
/// use attache_model::{AnswerEvent, AnswerPiece, LanguageModel, Prompt};
/// use attache_model_http::anthropic::{AnthropicModel, AnthropicOptions};
/// use attache_net::{BaseUrl, HttpClient, HttpClientOptions};
/// use attache_testkit::model_server::{ModelServer, anthropic};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ModelServer::with_responses([anthropic::message().text(["Hello."]).stop("end_turn")]);
/// let options = AnthropicOptions::new("claude-sonnet-4-5", Some(BaseUrl::parse(&server.url())?));
/// let model = AnthropicModel::new(options, HttpClient::new(&HttpClientOptions::default())?)?;
/// let said = Exchange::User(vec![Content::Text("Hi".into())]);
/// let mut answer = model.stream(Prompt { exchanges: vec![said.into()].into(), ..Prompt::default() });
/// let first = answer.next().await.expect("something")?;
/// assert_eq!(first, AnswerEvent::Piece(AnswerPiece::Text("Hello.".into())));
/// # Ok(())
/// # }
/// ```
pub type AnthropicModel = HttpModel<Anthropic>;

/// The parts that all answers of one model share.
#[derive(Debug)]
pub struct Anthropic {
    model: Model,
    endpoint: ProviderEndpoint,
    version: ApiVersion,
    retry: RetryOptions,
    client: HttpClient,
}

impl AnthropicModel {
    pub fn new(options: AnthropicOptions, client: HttpClient) -> Result<Self, BadOptions> {
        let mut model = Model::named(&checked_model(&options.model)?);
        model.window = options.window.unwrap_or(model.window);
        model.most_output = options.max_output_tokens.unwrap_or(model.most_output);
        let mut endpoint = ProviderEndpoint::new(EndpointOptions {
            provider: "anthropic",
            official: OFFICIAL,
            base_url: options.base_url,
            path: "v1/messages",
            headers: options.headers,
        })?;
        let (version, header, prefix) = match options.version {
            ApiVersion::June2023 => ("2023-06-01", "x-api-key", ""),
            ApiVersion::October2026 => ("2026-10-21", "authorization", "Bearer "),
        };
        endpoint.plain_headers.push(("anthropic-version", version.into()));
        match options.key {
            Some(secret) => endpoint.set_key(ApiKey { header, prefix, secret }),
            None if endpoint.is_official() => {
                let what = "Anthropic wants a key; give one, or the base URL of a server that wants none";
                return Err(BadOptions { what: what.into() });
            }
            None => {}
        }
        let provider = Anthropic { model, endpoint, version: options.version, retry: options.retry, client };
        Ok(Self::of(provider))
    }
}

impl Provider for Anthropic {
    type Assembler = AnthropicAssembler;

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

    fn body(&self, prompt: &Prompt, variation: &RequestVariation) -> Result<Bytes, LanguageError> {
        request::body(self, prompt, variation).map(Bytes::from)
    }

    fn request(&self, body: Bytes, _: TokenRenewal) -> BoxFuture<'_, Result<HttpRequest, LanguageError>> {
        ready(self.endpoint.request(body)).boxed()
    }

    fn assembler(&self, prompt: &Prompt) -> AnthropicAssembler {
        AnthropicAssembler::new(self, prompt)
    }
}
