//! The URL and the credential of a request.

use attache_model::LanguageError;
use attache_net::{BaseUrl, HttpRequest, NetError, Secret, Url};
use bytes::Bytes;

use super::models::Model;
use super::{Backend, BadOptions, GeminiCredential, GeminiOptions, TokenRenewal};
use crate::endpoint::redacted;

#[derive(Debug)]
pub(super) struct GeminiEndpoint {
    url: Url,
    credential: GeminiCredential,
    headers: Vec<(String, Secret)>,
    /// The provider whose signatures the server accepts.
    pub(super) route: &'static str,
}

const DEVELOPER: &str = "https://generativelanguage.googleapis.com";
const VERTEX: &str = "https://aiplatform.googleapis.com";

impl GeminiEndpoint {
    /// The URL for streamed answers.
    pub(super) fn new(options: GeminiOptions, model: &Model) -> Result<Self, BadOptions> {
        Self::of(options, model, "streamGenerateContent", Some("alt=sse"))
    }

    /// The URL for whole answers.
    pub(super) fn whole(options: GeminiOptions, model: &Model) -> Result<Self, BadOptions> {
        Self::of(options, model, "generateContent", None)
    }

    fn of(
        options: GeminiOptions,
        model: &Model,
        method: &str,
        query: Option<&str>,
    ) -> Result<Self, BadOptions> {
        let GeminiOptions { backend, version, credential, headers, .. } = options;
        if model.id.is_empty() || model.id.contains("..") || model.id.contains(['?', '&', '#', ' ']) {
            return Err(BadOptions { what: format!("{:?} is not the name of a model", model.id) });
        }
        let (base, prefix, default_version, route) = match backend {
            Backend::Developer { base_url } => {
                (given_or(base_url, DEVELOPER)?, developer_path(&model.id), "v1beta", "gemini")
            }
            Backend::Vertex { base_url, project, location } => {
                let host = vertex_host(&location)?;
                let model = vertex_path(&model.id);
                let path = match model.starts_with("projects/") {
                    true => model,
                    false => format!("projects/{}/locations/{location}/{model}", plain("project", &project)?),
                };
                (given_or(base_url, &host)?, path, "v1beta1", "gemini-vertex")
            }
            Backend::VertexExpress { base_url } => {
                (given_or(base_url, VERTEX)?, vertex_path(&model.id), "v1beta1", "gemini-vertex")
            }
        };
        let version = version.as_deref().unwrap_or(default_version);
        let path = format!("{}/{prefix}:{method}", plain("version", version)?);
        let url = base.join(&path, query).map_err(|error| BadOptions { what: error.to_string() })?;
        Ok(Self { url, credential, headers, route })
    }

    /// The request for an answer, with the credential.
    pub(super) async fn request(
        &self,
        body: Bytes,
        renew: TokenRenewal,
    ) -> Result<HttpRequest, LanguageError> {
        let refused = |error: NetError| LanguageError::Request { what: error.to_string() };
        let mut request = HttpRequest::post_json(self.url.clone(), body);
        for (name, value) in &self.headers {
            request = request.secret_header(name, "", value).map_err(refused)?;
        }
        let request = match &self.credential {
            GeminiCredential::ApiKey(key) => request.secret_header("x-goog-api-key", "", key),
            GeminiCredential::Bearer(source) => {
                let token = source(renew).await.map_err(|what| LanguageError::NoCredential { what })?;
                request.secret_header("authorization", "Bearer ", &token)
            }
        };
        request.map_err(|error| LanguageError::NoCredential { what: error.to_string() })
    }

    /// Removes secrets from `text`, in case a server repeats them.
    pub(super) fn redacted(&self, text: &str) -> String {
        let key = match &self.credential {
            GeminiCredential::ApiKey(key) => Some(key),
            GeminiCredential::Bearer(_) => None,
        };
        redacted(text, self.headers.iter().map(|(_, value)| value).chain(key))
    }

