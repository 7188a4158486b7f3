//! The interop suite: other people's A2A clients against the real binary.
//!
//! Each peer gets a server of its own on a free port with an empty store. Its script under `tests/interop/`
//! takes the base URL and prints one line per case: `ok NAME`, `not ok NAME: reason`, `skip NAME: reason`.

mod case;
mod script;
mod server;

use crate::setup::environment;
use crate::test::Counts;
use crate::workspace::Workspace;
use case::Case;
use server::Server;

/// A client we did not write, pinned to one version.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) language: Language,
    /// Its folder under the test tools.
    pub(crate) folder: &'static str,
    /// What to install: a package and its exact version.
    pub(crate) package: (&'static str, &'static str),
    /// Its file under `tests/`.
    pub(crate) script: &'static str,
    pub(crate) against: Against,
}

/// What a peer is run against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    Attache,
    /// The scripted model server that our own providers are tested with: a client of the real service has to understand
    /// it, or the tests prove nothing.
    ModelServer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
}

pub(crate) const PEERS: &[Peer] = &[
    Peer {
        name: "Python a2a-sdk 0.3.26",
        language: Language::Python,
        folder: "py-0.3",
        // The client needs none of the package's extras: those are for its servers, stores and gRPC.
        package: ("a2a-sdk", "0.3.26"),
        script: "interop/python/peer_0_3.py",
        against: Against::Attache,
    },
    Peer {
        name: "Python a2a-sdk 1.3.0",
        language: Language::Python,
        folder: "py-1.0",
        package: ("a2a-sdk", "1.3.0"),
        script: "interop/python/peer_1_0.py",
        against: Against::Attache,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 0.3.14",
        language: Language::JavaScript,
        folder: "js-0.3",
        package: ("@a2a-js/sdk", "0.3.14"),
        script: "interop/js/peer_0_3.mjs",
        against: Against::Attache,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 1.3.0",
        language: Language::JavaScript,
        folder: "js-1.0",
        package: ("@a2a-js/sdk", "1.3.0"),
        script: "interop/js/peer_1_0.mjs",
        against: Against::Attache,
    },
    Peer {
        name: "JavaScript @google/genai 2.32.0",
        language: Language::JavaScript,
        folder: "js-genai",
        package: ("@google/genai", "2.32.0"),
        script: "models/gemini.mjs",
        against: Against::ModelServer,
    },
    Peer {
        name: "JavaScript openai 7.53.0",
        language: Language::JavaScript,
        folder: "js-openai",
        package: ("openai", "7.53.0"),
        script: "models/openai.mjs",
        against: Against::ModelServer,
    },
    Peer {
        name: "JavaScript @anthropic-ai/sdk 1.8.0",
        language: Language::JavaScript,
        folder: "js-anthropic",
        package: ("@anthropic-ai/sdk", "1.8.0"),
        script: "models/anthropic.mjs",
        against: Against::ModelServer,
    },
    // The last that speaks the version of the API which ours speaks unless told otherwise.
    Peer {
        name: "JavaScript @anthropic-ai/sdk 0.137.0",
        language: Language::JavaScript,
        folder: "js-anthropic-2023",
        package: ("@anthropic-ai/sdk", "0.137.0"),
        script: "models/anthropic.mjs",
        against: Against::ModelServer,
    },
];

/// The model the server answers with.
const MODEL_SCRIPT: &str = "examples/scripts/interop.yaml";

/// How much of the server's log a failure shows.
const LOG_LINES: usize = 40;

/// Starts a server, runs the peer's script against it and counts its cases.
pub(crate) fn run(workspace: &Workspace, peer: &Peer) -> Result<Counts, String> {
    let tools = workspace.test_tools();
    let mut command = environment::script(&workspace.root, &tools, peer)?;
    let folder = tools.join("run").join(peer.folder);
    let built = workspace.target.join("debug");
    let server = match peer.against {
        Against::Attache => {
            Server::start(&built.join("attache"), &workspace.root.join(MODEL_SCRIPT), &folder)?
        }
        Against::ModelServer => Server::start_model(&built.join("examples").join("model_server"))?,
    };
    command.arg(&server.url);
    let report = script::run(&mut command)?;
    let counts = count(peer.name, &report.cases);
    if counts.failed > 0 || !report.ended_well() {
        eprintln!("--- the server's log, its last {LOG_LINES} lines:\n{}", server.log_tail(LOG_LINES));
    }
    report.check_end(&counts)?;
    Ok(counts)
}

fn count(peer: &str, cases: &[Case]) -> Counts {
    let mut counts = Counts::default();
    for case in cases {
        match case {
            Case::Passed => counts.passed += 1,
            Case::Failed(text) => counts.add(Counts::failure(&format!("{peer}: {text}"))),
            Case::Skipped => counts.skipped += 1,
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_is_counted_and_failures_are_named() {
        let cases = [Case::Passed, Case::Failed("card: no".into()), Case::Skipped, Case::Passed];
        let counts = count("peer", &cases);
        assert_eq!(counts.to_string(), "2 passed, 1 failed, 1 skipped");
        assert_eq!(counts.failures, ["peer: card: no"]);
    }

    #[test]
    fn peers_do_not_share_folders() {
        let folders: BTreeSet<_> = PEERS.iter().map(|peer| peer.folder).collect();
        assert_eq!(folders.len(), PEERS.len());
    }
}
