//! Signing and verifying: round trips, tampering, wrong keys, rotation, and the published vector.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use attache_card::{
    Algorithm, CardDocument, ExistingSignatures, KeyLifetime, KeySet, PublicKey, SignatureOutcome,
    SignedForm, SigningKey, parse, sign, signed_forms, verify,
};
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

fn now() -> Timestamp {
    Timestamp::from_second(NOW).unwrap()
}

fn key(algorithm: Algorithm) -> SigningKey {
    SigningKey::generate(algorithm, KeyLifetime::default()).unwrap()
}

fn keys(keys: &[&SigningKey]) -> KeySet {
    KeySet::of(keys.iter().map(|key| key.public().clone()))
}

/// All members of both versions, with values that the SDKs would strip.
fn superset() -> CardDocument {
    let card = json!({
        "name": "Prüf-Agent", "description": "signs 😀", "version": "1.0.0",
        "supportedInterfaces": [
            {"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "t"},
            {"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"}
        ],
        "capabilities": {
            "streaming": true, "pushNotifications": false,
            "extensions": [{"uri": "https://a.example/ext", "params": {"level": 3, "half": 0.5, "none": []}}]
        },
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "code", "name": "Code", "description": "Edits code", "tags": ["code"]}],
        "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}, "type": "http", "scheme": "bearer"}},
        "securityRequirements": [{"schemes": {"b": {}}}],
        "protocolVersion": "0.3.0", "url": "https://a.example/", "preferredTransport": "JSONRPC",
        "security": [{"b": []}]
    });
    card.as_object().unwrap().clone()
}

fn outcomes(document: &CardDocument, keys: &KeySet) -> Vec<SignatureOutcome> {
    verify(document, keys, now()).signatures.into_iter().map(|signature| signature.outcome).collect()
}

#[test]
fn every_form_is_signed_by_every_key_and_verifies() {
    let (one, other) = (key(Algorithm::Es256), key(Algorithm::EdDsa));
    let set = keys(&[&one, &other]);
    let signed =
        sign(&superset(), &[one, other], Some("https://a.example/keys"), ExistingSignatures::Replace)
            .unwrap();
    let forms = [SignedForm::Specified, SignedForm::Stripped, SignedForm::Whole].map(SignatureOutcome::Valid);
    assert_eq!(outcomes(&signed, &set), [forms.clone(), forms].concat());
    assert!(verify(&signed, &set, now()).covers_everything());
    // Encoded and parsed again, in any order.
    let again = parse(Value::Object(signed).to_string().as_bytes()).unwrap();
    let verification = verify(&again, &set, now());
    assert!(verification.covers_everything());
    let header = verification.signatures[0].header.clone().unwrap();
    assert_eq!((header.algorithm.as_str(), header.typ.as_deref()), ("ES256", Some("JOSE")));
    assert_eq!(header.jku.as_deref(), Some("https://a.example/keys"));
}

/// Made with the seed of RFC 8032's first test.
#[test]
fn the_deterministic_vector_comes_out() {
    let private = r#"{"kty":"OKP","crv":"Ed25519","kid":"k1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}"#;
    let card = json!({
        "version": "1.0.0", "name": "Prüf-Agent", "description": "signs",
        "supportedInterfaces": [{"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true, "pushNotifications": false, "extensions": []},
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "code", "name": "Code", "description": "Edits code", "tags": ["code"], "examples": []}]
    });
    let mut card = card.as_object().unwrap().clone();
    let key = SigningKey::read(private).unwrap();
    let set = keys(&[&key]);
    let signed = sign(&card, &[key], None, ExistingSignatures::Replace).unwrap();
    assert_eq!(
        signed["signatures"][0],
        json!({
            "protected": "eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIiwidHlwIjoiSk9TRSJ9",
            "signature": "yoyVDWSEFZjPyYAvmKlkC5Oo5AwyJH5kdDtroCGVhs1jE9sYJTDTlYaTBk1Ndhf0l5WjOr9Vf9oa2yvqNIC4BQ"
        })
    );
    // Default values may be removed.
    card["capabilities"].as_object_mut().unwrap().remove("extensions");
    card.insert("signatures".into(), json!([signed["signatures"][0]]));
    assert_eq!(outcomes(&card, &set), [SignatureOutcome::Valid(SignedForm::Specified)]);
}

