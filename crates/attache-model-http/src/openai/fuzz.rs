//! Arbitrary bytes as an answer.

use std::sync::LazyLock;

use attache_net::Secret;

use super::OpenAiModel;
use crate::{ModelOptions, fuzz};

pub(crate) fn answer(stream: &[u8]) {
    static MODEL: LazyLock<OpenAiModel> = LazyLock::new(|| {
        let options = ModelOptions { key: Some(Secret::new("key")), ..ModelOptions::new("m", None) };
        OpenAiModel::new(options, fuzz::client()).expect("options that fit")
    });
    fuzz::answer(&*MODEL.provider, stream);
}
