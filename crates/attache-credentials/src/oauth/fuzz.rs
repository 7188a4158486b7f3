//! Arbitrary bytes as answers of an authorization server, as a file of tokens, and as what a browser sends.

use std::time::{Duration, UNIX_EPOCH};

use super::callback::read_answer;
use super::token_file::{TokenFile, TokenKey};
use super::token_set::TokenSet;

const MAX_LIFETIME: Duration = Duration::from_secs(400 * 86_400);

/// What is taken ends within a year, and nothing of it is shown.
pub(crate) fn token(body: &[u8]) {
    match TokenSet::parse(body, UNIX_EPOCH) {
        Ok(tokens) => {
            assert!(!tokens.access.expose().is_empty());
            assert!(tokens.expires.is_none_or(|time| time <= UNIX_EPOCH + MAX_LIFETIME));
            assert!(format!("{tokens:?}").contains("Secret(…)"));
        }
        Err(error) => assert!(error.chars().count() <= 200, "{error}"),
    }
}

/// A code counts with its state only.
pub(crate) fn callback(head: &str) {
    let state = "3xp3cted-stat3";
    match read_answer(head, state) {
        Some(Ok(code)) => assert!(head.contains(state) && !code.expose().is_empty()),
        Some(Err(error)) => {
            assert!(error.chars().count() <= 800 && !error.chars().any(char::is_control), "{error}")
        }
        None => {}
    }
}

/// A list of tokens, one of which may fit.
pub(crate) fn token_file(text: &str) {
    let key = TokenKey {
        agent: "helper".into(),
        token_url: Some("https://a.example/token".into()),
        client_id: "client".into(),
        agent_origin: Some("https://agent.example".into()),
    };
    if let Ok(Some((tokens, token_url))) = TokenFile::read_text(&key, text) {
        assert_eq!(token_url, "https://a.example/token");
        assert!(!tokens.access.expose().is_empty());
    }
}
