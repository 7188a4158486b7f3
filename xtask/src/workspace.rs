//! What cargo says about this workspace: where it is, its packages and their dependencies.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::process;

#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// `CARGO_TARGET_DIR` or what cargo's configuration says.
    pub(crate) target: PathBuf,
    pub(crate) members: Vec<Member>,
    /// Our crates are compiled by clippy.
    lints: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: DependencyKind,
    pub(crate) owner: PackageOwner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    /// Part of what is shipped: normal and build dependencies.
    Shipped,
    Dev,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackageOwner {
    Ours,
    Foreign,
}

impl Workspace {
    /// Asks cargo about the workspace around the current directory.
    pub(crate) fn load() -> Result<Self, String> {
        let metadata = metadata(&["--no-deps"], Path::new("."))?;
        Self::from_metadata(&metadata).ok_or_else(|| "`cargo metadata` left out a field we need".to_owned())
    }

    /// Every build lints what it compiles. That costs one compilation, where `cargo clippy` beside a build costs two.
    pub(crate) fn with_lints(mut self) -> Self {
        self.lints = true;
        self
    }

    pub(crate) fn cargo(&self) -> Command {
        self.command("cargo")
    }

    /// `program` in the root folder, with the compiler that all builds of this run share.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        if self.lints {
            command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        }
        command
    }

    /// Where the tests' own tools are kept.
    pub(crate) fn test_tools(&self) -> PathBuf {
        self.target.join("test-tools")
    }

    fn from_metadata(metadata: &Value) -> Option<Self> {
        let members = metadata["packages"].as_array()?.iter().map(Member::from_metadata);
        Some(Self {
            root: metadata["workspace_root"].as_str()?.into(),
            target: metadata["target_directory"].as_str()?.into(),
            members: members.collect::<Option<_>>()?,
            lints: false,
        })
    }
}

impl Member {
    fn from_metadata(package: &Value) -> Option<Self> {
        let dependencies = package["dependencies"].as_array()?.iter().map(Dependency::from_metadata);
        Some(Self {
            name: package["name"].as_str()?.to_owned(),
            dependencies: dependencies.collect::<Option<_>>()?,
        })
    }
}

impl Dependency {
    fn from_metadata(dependency: &Value) -> Option<Self> {
        Some(Self {
            name: dependency["name"].as_str()?.to_owned(),
            kind: match dependency["kind"].as_str() {
                Some("dev") => DependencyKind::Dev,
                _ => DependencyKind::Shipped,
            },
            owner: if dependency["path"].is_string() { PackageOwner::Ours } else { PackageOwner::Foreign },
        })
    }
}

/// The parsed output of `cargo metadata` with `options`, run in `folder`.
pub(crate) fn metadata(options: &[&str], folder: &Path) -> Result<Value, String> {
    let mut command = process::cargo(folder);
    command.args(["metadata", "--format-version", "1"]).args(options);
    let text = process::stdout_of(&mut command)?;
    serde_json::from_str(&text).map_err(|error| format!("`cargo metadata` printed no JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_tells_kinds_and_origins_apart() {
        let metadata = serde_json::json!({
            "workspace_root": "/w", "target_directory": "/t",
            "packages": [{ "name": "attache", "dependencies": [
                { "name": "attache-domain", "kind": null, "path": "/w/crates/attache-domain" },
                { "name": "cc", "kind": "build" },
                { "name": "tempfile", "kind": "dev" },
            ]}],
        });
        let workspace = Workspace::from_metadata(&metadata).unwrap();
        let found: Vec<_> = workspace.members[0].dependencies.iter().map(|d| (d.kind, d.owner)).collect();
        assert_eq!(
            found,
            [
                (DependencyKind::Shipped, PackageOwner::Ours),
                (DependencyKind::Shipped, PackageOwner::Foreign),
                (DependencyKind::Dev, PackageOwner::Foreign),
            ]
        );
    }

    #[test]
    fn metadata_without_packages_is_refused() {
        assert!(Workspace::from_metadata(&serde_json::json!({ "workspace_root": "/w" })).is_none());
    }
}
