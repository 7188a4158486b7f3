//! Security schemes and requirements: wrapped as 1.0 writes them, flat as 0.3 does.

use std::collections::BTreeMap;

use attache_domain::{
    AgentCard, ApiKeyLocation, OAuthFlow, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};
use serde_json::{Map, Value, json};

use super::members::Object;

/// The 1.0 form: one member whose name is the kind.
pub(super) fn wrapped_scheme(scheme: &SecurityScheme) -> Value {
    let mut object = Object::default();
    object.set_some("description", scheme.description.as_deref());
    let name = match &scheme.kind {
        SecuritySchemeKind::ApiKey { location, name } => {
            object.set("location", api_key_location(*location));
            object.set("name", &**name);
            "apiKeySecurityScheme"
        }
        SecuritySchemeKind::Http { scheme, bearer_format } => {
            object.set("scheme", &**scheme);
            object.set_some("bearerFormat", bearer_format.as_deref());
            "httpAuthSecurityScheme"
        }
        SecuritySchemeKind::OAuth2 { flow, metadata_url } => {
            let (name, mut members) = oauth_flow(flow);
            if let OAuthFlow::AuthorizationCode { pkce_required: true, .. } = flow {
                members.set("pkceRequired", true);
            }
            object.set("flows", json!({ name: members.0 }));
            object.set_some("oauth2MetadataUrl", metadata_url.as_deref());
            "oauth2SecurityScheme"
        }
        SecuritySchemeKind::OpenIdConnect { url } => {
            object.set("openIdConnectUrl", &**url);
            "openIdConnectSecurityScheme"
        }
        SecuritySchemeKind::MutualTls => "mtlsSecurityScheme",
    };
    json!({ name: object.0 })
}

/// The 0.3 form: a `type` and its members beside it.
pub(super) fn flat_scheme(scheme: &SecurityScheme) -> Map<String, Value> {
    let mut object = Object::default();
    object.set_some("description", scheme.description.as_deref());
    let kind = match &scheme.kind {
        SecuritySchemeKind::ApiKey { location, name } => {
            object.set("in", api_key_location(*location));
            object.set("name", &**name);
            "apiKey"
        }
        SecuritySchemeKind::Http { scheme, bearer_format } => {
            object.set("scheme", &**scheme);
            object.set_some("bearerFormat", bearer_format.as_deref());
            "http"
        }
        SecuritySchemeKind::OAuth2 { flow, metadata_url } => {
            let (name, members) = oauth_flow(flow);
            // An object without flows is legal; one with an unknown flow may not be.
            let is_known = !matches!(flow, OAuthFlow::DeviceCode { .. });
            object.set("flows", if is_known { json!({ name: members.0 }) } else { json!({}) });
            object.set_some("oauth2MetadataUrl", metadata_url.as_deref());
            "oauth2"
        }
        SecuritySchemeKind::OpenIdConnect { url } => {
            object.set("openIdConnectUrl", &**url);
            "openIdConnect"
        }
        SecuritySchemeKind::MutualTls => "mutualTLS",
    };
    object.set("type", kind);
    object.0
}

pub(super) fn requirement(requirement: &SecurityRequirement) -> Value {
    let mut schemes = Object::default();
    for (name, scopes) in &requirement.schemes {
        schemes.set(name, if scopes.is_empty() { json!({}) } else { json!({ "list": scopes }) });
    }
    json!({ "schemes": schemes.0 })
}

/// The 0.3 form of alternatives. Omits those that need the device flow, which 0.3 does not have, unless that would
/// leave no requirement.
pub(super) fn flat_requirements(card: &AgentCard, requirements: &[SecurityRequirement]) -> Value {
    let usable: Vec<_> = requirements.iter().filter(|requirement| is_usable(card, requirement)).collect();
    let shown = if usable.is_empty() { requirements.iter().collect() } else { usable };
    shown.into_iter().map(|requirement| json!(requirement.schemes)).collect()
}

fn is_usable(card: &AgentCard, requirement: &SecurityRequirement) -> bool {
    !requirement.schemes.keys().filter_map(|name| card.security_schemes.get(name)).any(|scheme| {
        matches!(&scheme.kind, SecuritySchemeKind::OAuth2 { flow: OAuthFlow::DeviceCode { .. }, .. })
    })
}

fn api_key_location(location: ApiKeyLocation) -> &'static str {
    match location {
        ApiKeyLocation::Header => "header",
        ApiKeyLocation::Query => "query",
        ApiKeyLocation::Cookie => "cookie",
    }
}

/// The name of a flow, and its members in both versions.
fn oauth_flow(flow: &OAuthFlow) -> (&'static str, Object) {
    match flow {
        OAuthFlow::AuthorizationCode { authorization_url, token_url, refresh_url, scopes, .. } => {
            let urls = [("authorizationUrl", authorization_url), ("tokenUrl", token_url)];
            ("authorizationCode", flow_members(&urls, refresh_url.as_deref(), scopes))
        }
        OAuthFlow::ClientCredentials { token_url, refresh_url, scopes } => {
            ("clientCredentials", flow_members(&[("tokenUrl", token_url)], refresh_url.as_deref(), scopes))
        }
        OAuthFlow::Implicit { authorization_url, refresh_url, scopes } => {
            let urls = [("authorizationUrl", authorization_url)];
            ("implicit", flow_members(&urls, refresh_url.as_deref(), scopes))
        }
        OAuthFlow::Password { token_url, refresh_url, scopes } => {
            ("password", flow_members(&[("tokenUrl", token_url)], refresh_url.as_deref(), scopes))
        }
        OAuthFlow::DeviceCode { device_authorization_url, token_url, refresh_url, scopes } => {
            let urls = [("deviceAuthorizationUrl", device_authorization_url), ("tokenUrl", token_url)];
            ("deviceCode", flow_members(&urls, refresh_url.as_deref(), scopes))
        }
    }
}

fn flow_members(
    urls: &[(&str, &String)],
    refresh_url: Option<&str>,
    scopes: &BTreeMap<String, String>,
) -> Object {
    let mut object = Object::default();
    for (name, url) in urls {
        object.set(name, url.as_str());
    }
    object.set_some("refreshUrl", refresh_url);
    object.set("scopes", json!(scopes));
    object
}
