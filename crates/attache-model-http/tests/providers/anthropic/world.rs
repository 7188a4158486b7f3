//! One fake Anthropic, and one model that asks it.

use attache_model_http::ModelOptions;
use attache_model_http::anthropic::AnthropicModel;
use attache_net::{BaseUrl, Secret};
use attache_testkit::model_server::{ModelServer, PlannedResponse, scenarios};

pub(crate) use crate::world::{KEY, PromptResult, answered, hello, prompt, user};

pub(crate) type World = crate::world::World<AnthropicModel>;

impl World {
    pub(crate) fn new(answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::of("house-model", answers)
    }

    pub(crate) fn of(model: &str, answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        let server = ModelServer::with_responses(answers);
        let options = options(&server, model);
        Self::with(server, options)
    }

    pub(crate) fn with(server: ModelServer, options: ModelOptions) -> Self {
        let model = AnthropicModel::new(options, crate::world::client()).expect("options that fit together");
        Self::of_model(server, model)
    }
}

/// A server that plays the scenario its model is named after, as changed by `change`.
pub(crate) fn scenario(name: &str, change: fn(PlannedResponse) -> PlannedResponse) -> World {
    let server = ModelServer::with_handler(move |received| {
        change(scenarios::by_model(received).expect("a known scenario"))
    });
    let options = options(&server, name);
    World::with(server, options)
}

pub(crate) fn options(server: &ModelServer, model: &str) -> ModelOptions {
    let base_url = BaseUrl::parse(&server.url()).expect("an address");
    ModelOptions {
        key: Some(Secret::new(KEY)),
        retry: crate::world::retry(),
        ..ModelOptions::new(model, Some(base_url))
    }
}
