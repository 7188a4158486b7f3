//! One scripted Gemini server for all scenarios, which forgets what a scenario left over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use serde_json::json;

pub(super) struct Model {
    pub(super) server: ModelServer,
    planned: Arc<Mutex<VecDeque<PlannedResponse>>>,
}

impl Model {
    pub(super) fn start() -> Self {
        let planned: Arc<Mutex<VecDeque<PlannedResponse>>> = Arc::default();
        let queue = planned.clone();
        let server = ModelServer::with_handler(move |_| {
            let next = queue.lock().unwrap().pop_front();
            // Not one of those that are tried again.
            next.unwrap_or_else(|| gemini::error(400, "INVALID_ARGUMENT", "no answer is planned", json!([])))
        });
        Self { server, planned }
    }

    /// Says these next, and nothing else.
    pub(super) fn plan(&self, answers: &[PlannedResponse]) {
        *self.planned.lock().unwrap() = answers.iter().cloned().collect();
    }

    /// How often it was asked so far.
    pub(super) fn asked(&self) -> usize {
        self.server.received().len()
    }

    /// Was this part of what it was asked, since it had been asked that often?
    pub(super) fn was_told(&self, before: usize, text: &str) -> bool {
        let received = self.server.received();
        received[before..].iter().any(|request| request.json().to_string().contains(text))
    }
}
