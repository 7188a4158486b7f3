//! OpenAI's chat completions, and compatible servers such as Ollama, vLLM and llama.cpp.
//!
//! Compatible servers leave out different fields, so every optional field may be missing.

mod answer;
mod calls;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod messages;
mod models;
mod request;
mod vendors;

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
use answer::OpenAiAssembler;
use models::Model;

const OFFICIAL: &str = "https://api.openai.com/v1";

/// The options of a model.
#[derive(Debug, Clone)]
pub struct OpenAiOptions {
    /// The name on the server.
    pub model: String,
    /// The URL with the version in its path, such as `http://localhost:11434/v1`; none: OpenAI's.
    pub base_url: Option<BaseUrl>,
    /// Required by OpenAI; optional for other servers.
    pub key: Option<Secret>,
    pub organization: Option<String>,
    pub project: Option<String>,
    /// Sent with every request. Treated as secret, because gateways put their own keys there.
    pub headers: Vec<(String, Secret)>,
    /// The size of the context window, if the table of known models is wrong or has no entry.
    pub window: Option<u64>,
    /// The name of the field that limits the answer; `None` chooses it by the server.
    pub output_limit: Option<OutputLimit>,
    /// Requests the token usage. `false` is for servers that refuse this option.
    pub include_usage: bool,
    /// Returns the visible reasoning to the model, as some vendors require; `None` decides by the server.
    pub return_reasoning: Option<bool>,
    pub retry: RetryOptions,
}

/// The field that limits the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputLimit {
    /// OpenAI's own: `max_completion_tokens`.
    MaxCompletionTokens,
    /// Of other servers: `max_tokens`.
    MaxTokens,
}

impl OpenAiOptions {
    /// OpenAI itself.
    pub fn official(model: impl Into<String>, key: Secret) -> Self {
        Self { key: Some(key), ..Self::new(model, None) }
    }

    pub fn new(model: impl Into<String>, base_url: Option<BaseUrl>) -> Self {
        Self {
            model: model.into(),
            base_url,
            key: None,
            organization: None,
            project: None,
            headers: Vec::new(),
            window: None,
            output_limit: None,
            include_usage: true,
            return_reasoning: None,
            retry: RetryOptions::default(),
        }
    }
}

/// A model of OpenAI or a compatible server.
///
/// ```
/// use attache_domain::{Content, Exchange};
/// use attache_model::{AnswerEvent, AnswerPiece, LanguageModel, Prompt};
/// use attache_model_http::openai::{OpenAiModel, OpenAiOptions};
/// use attache_net::{BaseUrl, HttpClient, HttpClientOptions};
/// use attache_testkit::model_server::{ModelServer, openai};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ModelServer::with_responses([openai::answer([openai::chunk().text("Hello.").finish("stop")])]);
/// let options = OpenAiOptions::new("qwen3", Some(BaseUrl::parse(&server.url())?));
/// let model = OpenAiModel::new(options, HttpClient::new(&HttpClientOptions::default())?)?;
/// let said = Exchange::User(vec![Content::Text("Hi".into())]);
/// let mut answer = model.stream(Prompt { exchanges: vec![said.into()].into(), ..Prompt::default() });
/// let first = answer.next().await.expect("something")?;
/// assert_eq!(first, AnswerEvent::Piece(AnswerPiece::Text("Hello.".into())));
/// # Ok(())
/// # }
/// ```
pub type OpenAiModel = HttpModel<OpenAi>;

/// The parts that all answers of one model share.
#[derive(Debug)]
pub struct OpenAi {
    model: Model,
    endpoint: ProviderEndpoint,
    output_limit: OutputLimit,
    include_usage: bool,
    return_reasoning: bool,
    retry: RetryOptions,
    client: HttpClient,
}

impl OpenAiModel {
    pub fn new(options: OpenAiOptions, client: HttpClient) -> Result<Self, BadOptions> {
        let mut model = Model::named(&checked_model(&options.model)?);
        model.window = options.window.unwrap_or(model.window);
        let mut endpoint = ProviderEndpoint::new(EndpointOptions {
            provider: "openai",
            official: OFFICIAL,
            base_url: options.base_url,
            path: "chat/completions",
            headers: options.headers,
        })?;
        match options.key {
            Some(secret) => endpoint.set_key(ApiKey { header: "authorization", prefix: "Bearer ", secret }),
            None if endpoint.is_official() => {
                let what = "OpenAI wants a key; give one, or the base URL of a server that wants none".into();
                return Err(BadOptions { what });
            }
            None => {}
        }
        let plain_headers =
            [("openai-organization", options.organization), ("openai-project", options.project)];
        endpoint
            .plain_headers
            .extend(plain_headers.into_iter().filter_map(|(name, value)| Some((name, value?))));
        let by_server = match endpoint.is_official() {
            true => OutputLimit::MaxCompletionTokens,
            false => OutputLimit::MaxTokens,
        };
        let wants_thoughts_back = vendors::wants_thoughts_back(&endpoint.route);
        let provider = OpenAi {
            model,
            endpoint,
            output_limit: options.output_limit.unwrap_or(by_server),
            include_usage: options.include_usage,
            return_reasoning: options.return_reasoning.unwrap_or(wants_thoughts_back),
            retry: options.retry,
            client,
        };
        Ok(Self::of(provider))
    }
}

impl Provider for OpenAi {
    type Assembler = OpenAiAssembler;

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

    fn assembler(&self, prompt: &Prompt) -> OpenAiAssembler {
        OpenAiAssembler::new(self, prompt)
    }
}
