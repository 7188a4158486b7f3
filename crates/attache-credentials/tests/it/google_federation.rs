//! Identities of other clouds, and service accounts that credentials act as.

use attache_credentials::google::{GoogleCredentials, TokenPurpose};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use serde_json::{Value, json};

use crate::google::{identity, source, token};
use crate::{field, json_answer};

const AUDIENCE: &str = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";

/// A server for the other cloud, the exchange and the service account.
fn google() -> ModelServer {
    ModelServer::with_handler(|received: &ReceivedRequest| match received.target.as_str() {
        "/sts" => token("federated", 3600),
        "/token" => token("of-person", 3600),
        "/subject" => json_answer(200, &json!({"access": "subject-from-url"})),
        "/v1/robot:generateAccessToken" => {
            json_answer(200, &json!({"accessToken": "acting", "expireTime": "x"}))
        }
        "/v1/robot:generateIdToken" => {
            json_answer(200, &json!({"token": identity("x.run.app", 9_999_999_999)}))
        }
        other => PlannedResponse::text(404, "text/plain", other),
    })
}

fn external(server: &ModelServer, credential_source: &Value, acts: bool) -> GoogleCredentials {
    let mut file = json!({"type": "external_account", "audience": AUDIENCE, "subject_token_type": JWT,
        "token_url": format!("{}/sts", server.url()), "credential_source": credential_source});
    if acts {
        file["service_account_impersonation_url"] =
            json!(format!("{}/v1/robot:generateAccessToken", server.url()));
        file["service_account_impersonation"] = json!({"token_lifetime_seconds": 2800});
    }
    GoogleCredentials::from_json(&file.to_string()).unwrap()
}

async fn access(credentials: GoogleCredentials) -> Result<String, String> {
    source(credentials).token(&TokenPurpose::cloud_platform()).await.map(|token| token.expose().to_owned())
}

async fn identity_of(credentials: GoogleCredentials) -> Result<String, String> {
    let purpose = TokenPurpose::Identity { audience: "x.run.app".into() };
    source(credentials).token(&purpose).await.map(|token| token.expose().to_owned())
}

#[tokio::test]
async fn a_token_in_a_file_is_exchanged() {
    let server = google();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "subject-from-file\n").unwrap();
    assert_eq!(access(external(&server, &json!({"file": path}), false)).await.unwrap(), "federated");
    let received = &server.received()[0];
    for (name, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("audience", AUDIENCE),
        ("scope", "https://www.googleapis.com/auth/cloud-platform"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ("subject_token", "subject-from-file"),
        ("subject_token_type", JWT),
    ] {
        assert_eq!(field(received, name), value);
    }
    let error = identity_of(external(&server, &json!({"file": path}), false)).await.unwrap_err();
    assert!(error.contains("service_account_impersonation_url"), "{error}");
    let error = access(external(&server, &json!({"file": "/nowhere/token"}), false)).await.unwrap_err();
    assert!(error.contains("/nowhere/token cannot be read"), "{error}");
}

#[tokio::test]
async fn a_token_at_a_url_is_exchanged_and_acts_as_a_service_account() {
    let server = google();
    let named = json!({"url": format!("{}/subject", server.url()), "headers": {"metadata": "true"},
        "format": {"type": "json", "subject_token_field_name": "access"}});
    assert_eq!(access(external(&server, &named, true)).await.unwrap(), "acting");
    let received = server.received();
    assert_eq!(received[0].header("metadata"), Some("true"));
    assert_eq!(field(&received[1], "subject_token"), "subject-from-url");
    assert_eq!(received[2].header("authorization"), Some("Bearer federated"));
    let scope = json!(["https://www.googleapis.com/auth/cloud-platform"]);
    assert_eq!(received[2].json(), json!({"scope": scope, "delegates": [], "lifetime": "2800s"}));
    let token = identity_of(external(&server, &named, true)).await.unwrap();
    assert_eq!(token, identity("x.run.app", 9_999_999_999));
    let last = server.received().pop().unwrap();
    assert_eq!(last.json(), json!({"audience": "x.run.app", "delegates": [], "includeEmail": true}));
}

#[tokio::test]
async fn a_program_runs_only_where_that_is_allowed() {
    let server = google();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("print.sh");
    let line =
        r#"printf '{"version":1,"success":true,"id_token":"%s"}' "$GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE""#;
    std::fs::write(&script, line).unwrap();
    let command = |line: String| json!({"executable": {"command": line}});
    let named = command(format!("sh '{}'", script.display()));
    let credentials = external(&server, &named, false);
    let error = access(credentials.clone()).await.unwrap_err();
    assert!(error.contains("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1"), "{error}");
    assert_eq!(server.received().len(), 0);
    assert_eq!(access(credentials.running_programs(true)).await.unwrap(), "federated");
    assert_eq!(field(&server.received()[0], "subject_token"), JWT);
    for (line, what) in [
        ("false", "failed"),
        ("/nowhere/program", "cannot be started"),
        ("echo hello", "printed no JSON"),
        (
            r#"echo '{"success":false,"code":"401","message":"signed out"}'"#,
            "reported an error: 401 signed out",
        ),
    ] {
        let credentials = external(&server, &command(line.to_owned()), false).running_programs(true);
        let error = access(credentials).await.unwrap_err();
        assert!(error.contains(what), "{line}: {error}");
    }
}

#[tokio::test]
async fn a_person_may_act_as_a_service_account() {
    let server = google();
    let person = json!({"type": "authorized_user", "client_id": "id", "client_secret": "s3cret+/",
        "refresh_token": "1//r3fresh", "token_uri": format!("{}/token", server.url())});
    let file = json!({"type": "impersonated_service_account", "source_credentials": person, "delegates": ["d"],
        "service_account_impersonation_url": format!("{}/v1/robot:generateAccessToken", server.url())});
    let credentials = GoogleCredentials::from_json(&file.to_string()).unwrap();
    assert_eq!(access(credentials.clone()).await.unwrap(), "acting");
    let received = server.received();
    assert_eq!(received[1].header("authorization"), Some("Bearer of-person"));
    assert_eq!(received[1].json()["delegates"], json!(["d"]));
    assert!(identity_of(credentials).await.unwrap().starts_with("e30."));
}

#[tokio::test]
async fn a_person_of_another_identity_provider_gets_access_tokens() {
    let server = google();
    let file = json!({"type": "external_account_authorized_user", "audience": AUDIENCE, "client_id": "id",
        "client_secret": "s3cret+/", "refresh_token": "1//r3fresh", "token_url": format!("{}/token", server.url())});
    let credentials = GoogleCredentials::from_json(&file.to_string()).unwrap();
    assert_eq!(access(credentials.clone()).await.unwrap(), "of-person");
    let received = &server.received()[0];
    assert_eq!(received.header("authorization"), Some("Basic aWQ6czNjcmV0Ky8="));
    assert_eq!(field(received, "grant_type"), "refresh_token");
    assert_eq!(field(received, "refresh_token"), "1//r3fresh");
    let error = identity_of(credentials).await.unwrap_err();
    assert!(error.contains("gets no identity tokens"), "{error}");
    assert_eq!(server.received().len(), 1);
}
