//! Arbitrary bytes as answers of an authorization server, as a file of tokens, and as what a browser sends.

use std::time::{Duration, UNIX_EPOCH};

use super::callback::{Answer, ExpectedAnswer, read_answer};
use super::checked_plan::ExpectedIssuer;
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
    let issuer = ExpectedIssuer { text: "https://idp.example".into(), is_always_sent: false };
    let expected = ExpectedAnswer { state: "3xp3cted-stat3".into(), issuer: Some(issuer) };
    match read_answer(head, &expected) {
        Answer::Ended(Ok(code)) => assert!(head.contains(&expected.state) && !code.expose().is_empty()),
        Answer::Ended(Err(error)) => {
            assert!(error.chars().count() <= 800 && !error.chars().any(char::is_control), "{error}")
        }
        Answer::Stray | Answer::Unrelated => {}
    }
}

/// A list of tokens, one of which may fit.
pub(crate) fn token_file(text: &str) {
    let key = TokenKey {
        agent: "helper".into(),
        token_url: Some("https://a.example/token".into()),
        client_id: "client".into(),
        agent_origin: Some("https://agent.example".into()),
        takes_unnamed: false,
    };
    if let Ok(Some(stored)) = TokenFile::read_text(&key, text) {
        assert_eq!(stored.token_url, "https://a.example/token");
        assert!(!stored.tokens.access.expose().is_empty());
    }
}
