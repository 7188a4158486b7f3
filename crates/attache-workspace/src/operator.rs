//! Loads the operator's settings and checks what they say about the agent.

use std::path::Path;

use attache_config::{ConfigError, Environment, Flags, Settings};

use crate::settings::SettingsFiles;
use crate::settings::gather::GatheredSettings;
use crate::{EnvFile, HomeFolders, ModelChoice, ModelCredentials};

/// Loads the operator's settings. Errors in the settings about the agent are reported before anything starts: unknown
/// keys become warnings; a wrong value or an unusable model is an error.
pub fn load_operator(
    flags: Flags,
    environment: Environment<'_>,
    current_dir: &Path,
) -> Result<Settings, ConfigError> {
    load_with_model(flags, environment, current_dir).map(|(settings, _)| settings)
}

fn load_with_model(
    flags: Flags,
    environment: Environment<'_>,
    current_dir: &Path,
) -> Result<(Settings, ModelChoice), ConfigError> {
    let mut settings = attache_config::load(flags, environment, current_dir)?;
    let homes = HomeFolders::of(environment);
    let mut gathered = GatheredSettings::default();
    let env_file = EnvFile::of_user(&homes, &mut gathered.warnings);
    let files = SettingsFiles {
        workspace: &settings.workspace,
        homes: &homes,
        environment,
        operator: &settings.agent,
    };
    files.operator(&mut gathered, env_file.as_ref())?;
    let credentials = ModelCredentials::read(environment, env_file.as_ref());
    let model = model(&settings, &credentials, current_dir)?;
    settings.warnings = gathered.warnings;
    Ok((settings, model))
}

/// The operator's model, or the first one with a credential.
fn model(
    settings: &Settings,
    credentials: &ModelCredentials,
    current_dir: &Path,
) -> Result<ModelChoice, ConfigError> {
    match &settings.model {
        Some(named) => ModelChoice::of(named.clone(), credentials, current_dir),
        None => ModelChoice::without_name(credentials),
    }
}

#[cfg(test)]
#[path = "operator_tests.rs"]
mod tests;
