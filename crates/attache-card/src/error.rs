//! Errors about cards and keys.

/// The bytes cannot be a card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    #[error("a card of {bytes} bytes is too large; up to {limit} are read")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the card is not JSON: {why}")]
    NotJson { why: String },
    #[error("a card is one JSON object, and this is {found}")]
    NotAnObject { found: &'static str },
}

/// A member has a value that 1.0 does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct InvalidCard {
    pub path: String,
    pub message: String,
}

/// Never holds any part of a private key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    #[error("the key is neither a JWK nor a PKCS #8 private key between BEGIN and END lines")]
    Unreadable,
    #[error("the key has no {member:?}, or one that is not what a JWK has there")]
    Member { member: &'static str },
    #[error("a key of kind {kind} cannot be used here; use P-256 (ES256) or Ed25519 (EdDSA)")]
    Kind { kind: String },
    #[error("the key is a public one; signing needs the private key")]
    NotPrivate,
    #[error("the parts of the key do not belong together")]
    Inconsistent,
    #[error("the key may not be used for signatures (its \"use\" or \"key_ops\" says so)")]
    OtherUse,
    #[error("the set has more than {limit} keys")]
    TooMany { limit: usize },
    #[error("the cryptographic library refuses to work")]
    Library,
}
