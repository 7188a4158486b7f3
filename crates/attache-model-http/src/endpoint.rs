//! The URL and the credential of a request.

use std::fmt;
use std::sync::Arc;

use attache_model::LanguageError;
use attache_net::{BaseUrl, HttpRequest, NetError, Secret, Url};
use bytes::Bytes;

use crate::token::{TokenRenewal, TokenSource};

/// The options do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct BadOptions {
    pub what: String,
}

#[derive(Debug)]
pub(crate) struct ProviderEndpoint {
    pub(crate) url: Url,
    pub(crate) credential: Option<Credential>,
    /// Headers without secrets.
    pub(crate) plain_headers: &'static [(&'static str, &'static str)],
    /// Headers that may contain secrets.
    pub(crate) headers: Vec<(String, Secret)>,
    /// The provider whose opaque data the server understands. Other servers do not get the data, whatever their model
    /// is called.
    pub(crate) route: String,
}

/// How requests are authenticated.
pub(crate) enum Credential {
    Key {
        header: &'static str,
        prefix: &'static str,
        secret: Secret,
    },
    /// A token is requested before each request, and a new one once after a refusal.
    Token(Arc<TokenSource>),
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Key { .. } => "Key(…)",
            Self::Token(_) => "Token(…)",
        })
    }
}

/// A vendor whose API has one URL and one key.
#[derive(Debug)]
pub(crate) struct Vendor {
    /// In messages.
    pub(crate) name: &'static str,
    /// In opaque data.
    pub(crate) provider: &'static str,
    /// The vendor's own URL.
    pub(crate) official: &'static str,
    pub(crate) path: &'static str,
    /// The header of the key, and what stands before the key.
    pub(crate) key_header: (&'static str, &'static str),
    pub(crate) plain_headers: &'static [(&'static str, &'static str)],
}

impl ProviderEndpoint {
    /// Only the vendor's own server requires a key.
    pub(crate) fn of_vendor(
        vendor: &Vendor,
        base_url: Option<&BaseUrl>,
        key: Option<Secret>,
    ) -> Result<Self, BadOptions> {
        let bad = |error: NetError| BadOptions { what: error.to_string() };
        let official = BaseUrl::parse(vendor.official).map_err(bad)?;
        let url = base_url.unwrap_or(&official).join(vendor.path, None).map_err(bad)?;
        let home = official.join(vendor.path, None).map_err(bad)?;
        let is_official = url.origin() == home.origin();
        if is_official && key.is_none() {
            let what =
                format!("{} wants a key; give one, or the base URL of a server that wants none", vendor.name);
            return Err(BadOptions { what });
        }
        let route = match is_official {
            true => vendor.provider.to_owned(),
            false => format!("{}@{}", vendor.provider, url.origin().ascii_serialization()),
        };
        let (header, prefix) = vendor.key_header;
        let credential = key.map(|secret| Credential::Key { header, prefix, secret });
        Ok(Self { url, credential, plain_headers: vendor.plain_headers, headers: Vec::new(), route })
    }

    /// The request for an answer, with the credential.
    pub(crate) async fn request(
        &self,
        body: Bytes,
        renew: TokenRenewal,
    ) -> Result<HttpRequest, LanguageError> {
        let refused = |error: NetError| LanguageError::Request { what: error.to_string() };
        let mut request = HttpRequest::post_json(self.url.clone(), body);
        for (name, value) in self.plain_headers {
            request = request.header(name, value).map_err(refused)?;
        }
        for (name, value) in &self.headers {
            request = request.secret_header(name, "", value).map_err(refused)?;
        }
        let request = match &self.credential {
            None => return Ok(request),
            Some(Credential::Key { header, prefix, secret }) => request.secret_header(header, prefix, secret),
            Some(Credential::Token(source)) => {
                let token = source(renew).await.map_err(|what| LanguageError::NoCredential { what })?;
                request.secret_header("authorization", "Bearer ", &token)
            }
        };
        request.map_err(|error| LanguageError::NoCredential { what: error.to_string() })
    }

    /// Removes secrets from `text`, in case a server repeats them.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let key = match &self.credential {
            Some(Credential::Key { secret, .. }) => Some(secret),
            Some(Credential::Token(_)) | None => None,
        };
        let secrets = self.headers.iter().map(|(_, value)| value).chain(key).map(Secret::expose);
        // Short secrets are not replaced, because they would also match harmless words.
        let worth = secrets.filter(|secret| secret.len() >= 6);
        worth.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }

    /// The display name of the server.
    pub(crate) fn server_name(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Whether a new credential can be requested after a refusal.
    pub(crate) fn renews(&self) -> bool {
        matches!(self.credential, Some(Credential::Token(_)))
    }
}

/// The model's name in requests.
pub(crate) fn checked_model(model: &str) -> Result<String, BadOptions> {
    match model.trim().is_empty() || model.chars().any(char::is_control) {
        true => Err(BadOptions { what: format!("{model:?} is not the name of a model") }),
        false => Ok(model.to_owned()),
    }
}
