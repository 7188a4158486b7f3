//! Limits for push configurations, checked before their addresses.

use attache_domain::{Fault, PushConfig, Violation};

const MAX_ID_LENGTH: usize = 128;
const MAX_URL_LENGTH: usize = 2048;
const MAX_TOKEN_LENGTH: usize = 4096;
const MAX_CREDENTIALS_LENGTH: usize = 8192;
const MAX_SCHEME_LENGTH: usize = 64;
const MAX_SCHEMES: usize = 8;

/// Sizes, and that what goes into headers fits there.
pub(super) fn check(config: &PushConfig) -> Result<(), Fault> {
    let mut violations = Vec::new();
    let mut refuse = |field: &str, description: String| {
        violations.push(Violation { field: field.to_owned(), description });
    };
    let long = |most: usize| format!("is longer than {most} bytes");
    if config.id.as_str().len() > MAX_ID_LENGTH {
        refuse("id", long(MAX_ID_LENGTH));
    }
    if config.id.as_str().chars().any(char::is_control) {
        refuse("id", "has a control character in it".into());
    }
    if config.url.len() > MAX_URL_LENGTH {
        refuse("url", long(MAX_URL_LENGTH));
    }
    let mut header = |field: &str, value: &str, most: usize| {
        if value.len() > most {
            refuse(field, long(most));
        }
        if !fits_header(value) {
            refuse(field, "has a character that no header can hold; use printable ASCII".into());
        }
    };
    if let Some(token) = &config.token {
        header("token", token, MAX_TOKEN_LENGTH);
    }
    if let Some(authentication) = &config.authentication {
        if let Some(credentials) = &authentication.credentials {
            header("authentication.credentials", credentials, MAX_CREDENTIALS_LENGTH);
        }
        if authentication.schemes.len() > MAX_SCHEMES {
            refuse("authentication.schemes", format!("has more than {MAX_SCHEMES} entries"));
        }
        let wrong = |scheme: &&String| scheme.len() > MAX_SCHEME_LENGTH || !is_token(scheme);
        if let Some(scheme) = authentication.schemes.iter().find(wrong) {
            let shown: String = scheme.chars().take(MAX_SCHEME_LENGTH).collect();
            refuse("authentication.scheme", format!("{shown:?} is not the name of a scheme such as Bearer"));
        }
    }
    if violations.is_empty() { Ok(()) } else { Err(Fault::InvalidParams { violations }) }
}

fn fits_header(value: &str) -> bool {
    value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && value.trim() == value
}

/// What HTTP calls a token.
fn is_token(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use attache_domain::PushAuthentication;

    use super::*;

    #[track_caller]
    fn check_config(change: impl FnOnce(&mut PushConfig), expected: Option<&str>) {
        let authentication =
            PushAuthentication { schemes: vec!["Bearer".into()], credentials: Some("c".into()) };
        let mut config = PushConfig {
            id: "c".into(),
            url: "https://a.test".into(),
            token: Some("t".into()),
            authentication: Some(authentication),
        };
        change(&mut config);
        let found = check(&config).map_err(|fault| fault.to_string());
        match (&found, expected) {
            (Ok(()), None) => {}
            (Err(why), Some(part)) if why.contains(part) => {}
            _ => panic!("{found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn what_is_too_long_or_fits_no_header_is_refused_by_name() {
        check_config(|_| {}, None);
        check_config(
            |config| config.id = "i".repeat(MAX_ID_LENGTH + 1).into(),
            Some("id is longer than 128"),
        );
        check_config(|config| config.id = "a\nb".into(), Some("id has a control"));
        check_config(|config| config.url = "u".repeat(MAX_URL_LENGTH + 1), Some("url is longer"));
        check_config(|config| config.token = Some("a\r\nb: c".into()), Some("token has a character"));
        check_config(|config| config.token = Some("ä".into()), Some("token has a character"));
        check_config(|config| config.token = Some(" a".into()), Some("token has a character"));
        check_config(|config| config.token = Some("t".repeat(MAX_TOKEN_LENGTH + 1)), Some("token is longer"));
    }

    #[test]
    fn authentication_is_looked_at_too() {
        let set = |config: &mut PushConfig, schemes: Vec<String>, credentials: &str| {
            let credentials = Some(credentials.to_owned());
            config.authentication = Some(PushAuthentication { schemes, credentials });
        };
        check_config(|config| set(config, vec!["Bearer".into()], "a b"), None);
        check_config(
            |config| set(config, vec!["Bearer".into()], "a\nb"),
            Some("credentials has a character"),
        );
        check_config(|config| set(config, vec!["Bear er".into()], "a"), Some("name of a scheme"));
        check_config(|config| set(config, vec!["B".into(); MAX_SCHEMES + 1], "a"), Some("more than 8"));
    }

    #[test]
    fn a_secret_is_not_shown_in_its_refusal() {
        let config = PushConfig {
            id: "c".into(),
            url: "https://a.test".into(),
            token: Some("hush\n".into()),
            authentication: None,
        };
        assert!(!check(&config).unwrap_err().to_string().contains("hush"));
    }
}
