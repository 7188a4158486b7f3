//! Private keys: generating, reading, signing. They are never shown.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::encoding::{AsBigEndian, Curve25519SeedBin, EcPrivateKeyBin};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use crate::jwk::{KeyMaterial, decode_member};
use crate::{KeyError, KeyLifetime, PublicKey};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// ECDSA on P-256.
    #[default]
    Es256,
    /// Ed25519.
    EdDsa,
}

impl FromStr for Algorithm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "es256" => Ok(Self::Es256),
            "eddsa" => Ok(Self::EdDsa),
            _ => Err("an algorithm is es256 or eddsa".to_owned()),
        }
    }
}

/// A key that signs cards.
pub struct SigningKey {
    pair: KeyPair,
    public: PublicKey,
}

enum KeyPair {
    P256(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl SigningKey {
    /// Generates a key; its id is its thumbprint.
    pub fn generate(algorithm: Algorithm, lifetime: KeyLifetime) -> Result<Self, KeyError> {
        let pair = match algorithm {
            Algorithm::Es256 => EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)
                .map(|pair| KeyPair::P256(Box::new(pair))),
            Algorithm::EdDsa => Ed25519KeyPair::generate().map(|pair| KeyPair::Ed25519(Box::new(pair))),
        };
        let pair = pair.map_err(|_| KeyError::Library)?;
        let point = pair.point()?;
        Ok(Self { public: PublicKey { kid: point.thumbprint(), lifetime, material: point }, pair })
    }

    /// Reads a private JWK, or PKCS #8 in PEM, whose id is its thumbprint.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        match der(text) {
            Some(der) => Self::from_pkcs8(&der),
            None => Self::from_jwk(&crate::parse(text.as_bytes()).map_err(|_| KeyError::Unreadable)?),
        }
    }

    fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, KeyError> {
        let public = PublicKey::from_jwk(jwk)?;
        if !jwk.contains_key("d") {
            return Err(KeyError::NotPrivate);
        }
        let private = || decode_member(jwk, "d");
        let pair = match &public.material {
            KeyMaterial::P256 { x, y } => {
                let point = [&[4], x.as_slice(), y.as_slice()].concat();
                let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
                EcdsaKeyPair::from_private_key_and_public_key(algorithm, &private()?, &point)
                    .map(|pair| KeyPair::P256(Box::new(pair)))
            }
            KeyMaterial::Ed25519 { x } => Ed25519KeyPair::from_seed_and_public_key(&private()?, x)
                .map(|pair| KeyPair::Ed25519(Box::new(pair))),
            KeyMaterial::Rsa { .. } => return Err(KeyError::Kind { kind: "RSA".to_owned() }),
        };
        Ok(Self { pair: pair.map_err(|_| KeyError::Inconsistent)?, public })
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let p256 = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der);
        let pair = p256.map(|pair| KeyPair::P256(Box::new(pair))).or_else(|_| {
            // Many programs write Ed25519 keys without the public key.
            Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(|pair| KeyPair::Ed25519(Box::new(pair)))
        });
        let pair = pair.map_err(|_| KeyError::Kind { kind: "this PKCS #8 document".to_owned() })?;
        let point = pair.point()?;
        let public = PublicKey { kid: point.thumbprint(), lifetime: KeyLifetime::default(), material: point };
        Ok(Self { pair, public })
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub fn kid(&self) -> &str {
        &self.public.kid
    }

    /// The whole key as JWK. Write it where only its owner can read.
    pub fn private_jwk(&self) -> Result<PrivateKeyText, KeyError> {
        let private = match &self.pair {
            KeyPair::P256(pair) => {
                let private: Result<EcPrivateKeyBin<'_>, _> = pair.private_key().as_be_bytes();
                private.map(|private| URL_SAFE_NO_PAD.encode(private.as_ref()))
            }
            KeyPair::Ed25519(pair) => {
                let seed: Result<Curve25519SeedBin<'_>, _> = pair.seed().and_then(|seed| seed.as_be_bytes());
                seed.map(|seed| URL_SAFE_NO_PAD.encode(seed.as_ref()))
            }
        };
        let mut jwk = self.public.to_jwk();
        jwk.insert("d".into(), private.map_err(|_| KeyError::Library)?.into());
        Ok(PrivateKeyText(Value::Object(jwk).to_string()))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let signature = match &self.pair {
            KeyPair::P256(pair) => pair.sign(&SystemRandom::new(), message),
            KeyPair::Ed25519(pair) => pair.try_sign(message),
        };
        signature.map(|signature| signature.as_ref().to_vec()).map_err(|_| KeyError::Library)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SigningKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl KeyPair {
    fn point(&self) -> Result<KeyMaterial, KeyError> {
        match self {
            Self::P256(pair) => match pair.public_key().as_ref() {
                // Uncompressed: a four, then both halves.
                [4, halves @ ..] if halves.len() == 64 => {
                    let (x, y) = halves.split_at(32);
                    let half = |half: &[u8]| half.try_into().map_err(|_| KeyError::Library);
                    Ok(KeyMaterial::P256 { x: half(x)?, y: half(y)? })
                }
                _ => Err(KeyError::Library),
            },
            Self::Ed25519(pair) => {
                let x = pair.public_key().as_ref().try_into().map_err(|_| KeyError::Library)?;
                Ok(KeyMaterial::Ed25519 { x })
            }
        }
    }
}

/// The text of a private key.
pub struct PrivateKeyText(String);

impl PrivateKeyText {
    /// The text itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PrivateKeyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PrivateText(…)")
    }
}

