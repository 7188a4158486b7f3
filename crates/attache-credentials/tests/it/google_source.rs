//! Which hosts get which of Google's tokens.

use attache_credentials::google::{GoogleEnvironment, GoogleSource};
use attache_credentials::{Credential, CredentialError, CredentialRequest, CredentialSource};
use attache_net::Url;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use crate::google::identity;
use crate::{field, json_answer, net};

/// A metadata server whose tokens are numbered.
fn metadata() -> ModelServer {
    let count = std::sync::atomic::AtomicUsize::new(1);
    ModelServer::with_handler(move |received| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let answer = match received.target.contains("/identity?") {
            true => PlannedResponse::text(200, "text/html", &identity(&received.target, 9_999_999_999)),
            false => {
                json_answer(200, &json!({"access_token": format!("access-{number}"), "expires_in": 3600}))
            }
        };
        answer.header("metadata-flavor", "Google")
    })
}

fn source(server: &ModelServer) -> GoogleSource {
    let metadata_host = Some(server.url().trim_start_matches("http://").to_owned());
    let environment = GoogleEnvironment { metadata_host, ..GoogleEnvironment::default() };
    GoogleSource::new("helper", environment, Vec::new(), net())
}

async fn ask(
    source: &GoogleSource,
    target: &str,
    refused: Option<&Credential>,
) -> Result<Option<Credential>, CredentialError> {
    let target = Url::parse(target).unwrap();
    source.credential(CredentialRequest { target: &target, refused, security: None }).await
}

fn bearer(token: &str) -> Option<Credential> {
    Some(Credential::authorization("Bearer", token))
}

#[tokio::test]
async fn other_hosts_and_plain_http_get_no_token() {
    let server = metadata();
    let source = source(&server);
    for target in [
        "https://agent.example/",
        "https://googleapis.com/",
        "https://run.app.evil.example/",
        "https://evilrun.app/",
        "https://x-googleapis.com/",
        "https://x.run.app./",
        "https://127.0.0.1/",
        "https://x.run.app@evil.example/",
    ] {
        let error = ask(&source, target, None).await.unwrap_err();
        assert!(error.to_string().contains("is not an allowed host"), "{target}: {error}");
    }
    for target in ["http://x.run.app/", "http://x.googleapis.com/"] {
        let error = ask(&source, target, None).await.unwrap_err();
        assert_eq!(error.to_string(), "helper: google-credentials are sent over https only");
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn each_host_gets_the_token_of_its_kind_and_it_is_kept() {
    let server = metadata();
    let source = source(&server);
    for _ in 0..3 {
        let found = ask(&source, "https://us-central1-aiplatform.googleapis.com/v1/x", None).await.unwrap();
        assert_eq!(found, bearer("access-1"));
    }
    assert_eq!(server.received().len(), 1);
    let found = ask(&source, "https://My-Agent-xyz.run.app/rpc", None).await.unwrap().unwrap();
    assert_eq!(ask(&source, "https://my-agent-xyz.run.app/other", None).await.unwrap(), Some(found));
    let asked = server.received();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].target.contains("audience=my-agent-xyz.run.app&"), "{}", asked[1].target);
}

#[tokio::test]
async fn a_refused_token_is_got_anew_and_never_repeated() {
    let server = metadata();
    let source = source(&server);
    let target = "https://x.googleapis.com/";
    let first = ask(&source, target, None).await.unwrap().unwrap();
    assert_eq!(ask(&source, target, Some(&first)).await.unwrap(), bearer("access-2"));
    assert_eq!(
        ask(&source, target, Some(&first)).await.unwrap(),
        bearer("access-2"),
        "it was renewed already"
    );
    assert_eq!(server.received().len(), 2);
    // This server gives the same identity token each time.
    let target = "https://x.run.app/";
    let first = ask(&source, target, None).await.unwrap().unwrap();
    assert_eq!(ask(&source, target, Some(&first)).await.unwrap(), None);
}

#[tokio::test]
async fn a_new_login_counts_without_a_restart() {
    let server = ModelServer::with_handler(|received| match field(received, "refresh_token").as_str() {
        "1//second" => json_answer(200, &json!({"access_token": "of-second", "expires_in": 3600})),
        _ => {
            json_answer(400, &json!({"error": "invalid_grant", "error_description": "1//first was revoked"}))
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("application_default_credentials.json");
    let log_in = |refresh_token: &str| {
        let credentials = json!({"type": "authorized_user", "client_id": "id", "client_secret": "s",
            "refresh_token": refresh_token, "token_uri": format!("{}/token", server.url())});
        std::fs::write(&file, credentials.to_string()).unwrap();
    };
    let gcloud_folder = Some(folder.path().to_owned());
    let environment = GoogleEnvironment { gcloud_folder, ..GoogleEnvironment::default() };
    let source = GoogleSource::new("helper", environment, Vec::new(), net());
    let target = "https://x.googleapis.com/";
    log_in("1//first");
    let error = ask(&source, target, None).await.unwrap_err().to_string();
    assert_eq!(error, "helper: no token from Google: invalid_grant, (hidden) was revoked (400)");
    log_in("1//second");
    assert_eq!(ask(&source, target, None).await.unwrap(), bearer("of-second"));
}
