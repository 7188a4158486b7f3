//! Installs the clients of the live endpoint that `tests/live` names.

use std::path::Path;

use super::environment::packages;
use super::manifest;
use crate::interop::Language;

/// Installs what is missing under `tools`, in folders that the tests know by name.
pub(super) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let named = root.join("tests").join("live");
    let javascript = manifest::npm(&named.join("package.json"))?;
    packages(&tools.join("live-js"), Language::JavaScript, javascript)?;
    packages(&tools.join("live-py"), Language::Python, manifest::pip(&named.join("requirements.txt"))?)
}
