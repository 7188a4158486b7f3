//! The Landlock domain: readable and writable files, as far as the kernel supports Landlock.

use std::io;
use std::path::Path;

use attache_tool::AccessLevel;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};

use super::{InStep, StepError};
use crate::confinement_plan::{ConfinementPlan, Isolation, NetworkAccess};

/// Older kernels enforce what they support.
const NEWEST_ABI: ABI = ABI::V6;

/// Devices that every program may use.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Readable files of a `/proc` that shows the processes of all users.
const PUBLIC_PROC_FILES: &[&str] =
    &["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems", "/proc/sys"];

pub(super) fn restrict(plan: &ConfinementPlan) -> Result<(), StepError> {
    let problem = |error: landlock::RulesetError| io::Error::other(error.to_string());
    let during = "setting the Landlock domain";
    let ruleset = ruleset(plan).map_err(problem).in_step(during)?;
    let (read, all) = (AccessFs::from_read(NEWEST_ABI), AccessFs::from_all(NEWEST_ABI));
    let (temporary, home) = writable_folders(plan);
    // A separate file tree contains only readable files.
    let reads: Vec<&Path> = match plan.isolation {
        Isolation::Namespaces => vec![Path::new("/")],
        Isolation::Landlock | Isolation::None => PUBLIC_PROC_FILES
            .iter()
            .map(Path::new)
            .chain(plan.reads.iter().map(|path| path.as_path()))
            .collect(),
    };
    let look = plan.level == AccessLevel::Look;
    let reads = reads.into_iter().map(|path| (path, read));
    let writes = plan.writes.iter().map(|path| (path.as_path(), if look { read } else { all }));
    let own = [Some(temporary), Some(plan.temporary.as_path()), home];
    let own = own.into_iter().flatten().map(|path| (path, all));
    let devices = DEVICES.iter().map(|path| (Path::new(path), all));
    let mut ruleset = ruleset;
    for (path, access) in reads.chain(writes).chain(own).chain(devices) {
        ruleset = allow(ruleset, path, access).map_err(problem).in_step(during)?;
    }
    ruleset.restrict_self().map_err(problem).in_step(during)?;
    Ok(())
}

/// The temporary folder and the home: in a separate file tree, their paths as the command sees them.
fn writable_folders(plan: &ConfinementPlan) -> (&Path, Option<&Path>) {
    match plan.isolation {
        Isolation::Namespaces => (Path::new("/tmp"), plan.home.as_ref().map(|(_, place)| place.as_path())),
        Isolation::Landlock | Isolation::None => {
            (&plan.temporary, plan.home.as_ref().map(|(source, _)| source.as_path()))
        }
    }
}

fn ruleset(plan: &ConfinementPlan) -> Result<RulesetCreated, landlock::RulesetError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST_ABI))?;
    // In namespaces, processes and sockets outside are out of reach anyway.
    let ruleset = match plan.isolation {
        Isolation::Namespaces | Isolation::None => ruleset,
        Isolation::Landlock if plan.network == NetworkAccess::All => {
            ruleset.scope(Scope::from_all(NEWEST_ABI))?
        }
        Isolation::Landlock => {
            ruleset.handle_access(AccessNet::from_all(NEWEST_ABI))?.scope(Scope::from_all(NEWEST_ABI))?
        }
    };
    ruleset.create()
}

/// Paths that do not exist need no rule.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(handle) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST_ABI) };
    ruleset.add_rule(PathBeneath::new(handle, access))
}
