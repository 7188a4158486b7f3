//! An identity of AWS, as Google takes it: a signed request that Google sends to AWS to learn who signed it.
//!
//! The keys come from the environment or from the metadata server of the machine. They are never sent; the signature
//! (Signature Version 4) covers the pool that the request is for.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use attache_net::{HttpRequest, Secret, Url};
use aws_lc_rs::{digest, hmac};
use serde::Deserialize;
use serde_json::{Value, json};

use super::GoogleTokens;
use super::account::{BadCredentials, bad, needed, secure};
use super::exchange::{TokenRefusal, read};
use super::external::provider_url;

/// What the environment says about AWS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AwsEnvironment {
    /// `AWS_REGION`, else `AWS_DEFAULT_REGION`.
    pub region: Option<String>,
    /// `AWS_ACCESS_KEY_ID`.
    pub key_id: Option<String>,
    /// `AWS_SECRET_ACCESS_KEY`.
    pub secret: Option<Secret>,
    /// `AWS_SESSION_TOKEN`.
    pub session_token: Option<Secret>,
}

/// The members of `credential_source` for AWS.
#[derive(Deserialize, Default)]
pub(super) struct AwsFields {
    environment_id: Option<String>,
    region_url: Option<String>,
    regional_cred_verification_url: Option<String>,
    imdsv2_session_token_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AwsSource {
    pub(super) region_url: Option<Url>,
    /// Names the role; its keys are one step below.
    pub(super) keys_url: Option<Url>,
    pub(super) session_url: Option<Url>,
    /// With `{region}` where the region belongs.
    verification_url: String,
}

struct Keys {
    id: String,
    secret: Secret,
    session_token: Option<Secret>,
}

const REGION: &str = "{region}";
/// As Google's libraries have it, in seconds.
const SESSION_LIFETIME: &str = "300";
const SESSION_HEADER: &str = "x-aws-ec2-metadata-token";

impl AwsEnvironment {
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            region: variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION")),
            key_id: variable("AWS_ACCESS_KEY_ID"),
            secret: variable("AWS_SECRET_ACCESS_KEY").map(Secret::new),
            session_token: variable("AWS_SESSION_TOKEN").map(Secret::new),
        }
    }

    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        self.secret.iter().chain(&self.session_token)
    }

    fn keys(&self) -> Option<Keys> {
        let (id, secret) = (self.key_id.clone()?, self.secret.clone()?);
        Some(Keys { id, secret, session_token: self.session_token.clone() })
    }
}

impl AwsFields {
    pub(super) fn is_aws(&self) -> bool {
        self.environment_id.is_some()
    }
}

impl AwsSource {
    pub(super) fn read(fields: AwsFields, keys_url: Option<String>) -> Result<Self, BadCredentials> {
        let id = fields.environment_id.unwrap_or_default();
        if id != "aws1" {
            return Err(bad(&format!("credential_source.environment_id is {id:?}; aws1 is understood")));
        }
        let url = |text: Option<String>, field: &str| text.map(|text| provider_url(&text, field)).transpose();
        let verification_url = needed(
            fields.regional_cred_verification_url,
            "credential_source.regional_cred_verification_url",
        )?;
        let mut place = Url::parse(&verification_url.replace(REGION, "region"))
            .map_err(|_| bad("credential_source.regional_cred_verification_url is not a URL"))?;
        place.set_query(None);
        secure(place.as_str())?;
        Ok(Self {
            region_url: url(fields.region_url, "region_url")?,
            keys_url: url(keys_url, "url")?,
            session_url: url(fields.imdsv2_session_token_url, "imdsv2_session_token_url")?,
            verification_url,
        })
    }

    /// The signed request, as a token.
    pub(super) async fn subject_token(
        &self,
        tokens: &GoogleTokens,
        audience: &str,
    ) -> Result<Secret, TokenRefusal> {
        let environment = &tokens.credentials.aws;
        let known = environment.keys();
        let needs_metadata = known.is_none() || environment.region.is_none();
        let session = match self.session_url.as_ref().filter(|_| needs_metadata) {
            Some(url) => Some(self.session(tokens, url).await?),
            None => None,
        };
        let session = session.as_ref();
        let region = match &environment.region {
            Some(region) => region.clone(),
            None => {
                let zone = metadata(tokens, self.region_url.as_ref(), "AWS_REGION", session).await?;
                // A zone is its region and a letter.
                zone.trim_end_matches(|letter: char| letter.is_ascii_lowercase()).to_owned()
            }
        };
        let keys = match known {
            Some(keys) => keys,
            None => self.keys(tokens, session).await?,
        };
        let is_region =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if region.is_empty() || !region.chars().all(is_region) {
            return Err(TokenRefusal::last("the region of AWS is no name of a region"));
        }
        let url = Url::parse(&self.verification_url.replace(REGION, &region)).map_err(|_| {
            TokenRefusal::last("credential_source.regional_cred_verification_url is not a URL")
        })?;
        Ok(Secret::new(signed_request(&url, &region, &keys, audience, (tokens.clock)())))
    }

