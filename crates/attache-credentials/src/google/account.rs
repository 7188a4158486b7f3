//! The identities that a token can be requested for.

use attache_net::{BaseUrl, Secret, Url};
use serde::Deserialize;
use serde_json::Value;

use super::aws::AwsEnvironment;
use super::external::{ExternalAccount, ExternalFields};

/// What a token is asked for with. Nothing secret shows in its debug text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoogleCredentials {
    pub(super) kind: Kind,
    quota_project: Option<String>,
    project: Option<String>,
    /// The programs that a file names may be run.
    pub(super) runs_programs: bool,
    pub(super) aws: AwsEnvironment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    ServiceAccount {
        email: String,
        key_id: Option<String>,
        private_key: Secret,
        token_url: Url,
    },
    AuthorizedUser {
        client_id: String,
        client_secret: Secret,
        refresh_token: Secret,
        token_url: Url,
    },
    /// A person of another identity provider (workforce identity federation).
    ExternalUser {
        client: (String, Secret),
        refresh_token: Secret,
        token_url: Url,
    },
    /// The folder of the machine's own service account.
    Metadata {
        account_url: Url,
    },
    Impersonated {
        source: Box<GoogleCredentials>,
        url: Url,
        delegates: Vec<String>,
    },
    External(Box<ExternalAccount>),
}

/// Why a file of credentials cannot be used. Nothing of what is in it is shown but its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the Google credentials cannot be used: {what}")]
pub struct BadCredentials {
    pub what: String,
}

const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// Where people of other identity providers refresh their tokens.
const EXTERNAL_USER_TOKEN_URL: &str = "https://sts.googleapis.com/v1/oauthtoken";
const METADATA_PATH: &str = "computeMetadata/v1/instance/service-accounts/default";

/// Hosts that answer on the machine itself, without https. The addresses are those of Google and AWS.
const METADATA_HOSTS: &[&str] =
    &["metadata.google.internal", "metadata", "[fd20:ce::254]", "[fd00:ec2::254]"];

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
    service_account_impersonation_url: Option<String>,
    delegates: Option<Vec<String>>,
    source_credentials: Option<Value>,
    #[serde(flatten)]
    external: ExternalFields,
}

impl GoogleCredentials {
    /// The text of a file of application-default credentials.
    pub fn from_json(text: &str) -> Result<Self, BadCredentials> {
        Self::read(serde_json::from_str(text), true)
    }

    fn read(file: Result<File, serde_json::Error>, may_impersonate: bool) -> Result<Self, BadCredentials> {
        // The error of the parser is not shown: it may quote what it stumbled over.
        let file = file.map_err(|_| bad("it is not JSON with the fields such files have"))?;
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
            Some("external_account_authorized_user") => {
                let token_url = file.external.token_url.as_deref().unwrap_or(EXTERNAL_USER_TOKEN_URL);
                let secret = Secret::new(needed(file.client_secret, "client_secret")?);
                Kind::ExternalUser {
                    client: (needed(file.client_id, "client_id")?, secret),
                    refresh_token: Secret::new(needed(file.refresh_token, "refresh_token")?),
                    token_url: secure(token_url)?,
                }
            }
            Some("impersonated_service_account") if may_impersonate => {
                let source = file.source_credentials.ok_or_else(|| bad("source_credentials is missing"))?;
                let url =
                    needed(file.service_account_impersonation_url, "service_account_impersonation_url")?;
                Kind::Impersonated {
                    source: Box::new(Self::read(serde_json::from_value(source), false)?),
                    url: impersonation_url(&url)?,
                    delegates: file.delegates.unwrap_or_default(),
                }
            }
            Some("external_account") => {
                let client = file.client_id.zip(file.client_secret.map(Secret::new));
                let url =
                    file.service_account_impersonation_url.as_deref().map(impersonation_url).transpose()?;
                Kind::External(Box::new(ExternalAccount::read(file.external, client, url)?))
            }
            other => {
                let named = other.map_or_else(|| "no type".to_owned(), |other| format!("the type {other:?}"));
                let what = format!(
                    "it has {named}; service_account, authorized_user, impersonated_service_account, external_account \
                     and external_account_authorized_user are understood"
                );
                return Err(bad(&what));
            }
        };
        let (quota_project, project) = (file.quota_project_id, file.project_id);
        Ok(Self { kind, quota_project, project, runs_programs: false, aws: AwsEnvironment::default() })
    }

    /// The metadata server of a machine at Google, such as `http://metadata.google.internal`.
    pub fn metadata(base_url: &str) -> Result<Self, BadCredentials> {
        let mut url =
            Url::parse(base_url.trim()).map_err(|_| bad("the metadata server has no proper URL"))?;
        if !(url.scheme() == "http" && is_machines_own(&url)) {
            url = secure(base_url)?;
        }
        let path = format!("{}/{METADATA_PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(None);
        let kind = Kind::Metadata { account_url: url };
        Ok(Self {
            kind,
            quota_project: None,
            project: None,
            runs_programs: false,
            aws: AwsEnvironment::default(),
        })
    }

    /// Allows the file to have a program run that prints a token of another cloud.
    #[must_use]
    pub fn running_programs(self, runs_programs: bool) -> Self {
        Self { runs_programs, ..self }
    }

    /// With what the environment says about AWS, for credentials that come from there.
    #[must_use]
    pub fn with_aws(self, aws: AwsEnvironment) -> Self {
        Self { aws, ..self }
    }

    /// What an answer must not repeat.
    pub(super) fn secrets(&self) -> Vec<&Secret> {
        match &self.kind {
            Kind::ServiceAccount { private_key, .. } => vec![private_key],
            Kind::AuthorizedUser { client_secret, refresh_token, .. } => vec![client_secret, refresh_token],
            Kind::ExternalUser { client: (_, secret), refresh_token, .. } => vec![secret, refresh_token],
            Kind::Metadata { .. } => Vec::new(),
            Kind::Impersonated { source, .. } => source.secrets(),
            Kind::External(account) => account.secrets().into_iter().chain(self.aws.secrets()).collect(),
        }
    }

    /// The billing project, where that is not the project itself: goes into the header `x-goog-user-project`.
    pub fn quota_project(&self) -> Option<&str> {
        self.quota_project.as_deref()
    }

    /// The project that a service account belongs to.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }
}

