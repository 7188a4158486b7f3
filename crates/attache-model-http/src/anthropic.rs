//! Anthropic's Claude, over the Messages API, and compatible servers.

mod answer;
mod block;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod messages;
mod models;
mod request;

use attache_model::{LanguageError, Prompt};
use attache_net::HttpClient;
use bytes::Bytes;

use crate::answer_request::{Provider, RequestVariation};
use crate::connection::{Connection, ModelOptions};
use crate::endpoint::{BadOptions, Vendor};
use crate::http_model::HttpModel;
use answer::AnthropicAssembler;
use models::Model;

const VENDOR: Vendor = Vendor {
    name: "Anthropic",
    provider: "anthropic",
    official: "https://api.anthropic.com",
    path: "v1/messages",
    key_header: ("x-api-key", ""),
    plain_headers: &[("anthropic-version", "2023-06-01")],
};

/// A Claude model.
///
/// ```
/// use attache_domain::{Content, Exchange};
/// use attache_model::{AnswerEvent, AnswerPiece, LanguageModel, Prompt};
/// use attache_model_http::ModelOptions;
/// use attache_model_http::anthropic::AnthropicModel;
/// use attache_net::{BaseUrl, HttpClient, HttpClientOptions};
/// use attache_testkit::model_server::{ModelServer, anthropic};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ModelServer::with_responses([anthropic::message().text(["Hello."]).stop("end_turn")]);
/// let options = ModelOptions::new("claude-sonnet-4-5", Some(BaseUrl::parse(&server.url())?));
/// let model = AnthropicModel::new(options, HttpClient::new(&HttpClientOptions::default())?)?;
/// let said = Exchange::User(vec![Content::Text("Hi".into())]);
/// let mut answer = model.stream(Prompt { exchanges: vec![said.into()].into(), ..Prompt::default() });
/// let first = answer.next().await.expect("something")?;
/// assert_eq!(first, AnswerEvent::Piece(AnswerPiece::Text("Hello.".into())));
/// # Ok(())
/// # }
/// ```
pub type AnthropicModel = HttpModel<Anthropic>;

/// Anthropic's API.
#[derive(Debug)]
pub struct Anthropic {
    connection: Connection,
    model: Model,
}

impl AnthropicModel {
    pub fn new(options: ModelOptions, client: HttpClient) -> Result<Self, BadOptions> {
        let model = Model::named(&options.model);
        let connection = Connection::to_vendor(&VENDOR, options, models::WINDOW, client)?;
        Ok(Self::of(Anthropic { connection, model }))
    }
}

impl Provider for Anthropic {
    type Assembler = AnthropicAssembler;

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn body(&self, prompt: &Prompt, variation: &RequestVariation) -> Result<Bytes, LanguageError> {
        request::body(self, prompt, variation).map(Bytes::from)
    }

    fn assembler(&self, prompt: &Prompt) -> AnthropicAssembler {
        AnthropicAssembler::new(&self.connection, prompt)
    }
}
