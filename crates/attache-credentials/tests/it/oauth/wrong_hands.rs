//! Cards and files that lead secrets, codes and tokens to a server that the user did not choose.

use super::*;
use attache_credentials::oauth::{SecretValue, SignInFlow};
use attache_credentials::{NoSignIn, SignInLater, SignInMethod};

fn secret() -> Option<Arc<dyn SecretValue>> {
    Some(Arc::new(Secret::new("s3cret")))
}

/// A card that offers one flow.
fn card(name: &str, flow: &Value) -> CardSecurity {
    let card = json!({"securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {name: flow}}}},
        "securityRequirements": [{"schemes": {"o": {}}}]});
    CardSecurity::of_card(card.as_object().unwrap())
}

impl World {
    /// An agent of this machine at another port, whose file names no address.
    fn unnamed(&self) -> OAuthSettings {
        OAuthSettings {
            authorization_url: None,
            token_url: None,
            agent_url: Some(Url::parse("http://127.0.0.1:9/card").unwrap()),
            ..self.settings()
        }
    }

    fn device_card(&self) -> CardSecurity {
        card(
            "deviceCode",
            &json!({"deviceAuthorizationUrl": self.at("/device"), "tokenUrl": self.at("/token")}),
        )
    }
}

#[tokio::test]
async fn a_client_secret_goes_to_no_server_that_only_the_card_names() {
    let world = World::new();
    let settings = OAuthSettings { client_secret: secret(), ..world.unnamed() };
    let code = json!({"authorizationUrl": world.at("/auth"), "tokenUrl": world.at("/token")});
    for security in [world.device_card(), card("authorizationCode", &code), card("clientCredentials", &code)]
    {
        let (willing, unwilling) = (Person::agrees(), Person::refuses());
        let people: [Arc<dyn SignIn>; 4] =
            [willing.clone(), unwilling.clone(), Arc::new(SignInLater), Arc::new(NoSignIn)];
        for sign_in in people {
            let source = world.source_with(settings.clone(), sign_in);
            let error = ask_after(&source, None, Some(&security)).await.unwrap_err().to_string();
            assert!(error.contains("; add token_url to its auth"), "{error}");
            assert!(source.sign_in(Some(&security)).await.is_err());
        }
        for person in [willing, unwilling] {
            assert!(person.asked.lock().unwrap().is_empty());
        }
    }
    assert_eq!(world.server.received().len(), 0);
}

#[tokio::test]
async fn a_person_agrees_before_a_server_is_asked_for_a_device_code() {
    let world = World::new();
    let security = world.device_card();
    let person = Person::refuses();
    let source = world.source_with(world.unnamed(), person.clone());
    let error = ask_after(&source, None, Some(&security)).await.unwrap_err();
    assert_eq!(error, CredentialError::Cancelled);
    assert_eq!(world.server.received().len(), 0, "nothing was sent before the answer, and nothing after it");
    let offer = person.offered.lock().unwrap().pop().unwrap();
    assert!(offer.is_elsewhere && offer.is_named_by_card, "{offer:?}");
    let question = offer.question();
    assert!(
        question.contains(&world.server.url())
            && question.contains("which the agent's card names and its file does not"),
        "{question}"
    );

    let person = Person::agrees();
    let source = world.source_with(world.unnamed(), person.clone());
    assert_eq!(ask_after(&source, None, Some(&security)).await.unwrap().as_deref(), Some("token-1"));
    assert!(matches!(person.asked.lock().unwrap()[0].method, SignInMethod::Device { .. }));

    let later = world.source_with(world.unnamed(), Arc::new(SignInLater));
    std::fs::remove_file(world.file().path()).unwrap();
    let received = world.server.received().len();
    let error = ask_after(&later, None, Some(&security)).await.unwrap_err();
    assert!(error.to_string().contains("run `attache agents auth helper`"), "{error}");
    assert_eq!(world.server.received().len(), received, "no person can agree there");
}

