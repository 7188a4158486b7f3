//! A person signs in.

use super::*;
use attache_credentials::SignInMethod;

#[tokio::test]
async fn a_code_is_exchanged_with_its_proof_and_the_token_is_kept() {
    let world = World::new();
    let person = Person::agrees();
    let source = world.source(person.clone());
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    let SignInMethod::Browser { url } = &asked[0].method else { panic!("{asked:?}") };
    assert!(asked[0].instruction().contains(url.as_str()), "{}", asked[0].instruction());
    let url = Url::parse(url).unwrap();
    let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    for (name, expected) in [
        ("tenant", "1"),
        ("response_type", "code"),
        ("client_id", "client"),
        ("code_challenge_method", "S256"),
        ("scope", "ask offline_access"),
        ("prompt", "consent"),
    ] {
        assert_eq!(value(name), expected);
    }
    assert!(
        value("redirect_uri").starts_with("http://localhost:")
            && value("redirect_uri").ends_with("/oauth/callback")
    );
    let received = world.last_request();
    assert_eq!(field(&received, "code"), "c0de");
    assert_eq!(field(&received, "redirect_uri"), value("redirect_uri"));
    assert_eq!(field(&received, "client_id"), "client");
    let verifier = field(&received, "code_verifier");
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, verifier.as_bytes());
    let challenge = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, hash);
    assert_eq!((value("code_challenge"), verifier.len()), (challenge, 86));
    let stored = world.stored();
    assert_eq!((&stored["serverName"], &stored["clientId"]), (&json!("helper"), &json!("client")));
    assert_eq!(stored["token"]["accessToken"], "token-1");
    assert_eq!(stored["token"]["expiresAt"], json!((NOW + 3600) * 1000));
    assert_eq!(stored["tokenUrl"], world.at("/token"));
}

#[tokio::test]
async fn a_stored_token_is_used_by_the_next_process() {
    let world = World::signed_in().await;
    assert_eq!(ask(&world.source(Person::refuses())).await.unwrap(), "token-1");
    let other_client = OAuthSettings { client_id: Some(Arc::new(Secret::new("other"))), ..world.settings() };
    let error = ask(&world.source_with(other_client, Person::refuses())).await.unwrap_err();
    assert_eq!(error, "the sign-in was cancelled");
    let elsewhere = Some(Url::parse("https://evil.example/card").unwrap());
    let other_agent = OAuthSettings { agent_url: elsewhere, ..world.settings() };
    ask(&world.source_with(other_agent, Person::refuses())).await.unwrap_err();
}

#[tokio::test]
async fn what_goes_wrong_at_the_sign_in_is_told() {
    for (person, what) in [
        (Person::refuses(), "the sign-in was cancelled"),
        (Person::is_refused(), "helper: the sign-in was refused: access_denied, not today"),
    ] {
        let world = World::new();
        let error = ask(&world.source(person)).await.unwrap_err();
        assert!(error.starts_with(what), "{error}");
        assert_eq!(world.grants().len(), 0, "no code is exchanged");
        assert_eq!(world.stored(), Value::Null);
    }
    let world = World::new();
    world.plan(refusal("invalid_grant"));
    let error = ask(&world.source(Person::agrees())).await.unwrap_err();
    assert!(error.contains("gives no token: invalid_grant, no (400)"), "{error}");
    let world = World::new();
    let no_client = OAuthSettings { client_id: None, ..world.settings() };
    let error = ask(&world.source_with(no_client, Person::agrees())).await.unwrap_err();
    assert!(error.contains("auth.client_id is missing"), "{error}");
}

#[tokio::test]
async fn an_answer_with_another_state_does_not_count_and_does_not_end_the_sign_in() {
    let world = World::new();
    assert_eq!(ask(&world.source(Person::is_tricked())).await.unwrap(), "token-1");
    assert_eq!(world.grants().len(), 1);
    assert_eq!(field(&world.last_request(), "code"), "c0de");
}

#[tokio::test(start_paused = true)]
async fn a_sign_in_that_is_never_finished_ends_after_five_minutes() {
    let world = World::new();
    let started = tokio::time::Instant::now();
    let error = ask(&world.source(Person::does_nothing())).await.unwrap_err();
    assert!(error.contains("not finished within 5 minutes"), "{error}");
    assert!(started.elapsed() >= Duration::from_secs(300));
}

#[tokio::test]
async fn the_addresses_may_come_from_the_card_and_the_person_is_told_so() {
    let world = World::new();
    let flow = json!({"authorizationUrl": world.at("/auth"), "tokenUrl": world.at("/token"), "scopes": {"read": ""}});
    let card = json!({"securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}}}},
        "securityRequirements": [{"schemes": {"o": {}}}]});
    let security = CardSecurity::of_card(card.as_object().unwrap());
    let settings = OAuthSettings {
        authorization_url: None,
        token_url: None,
        scopes: Vec::new(),
        agent_url: Some(Url::parse(&world.server.url()).unwrap()),
        ..world.settings()
    };
    let person = Person::agrees();
    let source = world.source_with(settings.clone(), person.clone());
    let token = ask_after(&source, None, Some(&security)).await.unwrap();
    assert_eq!(token.as_deref(), Some("token-1"));
    let asked = person.asked.lock().unwrap().clone();
    assert!(asked[0].instruction().contains("which the agent's card names"), "{}", asked[0].instruction());
    // Another process reads the card first, which is shown to known callers only.
    let source = world.source_with(settings, Person::refuses());
    assert_eq!(ask(&source).await.unwrap(), "token-1");
}

#[tokio::test]
async fn a_client_secret_goes_into_the_form_or_into_a_header() {
    let world = World::new();
    world.plan(refusal("invalid_client"));
    let secret: Arc<dyn attache_credentials::oauth::SecretValue> = Arc::new(Secret::new("s3cret value"));
    let settings = OAuthSettings { client_secret: Some(secret), ..world.settings() };
    let source = world.source_with(settings, Person::agrees());
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    let received = world.server.received();
    assert_eq!(field(&received[0], "client_secret"), "s3cret value");
    assert_eq!(field(&received[1], "client_secret"), "");
    let pair = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, "client:s3cret%20value");
    assert_eq!(received[1].header("authorization"), Some(format!("Basic {pair}").as_str()));
}

#[tokio::test]
async fn a_question_elsewhere_does_not_hold_up_the_call() {
    let world = World::new();
    let person = Person::later();
    let source = world.source(person.clone());
    let first = ask_after(&source, None, None).await.unwrap_err();
    let CredentialError::SignInRequired { what, url: Some(url) } = &first else { panic!("{first:?}") };
    assert!(what.contains("helper wants you to sign in at") && url.starts_with(&world.at("/auth")), "{what}");
    let again = ask_after(&source, None, None).await.unwrap_err();
    assert_eq!(first, again, "the same sign-in goes on");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    let signing_in = person.clone();
    tokio::task::spawn_blocking(move || signing_in.sign_in()).await.unwrap();
    // The browser has its page before the token is stored.
    let token = loop {
        match ask_after(&source, None, None).await {
            Ok(token) => break token,
            Err(error) => assert_eq!(error, first),
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(token.as_deref(), Some("token-1"));
}
