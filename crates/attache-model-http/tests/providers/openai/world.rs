//! One fake OpenAI, and one model that asks it.

use attache_model_http::openai::{OpenAiModel, OpenAiOptions};
use attache_net::{BaseUrl, Secret};
use attache_testkit::model_server::{ModelServer, Planned, scenarios};

pub(crate) use crate::world::{KEY, Told, answered, hello, prompt, user};

pub(crate) type World = crate::world::World<OpenAiModel>;

impl World {
    pub(crate) fn new(answers: impl IntoIterator<Item = Planned>) -> Self {
        Self::of("house-model", answers)
    }

    pub(crate) fn of(model: &str, answers: impl IntoIterator<Item = Planned>) -> Self {
        let server = ModelServer::playing(answers);
        let options = options(&server, model);
        Self::with(server, options)
    }

    pub(crate) fn with(server: ModelServer, options: OpenAiOptions) -> Self {
        let model = OpenAiModel::new(options, crate::world::client()).expect("options that fit together");
        Self::of_model(server, model)
    }
}

/// A server that plays the scenario its model is named after, as changed by `change`.
pub(crate) fn scenario(name: &str, change: fn(Planned) -> Planned) -> World {
    let server = ModelServer::answering(move |received| {
        change(scenarios::by_model(received).expect("a known scenario"))
    });
    let options = options(&server, name);
    World::with(server, options)
}

pub(crate) fn options(server: &ModelServer, model: &str) -> OpenAiOptions {
    let base_url = BaseUrl::parse(&format!("{}/v1", server.url())).expect("an address");
    OpenAiOptions {
        key: Some(Secret::new(KEY)),
        retry: crate::world::retry(),
        ..OpenAiOptions::new(model, Some(base_url))
    }
}
