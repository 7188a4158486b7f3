//! The clients of the interop suite: published packages, each pinned to one version.

/// A program that uses a published client, and the packages to install for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) language: Language,
    /// Its folder under the test tools; programs that use the same packages share it.
    pub(crate) folder: &'static str,
    /// What to install: packages and their exact versions.
    pub(crate) packages: &'static [(&'static str, &'static str)],
    /// Its file under `tests/`.
    pub(crate) script: &'static str,
}

/// A client of an SDK, and one of the programs that use it.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) language: Language,
    /// Its folder under the test tools; programs that use the same packages share it.
    pub(crate) folder: &'static str,
    /// What to install: packages and their exact versions.
    pub(crate) packages: &'static [(&'static str, &'static str)],
    /// Its file under `tests/`.
    pub(crate) script: &'static str,
    pub(crate) against: PeerSubject,
}

/// What a peer is run against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeerSubject {
    /// Two servers: one without authentication, and one that needs a token.
    Attache,
    /// The program itself, which the script starts as it needs it.
    Program,
    /// The program itself, which calls the agent that the script serves with the package.
    Called,
    /// The scripted model server that our own providers are tested with. The real clients must understand it, or those tests
    /// prove nothing.
    ModelServer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
}

impl Peer {
    pub(crate) const fn client(&self) -> Client {
        let Self { name, language, folder, packages, script, .. } = *self;
        Client { name, language, folder, packages, script }
    }
}

impl Client {
    /// The folder of one run.
    pub(super) fn run_folder(&self) -> String {
        let stem = self.script.rsplit('/').next().unwrap_or_default();
        format!("{}-{}", self.folder, stem.split('.').next().unwrap_or_default())
    }
}

// The packages that the gRPC client imports. The extra `grpc` would also install a protobuf compiler.
pub(super) const PYTHON_0_3: &[(&str, &str)] = &[("a2a-sdk[signing]", "0.3.26"), ("grpcio", "1.85.1")];
pub(super) const PYTHON_1_0: &[(&str, &str)] = &[
    ("a2a-sdk[signing]", "1.3.0"),
    ("grpcio", "1.85.1"),
    ("grpcio-health-checking", "1.85.1"),
    ("grpcio-reflection", "1.85.1"),
];
pub(super) const JAVASCRIPT_0_3: &[(&str, &str)] =
    &[("@a2a-js/sdk", "0.3.14"), ("@grpc/grpc-js", "1.14.7"), ("@bufbuild/protobuf", "2.17.0")];
pub(super) const JAVASCRIPT_1_0: &[(&str, &str)] =
    &[("@a2a-js/sdk", "1.3.0"), ("@grpc/grpc-js", "1.14.7"), ("@bufbuild/protobuf", "2.17.0")];

