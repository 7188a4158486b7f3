//! The choice of a model, and the credentials and addresses to reach it.

use std::fmt;
use std::path::{Path, PathBuf};

use attache_config::{ConfigError, SecretText, SourcedValue};
use attache_credentials::google::GoogleEnvironment;

use crate::ModelCredentials;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    Offline,
    Script(PathBuf),
    Gemini(GeminiSettings),
    Vertex(VertexSettings),
    OpenAi(OpenAiSettings),
    Anthropic(AnthropicSettings),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeminiSettings {
    /// An id or an alias.
    pub model: String,
    pub key: SecretText,
    /// Its address; none: Google's.
    pub base_url: Option<String>,
}

/// Gemini through Vertex AI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexSettings {
    /// An id or an alias.
    pub model: String,
    pub access: VertexAccess,
    pub base_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VertexAccess {
    /// With a key alone.
    Express(SecretText),
    Project {
        project: String,
        location: String,
        /// The file of the credentials.
        credentials: GoogleEnvironment,
    },
}

/// Any server with OpenAI's chat completions API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAiSettings {
    pub model: String,
    /// Optional for a self-hosted server.
    pub key: Option<SecretText>,
    pub base_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnthropicSettings {
    pub model: String,
    pub key: SecretText,
    pub base_url: Option<String>,
}

/// Who gives out the keys of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelProvider {
    Gemini,
    OpenAi,
    Anthropic,
}

impl ModelProvider {
    /// The provider of the model `name`; none of a built-in one. A name that no model has counts as Gemini's.
    pub(crate) fn of_model(name: &str) -> Option<Self> {
        match name.split_once(':') {
            None if name == "offline" => None,
            Some(("script", _)) => None,
            Some(("openai", _)) => Some(Self::OpenAi),
            Some(("anthropic", _)) => Some(Self::Anthropic),
            _ => Some(Self::Gemini),
        }
    }
}

impl fmt::Display for ModelProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gemini => "Gemini",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
        })
    }
}

const EXPECTED: &str = "offline, script:FILE, openai:NAME, anthropic:NAME, or a Gemini model such as gemini-2.5-pro, \
                        auto, pro, flash or flash-lite";
const FROM_AFAR: &str =
    "offline, openai:NAME, anthropic:NAME or a Gemini model: scripts are for the operator of the server";
/// Names that stand for the best Gemini model for a purpose.
pub const ALIASES: [&str; 6] = ["auto", "auto-gemini-3", "auto-gemini-2.5", "pro", "flash", "flash-lite"];
const OPENAI_DEFAULT: &str = "gpt-5";
const ANTHROPIC_DEFAULT: &str = "claude-sonnet-4-5";
const MAX_NAME_BYTES: usize = 200;

impl ModelChoice {
    /// The model called `name`, reached with `keys`. Scripts are found from `current_dir`.
    pub fn named(name: &str, keys: &ModelCredentials, current_dir: &Path) -> Result<Self, ConfigError> {
        let origin = "the model".to_owned();
        choose(SourcedValue { value: name.to_owned(), origin }, keys, current_dir)
    }

    /// The model of the name `named`. Relative paths of scripts start at `current_dir`.
    pub(crate) fn of(
        named: SourcedValue,
        keys: &ModelCredentials,
        current_dir: &Path,
    ) -> Result<Self, ConfigError> {
        choose(named, keys, current_dir)
    }

    /// The same for a client, which cannot name files of this machine.
    pub fn requested(name: &str, keys: &ModelCredentials) -> Result<Self, ConfigError> {
        let requested = SourcedValue { value: name.to_owned(), origin: "the requested model".to_owned() };
        match name.split_once(':') {
            Some(("script", _)) => Err(requested.instead_of(FROM_AFAR)),
            _ => choose(requested, keys, Path::new("/")),
        }
    }

