//! Installs the authorization server that sign-ins are tested with; `tests/oauth` has its version.

use std::path::Path;

use super::environment::packages;
use super::manifest;
use crate::interop::Language;

/// Its folder under the test tools; the tests know it by this name.
const FOLDER: &str = "oauth-js";

/// Installs it under `tools`, unless it is there.
pub(super) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let named = manifest::npm(&root.join("tests").join("oauth").join("package.json"))?;
    packages(&tools.join(FOLDER), Language::JavaScript, named)
}
