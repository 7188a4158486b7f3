//! Which model answers, and what it takes to reach it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::ConfigError;
use crate::environment::Environment;
use crate::layers::{Said, variable};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    Offline,
    Script(PathBuf),
    Gemini(GeminiSettings),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeminiSettings {
    /// An id or an alias.
    pub model: String,
    pub key: Hidden,
    /// Where it is, when not at Google's.
    pub base_url: Option<String>,
}

/// A key. Only the binary takes it out, to hand it on.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hidden(…)")
    }
}

const EXPECTED: &str =
    "offline, script:FILE, or a Gemini model such as gemini-2.5-pro, auto, pro, flash or flash-lite";
const ALIASES: [&str; 4] = ["auto", "pro", "flash", "flash-lite"];

/// What was said, else what the environment has a key for, else the one that needs none.
pub(crate) fn choose(
    said: Option<Said>,
    environment: Environment<'_>,
    current_dir: &Path,
) -> Result<ModelChoice, ConfigError> {
    let Some(said) = said else {
        let name = variable(environment, "GEMINI_MODEL").unwrap_or_else(|| "auto".to_owned());
        return Ok(key(environment).map_or(ModelChoice::Offline, |key| gemini(name, key, environment)));
    };
    match said.value.split_once(':') {
        None if said.value == "offline" => Ok(ModelChoice::Offline),
        Some(("script", path)) if !path.is_empty() => Ok(ModelChoice::Script(current_dir.join(path))),
        None if said.value.starts_with("gemini-") || ALIASES.contains(&said.value.as_str()) => {
            let key = key(environment).ok_or_else(|| ConfigError::NoKey { model: said.value.clone() })?;
            Ok(gemini(said.value, key, environment))
        }
        _ => Err(said.instead_of(EXPECTED)),
    }
}

/// If both are set, Google's own tools take the first.
fn key(environment: Environment<'_>) -> Option<Hidden> {
    variable(environment, "GOOGLE_API_KEY").or_else(|| variable(environment, "GEMINI_API_KEY")).map(Hidden)
}

fn gemini(model: String, key: Hidden, environment: Environment<'_>) -> ModelChoice {
    ModelChoice::Gemini(GeminiSettings {
        model,
        key,
        base_url: variable(environment, "GOOGLE_GEMINI_BASE_URL"),
    })
}
