//! Entry points for arbitrary bytes: nothing may panic, and decoded values keep their meaning.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{KeySet, SigningKey, canonical, headers, lint, normalize, parse, signed_forms, verify};

/// A card: parsed, linted, normalized and verified.
pub fn card(text: &[u8]) {
    let findings = lint::lint(text);
    let Ok(document) = parse(text) else {
        assert!(!findings.is_empty(), "what cannot be read has a fault");
        return;
    };
    assert_eq!(findings, lint::lint_document(&document));
    canonical_is_stable(&Value::Object(document.clone()));
    if let Ok(forms) = signed_forms(&document) {
        for (form, bytes) in forms {
            let again = parse(&bytes).expect("a form is a document");
            assert_eq!(canonical(&Value::Object(again)), bytes, "{form:?} is canonical");
        }
    }
    let _ = (lint::versions(&document), normalize(&document), headers(&document));
    let verification = verify(&document, &KeySet::default(), Timestamp::UNIX_EPOCH);
    assert!(!verification.is_valid(), "nothing is valid without a key");
}

/// Any JSON, in its canonical form.
pub fn canonical_form(text: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<Value>(text) {
        canonical_is_stable(&value);
    }
}

/// Keys, as a set of public ones and as a private one.
pub fn keys(text: &[u8]) {
    if let Ok(keys) = KeySet::parse(text) {
        let json = keys.to_json();
        let again = KeySet::parse(json.to_string().as_bytes()).expect("what was written is read");
        assert_eq!(again.to_json(), json, "what was read is written alike");
        for key in keys.iter() {
            let _ = (key.algorithm(), key.to_jwk());
        }
    }
    let _ = SigningKey::read(&String::from_utf8_lossy(text));
}

/// A signature: its protected header, a NUL, and its bytes. It is never valid for another's key.
pub fn signature(text: &[u8]) {
    let (header, signature) = match text.iter().position(|byte| *byte == 0) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[][..]),
    };
    // The header itself, and one for each key, so that the bytes reach the verification.
    let named =
        KEYS.iter().map(|key| format!(r#"{{"alg":"{}","kid":"{}"}}"#, key.algorithm(), key.kid).into_bytes());
    for header in named.chain([header.to_vec()]) {
        let signatures = json!([{
            "protected": URL_SAFE_NO_PAD.encode(header),
            "signature": URL_SAFE_NO_PAD.encode(signature),
        }]);
        let document =
            Map::from_iter([("name".to_owned(), "a".into()), ("signatures".to_owned(), signatures)]);
        let verification = verify(&document, &KEYS, Timestamp::UNIX_EPOCH);
        assert!(!verification.is_valid(), "{verification:?}");
        assert_eq!(verification.signatures.len(), 1);
        assert_eq!(headers(&document).len(), 1);
    }
}

/// One public key of every kind.
static KEYS: LazyLock<KeySet> = LazyLock::new(|| {
    let keys = json!({ "keys": [
        { "kty": "EC", "crv": "P-256", "kid": "p256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0" },
        { "kty": "OKP", "crv": "Ed25519", "kid": "ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
        { "kty": "RSA", "kid": "rsa", "e": "AQAB", "n": URL_SAFE_NO_PAD.encode([0xc5; 256]) },
    ]});
    KeySet::parse(keys.to_string().as_bytes()).expect("keys that are spelled properly")
});

fn canonical_is_stable(value: &Value) {
    let once = canonical(value);
    let again: Value = serde_json::from_slice(&once).expect("the canonical form is JSON");
    assert_eq!(canonical(&again), once, "the canonical form of the canonical form is itself");
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{JSON_WORDS, check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Pieces of such texts, so that generated ones get past the first token.
    const WORDS: &[&str] = &[
        r#""name":"#,
        r#""url":"#,
        r#""supportedInterfaces":"#,
        r#""skills":"#,
        r#""signatures":"#,
        r#""protected":"#,
        r#""signature":"#,
        r#""eyJhbGciOiJFUzI1NiJ9""#,
        r#""keys":"#,
        r#""kty":"#,
        r#""EC""#,
        r#""crv":"#,
        r#""P-256""#,
        r#""x":"#,
        r#""kid":"#,
        "-----BEGIN PRIVATE KEY-----\n",
        "\0",
        r#"{"alg":"ES256","kid":"p256"}"#,
    ];

    fn all(bytes: &[u8]) {
        card(bytes);
        canonical_form(bytes);
        keys(bytes);
        signature(bytes);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_texts_do_no_harm() {
        check_likely_input(&[JSON_WORDS, WORDS].concat(), 40, all);
    }
}
