//! The URL and the credential of a request, for providers with one address and one key.

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
pub(crate) struct Endpoint {
    url: Url,
    key: Option<ApiKey>,
    /// Nothing secret.
    pub(crate) notes: Vec<(&'static str, String)>,
    /// Given by people, who may have put keys there.
    headers: Vec<(String, Secret)>,
    /// Whose opaque data is understood there. Another server gets nothing of it, whatever its model is called.
    pub(crate) route: String,
}

#[derive(Debug)]
pub(crate) struct ApiKey {
    pub(crate) header: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) secret: Secret,
}

/// What an endpoint is made of.
pub(crate) struct EndpointOptions {
    pub(crate) provider: &'static str,
    /// Where it is unless `base_url` says otherwise.
    pub(crate) official: &'static str,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) path: &'static str,
    pub(crate) headers: Vec<(String, Secret)>,
}

impl Endpoint {
    /// Without a key; `is_official` says whether one is needed.
    pub(crate) fn new(plan: EndpointOptions) -> Result<Self, BadOptions> {
        let bad = |error: NetError| BadOptions { what: error.to_string() };
        let official = BaseUrl::parse(plan.official).map_err(bad)?;
        let url = plan.base_url.as_ref().unwrap_or(&official).join(plan.path, None).map_err(bad)?;
        let home = official.join(plan.path, None).map_err(bad)?;
        let route = match url.origin() == home.origin() {
            true => plan.provider.to_owned(),
            false => format!("{}@{}", plan.provider, url.origin().ascii_serialization()),
        };
        Ok(Self { url, key: None, notes: Vec::new(), headers: plan.headers, route })
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
        for (name, value) in &self.notes {
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

    /// `text` without what is secret, should a server repeat it.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let key = self.key.as_ref().map(|key| &key.secret);
        redacted(text, self.headers.iter().map(|(_, value)| value).chain(key))
    }

    /// Which server it is, for people.
    pub(crate) fn place(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

pub(crate) fn redacted<'a>(text: &str, secrets: impl Iterator<Item = &'a Secret>) -> String {
    // A secret of a few letters would blacken harmless words.
    let worth = secrets.map(Secret::expose).filter(|secret| secret.len() >= 6);
    worth.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
}

/// The name of a model in requests.
pub(crate) fn checked_model(model: &str) -> Result<String, BadOptions> {
    match model.trim().is_empty() || model.chars().any(char::is_control) {
        true => Err(BadOptions { what: format!("{model:?} is not the name of a model") }),
        false => Ok(model.to_owned()),
    }
}
