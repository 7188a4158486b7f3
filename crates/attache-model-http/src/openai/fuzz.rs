//! Arbitrary bytes as an answer.

use std::sync::LazyLock;

use attache_net::Secret;

use super::{OpenAiModel, OpenAiOptions};
use crate::fuzz;

pub(crate) fn answer(stream: &[u8]) {
    static MODEL: LazyLock<OpenAiModel> = LazyLock::new(|| {
        let options = OpenAiOptions::official("m", Secret::new("key"));
        OpenAiModel::new(options, fuzz::client()).expect("options that fit")
    });
    fuzz::answer(&*MODEL.provider, stream);
}
