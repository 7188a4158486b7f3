//! The `auth` block of a remote agent.

use super::dynamic_value::DynamicValue;
use super::fields::Fields;

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
        token_url: Option<String>,
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
    if let Some((name, line)) = name
        && !is_token(name)
    {
        fields.refuse(line, "name", "must be the name of a header");
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
    let mut urls = ["authorization_url", "token_url"].map(|name| {
        let (url, line) = fields.text(name)?;
        if !is_web_address(url) {
            fields.refuse(line, name, "must begin with https:// or http://");
        }
        Some(url.to_owned())
    });
    let [authorization_url, token_url] = [urls[0].take(), urls[1].take()];
    Some(AgentAuth::OAuth2 { client_id, client_secret, scopes, authorization_url, token_url })
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

/// Whether HTTP takes it for a name.
fn is_token(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

pub(super) fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with(['/', '?', '#'])
            && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
    })
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

    /// The commands that are run for its values.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let values = match self {
            Self::ApiKey { key, .. } => vec![key],
            Self::Http { credential, .. } => match credential {
                HttpCredential::Bearer { token } => vec![token],
                HttpCredential::Basic { username, password } => vec![username, password],
                HttpCredential::Raw { value } => vec![value],
            },
            Self::GoogleCredentials { .. } => Vec::new(),
            Self::OAuth2 { client_id, client_secret, .. } => client_id.iter().chain(client_secret).collect(),
        };
        values.into_iter().filter_map(DynamicValue::command)
    }
}