#[tokio::test]
async fn a_code_that_a_card_brings_is_entered_at_the_server_that_gave_it() {
    let server = ModelServer::with_handler(|_| {
        json_answer(
            200,
            &json!({"device_code": "d", "user_code": "STRANGERS-CODE", "expires_in": 600,
                "verification_uri": "https://known.example/device"}),
        )
    });
    let world = World::new();
    let at = |path: &str| format!("{}{path}", server.url());
    let flow = json!({"deviceAuthorizationUrl": at("/device"), "tokenUrl": at("/token")});
    let person = Person::agrees();
    let source = world.source_with(world.unnamed(), person.clone());
    let error = ask_after(&source, None, Some(&card("deviceCode", &flow))).await.unwrap_err().to_string();
    assert!(error.contains("leads to another server to enter the code"), "{error}");
    assert!(person.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_code_of_the_servers_of_the_file_goes_to_no_server_of_the_card() {
    let (world, evil) = (World::new(), World::new());
    let code = json!({"authorizationUrl": evil.at("/auth"), "tokenUrl": evil.at("/token")});
    for client_secret in [None, secret()] {
        let settings = OAuthSettings {
            authorization_url: Some(world.at("/auth")),
            client_secret,
            // Its own origin makes no difference: the code is another server's.
            agent_url: Some(Url::parse(&evil.at("/card")).unwrap()),
            ..world.unnamed()
        };
        let person = Person::agrees();
        let source = world.source_with(settings, person.clone());
        let error = ask_after(&source, None, Some(&card("authorizationCode", &code))).await.unwrap_err();
        let error = error.to_string();
        assert!(error.contains("which is not the server that its auth names; add token_url"), "{error}");
        assert!(person.asked.lock().unwrap().is_empty());
    }
    let at_home = json!({"authorizationUrl": evil.at("/auth"), "tokenUrl": world.at("/token")});
    let settings = OAuthSettings { authorization_url: Some(world.at("/auth")), ..world.unnamed() };
    let source = world.source_with(settings, Person::agrees());
    let token = ask_after(&source, None, Some(&card("authorizationCode", &at_home))).await.unwrap();
    assert_eq!((token.as_deref(), evil.server.received().len()), (Some("token-1"), 0));
}

#[tokio::test]
async fn a_stored_refresh_token_takes_no_client_secret_to_a_server_of_the_card() {
    let world = World::new();
    let security = world.device_card();
    let source = world.source_with(world.unnamed(), Person::agrees());
    ask_after(&source, None, Some(&security)).await.unwrap();
    world.advance(4_000);
    let received = world.server.received().len();
    let with_secret = OAuthSettings {
        client_secret: secret(),
        flow: Some(SignInFlow::AuthorizationCode),
        ..world.unnamed()
    };
    let source = world.source_with(with_secret, Person::agrees());
    // The card is shown to known callers only.
    ask(&source).await.unwrap_err();
    ask_after(&source, None, Some(&security)).await.unwrap_err();
    assert_eq!(world.server.received().len(), received);
}

/// As Gemini CLI writes it.
fn theirs(world: &World, token_url: &str) {
    let entry = json!([{"serverName": "helper", "clientId": "client", "tokenUrl": token_url, "updatedAt": 1,
        "token": {"accessToken": "theirs", "tokenType": "Bearer", "expiresAt": (NOW + 3_600) * 1_000}}]);
    std::fs::write(world.file().path(), entry.to_string()).unwrap();
}

#[tokio::test]
async fn a_token_of_gemini_cli_counts_for_the_users_agent_with_the_same_token_url() {
    let world = World::new();
    let token_url = world.at("/token");
    let users = OAuthSettings { is_users_own: true, ..world.settings() };
    theirs(&world, &token_url);
    assert_eq!(ask(&world.source_with(users.clone(), Person::refuses())).await.unwrap(), "theirs");
    assert_eq!(world.stored()["agentOrigin"], "https://agent.example", "it is for this agent from now on");
    let elsewhere = Some(Url::parse("https://evil.example/card").unwrap());
    let other = OAuthSettings { agent_url: elsewhere.clone(), ..users.clone() };
    ask(&world.source_with(other, Person::refuses())).await.unwrap_err();

    let of_card =
        card("authorizationCode", &json!({"authorizationUrl": world.at("/auth"), "tokenUrl": token_url}));
    let unnamed = OAuthSettings { is_users_own: true, ..world.unnamed() };
    for (settings, security, why) in [
        (world.settings(), None, "an agent of a project"),
        (
            OAuthSettings { client_id: Some(Arc::new(Secret::new("x"))), ..users.clone() },
            None,
            "another client",
        ),
        (OAuthSettings { token_url: Some(world.at("/other")), ..users.clone() }, None, "another server"),
        (unnamed.clone(), Some(&of_card), "only the card says where tokens come from"),
        (unnamed, None, "it is not known where tokens come from"),
    ] {
        theirs(&world, &token_url);
        let source = world.source_with(settings, Person::refuses());
        let found = ask_after(&source, None, security).await;
        assert!(!matches!(&found, Ok(Some(token)) if token == "theirs"), "{why}: {found:?}");
    }
}

#[tokio::test]
async fn agents_of_one_name_at_two_places_keep_their_tokens() {
    let world = World::signed_in().await;
    let elsewhere = Some(Url::parse("https://other.example/card").unwrap());
    let other = OAuthSettings { agent_url: elsewhere, ..world.settings() };
    assert_eq!(ask(&world.source_with(other.clone(), Person::agrees())).await.unwrap(), "token-2");
    assert_eq!(ask(&world.source(Person::refuses())).await.unwrap(), "token-1");
    world.advance(4_000);
    world.plan(refusal("invalid_grant"));
    ask(&world.source_with(other, Person::refuses())).await.unwrap_err();
    assert_eq!(
        ask(&world.source(Person::refuses())).await.unwrap(),
        "token-3",
        "the other's refusal is not ours"
    );
}
