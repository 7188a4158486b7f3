//! Tokens as a server grants them.

use std::time::{Duration, SystemTime};

use attache_net::{Secret, Url};
use serde_json::Value;

use crate::renewal::renewal_margin;

/// What was granted, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenSet {
    pub(super) access: Secret,
    pub(super) refresh: Option<Secret>,
    /// None: the server did not say.
    pub(super) expires: Option<SystemTime>,
    /// How long it was granted for, if that is known.
    pub(super) lifetime: Option<Duration>,
    pub(super) scope: Option<String>,
}

/// The server's number is bounded before it is added to a clock.
const MAX_LIFETIME: Duration = Duration::from_secs(366 * 86_400);

impl TokenSet {
    /// Reads the answer of a token endpoint: JSON, or a form as some servers send it. The error holds none of it.
    pub(super) fn parse(body: &[u8], now: SystemTime) -> Result<Self, String> {
        let fields = Fields::parse(body);
        let access = fields.text("access_token").ok_or("the answer holds no access_token")?;
        let kind = fields.text("token_type").unwrap_or_else(|| "bearer".to_owned());
        if !kind.eq_ignore_ascii_case("bearer") {
            let kind: String = kind.chars().filter(|letter| !letter.is_control()).take(40).collect();
            return Err(format!("the token has the type {kind}; only Bearer is understood"));
        }
        let lifetime =
            fields.number("expires_in").map(|seconds| Duration::from_secs(seconds).min(MAX_LIFETIME));
        Ok(Self {
            access: Secret::new(access),
            refresh: fields.text("refresh_token").map(Secret::new),
            expires: lifetime.and_then(|lifetime| now.checked_add(lifetime)),
            lifetime,
            scope: fields.text("scope"),
        })
    }

    /// Good for the requests of the next minutes.
    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        let margin = renewal_margin(self.lifetime.unwrap_or(Duration::MAX));
        self.expires.is_none_or(|expires| now + margin < expires)
    }

    pub(super) fn is_expired(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// The members of an answer.
pub(super) enum Fields {
    Json(Value),
    Form(Vec<(String, String)>),
}

impl Fields {
    pub(super) fn parse(body: &[u8]) -> Self {
        if let Ok(value @ Value::Object(_)) = serde_json::from_slice(body) {
            return Self::Json(value);
        }
        let text = String::from_utf8_lossy(body);
        let query = text.trim().replace(['\r', '\n', '\t', '#'], "");
        let url = Url::parse(&format!("http://form/?{query}"));
        Self::Form(url.map(|url| url.query_pairs().into_owned().take(64).collect()).unwrap_or_default())
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = match self {
            Self::Json(value) => value.get(name)?.as_str()?.to_owned(),
            Self::Form(pairs) => pairs.iter().find(|(key, _)| key == name)?.1.clone(),
        };
        Some(text).filter(|text| !text.is_empty())
    }

    /// Some servers send numbers as texts, or with a fraction.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        match self {
            Self::Json(value) => {
                let value = value.get(name)?;
                let whole = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
                whole.or_else(|| value.as_f64().filter(|it| *it >= 0.0 && *it < 1e15).map(|it| it as u64))
            }
            Self::Form(_) => self.text(name)?.trim().parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn parse(body: &str) -> Result<TokenSet, String> {
        TokenSet::parse(body.as_bytes(), UNIX_EPOCH)
    }

    #[test]
    fn answers_are_json_or_forms() {
        let json = r#"{"access_token": "a", "token_type": "bearer", "expires_in": 3600, "refresh_token": "r", "scope": "x y"}"#;
        let form = "access_token=a&token_type=bearer&expires_in=3600&refresh_token=r&scope=x+y";
        for body in [json, form] {
            let tokens = parse(body).unwrap();
            assert_eq!((tokens.access.expose(), tokens.scope.as_deref()), ("a", Some("x y")));
            assert_eq!(tokens.refresh.as_ref().map(Secret::expose), Some("r"));
            assert_eq!(tokens.expires, Some(UNIX_EPOCH + Duration::from_secs(3600)));
            assert!(!format!("{tokens:?}").contains("\"a\""));
        }
        assert_eq!(
            parse(r#"{"access_token": "a", "expires_in": "60"}"#).unwrap().expires,
            Some(UNIX_EPOCH + Duration::from_secs(60))
        );
        assert!(parse(r#"{"access_token": "a", "expires_in": 1e300}"#).unwrap().expires.is_none());
    }

    #[test]
    fn what_holds_no_usable_token_is_refused_without_being_shown() {
        for (body, what) in [
            ("", "no access_token"),
            ("<html>s3cret</html>", "no access_token"),
            (r#"{"access_token": ""}"#, "no access_token"),
            (r#"["s3cret"]"#, "no access_token"),
            (r#"{"access_token": "s3cret", "token_type": "DPoP"}"#, "DPoP"),
        ] {
            let error = parse(body).unwrap_err();
            assert!(error.contains(what) && !error.contains("s3cret"), "{body}: {error}");
        }
    }

    #[test]
    fn a_token_of_a_minute_is_used_more_than_once() {
        let tokens = parse(r#"{"access_token": "a", "expires_in": 60}"#).unwrap();
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(tokens.is_fresh(at(0)) && tokens.is_fresh(at(39)) && !tokens.is_fresh(at(40)));
    }

    #[test]
    fn a_token_is_renewed_five_minutes_early() {
        let tokens = parse(r#"{"access_token": "a", "expires_in": 1000}"#).unwrap();
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert!(tokens.is_fresh(at(699)) && !tokens.is_fresh(at(700)));
        assert!(!tokens.is_expired(at(999)) && tokens.is_expired(at(1000)));
    }
}
