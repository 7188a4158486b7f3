//! Requests a token from Google.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use attache_net::{HttpClient, HttpRequest, HttpResponse, NetError, Secret, Url, is_loopback};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use super::account::{GoogleCredentials, Kind};
use super::assertion::{self, Claim};
use super::external::{ExternalAccount, SubjectSource};
use super::{CLOUD_PLATFORM, GoogleTokens, TokenPurpose, executable};
use crate::redact::redacted;

#[derive(Debug)]
pub(super) struct TokenGrant {
    pub(super) token: Secret,
    pub(super) lifetime: Duration,
}

/// A token with all its claims has a few thousand bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
const ATTEMPTS: u32 = 3;
/// The server's number is bounded before it is added to a clock.
const MAX_LIFETIME: Duration = Duration::from_secs(86_400);
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// Why there was none.
pub(super) struct TokenRefusal {
    what: String,
    may_pass: bool,
}

impl TokenRefusal {
    pub(super) fn last(what: impl Into<String>) -> Self {
        Self { what: what.into(), may_pass: false }
    }
}

impl From<NetError> for TokenRefusal {
    fn from(error: NetError) -> Self {
        Self { may_pass: error.is_transient(), what: error.to_string() }
    }
}

/// A token, after some attempts where that helps.
pub(super) async fn grant(tokens: &GoogleTokens, purpose: &TokenPurpose) -> Result<TokenGrant, String> {
    let mut delay = tokens.first_delay;
    let mut attempt = 1;
    loop {
        let refusal = match ask(tokens, &tokens.credentials, purpose).await {
            Ok(granted) => return Ok(granted),
            Err(refusal) => refusal,
        };
        if !refusal.may_pass || attempt >= ATTEMPTS {
            let what = redacted(&refusal.what, tokens.credentials.secrets());
            return Err(format!("no token from Google: {what}"));
        }
        attempt += 1;
        tokio::time::sleep(delay).await;
        delay *= 2;
    }
}

async fn ask(
    tokens: &GoogleTokens,
    credentials: &GoogleCredentials,
    purpose: &TokenPurpose,
) -> Result<TokenGrant, TokenRefusal> {
    let client = &tokens.connections.client;
    match &credentials.kind {
        Kind::ServiceAccount { .. } | Kind::AuthorizedUser { .. } => {
            let request = token_request(tokens, credentials, purpose).map_err(TokenRefusal::last)?;
            let body = send(client, request, credentials).await?;
            granted(&body, purpose, now(tokens)).ok_or_else(no_token)
        }
        Kind::ExternalUser { client: pair, refresh_token, token_url } => {
            let TokenPurpose::Access { .. } = purpose else {
                return Err(TokenRefusal::last(
                    "a person of another identity provider gets no identity tokens; impersonated_service_account does",
                ));
            };
            let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose())];
            let request = HttpRequest::post_form(token_url.clone(), &fields);
            let body = send(client, with_client(request, pair)?, credentials).await?;
            granted(&body, purpose, now(tokens)).ok_or_else(no_token)
        }
        Kind::Metadata { account_url } => metadata(tokens, account_url, purpose).await,
        Kind::Impersonated { source, url, delegates } => {
            let cloud = TokenPurpose::cloud_platform();
            let granted = Box::pin(ask(tokens, source, &cloud)).await?;
            let lifetime = Duration::from_secs(3_600);
            let quota_project = source.quota_project();
            act_as(tokens, &Robot { url, delegates, lifetime, quota_project }, &granted.token, purpose).await
        }
        Kind::External(account) => external(tokens, credentials, account, purpose).await,
    }
}

