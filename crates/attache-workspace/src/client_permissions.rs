//! What a client may choose: its workspace, its MCP servers, its approval mode.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use attache_config::{ApprovalMode, ConfigError, Settings};

use crate::WorkspaceSettings;
use crate::read_file::{self, real_folder};
use crate::settings::nearest::shown;

/// The folder that a client names, without links, if it lies below an allowed root. A relative path starts at the server's own
/// workspace.
pub(crate) fn allowed_workspace(operator: &Settings, named: &Path) -> Result<PathBuf, ConfigError> {
    let refused = |why: String| ConfigError::NotAWorkspace { named: named.display().to_string(), why };
    let roots = || {
        operator.allowed_roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    // Folders outside are refused alike whether they exist or not, so that a client cannot probe for them.
    let outside = || refused(format!("it must be a folder below {}", roots()));
    let path = operator.workspace.join(named);
    let is_fine = |folder: &PathBuf| is_allowed(operator, folder) && folder.to_str().is_some();
    if let Some(folder) = real_folder(&path).filter(is_fine) {
        return Ok(folder);
    }
    // Checks again step by step, to say what is wrong.
    let resolved = fs::canonicalize(path).map_err(|_| outside())?;
    if !is_allowed(operator, &resolved) {
        return Err(outside());
    }
    if !resolved.is_dir() {
        return Err(refused(format!("it is no folder; it must be a folder below {}", roots())));
    }
    if resolved.to_str().is_none() {
        return Err(refused(
            "its path is not text in UTF-8, so what is done there cannot be recorded".into(),
        ));
    }
    fs::read_dir(&resolved).map_err(|error| refused(format!("it cannot be read: {error}")))?;
    Ok(resolved)
}

/// The server's own workspace without links.
pub(crate) fn own_workspace(operator: &Settings) -> io::Result<PathBuf> {
    read_file::real_path(&operator.workspace)
}

fn is_allowed(operator: &Settings, folder: &Path) -> bool {
    operator.allowed_roots.iter().any(|root| folder.starts_with(root))
}

impl WorkspaceSettings {
    /// Whether a client may name a server like this. Rules know servers by name, so a name that the settings use is refused: its
    /// trust was meant for another server.
    pub(crate) fn may_bring_server(&self, name: &str) -> Result<(), ConfigError> {
        let refused = |message: &str| {
            Err(ConfigError::BadSetting {
                place: "the client".to_owned(),
                key: Some(format!("mcpServers.{}", shown(name))),
                message: message.to_owned(),
            })
        };
        if self.resolved.servers.contains_key(name) || self.mcp_excluded.iter().any(|known| known == name) {
            return refused("the server's own settings speak of one of this name; choose another name");
        }
        if self.mcp_allowed.is_some() {
            return refused("mcp.allowed names the only servers that may be used here");
        }
        Ok(())
    }

    /// The approval mode that a client requests. A more careful one is always granted. A freer one is granted only if the
    /// operator lets clients run things unasked, and never past trust and `security.disableYoloMode`.
    pub(crate) fn allowed_mode(&self, named: &str, operator: &Settings) -> Result<ApprovalMode, ConfigError> {
        let refused = |expected: &str| ConfigError::BadValue {
            origin: "the requested approval mode".to_owned(),
            value: named.chars().take(40).collect(),
            expected: expected.to_owned(),
        };
        let mode = ApprovalMode::from_name(named)
            .ok_or_else(|| refused("default, auto_edit, confined, yolo or plan"))?;
        if mode.freedom() <= self.general.approval_mode.freedom() {
            return Ok(mode);
        }
        let careful = format!(
            "{} or a more careful one, which is all this server allows",
            self.general.approval_mode.name()
        );
        if !operator.client_auto_execute || !self.trusted && mode.freedom() > ApprovalMode::Default.freedom()
        {
            return Err(refused(&careful));
        }
        if mode == ApprovalMode::Yolo && self.security.disable_yolo_mode {
            return Err(refused("auto_edit or a more careful one: security.disableYoloMode is set"));
        }
        Ok(mode)
    }
}

#[cfg(test)]
#[path = "client_permissions_tests.rs"]
mod tests;
