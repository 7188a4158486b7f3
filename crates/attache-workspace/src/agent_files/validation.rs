//! Whether what a file says about authentication fits what the card asks for.

use attache_credentials::{CardSecurity, SecurityScheme};

use super::auth::AgentAuth;
use super::definition::{AgentDefinition, AgentKind};

/// What is missing, in one sentence; None if a requirement of the card is met, or there is none. `has_certificate`: the
/// agent gets a client certificate.
pub fn missing_authentication(
    auth: Option<&AgentAuth>,
    has_certificate: bool,
    security: &CardSecurity,
) -> Option<String> {
    let missing = security.missing(|scheme| match scheme {
        SecurityScheme::MutualTls => has_certificate,
        scheme => auth.is_some_and(|auth| fits(auth, scheme)),
    })?;
    let configured = match auth {
        None => "its file has no `auth`".to_owned(),
        Some(AgentAuth::Http { scheme, .. }) => format!("its file has http with the scheme {scheme}"),
        Some(AgentAuth::ApiKey { name: Some(name), .. }) => {
            format!("its file has apiKey with the name {name}")
        }
        Some(auth) => format!("its file has {}", auth.name()),
    };
    let only_one =
        if security.needs_several_credentials() { ", and a file has one credential only" } else { "" };
    Some(format!("{missing}; {configured}{only_one}"))
}

impl AgentDefinition {
    /// What its file and the settings lack of what its card asks for, in one sentence.
    pub fn missing_authentication(&self, security: &CardSecurity) -> Option<String> {
        let AgentKind::Remote(remote) = &self.kind else { return None };
        let has_certificate = self.tls.as_ref().is_some_and(|tls| tls.client_certificate.is_some());
        missing_authentication(remote.auth.as_ref(), has_certificate, security)
    }
}

fn fits(auth: &AgentAuth, scheme: &SecurityScheme) -> bool {
    match (auth, scheme) {
        (AgentAuth::ApiKey { name: None, .. }, SecurityScheme::ApiKey { .. })
        | (AgentAuth::OAuth2 { .. }, SecurityScheme::OAuth2(_) | SecurityScheme::OpenIdConnect { .. }) => {
            true
        }
        (AgentAuth::ApiKey { name: Some(named), .. }, SecurityScheme::ApiKey { name, .. }) => {
            named.eq_ignore_ascii_case(name)
        }
        (AgentAuth::Http { scheme, .. }, SecurityScheme::Http { scheme: asked }) => {
            scheme.eq_ignore_ascii_case(asked)
        }
        (AgentAuth::GoogleCredentials { .. }, SecurityScheme::Http { scheme }) => {
            scheme.eq_ignore_ascii_case("bearer")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent_files::{DynamicValue, HttpCredential};

    fn value() -> DynamicValue {
        DynamicValue::Variable("X".into())
    }

    #[track_caller]
    fn check(required: &str, auth: Option<&AgentAuth>, expected: Option<&str>) {
        let card = json!({
            "securitySchemes": {
                "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
                "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
                "oauth": {"oauth2SecurityScheme": {"flows": {}}},
                "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://a.example"}},
                "mtls": {"mtlsSecurityScheme": {}},
            },
            "securityRequirements": [{"schemes": {required: {}}}],
        });
        let security = CardSecurity::of_card(card.as_object().unwrap());
        let found = missing_authentication(auth, false, &security);
        let with_certificate = missing_authentication(auth, true, &security);
        let is_certificate_enough = required == "mtls" || expected.is_none();
        assert_eq!(with_certificate.is_none(), is_certificate_enough, "{with_certificate:?}");
        match (found, expected) {
            (Some(found), Some(part)) => assert!(found.contains(part), "{found}"),
            (found, expected) => assert_eq!(found.as_deref(), expected, "{required}"),
        }
    }

    #[test]
    fn a_file_cannot_have_two_credentials_and_is_told_so() {
        let card = |requirements: serde_json::Value| {
            let card = json!({
                "securitySchemes": {
                    "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
                    "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
                    "mtls": {"mtlsSecurityScheme": {}},
                },
                "securityRequirements": requirements,
            });
            CardSecurity::of_card(card.as_object().unwrap())
        };
        let key = AgentAuth::ApiKey { key: value(), name: None };
        let missing = |requirements, has_certificate| {
            missing_authentication(Some(&key), has_certificate, &card(requirements))
        };
        let two = || json!({"schemes": {"key": {}, "bearer": {}}});
        let told = missing(json!([two()]), true).unwrap();
        assert!(told.ends_with("; its file has apiKey, and a file has one credential only"), "{told}");
        let told = missing(json!([two(), {"schemes": {"bearer": {}}}]), true).unwrap();
        assert!(told.ends_with("; its file has apiKey"), "{told}");
        let with_certificate = json!([{"schemes": {"key": {}, "mtls": {}}}]);
        assert_eq!(missing(with_certificate.clone(), true), None);
        assert!(missing(with_certificate, false).unwrap().ends_with("; its file has apiKey"));
    }

    #[test]
    fn a_file_fits_the_card_or_what_is_missing_is_told() {
        let google = AgentAuth::GoogleCredentials { scopes: Vec::new() };
        let bearer = AgentAuth::Http {
            scheme: "Bearer".into(),
            credential: HttpCredential::Bearer { token: value() },
        };
        let key = AgentAuth::ApiKey { key: value(), name: None };
        check("bearer", Some(&bearer), None);
        check("bearer", Some(&google), None);
        check("key", Some(&key), None);
        let named = |name: &str| AgentAuth::ApiKey { key: value(), name: Some(name.into()) };
        check("key", Some(&named("x-key")), None);
        check(
            "key",
            Some(&named("X-Other")),
            Some("sent in the header X-Key; its file has apiKey with the name X-Other"),
        );
        check(
            "key",
            Some(&google),
            Some("apiKey with `key`, sent in the header X-Key; its file has google-credentials"),
        );
        check("bearer", Some(&key), Some("http with the scheme Bearer and a `token`; its file has apiKey"));
        check("bearer", None, Some("its file has no `auth`"));
        check("mtls", Some(&bearer), Some("a client certificate"));
        check(
            "oauth",
            Some(&bearer),
            Some("oauth2 with a `client_id`; its file has http with the scheme Bearer"),
        );
        check("oidc", Some(&key), Some("OpenID Connect"));
    }
}