/// For credentials that get a token with one form.
pub(super) fn token_request(
    tokens: &GoogleTokens,
    credentials: &GoogleCredentials,
    purpose: &TokenPurpose,
) -> Result<HttpRequest, String> {
    match &credentials.kind {
        Kind::ServiceAccount { email, key_id, private_key, token_url } => {
            let (audience, now) = (token_url.as_str(), (tokens.clock)());
            let claim = Claim { email, key_id: key_id.as_deref(), audience, purpose, now };
            let assertion = assertion::signed(&claim, private_key)?;
            let fields = [("grant_type", JWT_BEARER), ("assertion", assertion.expose())];
            Ok(HttpRequest::post_form(token_url.clone(), &fields))
        }
        Kind::AuthorizedUser { client_id, client_secret, refresh_token, token_url } => {
            let mut fields = vec![
                ("grant_type", "refresh_token"),
                ("client_id", client_id),
                ("client_secret", client_secret.expose()),
                ("refresh_token", refresh_token.expose()),
            ];
            if let TokenPurpose::Identity { audience } = purpose {
                fields.push(("target_audience", audience));
            }
            Ok(HttpRequest::post_form(token_url.clone(), &fields))
        }
        Kind::ExternalUser { .. } | Kind::Metadata { .. } | Kind::Impersonated { .. } | Kind::External(_) => {
            Err("these credentials have no token endpoint of their own".to_owned())
        }
    }
}

async fn metadata(
    tokens: &GoogleTokens,
    account_url: &Url,
    purpose: &TokenPurpose,
) -> Result<TokenGrant, TokenRefusal> {
    let mut url = account_url.clone();
    let (name, query) = match purpose {
        TokenPurpose::Access { scopes } => ("token", ("scopes", scopes.join(","))),
        TokenPurpose::Identity { audience } => ("identity", ("audience", audience.clone())),
    };
    url.set_path(&format!("{}/{name}", account_url.path()));
    url.query_pairs_mut().append_pair(query.0, &query.1);
    if matches!(purpose, TokenPurpose::Identity { .. }) {
        url.query_pairs_mut().append_pair("format", "full");
    }
    let request = HttpRequest::get(url).header("metadata-flavor", "Google")?;
    let unreachable = |error: NetError| match error {
        NetError::Connect { .. } => TokenRefusal::last(
            "there are no Application Default Credentials: GOOGLE_APPLICATION_CREDENTIALS is not set, `gcloud auth \
             application-default login` left no file, and this machine has no metadata server",
        ),
        error => error.into(),
    };
    let answer = tokens.connections.direct.send(request).await.map_err(unreachable)?;
    let is_google = answer.header("metadata-flavor") == Some("Google");
    let body = read(answer, &[]).await?;
    if !is_google {
        return Err(TokenRefusal::last("what answered is not Google's metadata server"));
    }
    match purpose {
        TokenPurpose::Access { .. } => granted(&body, purpose, now(tokens)).ok_or_else(no_token),
        // The answer is the token itself.
        TokenPurpose::Identity { .. } => {
            let text = String::from_utf8_lossy(&body).trim().to_owned();
            let is_token = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
            is_token.then(|| identity(text, now(tokens))).ok_or_else(no_token)
        }
    }
}

