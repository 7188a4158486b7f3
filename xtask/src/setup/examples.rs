//! What the examples need to run, as their own folders name it.

use std::path::Path;

use super::environment::packages;
use super::manifest;
use crate::interop::Language;

/// Folders under the test tools; the tests know them by these names.
const JAVASCRIPT: &str = "examples-js";
const PYTHON: &str = "examples-py";
const WORKFLOW_JAVASCRIPT: &str = "workflow-js";
const WORKFLOW_PYTHON: &str = "workflow-py";

const PACKAGE: &str = "clients/typescript/package.json";
/// Names all that the other Python example needs, too.
const REQUIREMENTS: &str = "buffers/requirements.txt";
const WORKFLOW_PACKAGE: &str = "workflow/package.json";
const WORKFLOW_REQUIREMENTS: &str = "workflow/requirements.txt";

/// Installs what is missing under `tools`.
pub(super) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let examples = root.join("examples");
    packages(&tools.join(JAVASCRIPT), Language::JavaScript, manifest::npm(&examples.join(PACKAGE))?)?;
    packages(&tools.join(PYTHON), Language::Python, manifest::pip(&examples.join(REQUIREMENTS))?)?;
    let (javascript, python) = (examples.join(WORKFLOW_PACKAGE), examples.join(WORKFLOW_REQUIREMENTS));
    packages(&tools.join(WORKFLOW_JAVASCRIPT), Language::JavaScript, manifest::npm(&javascript)?)?;
    packages(&tools.join(WORKFLOW_PYTHON), Language::Python, manifest::pip(&python)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact_and_one_environment_is_enough_for_python() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let npm = manifest::npm(&examples.join(PACKAGE)).unwrap();
        let version = |name: &str| name.rsplit('@').next().unwrap().to_owned();
        assert!(!npm.is_empty(), "it names packages");
        for name in &npm {
            assert!(version(name).starts_with(|first: char| first.is_ascii_digit()), "{name}");
        }
        let all = manifest::pip(&examples.join(REQUIREMENTS)).unwrap();
        assert!(all.iter().all(|line| line.contains("==")), "{all:?}");
        let one = manifest::pip(&examples.join("clients/python/requirements.txt")).unwrap();
        assert!(!one.is_empty() && one.iter().all(|line| all.contains(line)), "{one:?} in {all:?}");
    }
}