/// Every value in the document, one after the other, replaced by another of its kind.
fn tampered(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(members) => {
            let mut changed = Vec::new();
            for name in members.keys() {
                for inner in tampered(&members[name]) {
                    let mut copy = members.clone();
                    copy.insert(name.clone(), inner);
                    changed.push(Value::Object(copy));
                }
                let mut without = members.clone();
                without.remove(name);
                changed.push(Value::Object(without));
            }
            changed
        }
        Value::Array(items) => {
            let inner = |index: usize| {
                let items = items.clone();
                tampered(&items[index]).into_iter().map(move |inner| {
                    let mut copy = items.clone();
                    copy[index] = inner;
                    Value::Array(copy)
                })
            };
            let mut doubled = items.clone();
            doubled.extend(items.first().cloned());
            let doubled = (!items.is_empty()).then_some(Value::Array(doubled));
            (0..items.len()).flat_map(inner).chain(doubled).collect()
        }
        Value::String(text) => vec![json!(format!("{text}x"))],
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(number) => vec![json!(number.as_f64().unwrap() + 1.0)],
        Value::Null => Vec::new(),
    }
}

/// The form without empty values.
fn stripped(document: &CardDocument) -> Option<Vec<u8>> {
    let forms = signed_forms(document).ok()?;
    let found = forms.iter().find(|(form, _)| *form == SignedForm::Stripped).or(forms.first());
    found.map(|(_, bytes)| bytes.clone())
}

#[test]
fn no_member_can_be_changed_without_being_noticed() {
    for algorithm in [Algorithm::Es256, Algorithm::EdDsa] {
        let key = key(algorithm);
        let set = keys(&[&key]);
        let signed = sign(&superset(), &[key], None, ExistingSignatures::Replace).unwrap();
        let signatures = signed["signatures"].clone();
        let original = stripped(&superset()).unwrap();
        let changed = tampered(&Value::Object(superset()));
        assert!(changed.len() > 60, "{}", changed.len());
        for mut changed in changed {
            changed["signatures"] = signatures.clone();
            let document = changed.as_object().unwrap();
            let verification = verify(document, &set, now());
            assert!(!verification.covers_everything(), "{changed}");
            // A change in the members of 1.0 invalidates every signature.
            let found = stripped(document);
            assert_eq!(verification.is_valid(), found.as_ref() == Some(&original), "{changed}");
        }
    }
}

#[test]
fn members_that_only_0_3_reads_are_told_when_no_signature_covers_them() {
    let key = key(Algorithm::Es256);
    let set = keys(&[&key]);
    let mut signed = sign(&superset(), &[key], None, ExistingSignatures::Replace).unwrap();
    signed["url"] = json!("https://evil.example/");
    let verification = verify(&signed, &set, now());
    assert!(verification.is_valid() && !verification.covers_everything());
    assert_eq!(
        verification.uncovered,
        [
            "preferredTransport",
            "protocolVersion",
            "security",
            "url",
            "securitySchemes.b.scheme",
            "securitySchemes.b.type"
        ]
    );
    assert_eq!(verification.signatures[2].outcome, SignatureOutcome::Invalid);
}

/// The SDKs' form does not distinguish a card that requires a token from one that requires nothing.
#[test]
fn a_requirement_without_scopes_cannot_be_taken_out_without_being_noticed() {
    let key = key(Algorithm::Es256);
    let set = keys(&[&key]);
    let pure = superset().into_iter().filter(|(name, _)| {
        !["protocolVersion", "url", "preferredTransport", "security", "securitySchemes"]
            .contains(&name.as_str())
    });
    let mut signed = sign(&pure.collect(), &[key], None, ExistingSignatures::Replace).unwrap();
    assert!(verify(&signed, &set, now()).covers_everything());
    signed.remove("securityRequirements");
    let verification = verify(&signed, &set, now());
    let outcomes: Vec<_> =
        verification.signatures.iter().map(|signature| signature.outcome.clone()).collect();
    assert_eq!(outcomes, [SignatureOutcome::Invalid, SignatureOutcome::Valid(SignedForm::Stripped)]);
    assert!(verification.empty_values_uncovered && !verification.covers_everything());
}

#[test]
fn another_key_does_not_do_whatever_it_calls_itself() {
    let (right, wrong) = (key(Algorithm::Es256), key(Algorithm::Es256));
    let signed = sign(&superset(), std::slice::from_ref(&right), None, ExistingSignatures::Replace).unwrap();
    assert_eq!(outcomes(&signed, &keys(&[&wrong])), vec![SignatureOutcome::UnknownKey; 3]);
    let mut named_alike = wrong.public().to_jwk();
    named_alike.insert("kid".into(), right.kid().into());
    let impostor = KeySet::of([PublicKey::from_jwk(&named_alike).unwrap()]);
    assert_eq!(outcomes(&signed, &impostor), vec![SignatureOutcome::Invalid; 3]);
    // The right one beside it is still found.
    let mut both = impostor;
    both.extend(keys(&[&right]));
    assert!(verify(&signed, &both, now()).covers_everything());
}

