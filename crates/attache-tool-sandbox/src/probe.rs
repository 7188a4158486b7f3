//! Tests the confinement of this kernel with a confined copy of this program.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use attache_tool::{Access, AccessLevel, ConfinedProgram, IgnoreSources, ProgramInput, Workspace};

use crate::Sandbox;

/// The exit codes of a test.
pub(crate) const CONFINED: u8 = 0;
pub(crate) const NOT_CONFINED: u8 = 7;

/// Starts a copy of this program at level look that tries to read a hidden file.
pub(crate) fn try_confinement(sandbox: &Sandbox, scratch: &Path) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("no folder to try it in: {error}");
    let folder = scratch.join("probe");
    for name in ["workspace", "scratch", "outside"] {
        fs::create_dir_all(folder.join(name)).map_err(problem)?;
    }
    let folder = folder.canonicalize().map_err(problem)?;
    let canary = folder.join("outside/canary");
    fs::write(&canary, "canary").map_err(problem)?;
    let workspace = Workspace {
        roots: vec![folder.join("workspace")],
        scratch: folder.join("scratch"),
        environment: Vec::new(),
        ignore: IgnoreSources::default(),
    };
    let access = Access::new(AccessLevel::Look);
    let program = ConfinedProgram {
        name: "true",
        arguments: Vec::new(),
        workspace: &workspace,
        access: &access,
        input: ProgramInput::Empty,
    };
    let launch = sandbox.launch(program, Some(canary)).map_err(problem)?;
    let output = Command::new(&launch.program)
        .args(&launch.arguments)
        .current_dir(&workspace.roots[0])
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} cannot be started: {error}", launch.program.display()))?;
    match output.status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(CONFINED) => Ok(()),
        Some(NOT_CONFINED) => Err("a confined command could read a file that it should not see".to_owned()),
        _ => {
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().rfind(|line| line.starts_with("attache:")).unwrap_or_default();
            let why = line.rsplit("confined: ").next().unwrap_or_default();
            Err(if why.is_empty() { format!("{}", output.status) } else { why.to_owned() })
        }
    }
}
