use super::*;

fn ed25519() -> Map<String, Value> {
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    jwk.as_object().unwrap().clone()
}

#[track_caller]
fn check(change: Value, expected: Result<(), &str>) {
    let mut jwk = ed25519();
    jwk.extend(change.as_object().unwrap().clone());
    match (PublicKey::from_jwk(&jwk).map_err(|error| error.to_string()), expected) {
        (Ok(_), Ok(())) => {}
        (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
        (found, expected) => panic!("{found:?}, expected {expected:?}"),
    }
}

#[test]
fn a_key_is_read_if_it_may_verify_signatures() {
    check(json!({}), Ok(()));
    check(json!({"use": "sig", "alg": "EdDSA", "key_ops": ["verify"], "x5c": []}), Ok(()));
    check(json!({"use": "enc"}), Err("may not be used for signatures"));
    check(json!({"key_ops": ["encrypt"]}), Err("may not be used for signatures"));
    check(json!({"alg": "ES256"}), Err("\"alg\""));
    check(json!({"alg": "none"}), Err("\"alg\""));
    check(json!({"kid": ""}), Err("\"kid\""));
    check(json!({"kid": 7}), Err("\"kid\""));
    check(json!({"x": "AAAA"}), Err("\"x\""));
    check(json!({"x": "not base64!"}), Err("\"x\""));
    check(json!({"kty": "oct", "k": "AAAA"}), Err("oct Ed25519 cannot be used"));
    check(json!({"crv": "X25519"}), Err("OKP X25519"));
    check(json!({"kty": "EC", "crv": "P-256"}), Err("\"y\""));
    check(json!({"kty": "RSA", "n": "", "e": "AQAB"}), Err("\"n\""));
    check(json!({"exp": "tomorrow"}), Err("\"exp\""));
}

/// The example of RFC 8037, appendix A.3.
#[test]
fn a_key_without_a_name_is_known_by_its_thumbprint() {
    let key = PublicKey::from_jwk(&ed25519()).unwrap();
    assert_eq!(key.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn a_key_is_refused_outside_its_time() {
    let at = |second| Timestamp::from_second(second).unwrap();
    let mut jwk = ed25519();
    jwk.insert("nbf".into(), 100.into());
    jwk.insert("exp".into(), 200.into());
    let key = PublicKey::from_jwk(&jwk).unwrap();
    for (second, expected) in
        [(99, Some("it is not valid yet")), (100, None), (199, None), (200, Some("it has expired"))]
    {
        assert_eq!(key.lifetime.refusal(at(second)), expected, "{second}");
    }
    jwk.insert("revoked".into(), json!({"revoked_at": 150}));
    assert_eq!(PublicKey::from_jwk(&jwk).unwrap().lifetime.refusal(at(150)), Some("it was revoked"));
}

#[test]
fn a_set_passes_over_what_it_cannot_use_and_is_written_without_anything_private() {
    let mut private = ed25519();
    private.insert("kid".into(), "mine".into());
    private.insert("d".into(), "c2VjcmV0".into());
    let set = json!({"keys": [private, {"kty": "oct", "k": "AAAA"}, {"kty": "EC", "crv": "P-384"}, 7]});
    let set = KeySet::parse(set.to_string().as_bytes()).unwrap();
    assert_eq!(set.iter().map(|key| key.kid.as_str()).collect::<Vec<_>>(), ["mine"]);
    let written = set.to_json();
    assert_eq!(written["keys"][0]["d"], Value::Null);
    assert_eq!(KeySet::parse(written.to_string().as_bytes()).unwrap(), set);
}

#[test]
fn a_set_has_bounds() {
    let keys: Vec<Value> = (0..=MAX_KEYS).map(|_| Value::Object(ed25519())).collect();
    let error = KeySet::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap_err();
    assert_eq!(error, KeyError::TooMany { limit: MAX_KEYS });
    assert_eq!(KeySet::parse(b"[]").unwrap_err(), KeyError::Unreadable);
    assert_eq!(KeySet::parse(br#"{"keys": 1}"#).unwrap_err(), KeyError::Member { member: "keys" });
}
