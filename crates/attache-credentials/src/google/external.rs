//! Workload identity federation: an identity of another cloud that Google trusts.

use std::path::PathBuf;
use std::time::Duration;

use attache_net::{Secret, Url};
use serde::Deserialize;
use serde_json::Value;

use super::account::{BadCredentials, bad, is_machines_own, needed, secure};
use super::aws::{AwsFields, AwsSource};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExternalAccount {
    pub(super) audience: String,
    pub(super) subject_token_type: String,
    pub(super) token_url: Url,
    pub(super) source: SubjectSource,
    /// The service account that it acts as.
    pub(super) impersonation_url: Option<Url>,
    pub(super) impersonation_lifetime: Duration,
    pub(super) client: Option<(String, Secret)>,
    pub(super) workforce_project: Option<String>,
}

/// Where the token of the other cloud comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SubjectSource {
    File { path: PathBuf, format: SubjectFormat },
    Url { url: Url, headers: Vec<(String, Secret)>, format: SubjectFormat },
    Program(SubjectProgram),
    Aws(AwsSource),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SubjectProgram {
    pub(super) command: Vec<String>,
    pub(super) timeout: Duration,
    /// Where it leaves what it has printed, for as long as the token is good.
    pub(super) output_file: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SubjectFormat {
    Text,
    Json { field: String },
}

/// The members of such a file.
#[derive(Deserialize, Default)]
pub(super) struct ExternalFields {
    audience: Option<String>,
    subject_token_type: Option<String>,
    pub(super) token_url: Option<String>,
    credential_source: Option<CredentialSource>,
    service_account_impersonation: Option<Impersonation>,
    workforce_pool_user_project: Option<String>,
}

#[derive(Deserialize)]
struct CredentialSource {
    file: Option<String>,
    url: Option<String>,
    headers: Option<std::collections::BTreeMap<String, String>>,
    format: Option<Format>,
    executable: Option<Executable>,
    /// Names a client certificate, which is not understood.
    certificate: Option<Value>,
    #[serde(flatten)]
    aws: AwsFields,
}

#[derive(Deserialize)]
struct Format {
    #[serde(rename = "type")]
    kind: Option<String>,
    subject_token_field_name: Option<String>,
}

#[derive(Deserialize)]
struct Executable {
    command: Option<String>,
    timeout_millis: Option<u64>,
    output_file: Option<String>,
}

#[derive(Deserialize)]
struct Impersonation {
    token_lifetime_seconds: Option<u64>,
}

const STS_URL: &str = "https://sts.googleapis.com/v1/token";
const DEFAULT_LIFETIME: u64 = 3_600;
/// As Google's libraries have it.
const DEFAULT_TIMEOUT_MILLIS: u64 = 30_000;

impl ExternalAccount {
    pub(super) fn read(
        fields: ExternalFields,
        client: Option<(String, Secret)>,
        impersonation_url: Option<Url>,
    ) -> Result<Self, BadCredentials> {
        let source = fields.credential_source.ok_or_else(|| bad("credential_source is missing"))?;
        let lifetime = fields.service_account_impersonation.and_then(|it| it.token_lifetime_seconds);
        Ok(Self {
            audience: needed(fields.audience, "audience")?,
            subject_token_type: needed(fields.subject_token_type, "subject_token_type")?,
            token_url: secure(fields.token_url.as_deref().unwrap_or(STS_URL))?,
            source: subject_source(source)?,
            impersonation_url,
            impersonation_lifetime: Duration::from_secs(
                lifetime.unwrap_or(DEFAULT_LIFETIME).clamp(600, 43_200),
            ),
            client,
            workforce_project: fields.workforce_pool_user_project,
        })
    }

    /// The address of the service account that it acts as.
    pub(super) fn impersonated_email(&self) -> Option<&str> {
        let name = self.impersonation_url.as_ref()?.path().rsplit('/').next()?;
        name.strip_suffix(":generateAccessToken")
    }

    pub(super) fn secrets(&self) -> Vec<&Secret> {
        let headers = match &self.source {
            SubjectSource::Url { headers, .. } => headers.as_slice(),
            SubjectSource::File { .. } | SubjectSource::Program(_) | SubjectSource::Aws(_) => &[],
        };
        headers.iter().map(|(_, value)| value).chain(self.client.as_ref().map(|(_, secret)| secret)).collect()
    }
}

fn subject_source(source: CredentialSource) -> Result<SubjectSource, BadCredentials> {
    if source.certificate.is_some() {
        let what = "credential_source is a certificate; a file, a url, an executable and AWS are understood";
        return Err(bad(what));
    }
    if source.aws.is_aws() {
        return AwsSource::read(source.aws, source.url).map(SubjectSource::Aws);
    }
    let format = match source.format {
        Some(Format { kind: Some(kind), subject_token_field_name }) if kind == "json" => {
            SubjectFormat::Json {
                field: needed(subject_token_field_name, "credential_source.format.subject_token_field_name")?,
            }
        }
        _ => SubjectFormat::Text,
    };
    if let Some(path) = source.file {
        return Ok(SubjectSource::File { path: path.into(), format });
    }
    if let Some(text) = source.url {
        let url = provider_url(&text, "url")?;
        let headers = source.headers.unwrap_or_default();
        let headers = headers.into_iter().map(|(name, value)| (name, Secret::new(value))).collect();
        return Ok(SubjectSource::Url { url, headers, format });
    }
    let Some(executable) = source.executable else {
        return Err(bad("credential_source names no file, url or executable"));
    };
    let command = words(&needed(executable.command, "credential_source.executable.command")?);
    if command.is_empty() {
        return Err(bad("credential_source.executable.command is empty"));
    }
    let timeout = executable.timeout_millis.unwrap_or(DEFAULT_TIMEOUT_MILLIS).clamp(5_000, 120_000);
    let output_file = executable.output_file.map(PathBuf::from);
    let timeout = Duration::from_millis(timeout);
    Ok(SubjectSource::Program(SubjectProgram { command, timeout, output_file }))
}

/// An address of the other cloud: https, this machine, or the metadata server beside it.
pub(super) fn provider_url(text: &str, field: &str) -> Result<Url, BadCredentials> {
    let url = Url::parse(text.trim()).map_err(|_| bad(&format!("credential_source.{field} is not a URL")))?;
    if !(url.scheme() == "http" && is_machines_own(&url)) {
        // The query is the provider's own.
        let mut place = url.clone();
        place.set_query(None);
        secure(place.as_str())?;
    }
    Ok(url)
}

/// A command line without a shell: words between blanks, with quotes around those that have blanks.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

impl SubjectFormat {
    /// The token in what was read; the error holds none of it.
    pub(super) fn token(&self, text: &str) -> Result<Secret, String> {
        let found = match self {
            Self::Text => Some(text.trim().to_owned()),
            Self::Json { field } => serde_json::from_str::<Value>(text)
                .ok()
                .and_then(|value| Some(value.get(field)?.as_str()?.trim().to_owned())),
        };
        match found.filter(|token| !token.is_empty()) {
            Some(token) => Ok(Secret::new(token)),
            None => Err("credential_source holds no token".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_without_a_shell() {
        assert_eq!(words("/bin/x --a 'b c' \"d;e\" $HOME"), ["/bin/x", "--a", "b c", "d;e", "$HOME"]);
        assert_eq!(words("  "), Vec::<String>::new());
        assert_eq!(words("a ''"), ["a", ""]);
    }

    #[test]
    fn a_token_is_read_as_its_format_says() {
        let json = SubjectFormat::Json { field: "access".into() };
        assert_eq!(json.token(r#"{"access": " t "}"#).unwrap().expose(), "t");
        assert_eq!(SubjectFormat::Text.token(" t\n").unwrap().expose(), "t");
        for (format, text) in [(&json, "t"), (&json, r#"{"access": 1}"#), (&SubjectFormat::Text, " ")] {
            format.token(text).unwrap_err();
        }
    }
}
