//! Installs the tools that check the REST API's OpenAPI document, as `tests/rest` names them.

use std::path::Path;

use super::environment::packages;
use super::manifest;
use crate::interop::Language;

/// Folders under the test tools; the tests know them by these names.
const JAVASCRIPT: &str = "rest-js";
const PYTHON: &str = "rest-py";

/// Installs what is missing under `tools`.
pub(super) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let named = root.join("tests").join("rest");
    packages(&tools.join(JAVASCRIPT), Language::JavaScript, manifest::npm(&named.join("package.json"))?)?;
    packages(&tools.join(PYTHON), Language::Python, manifest::pip(&named.join("requirements.txt"))?)
}
