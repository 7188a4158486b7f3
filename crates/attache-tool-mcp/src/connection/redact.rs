//! Removes sent secrets from error texts.

use attache_net::Secret;

/// What is shorter stands in any text by chance.
const MIN_SECRET_LENGTH: usize = 4;

/// `text` without the secrets, nor any word of them: `Bearer abcd` is two.
pub(super) fn redact<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        let whole = std::iter::once(secret.expose());
        for word in
            whole.chain(secret.expose().split_whitespace()).filter(|word| word.len() >= MIN_SECRET_LENGTH)
        {
            // The name of a scheme tells nothing, and hiding it would.
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
