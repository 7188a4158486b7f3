//! The fallback chains of Gemini models.

use std::sync::Arc;

use attache_model::{FallbackModel, LanguageModel};
use attache_net::HttpClient;

use super::{BadOptions, GeminiModel, GeminiOptions};

/// Newest first. The last models are available to every account; an account may lack the others.
const CHAINS: &[(&str, &[&str])] = &[
    ("auto", &["auto", "gemini-3-pro-preview", "flash", "gemini-2.5-pro", "gemini-2.5-flash"]),
    ("auto-gemini-3", &["auto-gemini-3", "gemini-3-pro-preview", "flash", "gemini-3-flash-preview"]),
    ("auto-gemini-2.5", &["auto-gemini-2.5", "gemini-2.5-flash"]),
    ("pro", &["pro", "gemini-3-pro-preview", "flash", "gemini-2.5-pro", "gemini-2.5-flash"]),
    ("flash", &["flash", "gemini-3-flash-preview", "gemini-2.5-flash"]),
    ("flash-lite", &["flash-lite", "gemini-3.1-flash-lite", "flash", "pro", "gemini-2.5-flash"]),
];

/// The models to try for `name`, which may be an alias. An exact name has no fallback.
pub(super) fn chain_of(name: &str) -> Vec<&str> {
    let known = CHAINS.iter().find(|(alias, _)| *alias == name);
    known.map_or_else(|| vec![name], |(_, chain)| chain.to_vec())
}

/// The model that `options` name, and its fallback models.
pub fn with_fallback(
    options: &GeminiOptions,
    client: &HttpClient,
) -> Result<Arc<dyn LanguageModel>, BadOptions> {
    let model = |name: &str| {
        let options = GeminiOptions { model: name.to_owned(), ..options.clone() };
        let model = GeminiModel::new(options, client.clone())?;
        Ok(Arc::new(model) as Arc<dyn LanguageModel>)
    };
    let chain = chain_of(&options.model);
    let (first, others) = chain.split_first().unwrap_or((&"", &[]));
    let first = model(first)?;
    if others.is_empty() {
        return Ok(first);
    }
    let others = others.iter().map(|name| model(name)).collect::<Result<Vec<_>, BadOptions>>()?;
    Ok(Arc::new(FallbackModel::new(first, others)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_has_others_behind_it_and_a_model_has_none() {
        assert_eq!(chain_of("pro")[..3], ["pro", "gemini-3-pro-preview", "flash"]);
        assert_eq!(chain_of("auto")[..3], ["auto", "gemini-3-pro-preview", "flash"]);
        assert_eq!(chain_of("flash-lite")[2..4], ["flash", "pro"]);
        assert_eq!(chain_of("auto-gemini-2.5"), ["auto-gemini-2.5", "gemini-2.5-flash"]);
        assert_eq!(chain_of("gemini-2.5-pro"), ["gemini-2.5-pro"]);
        for (alias, chain) in CHAINS {
            assert_eq!(chain.first(), Some(alias), "a chain begins with what was asked for");
        }
    }
}
