//! Entry points for arbitrary bytes: nothing may panic, and no secret is shown.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use crate::{google, oauth};

/// What Google's token endpoint answers.
pub fn google_token(body: &[u8]) {
    google::fuzz::answer(body);
}

/// A file of Google's credentials, or the address of a server that gives tokens.
pub fn google_credentials(text: &[u8]) {
    google::fuzz::credentials(&String::from_utf8_lossy(text));
}

/// What an authorization server answers.
pub fn oauth_token(body: &[u8]) {
    oauth::fuzz::token(body);
}

/// What a browser sends when it comes back from a sign-in.
pub fn oauth_callback(head: &[u8]) {
    oauth::fuzz::callback(&String::from_utf8_lossy(head));
}

/// A file of tokens.
pub fn oauth_token_file(text: &[u8]) {
    oauth::fuzz::token_file(&String::from_utf8_lossy(text));
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// What such texts are made of, so that readers get beyond the first of them.
    const WORDS: &[&str] = &[
        r#""access_token":"#,
        r#""expires_in":"#,
        r#""token_type":"bearer""#,
        r#""serverName":"helper""#,
        r#""clientId":"client""#,
        r#""tokenUrl":"https://a.example/token""#,
        r#""token":"#,
        r#""accessToken":"#,
        r#""expiresAt":"#,
        "GET /oauth/callback?",
        "code=",
        "&",
        "state=",
        "3xp3cted-stat3",
        "error=",
        "%1b",
        " HTTP/1.1\r\n",
        "access_token=",
        "http://metadata.google.internal",
        "https://",
    ];

    fn all(bytes: &[u8]) {
        google_token(bytes);
        google_credentials(bytes);
        oauth_token(bytes);
        oauth_callback(bytes);
        oauth_token_file(bytes);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(&[JSON_WORDS, WORDS].concat(), 40, all);
    }
}
