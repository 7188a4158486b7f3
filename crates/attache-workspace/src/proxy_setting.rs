//! `general.proxy`: the proxy of this user's programs. A project cannot set it.

use std::path::Path;

use attache_config::{ConfigError, Environment, OperatorAgentSettings};

use crate::HomeFolders;
use crate::settings::SettingsFiles;
use crate::settings::gather::GatheredSettings;
use crate::settings::resolve::{self, ResolvedSettings};

/// The configured address of a proxy, and its origin. Shown without the address, which may hold a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxySetting {
    pub address: String,
    pub origin: String,
}

impl ProxySetting {
    pub(crate) fn of(resolved: &ResolvedSettings) -> Option<Self> {
        let address = resolved.text(KEY).filter(|address| !address.trim().is_empty())?;
        let origin = resolved.values.get(KEY)?.origins.first()?.to_string();
        Some(Self { address, origin })
    }
}

impl std::fmt::Debug for ProxySetting {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ProxySetting({})", self.origin)
    }
}

pub(crate) const KEY: &str = "general.proxy";

/// The proxy of the user's own settings, for commands that belong to no workspace.
pub fn user_proxy(environment: Environment<'_>) -> Result<Option<ProxySetting>, ConfigError> {
    let homes = HomeFolders::of(environment);
    let operator = OperatorAgentSettings::default();
    // Only project files are searched in the workspace.
    let files = SettingsFiles { workspace: Path::new("/"), homes: &homes, environment, operator: &operator };
    let mut gathered = GatheredSettings::default();
    files.gather_own(&mut gathered)?;
    Ok(ProxySetting::of(&resolve::resolve(&gathered)))
}
