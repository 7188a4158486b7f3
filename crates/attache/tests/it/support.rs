//! What every module here needs: a launch of the real binary, and messages.

use std::process::Command;

use attache_testkit::ServerLaunch;
pub(crate) use attache_testkit::agent_client::{message, message_to, parts};

pub(crate) fn launch() -> ServerLaunch {
    ServerLaunch::of(env!("CARGO_BIN_EXE_attache"))
}

/// The script that most tests play.
pub(crate) const SCRIPT: &str = include_str!("../../../../examples/scripts/interop.yaml");

/// Whether this system lets a user who is not root make a namespace and mount something in it. Where it does not, a test that
/// needs one says so and counts as skipped.
#[expect(clippy::print_stdout, reason = "people who run the tests should see what was not tried")]
pub(crate) fn has_namespaces() -> bool {
    let tried = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "."]).output();
    let allowed = tried.is_ok_and(|output| output.status.success());
    if !allowed {
        println!("skipped: this system lets nobody but root make a namespace and mount something in it");
    }
    allowed
}
