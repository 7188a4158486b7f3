//! Public keys as JWK (RFC 7517), and sets of them.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{KeyError, canonical};

/// More than any key rotation needs.
const MAX_KEYS: usize = 64;

const MAX_MODULUS_BYTES: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The key's own id, else its thumbprint (RFC 7638).
    pub kid: String,
    pub lifetime: KeyLifetime,
    pub(crate) material: KeyMaterial,
}

/// When a key may be used; by default, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyLifetime {
    pub not_before: Option<Timestamp>,
    pub expires: Option<Timestamp>,
    pub revoked: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyMaterial {
    P256 {
        x: [u8; 32],
        y: [u8; 32],
    },
    Ed25519 {
        x: [u8; 32],
    },
    /// Only to verify other signers' cards.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
}

impl PublicKey {
    pub fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, KeyError> {
        let point = KeyMaterial::of(jwk)?;
        check_use(jwk, &["verify", "sign"])?;
        if jwk.get("alg").is_some_and(|alg| alg != point.algorithm()) {
            return Err(KeyError::Member { member: "alg" });
        }
        let kid = match jwk.get("kid") {
            None => point.thumbprint(),
            Some(Value::String(kid)) if !kid.is_empty() => kid.clone(),
            Some(_) => return Err(KeyError::Member { member: "kid" }),
        };
        Ok(Self { kid, lifetime: KeyLifetime::of(jwk)?, material: point })
    }

    /// The `alg` of its signatures.
    pub fn algorithm(&self) -> &'static str {
        self.material.algorithm()
    }

    pub fn to_jwk(&self) -> Map<String, Value> {
        let mut jwk = self.material.members();
        jwk.insert("kid".into(), self.kid.clone().into());
        jwk.insert("alg".into(), self.algorithm().into());
        jwk.insert("use".into(), "sig".into());
        let KeyLifetime { not_before, expires, revoked } = self.lifetime;
        for (name, moment) in [("nbf", not_before), ("exp", expires)] {
            if let Some(moment) = moment {
                jwk.insert(name.into(), moment.as_second().into());
            }
        }
        if revoked {
            jwk.insert("revoked".into(), json!({}));
        }
        jwk
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            KeyMaterial::P256 { x, y } => {
                let key = [&[4], x.as_slice(), y.as_slice()].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(message, signature)
            }
            KeyMaterial::Ed25519 { x } => UnparsedPublicKey::new(&ED25519, x).verify(message, signature),
            KeyMaterial::Rsa { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
        };
        verified.is_ok()
    }
}

impl KeyLifetime {
    fn of(jwk: &Map<String, Value>) -> Result<Self, KeyError> {
        let moment = |member: &'static str| match jwk.get(member) {
            None => Ok(None),
            Some(value) => {
                let moment = value.as_i64().and_then(|seconds| Timestamp::from_second(seconds).ok());
                moment.map(Some).ok_or(KeyError::Member { member })
            }
        };
        let revoked = jwk.get("revoked").is_some_and(|value| !value.is_null());
        Ok(Self { not_before: moment("nbf")?, expires: moment("exp")?, revoked })
    }

    /// Why the key must not be used now, if so.
    pub fn refusal(&self, now: Timestamp) -> Option<&'static str> {
        if self.revoked {
            Some("it was revoked")
        } else if self.expires.is_some_and(|expires| now >= expires) {
            Some("it has expired")
        } else if self.not_before.is_some_and(|begins| now < begins) {
            Some("it is not valid yet")
        } else {
            None
        }
    }
}

