//! API keys and HTTP authentication, from the values in an agent file.

use async_trait::async_trait;
use attache_config::SecretText;
use attache_credentials::{
    CardSecurity, Credential, CredentialError, CredentialRequest, CredentialSource, KeyLocation,
    SecurityScheme,
};
use attache_net::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::Mutex;

use super::auth::HttpCredential;
use super::dynamic_value::{DynamicValue, PreparedValue};
use super::variables::Variables;

/// The header of an API key, unless the file or the card names another.
const DEFAULT_KEY_HEADER: &str = "X-API-Key";
/// Resolves its values once, and again when the server refuses the credential.
#[derive(Debug)]
pub(super) struct StaticCredential {
    /// For errors.
    agent: String,
    kind: Kind,
    /// Held while the values are resolved, so that a command runs once for many calls.
    resolved: Mutex<Option<Secret>>,
}

#[derive(Debug)]
enum Kind {
    ApiKey { key: PreparedValue, name: Option<String> },
    Bearer { scheme: String, token: PreparedValue },
    Basic { scheme: String, username: PreparedValue, password: PreparedValue },
    Raw { scheme: String, value: PreparedValue },
}

impl StaticCredential {
    pub(super) fn api_key(
        agent: &str,
        key: &DynamicValue,
        name: Option<String>,
        variables: Variables<'_>,
    ) -> Self {
        Self::new(agent, Kind::ApiKey { key: key.prepare(variables), name })
    }

    pub(super) fn http(
        agent: &str,
        scheme: &str,
        credential: &HttpCredential,
        variables: Variables<'_>,
    ) -> Self {
        let scheme = scheme.to_owned();
        let kind = match credential {
            HttpCredential::Bearer { token } => Kind::Bearer { scheme, token: token.prepare(variables) },
            HttpCredential::Basic { username, password } => Kind::Basic {
                scheme,
                username: username.prepare(variables),
                password: password.prepare(variables),
            },
            HttpCredential::Raw { value } => Kind::Raw { scheme, value: value.prepare(variables) },
        };
        Self::new(agent, kind)
    }

    fn new(agent: &str, kind: Kind) -> Self {
        Self { agent: agent.to_owned(), kind, resolved: Mutex::default() }
    }

    /// What is sent, without its place in a request.
    async fn resolve(&self) -> Result<Secret, CredentialError> {
        let value = async |field: &str, value: &PreparedValue| {
            let value = value.value().await;
            value
                .map_err(|what| CredentialError::unavailable(format!("{}: auth.{field}: {what}", self.agent)))
        };
        let after = |scheme: &str, value: &SecretText| Secret::new(format!("{scheme} {}", value.expose()));
        Ok(match &self.kind {
            Kind::ApiKey { key, .. } => Secret::new(value("key", key).await?.expose()),
            Kind::Bearer { scheme, token } => after(scheme, &value("token", token).await?),
            Kind::Basic { scheme, username, password } => {
                let (username, password) =
                    (value("username", username).await?, value("password", password).await?);
                let pair = STANDARD.encode(format!("{}:{}", username.expose(), password.expose()));
                after(scheme, &SecretText::new(pair))
            }
            Kind::Raw { scheme, value: raw } => after(scheme, &value("value", raw).await?),
        })
    }

    fn placed(&self, value: &Secret, security: Option<&CardSecurity>) -> Credential {
        let value = value.clone();
        let Kind::ApiKey { name, .. } = &self.kind else {
            return Credential::Header { name: "authorization".to_owned(), value };
        };
        let (location, name) = key_place(name.as_deref(), security);
        match location {
            KeyLocation::Header => Credential::Header { name, value },
            KeyLocation::Query => Credential::Query { name, value },
            KeyLocation::Cookie => Credential::Cookie { name, value },
        }
    }
}

/// Where an API key goes: as the card says. The file may name the key; then the scheme of that name counts, and without
/// one it is a header.
fn key_place(named: Option<&str>, security: Option<&CardSecurity>) -> (KeyLocation, String) {
    let schemes = security.into_iter().flat_map(CardSecurity::by_preference);
    let mut places = schemes.filter_map(|scheme| match scheme {
        SecurityScheme::ApiKey { location, name } if is_usable(*location, name) => Some((*location, name)),
        _ => None,
    });
    let place = match named {
        Some(named) => places.find(|(_, name)| name.eq_ignore_ascii_case(named)),
        None => places.next(),
    };
    match place {
        Some((location, name)) => (location, name.clone()),
        None => (KeyLocation::Header, named.unwrap_or(DEFAULT_KEY_HEADER).to_owned()),
    }
}

