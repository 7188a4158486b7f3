//! Removes sent secrets from error texts.

use attache_net::Secret;

/// Shorter secrets are not removed, because they would match harmless words.
const MIN_SECRET_LENGTH: usize = 4;

/// Removes the secrets and each of their words: `Bearer abcd` has two.
pub(super) fn redact<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        let whole = std::iter::once(secret.expose());
        for word in
            whole.chain(secret.expose().split_whitespace()).filter(|word| word.len() >= MIN_SECRET_LENGTH)
        {
            // The name of a scheme is no secret.
            if !["bearer", "basic", "token"].contains(&word.to_ascii_lowercase().as_str()) {
                text = text.replace(word, "(hidden)");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_their_words_are_hidden() {
        let secrets = [Secret::new("Bearer abcd"), Secret::new("a"), Secret::new("")];
        assert_eq!(redact("no bearer for abcd at all", &secrets), "no bearer for (hidden) at all");
        assert_eq!(redact("Bearer abcd", &secrets), "(hidden)");
    }
}