#[test]
fn the_algorithm_is_the_one_of_the_key() {
    let (ecdsa, edwards) = (key(Algorithm::Es256), key(Algorithm::EdDsa));
    let signed = sign(&superset(), std::slice::from_ref(&ecdsa), None, ExistingSignatures::Replace).unwrap();
    let mut renamed = edwards.public().to_jwk();
    renamed.insert("kid".into(), ecdsa.kid().into());
    let set = KeySet::of([PublicKey::from_jwk(&renamed).unwrap()]);
    let why = "the key is for EdDSA".to_owned();
    assert_eq!(outcomes(&signed, &set), vec![SignatureOutcome::AlgorithmRefused { why }; 3]);
    for (algorithm, protected) in
        [("none", "eyJhbGciOiJub25lIiwia2lkIjoiayJ9"), ("HS256", "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsifQ")]
    {
        let mut card = superset();
        card.insert("signatures".into(), json!([{"protected": protected, "signature": ""}]));
        let why = format!("{algorithm} is not one of ES256, EdDSA, RS256");
        assert_eq!(outcomes(&card, &set), [SignatureOutcome::AlgorithmRefused { why }]);
    }
}

/// Verifies signatures of others with RSA.
#[test]
fn a_signature_of_an_rsa_key_is_checked() {
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    // A sequence of two integers: nine bytes before the modulus, and the usual exponent behind it.
    let public = pair.public_key().as_ref();
    let jwk = json!({"kty": "RSA", "kid": "r", "n": BASE64.encode(&public[9..265]), "e": "AQAB"});
    let set = KeySet::parse(jwk.to_string().as_bytes()).unwrap();
    let mut card = superset();
    let protected = BASE64.encode(r#"{"typ":"JOSE","kid":"r","alg":"RS256"}"#);
    let payload = signed_forms(&card).unwrap()[0].1.clone();
    let message = format!("{protected}.{}", BASE64.encode(payload));
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature).unwrap();
    card.insert(
        "signatures".into(),
        json!([{"protected": protected, "signature": BASE64.encode(signature)}]),
    );
    assert_eq!(outcomes(&card, &set), [SignatureOutcome::Valid(SignedForm::Specified)]);
    card.insert("name".into(), json!("another"));
    assert_eq!(outcomes(&card, &set), [SignatureOutcome::Invalid]);
}

#[test]
fn one_key_takes_the_place_of_another_without_a_gap() {
    let (old, new) = (key(Algorithm::Es256), key(Algorithm::EdDsa));
    let (knows_old, knows_new) = (keys(&[&old]), keys(&[&new]));
    let card = sign(&superset(), std::slice::from_ref(&old), None, ExistingSignatures::Replace).unwrap();
    assert!(verify(&card, &knows_old, now()).covers_everything());
    // Both sign for a while.
    let card = sign(&card, std::slice::from_ref(&new), None, ExistingSignatures::Keep).unwrap();
    assert_eq!(card["signatures"].as_array().unwrap().len(), 6);
    assert!(verify(&card, &knows_old, now()).covers_everything());
    assert!(verify(&card, &knows_new, now()).covers_everything());
    let card = sign(&card, std::slice::from_ref(&new), None, ExistingSignatures::Replace).unwrap();
    assert!(!verify(&card, &knows_old, now()).is_valid());
    assert!(verify(&card, &knows_new, now()).covers_everything());
}

#[test]
fn a_key_that_has_expired_or_was_revoked_is_of_no_use() {
    for (member, value, expected) in [
        ("exp", json!(NOW), Some("it has expired")),
        ("exp", json!(NOW + 1), None),
        ("nbf", json!(NOW + 1), Some("it is not valid yet")),
        ("revoked", json!({"revoked_at": NOW}), Some("it was revoked")),
    ] {
        let key = key(Algorithm::EdDsa);
        let mut jwk = key.public().to_jwk();
        jwk.insert(member.into(), value);
        let set = KeySet::of([PublicKey::from_jwk(&jwk).unwrap()]);
        let signed = sign(&superset(), &[key], None, ExistingSignatures::Replace).unwrap();
        let found = outcomes(&signed, &set)[0].clone();
        match expected {
            Some(why) => assert_eq!(found, SignatureOutcome::KeyRefused { why }),
            None => assert_eq!(found, SignatureOutcome::Valid(SignedForm::Specified)),
        }
    }
}

