//! Arbitrary bytes as what a token endpoint answers, and as a file of credentials.

use std::time::Duration;

use attache_net::{BaseUrl, HttpClientOptions, HttpRequest, Secret, Url};
use serde_json::{Value, json};

use super::account::{Kind, is_machines_own};
use super::external::SubjectSource;
use super::*;

/// What a server was sent, and may repeat.
const SECRET: &str = "1//r3fresh-token";
/// As much of a secret as may never be seen.
const START: &str = "1//r3f";
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_ERROR_LENGTH: usize = 1_000;

/// A token that is taken lives for a day at most and can be sent, or is refused without being shown. The text
/// about a refusal is short, and holds no secret that the answer repeats.
pub(crate) fn answer(body: &[u8]) {
    let url = Url::parse("https://example.com/").expect("a URL");
    let identity = TokenPurpose::Identity { audience: "example.com".into() };
    for (purpose, member) in [(TokenPurpose::cloud_platform(), "access_token"), (identity, "id_token")] {
        let Some(granted) = exchange::granted(body, &purpose, Duration::ZERO) else { continue };
        let token = granted.token.expose();
        let answer: Value = serde_json::from_slice(body).expect("what holds a token is JSON");
        assert!(answer[member] == token && !token.is_empty());
        assert!(granted.lifetime <= MAX_LIFETIME);
        let request = HttpRequest::get(url.clone());
        if let Err(error) = request.secret_header("authorization", "Bearer ", &granted.token) {
            assert!(error.to_string().len() <= 100, "{error}");
        }
    }
    let _ = executable::subject_token(body, std::time::Duration::from_secs(1), true);
    let secret = Secret::new(SECRET);
    let text = String::from_utf8_lossy(body);
    let repeating = json!({"error": text, "error_description": format!("{text}{SECRET}{text}")}).to_string();
    for status in [200, 400, 503] {
        let told = exchange::told(status, body, &[&secret]);
        assert!(told.contains(&status.to_string()) && told.chars().count() <= MAX_ERROR_LENGTH, "{told}");
        assert!(!told.contains(SECRET), "{told}");
        let told = exchange::told(status, repeating.as_bytes(), &[&secret]);
        assert!(!told.contains(START) || text.contains(START), "{told}");
    }
}

/// A file of credentials, or the address of a metadata server: what is understood is asked of a safe place, and no
/// secret of the file is shown, whether or not it can be used.
pub(crate) fn credentials(text: &str) {
    if let Ok(Value::Object(mut file)) = serde_json::from_str(text) {
        for secret in ["private_key", "client_secret", "refresh_token"] {
            if let Some(Value::String(value)) = file.get_mut(secret) {
                value.insert_str(0, SECRET);
            }
        }
        let shown = asked(GoogleCredentials::from_json(&Value::Object(file).to_string()));
        assert!(!shown.contains(START) || text.contains("r3f"), "{shown}");
    }
    asked(GoogleCredentials::from_json(text));
    asked(GoogleCredentials::metadata(text));
}

/// All that is shown on the way to a request.
fn asked(credentials: Result<GoogleCredentials, BadCredentials>) -> String {
    let credentials = match credentials {
        Ok(credentials) => credentials,
        Err(error) => return error.to_string(),
    };
    check_places(&credentials);
    let options = HttpClientOptions::default();
    let tokens = GoogleTokens::new(credentials, &options).expect("a client");
    let purpose = TokenPurpose::Identity { audience: "example.com".into() };
    let request = match exchange::token_request(&tokens, &tokens.credentials, &purpose) {
        Ok(request) => format!("{request:?}"),
        Err(error) => error,
    };
    format!("{tokens:?} {request}")
}

fn check_places(credentials: &GoogleCredentials) {
    let is_safe = |url: &Url| BaseUrl::parse(url.as_str()).is_ok();
    match &credentials.kind {
        Kind::ServiceAccount { token_url: url, .. }
        | Kind::AuthorizedUser { token_url: url, .. }
        | Kind::ExternalUser { token_url: url, .. } => {
            assert!(is_safe(url), "{url}");
        }
        Kind::Metadata { account_url } => {
            assert!(is_safe(account_url) || is_machines_own(account_url), "{account_url}");
        }
        Kind::Impersonated { source, url, .. } => {
            assert!(is_safe(url), "{url}");
            check_places(source);
        }
        Kind::External(account) => {
            assert!(is_safe(&account.token_url), "{}", account.token_url);
            assert!(account.impersonation_url.iter().all(is_safe));
            let urls = match &account.source {
                SubjectSource::Url { url, .. } => vec![url],
                SubjectSource::Aws(aws) => {
                    [&aws.region_url, &aws.keys_url, &aws.session_url].into_iter().flatten().collect()
                }
                SubjectSource::File { .. } | SubjectSource::Program { .. } => Vec::new(),
            };
            for url in urls {
                let is_own = is_machines_own(url) || attache_net::is_loopback(url);
                assert!(url.scheme() == "https" || is_own, "{url}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MEMBERS: &[&str] = &[
        "access_token",
        "expires_in",
        "error",
        "error_description",
        "type",
        "client_email",
        "private_key",
        "token_uri",
        "client_id",
        "client_secret",
        "refresh_token",
        "id_token",
        "audience",
        "subject_token_type",
        "credential_source",
        "source_credentials",
        "service_account_impersonation_url",
    ];
    const VALUES: &[&str] = &[
        r#""service_account""#,
        r#""authorized_user""#,
        r#""external_account""#,
        r#""impersonated_service_account""#,
        r#""https://example.com/a:generateAccessToken""#,
        r#"{"file":"x"}"#,
        r#"{"environment_id":"aws1","regional_cred_verification_url":"https://sts.{region}.amazonaws.com"}"#,
        r#"{"url":"http://169.254.169.254/?a=b"}"#,
        r#"{"executable":{"command":"a 'b"}}"#,
        r#"{"type":"authorized_user","client_id":"a","client_secret":"b","refresh_token":"c"}"#,
        r#""https://example.com/token""#,
        r#""http://127.0.0.1/""#,
        r#""http://example.com/""#,
        r#""-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----""#,
        r#""a\r\nb""#,
        r#""""#,
        "18446744073709551615",
        "-1",
        "null",
    ];

    #[test]
    fn a_secret_that_is_repeated_is_hidden_wherever_it_is_cut() {
        (280..310).for_each(|before| answer(&vec![b'x'; before]));
    }

    proptest! {
        #[test]
        fn likely_answers_and_files_do_no_harm(members in prop::collection::btree_map(
            prop::sample::select(MEMBERS), prop::sample::select(VALUES), 0..10,
        )) {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
            let text = format!("{{{}}}", members.join(","));
            answer(text.as_bytes());
            credentials(&text);
        }
    }
}