fn is_usable(location: KeyLocation, name: &str) -> bool {
    match location {
        KeyLocation::Query => !name.is_empty(),
        KeyLocation::Header | KeyLocation::Cookie => {
            super::auth::is_token(name) && !super::auth::is_reserved(name)
        }
    }
}

#[async_trait]
impl CredentialSource for StaticCredential {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Credential>, CredentialError> {
        let mut resolved = self.resolved.lock().await;
        if let Some(known) = &*resolved {
            let credential = self.placed(known, request.security);
            if request.refused != Some(&credential) {
                return Ok(Some(credential));
            }
        }
        let value = self.resolve().await?;
        let credential = self.placed(&value, request.security);
        *resolved = Some(value);
        Ok(Some(credential).filter(|credential| request.refused != Some(credential)))
    }
}

#[cfg(test)]
mod tests {
    use attache_net::Url;
    use serde_json::{Value, json};

    use super::*;

    fn security(schemes: &Value, required: &str) -> CardSecurity {
        let card = json!({"securitySchemes": schemes, "securityRequirements": [{"schemes": {required: {}}}]});
        CardSecurity::of_card(card.as_object().unwrap())
    }

    fn key(text: &str, name: Option<&str>) -> StaticCredential {
        let value = DynamicValue::parse(text).unwrap();
        StaticCredential::api_key("helper", &value, name.map(str::to_owned), Variables::users(&|_| None))
    }

    async fn ask(
        source: &StaticCredential,
        refused: Option<&Credential>,
        security: Option<&CardSecurity>,
    ) -> Result<Option<Credential>, CredentialError> {
        let target = Url::parse("https://a.example/").unwrap();
        source.credential(CredentialRequest { target: &target, refused, security }).await
    }

    #[tokio::test]
    async fn a_key_goes_where_the_card_says() {
        let scheme = |location: &str, name: &str| json!({"apiKeySecurityScheme": {"location": location, "name": name}});
        let schemes = json!({
            "q": scheme("query", "k"), "c": scheme("cookie", "session"), "h": scheme("header", "X-Mine"),
            "bad": scheme("header", "Host"), "other": scheme("smoke", "k"),
        });
        let value = || Secret::new("v");
        let header = |name: &str| Credential::Header { name: name.into(), value: value() };
        for (named, required, expected) in [
            (None, "q", Credential::Query { name: "k".into(), value: value() }),
            (None, "c", Credential::Cookie { name: "session".into(), value: value() }),
            (None, "h", header("X-Mine")),
            (Some("K"), "h", Credential::Query { name: "k".into(), value: value() }),
            (Some("X-Other"), "q", header("X-Other")),
        ] {
            let security = security(&schemes, required);
            assert_eq!(ask(&key("v", named), None, Some(&security)).await, Ok(Some(expected)), "{required}");
        }
        assert_eq!(ask(&key("v", None), None, None).await, Ok(Some(header("X-API-Key"))));
        let reserved = security(&json!({"bad": scheme("header", "Host")}), "bad");
        assert_eq!(ask(&key("v", None), None, Some(&reserved)).await, Ok(Some(header("X-API-Key"))));
    }

    #[tokio::test]
    async fn an_unchanged_value_is_not_given_again_and_a_command_runs_again() {
        let source = key("v", None);
        let first = ask(&source, None, None).await.unwrap().unwrap();
        assert_eq!(ask(&source, Some(&first), None).await, Ok(None));
        assert_eq!(ask(&source, None, None).await, Ok(Some(first)), "other requests may still use it");

        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let line = format!("!echo x >> '{0}'; wc -l < '{0}'", count.display());
        let source = key(&line, None);
        let first = ask(&source, None, None).await.unwrap().unwrap();
        assert_eq!(ask(&source, None, None).await.unwrap().as_ref(), Some(&first), "it ran once");
        let second = ask(&source, Some(&first), None).await.unwrap().unwrap();
        assert_ne!(first, second);
        assert_eq!(
            ask(&source, Some(&first), None).await.unwrap().as_ref(),
            Some(&second),
            "renewed already"
        );
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 2);
    }

    #[tokio::test]
    async fn an_error_names_the_agent_and_the_field() {
        let error = ask(&key("$NOT_SET", None), None, None).await.unwrap_err();
        assert_eq!(error.to_string(), "helper: auth.key: the variable NOT_SET is not set");
    }
}
