//! MCP servers of other people, as `tests/mcp` names them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::environment::packages;
use crate::interop::Language;

/// Folders under the test tools; the tests know them by these names.
const JAVASCRIPT: &str = "mcp-js";
const PYTHON: &str = "mcp-py";

/// Installs what is missing under `tools`.
pub(super) fn provide(root: &Path, tools: &Path) -> Result<(), String> {
    let named = root.join("tests").join("mcp");
    let read = |name: &str| {
        let path = named.join(name);
        fs::read_to_string(&path).map_err(|error| format!("reading {}: {error}", path.display()))
    };
    packages(&tools.join(JAVASCRIPT), Language::JavaScript, of_npm(&read("package.json")?)?)?;
    packages(&tools.join(PYTHON), Language::Python, of_pip(&read("requirements.txt")?))
}

/// Where they are, when both kinds were installed to the end.
pub(super) fn found(tools: &Path) -> Option<PathBuf> {
    let installed = |folder: &str| tools.join(folder).join("installed.txt").is_file();
    (installed(JAVASCRIPT) && installed(PYTHON)).then(|| tools.to_owned())
}

fn of_npm(manifest: &str) -> Result<Vec<String>, String> {
    let manifest: Value =
        serde_json::from_str(manifest).map_err(|error| format!("tests/mcp/package.json: {error}"))?;
    let dependencies =
        manifest["dependencies"].as_object().ok_or("tests/mcp/package.json names no package")?;
    let named =
        dependencies.iter().filter_map(|(name, version)| Some(format!("{name}@{}", version.as_str()?)));
    Ok(named.collect())
}

fn of_pip(requirements: &str) -> Vec<String> {
    let lines = requirements.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact() {
        let named = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/mcp");
        let npm = of_npm(&fs::read_to_string(named.join("package.json")).unwrap()).unwrap();
        let digit = |text: &str| text.starts_with(|character: char| character.is_ascii_digit());
        assert!(npm.len() >= 2 && npm.iter().all(|name| digit(name.rsplit('@').next().unwrap())), "{npm:?}");
        let pip = of_pip(&fs::read_to_string(named.join("requirements.txt")).unwrap());
        assert!(!pip.is_empty() && pip.iter().all(|line| line.contains("==")), "{pip:?}");
    }

    #[test]
    fn what_is_half_installed_is_not_found() {
        assert_eq!(found(Path::new(env!("CARGO_MANIFEST_DIR"))), None);
    }
}