    /// The display name of the server.
    pub(super) fn place(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Whether a new credential can be requested after a refusal.
    pub(super) fn renews(&self) -> bool {
        matches!(self.credential, GeminiCredential::Bearer(_))
    }
}

fn given_or(base_url: Option<BaseUrl>, google: &str) -> Result<BaseUrl, BadOptions> {
    match base_url {
        Some(base_url) => Ok(base_url),
        None => BaseUrl::parse(google).map_err(|error| BadOptions { what: error.to_string() }),
    }
}

fn developer_path(id: &str) -> String {
    match id.starts_with("models/") || id.starts_with("tunedModels/") {
        true => id.into(),
        false => format!("models/{id}"),
    }
}

fn vertex_path(id: &str) -> String {
    if ["publishers/", "projects/", "models/"].iter().any(|start| id.starts_with(start)) {
        return id.into();
    }
    match id.split_once('/') {
        Some((publisher, model)) => format!("publishers/{publisher}/models/{model}"),
        None => format!("publishers/google/models/{id}"),
    }
}

fn vertex_host(location: &str) -> Result<String, BadOptions> {
    Ok(match plain("location", location)? {
        "global" => VERTEX.into(),
        "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com"),
        _ => format!("https://{location}-aiplatform.googleapis.com"),
    })
}

/// Refuses names that would change the path or the host.
fn plain<'a>(what: &str, text: &'a str) -> Result<&'a str, BadOptions> {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_:.".contains(character);
    match !text.is_empty() && !text.contains("..") && text.chars().all(fits) {
        true => Ok(text),
        false => Err(BadOptions { what: format!("{text:?} is not a {what}: letters, digits, - and _ are") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(location: &str) -> Backend {
        Backend::Vertex { base_url: None, project: "p-1".into(), location: location.into() }
    }

    #[track_caller]
    fn check(model: &str, backend: Backend, expected: Result<&str, &str>) {
        let options = GeminiOptions::new(model, GeminiCredential::ApiKey(Secret::new("k")), backend);
        match (GeminiEndpoint::new(options, &Model::named(model)), expected) {
            (Ok(endpoint), Ok(url)) => assert_eq!(endpoint.url.as_str(), format!("https://{url}?alt=sse")),
            (Err(error), Err(why)) => assert!(error.what.contains(why), "{error}"),
            (found, expected) => panic!("{model}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn every_backend_has_its_path() {
        const DEVELOPER: Backend = Backend::Developer { base_url: None };
        const EXPRESS: Backend = Backend::VertexExpress { base_url: None };
        let at = "generativelanguage.googleapis.com/v1beta";
        check("m", DEVELOPER, Ok(&format!("{at}/models/m:streamGenerateContent")));
        check("tunedModels/m", DEVELOPER, Ok(&format!("{at}/tunedModels/m:streamGenerateContent")));
        check("a/../m", DEVELOPER, Err("not the name"));
        check("m?x", DEVELOPER, Err("not the name"));
        let path = "v1beta1/projects/p-1/locations";
        check(
            "m",
            vertex("us-east1"),
            Ok(&format!(
                "us-east1-aiplatform.googleapis.com/{path}/us-east1/publishers/google/models/m:streamGenerateContent"
            )),
        );
        check(
            "m",
            vertex("global"),
            Ok(&format!(
                "aiplatform.googleapis.com/{path}/global/publishers/google/models/m:streamGenerateContent"
            )),
        );
        check(
            "a/m",
            vertex("eu"),
            Ok(&format!(
                "aiplatform.eu.rep.googleapis.com/{path}/eu/publishers/a/models/m:streamGenerateContent"
            )),
        );
        check("m", vertex("evil.com/x"), Err("not a location"));
        check(
            "m",
            EXPRESS,
            Ok("aiplatform.googleapis.com/v1beta1/publishers/google/models/m:streamGenerateContent"),
        );
    }

    #[test]
    fn a_base_url_replaces_the_host_only() {
        let base_url = Some(BaseUrl::parse("https://gate.example.com/g/").unwrap());
        check(
            "m",
            Backend::Developer { base_url },
            Ok("gate.example.com/g/v1beta/models/m:streamGenerateContent"),
        );
    }
}
