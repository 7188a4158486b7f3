use std::sync::Arc;

use attache_net::{HttpClientOptions, Secret};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use super::*;

fn settings() -> OAuthSettings {
    OAuthSettings {
        agent: "helper".into(),
        agent_url: Some(Url::parse("https://agent.example/card").unwrap()),
        ..OAuthSettings::default()
    }
}

fn own(settings: OAuthSettings) -> OAuthSettings {
    OAuthSettings {
        authorization_url: Some("https://own.example/auth".into()),
        token_url: Some("https://own.example/token".into()),
        ..settings
    }
}

fn secret() -> Option<Arc<dyn crate::oauth::SecretValue>> {
    Some(Arc::new(Secret::new("s3cret")))
}

fn card(flows: Value, more: Value) -> CardSecurity {
    let mut scheme = json!({"flows": flows});
    scheme.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let card = json!({"securitySchemes": {"o": {"oauth2SecurityScheme": scheme}},
        "securityRequirements": [{"schemes": {"o": {}}}]});
    CardSecurity::of_card(card.as_object().unwrap())
}

fn code() -> Value {
    json!({"authorizationUrl": "https://card.example/auth", "tokenUrl": "https://card.example/token", "scopes": {"a": "", "b": ""}})
}

fn device() -> Value {
    json!({"deviceAuthorizationUrl": "https://card.example/device", "tokenUrl": "https://card.example/token"})
}

async fn ask(
    settings: &OAuthSettings,
    security: Option<&CardSecurity>,
    device: bool,
) -> Result<FlowPlan, String> {
    let net = HttpClient::new(&HttpClientOptions::default()).unwrap();
    plan(settings, security, device, &net).await.map_err(|error| error.to_string())
}

fn shown(plan: &FlowPlan) -> String {
    let place = plan.authorization.as_ref().map_or("-", |url| url.as_str());
    format!("{:?} {place} {} {}", plan.flow, plan.token, plan.scopes.join(" "))
}

#[tokio::test]
async fn the_file_counts_first_and_the_card_fills_in() {
    let of_card = card(json!({"authorizationCode": code(), "deviceCode": device()}), json!({}));
    let plan = ask(&settings(), Some(&of_card), false).await.unwrap();
    assert_eq!(shown(&plan), "AuthorizationCode https://card.example/auth https://card.example/token a b");
    assert!(plan.is_named_by_card);
    let plan = ask(&own(settings()), Some(&of_card), false).await.unwrap();
    assert_eq!(shown(&plan), "AuthorizationCode https://own.example/auth https://own.example/token a b");
    assert!(!plan.is_named_by_card);
    let plan = ask(&own(settings()), None, false).await.unwrap();
    assert_eq!(shown(&plan), "AuthorizationCode https://own.example/auth https://own.example/token ");
    let plan = ask(&settings(), Some(&of_card), true).await.unwrap();
    assert_eq!(shown(&plan), "DeviceCode https://card.example/device https://card.example/token a b");
    let chosen = OAuthSettings { flow: Some(SignInFlow::DeviceCode), scopes: vec!["c".into()], ..settings() };
    let plan = ask(&chosen, Some(&of_card), false).await.unwrap();
    assert_eq!(shown(&plan), "DeviceCode https://card.example/device https://card.example/token c");
}

#[tokio::test]
async fn a_programs_secret_goes_where_the_file_says_or_to_the_agent_itself() {
    let at = |url: &str| card(json!({"clientCredentials": {"tokenUrl": url, "scopes": {}}}), json!({}));
    let with_secret = OAuthSettings { client_secret: secret(), ..settings() };
    let plan = ask(&with_secret, Some(&at("https://agent.example/token")), false).await.unwrap();
    assert_eq!(shown(&plan), "ClientCredentials - https://agent.example/token ");
    let error = ask(&with_secret, Some(&at("https://evil.example/token")), false).await.unwrap_err();
    assert!(
        error.contains("names https://evil.example for tokens") && error.contains("add token_url"),
        "{error}"
    );
    let named = OAuthSettings { token_url: Some("https://own.example/token".into()), ..with_secret.clone() };
    let plan = ask(&named, Some(&at("https://evil.example/token")), false).await.unwrap();
    assert_eq!(plan.token.as_str(), "https://own.example/token");
    let at_provider = json!({"authorizationCode": {"authorizationUrl": "https://login.example/auth", "tokenUrl": "https://login.example/token"}});
    let of_card = card(at_provider, json!({}));
    let error = ask(&with_secret, Some(&of_card), false).await.unwrap_err();
    assert!(
        error.ends_with(
            "which is not where the agent is; add token_url to its auth if the client secret may go there"
        ),
        "{error}"
    );
    let named =
        OAuthSettings { token_url: Some("https://login.example/token".into()), ..with_secret.clone() };
    let plan = ask(&named, Some(&of_card), false).await.unwrap();
    assert_eq!(shown(&plan), "AuthorizationCode https://login.example/auth https://login.example/token ");
    let error = ask(&settings(), Some(&at("https://agent.example/token")), false).await.unwrap_err();
    assert!(error.contains("add authorization_url and token_url"), "{error}");
}

#[tokio::test]
async fn what_is_missing_is_told_in_one_sentence() {
    let nothing = card(json!({}), json!({}));
    let other = CardSecurity::default();
    for (security, what) in [
        (None, "its card is shown to known callers only"),
        (Some(&other), "its card has no oauth2 scheme"),
        (Some(&nothing), "the oauth2 scheme of its card does not name them"),
    ] {
        let error = ask(&settings(), security, false).await.unwrap_err();
        assert_eq!(error, format!("helper: add authorization_url and token_url to its auth: {what}"));
    }
}

