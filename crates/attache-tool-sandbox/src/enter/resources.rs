//! Limits that the kernel keeps for each process.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::plan::{Plan, Walls};

pub(super) fn limit(plan: &Plan) -> io::Result<()> {
    let limits = plan.limits;
    lower(Resource::Core, 0)?;
    lower(Resource::Cpu, limits.cpu_seconds)?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::Data, limits.memory_bytes)?;
    // Outside of a user namespace it counts every process of the user, those of the server included.
    if plan.walls == Walls::Namespaces {
        lower(Resource::Nproc, limits.processes)?;
    }
    Ok(())
}

/// Never raises: what the server's own limits are stays.
fn lower(resource: Resource, limit: u64) -> io::Result<()> {
    let now = getrlimit(resource);
    let within = |known: Option<u64>| Some(known.map_or(limit, |known| known.min(limit)));
    setrlimit(resource, Rlimit { current: within(now.current), maximum: within(now.maximum) })?;
    Ok(())
}
