//! Who is asking, and how that is proved.

use std::sync::{Arc, Mutex};

use attache_model::LanguageError;
use attache_model_http::gemini::{Backend, GeminiCredential, GeminiOptions, TokenRenewal};
use attache_net::{BaseUrl, Secret};
use attache_testkit::model_server::gemini::{self, chunk};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use futures_util::FutureExt;
use serde_json::json;

use super::world::{KEY, World, hello, options};

fn fine() -> PlannedResponse {
    gemini::answer([chunk().text("Fine.").finish("STOP")])
}

fn expired() -> PlannedResponse {
    gemini::error(401, "UNAUTHENTICATED", "expired", json!([]))
}

/// A world on Vertex, whose tokens are `token-1`, `token-2` and so on, and what each was asked for with.
fn vertex(answers: Vec<PlannedResponse>) -> (World, Arc<Mutex<Vec<TokenRenewal>>>) {
    let server = ModelServer::with_responses(answers);
    let asked: Arc<Mutex<Vec<TokenRenewal>>> = Arc::default();
    let asking = Arc::clone(&asked);
    let source = move |renew| {
        let mut asked = asking.lock().expect("nobody panicked");
        asked.push(renew);
        let token = Secret::new(format!("token-{}", asked.len()));
        async move { Ok(token) }.boxed()
    };
    let base_url = Some(BaseUrl::parse(&server.url()).expect("an address"));
    let backend = Backend::Vertex { base_url, project: "p".into(), location: "us-east1".into() };
    let options = GeminiOptions {
        backend,
        credential: GeminiCredential::Bearer(Arc::new(source)),
        ..options(&server, "house-model")
    };
    (World::with(server, options), asked)
}

#[tokio::test(start_paused = true)]
async fn a_key_goes_in_its_header_and_nowhere_else() {
    let server = ModelServer::with_responses([fine()]);
    let options = GeminiOptions {
        headers: vec![("x-gateway".into(), Secret::new("gate"))],
        ..options(&server, "house-model")
    };
    let world = World::with(server, options);
    world.ask(hello()).await;
    let received = &world.server.received()[0];
    assert_eq!(received.target, "/v1beta/models/house-model:streamGenerateContent?alt=sse");
    assert_eq!((received.header("x-goog-api-key"), received.header("x-gateway")), (Some(KEY), Some("gate")));
    assert_eq!(received.header("authorization"), None);
    assert!(!String::from_utf8_lossy(&received.body).contains(KEY));
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_renewed_once() {
    let (world, asked) = vertex(vec![expired(), fine()]);
    assert_eq!(world.ask(hello()).await.text(), "Fine.");
    assert_eq!(*asked.lock().unwrap(), [TokenRenewal::IfNeeded, TokenRenewal::Now]);
    let received = world.server.received();
    assert_eq!(received[1].header("authorization"), Some("Bearer token-2"));
    let path = "/v1beta1/projects/p/locations/us-east1/publishers/google/models/house-model";
    assert_eq!(received[1].target, format!("{path}:streamGenerateContent?alt=sse"));
    let (world, _) = vertex(vec![expired(), expired(), fine()]);
    let told = world.ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Credential { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_final() {
    let world = World::new([expired(), fine()]);
    let told = world.ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::Credential { .. }), "{told:?}");
    assert_eq!(world.server.unused_responses(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_token_is_no_request() {
    let server = ModelServer::with_responses([fine()]);
    let source = |_| async { Err("sign in first".to_owned()) }.boxed();
    let options = GeminiOptions {
        credential: GeminiCredential::Bearer(Arc::new(source)),
        ..options(&server, "house-model")
    };
    let world = World::with(server, options);
    let told = world.ask(hello()).await;
    assert!(
        matches!(told.error(), LanguageError::NoCredential { what } if what == "sign in first"),
        "{told:?}"
    );
    assert!(world.server.received().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_key_that_fits_no_header_is_told_without_being_shown() {
    let server = ModelServer::with_responses([fine()]);
    let options = GeminiOptions {
        credential: GeminiCredential::ApiKey(Secret::new("s3cret\n")),
        ..options(&server, "house-model")
    };
    let told = World::with(server, options).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::NoCredential { .. }), "{told:?}");
    assert!(!format!("{told:?}").contains("s3cret"), "{told:?}");
}
