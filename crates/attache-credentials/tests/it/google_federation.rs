//! Identities of other clouds, and service accounts that credentials act as.

use attache_credentials::google::{AwsEnvironment, GoogleCredentials, GoogleTokens, TokenPurpose};
use attache_net::{ProxySettings, Secret};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use attache_testkit::{ForwardProxy, TestAuthority, TlsFront};
use serde_json::{Value, json};

use crate::google::{identity, source, token};
use crate::{field, json_answer, net};

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
async fn a_token_at_a_url_is_fetched_through_the_proxy() {
    let (server, authority) = (google(), TestAuthority::new());
    let place = server.url().strip_prefix("http://").unwrap().parse().unwrap();
    let front = TlsFront::start(place, &authority.issue("provider.test"), None);
    let proxy = ForwardProxy::to(front.address());
    let named = json!({"url": "https://provider.test/subject",
        "format": {"type": "json", "subject_token_field_name": "access"}});
    let mut options = net();
    options.proxy = ProxySettings::everything_through(&proxy.url(), "general.proxy").unwrap();
    options.tls.trust(&std::fs::read(authority.certificate()).unwrap(), "authority.pem").unwrap();
    let tokens = GoogleTokens::new(external(&server, &named, false), &options).unwrap();
    let token = tokens.token(&TokenPurpose::cloud_platform()).await.unwrap();
    assert_eq!((token.expose(), proxy.lines()), ("federated", vec!["CONNECT provider.test:443".to_owned()]));
    assert_eq!(field(&server.received()[1], "subject_token"), "subject-from-url");
}

/// The metadata server of a machine at AWS, beside Google.
fn aws() -> ModelServer {
    ModelServer::with_handler(|received: &ReceivedRequest| {
        let text = |text: &str| PlannedResponse::text(200, "text/plain", text);
        match (received.method.as_str(), received.target.as_str()) {
            ("PUT", "/session") => text("s3ssion"),
            ("GET", _) if received.header("x-aws-ec2-metadata-token") != Some("s3ssion") => {
                PlannedResponse::text(401, "text/plain", "")
            }
            ("GET", "/zone") => text("eu-west-1b"),
            ("GET", "/keys") => text("my-role"),
            ("GET", "/keys/my-role") => json_answer(
                200,
                &json!({"AccessKeyId": "AKID", "SecretAccessKey": "s3cret-of-aws", "Token": "t0ken-of-aws"}),
            ),
            (_, "/sts") => token("federated", 3600),
            other => PlannedResponse::text(404, "text/plain", &format!("{other:?}")),
        }
    })
}

