//! What the suite is run on: attache, and agents on the servers of the official SDKs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::conformance::server::Server;
use crate::interop::Language;
use crate::setup::environment;
use crate::workspace::Workspace;

/// Where the suite's own files are.
const CRATE: &str = "crates/attache-conformance";

/// No secret: the server that asks for it lives as long as one run.
const TOKEN: &str = "token-of-the-conformance-suite";

pub(crate) struct Subject {
    pub(super) name: &'static str,
    /// Its folder under the test tools.
    pub(super) folder: &'static str,
    kind: Kind,
    /// Checks that it is known to fail, by id, on any pair: if one passes, either the SDK or a check has changed.
    pub(super) fails: &'static [&'static str],
}

enum Kind {
    /// With the settings in a file of the suite.
    Attache {
        settings: &'static str,
        access: Access,
    },
    Agent {
        language: Language,
        packages: &'static [&'static str],
        program: &'static str,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    WithToken,
    Open,
}

pub(super) struct RunningSubject {
    pub(super) server: Server,
    pub(super) token_file: Option<PathBuf>,
}

pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "attache",
        folder: "conformance-attache",
        kind: Kind::Attache { settings: "attache.toml", access: Access::WithToken },
        fails: &[],
    },
    Subject {
        name: "attache with everything switched off",
        folder: "conformance-bare",
        kind: Kind::Attache { settings: "bare.toml", access: Access::Open },
        fails: &[],
    },
    Subject {
        name: "Python a2a-sdk 1.3.0",
        folder: "conformance-py",
        kind: Kind::Agent {
            language: Language::Python,
            packages: &["a2a-sdk[http-server,grpc]==1.3.0", "uvicorn==0.54.0"],
            program: "subjects/python/agent.py",
        },
        fails: &[
            // Cards have no caching headers; the version is read from the header only, by its major
            // number, and not at all over gRPC.
            "K2-cache",
            "V2-query",
            "V3-absent",
            "V4-next",
            "V4-contradiction",
            "7-contradiction",
            // The compatibility layer marks terminal states as final only, and takes 0 for all of the history.
            "S5-input",
            "3.1-zero-0.3",
            "P6-media-1.0",
            "B5",
        ],
    },
    Subject {
        name: "JavaScript @a2a-js/sdk 1.3.0",
        folder: "conformance-js",
        kind: Kind::Agent {
            language: Language::JavaScript,
            packages: &[
                "@a2a-js/sdk@1.3.0",
                "@bufbuild/protobuf@2.17.0",
                "@grpc/grpc-js@1.14.0",
                "express@5.3.0",
            ],
            program: "subjects/js/agent.mjs",
        },
        fails: &["D2", "D8-role", "3.1-negative", "V1-patch", "V2-query", "C1-again", "S5-input", "B5"],
    },
];

/// Starts the attache of this checkout with an empty store in `folder`, which is emptied first.
fn attache(
    workspace: &Workspace,
    folder: &Path,
    settings: &str,
    access: Access,
) -> Result<RunningSubject, String> {
    renew(folder)?;
    let token_file = folder.join("token");
    fs::write(&token_file, TOKEN).map_err(|error| format!("writing {}: {error}", token_file.display()))?;
    let ours = workspace.root.join(CRATE);
    let mut command = Command::new(workspace.target.join("debug").join("attache"));
    command.args(["serve", "--trust", "--port", "0", "--config"]).arg(ours.join(settings));
    command.arg("--store").arg(format!("sqlite:{}", folder.join("attache.db").display()));
    command.arg("--model").arg(format!("script:{}", ours.join("script.yaml").display()));
    // No settings, keys or data folder but those above.
    command.env_clear().env("HOME", folder).current_dir(folder);
    if access == Access::WithToken {
        command.env("ATTACHE_TOKEN", TOKEN);
    }
    let server = Server::start(&mut command)?;
    Ok(RunningSubject { server, token_file: (access == Access::WithToken).then_some(token_file) })
}

impl Subject {
    pub(super) fn is_attache(&self) -> bool {
        matches!(self.kind, Kind::Attache { .. })
    }

    pub(super) fn start(&self, workspace: &Workspace) -> Result<RunningSubject, String> {
        let (language, packages, program) = match &self.kind {
            Kind::Attache { settings, access } => {
                let folder = workspace.test_tools().join("run").join(self.folder);
                return attache(workspace, &folder, settings, *access);
            }
            Kind::Agent { language, packages, program } => (language, packages, program),
        };
        let folder = workspace.test_tools().join(self.folder);
        let requirements = packages.iter().map(|package| (*package).to_owned()).collect();
        environment::packages(&folder, *language, requirements)?;
        let interpreter = match language {
            Language::Python => environment::python(&folder),
            Language::JavaScript => environment::node(&folder),
        };
        let mut command = Command::new(interpreter);
        command.arg(workspace.root.join(CRATE).join(program)).current_dir(&folder);
        // An ES module looks for packages above itself only, so the agent asks here where its own are.
        command.env("INTEROP_SDK", &folder);
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUNBUFFERED", "1");
        Ok(RunningSubject { server: Server::start(&mut command)?, token_file: None })
    }
}

fn renew(folder: &Path) -> Result<(), String> {
    let failed = |error| format!("preparing {}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}
