//! The headers of signatures, which need no key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::CardDocument;

/// More than any card has; each costs a few checks.
pub(crate) const MAX_SIGNATURES: usize = 32;

/// The protected header of a signature. The unprotected header is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SignatureHeader {
    pub algorithm: String,
    pub kid: String,
    /// Where the signer claims that the keys are.
    pub jku: Option<String>,
    pub typ: Option<String>,
    /// Whether the signer declares that empty values were left out; see [`STRIPPED_MARKER`].
    pub stripped: bool,
}

/// The member of a protected header, and its value, that mark a signature without empty values. Other verifiers
/// ignore it. Verifiers that know it cannot be fooled by a card whose empty values were removed.
pub(crate) const STRIPPED_MARKER: (&str, &str) = ("card_form", "stripped");

/// The headers of a card's signatures in order, or why one cannot be read.
pub fn headers(document: &CardDocument) -> Vec<Result<SignatureHeader, String>> {
    signatures(document).iter().map(|entry| read(entry).map(|parts| parts.header)).collect()
}

pub(crate) fn signatures(document: &CardDocument) -> &[Value] {
    let listed = document.get("signatures").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    &listed[..listed.len().min(MAX_SIGNATURES)]
}

/// The parts of a signature.
pub(crate) struct SignatureParts<'a> {
    pub(crate) header: SignatureHeader,
    /// As received: it must not be re-encoded.
    pub(crate) protected: &'a str,
    pub(crate) signature: Vec<u8>,
}

pub(crate) fn read(entry: &Value) -> Result<SignatureParts<'_>, String> {
    let text = |member: &str| {
        let text = entry.get(member).and_then(Value::as_str);
        text.ok_or_else(|| format!("it has no text {member:?}"))
    };
    let (protected, signature) = (text("protected")?, text("signature")?);
    let decoded = |member: &str, text: &str| {
        URL_SAFE_NO_PAD.decode(text).map_err(|_| format!("{member:?} is not base64url without padding"))
    };
    let header = crate::parse(&decoded("protected", protected)?)
        .map_err(|_| "\"protected\" does not hold a JSON object".to_owned())?;
    if header.contains_key("crit") {
        return Err("its header has \"crit\" members, which are not understood here".to_owned());
    }
    let named = |member: &str| match header.get(member) {
        // Some signers write absent members as null.
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("{member:?} in its protected header is not a text")),
    };
    let must = |member: &str| {
        let text = named(member)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| format!("its protected header has no {member:?}"))
    };
    let header = SignatureHeader {
        algorithm: must("alg")?,
        kid: must("kid")?,
        jku: named("jku")?,
        typ: named("typ")?,
        stripped: header.get(STRIPPED_MARKER.0).is_some_and(|form| form == STRIPPED_MARKER.1),
    };
    Ok(SignatureParts { header, protected, signature: decoded("signature", signature)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(header: &str, expected: Result<&str, &str>) {
        let card =
            json!({"signatures": [{"protected": URL_SAFE_NO_PAD.encode(header), "signature": "AAAA"}]});
        match (&headers(card.as_object().unwrap())[..], expected) {
            ([Ok(header)], Ok(kid)) => assert_eq!(header.kid, kid),
            ([Err(error)], Err(part)) => assert!(error.contains(part), "{error}"),
            (found, _) => panic!("{header}: {found:?}"),
        }
    }

    #[test]
    fn a_header_must_say_how_and_by_which_key() {
        check(r#"{"alg":"ES256","kid":"k","typ":"JOSE","jku":"https://a.example","x":1}"#, Ok("k"));
        check(r#"{"alg":"ES256","kid":"k","jku":null}"#, Ok("k"));
        check(r#"{"kid":"k"}"#, Err("no \"alg\""));
        check(r#"{"alg":"ES256"}"#, Err("no \"kid\""));
        check(r#"{"alg":"ES256","kid":""}"#, Err("no \"kid\""));
        check(r#"{"alg":7,"kid":"k"}"#, Err("\"alg\" in its protected header is not a text"));
        check(r#"{"alg":"ES256","kid":"k","crit":["b64"],"b64":false}"#, Err("\"crit\""));
        check(r#"{"alg":"ES256","alg":"none","kid":"k"}"#, Err("JSON object"));
        check("[]", Err("JSON object"));
    }

    #[test]
    fn a_signature_must_have_its_exact_form() {
        for (entry, expected) in [
            (json!(7), "no text \"protected\""),
            (json!({"protected": "e30"}), "no text \"signature\""),
            (json!({"protected": "a+b=", "signature": "AAAA"}), "not base64url"),
            (json!({"protected": "e30=", "signature": "AAAA"}), "not base64url"),
        ] {
            assert!(read(&entry).err().unwrap().contains(expected), "{entry}");
        }
    }
}
