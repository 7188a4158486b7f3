//! Arbitrary bytes as an answer.

use std::sync::LazyLock;

use attache_net::Secret;

use super::{Backend, GeminiCredential, GeminiModel, GeminiOptions};
use crate::fuzz;

pub(crate) fn answer(stream: &[u8]) {
    static MODEL: LazyLock<GeminiModel> = LazyLock::new(|| {
        let options = GeminiOptions::new(
            "m",
            GeminiCredential::ApiKey(Secret::new("key")),
            Backend::Developer { base_url: None },
        );
        GeminiModel::new(options, fuzz::client()).expect("options that fit")
    });
    fuzz::answer(&*MODEL.provider, stream);
}
