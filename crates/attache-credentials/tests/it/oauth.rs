//! OAuth 2.0 against a scripted authorization server.

mod person;
mod refreshing;
mod signing_in;
mod without_person;
mod wrong_hands;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use attache_credentials::oauth::{OAuthSettings, OAuthSource, TokenFile};
use attache_credentials::{
    CardSecurity, Credential, CredentialError, CredentialRequest, CredentialSource, SignIn,
};
use attache_net::{Secret, Url};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{field, json_answer, net};
use person::Person;

/// An authorization server that numbers its tokens, a folder for the token file, and a clock.
struct World {
    server: ModelServer,
    /// What the next requests to the token endpoint are answered; then tokens.
    answers: Arc<Mutex<Vec<PlannedResponse>>>,
    folder: TempDir,
    clock: Arc<AtomicU64>,
}

const NOW: u64 = 1_800_000_000;

impl World {
    fn new() -> Self {
        let answers: Arc<Mutex<Vec<PlannedResponse>>> = Arc::default();
        let (planned, count) = (Arc::clone(&answers), AtomicU64::new(1));
        let server = ModelServer::with_handler(move |received| {
            let base = format!("http://{}", received.header("host").unwrap());
            match received.target.as_str() {
                "/token" => {
                    let mut planned = planned.lock().unwrap();
                    if !planned.is_empty() {
                        return planned.remove(0);
                    }
                    let number = count.fetch_add(1, Ordering::SeqCst);
                    json_answer(200, &tokens(number))
                }
                "/device" => json_answer(
                    200,
                    &json!({"device_code": "d3vice-code", "user_code": "ABCD-EFGH", "expires_in": 600, "interval": 1,
                        "verification_uri": format!("{base}/activate")}),
                ),
                _ => PlannedResponse::text(404, "text/plain", ""),
            }
        });
        let folder = tempfile::tempdir().unwrap();
        Self { server, answers, folder, clock: Arc::new(AtomicU64::new(NOW)) }
    }

    fn plan(&self, answer: PlannedResponse) {
        self.answers.lock().unwrap().push(answer);
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    fn file(&self) -> TokenFile {
        TokenFile::new(self.folder.path().join("tokens.json"))
    }

    fn settings(&self) -> OAuthSettings {
        OAuthSettings {
            agent: "helper".into(),
            client_id: Some(Arc::new(Secret::new("client"))),
            authorization_url: Some(self.at("/auth?tenant=1")),
            token_url: Some(self.at("/token")),
            scopes: vec!["ask".into(), "offline_access".into()],
            agent_url: Some(Url::parse("https://agent.example/card").unwrap()),
            ..OAuthSettings::default()
        }
    }

    fn source(&self, sign_in: Arc<dyn SignIn>) -> OAuthSource {
        self.source_with(self.settings(), sign_in)
    }

    fn source_with(&self, settings: OAuthSettings, sign_in: Arc<dyn SignIn>) -> OAuthSource {
        let clock = Arc::clone(&self.clock);
        let clock = Arc::new(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::SeqCst)));
        OAuthSource::with_clock(settings, self.file(), sign_in, &net(), clock).unwrap()
    }

    fn advance(&self, seconds: u64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Signs in with `token-1`.
    async fn signed_in() -> Self {
        let world = Self::new();
        assert_eq!(ask(&world.source(Person::agrees())).await.unwrap(), "token-1");
        world
    }

    /// The grants that were asked for.
    fn grants(&self) -> Vec<String> {
        let received = self.server.received();
        received.iter().filter(|it| it.target == "/token").map(|it| field(it, "grant_type")).collect()
    }

    fn last_request(&self) -> ReceivedRequest {
        self.server.received().pop().unwrap()
    }

    fn stored(&self) -> Value {
        let text = std::fs::read_to_string(self.file().path()).unwrap_or_else(|_| "[]".into());
        serde_json::from_str::<Vec<Value>>(&text).unwrap().pop().unwrap_or_default()
    }
}

fn tokens(number: u64) -> Value {
    json!({"access_token": format!("token-{number}"), "refresh_token": format!("refresh-{number}"),
        "token_type": "Bearer", "expires_in": 3600})
}

fn refusal(code: &str) -> PlannedResponse {
    json_answer(400, &json!({"error": code, "error_description": "no"}))
}

async fn ask(source: &OAuthSource) -> Result<String, String> {
    ask_after(source, None, None).await.map(Option::unwrap_or_default).map_err(|error| error.to_string())
}

async fn ask_after(
    source: &OAuthSource,
    refused: Option<&str>,
    security: Option<&CardSecurity>,
) -> Result<Option<String>, CredentialError> {
    let target = Url::parse("https://agent.example/rpc").unwrap();
    let refused = refused.map(|token| Credential::authorization("Bearer", token));
    let request = CredentialRequest { target: &target, refused: refused.as_ref(), security };
    let found = source.credential(request).await?;
    Ok(found.map(|credential| match credential {
        Credential::Header { value, .. } => value.expose().trim_start_matches("Bearer ").to_owned(),
        other => panic!("{other:?}"),
    }))
}
