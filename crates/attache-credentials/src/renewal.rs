//! When a token is replaced by a new one.

use std::time::Duration;

/// A request takes its time, and a token must not end during it.
const MAX_RENEWAL_MARGIN: Duration = Duration::from_secs(300);

/// How long before its end a token with this lifetime is replaced. One that lives for a minute is used for most of it.
pub(crate) fn renewal_margin(lifetime: Duration) -> Duration {
    MAX_RENEWAL_MARGIN.min(lifetime / 3)
}
