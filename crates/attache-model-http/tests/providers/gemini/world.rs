//! One fake Gemini, and one model that asks it.

use attache_model_http::gemini::{Backend, GeminiCredential, GeminiModel, GeminiOptions};
use attache_net::{BaseUrl, Secret};
use attache_testkit::model_server::{ModelServer, PlannedResponse};

pub(crate) use crate::world::{KEY, PromptResult, answered, hello, prompt, seconds, user};

pub(crate) type World = crate::world::World<GeminiModel>;

impl World {
    pub(crate) fn new(answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::of("house-model", answers)
    }

    pub(crate) fn of(model: &str, answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::around(ModelServer::with_responses(answers), model)
    }

    pub(crate) fn around(server: ModelServer, model: &str) -> Self {
        let options = options(&server, model);
        Self::with(server, options)
    }

    pub(crate) fn with(server: ModelServer, options: GeminiOptions) -> Self {
        let model = GeminiModel::new(options, crate::world::client()).expect("options that fit together");
        Self::of_model(server, model)
    }
}

pub(crate) fn options(server: &ModelServer, model: &str) -> GeminiOptions {
    let base_url = Some(BaseUrl::parse(&server.url()).expect("an address"));
    let backend = Backend::Developer { base_url };
    GeminiOptions {
        retry: crate::world::retry(),
        ..GeminiOptions::new(model, GeminiCredential::ApiKey(Secret::new(KEY)), backend)
    }
}
