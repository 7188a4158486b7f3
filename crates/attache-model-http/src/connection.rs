//! A model and its server: what all answers of one model share, whatever its provider.

use attache_net::{BaseUrl, HttpClient, Secret};

use crate::endpoint::{BadOptions, ProviderEndpoint, Vendor, checked_model};
use crate::retry::RetryOptions;

#[derive(Debug)]
pub(crate) struct Connection {
    /// The model's name in requests.
    pub(crate) model: String,
    /// The size of the context window.
    pub(crate) window: u64,
    pub(crate) endpoint: ProviderEndpoint,
    pub(crate) retry: RetryOptions,
    pub(crate) client: HttpClient,
}

/// The options of a model of OpenAI, Anthropic or a compatible server.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// The name on the server.
    pub model: String,
    /// The server; none: the vendor's own. OpenAI's has the version in its path, such as `http://localhost:11434/v1`.
    pub base_url: Option<BaseUrl>,
    /// Required by the vendor; optional for other servers.
    pub key: Option<Secret>,
    /// The size of the context window, if the table of known models is wrong or has no entry.
    pub window: Option<u64>,
    pub retry: RetryOptions,
}

impl ModelOptions {
    pub fn new(model: impl Into<String>, base_url: Option<BaseUrl>) -> Self {
        Self { model: model.into(), base_url, key: None, window: None, retry: RetryOptions::default() }
    }
}

impl Connection {
    /// `known_window`: that of the model at its vendor.
    pub(crate) fn to_vendor(
        vendor: &Vendor,
        options: ModelOptions,
        known_window: u64,
        client: HttpClient,
    ) -> Result<Self, BadOptions> {
        let ModelOptions { model, base_url, key, window, retry } = options;
        Ok(Self {
            model: checked_model(&model)?,
            window: window.unwrap_or(known_window),
            endpoint: ProviderEndpoint::of_vendor(vendor, base_url.as_ref(), key)?,
            retry,
            client,
        })
    }
}
