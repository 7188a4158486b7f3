//! Removes sent secrets from texts of servers.

use attache_net::{Redactor, Secret};

/// `text` without what is secret, should a server repeat it, as it is or encoded.
pub(crate) fn redacted<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    let secrets = secrets.into_iter().map(|secret| secret.expose().to_owned());
    Redactor::of(secrets).hide_known(text).into_owned()
}
