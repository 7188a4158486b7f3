//! Google's tokens, from a scripted token endpoint and a scripted metadata server.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use attache_credentials::google::{GoogleCredentials, GoogleTokens, TokenPurpose};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::{Still, field, json_answer, net};

pub(crate) fn token(name: &str, seconds: u64) -> PlannedResponse {
    json_answer(200, &json!({"access_token": name, "expires_in": seconds, "token_type": "Bearer"}))
}

/// A token that proves to `audience` who calls, and ends at a time in seconds.
pub(crate) fn identity(audience: &str, ends: u64) -> String {
    let claims = URL_SAFE_NO_PAD.encode(json!({"aud": audience, "exp": ends}).to_string());
    format!("e30.{claims}.c2ln")
}

pub(crate) fn person(server: &ModelServer) -> GoogleCredentials {
    let file = json!({"type": "authorized_user", "client_id": "id", "client_secret": "s3cret+/",
        "refresh_token": "1//r3fresh", "token_uri": format!("{}/token", server.url()), "quota_project_id": "payer"});
    GoogleCredentials::from_json(&file.to_string()).expect("credentials")
}

pub(crate) fn source(credentials: GoogleCredentials) -> GoogleTokens {
    GoogleTokens::new(credentials, &net()).unwrap().with_first_delay(Duration::from_millis(1))
}

fn access() -> TokenPurpose {
    TokenPurpose::cloud_platform()
}

async fn ask(tokens: &GoogleTokens) -> Result<String, String> {
    tokens.token(&access()).await.map(|token| token.expose().to_owned())
}

