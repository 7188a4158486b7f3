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

use attache_model::{LanguageError, Prompt};
use attache_net::HttpClient;
use bytes::Bytes;

use crate::answer_request::{Provider, RequestVariation};
use crate::connection::{Connection, ModelOptions};
use crate::endpoint::{BadOptions, Vendor};
use crate::http_model::HttpModel;
use answer::OpenAiAssembler;
use models::Model;

const VENDOR: Vendor = Vendor {
    name: "OpenAI",
    provider: "openai",
    official: "https://api.openai.com/v1",
    path: "chat/completions",
    key_header: ("authorization", "Bearer "),
    plain_headers: &[],
};

/// A model of OpenAI or a compatible server.
///
/// ```
/// use attache_domain::{Content, Exchange};
/// use attache_model::{AnswerEvent, AnswerPiece, LanguageModel, Prompt};
/// use attache_model_http::ModelOptions;
/// use attache_model_http::openai::OpenAiModel;
/// use attache_net::{BaseUrl, HttpClient, HttpClientOptions};
/// use attache_testkit::model_server::{ModelServer, openai};
/// use futures_util::StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ModelServer::with_responses([openai::answer([openai::chunk().text("Hello.").finish("stop")])]);
/// let options = ModelOptions::new("qwen3", Some(BaseUrl::parse(&server.url())?));
/// let model = OpenAiModel::new(options, HttpClient::new(&HttpClientOptions::default())?)?;
/// let said = Exchange::User(vec![Content::Text("Hi".into())]);
/// let mut answer = model.stream(Prompt { exchanges: vec![said.into()].into(), ..Prompt::default() });
/// let first = answer.next().await.expect("something")?;
/// assert_eq!(first, AnswerEvent::Piece(AnswerPiece::Text("Hello.".into())));
/// # Ok(())
/// # }
/// ```
pub type OpenAiModel = HttpModel<OpenAi>;

/// OpenAI's API.
#[derive(Debug)]
pub struct OpenAi {
    connection: Connection,
    /// Whether the model accepts a temperature.
    is_tunable: bool,
    /// Whether the server requires the model's reasoning back.
    return_reasoning: bool,
}

impl OpenAiModel {
    pub fn new(options: ModelOptions, client: HttpClient) -> Result<Self, BadOptions> {
        let Model { window, is_tunable } = Model::named(&options.model);
        let connection = Connection::to_vendor(&VENDOR, options, window, client)?;
        let return_reasoning = vendors::wants_thoughts_back(&connection.endpoint.route);
        Ok(Self::of(OpenAi { connection, is_tunable, return_reasoning }))
    }
}

impl Provider for OpenAi {
    type Assembler = OpenAiAssembler;

    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn body(&self, prompt: &Prompt, variation: &RequestVariation) -> Result<Bytes, LanguageError> {
        request::body(self, prompt, variation).map(Bytes::from)
    }

    fn assembler(&self, prompt: &Prompt) -> OpenAiAssembler {
        OpenAiAssembler::new(&self.connection, prompt)
    }
}