pub(crate) const PEERS: &[Peer] = &[
    Peer {
        name: "Python a2a-sdk 0.3.26",
        language: Language::Python,
        folder: "py-0.3",
        packages: PYTHON_0_3,
        script: "interop/python/peer_0_3.py",
        against: PeerSubject::Attache,
    },
    Peer {
        name: "Python a2a-sdk 0.3.26, signed cards",
        language: Language::Python,
        folder: "py-0.3",
        packages: PYTHON_0_3,
        script: "interop/python/signed_cards_0_3.py",
        against: PeerSubject::Program,
    },
    Peer {
        name: "Python a2a-sdk 1.3.0",
        language: Language::Python,
        folder: "py-1.0",
        packages: PYTHON_1_0,
        script: "interop/python/peer_1_0.py",
        against: PeerSubject::Attache,
    },
    Peer {
        name: "Python a2a-sdk 1.3.0, signed cards",
        language: Language::Python,
        folder: "py-1.0",
        packages: PYTHON_1_0,
        script: "interop/python/signed_cards.py",
        against: PeerSubject::Program,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 0.3.14",
        language: Language::JavaScript,
        folder: "js-0.3",
        packages: JAVASCRIPT_0_3,
        script: "interop/js/peer_0_3.mjs",
        against: PeerSubject::Attache,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 1.3.0",
        language: Language::JavaScript,
        folder: "js-1.0",
        packages: JAVASCRIPT_1_0,
        script: "interop/js/peer_1_0.mjs",
        against: PeerSubject::Attache,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 1.3.0, signed cards",
        language: Language::JavaScript,
        folder: "js-1.0",
        packages: JAVASCRIPT_1_0,
        script: "interop/js/signed_cards.mjs",
        against: PeerSubject::Program,
    },
    Peer {
        name: "Python a2a-sdk 0.3.26, its server",
        language: Language::Python,
        folder: "py-0.3-server",
        packages: &[("a2a-sdk[http-server]", "0.3.26"), ("grpcio", "1.85.1"), ("uvicorn", "0.54.0")],
        script: "interop/python/called_0_3.py",
        against: PeerSubject::Called,
    },
    Peer {
        name: "Python a2a-sdk 1.3.0, its server",
        language: Language::Python,
        folder: "py-1.0-server",
        packages: &[("a2a-sdk[http-server,grpc]", "1.3.0"), ("uvicorn", "0.54.0")],
        script: "interop/python/called_1_0.py",
        against: PeerSubject::Called,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 0.3.14, its server",
        language: Language::JavaScript,
        folder: "js-0.3-server",
        packages: &[
            ("@a2a-js/sdk", "0.3.14"),
            ("@grpc/grpc-js", "1.14.7"),
            ("@bufbuild/protobuf", "2.17.0"),
            ("express", "5.3.0"),
        ],
        script: "interop/js/called_0_3.mjs",
        against: PeerSubject::Called,
    },
    Peer {
        name: "JavaScript @a2a-js/sdk 1.3.0, its server",
        language: Language::JavaScript,
        folder: "js-1.0-server",
        packages: &[
            ("@a2a-js/sdk", "1.3.0"),
            ("@grpc/grpc-js", "1.14.7"),
            ("@bufbuild/protobuf", "2.17.0"),
            ("express", "5.3.0"),
        ],
        script: "interop/js/called_1_0.mjs",
        against: PeerSubject::Called,
    },
    Peer {
        name: "PyPI google-adk 2.13.0, its server",
        language: Language::Python,
        folder: "py-google-adk-2",
        packages: &[("google-adk[a2a]", "2.13.0")],
        script: "interop/python/called_google_adk.py",
        against: PeerSubject::Called,
    },
    Peer {
        name: "PyPI fasta2a 2.1.1, its server",
        language: Language::Python,
        folder: "py-fasta2a-server",
        packages: &[("fasta2a", "2.1.1"), ("uvicorn", "0.54.0")],
        script: "interop/python/called_fasta2a.py",
        against: PeerSubject::Called,
    },
    Peer {
        name: "npm @google/gemini-cli-a2a-server 0.25.2",
        language: Language::JavaScript,
        folder: crate::setup::gemini_server::FOLDER,
        packages: &[("@google/gemini-cli-a2a-server", "0.25.2")],
        script: "interop/js/called_gemini.mjs",
        against: PeerSubject::Called,
    },
    Peer {
        name: "PyPI proxy.py 2.4.10, a forward proxy",
        language: Language::Python,
        folder: "py-proxy",
        packages: &[("proxy.py", "2.4.10")],
        script: "interop/python/proxied.py",
        against: PeerSubject::Program,
    },
    Peer {
        name: "JavaScript @google/genai 2.32.0",
        language: Language::JavaScript,
        folder: "js-genai",
        packages: &[("@google/genai", "2.32.0")],
        script: "models/gemini.mjs",
        against: PeerSubject::ModelServer,
    },
    Peer {
        name: "JavaScript openai 7.53.0",
        language: Language::JavaScript,
        folder: "js-openai",
        packages: &[("openai", "7.53.0")],
        script: "models/openai.mjs",
        against: PeerSubject::ModelServer,
    },
    Peer {
        name: "JavaScript @anthropic-ai/sdk 1.8.0",
        language: Language::JavaScript,
        folder: "js-anthropic",
        packages: &[("@anthropic-ai/sdk", "1.8.0")],
        script: "models/anthropic.mjs",
        against: PeerSubject::ModelServer,
    },
    // The last that speaks the version of the API which ours speaks unless told otherwise.
    Peer {
        name: "JavaScript @anthropic-ai/sdk 0.137.0",
        language: Language::JavaScript,
        folder: "js-anthropic-2023",
        packages: &[("@anthropic-ai/sdk", "0.137.0")],
        script: "models/anthropic.mjs",
        against: PeerSubject::ModelServer,
    },
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn peers_that_share_a_folder_share_its_packages() {
        let mut folders = BTreeMap::new();
        for peer in PEERS {
            let packages = folders.entry(peer.folder).or_insert(peer.packages);
            assert_eq!(*packages, peer.packages, "{}", peer.name);
        }
        let runs: BTreeSet<_> = PEERS.iter().map(|peer| peer.client().run_folder()).collect();
        assert_eq!(runs.len(), PEERS.len(), "each has a folder for its runs");
    }
}