async fn ask_anew(tokens: &GoogleTokens) -> Result<String, String> {
    tokens.new_token(&access()).await.map(|token| token.expose().to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_token_is_kept_until_shortly_before_it_ends() {
    let _still = Still::new();
    let server = ModelServer::with_responses([token("one", 3600), token("two", 3600), token("three", 3600)]);
    let credentials = person(&server);
    assert_eq!(credentials.quota_project(), Some("payer"));
    let source = source(credentials);
    assert_eq!(ask(&source).await.unwrap(), "one");
    tokio::time::advance(Duration::from_secs(3_290)).await;
    assert_eq!(ask(&source).await.unwrap(), "one");
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(ask(&source).await.unwrap(), "two");
    assert_eq!(ask_anew(&source).await.unwrap(), "three");
    let received = &server.received()[0];
    assert_eq!((received.method.as_str(), received.target.as_str()), ("POST", "/token"));
    assert_eq!(received.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(field(received, "grant_type"), "refresh_token");
    assert_eq!(field(received, "client_secret"), "s3cret+/");
    assert_eq!(field(received, "refresh_token"), "1//r3fresh");
}

#[tokio::test]
async fn callers_that_need_a_token_at_once_get_the_same() {
    let server = ModelServer::with_responses([token("one", 3600), token("two", 3600)]);
    let source = source(person(&server));
    let asked = (0..8).map(|_| ask(&source));
    let tokens = futures_util::future::join_all(asked).await;
    assert!(tokens.iter().all(|token| token.as_deref() == Ok("one")), "{tokens:?}");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_service_account_signs_for_itself() {
    let server = ModelServer::with_responses([token("one", 3600)]);
    let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = AsDer::<Pkcs8V1Der<'_>>::as_der(&key).unwrap();
    let text = STANDARD.encode(der.as_ref());
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line)).collect();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"));
    let token_uri = format!("{}/token", server.url());
    let file = json!({"type": "service_account", "project_id": "p", "client_email": "robot@p.example",
        "private_key_id": "k1", "private_key": pem, "token_uri": token_uri});
    let credentials = GoogleCredentials::from_json(&file.to_string()).unwrap();
    assert_eq!(credentials.project(), Some("p"));
    let clock = Arc::new(|| UNIX_EPOCH + Duration::from_secs(1_000_000));
    let source = GoogleTokens::new(credentials, &net()).unwrap().with_clock(clock);
    assert_eq!(ask(&source).await.unwrap(), "one");
    let received = &server.received()[0];
    assert_eq!(field(received, "grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let assertion = field(received, "assertion");
    let (message, signature) = assertion.rsplit_once('.').unwrap();
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref());
    public.verify(message.as_bytes(), &signature).expect("a signature that fits");
    let (header, claims) = message.split_once('.').unwrap();
    let json = |text: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    assert_eq!(json(header), json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
    let scope = "https://www.googleapis.com/auth/cloud-platform";
    let expected = json!({"iss": "robot@p.example", "scope": scope, "aud": token_uri, "iat": 1_000_000, "exp": 1_003_600});
    assert_eq!(json(claims), expected);
}

#[tokio::test]
async fn the_metadata_server_is_believed_when_it_says_who_it_is() {
    let good = token("one", 3600).header("metadata-flavor", "Google");
    let server = ModelServer::with_responses([good, token("two", 3600)]);
    let source = source(GoogleCredentials::metadata(&server.url()).unwrap());
    assert_eq!(ask(&source).await.unwrap(), "one");
    let received = &server.received()[0];
    let path = "/computeMetadata/v1/instance/service-accounts/default/token?scopes=";
    assert!(received.target.starts_with(path), "{received:?}");
    assert_eq!(received.header("metadata-flavor"), Some("Google"));
    let error = ask_anew(&source).await.unwrap_err();
    assert!(error.contains("not Google's metadata server"), "{error}");
}

#[tokio::test]
async fn trouble_that_may_pass_is_tried_again_and_refusals_are_told() {
    let busy = || PlannedResponse::text(503, "text/plain", "busy");
    let server = ModelServer::with_responses([busy(), busy(), token("one", 3600)]);
    assert_eq!(ask(&source(person(&server))).await.unwrap(), "one");
    let server = ModelServer::with_responses([busy(), busy(), busy(), token("one", 3600)]);
    let error = ask(&source(person(&server))).await.unwrap_err();
    assert_eq!(error, "no token from Google: it answers 503");
    let body = json!({"error": "invalid_grant", "error_description": "1//r3fresh was revoked"});
    let server =
        ModelServer::with_responses([PlannedResponse::text(400, "application/json", &body.to_string())]);
    let error = ask(&source(person(&server))).await.unwrap_err();
    assert_eq!(error, "no token from Google: invalid_grant, (hidden) was revoked (400)");
    let server = ModelServer::with_responses([PlannedResponse::text(200, "application/json", "{}")]);
    let error = ask(&source(person(&server))).await.unwrap_err();
    assert!(error.contains("no token"), "{error}");
}

#[tokio::test]
async fn a_key_that_is_none_is_told_without_being_shown() {
    for private_key in ["s3cret", "-----BEGIN PRIVATE KEY-----\nczNjcmV0\n-----END PRIVATE KEY-----"] {
        let file = json!({"type": "service_account", "client_email": "a@b", "private_key": private_key});
        let credentials = GoogleCredentials::from_json(&file.to_string()).unwrap();
        let error = ask(&source(credentials)).await.unwrap_err();
        assert!(error.contains("private key") && !error.contains("czNjcmV0"), "{error}");
    }
}

#[tokio::test]
async fn identity_tokens_name_their_audience_and_are_kept_until_they_end() {
    let now = 1_000_000;
    let body = json!({"id_token": identity("x.run.app", now + 3_600)});
    let server = ModelServer::with_responses([json_answer(200, &body), token("one", 3600)]);
    let clock = Arc::new(move || UNIX_EPOCH + Duration::from_secs(now));
    let tokens = source(person(&server)).with_clock(clock);
    let purpose = TokenPurpose::Identity { audience: "x.run.app".into() };
    for _ in 0..2 {
        assert_eq!(tokens.token(&purpose).await.unwrap().expose(), identity("x.run.app", now + 3_600));
    }
    assert_eq!(field(&server.received()[0], "target_audience"), "x.run.app");
    assert_eq!(ask(&tokens).await.unwrap(), "one", "each purpose has a token of its own");
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn the_metadata_server_gives_identity_tokens_too() {
    let text = identity("x.run.app", 9_999_999_999);
    let good = PlannedResponse::text(200, "text/html", &text).header("metadata-flavor", "Google");
    let server = ModelServer::with_responses([good]);
    let tokens = source(GoogleCredentials::metadata(&server.url()).unwrap());
    let purpose = TokenPurpose::Identity { audience: "x.run.app".into() };
    assert_eq!(tokens.token(&purpose).await.unwrap().expose(), text);
    let path =
        "/computeMetadata/v1/instance/service-accounts/default/identity?audience=x.run.app&format=full";
    assert_eq!(server.received()[0].target, path);
}

#[tokio::test]
async fn without_any_credentials_the_ways_to_get_some_are_told() {
    let tokens = source(GoogleCredentials::metadata("http://127.0.0.1:9").unwrap());
    let error = ask(&tokens).await.unwrap_err();
    assert!(error.contains("gcloud auth application-default login"), "{error}");
}
