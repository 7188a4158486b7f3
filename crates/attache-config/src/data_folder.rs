//! The folder that attache keeps its data in.

use std::path::{Path, PathBuf};

use crate::environment::{Environment, variable};

/// `attache` in the user's data folder; without a home, in the current folder.
pub(crate) fn data_folder(environment: Environment<'_>, current_dir: &Path) -> PathBuf {
    user_data(environment).unwrap_or_else(|| current_dir.join(".attache")).join("attache")
}

/// The user's data folder; none without a home.
pub(crate) fn user_data(environment: Environment<'_>) -> Option<PathBuf> {
    let data = variable(environment, "XDG_DATA_HOME").map(PathBuf::from);
    let home = variable(environment, "HOME").map(|home| PathBuf::from(home).join(".local/share"));
    data.filter(|path| path.is_absolute()).or(home)
}
