//! The agent card.

use std::collections::BTreeMap;

use attache_domain::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeyLocation, Binding,
    Capabilities, OAuthFlow, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};
use attache_wire::card::{CardForm, write};
use serde_json::{Value, json};

use crate::golden;

fn text(text: &str) -> String {
    text.to_owned()
}

fn scheme(name: &str, kind: SecuritySchemeKind) -> (String, SecurityScheme) {
    (text(name), SecurityScheme { description: None, kind })
}

fn oauth(name: &str, flow: OAuthFlow) -> (String, SecurityScheme) {
    scheme(name, SecuritySchemeKind::OAuth2 { flow, metadata_url: None })
}

fn scopes<const N: usize>(scopes: [(&str, &str); N]) -> BTreeMap<String, String> {
    scopes.map(|(name, meaning)| (text(name), text(meaning))).into()
}

fn requirement<const N: usize>(schemes: [(&str, &[&str]); N]) -> SecurityRequirement {
    let schemes =
        schemes.map(|(name, scopes)| (text(name), scopes.iter().map(|scope| text(scope)).collect()));
    SecurityRequirement { schemes: schemes.into() }
}

fn security_schemes() -> BTreeMap<String, SecurityScheme> {
    let token_url = || text("https://auth.example/token");
    let authorization_url = || text("https://auth.example/authorize");
    let mut schemes = BTreeMap::from([
        scheme(
            "bearer",
            SecuritySchemeKind::Http { scheme: text("bearer"), bearer_format: Some(text("JWT")) },
        ),
        scheme(
            "code",
            SecuritySchemeKind::OAuth2 {
                flow: OAuthFlow::AuthorizationCode {
                    authorization_url: authorization_url(),
                    token_url: token_url(),
                    refresh_url: None,
                    scopes: scopes([("read", "Look"), ("write", "Change")]),
                    pkce_required: true,
                },
                metadata_url: Some(text("https://auth.example/.well-known/oauth")),
            },
        ),
        oauth(
            "client",
            OAuthFlow::ClientCredentials {
                token_url: token_url(),
                refresh_url: Some(text("https://auth.example/refresh")),
                scopes: scopes([("read", "Look")]),
            },
        ),
        oauth(
            "device",
            OAuthFlow::DeviceCode {
                device_authorization_url: text("https://auth.example/device"),
                token_url: token_url(),
                refresh_url: None,
                scopes: scopes([]),
            },
        ),
        oauth(
            "implicit",
            OAuthFlow::Implicit {
                authorization_url: authorization_url(),
                refresh_url: None,
                scopes: scopes([]),
            },
        ),
        oauth(
            "password",
            OAuthFlow::Password { token_url: token_url(), refresh_url: None, scopes: scopes([]) },
        ),
        scheme("key", SecuritySchemeKind::ApiKey { location: ApiKeyLocation::Header, name: text("X-Key") }),
        scheme("mtls", SecuritySchemeKind::MutualTls),
        scheme(
            "oidc",
            SecuritySchemeKind::OpenIdConnect {
                url: text("https://auth.example/.well-known/openid-configuration"),
            },
        ),
    ]);
    schemes.get_mut("bearer").unwrap().description = Some(text("A token"));
    schemes
}

fn interface(url: &str, binding: Binding, version: &str) -> AgentInterface {
    AgentInterface { url: text(url), binding, protocol_version: text(version), tenant: None }
}

