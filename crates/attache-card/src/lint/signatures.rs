//! Checks signatures as far as possible without a key.

use serde_json::Value;
use url::Url;

use super::interfaces::is_local;
use super::{CardVersion, Report, Severity, rules};
use crate::header::read;
use crate::{SignedForm, signed_forms};

pub(super) fn check(report: &mut Report<'_>) {
    let signatures = report.document.get("signatures").and_then(Value::as_array);
    let Some(signatures) = signatures.filter(|signatures| !signatures.is_empty()) else { return };
    for (index, entry) in signatures.iter().enumerate() {
        check_one(report, entry, &format!("signatures[{index}]"));
    }
    if !report.has(CardVersion::V1_0) {
        let words = "0.3 does not say what is signed, so few clients will be able to check it";
        report.add(&rules::SIGNATURE, Severity::Warning, Some(CardVersion::V0_3), "signatures", words);
    }
    let differ = signed_forms(report.document)
        .is_ok_and(|forms| forms.iter().any(|(form, _)| *form == SignedForm::Stripped));
    if differ && signatures.len() == 1 {
        let words =
            "the card has empty values, which some readers keep and others drop, and only one signature";
        report.warning(&rules::SIGNED_EMPTY, "signatures", words);
    }
}

fn check_one(report: &mut Report<'_>, entry: &Value, path: &str) {
    let header = match read(entry) {
        Ok(parts) => parts.header,
        // Missing members are reported elsewhere.
        Err(why) if why.starts_with("it has no text") => return,
        Err(why) => return report.error(&rules::SIGNATURE, path, why),
    };
    let path = format!("{path}.protected");
    let algorithm = header.algorithm.as_str();
    if algorithm.eq_ignore_ascii_case("none") {
        report.error(&rules::SIGNATURE, &path, "alg is none: that is no signature at all");
    } else if algorithm.starts_with("HS") {
        let words = format!("alg is {algorithm}: a client that can verify it could have made it");
        report.error(&rules::SIGNATURE, &path, words);
    } else if !["ES256", "RS256", "EdDSA"].contains(&algorithm) {
        let words = format!("alg is {algorithm:?}; clients know ES256, RS256 and EdDSA");
        report.warning(&rules::SIGNATURE, &path, words);
    }
    if header.typ.as_deref() != Some("JOSE") {
        report.warning(&rules::SIGNATURE, &path, "typ is not JOSE");
    }
    if let Some(jku) = &header.jku {
        match Url::parse(jku) {
            Ok(url) if url.scheme() == "https" || is_local(&url) => {}
            Ok(_) => report.error(&rules::SIGNATURE, &path, format!("jku {jku:?} is not https")),
            Err(_) => report.error(&rules::SIGNATURE, &path, format!("jku {jku:?} is no absolute URL")),
        }
    }
}
