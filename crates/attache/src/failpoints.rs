//! Ends the program at a named point, for tests of what a crash there leaves behind. In debug builds only.

use attache_tool::failpoint;
use rustix::process::{Signal, getpid, kill_process};

/// Names the point.
const VARIABLE: &str = "ATTACHE_FAILPOINT";

/// Looks for the variable and, where it is set, has the program killed when the point is reached.
pub(crate) fn install() {
    if crate::environment::variable(VARIABLE).is_some() {
        failpoint::install(|point| {
            if crate::environment::variable(VARIABLE).as_deref() == Some(point) {
                // As `kill -9` does. Nothing can be done about a failure.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        });
    }
}