impl KeyMaterial {
    fn of(jwk: &Map<String, Value>) -> Result<Self, KeyError> {
        let text = |member: &'static str| jwk.get(member).and_then(Value::as_str);
        let kind = text("kty").ok_or(KeyError::Member { member: "kty" })?;
        match (kind, text("crv").unwrap_or_default()) {
            ("EC", "P-256") => {
                Ok(Self::P256 { x: decode_32_bytes(jwk, "x")?, y: decode_32_bytes(jwk, "y")? })
            }
            ("OKP", "Ed25519") => Ok(Self::Ed25519 { x: decode_32_bytes(jwk, "x")? }),
            ("RSA", _) => {
                let number = |member| {
                    let bytes = decode_member(jwk, member)?;
                    let fits = (1..=MAX_MODULUS_BYTES).contains(&bytes.len()) && bytes[0] != 0;
                    if fits { Ok(bytes) } else { Err(KeyError::Member { member }) }
                };
                Ok(Self::Rsa { modulus: number("n")?, exponent: number("e")? })
            }
            (kind, curve) => {
                let named = if curve.is_empty() { kind.to_owned() } else { format!("{kind} {curve}") };
                Err(KeyError::Kind { kind: named.chars().take(40).collect() })
            }
        }
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::P256 { .. } => "ES256",
            Self::Ed25519 { .. } => "EdDSA",
            Self::Rsa { .. } => "RS256",
        }
    }

    /// The required members, from which the thumbprint is computed.
    fn members(&self) -> Map<String, Value> {
        let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let members = match self {
            Self::P256 { x, y } => json!({"kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y)}),
            Self::Ed25519 { x } => json!({"kty": "OKP", "crv": "Ed25519", "x": encoded(x)}),
            Self::Rsa { modulus, exponent } => {
                json!({"kty": "RSA", "n": encoded(modulus), "e": encoded(exponent)})
            }
        };
        members.as_object().cloned().unwrap_or_default()
    }

    pub(crate) fn thumbprint(&self) -> String {
        let members = canonical(&Value::Object(self.members()));
        URL_SAFE_NO_PAD.encode(digest(&SHA256, &members))
    }
}

pub(crate) fn decode_member(jwk: &Map<String, Value>, member: &'static str) -> Result<Vec<u8>, KeyError> {
    let text = jwk.get(member).and_then(Value::as_str);
    text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok()).ok_or(KeyError::Member { member })
}

pub(crate) fn decode_32_bytes(jwk: &Map<String, Value>, member: &'static str) -> Result<[u8; 32], KeyError> {
    decode_member(jwk, member)?.try_into().map_err(|_| KeyError::Member { member })
}

/// Checks the declared use of a key.
fn check_use(jwk: &Map<String, Value>, wanted: &[&str]) -> Result<(), KeyError> {
    let for_signatures = jwk.get("use").is_none_or(|usage| usage == "sig");
    let operation = |operation: &Value| operation.as_str().is_some_and(|name| wanted.contains(&name));
    let operations = match jwk.get("key_ops") {
        None => true,
        Some(Value::Array(operations)) => operations.iter().any(operation),
        Some(_) => false,
    };
    if for_signatures && operations { Ok(()) } else { Err(KeyError::OtherUse) }
}

/// Keys to verify with. During a rotation several are valid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeySet {
    keys: Vec<PublicKey>,
}

impl KeySet {
    pub fn of(keys: impl IntoIterator<Item = PublicKey>) -> Self {
        Self { keys: keys.into_iter().collect() }
    }

    /// A JWK Set, or a single JWK. Keys of other kinds and for other purposes are passed over, as RFC 7517 says.
    pub fn parse(text: &[u8]) -> Result<Self, KeyError> {
        let document = crate::parse(text).map_err(|_| KeyError::Unreadable)?;
        let Some(keys) = document.get("keys") else {
            return PublicKey::from_jwk(&document).map(|key| Self::of([key]));
        };
        let keys = keys.as_array().ok_or(KeyError::Member { member: "keys" })?;
        if keys.len() > MAX_KEYS {
            return Err(KeyError::TooMany { limit: MAX_KEYS });
        }
        let usable = keys.iter().filter_map(|key| PublicKey::from_jwk(key.as_object()?).ok());
        Ok(Self::of(usable))
    }

    pub fn extend(&mut self, other: Self) {
        self.keys.extend(other.keys);
    }

    pub fn iter(&self) -> impl Iterator<Item = &PublicKey> {
        self.keys.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The JWK Set to publish, without private members.
    pub fn to_json(&self) -> Value {
        json!({ "keys": self.keys.iter().map(PublicKey::to_jwk).collect::<Vec<_>>() })
    }
}

#[cfg(test)]
#[path = "jwk_tests.rs"]
mod tests;
