//! What confines the commands of all conversations.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use attache_config::Settings;
use attache_net::{AddressRules, SystemResolver};
use attache_tool::{Confiner, NoConfinement};
use attache_tool_sandbox::{EgressOptions, Limits, Sandbox, SandboxOptions, Supervisor};

use crate::furnishing::addresses;

/// This very program, also when its file has been replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The kernel's confinement, or none and the reason why.
pub(crate) fn confiner(settings: &Settings, home: Option<PathBuf>) -> anyhow::Result<Arc<dyn Confiner>> {
    let confinement = &settings.confinement;
    if !confinement.enabled {
        return Ok(unconfined("confinement is switched off in the settings".to_owned()));
    }
    let data = settings.scratch.parent().map(PathBuf::from);
    let keys = settings.card.signing_keys.iter().cloned();
    let options = SandboxOptions {
        program: OWN_PROGRAM.into(),
        environment: settings.child_environment.clone(),
        home,
        reads: confinement.reads.clone(),
        hidden: data.into_iter().chain(settings.token_file.clone()).chain(keys).collect(),
        limits: Limits {
            processes: confinement.processes,
            memory_bytes: confinement.memory_bytes,
            cpu_seconds: confinement.cpu_seconds,
            open_files: confinement.open_files,
            file_bytes: confinement.file_bytes,
        },
        egress: EgressOptions {
            rules: addresses(settings, AddressRules::public_only())?,
            resolver: Arc::new(SystemResolver),
        },
    };
    std::fs::create_dir_all(&settings.scratch).context("cannot make the folder for temporary files")?;
    match Sandbox::probe(options, &settings.scratch) {
        Ok(sandbox) => Ok(Arc::new(sandbox)),
        Err(reasons) => Ok(unconfined(reasons.join("; "))),
    }
}

/// Commands run as they are, and end with this program where the system lets that be done.
fn unconfined(why: String) -> Arc<dyn Confiner> {
    match Supervisor::probe(OWN_PROGRAM.into(), why.clone()) {
        Ok(supervisor) => Arc::new(supervisor),
        Err(error) => {
            tracing::warn!(%error, "commands cannot be watched: they may outlive this program when it is killed");
            Arc::new(NoConfinement::because(why))
        }
    }
}

/// For people: what can be enforced here, in a line.
pub(crate) fn in_words(confiner: &dyn Confiner) -> String {
    let confinement = confiner.confinement();
    match (confinement.files, confinement.gaps.as_slice()) {
        (true, []) => "files, protected paths and network (namespaces, Landlock, seccomp)".to_owned(),
        (true, gaps) => format!("files and network (Landlock, seccomp); missing: {}", gaps.join("; ")),
        (false, gaps) => format!("none, so every command is asked about: {}", gaps.join("; ")),
    }
}