/// Exchanges the token of another cloud.
async fn external(
    tokens: &GoogleTokens,
    credentials: &GoogleCredentials,
    account: &ExternalAccount,
    purpose: &TokenPurpose,
) -> Result<TokenGrant, TokenRefusal> {
    let acting = account.impersonation_url.as_ref();
    if acting.is_none() && matches!(purpose, TokenPurpose::Identity { .. }) {
        return Err(TokenRefusal::last(
            "these credentials get no identity tokens; an external account needs service_account_impersonation_url \
             for that",
        ));
    }
    let subject = subject_token(tokens, credentials, account).await?;
    let cloud = || CLOUD_PLATFORM.to_owned();
    let scope = match (purpose, acting) {
        (TokenPurpose::Access { scopes }, None) => scopes.join(" "),
        _ => cloud(),
    };
    let options = account.workforce_project.as_ref().filter(|_| account.client.is_none());
    let options = options.map(|project| json!({"userProject": project}).to_string());
    let mut fields = vec![
        ("grant_type", TOKEN_EXCHANGE),
        ("audience", &account.audience),
        ("scope", &scope),
        ("requested_token_type", ACCESS_TOKEN),
        ("subject_token", subject.expose()),
        ("subject_token_type", &account.subject_token_type),
    ];
    fields.extend(options.as_deref().map(|options| ("options", options)));
    let mut request = HttpRequest::post_form(account.token_url.clone(), &fields);
    if let Some(client) = &account.client {
        request = with_client(request, client)?;
    }
    let mut secrets = credentials.secrets();
    secrets.push(&subject);
    let answer = tokens.connections.client.send(request).await?;
    let body = read(answer, &secrets).await?;
    let exchanged = granted(&body, &TokenPurpose::cloud_platform(), now(tokens)).ok_or_else(no_token)?;
    match acting {
        None => Ok(exchanged),
        Some(url) => {
            let (lifetime, quota_project) = (account.impersonation_lifetime, credentials.quota_project());
            let robot = Robot { url, delegates: &[], lifetime, quota_project };
            act_as(tokens, &robot, &exchanged.token, purpose).await
        }
    }
}

/// Says which program asks.
fn with_client(request: HttpRequest, (id, secret): &(String, Secret)) -> Result<HttpRequest, NetError> {
    let pair = Secret::new(STANDARD.encode(format!("{id}:{}", secret.expose())));
    request.secret_header("authorization", "Basic ", &pair)
}

async fn subject_token(
    tokens: &GoogleTokens,
    credentials: &GoogleCredentials,
    account: &ExternalAccount,
) -> Result<Secret, TokenRefusal> {
    match &account.source {
        SubjectSource::File { path, format } => {
            let text = read_file(path).await.map_err(TokenRefusal::last)?;
            format.token(&text).map_err(TokenRefusal::last)
        }
        SubjectSource::Url { url, headers, format } => {
            let mut request = HttpRequest::get(url.clone());
            // The metadata server of another cloud speaks no https, and its headers only say what is asked for.
            let is_safe = url.scheme() == "https" || is_loopback(url);
            let connections = &tokens.connections;
            let client = if url.scheme() == "https" { &connections.client } else { &connections.direct };
            for (name, value) in headers {
                request = match is_safe {
                    true => request.secret_header(name, "", value)?,
                    false => request.header(name, value.expose())?,
                };
            }
            let answer = client.send(request).await?;
            let body = read(answer, &credentials.secrets()).await?;
            format.token(&String::from_utf8_lossy(&body)).map_err(TokenRefusal::last)
        }
        SubjectSource::Aws(source) => source.subject_token(tokens, &account.audience).await,
        SubjectSource::Program(_) if !credentials.runs_programs => Err(TokenRefusal::last(
            "the credentials name a program to run; GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1 allows that",
        )),
        SubjectSource::Program(program) => {
            executable::token(program, account, now(tokens)).await.map_err(TokenRefusal::last)
        }
    }
}

async fn read_file(path: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let file = tokio::fs::File::open(path).await.map_err(cannot)?;
    let mut text = String::new();
    file.take(MAX_ANSWER_BYTES as u64).read_to_string(&mut text).await.map_err(cannot)?;
    Ok(text)
}

/// A service account that another identity may act as.
struct Robot<'a> {
    url: &'a Url,
    delegates: &'a [String],
    lifetime: Duration,
    /// Whom the request is billed to, where a person asks.
    quota_project: Option<&'a str>,
}