    async fn session(&self, tokens: &GoogleTokens, url: &Url) -> Result<Secret, TokenRefusal> {
        let request =
            HttpRequest::put(url.clone()).header("x-aws-ec2-metadata-token-ttl-seconds", SESSION_LIFETIME)?;
        let answer = tokens.connections.direct.send(request).await?;
        Ok(Secret::new(String::from_utf8_lossy(&read(answer, &[]).await?).trim()))
    }

    async fn keys(&self, tokens: &GoogleTokens, session: Option<&Secret>) -> Result<Keys, TokenRefusal> {
        let role = metadata(tokens, self.keys_url.as_ref(), "AWS_ACCESS_KEY_ID", session).await?;
        let mut url = self.keys_url.clone();
        if let Some(url) = &mut url {
            let path = format!("{}/{role}", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        let text = metadata(tokens, url.as_ref(), "AWS_ACCESS_KEY_ID", session).await?;
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        let member = |name: &str| answer[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        match (member("AccessKeyId"), member("SecretAccessKey")) {
            (Some(id), Some(secret)) => {
                Ok(Keys { id, secret: Secret::new(secret), session_token: member("Token").map(Secret::new) })
            }
            _ => Err(TokenRefusal::last("the metadata server of AWS gives no keys")),
        }
    }
}

/// A text of the metadata server of the machine.
async fn metadata(
    tokens: &GoogleTokens,
    url: Option<&Url>,
    instead: &str,
    session: Option<&Secret>,
) -> Result<String, TokenRefusal> {
    let missing =
        || format!("credential_source names no place for what {instead} would say, and it is not set");
    let url = url.ok_or_else(|| TokenRefusal::last(missing()))?;
    let mut request = HttpRequest::get(url.clone());
    if let Some(session) = session {
        // It came from there, over the same connection without https.
        request = request.header(SESSION_HEADER, session.expose())?;
    }
    let answer = tokens.connections.direct.send(request).await?;
    let secrets: Vec<&Secret> = session.into_iter().collect();
    Ok(String::from_utf8_lossy(&read(answer, &secrets).await?).trim().to_owned())
}

/// A request of `GetCallerIdentity`, written down and encoded as Google wants it.
fn signed_request(url: &Url, region: &str, keys: &Keys, audience: &str, now: SystemTime) -> String {
    let time = amz_date(now);
    let host = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
        None => url.host_str().unwrap_or_default().to_owned(),
    };
    let mut headers = vec![("host", host.as_str()), ("x-amz-date", time.as_str())];
    if let Some(token) = &keys.session_token {
        headers.push(("x-amz-security-token", token.expose()));
    }
    headers.push(("x-goog-cloud-target-resource", audience));
    let authorization = authorization(url, region, keys, &headers, &time);
    headers.insert(0, ("Authorization", &authorization));
    let headers: Vec<Value> =
        headers.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
    let request = json!({"url": url.as_str(), "method": "POST", "headers": headers});
    encoded(&request.to_string())
}

/// Signs a POST without a body (Signature Version 4). `headers` are in the order of their names.
fn authorization(url: &Url, region: &str, keys: &Keys, headers: &[(&str, &str)], time: &str) -> String {
    let mut query: Vec<String> =
        url.query_pairs().map(|(name, value)| format!("{}={}", encoded(&name), encoded(&value))).collect();
    query.sort();
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let canonical = format!("POST\n{}\n{}\n{lines}\n{names}\n{}", url.path(), query.join("&"), sha256(b""));
    let service = url.host_str().unwrap_or_default().split('.').next().unwrap_or_default();
    let date = &time[..8];
    let scope = format!("{date}/{region}/{service}/aws4_request");
    let message = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let signature = hex(&sign(&signing_key(keys.secret.expose(), date, region, service), &message));
    format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", keys.id)
}

fn signing_key(secret: &str, date: &str, region: &str, service: &str) -> Vec<u8> {
    let first = sign(format!("AWS4{secret}").as_bytes(), date);
    [region, service, "aws4_request"].into_iter().fold(first, |key, text| sign(&key, text))
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Everything but letters, digits and `-_.~` as `%XX`.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            _ => _ = write!(text, "%{byte:02X}"),
        }
        text
    })
}

/// `20110909T233600Z`.
fn amz_date(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the calendar, in years that begin in March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_signed_as_in_the_examples_of_aws() {
        // The example of a signing key in the documentation of AWS.
        let key = signing_key("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20120215", "us-east-1", "iam");
        assert_eq!(hex(&key), "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d");
        // "post-vanilla" of AWS's test suite, but for the header of the service.
        let keys = Keys {
            id: "AKIDEXAMPLE".into(),
            secret: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: None,
        };
        let url = Url::parse("https://service.example.amazonaws.com/").unwrap();
        let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        assert_eq!(
            authorization(&url, "us-east-1", &keys, &headers, "20150830T123600Z"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
    }

    #[test]
    fn a_time_is_written_as_aws_wants_it() {
        let at = |seconds| amz_date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "19700101T000000Z");
        assert_eq!(at(1_315_611_360), "20110909T233600Z");
        assert_eq!(at(951_827_696), "20000229T123456Z");
        assert_eq!(at(4_107_542_399), "21000228T235959Z");
    }
}
