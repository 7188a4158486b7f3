//! Installs the Gemini CLI server that attache is compared with; `tests/gemini` has its version.

use std::path::Path;

use super::environment::packages;
use super::manifest;
use crate::interop::Language;

/// Its folder under the test tools; the tests know it by this name.
pub(crate) const FOLDER: &str = "gemini-server";

/// Installs it under `tools`, unless it is there.
pub(crate) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let named = manifest::npm(&root.join("tests").join("gemini").join("package.json"))?;
    packages(&tools.join(FOLDER), Language::JavaScript, named)
}