#[test]
fn a_card_without_signatures_or_without_sense_is_not_valid() {
    let key = key(Algorithm::EdDsa);
    let set = keys(&[&key]);
    let bare = verify(&superset(), &set, now());
    assert!(!bare.is_valid() && bare.signatures.is_empty());
    let mut signed = sign(&superset(), &[key], None, ExistingSignatures::Replace).unwrap();
    signed.insert("name".into(), json!(7));
    let SignatureOutcome::Unreadable { why } = &outcomes(&signed, &set)[0] else { panic!("it has no form") };
    assert_eq!(why, "the card has no canonical form: name: has to be a text, and is a number");
    signed.insert("signatures".into(), json!({"protected": "a"}));
    assert!(!verify(&signed, &set, now()).is_valid());
}

#[test]
fn a_card_of_0_3_is_signed_as_a_whole() {
    let mut card = superset();
    card.remove("supportedInterfaces");
    let key = key(Algorithm::Es256);
    let set = keys(&[&key]);
    let signed = sign(&card, &[key], None, ExistingSignatures::Replace).unwrap();
    assert_eq!(outcomes(&signed, &set), [SignatureOutcome::Valid(SignedForm::Whole)]);
}

/// As the Python SDK 0.3.26 signs it.
fn signed_by_older_sdk() -> (CardDocument, KeySet) {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
    let mut card = superset();
    card.remove("supportedInterfaces");
    let seed = BASE64.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let pair = aws_lc_rs::signature::Ed25519KeyPair::from_seed_unchecked(&seed).unwrap();
    let payload = r#"{"capabilities":{"extensions":[{"params":{"half":0.5,"level":3},"uri":"https://a.example/ext"}],"pushNotifications":false,"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"signs \ud83d\ude00","name":"Pr\u00fcf-Agent","securitySchemes":{"b":{"scheme":"bearer"}},"skills":[{"description":"Edits code","id":"code","name":"Code","tags":["code"]}],"url":"https://a.example/","version":"1.0.0"}"#;
    let protected = BASE64.encode(r#"{"alg":"EdDSA","jku":null,"kid":"k","typ":"JOSE"}"#);
    let signature = pair.sign(format!("{protected}.{}", BASE64.encode(payload)).as_bytes());
    let signature = BASE64.encode(signature.as_ref());
    card.insert("signatures".into(), json!([{"protected": protected, "signature": signature}]));
    let jwk = r#"{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    (card, KeySet::parse(jwk.as_bytes()).unwrap())
}

#[test]
fn what_the_older_sdk_signs_is_understood_for_cards_of_0_3_only() {
    let (mut card, set) = signed_by_older_sdk();
    let verification = verify(&card, &set, now());
    assert_eq!(verification.signatures[0].outcome, SignatureOutcome::Valid(SignedForm::PythonV0_3));
    assert_eq!(verification.uncovered, ["securityRequirements", "securitySchemes.b.httpAuthSecurityScheme"]);
    assert!(verification.empty_values_uncovered && !verification.covers_everything());
    // Interfaces of 1.0 must not be added.
    card.insert("supportedInterfaces".into(), superset()["supportedInterfaces"].clone());
    assert!(!verify(&card, &set, now()).is_valid());
}

proptest! {
    #[test]
    fn whatever_the_texts_are_a_card_verifies_and_another_does_not(name in ".*", other in ".*") {
        let key = key(Algorithm::EdDsa);
        let set = keys(&[&key]);
        let mut card = superset();
        card.insert("name".into(), json!(name));
        let signed = sign(&card, &[key], None, ExistingSignatures::Replace).unwrap();
        let read = parse(Value::Object(signed).to_string().as_bytes()).unwrap();
        prop_assert!(verify(&read, &set, now()).covers_everything());
        let mut changed = read;
        changed.insert("name".into(), json!(other));
        prop_assert_eq!(verify(&changed, &set, now()).is_valid(), name == other);
    }

    #[test]
    fn no_input_makes_reading_or_verifying_fail_in_another_way(text in ".{0,200}", protected in ".{0,40}") {
        let _ = parse(text.as_bytes());
        let _ = KeySet::parse(text.as_bytes());
        let mut card = superset();
        card.insert("signatures".into(), json!([{"protected": protected, "signature": text}]));
        prop_assert!(!verify(&card, &KeySet::default(), now()).is_valid());
    }
}