/// The content between the BEGIN and END lines of PEM.
fn der(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (inside, _) = rest.split_once("-----END PRIVATE KEY-----")?;
    let text: String = inside.split_whitespace().collect();
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_as_it_was_written_and_signs_for_its_public_half() {
        for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
            let key = SigningKey::generate(algorithm, KeyLifetime::default()).unwrap();
            let again = SigningKey::read(key.private_jwk().unwrap().expose()).unwrap();
            assert_eq!(key.public(), again.public());
            let signature = again.sign(b"message").unwrap();
            assert_eq!(signature.len(), 64);
            assert!(key.public().verifies(b"message", &signature));
            assert!(!key.public().verifies(b"massage", &signature));
        }
    }

    #[test]
    fn a_key_shows_nothing_private() {
        let key = SigningKey::generate(Algorithm::EdDsa, KeyLifetime::default()).unwrap();
        let text = key.private_jwk().unwrap();
        let jwk: Value = serde_json::from_str(text.expose()).unwrap();
        let shown = format!("{key:?} {text:?}");
        assert!(!shown.contains(jwk["d"].as_str().unwrap()), "{shown}");
        assert!(!key.public().to_jwk().contains_key("d"));
    }

    /// Both as `openssl genpkey` writes them.
    #[test]
    fn keys_of_other_programs_are_read() {
        let ed25519 = "-----BEGIN PRIVATE KEY-----\n\
             MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
             -----END PRIVATE KEY-----\n";
        let key = SigningKey::read(ed25519).unwrap();
        assert_eq!(key.kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let made = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        let pem = STANDARD.encode(made.to_pkcs8v1().unwrap());
        let key = SigningKey::read(&format!("-----BEGIN PRIVATE KEY-----\n{pem}\n-----END PRIVATE KEY-----"))
            .unwrap();
        assert_eq!(key.public().algorithm(), "ES256");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let error = SigningKey::read(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn what_is_no_private_key_is_refused_and_not_repeated() {
        check("", "neither a JWK nor");
        check("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "cannot be used");
        check(
            r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            "public one",
        );
        let other = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
        let jwk = format!(
            r#"{{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"{other}"}}"#
        );
        check(&jwk, "do not belong together");
        assert!(!SigningKey::read(&jwk).unwrap_err().to_string().contains(other));
    }
}
