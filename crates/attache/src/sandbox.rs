//! The confinement of commands.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use attache_config::Settings;
use attache_net::{AddressRules, SystemResolver};
use attache_tool::{Confiner, NoConfinement};
use attache_tool_sandbox::{CommandLimits, EgressOptions, Sandbox, SandboxOptions, Supervisor};
use uuid::Uuid;

use crate::implementations::address_rules;

/// This program, even if its file has been replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The kernel's confinement, or none and the reason why.
pub(crate) fn confiner(settings: &Settings, home: Option<PathBuf>) -> anyhow::Result<Arc<dyn Confiner>> {
    let confinement = &settings.confinement;
    let limits = CommandLimits {
        processes: confinement.processes,
        memory_bytes: confinement.memory_bytes,
        cpu_seconds: confinement.cpu_seconds,
        open_files: confinement.open_files,
        file_bytes: confinement.file_bytes,
    };
    if !confinement.enabled {
        return Ok(unconfined(limits, "confinement is switched off in the settings".to_owned()));
    }
    let keys = settings.card.signing_keys.iter().cloned();
    let options = SandboxOptions {
        program: OWN_PROGRAM.into(),
        environment: settings.child_environment.clone(),
        home,
        reads: confinement.reads.clone(),
        hidden: [settings.data_folder.clone()]
            .into_iter()
            .chain(settings.token_file.clone())
            .chain(settings.a2a_token_file.clone())
            .chain(keys)
            .collect(),
        limits,
        egress: EgressOptions {
            rules: address_rules(settings, AddressRules::public_only())?,
            resolver: Arc::new(SystemResolver),
        },
    };
    // A new folder, because several programs may start at the same time.
    let tried_in = settings.scratch.join(format!("probe-{}", Uuid::new_v4()));
    std::fs::create_dir_all(&tried_in).context("cannot make the folder for temporary files")?;
    let probed = Sandbox::probe(options, &tried_in);
    if let Err(error) = std::fs::remove_dir_all(&tried_in) {
        tracing::debug!(%error, "the folder in which confinement was tried cannot be removed");
    }
    match probed {
        Ok(sandbox) => Ok(Arc::new(sandbox)),
        Err(reasons) => Ok(unconfined(limits, reasons.join("; "))),
    }
}

/// Commands run unconfined. Where the system allows, they keep their limits and end with this program.
fn unconfined(limits: CommandLimits, why: String) -> Arc<dyn Confiner> {
    match Supervisor::probe(OWN_PROGRAM.into(), limits, why.clone()) {
        Ok(supervisor) => Arc::new(supervisor),
        Err(error) => {
            tracing::warn!(%error, "commands cannot be watched: they have no limits, and may outlive this program when it is killed");
            Arc::new(NoConfinement::because(why))
        }
    }
}

/// Describes the confinement that `settings` get on this system.
pub(crate) fn description(settings: &Settings) -> anyhow::Result<String> {
    let home = crate::environment::variable("HOME").map(PathBuf::from);
    Ok(describe(confiner(settings, home)?.as_ref()))
}

/// What can be enforced on this system, in one line for people.
pub(crate) fn describe(confiner: &dyn Confiner) -> String {
    let confinement = confiner.confinement();
    match (confinement.files, confinement.gaps.as_slice()) {
        (true, []) => "files, protected paths and network (namespaces, Landlock, seccomp)".to_owned(),
        (true, gaps) => format!("files and network (Landlock, seccomp); missing: {}", gaps.join("; ")),
        (false, gaps) => format!("none, so every command is asked about: {}", gaps.join("; ")),
    }
}
