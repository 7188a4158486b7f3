//! Tokens for programs, and for people at another device.

use super::*;
use attache_credentials::oauth::{SecretValue, SignInFlow};
use attache_credentials::{NoSignIn, SignInMethod};
use attache_net::{NetworkSettings, ProxySettings};
use attache_testkit::{ForwardProxy, TestAuthority, TlsFront};

fn secret() -> Option<Arc<dyn SecretValue>> {
    Some(Arc::new(Secret::new("s3cret value")))
}

#[tokio::test]
async fn without_a_person_the_command_to_sign_in_is_named() {
    let world = World::new();
    let error = ask_after(&world.source(Arc::new(NoSignIn)), None, None).await.unwrap_err();
    assert_eq!(error.to_string(), "helper needs you to sign in first: run `attache agents auth helper`");
    assert!(matches!(error, CredentialError::SignInRequired { url: None, .. }), "{error:?}");
    assert_eq!(world.server.received().len(), 0);
    let world = World::signed_in().await;
    world.advance(4000);
    assert_eq!(ask(&world.source(Arc::new(NoSignIn))).await.unwrap(), "token-2", "a refresh needs no person");
}

#[tokio::test]
async fn a_program_gets_tokens_for_itself_and_keeps_them_in_memory() {
    let world = World::new();
    let flow = Some(SignInFlow::ClientCredentials);
    let settings =
        OAuthSettings { client_secret: secret(), flow, authorization_url: None, ..world.settings() };
    let source = world.source_with(settings.clone(), Arc::new(NoSignIn));
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    let received = world.last_request();
    assert_eq!(field(&received, "grant_type"), "client_credentials");
    assert_eq!(
        (field(&received, "scope").as_str(), field(&received, "client_secret").as_str()),
        ("ask offline_access", "s3cret value")
    );
    assert_eq!(ask_after(&source, Some("token-1"), None).await.unwrap().as_deref(), Some("token-2"));
    world.advance(3600);
    assert_eq!(ask(&source).await.unwrap(), "token-3");
    assert_eq!(world.stored(), Value::Null);
    world.plan(refusal("invalid_scope"));
    world.advance(3600);
    let error = ask(&source).await.unwrap_err();
    assert!(error.contains("invalid_scope, no (400)") && !error.contains("s3cret"), "{error}");
}

#[tokio::test]
async fn a_code_is_entered_on_another_device() {
    let world = World::new();
    let device_authorization_url = Some(world.at("/device"));
    let settings = OAuthSettings { device_authorization_url, ..world.settings() };
    world.plan(refusal("authorization_pending"));
    let person = Person::with_device();
    let source = world.source_with(settings, person.clone());
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    let asked = person.asked.lock().unwrap().clone();
    let SignInMethod::Device { url, complete_url: None, code } = &asked[0].method else {
        panic!("{asked:?}")
    };
    assert_eq!((url, code.as_str()), (&world.at("/activate"), "ABCD-EFGH"));
    let instruction = asked[0].instruction();
    assert!(
        instruction.contains("enter the code ABCD-EFGH") && !instruction.contains("d3vice-code"),
        "{instruction}"
    );
    let received = world.server.received();
    assert_eq!(field(&received[0], "scope"), "ask offline_access");
    assert_eq!(field(&received[1], "device_code"), "d3vice-code");
    assert_eq!(world.stored()["token"]["accessToken"], "token-1");
}

#[tokio::test]
async fn a_device_that_is_refused_is_told() {
    for (code, what) in [
        ("access_denied", "helper: the sign-in was refused"),
        ("expired_token", "not finished before its code ended"),
        ("invalid_client", "gives no token: invalid_client"),
    ] {
        let world = World::new();
        let settings = OAuthSettings {
            device_authorization_url: Some(world.at("/device")),
            flow: Some(SignInFlow::DeviceCode),
            ..world.settings()
        };
        world.plan(refusal(code));
        let error = ask(&world.source_with(settings, Person::agrees())).await.unwrap_err();
        assert!(error.contains(what), "{error}");
    }
}

#[tokio::test]
async fn a_token_endpoint_is_reached_through_the_proxy() {
    let (world, authority) = (World::new(), TestAuthority::new());
    let backend = world.server.url().strip_prefix("http://").unwrap().parse().unwrap();
    let front = TlsFront::start(backend, &authority.issue("tokens.test"), None);
    let proxy = ForwardProxy::to(front.address());
    let mut network = NetworkSettings {
        proxy: ProxySettings::everything_through(&proxy.url(), "a test").unwrap(),
        ..NetworkSettings::default()
    };
    network.tls.trust(&std::fs::read(authority.certificate()).unwrap(), "a test").unwrap();
    let settings = OAuthSettings {
        client_secret: secret(),
        flow: Some(SignInFlow::ClientCredentials),
        authorization_url: None,
        token_url: Some("https://tokens.test/token".to_owned()),
        ..world.settings()
    };
    let net = network.client_options();
    let source = OAuthSource::new(settings, world.file(), Arc::new(NoSignIn), &net).unwrap();
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    assert_eq!(proxy.lines(), ["CONNECT tokens.test:443"], "and it sees no secret");
}
