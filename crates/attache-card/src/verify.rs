//! Checks the signatures of a card against keys.
//!
//! The algorithm of a signature must match its key; there is no `none` and no shared secret. Not here: the origin of
//! keys. A caller that fetches them from a `jku` must first decide whether to trust that address.

use jiff::Timestamp;

use crate::form::all_signed_forms;
use crate::header::{SignatureParts, read, signatures};
use crate::python_v0_3::python_v0_3_form;
use crate::sign::signing_input;
use crate::{CardDocument, KeySet, SignatureHeader, SignedForm, normalize};

/// The algorithms that cards may use.
const ALGORITHMS: &[&str] = &["ES256", "EdDSA", "RS256"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// In the order of the card.
    pub signatures: Vec<CheckedSignature>,
    /// Paths of members that no valid signature covers.
    pub uncovered: Vec<String>,
    /// Whether every valid signature ignores empty values. A requirement without scopes is one: anyone could have
    /// added or removed it.
    pub empty_values_uncovered: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedSignature {
    pub header: Option<SignatureHeader>,
    pub outcome: SignatureOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureOutcome {
    /// The key signed this form of the card.
    Valid(SignedForm),
    /// The key signed no form of this card: the card was changed, or another key of the same name signed it.
    Invalid,
    /// No key has this name.
    UnknownKey,
    /// The key must not be used now.
    KeyRefused { why: &'static str },
    /// The algorithm is not allowed, or does not match the key.
    AlgorithmRefused { why: String },
    /// The entry is no signature.
    Unreadable { why: String },
}

impl Verification {
    /// One valid signature is enough.
    pub fn is_valid(&self) -> bool {
        self.signatures.iter().any(|signature| matches!(signature.outcome, SignatureOutcome::Valid(_)))
    }

    /// Valid, and covers every member.
    pub fn covers_everything(&self) -> bool {
        self.is_valid() && self.uncovered.is_empty() && !self.empty_values_uncovered
    }
}

pub fn verify(document: &CardDocument, keys: &KeySet, now: Timestamp) -> Verification {
    let payloads = all_signed_forms(document).map(|mut payloads| {
        // Not for a card of 1.0 too: this form does not cover the interfaces that clients of 1.0 use.
        if !document.contains_key("supportedInterfaces") {
            payloads.push((SignedForm::PythonV0_3, python_v0_3_form(document).bytes));
        }
        payloads
    });
    let check = |entry| match (read(entry), &payloads) {
        (Err(why), _) => CheckedSignature { header: None, outcome: SignatureOutcome::Unreadable { why } },
        (Ok(parts), Err(why)) => {
            let why = format!("the card has no canonical form: {why}");
            CheckedSignature { header: Some(parts.header), outcome: SignatureOutcome::Unreadable { why } }
        }
        (Ok(parts), Ok(payloads)) => {
            let outcome = outcome(&parts, payloads, keys, now);
            CheckedSignature { header: Some(parts.header), outcome }
        }
    };
    let signatures: Vec<CheckedSignature> = signatures(document).iter().map(check).collect();
    let is_valid =
        |form| signatures.iter().any(|signature| signature.outcome == SignatureOutcome::Valid(form));
    let only_known = is_valid(SignedForm::Specified) || is_valid(SignedForm::Stripped);
    let uncovered = if is_valid(SignedForm::Whole) {
        Vec::new()
    } else if only_known {
        normalize(document).map(|normal| normal.unknown).unwrap_or_default()
    } else if is_valid(SignedForm::PythonV0_3) {
        python_v0_3_form(document).unknown
    } else {
        document.keys().filter(|name| *name != "signatures").cloned().collect()
    };
    let empty_values_uncovered = !is_valid(SignedForm::Whole) && !is_valid(SignedForm::Specified);
    Verification { uncovered, empty_values_uncovered, signatures }
}

fn outcome(
    parts: &SignatureParts<'_>,
    payloads: &[(SignedForm, Vec<u8>)],
    keys: &KeySet,
    now: Timestamp,
) -> SignatureOutcome {
    let SignatureHeader { algorithm, kid, .. } = &parts.header;
    if !ALGORITHMS.contains(&algorithm.as_str()) {
        let why = format!("{algorithm} is not one of {}", ALGORITHMS.join(", "));
        return SignatureOutcome::AlgorithmRefused { why };
    }
    let mut said = SignatureOutcome::UnknownKey;
    for key in keys.iter().filter(|key| key.kid == *kid) {
        if key.algorithm() != algorithm {
            said = SignatureOutcome::AlgorithmRefused { why: format!("the key is for {}", key.algorithm()) };
            continue;
        }
        if let Some(why) = key.lifetime.refusal(now) {
            said = SignatureOutcome::KeyRefused { why };
            continue;
        }
        let signed = |payload: &[u8]| {
            key.verifies(signing_input(parts.protected, payload).as_bytes(), &parts.signature)
        };
        let may_be = |form: SignedForm| !parts.header.stripped || form == SignedForm::Stripped;
        match payloads.iter().find(|(form, payload)| may_be(*form) && signed(payload)) {
            Some((form, _)) => return SignatureOutcome::Valid(*form),
            None => said = SignatureOutcome::Invalid,
        }
    }
    said
}
