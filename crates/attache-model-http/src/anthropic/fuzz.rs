//! Arbitrary bytes as an answer.

use std::sync::LazyLock;

use attache_net::Secret;

use super::AnthropicModel;
use crate::{ModelOptions, fuzz};

pub(crate) fn answer(stream: &[u8]) {
    static MODEL: LazyLock<AnthropicModel> = LazyLock::new(|| {
        let options =
            ModelOptions { key: Some(Secret::new("key")), ..ModelOptions::new("claude-opus-4-6", None) };
        AnthropicModel::new(options, fuzz::client()).expect("options that fit")
    });
    fuzz::answer(&*MODEL.provider, stream);
}
