//! A language model of any provider.

use std::sync::Arc;

use attache_model::{LanguageModel, LanguageStream, Prompt};
use futures_util::StreamExt;

use crate::answer_request::{self, Provider};

/// A language model that is reached over HTTP. Clones share it.
#[derive(Debug)]
pub struct HttpModel<P> {
    /// What all answers of the model share.
    pub(crate) provider: Arc<P>,
}

impl<P> HttpModel<P> {
    pub(crate) fn of(provider: P) -> Self {
        Self { provider: Arc::new(provider) }
    }
}

impl<P> Clone for HttpModel<P> {
    fn clone(&self) -> Self {
        Self { provider: Arc::clone(&self.provider) }
    }
}

impl<P: Provider> LanguageModel for HttpModel<P> {
    fn name(&self) -> &str {
        &self.provider.connection().model
    }

    fn window(&self) -> u64 {
        self.provider.connection().window
    }

    fn stream(&self, prompt: Prompt) -> LanguageStream {
        answer_request::answer(Arc::clone(&self.provider), prompt).boxed()
    }
}
