//! Settings with a value for every field, and the two forms of the card they make, written by hand.

use serde_json::{Value, json};

pub(super) const EVERYTHING: &str = r#"
public_url = "https://agent.example/base/"

[card]
name = "Prüf-Agent"
description = "Has a value for every field"
version = "7.8.9"
documentation_url = "https://agent.example/docs"
icon_url = "https://agent.example/icon.png"
max_age_seconds = 120
default_input_modes = ["text/plain", "image/*"]
default_output_modes = ["text/plain"]
tenants = ["acme"]
security = [{ code = ["read", "write"] }, { key = [], mtls = [] }, { device = ["read"] }]

[card.provider]
organization = "Example"
url = "https://example.com"

[[card.skills]]
id = "code"
name = "Code"
description = "Edits code"
tags = ["code", "rust"]
examples = ["Fix the bug"]
input_modes = ["text/plain"]
output_modes = ["text/markdown"]
security = [{ oidc = ["openid"] }]

[[card.skills]]
id = "plain"
name = "Plain"
description = "Has nothing but what is required"

[[card.extensions]]
uri = "https://example.com/ext/one"
description = "The first"
params = { level = 3, deep = { on = true } }

[[card.extensions]]
uri = "https://example.com/ext/two"

[card.security_schemes.key]
type = "api-key"
description = "A key"
location = "header"
name = "X-Key"

[card.security_schemes.basic]
type = "http"
scheme = "basic"

[card.security_schemes.bearer]
type = "http"
scheme = "bearer"
bearer_format = "JWT"

[card.security_schemes.code]
type = "oauth2"
metadata_url = "https://id.example/meta"
[card.security_schemes.code.flow.authorization_code]
authorization_url = "https://id.example/auth"
token_url = "https://id.example/token"
refresh_url = "https://id.example/refresh"
scopes = { read = "Read", write = "Write" }
pkce_required = true

[card.security_schemes.machine]
type = "oauth2"
[card.security_schemes.machine.flow.client_credentials]
token_url = "https://id.example/token"

[card.security_schemes.old]
type = "oauth2"
[card.security_schemes.old.flow.implicit]
authorization_url = "https://id.example/auth"
scopes = { read = "Read" }

[card.security_schemes.older]
type = "oauth2"
[card.security_schemes.older.flow.password]
token_url = "https://id.example/token"

[card.security_schemes.device]
type = "oauth2"
[card.security_schemes.device.flow.device_code]
device_authorization_url = "https://id.example/device"
token_url = "https://id.example/token"
scopes = { read = "Read" }

[card.security_schemes.oidc]
type = "open-id-connect"
url = "https://id.example/.well-known/openid-configuration"

[card.security_schemes.mtls]
type = "mutual-tls"
description = "A client certificate"
"#;

/// The 1.0 form of the settings above, written by hand.
pub(super) fn pure() -> Value {
    let interface = |url: &str, binding: &str, version: &str, tenant: Option<&str>| {
        let mut interface = json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
        if let Some(tenant) = tenant {
            interface["tenant"] = tenant.into();
        }
        interface
    };
    let (rpc, rest) = ("https://agent.example/base/", "https://agent.example/base");
    json!({
        "name": "Prüf-Agent",
        "description": "Has a value for every field",
        "version": "7.8.9",
        "documentationUrl": "https://agent.example/docs",
        "iconUrl": "https://agent.example/icon.png",
        "provider": {"organization": "Example", "url": "https://example.com"},
        "supportedInterfaces": [
            interface(rpc, "JSONRPC", "1.0", None),
            interface(rest, "HTTP+JSON", "1.0", None),
            interface(rpc, "JSONRPC", "1.0", Some("acme")),
            interface(rest, "HTTP+JSON", "1.0", Some("acme")),
            interface(rpc, "JSONRPC", "0.3", None),
            interface("https://agent.example/base/rest", "HTTP+JSON", "0.3", None),
        ],
        "capabilities": {
            "streaming": true,
            "pushNotifications": true,
            "extendedAgentCard": false,
            "extensions": [
                {
                    "uri": "https://example.com/ext/one",
                    "description": "The first",
                    "params": {"level": 3, "deep": {"on": true}},
                },
                {"uri": "https://example.com/ext/two"},
                // Every attache has these, listed or not.
                {
                    "uri": "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md",
                    "description": "Thoughts, tool calls, approvals and commands of a coding agent.",
                },
                {
                    "uri": "urn:attache:extension:replay:v1",
                    "description": "Cursors on everything a stream shows, for coming back on any binding without a loss.",
                },
                {
                    "uri": "urn:attache:extension:idempotent-send:v1",
                    "description": "A message's id alone tells whether it came before.",
                },
            ],
        },
        "defaultInputModes": ["text/plain", "image/*"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {
                "id": "code",
                "name": "Code",
                "description": "Edits code",
                "tags": ["code", "rust"],
                "examples": ["Fix the bug"],
                "inputModes": ["text/plain"],
                "outputModes": ["text/markdown"],
                "securityRequirements": [{"schemes": {"oidc": {"list": ["openid"]}}}],
            },
            {
                "id": "plain",
                "name": "Plain",
                "description": "Has nothing but what is required",
                "tags": [],
                // The agent's.
                "inputModes": ["text/plain", "image/*"],
                "outputModes": ["text/plain"],
            },
        ],
        "securitySchemes": wrapped_schemes(),
        "securityRequirements": [
            {"schemes": {"code": {"list": ["read", "write"]}}},
            {"schemes": {"key": {}, "mtls": {}}},
            {"schemes": {"device": {"list": ["read"]}}},
        ],
    })
}

