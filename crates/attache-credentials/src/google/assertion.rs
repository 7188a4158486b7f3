//! Signs the JWT assertion of a service account.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use attache_net::Secret;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::TokenPurpose;

/// Google takes no longer one.
const LIFETIME: Duration = Duration::from_secs(3_600);

pub(super) struct Claim<'a> {
    pub(super) email: &'a str,
    pub(super) key_id: Option<&'a str>,
    /// The audience of the assertion.
    pub(super) audience: &'a str,
    pub(super) purpose: &'a TokenPurpose,
    pub(super) now: SystemTime,
}

pub(super) fn signed(claim: &Claim<'_>, private_key: &Secret) -> Result<Secret, String> {
    let key = RsaKeyPair::from_pkcs8(&der(private_key.expose())?)
        .map_err(|_| "the private key of the service account is not an RSA key in PKCS #8".to_owned())?;
    let issued = claim.now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut header = json!({"alg": "RS256", "typ": "JWT"});
    if let Some(key_id) = claim.key_id {
        header["kid"] = json!(key_id);
    }
    let mut claims = json!({
        "iss": claim.email,
        "aud": claim.audience,
        "iat": issued.as_secs(),
        "exp": (issued + LIFETIME).as_secs(),
    });
    match claim.purpose {
        TokenPurpose::Access { scopes } => claims["scope"] = json!(scopes.join(" ")),
        TokenPurpose::Identity { audience } => claims["target_audience"] = json!(audience),
    }
    let message = format!("{}.{}", encoded(&header), encoded(&claims));
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature)
        .map_err(|_| "the private key of the service account does not sign".to_owned())?;
    Ok(Secret::new(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// What is between the lines that say BEGIN and END.
fn der(pem: &str) -> Result<Vec<u8>, String> {
    const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
    const END: &str = "-----END PRIVATE KEY-----";
    let inside = pem.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(inside, _)| inside);
    let text: String = inside.unwrap_or_default().split_whitespace().collect();
    let decoded = STANDARD.decode(text).ok().filter(|bytes| !bytes.is_empty());
    decoded.ok_or_else(|| format!("the private key of the service account is not between {BEGIN} and {END}"))
}
