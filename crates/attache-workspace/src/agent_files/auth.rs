//! The `auth` block of a remote agent.

use attache_credentials::oauth::{RedirectUri, SignInFlow};

use super::dynamic_value::DynamicValue;
use super::fields::Fields;
use super::web_address;

/// How calls to the agent are authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentAuth {
    ApiKey {
        key: DynamicValue,
        /// None: as the card says, else `X-API-Key`.
        name: Option<String>,
    },
    Http {
        scheme: String,
        credential: HttpCredential,
    },
    GoogleCredentials {
        scopes: Vec<String>,
    },
    /// What is missing is taken from the card.
    OAuth2 {
        client_id: Option<DynamicValue>,
        client_secret: Option<DynamicValue>,
        scopes: Vec<String>,
        authorization_url: Option<String>,
        device_authorization_url: Option<String>,
        token_url: Option<String>,
        issuer: Option<String>,
        flow: Option<SignInFlow>,
        /// As the file has it. One that is not on this machine cannot be used.
        redirect_uri: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpCredential {
    Bearer {
        token: DynamicValue,
    },
    Basic {
        username: DynamicValue,
        password: DynamicValue,
    },
    /// Sent after the scheme.
    Raw {
        value: DynamicValue,
    },
}

const TYPES: &str = "must be apiKey, http, google-credentials or oauth2";

/// None if something is wrong; the problems say what.
pub(super) fn parse(mut fields: Fields<'_>) -> Option<AgentAuth> {
    let (name, line) = fields.required_text("type")?;
    let auth = match name {
        "apiKey" => api_key(&mut fields),
        "http" => http(&mut fields),
        "google-credentials" => {
            let scopes = fields.texts("scopes").map(|(scopes, _)| scopes).unwrap_or_default();
            Some(AgentAuth::GoogleCredentials { scopes })
        }
        "oauth2" | "oauth" => oauth(&mut fields),
        "openIdConnect" => {
            fields.refuse(line, "type", "openIdConnect is not supported; use oauth2 with its two addresses");
            return None;
        }
        _ => {
            fields.refuse(line, "type", TYPES);
            return None;
        }
    };
    fields.finish();
    auth
}

fn api_key(fields: &mut Fields<'_>) -> Option<AgentAuth> {
    let name = fields.text("name");
    if let Some((name, line)) = name {
        if !is_token(name) {
            fields.refuse(line, "name", "must be the name of a header");
        } else if is_reserved(name) {
            fields.refuse(line, "name", "must not be a header that says how a request is read");
        }
    }
    let key = required(fields, "key")?;
    Some(AgentAuth::ApiKey { key, name: name.map(|(name, _)| name.to_owned()) })
}

fn http(fields: &mut Fields<'_>) -> Option<AgentAuth> {
    let (scheme, line) = fields.required_text("scheme")?;
    if !is_token(scheme) {
        fields.refuse(line, "scheme", "must be the name of an authentication scheme, for example Bearer");
        return None;
    }
    let credential = if fields.has("value") {
        // It counts before the others.
        for name in ["token", "username", "password"] {
            fields.text(name);
        }
        HttpCredential::Raw { value: required(fields, "value")? }
    } else if scheme.eq_ignore_ascii_case("bearer") {
        HttpCredential::Bearer { token: required(fields, "token")? }
    } else if scheme.eq_ignore_ascii_case("basic") {
        let (username, password) = (required(fields, "username"), required(fields, "password"));
        HttpCredential::Basic { username: username?, password: password? }
    } else {
        fields.require("value", &format!("is required with the scheme {scheme}"));
        return None;
    };
    Some(AgentAuth::Http { scheme: scheme.to_owned(), credential })
}

fn oauth(fields: &mut Fields<'_>) -> Option<AgentAuth> {
    let client_id = optional(fields, "client_id");
    let client_secret = optional(fields, "client_secret");
    let scopes = fields.texts("scopes").map(|(scopes, _)| scopes).unwrap_or_default();
    let names = ["authorization_url", "device_authorization_url", "token_url", "issuer"];
    let [authorization_url, device_authorization_url, token_url, issuer] = names.map(|name| {
        let (url, line) = fields.text(name)?;
        if let Err(what) = web_address::parse(url) {
            fields.refuse(line, name, what);
        }
        Some(url.to_owned())
    });
    let flow = flow(fields);
    let redirect_uri = fields.owned_text("redirect_uri");
    // Gemini CLI reads these too, and uses none of them.
    fields.texts("audiences");
    fields.text("token_param_name");
    fields.text("registration_url");
    Some(AgentAuth::OAuth2 {
        client_id,
        client_secret,
        scopes,
        authorization_url,
        device_authorization_url,
        token_url,
        issuer,
        flow,
        redirect_uri,
    })
}

/// The words are those of cards.
fn flow(fields: &mut Fields<'_>) -> Option<SignInFlow> {
    let (name, line) = fields.text("flow")?;
    match name {
        "authorizationCode" => Some(SignInFlow::AuthorizationCode),
        "deviceCode" => Some(SignInFlow::DeviceCode),
        "clientCredentials" => Some(SignInFlow::ClientCredentials),
        _ => {
            fields.refuse(line, "flow", "must be authorizationCode, deviceCode or clientCredentials");
            None
        }
    }
}

fn required(fields: &mut Fields<'_>, name: &'static str) -> Option<DynamicValue> {
    let (text, line) = fields.required_text(name)?;
    dynamic(fields, name, text, line)
}

fn optional(fields: &mut Fields<'_>, name: &'static str) -> Option<DynamicValue> {
    let (text, line) = fields.text(name)?;
    dynamic(fields, name, text, line)
}

fn dynamic(fields: &mut Fields<'_>, name: &str, text: &str, line: u32) -> Option<DynamicValue> {
    match DynamicValue::parse(text) {
        Ok(value) => Some(value),
        Err(what) => {
            fields.refuse(line, name, what);
            None
        }
    }
}

/// Headers that say how a request is to be read. No key takes their place.
const RESERVED_HEADERS: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(super) fn is_reserved(header: &str) -> bool {
    RESERVED_HEADERS.contains(&header.to_ascii_lowercase().as_str())
}

/// Whether HTTP takes it for a name.
pub(super) fn is_token(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

impl AgentAuth {
    pub fn name(&self) -> &'static str {
        match self {
            Self::ApiKey { .. } => "apiKey",
            Self::Http { .. } => "http",
            Self::GoogleCredentials { .. } => "google-credentials",
            Self::OAuth2 { .. } => "oauth2",
        }
    }

    /// What the file says and has no effect, in a sentence.
    pub(super) fn unused(&self) -> Option<&'static str> {
        match self {
            Self::OAuth2 { redirect_uri: Some(uri), .. } if RedirectUri::parse(uri).is_none() => Some(
                "auth.redirect_uri is not used: a sign-in comes back to this machine, as in http://localhost:8912/oauth/callback",
            ),
            _ => None,
        }
    }

    /// Its values, with the names of their fields.
    pub(super) fn values(&self) -> Vec<(&'static str, &DynamicValue)> {
        match self {
            Self::ApiKey { key, .. } => vec![("key", key)],
            Self::Http { credential, .. } => match credential {
                HttpCredential::Bearer { token } => vec![("token", token)],
                HttpCredential::Basic { username, password } => {
                    vec![("username", username), ("password", password)]
                }
                HttpCredential::Raw { value } => vec![("value", value)],
            },
            Self::GoogleCredentials { .. } => Vec::new(),
            Self::OAuth2 { client_id, client_secret, .. } => {
                let id = client_id.iter().map(|value| ("client_id", value));
                id.chain(client_secret.iter().map(|value| ("client_secret", value))).collect()
            }
        }
    }

    /// The addresses of the authorization server that it names, with the names of their fields.
    pub(super) fn addresses(&self) -> Vec<(&'static str, &str)> {
        let Self::OAuth2 { authorization_url, device_authorization_url, token_url, issuer, .. } = self else {
            return Vec::new();
        };
        let named = [
            ("authorization_url", authorization_url),
            ("device_authorization_url", device_authorization_url),
            ("token_url", token_url),
            ("issuer", issuer),
        ];
        named.into_iter().filter_map(|(name, url)| Some((name, url.as_deref()?))).collect()
    }
}
