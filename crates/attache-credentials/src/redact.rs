//! Removes sent secrets from texts of servers.

use attache_net::Secret;

/// `text` without what is secret, should a server repeat it.
pub(crate) fn redacted<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    // A secret of a few letters would blacken harmless words.
    let worth = secrets.into_iter().map(Secret::expose).filter(|secret| secret.len() >= 6);
    worth.fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
}