pub(crate) fn full_card() -> AgentCard {
    let skill = |id: &str, name: &str, description: &str| AgentSkill {
        id: text(id),
        name: text(name),
        description: text(description),
        tags: Vec::new(),
        examples: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        security: Vec::new(),
    };
    AgentCard {
        name: text("Attaché"),
        description: text("Writes code"),
        version: text("0.1.0"),
        interfaces: vec![
            interface("https://a.example/", Binding::JsonRpc, "1.0"),
            AgentInterface {
                tenant: Some(text("acme")),
                ..interface("https://a.example/acme", Binding::HttpJson, "1.0")
            },
            interface("https://a.example/", Binding::JsonRpc, "0.3"),
            interface("https://a.example/", Binding::HttpJson, "0.3"),
        ],
        provider: Some(AgentProvider { organization: text("Example"), url: text("https://example.com") }),
        documentation_url: Some(text("https://a.example/docs")),
        icon_url: Some(text("https://a.example/icon.svg")),
        capabilities: Capabilities {
            streaming: true,
            push_notifications: false,
            extended_agent_card: true,
            extensions: vec![
                AgentExtension {
                    uri: text("https://example.com/ext/v1"),
                    description: Some(text("More")),
                    required: true,
                    params: Some(json!({ "a": [] })),
                },
                AgentExtension {
                    uri: text("https://example.com/ext/v2"),
                    description: None,
                    required: false,
                    params: None,
                },
            ],
        },
        security_schemes: security_schemes(),
        security: vec![
            requirement([("code", &["read", "write"])]),
            requirement([("key", &[]), ("mtls", &[])]),
            requirement([("device", &[])]),
        ],
        default_input_modes: vec![text("text/plain"), text("application/json")],
        default_output_modes: vec![text("text/plain")],
        skills: vec![
            AgentSkill {
                tags: vec![text("code")],
                examples: vec![text("Fix the build")],
                input_modes: vec![text("text/plain")],
                output_modes: vec![text("text/x-diff")],
                security: vec![requirement([("device", &[])])],
                ..skill("code", "Code", "Edits code")
            },
            skill("talk", "Talk", "Answers"),
        ],
    }
}

/// A card with nothing but what a card must have.
fn small_card() -> AgentCard {
    AgentCard {
        interfaces: vec![interface("https://a.example/", Binding::JsonRpc, "1.0")],
        provider: None,
        documentation_url: None,
        icon_url: None,
        capabilities: Capabilities::default(),
        security_schemes: BTreeMap::new(),
        security: Vec::new(),
        default_input_modes: Vec::new(),
        default_output_modes: Vec::new(),
        skills: Vec::new(),
        ..full_card()
    }
}

#[test]
fn the_pure_card_is_the_1_0_document() {
    golden::check(&write(CardForm::V1_0, &full_card()), &golden::value("card/pure.json"));
}

#[test]
fn m7_the_superset_holds_both_documents_side_by_side() {
    golden::check(&write(CardForm::Superset, &full_card()), &golden::value("card/superset.json"));
}

#[test]
fn the_0_3_card_has_no_member_of_1_0() {
    golden::check(&write(CardForm::V0_3, &full_card()), &golden::value("card/v0_3.json"));
}

#[test]
fn d8_required_members_of_a_card_are_there_even_when_empty_and_others_are_not() {
    let expected = json!({
        "name": "Attaché",
        "description": "Writes code",
        "version": "0.1.0",
        "supportedInterfaces": [
            { "url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }
        ],
        "capabilities": { "streaming": false, "pushNotifications": false, "extendedAgentCard": false },
        "defaultInputModes": [],
        "defaultOutputModes": [],
        "skills": [],
    });
    golden::check(&write(CardForm::V1_0, &small_card()), &expected);
    golden::check(&write(CardForm::Superset, &small_card()), &expected);
}

#[test]
fn an_interface_with_a_tenant_is_not_offered_to_0_3() {
    let mut card = small_card();
    card.interfaces = vec![
        AgentInterface { tenant: Some(text("acme")), ..interface("https://t", Binding::HttpJson, "0.3") },
        interface("https://b", Binding::Grpc, "0.3"),
    ];
    let written: Value = serde_json::from_slice(&write(CardForm::Superset, &card)).unwrap();
    assert_eq!(written["url"], "https://b");
    assert_eq!(written["preferredTransport"], "GRPC");
    assert_eq!(written["additionalInterfaces"], json!([{ "url": "https://b", "transport": "GRPC" }]));
    assert_eq!(written.get("supportsAuthenticatedExtendedCard"), None);
}
