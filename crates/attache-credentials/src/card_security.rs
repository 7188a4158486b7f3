//! The authentication schemes of a card.

use serde_json::{Map, Value};

/// The members `securitySchemes` and `securityRequirements` of a card of 1.0. Texts are the agent's, and bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardSecurity {
    pub schemes: Vec<(String, SecurityScheme)>,
    /// One of these has to be met. None: everything may be asked without authentication.
    pub requirements: Vec<Vec<RequiredScheme>>,
}

/// One of the schemes that have to be used together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredScheme {
    pub name: String,
    pub scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecurityScheme {
    ApiKey {
        location: KeyLocation,
        name: String,
    },
    Http {
        scheme: String,
    },
    OAuth2(Box<OAuthFlows>),
    OpenIdConnect {
        url: String,
    },
    MutualTls,
    /// None that is known here.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyLocation {
    Header,
    Query,
    Cookie,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthFlows {
    pub authorization_code: Option<OAuthFlow>,
    pub device_code: Option<OAuthFlow>,
    pub client_credentials: Option<OAuthFlow>,
    /// The address of the server's metadata (RFC 8414).
    pub metadata_url: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthFlow {
    /// Where a person signs in, or a device is authorised. Empty for client credentials.
    pub authorization_url: String,
    pub token_url: String,
    pub scopes: Vec<String>,
}

/// More schemes than a card has.
const MAX_ITEMS: usize = 64;
const MAX_TEXT: usize = 2048;

impl CardSecurity {
    /// Reads a card of 1.0. What has another shape is passed over.
    pub fn of_card(card: &Map<String, Value>) -> Self {
        let schemes = card.get("securitySchemes").and_then(Value::as_object);
        let schemes = schemes.into_iter().flatten().take(MAX_ITEMS);
        let requirements = card.get("securityRequirements").and_then(Value::as_array);
        let requirements = requirements.into_iter().flatten().take(MAX_ITEMS);
        Self {
            schemes: schemes.map(|(name, value)| (bounded(name), scheme(value))).collect(),
            requirements: requirements.map(requirement).collect(),
        }
    }

    pub fn scheme(&self, name: &str) -> Option<&SecurityScheme> {
        self.schemes.iter().find(|(known, _)| known == name).map(|(_, scheme)| scheme)
    }

    /// The schemes, those of the requirements first.
    pub fn by_preference(&self) -> impl Iterator<Item = &SecurityScheme> {
        let required = self.requirements.iter().flatten().filter_map(|required| self.scheme(&required.name));
        required.chain(self.schemes.iter().map(|(_, scheme)| scheme))
    }

    /// What would have to be configured, in one sentence, if `offers` meets no requirement.
    pub fn missing(&self, offers: impl Fn(&SecurityScheme) -> bool) -> Option<String> {
        let meets = |required: &RequiredScheme| self.scheme(&required.name).is_some_and(&offers);
        if self.requirements.is_empty() || self.requirements.iter().any(|all| all.iter().all(meets)) {
            return None;
        }
        let mut ways: Vec<String> = Vec::new();
        for all in &self.requirements {
            let names: Vec<String> = all.iter().map(|required| self.describe(&required.name)).collect();
            let way = names.join(" together with ");
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        Some(format!("the agent requires authentication: {}", ways.join(", or ")))
    }

    /// Whether every way needs more than one credential. A client certificate is none of a request.
    pub fn needs_several_credentials(&self) -> bool {
        let is_credential =
            |required: &&RequiredScheme| self.scheme(&required.name) != Some(&SecurityScheme::MutualTls);
        let several = |all: &Vec<RequiredScheme>| all.iter().filter(is_credential).count() > 1;
        !self.requirements.is_empty() && self.requirements.iter().all(several)
    }

    fn describe(&self, name: &str) -> String {
        match self.scheme(name) {
            Some(SecurityScheme::ApiKey { location, name }) => {
                let place = match location {
                    KeyLocation::Header => "header",
                    KeyLocation::Query => "query parameter",
                    KeyLocation::Cookie => "cookie",
                };
                format!("apiKey with `key`, sent in the {place} {name}")
            }
            Some(SecurityScheme::Http { scheme }) => match scheme.to_ascii_lowercase().as_str() {
                "bearer" => "http with the scheme Bearer and a `token`".to_owned(),
                "basic" => "http with the scheme Basic, a `username` and a `password`".to_owned(),
                _ => format!("http with the scheme {scheme} and a `value`"),
            },
            Some(SecurityScheme::OAuth2(_)) => "oauth2 with a `client_id`".to_owned(),
            Some(SecurityScheme::OpenIdConnect { .. }) => {
                "oauth2 with a `client_id` (OpenID Connect)".to_owned()
            }
            Some(SecurityScheme::MutualTls) => {
                "a client certificate (--client-cert, or `tls` of the agent in your settings)".to_owned()
            }
            Some(SecurityScheme::Other) => format!("the scheme {name:?}, which is not known here"),
            None => format!("the scheme {name:?}, which the card does not describe"),
        }
    }
}

fn scheme(value: &Value) -> SecurityScheme {
    let Some((kind, value)) = value.as_object().and_then(|members| members.iter().next()) else {
        return SecurityScheme::Other;
    };
    match kind.as_str() {
        "apiKeySecurityScheme" => match text(value, "location").as_str() {
            "header" => SecurityScheme::ApiKey { location: KeyLocation::Header, name: text(value, "name") },
            "query" => SecurityScheme::ApiKey { location: KeyLocation::Query, name: text(value, "name") },
            "cookie" => SecurityScheme::ApiKey { location: KeyLocation::Cookie, name: text(value, "name") },
            _ => SecurityScheme::Other,
        },
        "httpAuthSecurityScheme" => SecurityScheme::Http { scheme: text(value, "scheme") },
        "oauth2SecurityScheme" => SecurityScheme::OAuth2(Box::new(flows(value))),
        "openIdConnectSecurityScheme" => {
            SecurityScheme::OpenIdConnect { url: text(value, "openIdConnectUrl") }
        }
        "mtlsSecurityScheme" => SecurityScheme::MutualTls,
        _ => SecurityScheme::Other,
    }
}

fn flows(value: &Value) -> OAuthFlows {
    let flow = |name: &str, authorization: &str| {
        let flow = value.get("flows")?.get(name).filter(|flow| flow.is_object())?;
        let scopes = flow.get("scopes").and_then(Value::as_object);
        let scopes = scopes.into_iter().flatten().take(MAX_ITEMS).map(|(scope, _)| bounded(scope)).collect();
        Some(OAuthFlow {
            authorization_url: text(flow, authorization),
            token_url: text(flow, "tokenUrl"),
            scopes,
        })
    };
    OAuthFlows {
        authorization_code: flow("authorizationCode", "authorizationUrl"),
        device_code: flow("deviceCode", "deviceAuthorizationUrl"),
        client_credentials: flow("clientCredentials", "authorizationUrl"),
        metadata_url: Some(text(value, "oauth2MetadataUrl")).filter(|url| !url.is_empty()),
    }
}

fn requirement(value: &Value) -> Vec<RequiredScheme> {
    let schemes = value.get("schemes").and_then(Value::as_object);
    let schemes = schemes.into_iter().flatten().take(MAX_ITEMS);
    let scopes = |value: &Value| {
        let list = value.get("list").and_then(Value::as_array);
        list.into_iter().flatten().take(MAX_ITEMS).filter_map(Value::as_str).map(bounded).collect()
    };
    schemes.map(|(name, value)| RequiredScheme { name: bounded(name), scopes: scopes(value) }).collect()
}

fn text(value: &Value, name: &str) -> String {
    bounded(value.get(name).and_then(Value::as_str).unwrap_or_default())
}

fn bounded(text: &str) -> String {
    text.trim().chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn card(requirements: Value) -> CardSecurity {
        let card = json!({
            "securitySchemes": {
                "key": {"apiKeySecurityScheme": {"location": "query", "name": "k"}},
                "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
                "oauth": {"oauth2SecurityScheme": {"flows": {"authorizationCode": {
                    "authorizationUrl": "https://a.example/auth", "tokenUrl": "https://a.example/token",
                    "scopes": {"read": "", "write": ""},
                }}, "oauth2MetadataUrl": "https://a.example/meta"}},
                "mtls": {"mtlsSecurityScheme": {}},
                "odd": 7,
            },
            "securityRequirements": requirements,
        });
        CardSecurity::of_card(card.as_object().unwrap())
    }

    #[test]
    fn schemes_are_read() {
        let card = card(json!([{"schemes": {"oauth": {"list": ["read"]}}}]));
        assert_eq!(card.scheme("odd"), Some(&SecurityScheme::Other));
        assert_eq!(
            card.scheme("key"),
            Some(&SecurityScheme::ApiKey { location: KeyLocation::Query, name: "k".into() })
        );
        let Some(SecurityScheme::OAuth2(flows)) = card.by_preference().next() else { panic!("{card:?}") };
        let flow = flows.authorization_code.as_ref().unwrap();
        assert_eq!((flow.token_url.as_str(), flow.scopes.len()), ("https://a.example/token", 2));
        assert_eq!(flows.metadata_url.as_deref(), Some("https://a.example/meta"));
        assert_eq!(flows.device_code, None);
        assert_eq!(CardSecurity::of_card(&Map::new()), CardSecurity::default());
    }

    #[test]
    fn one_requirement_has_to_be_met_with_all_its_schemes() {
        let bearer = |scheme: &SecurityScheme| matches!(scheme, SecurityScheme::Http { .. });
        let none = |_: &SecurityScheme| false;
        assert_eq!(card(json!([])).missing(none), None, "schemes without requirements are optional");
        assert_eq!(card(json!([{"schemes": {"key": {}}}, {}])).missing(none), None, "one asks for nothing");
        let either = card(json!([{"schemes": {"key": {}}}, {"schemes": {"bearer": {}}}]));
        assert_eq!(either.missing(bearer), None);
        assert_eq!(
            either.missing(none).unwrap(),
            "the agent requires authentication: apiKey with `key`, sent in the query parameter k, or http with the \
             scheme Bearer and a `token`"
        );
        let both = card(json!([{"schemes": {"bearer": {}, "mtls": {}}}]));
        assert!(
            both.missing(bearer)
                .unwrap()
                .contains("`token` together with a client certificate (--client-cert")
        );
        for (name, part) in [("gone", "which the card does not describe"), ("odd", "which is not known here")]
        {
            let missing = card(json!([{"schemes": {name: {}}}])).missing(bearer).unwrap();
            assert!(missing.contains(part), "{missing}");
        }
    }
}
