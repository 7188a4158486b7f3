//! Arbitrary bytes as an answer.

use std::sync::LazyLock;

use attache_net::Secret;

use super::{AnthropicModel, AnthropicOptions};
use crate::fuzz;

pub(crate) fn answer(stream: &[u8]) {
    static MODEL: LazyLock<AnthropicModel> = LazyLock::new(|| {
        let options = AnthropicOptions::official("claude-opus-4-6", Secret::new("key"));
        AnthropicModel::new(options, fuzz::client()).expect("options that fit")
    });
    fuzz::answer(&*MODEL.provider, stream);
}
