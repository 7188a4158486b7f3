//! The URL and the credential of a request.

use attache_net::BaseUrl;

use super::models::Model;
use super::{Backend, BadOptions, GeminiCredential, GeminiOptions};
use crate::endpoint::{Credential, ProviderEndpoint};

const DEVELOPER: &str = "https://generativelanguage.googleapis.com";
const VERTEX: &str = "https://aiplatform.googleapis.com";

/// The URL for streamed answers.
pub(super) fn for_streams(options: GeminiOptions, model: &Model) -> Result<ProviderEndpoint, BadOptions> {
    endpoint(options, model, "streamGenerateContent", Some("alt=sse"))
}

/// The URL for whole answers.
pub(super) fn for_whole_answers(
    options: GeminiOptions,
    model: &Model,
) -> Result<ProviderEndpoint, BadOptions> {
    endpoint(options, model, "generateContent", None)
}

fn endpoint(
    options: GeminiOptions,
    model: &Model,
    method: &str,
    query: Option<&str>,
) -> Result<ProviderEndpoint, BadOptions> {
    let GeminiOptions { backend, credential, headers, .. } = options;
    if model.id.is_empty() || model.id.contains("..") || model.id.contains(['?', '&', '#', ' ']) {
        return Err(BadOptions { what: format!("{:?} is not the name of a model", model.id) });
    }
    let (base, prefix, version, route) = match backend {
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
    let path = format!("{version}/{prefix}:{method}");
    let url = base.join(&path, query).map_err(|error| BadOptions { what: error.to_string() })?;
    let credential = Some(match credential {
        GeminiCredential::ApiKey(secret) => Credential::Key { header: "x-goog-api-key", prefix: "", secret },
        GeminiCredential::Bearer(source) => Credential::Token(source),
    });
    Ok(ProviderEndpoint { url, credential, plain_headers: &[], headers, route: route.to_owned() })
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
    use attache_net::Secret;

    use super::*;

    fn vertex(location: &str) -> Backend {
        Backend::Vertex { base_url: None, project: "p-1".into(), location: location.into() }
    }

    #[track_caller]
    fn check(model: &str, backend: Backend, expected: Result<&str, &str>) {
        let options = GeminiOptions::new(model, GeminiCredential::ApiKey(Secret::new("k")), backend);
        match (for_streams(options, &Model::named(model)), expected) {
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
