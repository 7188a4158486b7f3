//! Signs a card: one signature for each key and each canonical form.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::header::{STRIPPED_MARKER, signatures};
use crate::{CardDocument, InvalidCard, KeyError, SignedForm, SigningKey, canonical, signed_forms};

/// What happens to existing signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingSignatures {
    Keep,
    Replace,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    #[error("the card cannot be signed: {0}")]
    Card(#[from] InvalidCard),
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// Returns the card with its signatures. Do not change it afterwards.
pub fn sign(
    document: &CardDocument,
    keys: &[SigningKey],
    jku: Option<&str>,
    existing: ExistingSignatures,
) -> Result<CardDocument, SignError> {
    let forms = signed_forms(document)?;
    let mut entries = match existing {
        ExistingSignatures::Keep => signatures(document).to_vec(),
        ExistingSignatures::Replace => Vec::new(),
    };
    for key in keys {
        for (form, payload) in &forms {
            let protected = URL_SAFE_NO_PAD.encode(protected_header(key, jku, *form));
            let signature = key.sign(signing_input(&protected, payload).as_bytes())?;
            let signature = URL_SAFE_NO_PAD.encode(signature);
            entries.push(json!({"protected": protected, "signature": signature}));
        }
    }
    let mut signed = document.clone();
    signed.insert("signatures".into(), Value::Array(entries));
    Ok(signed)
}

fn protected_header(key: &SigningKey, jku: Option<&str>, form: SignedForm) -> Vec<u8> {
    let mut header = json!({"alg": key.public().algorithm(), "kid": key.kid(), "typ": "JOSE"});
    if let Some(jku) = jku {
        header["jku"] = jku.into();
    }
    if form == SignedForm::Stripped {
        header[STRIPPED_MARKER.0] = STRIPPED_MARKER.1.into();
    }
    canonical(&header)
}

pub(crate) fn signing_input(protected: &str, payload: &[u8]) -> String {
    format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload))
}
