//! Named points of the code at which a test ends the program, as a crash would.
//!
//! Only debug builds look; a release build has none of it.

use std::sync::OnceLock;

static HOOK: OnceLock<fn(&str)> = OnceLock::new();

/// Calls `hook` with the name of every point that is reached. Only the first call has an effect.
pub fn install(hook: fn(&str)) {
    // A second one would be of the same program.
    let _ = HOOK.set(hook);
}

/// Reports that the program reached this point.
#[inline]
pub fn reach(point: &str) {
    if cfg!(debug_assertions)
        && let Some(hook) = HOOK.get()
    {
        hook(point);
    }
}
