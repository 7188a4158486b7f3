//! Installs the third-party MCP servers that `tests/mcp` names.

use std::path::{Path, PathBuf};

use super::environment::packages;
use super::manifest;
use crate::interop::Language;

/// Folders under the test tools; the tests know them by these names.
const JAVASCRIPT: &str = "mcp-js";
const PYTHON: &str = "mcp-py";

/// Installs what is missing under `tools`.
pub(super) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let named = root.join("tests").join("mcp");
    let javascript = manifest::npm(&named.join("package.json"))?;
    packages(&tools.join(JAVASCRIPT), Language::JavaScript, javascript)?;
    packages(&tools.join(PYTHON), Language::Python, manifest::pip(&named.join("requirements.txt"))?)
}

/// Where they are, when both kinds were installed to the end.
pub(super) fn found(tools: &Path) -> Option<PathBuf> {
    let installed = |folder: &str| tools.join(folder).join("installed.txt").is_file();
    (installed(JAVASCRIPT) && installed(PYTHON)).then(|| tools.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_half_installed_is_not_found() {
        assert_eq!(found(Path::new(env!("CARGO_MANIFEST_DIR"))), None);
    }
}
