//! Agent frameworks as clients. Each goes through the same conversation with a default server and with one that is
//! started with `--answers message`.
//!
//! The steps that a framework does not pass are listed here. A run fails when a framework does worse than its list, and also
//! when it does better, so that `docs/interop.md`, which is generated from the list, stays true.

mod javascript;
mod judging;
mod python;
mod run;
mod steps;

use super::Language;
use super::peers::Client;
pub(crate) use run::run;
pub(super) use steps::{FrameworkStep, Gap, Interface, KnownGap};

/// An agent framework, and how far it gets.
#[derive(Debug)]
pub(crate) struct Framework {
    pub(crate) client: Client,
    pub(crate) install: Install,
    /// How its program differs from the usual way to use it; empty where it does not.
    pub(super) note: &'static str,
    pub(super) known: &'static [KnownGap],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Install {
    /// Within a minute: part of `cargo xtask test`.
    Quick,
    /// Longer than that: only with `cargo xtask interop --all` or by name.
    Slow,
}

/// All frameworks, Python first.
pub(crate) fn all() -> impl Iterator<Item = &'static Framework> {
    python::FRAMEWORKS.iter().chain(javascript::FRAMEWORKS)
}

impl Framework {
    const fn new(client: Client) -> Self {
        Self { client, install: Install::Quick, note: "", known: &[] }
    }

    const fn slow(mut self) -> Self {
        self.install = Install::Slow;
        self
    }

    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    const fn known(mut self, known: &'static [KnownGap]) -> Self {
        self.known = known;
        self
    }

    /// The known gap at one step.
    pub(super) fn gap(&self, interface: Interface, step: FrameworkStep) -> Option<&'static KnownGap> {
        self.known.iter().find(|known| known.interfaces.contains(&interface) && known.steps.contains(&step))
    }

    /// Does it have every step, and pass it?
    pub(super) fn passes_all(&self, interface: Interface) -> bool {
        interface.steps().iter().all(|step| self.gap(interface, *step).is_none())
    }

    /// Does it pass every step that it has?
    pub(super) fn is_whole(&self, interface: Interface) -> bool {
        let fails =
            |step: &FrameworkStep| self.gap(interface, *step).is_some_and(|known| known.gap == Gap::Fails);
        !interface.steps().iter().any(fails)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::interop::PEERS;

    #[test]
    fn frameworks_that_share_a_folder_share_its_packages() {
        let mut folders: BTreeMap<_, _> = PEERS.iter().map(|peer| (peer.folder, peer.packages)).collect();
        for framework in all() {
            let client = &framework.client;
            assert_eq!(
                *folders.entry(client.folder).or_insert(client.packages),
                client.packages,
                "{}",
                client.name
            );
        }
        let runs: BTreeSet<_> = all().map(|framework| framework.client.run_folder()).collect();
        assert_eq!(runs.len(), all().count(), "each has a folder for its runs");
    }

    #[test]
    fn every_program_under_tests_is_one_of_the_list() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
        for framework in all() {
            let script = root.join(framework.client.script);
            assert!(script.is_file(), "there is no {}", script.display());
        }
        let listed: BTreeSet<&str> = all().map(|framework| framework.client.script).collect();
        for (folder, ending) in [("frameworks/python", "py"), ("frameworks/js", "mjs")] {
            for entry in std::fs::read_dir(root.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let text = std::fs::read_to_string(root.join(folder).join(&name)).unwrap_or_default();
                let is_program = name.ends_with(ending) && text.lines().any(starts_main);
                assert!(
                    !is_program || listed.contains(format!("{folder}/{name}").as_str()),
                    "{folder}/{name}"
                );
            }
        }
    }

    fn starts_main(line: &str) -> bool {
        line.starts_with("main(") || line.starts_with("await main(")
    }

    #[test]
    fn a_step_is_known_once_on_an_interface() {
        for framework in all() {
            for interface in Interface::ALL {
                for step in FrameworkStep::ALL {
                    let knows = |known: &&KnownGap| {
                        known.interfaces.contains(&interface) && known.steps.contains(&step)
                    };
                    let name = framework.client.name;
                    assert!(framework.known.iter().filter(knows).count() < 2, "{name}: {}", step.name());
                }
            }
        }
    }
}
