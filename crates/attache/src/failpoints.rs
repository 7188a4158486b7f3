//! Kills the program at a named point, for tests of crashes. In debug builds only.

use attache_tool::failpoint;
use rustix::process::{Signal, getpid, kill_process};

/// Names the point.
const VARIABLE: &str = "ATTACHE_FAILPOINT";

/// If the variable is set, the program is killed when it reaches the point.
pub(crate) fn install() {
    if crate::environment::variable(VARIABLE).is_some() {
        failpoint::install(|point| {
            if crate::environment::variable(VARIABLE).as_deref() == Some(point) {
                // Like `kill -9`. A failure cannot be handled.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        });
    }
}
