//! Cargo's helpers: rustfmt, clippy, nextest, cargo-deny.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::test::Counts;

/// What runs the Rust tests.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Runner {
    /// The path of `cargo-nextest`.
    Nextest(PathBuf),
    #[default]
    CargoTest,
}

/// rustfmt and clippy come with the toolchain, but not with its minimal profile.
pub(crate) fn components() -> Result<Counts, String> {
    let missing: Vec<&str> = [("fmt", "rustfmt"), ("clippy", "clippy")]
        .into_iter()
        .filter(|(command, _)| !process::works("cargo", &[command, "--version"]))
        .map(|(_, component)| component)
        .collect();
    if missing.is_empty() {
        return Ok(Counts::success());
    }
    println!("installing {}", missing.join(" and "));
    process::succeed(Command::new("rustup").args(["component", "add"]).args(missing))
        .map(|()| Counts::success())
}

/// nextest from the machine, or installed under `folder`, or else cargo's own runner.
pub(super) fn runner(folder: &Path) -> Runner {
    let (root, on_path) = (folder.join("cargo"), Path::new("cargo-nextest"));
    let ours = root.join("bin").join(on_path);
    for program in [on_path, &ours] {
        if process::works(program, &["nextest", "--version"]) {
            return Runner::Nextest(program.to_owned());
        }
    }
    println!("installing cargo-nextest (once; some minutes)");
    let mut command = Command::new("cargo");
    command.args(["install", "cargo-nextest", "--locked", "--root"]).arg(&root);
    match process::succeed(&mut command) {
        Ok(()) => Runner::Nextest(ours),
        Err(message) => {
            eprintln!("warning: {message}\nwarning: using `cargo test` instead");
            Runner::CargoTest
        }
    }
}

/// cargo-deny is never installed by us: building it takes minutes, and tidy does its checks.
pub(crate) fn has_deny() -> bool {
    process::works("cargo-deny", &["--version"])
}