    /// The first provider with a credential: Gemini, OpenAI, Anthropic; otherwise the offline model, which needs none.
    pub fn without_name(keys: &ModelCredentials) -> Result<Self, ConfigError> {
        if keys.has_gemini() {
            return gemini(keys.gemini_model().unwrap_or("auto"), keys);
        }
        if keys.openai().0.is_some() {
            return openai(OPENAI_DEFAULT, keys);
        }
        if keys.anthropic().0.is_some() {
            return anthropic(ANTHROPIC_DEFAULT, keys);
        }
        Ok(Self::Offline)
    }

    /// The provider of the model; none of a built-in one.
    pub(crate) fn provider(&self) -> Option<ModelProvider> {
        match self {
            Self::Offline | Self::Script(_) => None,
            Self::Gemini(_) | Self::Vertex(_) => Some(ModelProvider::Gemini),
            Self::OpenAi(_) => Some(ModelProvider::OpenAi),
            Self::Anthropic(_) => Some(ModelProvider::Anthropic),
        }
    }

    /// The display name.
    pub fn name(&self) -> String {
        match self {
            Self::Offline => "offline".into(),
            Self::Script(path) => format!("script:{}", path.display()),
            Self::Gemini(chosen) => chosen.model.clone(),
            Self::Vertex(chosen) => chosen.model.clone(),
            Self::OpenAi(chosen) => format!("openai:{}", chosen.model),
            Self::Anthropic(chosen) => format!("anthropic:{}", chosen.model),
        }
    }
}

fn choose(
    said: SourcedValue,
    keys: &ModelCredentials,
    current_dir: &Path,
) -> Result<ModelChoice, ConfigError> {
    let fits = |name: &str| {
        !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && name.chars().all(|letter| letter.is_ascii_graphic())
    };
    match said.value.split_once(':') {
        None if said.value == "offline" => Ok(ModelChoice::Offline),
        Some(("script", path)) if !path.is_empty() => Ok(ModelChoice::Script(current_dir.join(path))),
        Some(("openai", name)) if fits(name) => openai(name, keys),
        Some(("anthropic", name)) if fits(name) => anthropic(name, keys),
        None if (said.value.starts_with("gemini-") && fits(&said.value))
            || ALIASES.contains(&said.value.as_str()) =>
        {
            gemini(&said.value, keys)
        }
        _ => Err(said.instead_of(EXPECTED)),
    }
}

fn gemini(model: &str, keys: &ModelCredentials) -> Result<ModelChoice, ConfigError> {
    if let Some(vertex) = keys.vertex() {
        let Some(access) = vertex.clone() else {
            return Err(ConfigError::NoKey { model: model.to_owned(), variable: "GOOGLE_CLOUD_PROJECT" });
        };
        let base_url = keys.vertex_base_url();
        return Ok(ModelChoice::Vertex(VertexSettings { model: model.to_owned(), access, base_url }));
    }
    let (key, base_url) = keys.gemini();
    let key = key.ok_or(ConfigError::NoKey { model: model.to_owned(), variable: "GEMINI_API_KEY" })?;
    Ok(ModelChoice::Gemini(GeminiSettings { model: model.to_owned(), key, base_url }))
}

fn openai(model: &str, keys: &ModelCredentials) -> Result<ModelChoice, ConfigError> {
    let (key, base_url) = keys.openai();
    if key.is_none() && base_url.is_none() {
        return Err(ConfigError::NoKey { model: format!("openai:{model}"), variable: "OPENAI_API_KEY" });
    }
    Ok(ModelChoice::OpenAi(OpenAiSettings { model: model.to_owned(), key, base_url }))
}

fn anthropic(model: &str, keys: &ModelCredentials) -> Result<ModelChoice, ConfigError> {
    let (key, base_url) = keys.anthropic();
    let missing =
        || ConfigError::NoKey { model: format!("anthropic:{model}"), variable: "ANTHROPIC_API_KEY" };
    let key = key.ok_or_else(missing)?;
    Ok(ModelChoice::Anthropic(AnthropicSettings { model: model.to_owned(), key, base_url }))
}
