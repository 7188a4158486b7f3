//! Arbitrary bytes as what a token endpoint answers, and as a file of credentials.

use std::time::UNIX_EPOCH;

use attache_net::{BaseUrl, HttpRequest, Url};
use serde_json::{Value, json};

use super::account::Kind;
use super::*;

/// What a server was sent, and may repeat.
const SECRET: &str = "1//r3fresh-token";
/// As much of a secret as nobody may see.
const START: &str = "1//r3f";
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_ERROR_LENGTH: usize = 1_000;

/// A token that is taken lives for a day at most and can be sent, or is refused without being shown. What is told of a
/// refusal is short, and shows nothing of a secret that the answer repeats, wherever it stands.
pub(crate) fn answer(body: &[u8]) {
    let url = Url::parse("https://example.com/").expect("a URL");
    if let Some(granted) = exchange::granted(body) {
        let token = granted.token.expose();
        let answer: Value = serde_json::from_slice(body).expect("what holds a token is JSON");
        assert!(answer["access_token"] == token && !token.is_empty());
        assert!(granted.lifetime <= MAX_LIFETIME);
        if let Err(error) = HttpRequest::get(url).secret_header("authorization", "Bearer ", &granted.token) {
            assert!(error.to_string().len() <= 100, "{error}");
        }
    }
    let person = json!({"type": "authorized_user", "client_id": "id", "client_secret": "s3cret-of-client",
        "refresh_token": SECRET});
    let credentials = GoogleCredentials::from_json(&person.to_string()).expect("credentials");
    let text = String::from_utf8_lossy(body);
    let repeating = json!({"error": text, "error_description": format!("{text}{SECRET}{text}")}).to_string();
    for status in [200, 400, 503] {
        let told = exchange::told(status, body, &credentials);
        assert!(told.contains(&status.to_string()) && told.chars().count() <= MAX_ERROR_LENGTH, "{told}");
        assert!(!told.contains(SECRET), "{told}");
        let told = exchange::told(status, repeating.as_bytes(), &credentials);
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
    let clock: Clock = Arc::new(|| UNIX_EPOCH);
    let (Kind::ServiceAccount { token_url, .. }
    | Kind::AuthorizedUser { token_url, .. }
    | Kind::Metadata { token_url }) = &credentials.kind;
    let known = matches!(credentials.kind, Kind::Metadata { .. })
        && matches!(token_url.host_str(), Some("metadata.google.internal" | "169.254.169.254"));
    assert!(known || BaseUrl::parse(token_url.as_str()).is_ok(), "{token_url}");
    let request = match exchange::request(&credentials, &clock) {
        Ok(request) => format!("{request:?}"),
        Err(error) => error,
    };
    format!("{credentials:?} {request}")
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
    ];
    const VALUES: &[&str] = &[
        r#""service_account""#,
        r#""authorized_user""#,
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
