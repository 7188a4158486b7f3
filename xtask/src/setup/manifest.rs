//! Which packages a `package.json` or `requirements.txt` under `tests/` names, with exact versions.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The dependencies of a `package.json` as npm takes them: `NAME@VERSION`.
pub(super) fn npm(path: &Path) -> Result<Vec<String>, String> {
    let manifest: Value =
        serde_json::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    let dependencies =
        manifest["dependencies"].as_object().ok_or_else(|| format!("{} names no package", path.display()))?;
    let named =
        dependencies.iter().filter_map(|(name, version)| Some(format!("{name}@{}", version.as_str()?)));
    Ok(named.collect())
}

/// The lines of a `requirements.txt` that name a package.
pub(super) fn pip(path: &Path) -> Result<Vec<String>, String> {
    let text = read(path)?;
    let lines = text.lines().map(str::trim);
    Ok(lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("reading {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_exact() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
        for folder in ["mcp", "gemini", "live", "oauth", "rest"] {
            let npm = npm(&tests.join(folder).join("package.json")).unwrap();
            let digit = |text: &str| text.starts_with(|character: char| character.is_ascii_digit());
            let exact = |name: &String| digit(name.rsplit('@').next().unwrap());
            assert!(!npm.is_empty() && npm.iter().all(exact), "{npm:?}");
        }
        for folder in ["mcp", "rest"] {
            let pip = pip(&tests.join(folder).join("requirements.txt")).unwrap();
            assert!(!pip.is_empty() && pip.iter().all(|line| line.contains("==")), "{pip:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let message = npm(Path::new("nowhere/package.json")).unwrap_err();
        assert!(message.contains("nowhere/package.json"), "{message}");
    }
}