#[tokio::test]
async fn without_device_codes_a_device_is_not_sent_to_a_browser() {
    let of_card = card(json!({"authorizationCode": code()}), json!({}));
    let error = ask(&settings(), Some(&of_card), true).await.unwrap_err();
    assert!(error.starts_with("helper: add device_authorization_url and token_url to its auth"), "{error}");
}

#[tokio::test]
async fn addresses_are_https_and_a_card_does_not_lead_to_this_machine() {
    for (url, what) in [
        ("http://card.example/auth", "does not begin with https"),
        ("http://127.0.0.1:9/auth", "does not begin with https"),
        ("https://a:b@card.example/", "password"),
        ("javascript:alert(1)", "does not begin with https"),
        ("/auth", "not a URL"),
    ] {
        let flow = json!({"authorizationUrl": url, "tokenUrl": "https://card.example/token"});
        let error = ask(&settings(), Some(&card(json!({"authorizationCode": flow}), json!({}))), false)
            .await
            .unwrap_err();
        assert!(error.contains(what), "{url}: {error}");
    }
    let local =
        OAuthSettings { authorization_url: Some("http://localhost:9/auth".into()), ..own(settings()) };
    ask(&local, None, false).await.unwrap();
}

/// A server that describes itself.
fn described(path: &'static str, issuer: Option<&'static str>) -> ModelServer {
    ModelServer::with_handler(move |received| {
        let base = format!("http://{}", received.header("host").unwrap());
        if received.target != path {
            return PlannedResponse::text(404, "text/plain", "");
        }
        let document = json!({"issuer": issuer.unwrap_or(&base), "token_endpoint": format!("{base}/token"),
            "authorization_endpoint": format!("{base}/auth"), "device_authorization_endpoint": format!("{base}/device")});
        PlannedResponse::text(200, "application/json", &document.to_string())
    })
}

#[tokio::test]
async fn a_server_may_describe_itself() {
    let server = described("/meta", None);
    let at = |path: &str| format!("{}{path}", server.url());
    let local = OAuthSettings { agent_url: Some(Url::parse(&at("/card")).unwrap()), ..settings() };
    let named = card(json!({}), json!({"oauth2MetadataUrl": at("/meta")}));
    let open_id =
        json!({"securitySchemes": {"o": {"openIdConnectSecurityScheme": {"openIdConnectUrl": at("/meta")}}}});
    let open_id = CardSecurity::of_card(open_id.as_object().unwrap());
    for security in [&named, &open_id] {
        let plan = ask(&local, Some(security), false).await.unwrap();
        assert_eq!((plan.token.as_str(), plan.is_named_by_card), (at("/token").as_str(), true));
        assert_eq!(plan.authorization.unwrap().as_str(), at("/auth"));
    }
    let error = ask(&settings(), Some(&named), false).await.unwrap_err();
    assert!(error.contains("does not begin with https"), "{error}");

    for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"] {
        let server = described(path, None);
        let issuer = OAuthSettings { issuer: Some(server.url()), ..settings() };
        let plan = ask(&issuer, None, true).await.unwrap();
        assert_eq!((plan.flow, plan.is_named_by_card), (SignInFlow::DeviceCode, false));
    }
    let server = described("/.well-known/openid-configuration", Some("https://evil.example"));
    let issuer = OAuthSettings { issuer: Some(server.url()), ..settings() };
    let error = ask(&issuer, None, false).await.unwrap_err();
    assert!(error.contains("names another issuer"), "{error}");
}

#[tokio::test]
async fn addresses_of_a_card_are_at_one_server() {
    let at = |authorization: &str, token: &str| {
        let flow = json!({"authorizationUrl": authorization, "tokenUrl": token});
        card(json!({"authorizationCode": flow}), json!({}))
    };
    let mixed = at("https://idp.example/auth", "https://agent.example/token");
    let error = ask(&settings(), Some(&mixed), false).await.unwrap_err();
    assert!(
        error
            .contains("names https://agent.example for tokens, and another server to sign in; add authorization_url and token_url"),
        "{error}"
    );
    let plan =
        ask(&settings(), Some(&at("https://idp.example/auth", "https://idp.example/token")), false).await;
    assert!(plan.unwrap().is_elsewhere);
    let own = at("https://agent.example/auth", "https://agent.example/token");
    let plan =
        ask(&OAuthSettings { client_secret: secret(), ..settings() }, Some(&own), false).await.unwrap();
    assert!(plan.is_named_by_card && !plan.is_elsewhere);
}

#[tokio::test]
async fn the_issuer_of_the_file_counts_before_the_card() {
    let server = described("/.well-known/openid-configuration", None);
    let issuer = OAuthSettings { issuer: Some(server.url()), client_secret: secret(), ..settings() };
    let of_card = card(json!({"authorizationCode": code(), "deviceCode": device()}), json!({}));
    let plan = ask(&issuer, Some(&of_card), false).await.unwrap();
    let at = |path: &str| format!("{}{path}", server.url());
    assert_eq!(shown(&plan), format!("AuthorizationCode {} {} a b", at("/auth"), at("/token")));
    assert!(!plan.is_named_by_card);
    assert_eq!(plan.issuer.unwrap().text, server.url());
}
