//! Who asks for a token.

use attache_net::{BaseUrl, Secret, Url};
use serde::Deserialize;

/// What a token is asked for with. Nothing secret shows in its debug text.
#[derive(Debug, Clone)]
pub struct GoogleCredentials {
    pub(super) kind: Kind,
    quota_project: Option<String>,
    project: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    ServiceAccount { email: String, key_id: Option<String>, private_key: Secret, token_url: Url },
    AuthorizedUser { client_id: String, client_secret: Secret, refresh_token: Secret, token_url: Url },
    Metadata { token_url: Url },
}

/// Why a file of credentials cannot be used. Nothing of what is in it is shown but its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the Google credentials cannot be used: {what}")]
pub struct BadCredentials {
    pub what: String,
}

const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const METADATA_PATH: &str = "computeMetadata/v1/instance/service-accounts/default/token";

/// Hosts that answer on the machine itself, without https.
const METADATA_HOSTS: &[&str] = &["metadata.google.internal", "169.254.169.254"];

/// The file as Google's tools write it.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "type")]
    kind: Option<String>,
    client_email: Option<String>,
    private_key: Option<String>,
    private_key_id: Option<String>,
    token_uri: Option<String>,
    client_id: Option<String>,
    client_secret: Option<String>,
    refresh_token: Option<String>,
    quota_project_id: Option<String>,
    project_id: Option<String>,
}

impl GoogleCredentials {
    /// The text of a file of application-default credentials.
    pub fn from_json(text: &str) -> Result<Self, BadCredentials> {
        // The error of the parser is not shown: it may quote what it stumbled over.
        let file: File =
            serde_json::from_str(text).map_err(|_| bad("it is not JSON with the fields such files have"))?;
        let token_url = secure(file.token_uri.as_deref().unwrap_or(TOKEN_URL))?;
        let kind = match file.kind.as_deref() {
            Some("service_account") => Kind::ServiceAccount {
                email: needed(file.client_email, "client_email")?,
                key_id: file.private_key_id,
                private_key: Secret::new(needed(file.private_key, "private_key")?),
                token_url,
            },
            Some("authorized_user") => Kind::AuthorizedUser {
                client_id: needed(file.client_id, "client_id")?,
                client_secret: Secret::new(needed(file.client_secret, "client_secret")?),
                refresh_token: Secret::new(needed(file.refresh_token, "refresh_token")?),
                token_url,
            },
            other => {
                let named = other.map_or_else(|| "no type".to_owned(), |other| format!("the type {other:?}"));
                let what = format!("it has {named}; service_account and authorized_user are understood");
                return Err(bad(&what));
            }
        };
        Ok(Self { kind, quota_project: file.quota_project_id, project: file.project_id })
    }

    /// The metadata server of a machine at Google, such as `http://metadata.google.internal`.
    pub fn metadata(base_url: &str) -> Result<Self, BadCredentials> {
        let mut url =
            Url::parse(base_url.trim()).map_err(|_| bad("the metadata server has no proper URL"))?;
        let known =
            url.scheme() == "http" && url.host_str().is_some_and(|host| METADATA_HOSTS.contains(&host));
        if !known {
            url = secure(base_url)?;
        }
        let path = format!("{}/{METADATA_PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(None);
        Ok(Self { kind: Kind::Metadata { token_url: url }, quota_project: None, project: None })
    }

    /// What an answer must not repeat.
    pub(super) fn secrets(&self) -> Vec<&Secret> {
        match &self.kind {
            Kind::ServiceAccount { private_key, .. } => vec![private_key],
            Kind::AuthorizedUser { client_secret, refresh_token, .. } => vec![client_secret, refresh_token],
            Kind::Metadata { .. } => Vec::new(),
        }
    }

    /// Who pays, where that is not the project itself: goes into the header `x-goog-user-project`.
    pub fn quota_project(&self) -> Option<&str> {
        self.quota_project.as_deref()
    }

    /// The project that a service account belongs to.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }
}

fn bad(what: &str) -> BadCredentials {
    BadCredentials { what: what.to_owned() }
}

fn needed(field: Option<String>, name: &str) -> Result<String, BadCredentials> {
    field.filter(|text| !text.trim().is_empty()).ok_or_else(|| bad(&format!("{name} is missing")))
}

/// A place where secrets may go: https, or this machine.
fn secure(text: &str) -> Result<Url, BadCredentials> {
    BaseUrl::parse(text).map_err(|error| bad(&error.to_string()))?;
    Url::parse(text.trim()).map_err(|error| bad(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn check(file: Value, expected: Result<&str, &str>) {
        match (GoogleCredentials::from_json(&file.to_string()), expected) {
            (Ok(credentials), Ok(shown)) => {
                let debug = format!("{credentials:?}");
                assert!(debug.contains(shown), "{debug}");
                assert!(!debug.contains("s3cret"), "{debug}");
            }
            (Err(error), Err(why)) => {
                assert!(error.what.contains(why), "{error}");
                assert!(!error.what.contains("s3cret"), "{error}");
            }
            (found, expected) => panic!("{file}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn files_become_credentials_and_show_no_secret() {
        let account = json!({"type": "service_account", "client_email": "a@b", "private_key": "s3cret"});
        check(account.clone(), Ok("oauth2.googleapis.com"));
        let person = json!({"type": "authorized_user", "client_id": "id", "client_secret": "s3cret",
            "refresh_token": "s3cret", "quota_project_id": "payer"});
        check(person, Ok("payer"));
        check(json!({"type": "service_account", "private_key": "s3cret"}), Err("client_email is missing"));
        check(json!({"type": "external_account", "x": "s3cret"}), Err("external_account"));
        check(json!({"private_key": "s3cret"}), Err("no type"));
        check(json!(["s3cret"]), Err("not JSON with"));
        let mut elsewhere = account;
        elsewhere["token_uri"] = json!("http://example.com/token");
        check(elsewhere, Err("use https"));
    }

    #[track_caller]
    fn check_metadata(base: &str, expected: Option<&str>) {
        let url = GoogleCredentials::metadata(base).ok().map(|credentials| match credentials.kind {
            Kind::Metadata { token_url } => token_url.to_string(),
            other => panic!("{other:?}"),
        });
        assert_eq!(url, expected.map(|start| format!("{start}/{METADATA_PATH}")), "{base}");
    }

    #[test]
    fn a_metadata_server_is_on_this_machine_or_beside_it() {
        check_metadata("http://metadata.google.internal", Some("http://metadata.google.internal"));
        check_metadata("http://169.254.169.254/", Some("http://169.254.169.254"));
        check_metadata("http://127.0.0.1:80/x", Some("http://127.0.0.1/x"));
        check_metadata("http://example.com", None);
        check_metadata("nonsense", None);
    }
}