async fn act_as(
    tokens: &GoogleTokens,
    robot: &Robot<'_>,
    source: &Secret,
    purpose: &TokenPurpose,
) -> Result<TokenGrant, TokenRefusal> {
    let Robot { delegates, lifetime, .. } = robot;
    let mut url = robot.url.clone();
    let (body, member) = match purpose {
        TokenPurpose::Access { scopes } => {
            let lifetime = format!("{}s", lifetime.as_secs());
            (json!({"scope": scopes, "delegates": delegates, "lifetime": lifetime}), "accessToken")
        }
        TokenPurpose::Identity { audience } => {
            let path = url.path().replace(":generateAccessToken", ":generateIdToken");
            url.set_path(&path);
            (json!({"audience": audience, "delegates": delegates, "includeEmail": true}), "token")
        }
    };
    let request = HttpRequest::post_json(url, body.to_string());
    let mut request = request.secret_header("authorization", "Bearer ", source)?;
    if let Some(project) = robot.quota_project {
        request = request.header("x-goog-user-project", project)?;
    }
    let answer = tokens.connections.client.send(request).await?;
    let body = read(answer, &[source]).await?;
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    let token = answer[member].as_str().filter(|token| !token.is_empty()).ok_or_else(no_token)?;
    Ok(match purpose {
        TokenPurpose::Access { .. } => {
            TokenGrant { token: Secret::new(token), lifetime: (*lifetime).min(MAX_LIFETIME) }
        }
        TokenPurpose::Identity { .. } => identity(token.to_owned(), now(tokens)),
    })
}

async fn send(
    client: &HttpClient,
    request: HttpRequest,
    credentials: &GoogleCredentials,
) -> Result<Vec<u8>, TokenRefusal> {
    read(client.send(request).await?, &credentials.secrets()).await
}

/// The body of an answer that is none of an error.
pub(super) async fn read(answer: HttpResponse, secrets: &[&Secret]) -> Result<Vec<u8>, TokenRefusal> {
    let status = answer.status();
    let body = answer.read(MAX_ANSWER_BYTES).await?;
    if status == 200 {
        return Ok(body);
    }
    Err(TokenRefusal { what: told(status, &body, secrets), may_pass: matches!(status, 408 | 429 | 500..) })
}

fn no_token() -> TokenRefusal {
    TokenRefusal::last("the answer holds no token")
}

fn now(tokens: &GoogleTokens) -> Duration {
    (tokens.clock)().duration_since(UNIX_EPOCH).unwrap_or_default()
}

pub(super) fn granted(body: &[u8], purpose: &TokenPurpose, now: Duration) -> Option<TokenGrant> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let text = |name: &str| answer[name].as_str().filter(|token| !token.is_empty());
    match purpose {
        TokenPurpose::Access { .. } => {
            let lifetime = Duration::from_secs(answer["expires_in"].as_u64().unwrap_or(0)).min(MAX_LIFETIME);
            Some(TokenGrant { token: Secret::new(text("access_token")?), lifetime })
        }
        TokenPurpose::Identity { .. } => Some(identity(text("id_token")?.to_owned(), now)),
    }
}

/// An identity token says itself when it ends.
fn identity(token: String, now: Duration) -> TokenGrant {
    let ends = token.split('.').nth(1).and_then(|claims| {
        let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
        serde_json::from_slice::<Value>(&claims).ok()?["exp"].as_u64()
    });
    let lifetime = Duration::from_secs(ends.unwrap_or(0)).saturating_sub(now).min(MAX_LIFETIME);
    TokenGrant { token: Secret::new(token), lifetime }
}

/// Only what the error says of itself: a body may repeat what was sent.
pub(super) fn told(status: u16, body: &[u8], secrets: &[&Secret]) -> String {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |value: &Value| {
        // Hidden before it is cut: a reader would not know a secret by its beginning.
        let whole = redacted(value.as_str()?, secrets.iter().copied());
        Some(whole.chars().take(300).collect::<String>())
    };
    // Google's services have an object there, its token endpoint a word.
    match (text(&answer["error"]), text(&answer["error_description"]), text(&answer["error"]["message"])) {
        (Some(error), Some(description), _) => format!("{error}, {description} ({status})"),
        (Some(error), None, _) => format!("{error} ({status})"),
        (None, _, Some(message)) => format!("{message} ({status})"),
        _ => format!("it answers {status}"),
    }
}