pub(super) fn bad(what: &str) -> BadCredentials {
    BadCredentials { what: what.to_owned() }
}

pub(super) fn needed(field: Option<String>, name: &str) -> Result<String, BadCredentials> {
    field.filter(|text| !text.trim().is_empty()).ok_or_else(|| bad(&format!("{name} is missing")))
}

/// A place where secrets may go: https, or this machine.
pub(super) fn secure(text: &str) -> Result<Url, BadCredentials> {
    BaseUrl::parse(text).map_err(|error| bad(&error.to_string()))?;
    Url::parse(text.trim()).map_err(|error| bad(&error.to_string()))
}

/// Hosts that answer beside the machine itself: names and addresses of metadata servers, and link-local addresses.
pub(super) fn is_machines_own(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.parse::<std::net::Ipv4Addr>();
    METADATA_HOSTS.contains(&host) || address.is_ok_and(|address| address.is_link_local())
}

/// Ends with the method that gives access tokens; another method takes its place for identity tokens.
fn impersonation_url(text: &str) -> Result<Url, BadCredentials> {
    let url = secure(text)?;
    match url.path().ends_with(":generateAccessToken") {
        true => Ok(url),
        false => Err(bad("service_account_impersonation_url does not end with :generateAccessToken")),
    }
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
        check(person.clone(), Ok("payer"));
        let guest = json!({"type": "external_account_authorized_user", "client_id": "id", "client_secret": "s3cret",
            "refresh_token": "s3cret"});
        check(guest, Ok("sts.googleapis.com"));
        check(
            json!({"type": "external_account_authorized_user", "client_id": "id"}),
            Err("client_secret is missing"),
        );
        check(json!({"type": "service_account", "private_key": "s3cret"}), Err("client_email is missing"));
        check(json!({"type": "gdch_service_account", "x": "s3cret"}), Err("gdch_service_account"));
        check(json!({"private_key": "s3cret"}), Err("no type"));
        check(json!(["s3cret"]), Err("not JSON with"));
        let mut elsewhere = account;
        elsewhere["token_uri"] = json!("http://example.com/token");
        check(elsewhere, Err("use https"));
        let url =
            "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken";
        let mut acting = json!({"type": "impersonated_service_account", "source_credentials": person,
            "service_account_impersonation_url": url});
        check(acting.clone(), Ok("iamcredentials.googleapis.com"));
        acting["source_credentials"] = acting.clone();
        check(acting.clone(), Err("impersonated_service_account"));
        acting["service_account_impersonation_url"] = json!("https://evil.example/x");
        acting["source_credentials"] = json!({"type": "authorized_user"});
        check(acting, Err("client_id is missing"));
    }

    #[test]
    fn external_accounts_name_where_their_token_is() {
        let external = |source: Value| {
            json!({"type": "external_account", "audience": "//iam.googleapis.com/x", "client_secret": "s3cret",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": "https://sts.googleapis.com/v1/token",
                "credential_source": source})
        };
        check(external(json!({"file": "/var/run/token"})), Ok("/var/run/token"));
        check(
            external(json!({"url": "http://169.254.169.254/x", "headers": {"a": "s3cret"}})),
            Ok("169.254.169.254"),
        );
        check(external(json!({"url": "http://[fd00:ec2::254]/x"})), Ok("fd00"));
        check(external(json!({"url": "http://[fd00:ec2::255]/x"})), Err("use https"));
        check(external(json!({"url": "http://example.com/x"})), Err("use https"));
        check(external(json!({"executable": {"command": "/bin/a --b \"c d\""}})), Ok("c d"));
        let aws = |url: &str| json!({"environment_id": "aws1", "regional_cred_verification_url": url});
        check(external(aws("https://sts.{region}.amazonaws.com?Action=GetCallerIdentity")), Ok("{region}"));
        check(external(aws("http://sts.{region}.amazonaws.com")), Err("use https"));
        check(external(json!({"environment_id": "aws2"})), Err("aws2"));
        check(external(json!({"environment_id": "aws1"})), Err("regional_cred_verification_url is missing"));
        check(external(json!({"certificate": {}})), Err("certificate"));
        check(external(json!({})), Err("credential_source"));
        check(external(json!({"file": "x", "format": {"type": "json"}})), Err("subject_token_field_name"));
    }

    #[track_caller]
    fn check_metadata(base: &str, expected: Option<&str>) {
        let url = GoogleCredentials::metadata(base).ok().map(|credentials| match credentials.kind {
            Kind::Metadata { account_url } => account_url.to_string(),
            other => panic!("{other:?}"),
        });
        assert_eq!(url, expected.map(|start| format!("{start}/{METADATA_PATH}")), "{base}");
    }

    #[test]
    fn a_metadata_server_is_on_this_machine_or_beside_it() {
        check_metadata("http://metadata.google.internal", Some("http://metadata.google.internal"));
        check_metadata("http://169.254.169.254/", Some("http://169.254.169.254"));
        check_metadata("http://[fd20:ce::254]", Some("http://[fd20:ce::254]"));
        check_metadata("http://127.0.0.1:80/x", Some("http://127.0.0.1/x"));
        check_metadata("http://example.com", None);
        check_metadata("nonsense", None);
    }
}
