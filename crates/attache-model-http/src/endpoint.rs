//! The URL and the credential of a request, for providers with one URL and one key.

use attache_model::LanguageError;
use attache_net::{BaseUrl, HttpRequest, NetError, Secret, Url};
use bytes::Bytes;

/// The options do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct BadOptions {
    pub what: String,
}

#[derive(Debug)]
pub(crate) struct ProviderEndpoint {
    url: Url,
    key: Option<ApiKey>,
    /// Headers without secrets.
    pub(crate) plain_headers: Vec<(&'static str, String)>,
    /// Headers of the settings, which may contain keys.
    headers: Vec<(String, Secret)>,
    /// The provider whose opaque data the server understands. Other servers do not get the data, whatever their model
    /// is called.
    pub(crate) route: String,
}

#[derive(Debug)]
pub(crate) struct ApiKey {
    pub(crate) header: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) secret: Secret,
}

/// The parts of an endpoint.
pub(crate) struct EndpointOptions {
    pub(crate) provider: &'static str,
    /// The default URL.
    pub(crate) official: &'static str,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) path: &'static str,
    pub(crate) headers: Vec<(String, Secret)>,
}

impl ProviderEndpoint {
    /// Whether a key is required depends on `is_official`.
    pub(crate) fn new(plan: EndpointOptions) -> Result<Self, BadOptions> {
        let bad = |error: NetError| BadOptions { what: error.to_string() };
        let official = BaseUrl::parse(plan.official).map_err(bad)?;
        let url = plan.base_url.as_ref().unwrap_or(&official).join(plan.path, None).map_err(bad)?;
        let home = official.join(plan.path, None).map_err(bad)?;
        let route = match url.origin() == home.origin() {
            true => plan.provider.to_owned(),
            false => format!("{}@{}", plan.provider, url.origin().ascii_serialization()),
        };
        Ok(Self { url, key: None, plain_headers: Vec::new(), headers: plan.headers, route })
    }

    pub(crate) fn is_official(&self) -> bool {
        !self.route.contains('@')
    }

    pub(crate) fn set_key(&mut self, key: ApiKey) {
        self.key = Some(key);
    }

    pub(crate) fn request(&self, body: Bytes) -> Result<HttpRequest, LanguageError> {
        let refused = |error: NetError| LanguageError::Request { what: error.to_string() };
        let mut request = HttpRequest::post_json(self.url.clone(), body);
        for (name, value) in &self.plain_headers {
            request = request.header(name, value).map_err(refused)?;
        }
        for (name, value) in &self.headers {
            request = request.secret_header(name, "", value).map_err(refused)?;
        }
        match &self.key {
            None => Ok(request),
            Some(key) => request
                .secret_header(key.header, key.prefix, &key.secret)
                .map_err(|error| LanguageError::NoCredential { what: error.to_string() }),
        }
    }

    /// Removes secrets from `text`, in case a server repeats them.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let key = self.key.as_ref().map(|key| &key.secret);
        redacted(text, self.headers.iter().map(|(_, value)| value).chain(key))
    }

    /// The display name of the server.
    pub(crate) fn place(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

pub(crate) fn redacted<'a>(text: &str, secrets: impl Iterator<Item = &'a Secret>) -> String {
    // Short secrets are not replaced, because they would also match harmless words.
    let worth = secrets.map(Secret::expose).filter(|secret| secret.len() >= 6);
    worth.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
}

/// The model's name in requests.
pub(crate) fn checked_model(model: &str) -> Result<String, BadOptions> {
    match model.trim().is_empty() || model.chars().any(char::is_control) {
        true => Err(BadOptions { what: format!("{model:?} is not the name of a model") }),
        false => Ok(model.to_owned()),
    }
}
