//! Where attache keeps what it needs again.

use std::path::{Path, PathBuf};

use crate::environment::{Environment, variable};

/// Ours in the user's data folder; without a home, beside whatever is being worked on.
pub(crate) fn data_folder(environment: Environment<'_>, current_dir: &Path) -> PathBuf {
    user_data(environment).unwrap_or_else(|| current_dir.join(".attache")).join("attache")
}

/// The user's own; none without a home.
pub(crate) fn user_data(environment: Environment<'_>) -> Option<PathBuf> {
    let data = variable(environment, "XDG_DATA_HOME").map(PathBuf::from);
    let home = variable(environment, "HOME").map(|home| PathBuf::from(home).join(".local/share"));
    data.filter(|path| path.is_absolute()).or(home)
}
