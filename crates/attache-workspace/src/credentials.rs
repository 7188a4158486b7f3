//! The keys of models, read once, so that a task can choose another model later.

use attache_config::{Environment, SecretText, variable};

use attache_credentials::google::GoogleEnvironment;

use crate::model_choice::VertexAccess;
use crate::{EnvFile, ModelProvider};

/// Credentials and addresses of models, from the environment and the user's own `.env` file, never from a project. The
/// environment takes precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCredentials {
    gemini: Access,
    gemini_model: Option<String>,
    openai: Access,
    anthropic: Access,
    /// `None` if Vertex is not requested, `Some(None)` if it is but its access is not configured.
    vertex: Option<Option<VertexAccess>>,
    vertex_base_url: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Access {
    key: Option<SecretText>,
    base_url: Option<String>,
}

/// The location if none is named.
const ANYWHERE: &str = "global";

impl ModelCredentials {
    pub fn read(environment: Environment<'_>, env_file: Option<&EnvFile>) -> Self {
        let lookup = Lookup { environment, env_file };
        // If both are set, Google's own tools use the first.
        let gemini = lookup.access(&["GOOGLE_API_KEY", "GEMINI_API_KEY"], "GOOGLE_GEMINI_BASE_URL");
        let vertex =
            lookup.text("GOOGLE_GENAI_USE_VERTEXAI").is_some_and(|value| value == "true" || value == "1");
        Self {
            gemini,
            gemini_model: lookup.text("GEMINI_MODEL"),
            openai: lookup.access(&["OPENAI_API_KEY"], "OPENAI_BASE_URL"),
            anthropic: lookup.access(&["ANTHROPIC_API_KEY"], "ANTHROPIC_BASE_URL"),
            vertex: vertex.then(|| lookup.vertex()),
            vertex_base_url: lookup.text("GOOGLE_VERTEX_BASE_URL"),
        }
    }

    /// The same addresses; the models of `provider` are reached with the key of a client.
    pub(crate) fn with_client_key(&self, provider: ModelProvider, key: &str) -> Self {
        let mut keys = self.clone();
        let access = match provider {
            ModelProvider::Gemini => {
                (keys.vertex, keys.vertex_base_url) = (None, None);
                &mut keys.gemini
            }
            ModelProvider::OpenAi => &mut keys.openai,
            ModelProvider::Anthropic => &mut keys.anthropic,
        };
        access.key = Some(SecretText::new(key.to_owned()));
        keys
    }

    pub(crate) fn has_gemini(&self) -> bool {
        self.vertex.is_some() || self.gemini.key.is_some()
    }

    pub(crate) fn gemini_model(&self) -> Option<&str> {
        self.gemini_model.as_deref()
    }

    pub(crate) fn gemini(&self) -> (Option<SecretText>, Option<String>) {
        self.gemini.clone().into_parts()
    }

    pub(crate) fn openai(&self) -> (Option<SecretText>, Option<String>) {
        self.openai.clone().into_parts()
    }

    pub(crate) fn anthropic(&self) -> (Option<SecretText>, Option<String>) {
        self.anthropic.clone().into_parts()
    }

    pub(crate) fn vertex(&self) -> Option<&Option<VertexAccess>> {
        self.vertex.as_ref()
    }

    pub(crate) fn vertex_base_url(&self) -> Option<String> {
        self.vertex_base_url.clone()
    }
}

impl Access {
    fn into_parts(self) -> (Option<SecretText>, Option<String>) {
        (self.key, self.base_url)
    }
}

struct Lookup<'a> {
    environment: Environment<'a>,
    env_file: Option<&'a EnvFile>,
}

impl Lookup<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let in_file = |file: &EnvFile| file.get(name).map(|(value, _)| value.to_owned());
        variable(self.environment, name).or_else(|| self.env_file.and_then(in_file))
    }

    fn access(&self, keys: &[&str], base_url: &str) -> Access {
        let key = keys.iter().find_map(|name| self.text(name));
        Access { key: key.map(SecretText::new), base_url: self.text(base_url) }
    }

    fn vertex(&self) -> Option<VertexAccess> {
        if let Some(project) = self.text("GOOGLE_CLOUD_PROJECT") {
            let location = self.text("GOOGLE_CLOUD_LOCATION").unwrap_or_else(|| ANYWHERE.to_owned());
            let credentials = GoogleEnvironment::read(|name| self.text(name));
            return Some(VertexAccess::Project { project, location, credentials });
        }
        self.text("GOOGLE_API_KEY").map(|key| VertexAccess::Express(SecretText::new(key)))
    }
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