/// The request that Google is to send to AWS, as it was posted.
fn written_down(received: &ReceivedRequest) -> Value {
    let text = field(received, "subject_token");
    let url = attache_net::Url::parse(&format!("http://x/?v={}", text.replace('+', "%2B"))).unwrap();
    let (_, text) = url.query_pairs().next().unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_machine_at_aws_proves_itself_with_a_signed_request() {
    let server = aws();
    let at = |path: &str| format!("{}{path}", server.url());
    let named = json!({"environment_id": "aws1", "region_url": at("/zone"), "url": at("/keys"),
        "imdsv2_session_token_url": at("/session"),
        "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"});
    assert_eq!(access(external(&server, &named, false)).await.unwrap(), "federated");
    let received = server.received();
    let asked: Vec<_> = received.iter().map(|it| format!("{} {}", it.method, it.target)).collect();
    assert_eq!(asked, ["PUT /session", "GET /zone", "GET /keys", "GET /keys/my-role", "POST /sts"]);
    let sent = &received[4];
    assert!(!String::from_utf8_lossy(&sent.body).contains("s3cret-of-aws"), "keys are not sent");
    let request = written_down(sent);
    assert_eq!(
        (request["method"].as_str(), request["url"].as_str()),
        (
            Some("POST"),
            Some("https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15")
        )
    );
    let header = |request: &Value, name: &str| {
        let headers = request["headers"].as_array().unwrap();
        let found = headers.iter().find(|header| header["key"] == name);
        found.map(|header| header["value"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert_eq!(header(&request, "host"), "sts.eu-west-1.amazonaws.com");
    assert_eq!(header(&request, "x-goog-cloud-target-resource"), AUDIENCE);
    assert_eq!(header(&request, "x-amz-security-token"), "t0ken-of-aws");
    let signed = header(&request, "Authorization");
    let names = "SignedHeaders=host;x-amz-date;x-amz-security-token;x-goog-cloud-target-resource, Signature=";
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=AKID/") && signed.contains(names), "{signed}");

    // What the environment says counts before, and then nothing is asked of the machine.
    let environment = AwsEnvironment {
        region: Some("us-east-2".into()),
        key_id: Some("AKENV".into()),
        secret: Some(Secret::new("s3cret-of-environment")),
        session_token: None,
    };
    let before = server.received().len();
    let credentials = external(&server, &named, false).with_aws(environment);
    assert_eq!(access(credentials).await.unwrap(), "federated");
    let received = server.received();
    assert_eq!(received.len(), before + 1);
    let request = written_down(&received[before]);
    assert!(header(&request, "Authorization").contains("Credential=AKENV/"), "{request}");
    assert_eq!(header(&request, "x-amz-security-token"), "");
    let nothing = json!({"environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.amazonaws.com"});
    let error = access(external(&server, &nothing, false)).await.unwrap_err();
    assert!(error.contains("AWS_REGION"), "{error}");
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
async fn what_a_program_has_left_is_used_until_it_ends() {
    let server = google();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let print = |end: u64, to: &str| {
        let line = format!(
            r#"echo run >> {}; printf '{{"success":true,"id_token":"%s","expiration_time":{end}}}' "$GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL"{to}"#,
            at("runs")
        );
        std::fs::write(at("print.sh"), line).unwrap();
    };
    let runs = || std::fs::read_to_string(at("runs")).unwrap().lines().count();
    let named =
        json!({"executable": {"command": format!("sh {}", at("print.sh")), "output_file": at("kept")}});
    let ask = || access(external(&server, &named, true).running_programs(true));
    let to_file = r#" > "$GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE""#;

    print(9_999_999_999, to_file);
    assert_eq!(ask().await.unwrap(), "acting");
    assert_eq!(field(&server.received()[0], "subject_token"), "robot");
    assert_eq!(ask().await.unwrap(), "acting");
    assert_eq!(runs(), 1, "the token in the file was still good");

    std::fs::remove_file(at("kept")).unwrap();
    print(1, to_file);
    let error = ask().await.unwrap_err();
    assert!(error.contains("printed a token that has ended"), "{error}");
    print(9_999_999_999, "");
    assert_eq!(ask().await.unwrap(), "acting");
    assert_eq!(runs(), 3, "an old token in the file does not count");
}

#[tokio::test]
async fn a_person_may_act_as_a_service_account() {
    let server = google();
    let person = json!({"type": "authorized_user", "client_id": "id", "client_secret": "s3cret+/",
        "refresh_token": "1//r3fresh", "token_uri": format!("{}/token", server.url()), "quota_project_id": "payer"});
    let file = json!({"type": "impersonated_service_account", "source_credentials": person, "delegates": ["d"],
        "service_account_impersonation_url": format!("{}/v1/robot:generateAccessToken", server.url())});
    let credentials = GoogleCredentials::from_json(&file.to_string()).unwrap();
    assert_eq!(access(credentials.clone()).await.unwrap(), "acting");
    let received = server.received();
    assert_eq!(received[1].header("authorization"), Some("Bearer of-person"));
    assert_eq!(
        received[1].header("x-goog-user-project"),
        Some("payer"),
        "Google wants one where a person asks"
    );
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
