//! The settings for push notifications.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::environment::{Environment, variable};
use crate::{ConfigError, SecretText, operator};

/// The variable that holds the key that notifications are signed with.
pub(crate) const SIGNING_KEY: &str = "ATTACHE_PUSH_SIGNING_KEY";

/// The table `[push]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PushFile {
    enabled: bool,
    allow_private_addresses: Vec<String>,
    allow_http: bool,
    artifacts: bool,
    attempts: u32,
    timeout_seconds: u64,
    signing_key_file: Option<PathBuf>,
}

impl Default for PushFile {
    fn default() -> Self {
        Self {
            enabled: true,
            allow_private_addresses: Vec::new(),
            allow_http: false,
            artifacts: false,
            attempts: 20,
            timeout_seconds: 15,
            signing_key_file: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct PushSettings {
    pub enabled: bool,
    /// Hosts, addresses and networks that may be notified although they are not public.
    pub allow_private_addresses: Vec<String>,
    /// Whether public addresses may be notified without TLS.
    pub allow_http: bool,
    /// Whether artifacts are sent, and not only changes of status.
    pub artifacts: bool,
    /// Delivery stops after this many failed attempts in a row.
    pub attempts: u32,
    /// How long one attempt may take.
    pub timeout: Duration,
    pub signing_key: Option<SecretText>,
}

impl PushSettings {
    pub(crate) fn read(file: PushFile, environment: Environment<'_>) -> Result<Self, ConfigError> {
        let allowed = operator::address_list("push.allow_private_addresses", file.allow_private_addresses)?;
        in_range("push.attempts", u64::from(file.attempts), 1..=1000)?;
        in_range("push.timeout_seconds", file.timeout_seconds, 1..=300)?;
        Ok(Self {
            enabled: file.enabled,
            allow_private_addresses: allowed,
            allow_http: file.allow_http,
            artifacts: file.artifacts,
            attempts: file.attempts,
            timeout: Duration::from_secs(file.timeout_seconds),
            signing_key: signing_key(file.signing_key_file, environment)?,
        })
    }
}

fn signing_key(
    file: Option<PathBuf>,
    environment: Environment<'_>,
) -> Result<Option<SecretText>, ConfigError> {
    let (key, origin) = match (variable(environment, SIGNING_KEY), file) {
        (Some(key), _) => (key, SIGNING_KEY.to_owned()),
        (None, Some(path)) => {
            let unreadable =
                |source| ConfigError::Unreadable { what: "push signing key", path: path.clone(), source };
            let key = std::fs::read_to_string(&path).map_err(unreadable)?;
            (key, format!("the push signing key in {}", path.display()))
        }
        (None, None) => return Ok(None),
    };
    let key = key.trim();
    if key.len() < 16 || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        // Never contains the value, even if it is invalid: it is a secret.
        let expected = "at least 16 printable characters without blanks".to_owned();
        return Err(ConfigError::BadValue { origin, value: "(hidden)".into(), expected });
    }
    Ok(Some(SecretText::new(key)))
}

pub(crate) fn in_range(
    name: &str,
    value: u64,
    range: std::ops::RangeInclusive<u64>,
) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::BadValue {
        origin: format!("the setting `{name}`"),
        value: value.to_string(),
        expected: format!("between {} and {}", range.start(), range.end()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<PushSettings, String> {
        let environment = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let file = toml::from_str(text).map_err(|error| error.to_string())?;
        PushSettings::read(file, &environment).map_err(|error| error.to_string())
    }

    #[test]
    fn push_is_on_and_limited_to_public_addresses_by_default() {
        let settings = read("", &[]).unwrap();
        assert!(settings.enabled && !settings.allow_http && !settings.artifacts);
        assert!(settings.allow_private_addresses.is_empty() && settings.signing_key.is_none());
        let said =
            "enabled = false\nartifacts = true\nattempts = 3\nallow_private_addresses = [\"127.0.0.0/8\"]";
        let settings = read(said, &[]).unwrap();
        assert!(!settings.enabled && settings.artifacts);
        assert_eq!((settings.attempts, settings.allow_private_addresses.len()), (3, 1));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for (text, why) in [
            ("attempts = 0", "push.attempts"),
            ("timeout_seconds = 0", "push.timeout_seconds"),
            ("allow_private_addresses = [\"http://a\"]", "push.allow_private_addresses"),
            ("allow = 1", "unknown field"),
            ("signing_key_file = \"not-there\"", "push signing key"),
        ] {
            let error = read(text, &[]).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_key_comes_from_the_environment_or_a_file_and_is_not_shown() {
        let settings = read("", &[(SIGNING_KEY, "a-key-that-is-long-enough")]).unwrap();
        assert!(!format!("{settings:?}").contains("long-enough"));
        let error = read("", &[(SIGNING_KEY, "short")]).unwrap_err();
        assert!(error.contains(SIGNING_KEY) && !error.contains("short"), "{error}");
    }
}