fn wrapped_schemes() -> Value {
    json!({
        "key": {"apiKeySecurityScheme": {"description": "A key", "location": "header", "name": "X-Key"}},
        "basic": {"httpAuthSecurityScheme": {"scheme": "basic"}},
        "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}},
        "code": {"oauth2SecurityScheme": {
            "oauth2MetadataUrl": "https://id.example/meta",
            "flows": {"authorizationCode": {
                "authorizationUrl": "https://id.example/auth",
                "tokenUrl": "https://id.example/token",
                "refreshUrl": "https://id.example/refresh",
                "scopes": {"read": "Read", "write": "Write"},
                "pkceRequired": true,
            }},
        }},
        "machine": {"oauth2SecurityScheme": {
            "flows": {"clientCredentials": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        }},
        "old": {"oauth2SecurityScheme": {
            "flows": {"implicit": {"authorizationUrl": "https://id.example/auth", "scopes": {"read": "Read"}}},
        }},
        "older": {"oauth2SecurityScheme": {
            "flows": {"password": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        }},
        "device": {"oauth2SecurityScheme": {
            "flows": {"deviceCode": {
                "deviceAuthorizationUrl": "https://id.example/device",
                "tokenUrl": "https://id.example/token",
                "scopes": {"read": "Read"},
            }},
        }},
        "oidc": {"openIdConnectSecurityScheme": {
            "openIdConnectUrl": "https://id.example/.well-known/openid-configuration",
        }},
        "mtls": {"mtlsSecurityScheme": {"description": "A client certificate"}},
    })
}

/// What stands beside each wrapper for readers of 0.3.
fn flat_schemes() -> Value {
    json!({
        "key": {"type": "apiKey", "description": "A key", "in": "header", "name": "X-Key"},
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        "code": {
            "type": "oauth2",
            "oauth2MetadataUrl": "https://id.example/meta",
            "flows": {"authorizationCode": {
                "authorizationUrl": "https://id.example/auth",
                "tokenUrl": "https://id.example/token",
                "refreshUrl": "https://id.example/refresh",
                "scopes": {"read": "Read", "write": "Write"},
            }},
        },
        "machine": {
            "type": "oauth2",
            "flows": {"clientCredentials": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        },
        "old": {
            "type": "oauth2",
            "flows": {"implicit": {"authorizationUrl": "https://id.example/auth", "scopes": {"read": "Read"}}},
        },
        "older": {
            "type": "oauth2",
            "flows": {"password": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        },
        // 0.3 has no device flow to show.
        "device": {"type": "oauth2", "flows": {}},
        "oidc": {
            "type": "openIdConnect",
            "openIdConnectUrl": "https://id.example/.well-known/openid-configuration",
        },
        "mtls": {"type": "mutualTLS", "description": "A client certificate"},
    })
}

/// The form that readers of both versions understand.
pub(super) fn superset() -> Value {
    let mut card = pure();
    card["protocolVersion"] = "0.3.0".into();
    card["url"] = "https://agent.example/base/".into();
    card["preferredTransport"] = "JSONRPC".into();
    card["additionalInterfaces"] = json!([
        {"url": "https://agent.example/base/", "transport": "JSONRPC"},
        {"url": "https://agent.example/base/rest", "transport": "HTTP+JSON"},
    ]);
    // The alternative by the device flow is of no use to 0.3.
    card["security"] = json!([{"code": ["read", "write"]}, {"key": [], "mtls": []}]);
    card["skills"][0]["security"] = json!([{"oidc": ["openid"]}]);
    card["capabilities"]["stateTransitionHistory"] = true.into();
    for (name, flat) in flat_schemes().as_object().expect("an object") {
        let scheme = card["securitySchemes"][name].as_object_mut().expect("a scheme");
        scheme.extend(flat.as_object().expect("an object").clone());
    }
    card
}
